//! Hostile programs: each ends as its limit says, in time, and the same runtime serves the next one.
//! Contract 6.2, 6.4, 6.6; decisions 6, 14, 15, 26, 27, 33.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use code_mode::{CodeRuntime as _, FailureKind, Json, Limits, SignalSource};
use futures::channel::oneshot;

use crate::support::{Host, HostConfig, Run, alone, on_engine, stuck};

/// What a busy machine may add to an answer's time.
const SLACK: Duration = Duration::from_secs(10);

/// Runs `program` under changed limits, sees that the answer is there in time and that the host still serves.
#[track_caller]
fn run(program: &str, change: impl FnOnce(&mut Limits)) -> Run {
    let _alone = alone();
    let mut limits = Limits::default();
    let host = Host::limited(|defaults| {
        change(defaults);
        limits = defaults.clone();
    });
    let run = host.run(program);
    let latest = limits.compute.min(limits.max_wall) + limits.grace + SLACK;
    assert!(run.elapsed <= latest, "answered after {:?}, not within {latest:?}: {program}", run.elapsed);
    assert_eq!(host.value("return 1"), Json::from(1), "after {program}");
    run
}

/// Says that `program` fails with this kind and this first line.
#[track_caller]
fn check(program: &str, change: impl FnOnce(&mut Limits), kind: FailureKind, message: &str) {
    let failure = run(program, change).failure();
    assert_eq!((failure.kind, failure.message.lines().next()), (kind, Some(message)), "{program}");
}

/// 300 ms of CPU time.
fn brief(limits: &mut Limits) {
    limits.compute = Duration::from_millis(300);
}

const USED_UP: &str = "compute budget exhausted (300ms busy)";

#[test]
fn hot_loops_end_at_the_compute_budget() {
    for program in [
        "for (;;) {}",
        // Not to be stopped unless loop unrolling is off.
        "while (true) new Array(100).fill(1)",
        "let n = 0; do { n += Math.sqrt(n + 1) } while (n >= 0)",
        "label: for (;;) { for (;;) continue label }",
        "try { for (;;) {} } finally { for (;;) {} }",
        "for (;;) { try { for (;;) {} } catch {} }",
        "for (;;) JSON.stringify([1, 2, { a: 'b' }])",
    ] {
        check(program, brief, FailureKind::Timeout, USED_UP);
    }
}

#[test]
fn loops_of_jobs_end_at_the_compute_budget() {
    for program in [
        "for (;;) await null",
        "for (;;) await (async () => {})()",
        "const again = () => { queueMicrotask(again) }; again(); await new Promise(() => {})",
        "async function* forever() { for (;;) yield 1 } for await (const each of forever()) ;",
    ] {
        check(program, brief, FailureKind::Timeout, USED_UP);
    }
}

#[test]
fn backtracking_ends_at_the_compute_budget() {
    check("return /^(a+)+$/.test('a'.repeat(40) + 'b')", brief, FailureKind::Timeout, USED_UP);
    check("return 'x'.repeat(30).replace(/(x+x+)+y/, '')", brief, FailureKind::Timeout, USED_UP);
}

#[test]
fn hooks_of_a_program_that_loop_end_at_the_compute_budget() {
    for program in [
        "return { get a() { for (;;); } }",
        "return { then() { for (;;); } }",
        "return new Proxy({}, { ownKeys() { for (;;); } })",
        "await tools.echo({ get value() { for (;;); } })",
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
        "class Odd extends Error { get name() { for (;;); } } throw new Odd('x')",
        "const e = new Error('x'); Object.defineProperty(e, 'cause', { get() { for (;;); } }); throw e",
    ] {
        check(program, brief, FailureKind::Timeout, USED_UP);
    }
}

#[test]
fn hook_on_stacks_is_never_called() {
    let program = "Error.prepareStackTrace = () => { for (;;); }; throw new Error('plain')";
    check(program, brief, FailureKind::Exception, "Error: plain");
}

