//! What a program can reach: the globals, `tools`, `ToolCallError`, and what is not there.
//! Contract 6.3, 6.7, 7.2; decisions 9, 10, 20, 28.

use code_mode::schema::to_json;
use code_mode::{Json, ToolError, json};

use crate::support::{Host, on_engine, tool};

/// The globals of the language itself that both engines have.
const LANGUAGE: &str = "AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array \
    BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array \
    Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN \
    Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol \
    SyntaxError Temporal TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef \
    WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN \
    parseFloat parseInt undefined unescape";

/// Those that a run adds.
const ADDED: &str = "AbortController AbortSignal TextDecoder TextEncoder ToolCallError URL URLSearchParams atob btoa clearInterval \
    clearTimeout console crypto performance queueMicrotask setInterval setTimeout structuredClone tools";

/// The class of errors that QuickJS itself throws.
const OF_THE_ENGINE: &str = if cfg!(feature = "quickjs") { "InternalError" } else { "" };

/// Says what each expression gives, all in one program.
#[track_caller]
fn check(host: &Host, expressions: &[(&str, Json)]) {
    let list: String = expressions.iter().map(|(expression, _)| format!("await ({expression}),\n")).collect();
    let values = host.value(&format!("return [\n{list}]"));
    for (index, (expression, expected)) in expressions.iter().enumerate() {
        assert_eq!(values.index(index), Some(expected), "{expression}");
    }
}

#[test]
fn globals_are_exactly_those_of_the_list() {
    let seen = Host::new()
        .value("return Reflect.ownKeys(globalThis).filter((key) => typeof key === 'string').sort()");
    let seen: Vec<&str> = seen.as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let lists = [LANGUAGE, ADDED, OF_THE_ENGINE].map(str::split_ascii_whitespace);
    let mut listed: Vec<&str> = lists.into_iter().flatten().collect();
    listed.sort_unstable();
    let missing: Vec<&&str> = listed.iter().filter(|name| !seen.contains(name)).collect();
    let extra: Vec<&&str> = seen.iter().filter(|name| !listed.contains(name)).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing: {missing:?}, not on the list: {extra:?}");
}

#[test]
fn nothing_of_the_host_is_in_reach() {
    let names = [
        "Deno",
        "process",
        "require",
        "module",
        "exports",
        "__filename",
        "__bootstrap",
        "__internals",
        "Buffer",
        "fetch",
        "WebSocket",
        "Worker",
        "BroadcastChannel",
        "navigator",
        "global",
        "window",
        "self",
        "WebAssembly",
        "SharedArrayBuffer",
        "ShadowRealm",
        "gc",
        "print",
        "load",
        "quit",
        "std",
        "os",
    ];
    let list: String = names.iter().map(|name| format!("'{name}', ")).collect();
    // In the wrapper's scope, in the global scope, and by way of functions made from text.
    let program = format!(
        "const names = [{list}];
        const everywhere = [(text) => eval(text), globalThis.eval, (text) => Function(`return ${{text}}`)()];
        return names.filter((name) => everywhere.some((look) => look(`typeof ${{name}}`) !== 'undefined'))"
    );
    assert_eq!(Host::new().value(&program), json!([]));
}

#[test]
fn threads_cannot_be_blocked() {
    check(
        &Host::new(),
        &[("typeof Atomics.wait", json!("undefined")), ("typeof Atomics.waitAsync", json!("undefined"))],
    );
}

#[test]
fn error_objects_lead_to_no_internals() {
    // Structured stacks would hand out functions and `this` of our own frames.
    let program = "
        const seen = [];
        Error.prepareStackTrace = (error, sites) => { seen.push(sites); return sites };
        Error.captureStackTrace?.({});
        const stacks = [new Error('a').stack];
        try { null.x } catch (error) { stacks.push(error.stack) }
        try { await tools.fail({ message: 'b' }) } catch (error) { stacks.push(error.stack) }
        const trap = new Proxy({}, { get() { stacks.push(new Error('c').stack); return undefined }, ownKeys: () => ['k'],
            getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });
        await tools.echo({ value: trap }).catch((error) => stacks.push(error.stack));
        return [seen.length, stacks];
    ";
    let value = Host::new().value(program);
    assert_eq!(value.index(0), Some(&json!(0)));
    for stack in value.index(1).unwrap().as_array().unwrap().iter() {
        let stack = stack.as_str().expect("a stack is text");
        let frames: Vec<&str> = stack.lines().filter(|line| line.starts_with("    at ")).collect();
        let ours = |frame: &&str| frame.contains("program:");
        assert!(!frames.is_empty() && frames.iter().all(ours), "{stack}");
    }
}

