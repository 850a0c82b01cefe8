//! How a failed program is told to the model: kind, message, place, code frame, causes, notes.
//! Contract 6.4, 7.6; decisions 11 to 14, 16, 18, 19, 21.

use std::sync::Arc;

use code_mode::runtime::{HostCall, HostFunctions, Namespace};
use code_mode::{CodeRuntime as _, FailureKind, Json, RunRequest, SignalSource, ToolCall, ToolError, json};

use crate::support::{CALL, Host, on_engine};

/// Says that `program` fails as `exception` with exactly this message.
#[track_caller]
fn check(program: &str, message: &str) {
    let failure = Host::new().run(program).failure();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Exception, message), "{program}");
}

#[test]
fn thrown_error_is_told_with_its_stack_and_the_line() {
    check(
        "const a = 1;\n  throw new RangeError('too far');",
        "RangeError: too far\n    at program:2:9\n  2 | throw new RangeError('too far');\n    |       ^",
    );
    check(
        "function outer() {\n  const inner = () => null.length;\n  return inner();\n}\nreturn outer()",
        "TypeError: Cannot read properties of null (reading 'length')\n    at inner (program:2:28)\n    \
         at outer (program:3:10)\n    at program:5:8\n  2 | const inner = () => null.length;\n    |                          ^",
    );
}

#[test]
fn columns_count_utf16_units() {
    let failure = Host::new().run("'\u{1F600}'; throw new Error('x')").failure();
    // QuickJS counts characters.
    assert_eq!((failure.line, failure.column), (Some(1), Some(on_engine(13, 12))));
    let frame = "  1 | '\u{1F600}'; throw new Error('x')\n    |";
    assert!(failure.message.contains(frame), "{}", failure.message);
}

#[test]
fn error_whose_stack_was_overwritten_keeps_its_place() {
    let program = "const f = () => {\n  const e = new Error('mine'); e.stack = 'other'; throw e };\nf()";
    let failure = Host::new().run(program).failure();
    // QuickJS keeps nothing beside the stack.
    assert_eq!(failure.line, on_engine(Some(2), None), "{}", failure.message);
}

#[test]
fn global_of_another_environment_is_explained_in_a_note() {
    let text = Host::new().run("await fetch('http://h')").text();
    let note = "Note: a program has no `fetch`: no modules, network, files or processes; everything outside is reached through `tools`.";
    assert!(text.contains("fetch") && text.lines().last() == Some(note), "{text}");
}

#[test]
fn stack_has_the_programs_frames_only_and_at_most_ten() {
    let message = Host::new()
        .run("const f = (n: number) => { if (n === 0) throw new Error('deep'); f(n - 1) };\nf(50)")
        .failure()
        .message;
    let frames: Vec<&str> = message.lines().filter(|line| line.starts_with("    at ")).collect();
    assert_eq!(frames.len(), 10, "{message}");
    assert!(frames.iter().all(|frame| frame.starts_with("    at f (program:1:")), "{message}");
}

#[test]
fn async_frames_are_shown() {
    let message = Host::new()
        .run("async function one() { await two() }\nasync function two() { await null; throw new Error('late') }\nawait one()")
        .failure()
        .message;
    assert!(
        message.starts_with("Error: late\n    at two (program:2:42)\n    at async one (program:1:24)"),
        "{message}"
    );
}

#[test]
fn class_and_name_of_an_error_of_the_programs_own_are_shown() {
    check(
        "class Refused extends Error { name = 'Refused'; code = 7 }\nthrow new Refused('no')",
        "Refused: no\n    at program:2:7\n  2 | throw new Refused('no')\n    |       ^",
    );
}