#[test]
fn retained_memory_ends_at_the_heap_limit() {
    for program in [
        "const all = []; while (true) all.push(new Array(1000).fill(1))",
        "const all = []; for (;;) all.push({ a: 1, b: { c: [2] } })",
        "const all = new Map(); for (let i = 0; ; i++) all.set(i, { i })",
        "const all = []; for (let i = 0; ; i++) all.push('x'.repeat(1e5) + i, 'abc'.repeat(1000).split('').join(i))",
        "const all = []; for (;;) all.push(() => all)",
        "const all = []; for (;;) { all.push(new Array(1000).fill(0)); await null }",
        "const all = []; for (let i = 0; ; i++) all.push(new Error(`number ${i}`))",
        "const all = []; for (;;) { const error = new Error('x'); all.push(error, error.stack) }",
        "const all = []; for (;;) { try { for (;;) all.push([{}]) } catch { all.push(new Error('x').stack) } }",
        "const all = []; for (;;) await tools.fail({ message: 'x'.repeat(1e4) }).catch((error) => all.push(error, error.stack))",
        "const all = [], long = 'x'.repeat(5000); for (let i = 0; ; i++) all.push(new Function(`return class { m() { return '${i}${long}' } }`))",
    ] {
        let small = |limits: &mut Limits| limits.max_old_generation_size_mb = 32;
        check(program, small, FailureKind::WorkerExit, "heap limit of 32 MiB reached");
    }
}

#[test]
fn one_huge_allocation_does_not_take_the_process_along() {
    for program in [
        "const all = []; for (;;) all.push(new Array(3e7).fill(0))",
        "return 'abc'.repeat(1e7).split('').length",
        "return JSON.stringify(new Array(5e6).fill('aaaaaaaaaa')).length",
        "let text = 'x'; for (let i = 0; i < 1e6; i++) text = text.replace(/x/g, 'xx')",
    ] {
        let small = |limits: &mut Limits| limits.max_old_generation_size_mb = 32;
        check(program, small, FailureKind::WorkerExit, "heap limit of 32 MiB reached");
    }
}

#[test]
fn doubled_string_ends_as_an_exception_with_its_place() {
    let small = |limits: &mut Limits| limits.max_old_generation_size_mb = 32;
    let message = on_engine("RangeError: Invalid string length", "InternalError: string too long");
    check("let text = 'x'; for (;;) text += text", small, FailureKind::Exception, message);
}

#[test]
fn squared_bigint_ends_in_time() {
    // V8 computes on until the budget is used up, QuickJS refuses the size.
    let (kind, message) = on_engine(
        (FailureKind::Timeout, USED_UP),
        (FailureKind::Exception, "RangeError: BigInt is too large to allocate"),
    );
    let change = |limits: &mut Limits| {
        limits.compute = on_engine(Duration::from_millis(300), Duration::from_secs(20));
    };
    check("let n = 3n; for (;;) n *= n", change, kind, message);
}

#[cfg(feature = "v8")] // On QuickJS buffers are part of the heap, and the heap limit ends the run.
#[test]
fn array_buffers_beyond_their_limit_are_refused_and_can_be_caught() {
    let program = "
        const refused = [];
        for (const make of [
            () => new ArrayBuffer(1e9),
            () => new Uint8Array(1e9),
            () => { const all = []; for (;;) all.push(new Float64Array(1e6)) },
        ]) try { make() } catch (error) { refused.push(error.name) }
        return [refused, new Uint8Array(1e6).length];
    ";
    let name = "RangeError";
    let value = run(program, |_| ()).value();
    assert_eq!(value, code_mode::json!([[name, name, name], 1_000_000]));
}

#[cfg(feature = "quickjs")] // On V8 they have a limit of their own.
#[test]
fn array_buffers_count_as_heap() {
    let program = "const all = []; for (;;) all.push(new Float64Array(1e6))";
    check(program, |_| (), FailureKind::WorkerExit, "heap limit of 64 MiB reached");
    check("return new ArrayBuffer(1e9)", |_| (), FailureKind::Exception, "InternalError: out of memory");
}