#[test]
fn callee_and_caller_lead_nowhere() {
    let program = "
        const leads = [];
        const look = (name, read) => { try { if (read() != null) leads.push(name) } catch {} };
        tools.echo({ get value() {
            look('caller', () => (function f() { return f.caller })());
            look('arguments.callee', () => (function () { return arguments.callee })());
            look('tools.echo.caller', () => tools.echo.caller);
            look('tools.echo.arguments', () => tools.echo.arguments);
            return 1;
        } });
        return leads;
    ";
    assert_eq!(Host::new().value(program), json!([]));
}

#[test]
fn import_rejects_with_an_ordinary_error() {
    let host = Host::new();
    for specifier in [
        "node:fs",
        "./x.ts",
        "https://example.com/x.js",
        "data:text/javascript,export default 1",
        "ext:core/ops",
    ] {
        let program = format!(
            "try {{ await import({specifier:?}); return 'loaded' }}
            catch (error) {{ return [error instanceof Error, error.message.includes('tools')] }}"
        );
        assert_eq!(host.value(&program), json!([true, true]), "{specifier}");
    }
    assert_eq!(host.value("return Function(\"return import('x')\")().catch((error) => error.name)"), "Error");
}

#[test]
fn eval_and_function_work_inside() {
    let made = "await (Object.getPrototypeOf(async () => {}).constructor('a', 'return a + 1'))(1)";
    check(
        &Host::new(),
        &[
            ("eval('1 + 1')", json!(2)),
            ("(0, eval)('typeof tools.echo')", json!("function")),
            ("new Function('a', 'return a * 2')(4)", json!(8)),
            (made, json!(2)),
            ("Function('return this')() === globalThis", json!(true)),
        ],
    );
}

#[test]
fn program_is_a_strict_function_of_its_own() {
    check(
        &Host::new(),
        &[
            ("this === undefined", json!(true)),
            ("arguments.length", json!(0)),
            (
                "(() => { try { undeclared = 1 } catch (error) { return error.name } })()",
                json!("ReferenceError"),
            ),
        ],
    );
}

#[test]
fn names_that_a_run_adds_cannot_be_declared_anew() {
    for declaration in ["const tools = {}", "let console = 1", "class ToolCallError {}"] {
        let failure = Host::new().run(&format!("\n{declaration}; return 1")).failure();
        assert!(failure.message.starts_with("SyntaxError: "), "{declaration}: {}", failure.message);
        assert_eq!(failure.line, Some(2), "{declaration}");
    }
}

#[test]
fn text_that_closes_the_wrapper_is_a_syntax_error() {
    let host = Host::new();
    for program in [
        "return 1\n}); await tools.echo({}); (async () => {",
        "}\nawait tools.echo({ value: 1 });\n{",
        "return 1 }, async function () { return 2",
        "*/ return 1 /*",
        "`${",
    ] {
        let failure = host.run(program).failure();
        assert_eq!(failure.kind.as_str(), "exception", "{program}");
        assert!(failure.line.is_some(), "{program}: {}", failure.message);
    }
    assert_eq!(host.take_started(), Vec::<String>::new());
}

#[test]
fn run_leaves_nothing_behind_for_the_next() {
    let host = Host::new();
    host.value("globalThis.left = Object.prototype.left = Array.prototype.left = 'here'; console.log = null; return 1");
    let left = host.run("console.log('prints'); return [typeof left, typeof {}.left, typeof [].left]");
    assert_eq!(
        (left.value(), left.logs()),
        (json!(["undefined", "undefined", "undefined"]), vec!["prints".to_owned()])
    );
}