#[test]
fn thrown_values_that_are_no_errors_are_shown_inspected() {
    for (thrown, message) in [
        ("'plain'", "'plain'"),
        ("42", "42"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("{ code: 'E_QUOTA', retryAfter: 30 }", "{ code: 'E_QUOTA', retryAfter: 30 }"),
        ("{ get secret() { return 1 } }", "{ secret: [Getter] }"),
        ("Object.create(null)", "[Object: null prototype] {}"),
        ("Symbol('s')", "Symbol(s)"),
        ("() => 1", "[Function (anonymous)]"),
        ("10n", "10n"),
    ] {
        check(&format!("throw {thrown}"), message);
    }
}

#[test]
fn hostile_thrown_values_still_fail_the_run() {
    for program in [
        "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })",
        "const e = new Error('x'); Object.defineProperty(e, 'name', { get() { throw 1 } }); throw e",
        "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
        "const e = new Error('x'); e.cause = e; throw e",
        "const e = new AggregateError([]); Object.defineProperty(e, 'errors', { value: new Proxy([], { get() { throw 1 } }) }); throw e",
        "throw { then: 1, toString: null, message: { toString() { throw 1 } } }",
        "Error.prototype.toString = () => { throw 1 }; Error.prototype.name = {}; throw new Error('x')",
        "throw Object.setPrototypeOf(new Error('x'), null)",
    ] {
        let failure = Host::new().run(program).failure();
        assert_eq!(failure.kind, FailureKind::Exception, "{program}");
        assert!(
            !failure.message.is_empty() && failure.message.len() < 2000,
            "{program}: {}",
            failure.message
        );
    }
}

#[test]
fn causes_are_shown_and_bounded() {
    check(
        "throw new Error('outer', { cause: new TypeError('inner', { cause: 'text' }) })",
        "Error: outer\n    at program:1:7\n  1 | throw new Error('outer', { cause: new TypeError('inner', { cause: 'text' }) })\n    |       ^\n\
         [cause]: TypeError: inner\n    at program:1:35\n[cause]: 'text'",
    );
    let chain =
        "let e = new Error('0'); for (let i = 1; i < 100; i++) e = new Error(`${i}`, { cause: e }); throw e";
    let message = Host::new().run(chain).failure().message;
    assert_eq!(message.matches("[cause]: ").count(), 4, "{message}");
}

#[test]
fn members_of_an_aggregate_are_shown_and_bounded() {
    let message = Host::new()
        .run("throw new AggregateError([new Error('a'), 7, new RangeError('b')], 'many')")
        .failure()
        .message;
    assert!(
        message.starts_with("AggregateError: many\n    at program:1:7\n")
            && message.ends_with("\n[error 0]: Error: a\n    at program:1:27\n[error 1]: 7\n[error 2]: RangeError: b\n    at program:1:46"),
        "{message}"
    );
    let message = Host::new()
        .run("await Promise.any(Array.from({ length: 20 }, (_, i) => Promise.reject(i)))")
        .failure()
        .message;
    assert!(message.contains("[error 4]: 4\n... 15 more errors"), "{message}");
}

#[test]
fn error_text_is_cut_at_16_kib_and_says_how_much_is_missing() {
    let whole_bytes = 100_000;
    let run = Host::new()
        .run(&format!("console.log('kept'); throw new Error('E_BIG ' + 'é'.repeat({whole_bytes}))"));
    let failure = run.failure();
    assert!(failure.message.starts_with("Error: E_BIG éé") && failure.message.len() <= 16 * 1024);
    let mark = failure.message.lines().last().unwrap();
    let whole = failure.whole.as_ref().unwrap();
    assert!(mark.starts_with("[error text cut: ") && mark.contains(&whole.len().to_string()), "{mark}");
    assert!(whole.len() > 2 * whole_bytes);
    assert!(run.text().ends_with("\nCaptured output:\nkept"), "{}", run.text().len());
}

#[test]
fn uncaught_tool_failure_names_the_tool_first_and_points_at_its_call() {
    check(
        "async function step() {\n  return tools.fail({ message: 'disk full' });\n}\nawait step();",
        "ToolCallError: tool \"fail\" failed: disk full\n    at step (program:2:16)\n    at program:4:7\n  2 | return tools.fail({ message: 'disk full' });\n    |              ^",
    );
}

#[test]
fn tool_failure_as_a_cause_names_the_tool_too() {
    let message = Host::new()
        .run("try { await tools.fail({ message: 'inner' }) } catch (cause) { throw new Error('outer', { cause }) }")
        .failure()
        .message;
    assert!(
        message.contains("\n[cause]: ToolCallError: tool \"fail\" failed: inner\n    at program:1:19"),
        "{message}"
    );
}

#[test]
fn operator_detail_of_a_tool_never_reaches_the_model() {
    let host = Host::new();
    host.tool("open", |_, _| async {
        let source = std::io::Error::other("/host/secret/path");
        Err::<Json, _>(ToolError::new("cannot open it").with_source(source))
    });
    let text = host.run("await tools.open()").text();
    assert!(text.contains("cannot open it") && !text.contains("secret"), "{text}");
}

#[test]
fn rejection_that_nothing_handles_fails_the_run_when_it_completes() {
    check(
        "Promise.reject(new Error('lost'));\nreturn 1",
        "unhandled rejection: Error: lost\n    at program:1:16\n  1 | Promise.reject(new Error('lost'));\n    |                ^",
    );
    check(
        "tools.fail({ message: 'disk full' });\nawait tools.echo({ value: 1 });\nreturn 'saved'",
        "a tool call that was not awaited failed: ToolCallError: tool \"fail\" failed: disk full\n    at program:1:7\n  \
         1 | tools.fail({ message: 'disk full' });\n    |       ^",
    );
}

#[test]
fn rejection_that_is_handled_later_is_fine() {
    let host = Host::new();
    for program in [
        "const late = Promise.reject(new Error('x')); await null; await null; late.catch(() => {}); return 1",
        "const late = tools.fail({ message: 'x' }); await tools.echo({ value: 1 }); return late.catch(() => 1)",
        "const late = Promise.reject(1); await new Promise((done) => setTimeout(done, 5)); await late.catch(() => {}); return 1",
    ] {
        assert_eq!(host.value(program), json!(1), "{program}");
    }
}

#[test]
fn rejection_is_told_where_the_program_can_go_no_further() {
    check(
        "Promise.reject(new Error('lost')); await new Promise(() => {})",
        "unhandled rejection: Error: lost\n    at program:1:16\n  1 | Promise.reject(new Error('lost')); await new Promise(() => {})\n    |                ^",
    );
}

#[test]
fn error_in_a_timer_fails_the_run_with_its_place() {
    check(
        "setTimeout(() => {\n  throw new Error('in a timer');\n}, 1);\nawait new Promise((done) => setTimeout(done, 60_000));",
        "Error: in a timer\n    at program:2:9\n  2 | throw new Error('in a timer');\n    |       ^",
    );
}

#[test]
fn program_that_nothing_can_settle_fails_at_once() {
    let stalled = "the program waits on a promise that nothing can settle";
    check("await new Promise(() => {})", stalled);
    check("console.log('before'); await tools.echo({ value: 1 }); await Promise.race([])", stalled);
    check(
        "for await (const each of { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }) ;",
        stalled,
    );
}

#[test]
fn constructs_that_are_no_erasable_types_are_refused_with_what_to_write() {
    for (program, message) in [
        (
            "enum A { B }",
            "TypeScript enum is not supported in strip-only mode (program:1:1): use a const object",
        ),
        (
            "namespace N { export const a = 1 }",
            "TypeScript namespace declaration is not supported in strip-only mode (program:1:1): use a plain object or functions",
        ),
        (
            "class A { constructor(public a: number) {} }",
            "TypeScript parameter property is not supported in strip-only mode (program:1:30): declare the field and assign it in the constructor",
        ),
        (
            "import x from 'y'",
            "'import', and 'export' cannot be used outside of module code (program:1:1): call the functions of `tools`; nothing has to be imported",
        ),
        ("if (1) {", "Expected '}', got '<eof>' (program:1:9)"),
        ("const a = ;", "Expression expected (program:1:11)"),
    ] {
        let host = Host::new();
        let failure = host.run(program).failure();
        assert_eq!(failure.kind, FailureKind::Exception);
        assert_eq!(failure.message.lines().next(), Some(message), "{program}");
        assert_eq!(failure.line, Some(1), "{program}");
    }
}

#[test]
fn early_errors_of_the_engine_have_their_place() {
    for (program, line) in [
        ("const a = 1;\nconst a = 2;", 2),
        #[cfg(feature = "v8")] // QuickJS does not say where in the text a regular expression is.
        ("return /(/", 1),
        ("\n\nlet x; { var x }", 3),
        ("for (const a of []) { break nowhere }", 1),
    ] {
        let failure = Host::new().run(program).failure();
        assert_eq!(
            (failure.kind, failure.line),
            (FailureKind::Exception, Some(line)),
            "{program}: {}",
            failure.message
        );
    }
}

#[cfg(feature = "v8")] // QuickJS gives evaluated text the name of the script that evaluates it.
#[test]
fn text_that_is_evaluated_has_no_lines_of_its_own_in_the_program() {
    for program in
        ["\n(0, eval)('\\n\\n\\nthrow new Error(\"x\")')", "\nnew Function('\\n\\nthrow new Error(\"x\")')()"]
    {
        let failure = Host::new().run(program).failure();
        assert_eq!(failure.line, Some(2), "{program}: {}", failure.message);
    }
}

#[test]
fn fence_byte_order_mark_and_crlf_keep_line_numbers() {
    for (program, line) in [
        ("```ts\nconst a = 1;\nthrow new Error('x')\n```", 3),
        ("```typescript\nthrow new Error('x')\n```\n", 2),
        ("\u{feff}const a = 1;\nthrow new Error('x')", 2),
        ("const a = 1;\r\nconst b: number = 2;\r\nthrow new Error('x')", 3),
    ] {
        assert_eq!(Host::new().run(program).failure().line, Some(line), "{program:?}");
    }
}

#[test]
fn failure_keeps_the_log_and_lists_the_calls_that_had_succeeded() {
    let run = Host::new().run("await tools.echo({ value: 1 }); await tools.echo({ value: 2 }); console.log('a\\nb'); console.log('c'); throw 'over'");
    assert_eq!(
        run.text(),
        "Error: code run failed (exception): 'over'\nCaptured output:\na\nb\nc\nNote: these tool calls had succeeded before the failure: echo (2 times)."
    );
    assert_eq!(run.logs(), ["a\nb", "c"]);
    let failure = run.result.error().unwrap();
    assert_eq!(failure.message(), "code run failed (exception): 'over'\nCaptured output:\na\nb\nc");
    let info = failure.info().map(|info| (info.name(), info.code()));
    assert_eq!(info, Some(("CodeRunFailedError", "CODE_RUN_FAILED")));
}

#[test]
fn value_that_was_not_returned_is_noted() {
    let text = Host::new().run("const sum = 1 + 2;\nsum").text();
    assert!(
        text.starts_with("(run_code completed with no output)\nNote: ")
            && text.contains("its value was not returned"),
        "{text}"
    );
}

#[test]
fn missing_await_is_noted_where_it_shows() {
    let note = "Note: `tools.echo` gives a promise, and `await` is missing before it (program:1:11)";
    for program in [
        "const r = tools.echo({ value: 1 });\nreturn r.value",
        "const r = tools.echo({ value: 1 });\nconsole.log(r.value)",
        "const r = tools.echo({ value: 1 });\nreturn r.value.length",
        "const r = tools.echo({ value: 1 });\nreturn { value: r.value }",
    ] {
        let text = Host::new().run(program).text();
        assert!(text.contains(note), "{program}: {text}");
    }
    let text = Host::new().run("const r = tools.echo({ value: 1 });\nreturn typeof (await r)?.x").text();
    assert_eq!(text, "undefined");
}

#[test]
fn function_that_nothing_calls_is_noted() {
    let text = Host::new().run("async () => {\n  return 1;\n}").text();
    assert!(text.contains("a function that nothing calls"), "{text}");
    let text = Host::new().run("return async () => 1").text();
    assert!(text.contains("value is a function\nNote: call the function that is returned"), "{text}");
}

#[test]
fn notes_can_be_switched_off() {
    use code_mode::{CodeMode, CodeModeConfig, Mode, RegistryConfig, ThreadRuntime, ToolRegistry};
    let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code)).unwrap();
    let mut config = CodeModeConfig::default();
    config.diagnostics = false;
    let runtime = std::sync::Arc::new(ThreadRuntime::new().unwrap());
    let _code_mode = CodeMode::with_config(&registry, runtime, config).unwrap();
    let call = ToolCall::new(CALL, "run_code", json!({"code": "1 + 1", "description": "d"}));
    let result = tokio::runtime::Runtime::new().unwrap().block_on(registry.execute(call));
    assert_eq!(result.text(), "(run_code completed with no output)");
}