#[cfg(feature = "v8")] // On QuickJS the heap limit is what is met.
#[test]
fn refused_array_buffer_names_the_limit() {
    check(
        "return new ArrayBuffer(1e9)",
        |_| (),
        FailureKind::Exception,
        "RangeError: Array buffer allocation failed (limit 67108864 bytes)",
    );
}

#[cfg(feature = "v8")] // As above.
#[test]
fn refused_array_buffer_that_is_caught_names_the_limit() {
    let refused = "Array buffer allocation failed (limit 67108864 bytes)";
    for call in [
        "new ArrayBuffer(1e9)",
        "new (class extends ArrayBuffer {})(1e9)",
        "new ArrayBuffer(8).transfer(1e9)",
        "new ArrayBuffer(4e7).slice()",
        "structuredClone(new Uint8Array(4e7))",
    ] {
        let program = format!("try {{ {call} }} catch (error) {{ return [error.name, error.message] }}");
        assert_eq!(run(&program, |_| ()).value(), code_mode::json!(["RangeError", refused]), "{call}");
    }
    // The constructors of typed arrays are the engine's own, whose views would be slow otherwise: the stack says it,
    // which is what is printed of an error.
    for call in ["new Uint8Array(1e9)", "new Uint8Array(4e7).slice()", "Float64Array.from({ length: 1e7 })"] {
        let program = format!("try {{ {call} }} catch (error) {{ console.log(error); return error.stack }}");
        let run = run(&program, |_| ());
        let expected = format!("RangeError: {refused}\n    at ");
        assert!(run.value().as_str().is_some_and(|stack| stack.starts_with(&expected)), "{}", run.text());
        assert!(run.logs()[0].starts_with(&expected), "{}", run.text());
    }
}

#[test]
fn growing_array_buffer_is_not_available() {
    for program in [
        "return new ArrayBuffer(1, { maxByteLength: 1e9 })",
        "return new ArrayBuffer.prototype.constructor(1, { maxByteLength: 1e9 })",
        "return Reflect.construct(ArrayBuffer, [1, { maxByteLength: 1e9 }])",
        "return new (class extends ArrayBuffer {})(1, { maxByteLength: 1e9 })",
    ] {
        let message =
            "RangeError: an ArrayBuffer with maxByteLength is not available: allocate a fixed length";
        check(program, |_| (), FailureKind::Exception, message);
    }
}

#[test]
fn deep_recursion_is_an_exception_and_can_be_caught() {
    let message = "RangeError: Maximum call stack size exceeded";
    check("const f = () => f() + 1; return f()", |_| (), FailureKind::Exception, message);
    let caught = "const f = () => f() + 1; try { f() } catch (error) { return error.name }";
    assert_eq!(run(caught, |_| ()).value(), "RangeError");
}

#[test]
fn flood_of_output_is_cut_at_its_limit() {
    for program in ["for (;;) console.log('x'.repeat(100))", "console.log('x'.repeat(1e6)); return 1"] {
        let run = run(program, |limits| limits.max_output_bytes = 10_000);
        let failure = run.failure();
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (FailureKind::OutputLimit, "outer output exceeded 10000 bytes")
        );
        let (logs, bytes) = (run.logs(), run.text().len());
        assert!(logs[0].starts_with("xxx") && (9_000..=10_200).contains(&bytes), "{bytes} bytes");
    }
}

#[test]
fn result_over_the_output_limit_is_dropped_whole() {
    let run =
        run("console.log('kept'); return 'é'.repeat(10_000)", |limits| limits.max_output_bytes = 10_000);
    assert_eq!(run.failure().kind, FailureKind::OutputLimit);
    assert_eq!(run.logs(), ["kept"]);
    assert!(!run.text().contains('é'), "{}", run.text());
}

