//! What crosses between a program and its tools, both ways, and what is refused at the boundary.
//! Contract 3.4, 3.8, 6.7; decisions 16, 17, 28.

use code_mode::registry::HostEvent;
use code_mode::schema::to_json;
use code_mode::{Json, ToolError, json};

use crate::support::{Host, tool};

/// Says that what `expression` gives arrives at a tool, comes back, and is returned as `value`, and that its text
/// never changes on the way.
#[track_caller]
fn crosses(expression: &str, value: &Json) {
    let host = Host::new();
    let program = format!(
        "const there = ({expression}); const back = await tools.echo({{ value: there }});
        return [back, there]"
    );
    let returned = host.value(&program);
    let arrived = host.take_events().into_iter().find_map(|event| match event {
        HostEvent::CodeDispatchStart { arguments, .. } => arguments.get("value").cloned(),
        _ => None,
    });
    let texts = [arrived.as_ref(), returned.index(0), returned.index(1)].map(|each| each.map(Json::to_text));
    assert_eq!(texts, [(); 3].map(|()| Some(value.to_text())), "{expression}");
}

/// Says that what `expression` gives is refused as an argument and as a result, with this reason behind the path.
#[track_caller]
fn refused(expression: &str, place_and_reason: &str) {
    let host = Host::new();
    let rejected = host.value(&format!(
        "try {{ await tools.echo({expression}); return 'accepted' }} catch (error) {{ return [error.name, error.message] }}"
    ));
    let message = format!("binding arguments must be lossless JSON: args{place_and_reason}");
    assert_eq!(rejected, json!(["ToolCallError", message]), "{expression}");
    assert_eq!(host.take_started(), Vec::<String>::new(), "{expression}");
    let failure = host.run(&format!("return ({expression})")).failure();
    let message = format!("program completion must be lossless JSON: value{place_and_reason}");
    assert_eq!((failure.kind.as_str(), failure.message), ("invalid-output", message), "{expression}");
}

#[test]
fn scalars_and_containers_cross_unchanged() {
    crosses("null", &Json::Null);
    crosses("[true, false, '', 'text', 0, -1.5, [], {}]", &json!([true, false, "", "text", 0, -1.5, [], {}]));
    crosses("{ b: 1, a: { d: null, c: [[[]]] } }", &json!({"b": 1, "a": {"d": null, "c": [[[]]]}}));
    crosses("Object.assign(Object.create(null), { a: 1 })", &json!({"a": 1}));
}