#[test]
fn arguments_of_run_code_are_checked_before_anything_runs() {
    let host = Host::new();
    for (arguments, text) in [
        (json!({"code": "return 1"}), "Error: invalid arguments: missing required property \"description\""),
        (json!({"description": "d"}), "Error: invalid arguments: missing required property \"code\""),
        (
            json!({}),
            "Error: invalid arguments: missing required property \"code\"; missing required property \"description\"",
        ),
        (
            json!({"code": "return 1", "description": " \n"}),
            "Error: invalid description: expected a non-empty string",
        ),
        (json!({"code": 1, "description": "d"}), "Error: invalid arguments: \"code\" must be a string"),
    ] {
        assert_eq!(host.run_call(ToolCall::new(CALL, "run_code", arguments)).text(), text);
    }
}

#[test]
fn call_cancelled_beforehand_runs_nothing() {
    let host = Host::new();
    let stop = SignalSource::new();
    stop.cancel("too late");
    let run = host.run_call(host.call("console.log('ran')").with_signal(stop.signal()));
    assert_eq!(run.text(), "Error: tool call aborted before dispatch");
    assert_eq!(run.result.error().and_then(|failure| failure.code()), Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(host.take_events(), []);
}

#[test]
fn disposed_runtime_aborts_its_runs_and_refuses_others() {
    let host = Host::new();
    let _observer = host.on_log({
        let runtime = host.runtime.clone();
        move || runtime.dispose()
    });
    let failure = host.run("console.log('running'); await tools.hang()").failure();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Abort, "runtime disposed"));
    assert_eq!(host.run("return 1").text(), "Error: runtime disposed");
}