#[test]
fn output_at_its_limit_passes_and_one_byte_more_does_not() {
    // The log costs `["ab"]`, the result `"xx…"`.
    let program = |bytes: usize| format!("console.log('ab'); return 'x'.repeat({})", bytes - 6 - 2);
    let limited = |limits: &mut Limits| limits.max_output_bytes = 1000;
    assert!(!run(&program(1000), limited).result.is_error());
    assert_eq!(run(&program(1001), limited).failure().kind, FailureKind::OutputLimit);
}

#[test]
fn wall_limit_ends_every_kind_of_waiting() {
    for program in [
        "await new Promise((done) => setTimeout(done, 1e9))",
        "setInterval(() => {}, 10); await new Promise(() => {})",
        "await tools.hang()",
        "await Promise.all([tools.hang(), tools.hang()])",
    ] {
        let brief = |limits: &mut Limits| limits.max_wall = Duration::from_millis(1500);
        check(program, brief, FailureKind::Timeout, "wall-clock ceiling reached (1500ms)");
    }
}

#[test]
fn waiting_is_not_computing() {
    let program = "await new Promise((done) => setTimeout(done, 600)); return 'rested'";
    assert_eq!(run(program, brief).value(), "rested");
}

#[test]
fn computing_of_tools_is_not_billed_to_the_program() {
    let _alone = alone();
    let host = Host::limited(brief);
    let names = Arc::<Mutex<Vec<Option<String>>>>::default();
    for (name, is_late) in [("at_once", false), ("later", true)] {
        let names = Arc::clone(&names);
        host.tool(name, move |_, _| {
            let names = Arc::clone(&names);
            async move {
                names.lock().unwrap().push(std::thread::current().name().map(str::to_owned));
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_millis(400) {
                    std::hint::spin_loop();
                }
                if is_late {
                    tokio::task::yield_now().await;
                }
                Ok(Json::Null)
            }
        });
    }
    let program = "await tools.at_once(); await tools.later(); await Promise.all([tools.at_once(), tools.later()]); return 'done'";
    assert_eq!(host.value(program), "done");
    // It was polled where the program runs, or this proves nothing.
    assert_eq!(*names.lock().unwrap(), vec![Some("code-mode-isolate".to_owned()); 4]);
    // What the program itself computes after that is.
    let failure = host.run("await tools.at_once(); for (;;) {}").failure();
    assert_eq!((failure.kind, &*failure.message), (FailureKind::Timeout, USED_UP));
}

#[test]
fn ten_thousand_calls_in_a_row_are_allowed_and_no_more() {
    let program = "
        for (let i = 0; i < 10_000; i++) if (await tools.echo({ value: i }) !== i) throw new Error(`call ${i}`);
        try { await tools.echo({ value: 0 }) } catch (error) { return [error.name, error.message] }
    ";
    let value = run(program, |limits| limits.compute = Duration::from_secs(100)).value();
    let message = "a run may make 10000 tool calls (maxSubCalls); echo not dispatched: return what there is and go on in another program";
    assert_eq!(value, code_mode::json!(["ToolCallError", message]));
}

#[test]
fn program_longer_than_its_limit_is_refused_with_both_sizes() {
    let limited = |limits: &mut Limits| limits.max_source_bytes = 10;
    check(
        "return /* */ 1",
        limited,
        FailureKind::Exception,
        "the program is 14 bytes long, the limit is 10 bytes",
    );
}