#[test]
fn keys_cross_in_the_order_of_javascript() {
    crosses(
        "{ z: 1, 10: 2, a: 3, 2: 4, '01': 5 }",
        &Json::parse(r#"{"2":4,"10":2,"z":1,"a":3,"01":5}"#).unwrap(),
    );
}

#[test]
fn numbers_cross_with_the_text_of_ecmascript() {
    let numbers =
        "1e21, 1e-7, 123456789012345680000, 5e-324, 0.1, 1.7976931348623157e308, 9007199254740991, -0.000001";
    let expected =
        "[1e+21,1e-7,123456789012345680000,5e-324,0.1,1.7976931348623157e+308,9007199254740991,-0.000001]";
    crosses(&format!("[{numbers}]"), &Json::parse(expected).unwrap());
    let text =
        Host::new().value(&format!("return JSON.stringify(await tools.echo({{ value: [{numbers}] }}))"));
    assert_eq!(text, expected);
}

#[test]
fn strings_cross_with_every_character() {
    crosses(
        r#"'\u{1F600} \u2028\u2029 \0\x1f " \\ \u00e9 \ufeff'"#,
        &"😀 \u{2028}\u{2029} \0\u{1f} \" \\ é \u{feff}".into(),
    );
    crosses(r#"{ '\u{1F600}"\n': 1, '': 2 }"#, &json!({"😀\"\n": 1, "": 2}));
    crosses("'x'.repeat(300_000)", &"x".repeat(300_000).into());
}

#[test]
fn dangerous_keys_are_plain_data_both_ways() {
    let text =
        r#"{"__proto__":{"x":1},"constructor":1,"then":2,"toJSON":3,"prototype":4,"hasOwnProperty":5}"#;
    crosses(&format!("JSON.parse('{text}')"), &Json::parse(text).unwrap());
    let program = format!(
        "const back = await tools.echo({{ value: JSON.parse('{text}') }});
        return [Object.hasOwn(back, '__proto__'), Object.getPrototypeOf(back) === Object.prototype, back.x === undefined, ({{}}).x === undefined]"
    );
    assert_eq!(Host::new().value(&program), json!([true, true, true, true]));
}

#[test]
fn value_that_is_shared_is_repeated() {
    crosses(
        "(() => { const one = { n: [1] }; return [one, { again: one }] })()",
        &json!([{"n": [1]}, {"again": {"n": [1]}}]),
    );
}

#[test]
fn deep_values_cross_both_ways() {
    let levels = 20_000;
    let program = format!(
        "let deep = 'bottom'; for (let i = 0; i < {levels}; i++) deep = i % 2 ? [deep] : {{ a: deep }};
        let back = await tools.echo({{ value: deep }}), levels = 0;
        while (typeof back === 'object') {{ back = Array.isArray(back) ? back[0] : back.a; levels++ }}
        return [back, levels]"
    );
    let host = Host::new();
    assert_eq!(host.value(&program), json!(["bottom", levels]));
    let returned =
        host.value(&format!("let deep = 1; for (let i = 0; i < {levels}; i++) deep = [deep]; return deep"));
    assert!(!returned.is_deeper_than(levels) && returned.is_deeper_than(levels - 1));
}

#[test]
fn cycle_is_refused_at_any_depth() {
    refused(
        "(() => { const ring = []; ring.push(ring); return ring })()",
        "[0] refers back to a value that holds it (a cycle)",
    );
    let program =
        "let deep = {}; const top = deep; for (let i = 0; i < 100; i++) deep = deep.a = {}; deep.top = top;
        return tools.echo({ value: top }).catch((error) => error.message)";
    let message = Host::new().value(program);
    let path = format!("args.value{}.top", ".a".repeat(100));
    assert_eq!(
        message,
        format!(
            "binding arguments must be lossless JSON: {path} refers back to a value that holds it (a cycle)"
        )
    );
}

#[test]
fn what_json_would_change_is_refused_with_its_place() {
    refused("{ items: [1, 2, undefined] }", ".items[2] is undefined");
    refused("[NaN]", "[0] is NaN");
    refused("{ a: { b: -Infinity } }", ".a.b is -Infinity");
    refused("[[-0]]", "[0][0] is -0");
    refused("{ 'odd key': 1n }", r#"["odd key"] is a BigInt: use Number(x) or String(x)"#);
    refused("[Symbol('s')]", "[0] is a symbol");
    refused("{ f() {} }", ".f is a function");
    refused("{ toJSON: () => 1 }", ".toJSON is a function");
}

#[test]
fn arrays_must_be_dense_and_plain() {
    refused("[1, , 3]", "[1] is a hole in a sparse array");
    refused("{ a: new Array(2) }", ".a[0] is a hole in a sparse array");
    refused("{ a: Object.assign([1], { extra: 1 }) }", ".a is an array with extra properties");
    refused("{ a: new (class Rows extends Array {})(0) }", ".a is an instance of an Array subclass");
    refused("{ a: Object.setPrototypeOf([], null) }", ".a is an instance of an Array subclass");
}

#[test]
fn objects_must_be_plain_and_open() {
    refused("{ at: new Date(0) }", ".at is a Date: use .toISOString()");
    refused("{ m: new Map() }", ".m is a Map: use Object.fromEntries(map) or [...map]");
    refused("{ s: new Set() }", ".s is a Set: use [...set]");
    refused("{ e: new Error('x') }", ".e is an Error: use .message");
    refused("{ p: Promise.resolve(1) }", ".p is a Promise: await it first");
    refused("{ n: new Number(3) }", ".n is a Number, not a plain object");
    refused("{ p: new (class Point { x = 1 })() }", ".p is a Point, not a plain object");
    refused("{ o: { [Symbol.iterator]: 1 } }", ".o has a symbol key");
    refused(
        "{ o: Object.defineProperty({}, 'hidden', { value: 1 }) }",
        r#".o has a non-enumerable property "hidden""#,
    );
}

#[test]
fn containers_in_disguise_are_refused() {
    let program = "
        const accepted = [];
        for (const [name, value] of Object.entries({
            arguments: (function () { return arguments })(1), typed: new Uint8Array(1), buffer: new ArrayBuffer(1),
            boxed: Object('text'), regexp: /x/, generator: (function* () {})(), global: globalThis, tools, console, Math,
            revoked: (() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })(),
        })) await tools.echo({ value }).then(() => accepted.push(name), () => {});
        return accepted;
    ";
    let host = Host::new();
    assert_eq!(host.value(program), json!([]));
    assert_eq!(host.take_started(), Vec::<String>::new());
}

#[test]
fn lone_surrogates_are_refused_with_their_place() {
    refused(
        r"{ text: ['ok', 'a\ud800'] }",
        ".text[1] holds a lone surrogate, which is not valid Unicode text",
    );
    let program = r"return tools.echo({ value: { '\udc00': 1 } }).catch((error) => error.message)";
    assert_eq!(
        Host::new().value(program),
        r#"binding arguments must be lossless JSON: args.value["\udc00"] has a key with a lone surrogate"#
    );
}

#[test]
fn every_slot_is_read_once() {
    let program = "
        let reads = 0, traps = [];
        const getter = { get a() { return ++reads === 1 ? 'first' : undefined } };
        const proxy = new Proxy({ b: 1 }, {
            get(target, key) { traps.push(key); return traps.length > 1 ? undefined : target[key] },
        });
        return [await tools.echo({ value: [getter, proxy] }), reads, traps];
    ";
    assert_eq!(Host::new().value(program), json!([[{"a": "first"}, {"b": 1}], 1, ["b"]]));
}

#[test]
fn getter_that_throws_is_refused_with_its_place() {
    for (program, expected) in [
        ("return { get a() { throw new Error('no') } }", "program completion must be lossless JSON: value.a"),
        (
            "return [new Proxy({}, { ownKeys() { throw new Error('no') } })]",
            "program completion must be lossless JSON: value[0]",
        ),
    ] {
        let failure = Host::new().run(program).failure();
        assert_eq!(failure.kind.as_str(), "invalid-output");
        assert!(
            failure.message.starts_with(expected) && failure.message.contains("no"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn polluted_prototypes_change_nothing_that_crosses() {
    let program = "
        const { stringify } = JSON;
        Object.prototype.polluted = 'yes';
        Object.prototype.toJSON = () => 'hijacked';
        Object.defineProperty(Object.prototype, 'value', { get() { return 'hijacked' }, set() {}, configurable: true });
        Array.prototype[0] = 'hijacked';
        Array.prototype[Symbol.iterator] = () => ({ next: () => ({ done: true }) });
        Array.prototype.push = Array.prototype.join = () => 'hijacked';
        String.prototype.charCodeAt = String.prototype.slice = String.prototype.isWellFormed = () => 'hijacked';
        RegExp.prototype.exec = RegExp.prototype.test = () => null;
        Promise.prototype.then = Promise.prototype.catch = undefined;
        Map.prototype.get = Map.prototype.set = Set.prototype.has = WeakMap.prototype.get = () => { throw 'hijacked' };
        JSON.parse = JSON.stringify = () => 'hijacked';
        Object.keys = Reflect.ownKeys = Object.getPrototypeOf = Object.getOwnPropertyDescriptor = () => [];
        Array.isArray = Number.isFinite = () => true;
        Function.prototype.call = Function.prototype.apply = () => 'hijacked';
        globalThis.Promise = globalThis.Error = globalThis.Map = globalThis.Reflect = undefined;
        const echoed = await tools.echo({ __proto__: null, value: { list: [[], ['a']], n: 1.5, deep: { t: 'x' } } });
        let failed;
        try { await tools.fail({ message: 'as told' }) } catch (error) { failed = error }
        let lossy;
        try { await tools.echo({ __proto__: null, value: [undefined] }) } catch (error) { lossy = error }
        console.log('still', 'prints');
        return { echoed, text: [failed.message, failed.toolName, failed instanceof ToolCallError, lossy.message] };
    ";
    let run = Host::new().run(program);
    assert_eq!(
        run.value(),
        json!({
            "echoed": {"list": [[], ["a"]], "n": 1.5, "deep": {"t": "x"}},
            "text": ["as told", "fail", true, "binding arguments must be lossless JSON: args.value[0] is undefined"],
        })
    );
    assert_eq!(run.logs(), ["still prints"]);
}

#[test]
fn nothing_and_null_are_told_apart() {
    let host = Host::new();
    for (program, text) in [
        ("", "(run_code completed with no output)"),
        ("return", "(run_code completed with no output)"),
        ("return undefined", "(run_code completed with no output)"),
        ("return null", "null"),
        ("return ''", "(run_code completed with no output)"),
        ("return 'null'", "null"),
    ] {
        assert_eq!(host.run(program).text(), text, "{program}");
    }
    assert_eq!(host.value("return await tools.echo({ value: null }) === null"), Json::Bool(true));
}

#[test]
fn call_without_arguments_is_a_call_with_none() {
    let host = Host::new();
    host.tool("show", |arguments, _| async move { Ok(arguments.to_text().into()) });
    assert_eq!(
        host.value("return [await tools.show(), await tools.show({}), await tools.show([1])]"),
        json!(["{}", "{}", "[1]"])
    );
    let message = host.value("return tools.show(undefined).catch((error) => error.message)");
    assert_eq!(message, "binding arguments must be lossless JSON: args is undefined");
}

#[test]
fn value_a_program_was_given_is_its_own() {
    let program = "
        const kept = { n: [1] };
        const [first, second] = await Promise.all([tools.echo({ value: kept }), tools.echo({ value: kept })]);
        first.n.push(2);
        kept.n.push(3);
        return [first, second, Object.isFrozen(first)];
    ";
    assert_eq!(Host::new().value(program), json!([{"n": [1, 2]}, {"n": [1]}, false]));
}

#[test]
fn integer_of_a_tool_that_would_be_rounded_is_refused_with_its_place() {
    let host = Host::new();
    host.tool("huge", |_, _| async { to_json(&[1_u64, u64::MAX]).map_err(ToolError::lossy_output) });
    let message = host.value("return tools.huge().catch((error) => error.message)");
    let message = message.as_str().unwrap();
    assert!(
        message.starts_with("tool \"huge\" returned invalid output: ")
            && message.contains("[1]")
            && message.contains("18446744073709551615"),
        "{message}"
    );
}

#[test]
fn output_outside_its_schema_fails_the_call_only() {
    let host = Host::new();
    host.register(
        tool("wrong")
            .output(json!({"type": "string"}))
            .execute(|_, _| async { Ok::<_, ToolError>(json!(7)) }),
    );
    let program = "try { await tools.wrong() } catch (error) { return [error.message, await tools.echo({ value: 1 })] }";
    assert_eq!(
        host.value(program),
        json!(["tool \"wrong\" returned invalid output: \"value\" must be a string", 1])
    );
}