#[test]
fn result_that_is_no_json_is_a_kind_of_its_own() {
    let failure = Host::new().run("return { at: new Date(0) }").failure();
    let message = "program completion must be lossless JSON: value.at is a Date: use .toISOString()";
    assert_eq!(
        (failure.kind, failure.message.as_str(), failure.line),
        (FailureKind::InvalidOutput, message, None)
    );
}

#[test]
fn names_that_no_program_can_use_are_refused_as_misuse() {
    let host = Host::new();
    let run = |change: &dyn Fn(&mut Vec<Namespace>)| {
        let mut request = RunRequest::new("return 1");
        request.namespaces = vec![Namespace::tools(Arc::from([]), Arc::new(Deaf))];
        change(&mut request.namespaces);
        host.block_on(host.runtime.run(request)).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(run(&|_| ()), Ok(()));
    for global in ["", "1a", "a-b", "await", "console", "arguments", "eval"] {
        let refused = Err(format!("namespace {global:?} is not a usable identifier"));
        assert_eq!(run(&|namespaces| namespaces[0].global = global.into()), refused);
    }
    let class = |namespaces: &mut Vec<Namespace>| namespaces[0].error_class.name = "class".into();
    assert_eq!(run(&class), Err("error class \"class\" is not a usable identifier".to_owned()));
    for member in ["", "name", "message", "stack"] {
        let refused = Err(format!("error member {member:?} is not a usable identifier"));
        assert_eq!(run(&|namespaces| namespaces[0].error_class.member = member.into()), refused);
    }
    let twice = |namespaces: &mut Vec<Namespace>| namespaces.push(namespaces[0].clone());
    assert_eq!(run(&twice), Err("global \"tools\" is declared twice".to_owned()));
}

/// Answers nobody.
struct Deaf;

impl HostFunctions for Deaf {
    fn call(&self, _call: HostCall) {}
}