#[test]
fn tools_is_an_object_of_fixed_functions_in_view_order() {
    let host = Host::new();
    for name in ["z-last", "__proto__", "constructor", "then", "10", "9"] {
        host.tool(name, move |_, _| async move { Ok(name.into()) });
    }
    let descriptor = json!({"writable": false, "enumerable": true, "configurable": false});
    let describe = "(name) => { const { value, ...rest } = Object.getOwnPropertyDescriptor(tools, name);
        return typeof value === 'function' && value.length === 1 && value.name === name && rest }";
    check(
        &host,
        &[
            // Integer-like names first, as JavaScript has it.
            (
                "Object.keys(tools)",
                json!(["9", "10", "echo", "fail", "hang", "z-last", "__proto__", "constructor", "then"]),
            ),
            ("Object.getPrototypeOf(tools)", json!(null)),
            ("Object.isExtensible(tools)", json!(true)),
            (
                &format!("['echo', 'z-last', '__proto__', '10'].map({describe})"),
                Json::from(vec![descriptor; 4]),
            ),
            ("tools.echo === tools.echo", json!(true)),
            ("tools.__proto__({}), tools['__proto__']({})", json!("__proto__")),
            ("tools['constructor']()", json!("constructor")),
            ("tools[10]()", json!("10")),
            ("'run_code' in tools", json!(false)),
        ],
    );
}

#[test]
fn tools_cannot_be_rerouted() {
    check(
        &Host::new(),
        &[
            (
                "(() => { try { tools.echo = () => 'hijacked' } catch (error) { return error.name } })()",
                json!("TypeError"),
            ),
            (
                "(() => { try { delete tools.echo } catch (error) { return error.name } })()",
                json!("TypeError"),
            ),
            (
                "(() => { try { globalThis.tools = {} } catch (error) { return error.name } })()",
                json!("TypeError"),
            ),
            (
                "(() => { try { globalThis.ToolCallError = Error } catch (error) { return error.name } })()",
                json!("TypeError"),
            ),
            ("Reflect.defineProperty(tools, 'echo', { value: 1 })", json!(false)),
            ("tools.echo({ value: 1 })", json!(1)),
        ],
    );
}

#[test]
fn source_of_a_tool_function_shows_no_internals() {
    let text =
        Host::new().value("return [String(tools.echo), String([].filter), String(ArrayBuffer)].join()");
    let text = text.as_str().unwrap();
    assert!(
        !text.contains("op_code_mode") && !text.contains("internals") && !text.contains("Reflect"),
        "{text}"
    );
}