#[test]
fn methods_refuse_arrays_that_they_could_not_walk_in_time() {
    for (method, call) in [
        ("filter", "sparse.filter(Boolean)"),
        ("forEach", "sparse.forEach(() => {})"),
        ("map", "sparse.map((each) => each)"),
        ("indexOf", "sparse.indexOf(2)"),
        ("includes", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"),
        ("join", "sparse.join()"),
        ("toString", "`${sparse}`"),
        ("reverse", "sparse.reverse()"),
        ("sort", "sparse.sort()"),
        ("shift", "sparse.shift()"),
        ("slice", "sparse.slice(1)"),
        ("flat", "sparse.flat()"),
        ("flat", "[sparse].flat()"),
        ("flat", "[[[sparse]]].flat(3)"),
        ("concat", "[].concat(sparse)"),
        ("fill", "new Array(1e8).fill(0)"),
        ("from", "Array.from({ length: 1e8 })"),
        ("toSorted", "sparse.toSorted()"),
        ("reduceRight", "sparse.reduceRight((a) => a)"),
    ] {
        let program = format!("const sparse = []; sparse[1735689600] = 1; return {call}");
        let failure = run(&program, brief).failure();
        let message = failure.message.lines().next().unwrap();
        let fits = message.starts_with("RangeError: array of length ")
            && message.ends_with(
                " (limit 33554432): use a Map or an object for sparse keys, a typed array for many numbers",
            )
            && message.contains(&format!(" is too long for {method} "));
        assert!(fits, "{call}: {message}");
    }
}

#[test]
fn length_that_changes_between_two_looks_does_not_open_the_way() {
    let program = "let looks = 0;
        const odd = { get length() { return looks++ ? 2 ** 53 - 1 : 1 } };
        return [Array.prototype.includes.call(odd, 1), looks]";
    assert_eq!(run(program, brief).value(), code_mode::json!([false, 1]));
}

#[test]
fn what_stands_for_an_odd_object_is_never_seen() {
    let program = "
        class Odd { get length() { return 2 } }
        const odd = Object.assign(new Odd(), { 0: 'b', 1: 'a' });
        const { map, reduce, reverse, fill } = Array.prototype;
        const proxy = new Proxy(['x'], { get: (target, key, receiver) => [Reflect.get(target, key), receiver === proxy][+(key === 'me')] });
        return [
            map.call(odd, (item, index, whole) => whole === odd), reduce.call(odd, (all, item, index, whole) => whole === odd),
            reverse.call(odd) === odd, odd[0], fill.call(odd, 7) === odd, odd[1], Array.isArray(odd),
            proxy.map((item, index, whole) => whole === proxy), proxy.fill('y') === proxy, proxy[0], Array.isArray(proxy.slice()),
            [() => 1].indexOf.call(new Proxy([Odd], {}), Odd),
            [1, new Proxy([2, [3, [4]]], {})].flat(2), [new Proxy([[1]], {})].flat(0.5).length,
            [1, 2].flatMap((n) => new Proxy([n, [n]], {})),
        ];
    ";
    let seen = code_mode::json!([[true, true], true, true, "a", true, 7, false]);
    let seen_through = code_mode::json!([[true], true, "y", true, 0, [1, 2, 3, [4]], 1, [1, [1], 2, [2]]]);
    let expected = Json::from(
        [seen, seen_through].iter().flat_map(|part| part.as_array().unwrap().to_vec()).collect::<Vec<_>>(),
    );
    assert_eq!(run(program, |_| ()).value(), expected);
}

#[test]
fn calls_with_lists_are_what_they_always_were() {
    let program = "
        const own = (holder, name) => { const { name: n, length } = holder[name]; return [n, length] };
        const thrown = (f) => { try { f() } catch (error) { return error.name } };
        class Point { constructor(...args) { this.args = args } }
        const made = Reflect.construct(Point, [1, 2], class extends Point {});
        const list = function () { return Math.max.apply(null, arguments) };
        return [
            own(Function.prototype, 'apply'), own(Reflect, 'apply'), own(Reflect, 'construct'), own(String, 'raw'), own(globalThis, 'Proxy'),
            Math.max.apply(null, [1, 3, 2]), Math.max.apply(null, { length: 2, 0: 5, 1: 4 }), list(1, 9), String(Math.max.apply(null)),
            String.fromCharCode.apply(null, new Uint8Array([72, 105])), (function () { return this }).apply(7),
            Reflect.apply(Math.min, null, [3, 1]), made.args, String.raw`a\\n${1}b`, 'prototype' in Proxy,
            thrown(() => Reflect.apply(Math.max, null)), thrown(() => Reflect.construct(() => {}, [])), thrown(() => Proxy({}, {})),
            thrown(() => Function.prototype.apply.call(1)), thrown(() => Math.max.apply(null, 1)), thrown(() => new Proxy(1, {})),
            String(Proxy), String(Function.prototype.apply), new Proxy({ a: 1 }, {}).a,
        ];
    ";
    let type_error = "TypeError";
    let expected = code_mode::json!([
        ["apply", 2],
        ["apply", 3],
        ["construct", 2],
        ["raw", 1],
        ["Proxy", 2],
        3,
        5,
        9,
        "-Infinity",
        "Hi",
        7,
        1,
        [1, 2],
        "a\\n1b",
        false,
        type_error,
        type_error,
        type_error,
        type_error,
        type_error,
        type_error,
        "function Proxy() { [native code] }",
        "function apply() { [native code] }",
        1
    ]);
    assert_eq!(run(program, |_| ()).value(), expected);
}

#[test]
fn array_that_a_callback_makes_is_not_walked_either() {
    let program = "const sparse = []; sparse[2e9] = 1; return [1].flatMap(() => sparse).length";
    assert_eq!(run(program, brief).failure().kind, FailureKind::Exception);
}

#[test]
fn short_arrays_are_what_they_always_were() {
    let program = "
        const own = (name) => { const { name: n, length } = Array.prototype[name]; return [n, length] };
        return [[3, 1, 2].sort(), [1, [2, [3]]].flat(2), own('filter'), own('concat'), Array.from({ length: 2 }, (_, i) => i),
            Array.from('ab'), new (class extends Array {})(1, 2).map((n) => n * 2).length, 'map' in Array.prototype,
            Object.keys(Array.prototype)];
    ";
    let expected = code_mode::json!([
        [1, 2, 3],
        [1, 2, 3],
        ["filter", 1],
        ["concat", 1],
        [0, 1],
        ["a", "b"],
        2,
        true,
        []
    ]);
    assert_eq!(run(program, |_| ()).value(), expected);
}

#[test]
fn cancelled_run_ends_with_the_reason_though_its_program_spins() {
    let _alone = alone();
    let host = Host::new();
    let stop = Arc::new(SignalSource::new());
    let call = host.call("console.log('here'); for (;;) {}").with_signal(stop.signal());
    let _observer = host.on_log(move || {
        stop.cancel("the user left");
    });
    let run = host.run_call(call);
    assert_eq!((run.failure().kind, run.failure().message), (FailureKind::Abort, "the user left".to_owned()));
    assert_eq!(run.logs(), ["here"]);
    assert_eq!(host.value("return 1"), Json::from(1));
}

#[test]
fn dropped_run_stops_and_gives_its_place_back() {
    let _alone = alone();
    let mut config = HostConfig::default();
    config.runtime.max_concurrent_runs = 1;
    let host = Host::made(config);
    let (begun, has_begun) = oneshot::channel();
    let begun = Mutex::new(Some(begun));
    let observer = host.on_log(move || {
        if let Some(begun) = begun.lock().unwrap().take() {
            let _ = begun.send(());
        }
    });
    let run = host.spawn(host.registry.execute(host.call("console.log('here'); for (;;) {}")));
    host.block_on(has_begun).unwrap();
    drop(observer);
    run.abort();
    assert_eq!(host.value("return 1"), Json::from(1));
}

#[test]
fn caller_is_answered_while_a_built_in_that_nothing_can_stop_goes_on() {
    let _alone = alone();
    let host = Host::limited(brief);
    let (request, isolate, is_gone) = stuck();
    let outcome = host.block_on(host.runtime.run(request)).unwrap();
    assert!(isolate.strong_count() > 0, "the isolate had stopped");
    let failure = outcome.end.unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Timeout, USED_UP));
    assert_eq!(host.value("return 1"), Json::from(1));
    host.block_on(is_gone).unwrap();
}