#[test]
fn tool_call_error_is_a_real_error_with_fixed_members() {
    let program = "
        let error;
        try { await tools.fail({ message: 'as told' }) } catch (caught) { error = caught }
        const attributes = (key) => { const { writable, enumerable } = Object.getOwnPropertyDescriptor(error, key);
            return { writable, enumerable } };
        return {
            classes: [error instanceof ToolCallError, error instanceof Error, error.constructor === ToolCallError],
            members: [error.name, error.toolName, error.message, typeof error.stack],
            absent: ['code', 'content', 'info'].filter((key) => key in error),
            name: attributes('name'), toolName: attributes('toolName'), message: attributes('message').enumerable,
            text: [JSON.stringify(error), String(error), Object.keys(error).join()],
        };
    ";
    let fixed = json!({"writable": false, "enumerable": true});
    let expected = json!({
        "classes": [true, true, true],
        "members": ["ToolCallError", "fail", "as told", "string"],
        "absent": [],
        "name": fixed.clone(), "toolName": fixed, "message": false,
        "text": [r#"{"name":"ToolCallError","toolName":"fail"}"#, "ToolCallError: as told", "name,toolName"],
    });
    assert_eq!(Host::new().value(program), expected);
}

#[test]
fn every_rejection_of_tools_is_a_tool_call_error() {
    let program = "
        const calls = [() => tools.fail({ message: 'm' }), () => tools.echo(undefined), () => tools.echo(1, 2)];
        const kinds = [];
        for (const call of calls) await call().catch((error) => kinds.push(error instanceof ToolCallError && error.toolName));
        return kinds;
    ";
    assert_eq!(Host::new().value(program), json!(["fail", "echo", "echo"]));
}

#[test]
fn subclass_and_instanceof_of_tool_call_error_work() {
    let program = "
        class Mine extends ToolCallError { constructor(m) { super(m, 'mine') } }
        Object.defineProperty(Error, Symbol.hasInstance, { value: () => false });
        try { Object.defineProperty(ToolCallError, Symbol.hasInstance, { value: () => false }) } catch {}
        const caught = await tools.fail({ message: 'm' }).catch((error) => error);
        return [new Mine('x') instanceof ToolCallError, caught instanceof ToolCallError];
    ";
    assert_eq!(Host::new().value(program), json!([true, true]));
}

#[test]
fn more_than_one_argument_is_refused_and_does_not_count_as_started() {
    let host = Host::new();
    host.tool("get-item", |_, _| async { Ok(Json::Null) });
    let program = "
        const said = (call) => call.catch((error) => error.message);
        return [await said(tools.echo('a', 'b')), await said(tools['get-item'](1, 2)),
            (await Promise.all(['x'].map(tools.echo).map(said)))[0]];
    ";
    let expected = json!([
        "tools.echo takes one arguments object, but got 2 arguments: write tools.echo({ name: value, ... })",
        "tools[\"get-item\"] takes one arguments object, but got 2 arguments: write tools[\"get-item\"]({ name: value, ... })",
        "tools.echo takes one arguments object, but got 3 arguments: pass an arrow function, as in ids.map((id) => tools.echo({ id }))",
    ]);
    assert_eq!(host.value(program), expected);
    assert_eq!(host.take_started(), Vec::<String>::new());
}

#[test]
fn tool_that_does_not_exist_is_an_ordinary_type_error() {
    let program = "try { await tools.ecko({}) } catch (error) { return [error.name, error.message, error instanceof ToolCallError] }";
    let value = Host::new().value(program);
    assert_eq!((value.index(0), value.index(2)), (Some(&json!("TypeError")), Some(&json!(false))));
    let message = value.index(1).and_then(Json::as_str).unwrap();
    assert!(message.starts_with("tools.ecko is not a function"), "{message}");
}

#[test]
fn tool_that_does_not_exist_is_answered_with_the_nearest_names() {
    let host = Host::new();
    for name in ["list_items", "get-weather"] {
        host.tool(name, |_, _| async { Ok(Json::Null) });
    }
    let all = "Object.keys(tools) lists all 5";
    let computed = match cfg!(feature = "v8") {
        true => "There is no tool \"get-wether\"; the nearest: get-weather".to_owned(),
        // QuickJS does not name a property in brackets.
        false => format!("There is no such tool; {all}"),
    };
    for (call, hint) in [
        ("tools.list_item({})", "There is no tool \"list_item\"; the nearest: list_items"),
        ("tools.listItems({})", "There is no tool \"listItems\"; the nearest: list_items"),
        ("tools['get-wether']({})", &*computed),
        ("tools.unlike_any({})", &format!("There is no tool \"unlike_any\"; {all}")),
    ] {
        let message = host.run(&format!("return await {call}")).failure().message;
        let first = message.lines().next().unwrap();
        assert!(first.starts_with("TypeError: tools") && first.contains(hint), "{call}: {first}");
    }
}

#[test]
fn tool_that_does_not_exist_has_its_nearest_names_also_by_another_name_and_when_caught() {
    let host = Host::new();
    host.tool("search", |_, _| async { Ok(Json::Null) });
    let hint = ". There is no tool \"serch\"; the nearest: search";
    for (before, call) in [
        ("", "tools.serch({})"),
        ("const t = tools;", "t.serch({})"),
        ("const { serch } = tools;", "serch({})"),
    ] {
        let message = host.run(&format!("{before} return await {call}")).failure().message;
        let first = message.lines().next().unwrap();
        assert!(first.starts_with("TypeError: ") && first.ends_with(hint), "{call}: {first}");
        // The message is the engine's own; the stack, which is what is printed, is ours.
        let run = host.run(&format!("{before} try {{ {call} }} catch (error) {{ console.log(error) }}"));
        let first = run.logs()[0].lines().next().unwrap().to_owned();
        assert!(first.starts_with("TypeError: ") && first.ends_with(hint), "{call}: {first}");
    }
    assert_eq!(host.value("return [tools.serch === undefined, 'serch' in tools]"), json!([true, false]));
}

#[test]
fn run_code_is_offered_with_the_contracts_words() {
    let host = Host::new();
    let schemas = host.registry.schemas(None).unwrap();
    let offered = schemas.last().unwrap();
    assert_eq!(&*offered.name, "run_code");
    assert_eq!(
        &*offered.description,
        "Execute a TypeScript program against the available tools. Write the BODY of an async function (erasable \
         syntax only; top-level `await` and `return` work) and call tools as `await tools.name(args)` per the \
         declarations in the system prompt. Only what you print or return comes back — curate it."
    );
    let what_for = "Clear, concise description of what this program does in active voice, 5-10 words (shown in the UI). \
        Examples: \"Count TODO markers across packages\"; \"Read failing test and its fixture\"; \"Rename config key in \
        every cordis.yml\".";
    let expected = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The program: the body of an async TypeScript function."},
            "description": {"type": "string", "description": what_for},
        },
        "required": ["code", "description"],
    });
    assert_eq!(offered.parameters.to_text(), expected.to_text());
}

#[test]
fn run_code_is_exclusive_and_shows_its_program_as_a_card() {
    let host = Host::new();
    let tool = host.registry.get("run_code", None).unwrap();
    let arguments = json!({"code": "return 1", "description": "Return one"});
    assert!(!tool.is_concurrency_safe(&arguments));
    let card = to_json(&tool.present_call(&arguments)).unwrap();
    assert_eq!(
        card,
        json!({"card": "generic", "title": "Return one", "kind": "execute", "rawInput": "return 1"})
    );
}

#[test]
fn section_declares_what_the_agent_sees() {
    let host = Host::new();
    let scoped = host.registry.scoped(&host.agent);
    scoped.register(tool("mine").execute(|_, _| async { Ok::<_, ToolError>(Json::Null) })).unwrap().keep();
    let (own, others) = (host.code_mode.sdk_section(Some(&host.agent)), host.code_mode.sdk_section(None));
    assert!(own.contains("/** The tool mine */\n  mine: ") && !own.contains("run_code:"), "{own}");
    assert!(!others.contains("mine: ") && others.contains("echo: "), "{others}");
}

#[test]
fn console_has_five_methods_and_no_prototype() {
    let host = Host::new();
    check(
        &host,
        &[
            ("Object.keys(console)", json!(["log", "info", "warn", "error", "debug"])),
            ("Object.getPrototypeOf(console)", json!(null)),
        ],
    );
    let run = host
        .run("console.log('%s %d', 'a', 1, { b: [2] }); console.log(); console.error(new Map([['k', 1]]))");
    assert_eq!(run.logs(), ["%s %d a 1 { b: [ 2 ] }", "", "Map(1) { 'k' => 1 }"]);
}

#[test]
fn timers_fire_in_order_and_can_be_cleared() {
    let program = "
        const order = [];
        await new Promise((done) => {
            setTimeout(() => order.push('later', 1), 20);
            setTimeout((...args) => order.push(...args), 0, 'soon', 0);
            clearTimeout(setTimeout(() => order.push('never'), 5));
            const id = setInterval(() => { if (order.push('tick') > 5) { clearInterval(id); done() } }, 1);
            queueMicrotask(() => order.push('job'));
        });
        return [order[0], order.indexOf('soon') < order.indexOf('tick'), order.includes('never')];
    ";
    assert_eq!(Host::new().value(program), json!(["job", true, false]));
}

#[test]
fn microtask_that_throws_fails_the_program_and_the_others_run() {
    let run = Host::new().run(
        "Promise.prototype.then = Promise.prototype.constructor = () => { throw 1 };
        Object.defineProperty(Promise, Symbol.species, { value: null });
        for (const name of ['first', 'second', 'third']) queueMicrotask(() => {
            console.log(name);
            if (name === 'second') throw new Error('lost in a job');
        });
        await null; return 1",
    );
    assert_eq!(run.logs(), ["first", "second", "third"]);
    let message = run.failure().message;
    assert!(message.starts_with("unhandled rejection: Error: lost in a job\n    at program:5:"), "{message}");
    let refused = Host::new().run("queueMicrotask('text')").failure().message;
    assert!(
        refused.starts_with("TypeError: queueMicrotask takes a function\n    at program:1:1"),
        "{refused}"
    );
}

#[test]
fn language_is_whole() {
    check(
        &Host::new(),
        &[
            // QuickJS formats for one locale only.
            (
                "new Intl.NumberFormat('de-DE').format(1234567.5)",
                json!(on_engine("1.234.567,5", "1234567.5")),
            ),
            ("'\\u00e9'.normalize('NFD').length", json!(2)),
            ("[3, 1, 2].toSorted().join()", json!("1,2,3")),
            ("Object.groupBy([1, 2, 3], (n) => n % 2 ? 'odd' : 'even').odd.length", json!(2)),
            ("/(?<year>\\d{4})/u.exec('in 2025').groups.year", json!("2025")),
            ("new Set([1]).union(new Set([2])).size", json!(2)),
            ("Array.fromAsync([Promise.resolve(1), 2])", json!([1, 2])),
            ("typeof Temporal.Now", json!("object")),
        ],
    );
}
