//! Programs that brought down engines and other runtimes. Each is answered in time and rightly, the same runtime
//! serves the next one, and the memory comes back. Contract 6.2, 6.4; decisions 6, 14, 15, 27, 33.
//!
//! Every group runs in a process of its own, so that a program that ends its process fails one test.

mod unsurvivable;

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use code_mode::runtime::LogSink;
use code_mode::{CodeRuntime as _, FailureKind, Json, RunRequest, SignalSource};
use futures::FutureExt as _;
use futures::channel::oneshot;

use self::unsurvivable::UNSURVIVABLE;
use crate::support::{Host, HostConfig, alone, on_engine, stuck};

/// The time that a program has, computing or waiting, if that is what ends it.
const LIMIT: Duration = Duration::from_secs(2);
/// The time that a program has which something else ends, also on a machine that is busy.
const ROOM: Duration = Duration::from_secs(20);
/// How long after its limit the answer may come.
const LATENESS: Duration = Duration::from_millis(250);
/// How much more memory than before may be in use afterwards.
const MORE_KIB: u64 = 64 << 10;

/// A program, and what comes of it.
struct Case {
    name: &'static str,
    program: &'static str,
    end: End,
    heap_mb: usize,
    output_bytes: usize,
}

/// How a program ends.
enum End {
    /// It returns what this text is as JSON.
    Returns(&'static str),
    /// It returns nothing.
    Silent,
    /// It fails, with a message that begins so.
    Fails(FailureKind, &'static str),
}

fn case(name: &'static str, program: &'static str, end: End) -> Case {
    Case { name, program, end, heap_mb: 32, output_bytes: 64 << 20 }
}

impl Case {
    /// The same with another heap, where 32 MiB would be met first.
    fn with_heap_mb(self, heap_mb: usize) -> Self {
        Self { heap_mb, ..self }
    }

    /// The same with less room for its output.
    fn with_output_bytes(self, output_bytes: usize) -> Self {
        Self { output_bytes, ..self }
    }

    /// Runs it. What is wrong with it, if anything.
    fn problem(&self) -> Option<String> {
        let mut config = HostConfig::default();
        let limit = if matches!(self.end, End::Fails(FailureKind::Timeout, _)) { LIMIT } else { ROOM };
        config.runtime.limits.compute = limit;
        config.runtime.limits.max_wall = limit;
        config.runtime.limits.max_old_generation_size_mb = self.heap_mb;
        config.runtime.limits.max_output_bytes = self.output_bytes;
        // The next run begins when the isolate before it is gone.
        config.runtime.max_concurrent_runs = 1;
        config.runtime.max_abandoned_isolates = 0;
        let host = Host::made(config);
        // What the first run of a process brings in is not the program's.
        host.value("return 1");
        let before = resident_kib();
        let stalls = Stalls::watch();
        let run = host.run(self.program);
        let latest = limit + LATENESS + stalls.total();
        let elapsed = run.elapsed;
        if elapsed > latest {
            return Some(format!("answered after {elapsed:?}, not within {latest:?}"));
        }
        let value = run.result.value().map(|value| value.get("result").cloned());
        match (&self.end, value) {
            (End::Returns(json), Some(Some(value))) if Json::parse(json).unwrap() == value => {}
            (End::Silent, Some(None)) => {}
            (End::Fails(kind, message), None)
                if run.failure().kind == *kind && run.failure().message.starts_with(message) => {}
            _ => return Some(run.text().chars().take(500).collect()),
        }
        for _ in 0..10 {
            let next = host.run("return 1");
            if next.result.is_error() {
                return Some(format!("the next run ended so: {}", next.text()));
            }
        }
        // What the host was told belongs to this test.
        drop(run);
        host.take_events();
        let after = resident_kib();
        (after > before + MORE_KIB).then(|| format!("{before} KiB were resident before, {after} after"))
    }
}

/// Checks all cases of a group, in a process of its own, and names all that fail.
#[track_caller]
fn check(test: &str, cases: impl IntoIterator<Item = Case>) {
    in_own_process(test, || {
        let problems: Vec<String> = cases
            .into_iter()
            .filter_map(|case| Some(format!("{}: {}\n{}", case.name, case.problem()?, case.program)))
            .collect();
        assert!(problems.is_empty(), "\n{}", problems.join("\n\n"));
    });
}

/// Runs `body` in a process that runs this very test and no other.
#[track_caller]
fn in_own_process(test: &str, body: impl FnOnce()) {
    const MARK: &str = "CODE_MODE_TEST_OF_ITS_OWN";
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let _alone = alone();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&format!("hostile::{test}"), "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = output.status.success() && told.contains("1 passed");
    assert!(passed, "{}\n{told}{errors}", output.status);
}

/// How long this machine left a thread waiting that was ready to run.
struct Stalls {
    nanos: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    watcher: std::thread::JoinHandle<()>,
}

impl Stalls {
    const LOOK_EVERY: Duration = Duration::from_millis(5);

    fn watch() -> Self {
        let (nanos, over) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let watcher = std::thread::spawn({
            let (nanos, over) = (Arc::clone(&nanos), Arc::clone(&over));
            move || {
                while !over.load(Ordering::Acquire) {
                    let parked = Instant::now();
                    std::thread::park_timeout(Self::LOOK_EVERY);
                    let late = parked.elapsed().saturating_sub(Self::LOOK_EVERY);
                    nanos.fetch_add(u64::try_from(late.as_nanos()).unwrap(), Ordering::AcqRel);
                }
            }
        });
        Self { nanos, over, watcher }
    }

    fn total(self) -> Duration {
        self.over.store(true, Ordering::Release);
        self.watcher.thread().unpark();
        self.watcher.join().unwrap();
        Duration::from_nanos(self.nanos.load(Ordering::Acquire))
    }
}

/// The memory of this process that is in use, in KiB; 0 where nobody says.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}

const TIMEOUT: End = End::Fails(FailureKind::Timeout, "");
const HEAP: End = End::Fails(FailureKind::WorkerExit, "heap limit of ");
const TOO_LONG: End = End::Fails(FailureKind::Exception, "RangeError: array of length ");

const fn throws(message: &'static str) -> End {
    End::Fails(FailureKind::Exception, message)
}

const fn lossy(message: &'static str) -> End {
    End::Fails(FailureKind::InvalidOutput, message)
}

#[test]
fn loops_without_a_check_of_their_own_end() {
    check(
        "loops_without_a_check_of_their_own_end",
        [
            case("fill of 5", "while (true) new Array(5).fill(1)", TIMEOUT),
            case("fill of 20", "while (true) new Array(20).fill(1)", TIMEOUT),
            case("fill of 100", "while (true) new Array(100).fill(1)", TIMEOUT),
            case("fill of 1000", "while (true) new Array(1000).fill(1)", TIMEOUT),
            case("fill of 5000", "while (true) new Array(5000).fill(1)", TIMEOUT),
            case(
                "fill in an async function",
                "await (async () => { for (;;) { const a = new Array(100).fill(0) } })()",
                TIMEOUT,
            ),
            case("kept fills", "const a = []; while (true) a.push(new Array(1000).fill(1))", HEAP),
            case("count to 1e12", "for (let i = 0; i < 1e12; i++) {}", TIMEOUT),
            case(
                "a million turns",
                "let n = 0; for (let i = 0; i < 1e6; i++) n += i; return n",
                End::Returns("499999500000"),
            ),
        ],
    );
}

#[test]
fn long_built_ins_are_answered_in_time() {
    let mut cases = vec![
        // V8 computes on for seconds, QuickJS refuses the size.
        case(
            "squared bigint",
            "let x = 2n; while (true) x = x * x",
            on_engine(TIMEOUT, throws("RangeError: BigInt is too large to allocate")),
        ),
        case("regular expression", "return /^(a+)+$/.test('a'.repeat(40) + 'b')", TIMEOUT),
        case(
            "sort of a sparse array",
            "const a = []; a[33554000] = 1; a.sort(); a.sort(); return 1",
            TIMEOUT,
        ),
        case("short texts", "for (;;) JSON.stringify([1, 'b', { c: [] }])", TIMEOUT),
        case(
            "replacements in a long text",
            "const text = 'ab'.repeat(5e6); for (;;) text.replace(/a/g, 'c')",
            TIMEOUT,
        )
        .with_heap_mb(1024),
        case(
            "sort of five million numbers",
            "const a = []; for (let i = 0; i < 5e6; i++) a.push(i); for (;;) a.sort()",
            TIMEOUT,
        )
        .with_heap_mb(1024),
        case(
            "sort with a comparator",
            "const a = []; for (let i = 0; i < 5e6; i++) a.push(-i); for (;;) a.sort((x, y) => x - y || 1)",
            TIMEOUT,
        )
        .with_heap_mb(1024),
    ];
    if cfg!(feature = "v8") {
        // On QuickJS no thread survives these.
        cases.extend(
            UNSURVIVABLE
                .iter()
                .filter(|each| !each.on_v8)
                .map(|each| case(each.name, each.program, TIMEOUT).with_heap_mb(512)),
        );
    }
    check("long_built_ins_are_answered_in_time", cases);
}

#[test]
fn arrays_with_a_far_element_are_refused_in_time() {
    check(
        "arrays_with_a_far_element_are_refused_in_time",
        [
            case("filter", "const a = []; a[1735689600] = 1; return a.filter(Boolean)", TOO_LONG),
            case("forEach", "const a = []; a[1735689600] = 1; a.forEach(() => {})", TOO_LONG),
            case("map", "const a = []; a[1735689600] = 1; return a.map((n) => n)", TOO_LONG),
            case("indexOf", "const a = []; a[1735689600] = 1; return a.indexOf(2)", TOO_LONG),
            case("join", "const a = []; a[1735689600] = 1; return a.join()", TOO_LONG),
            case("slice", "const a = []; a[1735689600] = 1; return a.slice(1)", TOO_LONG),
            case("sort", "const a = []; a[1735689600] = 1; return a.sort()", TOO_LONG),
            case("reverse", "const a = []; a[1735689600] = 1; return a.reverse()", TOO_LONG),
            case("shift", "const a = []; a[1735689600] = 1; return a.shift()", TOO_LONG),
            case("flat", "const a = []; a[1735689600] = 1; return a.flat()", TOO_LONG),
            case("includes", "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", TOO_LONG),
            case("fill", "return new Array(1e8).fill(0).length", TOO_LONG),
            case("from", "return Array.from({ length: 1e8 }).length", TOO_LONG),
            case("for of", "const a = []; a[1735689600] = 1; for (const each of a) ;", TIMEOUT),
            case("index", "const a = []; a[1735689600] = 1; for (let i = 0; i < a.length; i++) ;", TIMEOUT),
            case("spread", "const a = []; a[1735689600] = 1; return [...a].length", on_engine(HEAP, TIMEOUT)),
        ],
    );
}

#[test]
fn memory_comes_back_after_a_heap_limit() {
    check(
        "memory_comes_back_after_a_heap_limit",
        [
            case("split texts", "const a = []; for (;;) a.push('abc'.repeat(1e7).split(''))", HEAP),
            case("objects", "const a = []; for (;;) a.push({ a: 1, b: [{}] })", HEAP),
            case("map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })", HEAP),
            case("arrays of thirty million", "const a = []; for (;;) a.push(new Array(3e7).fill(0))", HEAP),
            // V8 lets one young object pass, and looks at the next collection.
            case(
                "one array of 240 MB",
                "return new Array(3e7).fill(0).length",
                on_engine(End::Returns("30000000"), HEAP),
            ),
            case("text of an array", "return JSON.stringify(new Array(5e6).fill('aaaaaaaaaa')).length", HEAP),
            case(
                "copy of a buffer",
                "const b = new ArrayBuffer(6e7), v = new Array(b.byteLength), u = new Uint8Array(b);
                 let i = v.length; while (i--) v[i] = u[i]",
                HEAP,
            ),
            case("the heap, caught", "const a = []; for (;;) try { for (;;) a.push([a]) } catch {}", HEAP),
            case(
                "doubled text",
                "let s = 'x'; for (;;) s += s",
                on_engine(
                    throws("RangeError: Invalid string length"),
                    throws("InternalError: string too long"),
                ),
            ),
            case(
                "recursion",
                "const f = () => f() + 1; return f()",
                throws("RangeError: Maximum call stack size exceeded"),
            ),
        ],
    );
}

#[test]
fn array_buffers_stay_within_their_limit() {
    let refused = || {
        on_engine(
            throws("RangeError: Array buffer allocation failed"),
            throws("InternalError: out of memory"),
        )
    };
    let growing = || throws("RangeError: an ArrayBuffer with maxByteLength is not available");
    check(
        "array_buffers_stay_within_their_limit",
        [
            case("1 GB", "return new ArrayBuffer(1e9).byteLength", refused()),
            case(
                "copied 100 MB",
                "const b = new ArrayBuffer(1e8), v = new Array(b.byteLength), u = new Uint8Array(b);
                 let i = v.length; while (i--) v[i] = u[i]",
                refused(),
            ),
            case("transfer", "return new ArrayBuffer(8).transfer(1e9).byteLength", refused()),
            case("growing", "return new ArrayBuffer(1e9, { maxByteLength: 1e9 }).byteLength", growing()),
            case(
                "growing, by its prototype",
                "return new (ArrayBuffer.prototype.constructor)(8, { maxByteLength: 1e9 }).byteLength",
                growing(),
            ),
            case(
                "WebAssembly",
                "return new WebAssembly.Memory({ initial: 1e4 })",
                throws("ReferenceError: WebAssembly is not defined"),
            ),
            case(
                "kept buffers",
                "const a = []; for (;;) a.push(new Uint8Array(1e6))",
                on_engine(throws("RangeError: Array buffer allocation failed"), HEAP),
            ),
        ],
    );
}

#[test]
fn programs_that_wait_for_nothing_end() {
    let stalled = || throws("the program waits on a promise that nothing can settle");
    check(
        "programs_that_wait_for_nothing_end",
        [
            case("promise", "await new Promise(() => {})", stalled()),
            case("race of none", "await Promise.race([])", stalled()),
            case("timer far away", "await new Promise((done) => setTimeout(done, 1e9))", TIMEOUT),
            case("interval", "setInterval(() => {}, 1); await new Promise(() => {})", TIMEOUT),
            case("tool that hangs", "return await tools.hang()", TIMEOUT),
            case("tools that hang", "await Promise.all(Array.from({ length: 33 }, () => tools.hang()))", TIMEOUT),
            case("endless job", "for (;;) await null", TIMEOUT),
            case("endless microtask", "const again = () => queueMicrotask(again); again(); await new Promise(() => {})", TIMEOUT),
            case("endless hook", "return { toJSON() { for (;;) ; } }", lossy("program completion must be lossless JSON: value.toJSON is a function")),
            case("endless getter", "return { get a() { for (;;) ; } }", TIMEOUT),
            case("hook on stacks", "Error.prepareStackTrace = () => { for (;;) ; }; throw new Error('x')", throws("Error: x\n")),
            case(
                "signal that waits",
                "try { await new Promise((_, no) => AbortSignal.timeout(20).addEventListener('abort', (e) => no(e.target.reason))) }
                 catch (error) { return error.name }",
                End::Returns("\"TimeoutError\""),
            ),
            case(
                "finalizers and async functions after the end",
                "new FinalizationRegistry(() => { for (;;) ; }).register({}); (async () => { for (;;) await null })(); for (;;) ({})",
                TIMEOUT,
            ),
            case("rejection", "Promise.reject(new Error('lost'))", throws("unhandled rejection: Error: lost\n")),
            case(
                "rejection handled later",
                "const p = Promise.reject(new Error('x')); await null; return await p.catch(() => 'fine')",
                End::Returns("\"fine\""),
            ),
        ],
    );
}

#[test]
fn many_calls_are_queued_and_large_ones_cross() {
    check(
        "many_calls_are_queued_and_large_ones_cross",
        [
            case(
                "a hundred in a row",
                "for (let i = 0; i < 100; i++) if (await tools.echo({ value: i }) !== i) throw i; return 'all'",
                End::Returns("\"all\""),
            ),
            case(
                "257 at once",
                "const all = await Promise.all(Array.from({ length: 257 }, (_, value) => tools.echo({ value })));
                 return all.every((each, i) => each === i)",
                End::Returns("true"),
            ),
            case("a sum", "let s = 0; for (let i = 0; i < 51; i++) s += await tools.echo({ value: 15 }); return s", End::Returns("765")),
            case(
                "4 MiB there and back",
                "return (await tools.echo({ value: 'x'.repeat(4 << 20) })).length",
                End::Returns("4194304"),
            )
            .with_heap_mb(128),
            case("17 MiB printed", "console.log('x'.repeat(17 << 20)); return 1", End::Returns("1")).with_heap_mb(256),
            case(
                "floods of output",
                "for (;;) console.log('x'.repeat(1e6))",
                End::Fails(FailureKind::OutputLimit, "outer output exceeded 4194304 bytes"),
            )
            .with_output_bytes(4 << 20),
            case("lost call", "tools.hang(); return 'done'", End::Returns("\"done\"")),
            case(
                "lost call that fails",
                "tools.fail({ message: 'disk full' }); await tools.echo({}); return 'done'",
                throws("a tool call that was not awaited failed: ToolCallError: tool \"fail\" failed: disk full\n"),
            ),
            case("failure", "return await tools.fail({ message: 'no such id 7' })", throws("ToolCallError: tool \"fail\" failed: no such id 7\n")),
            case("text that is JSON", "return await tools.echo({ value: '[1]' })", End::Returns("\"[1]\"")),
        ],
    );
}

#[test]
fn results_that_mislead_elsewhere_are_told_as_they_are() {
    let refused = |what| lossy(what);
    check(
        "results_that_mislead_elsewhere_are_told_as_they_are",
        [
            case(
                "cycle",
                "const a = {}; a.a = a; return a",
                refused(
                    "program completion must be lossless JSON: value.a refers back to a value that holds it",
                ),
            ),
            case(
                "function",
                "return () => 1",
                refused("program completion must be lossless JSON: value is a function"),
            ),
            case(
                "depth",
                "let a = []; for (let i = 0; i < 2e4; i++) a = [a];
                 let n = 0; for (let b = await tools.echo({ value: a }); b.length; b = b[0]) n++; return n",
                End::Returns("20000"),
            ),
            case(
                "not a number",
                "return { n: NaN, i: Infinity, u: undefined, m: new Map([[1, 2]]) }",
                refused("program completion must be lossless JSON: value.n is NaN"),
            ),
            case(
                "a map",
                "return { m: new Map([[1, 2]]) }",
                refused("program completion must be lossless JSON: value.m is a Map"),
            ),
            case("null", "return null", End::Returns("null")),
            case("bare expression", "1 + 1", End::Silent),
            case("assignment", "let x; x = 1", End::Silent),
            case("types", "const x: number = 1; return x", End::Returns("1")),
            case(
                "enum",
                "enum C { A }",
                throws("TypeScript enum is not supported in strip-only mode (program:1:1)"),
            ),
            case("declared in every run", "const r = 1; return r", End::Returns("1")),
            case("SyntaxError", "const = 1", throws("Unexpected token `=`. Expected ")),
            case(
                "names of other hosts",
                "return [typeof Deno, typeof __bootstrap, typeof SharedArrayBuffer, typeof ShadowRealm, typeof gc, typeof require, typeof process]",
                End::Returns(
                    r#"["undefined","undefined","undefined","undefined","undefined","undefined","undefined"]"#,
                ),
            ),
            case(
                "newer names",
                "return [typeof Temporal, typeof Iterator, typeof Float16Array, typeof WeakRef, typeof FinalizationRegistry]",
                End::Returns(r#"["object","function","function","function","function"]"#),
            ),
            case(
                "locale and time zone",
                "return [(1234.5).toLocaleString('de-DE'), new Date(0).toLocaleDateString('ja-JP', { timeZone: 'Asia/Tokyo' })]",
                on_engine(End::Returns(r#"["1.234,5","1970/1/1"]"#), throws("")),
            ),
            case(
                "a proxy that lies",
                "let n = 0; return new Proxy({ a: 1 }, { get: () => n++ ? () => 1 : 7 })",
                refused("program completion must be lossless JSON: value.a is a function"),
            ),
            case(
                "a getter that lies",
                "let n = 0; return { get a() { return n++ ? () => 1 : 7 } }",
                End::Returns(r#"{"a":7}"#),
            ),
        ],
    );
}

#[test]
fn programs_that_no_thread_survives_are_programs() {
    for each in UNSURVIVABLE {
        assert!(each.on_v8 || each.on_quickjs, "{}", each.name);
        assert!(each.evidence.len() > 20, "{}", each.name);
        // All of it is compiled, none of it runs.
        let program = format!("if (tools) return {:?};\n{}", format!("{:?}", each.harm), each.program);
        assert_eq!(Host::new().value(&program), Json::from(format!("{:?}", each.harm)), "{}", each.name);
    }
}

#[test]
fn isolates_that_do_not_stop_are_counted_and_new_runs_wait_while_there_are_too_many() {
    let _alone = alone();
    for most in [0, 1] {
        let mut config = HostConfig::default();
        config.runtime.limits.compute = Duration::from_millis(300);
        config.runtime.max_concurrent_runs = 4;
        config.runtime.max_abandoned_isolates = most;
        let host = Host::made(config);
        let runs = (0..=most).map(|_| host.runtime.run(stuck().0));
        for outcome in host.block_on(futures::future::join_all(runs)) {
            assert_eq!(outcome.unwrap().end.unwrap_err().kind, FailureKind::Timeout);
        }
        assert_eq!(host.runtime.abandoned_isolates(), most + 1);
        // It begins only when there are fewer, and nothing of its own adds one.
        assert_eq!(host.value("return 1"), Json::from(1));
        assert!(host.runtime.abandoned_isolates() <= most);
    }
}

#[test]
fn run_that_waits_for_abandoned_isolates_can_be_cancelled() {
    let _alone = alone();
    let mut config = HostConfig::default();
    config.runtime.limits.compute = Duration::from_millis(300);
    config.runtime.max_abandoned_isolates = 0;
    let host = Host::made(config);
    let (request, isolate, is_gone) = stuck();
    host.block_on(host.runtime.run(request)).unwrap().end.unwrap_err();
    let stop = SignalSource::new();
    let mut request = RunRequest::new("return 1");
    request.signal = stop.signal();
    host.block_on(async {
        let mut waiting = host.runtime.run(request);
        assert!((&mut waiting).now_or_never().is_none());
        stop.cancel("the user left");
        let failure = waiting.await.unwrap().end.unwrap_err();
        assert_eq!((failure.kind, &*failure.message), (FailureKind::Abort, "the user left"));
    });
    assert!(isolate.strong_count() > 0, "the isolate had stopped");
    host.block_on(is_gone).unwrap();
}

#[test]
fn cancelled_run_is_answered_in_time_though_its_isolate_does_not_stop() {
    let _alone = alone();
    let host = Host::new();
    let (mut request, isolate, is_gone) = stuck();
    let (begun, has_begun) = oneshot::channel();
    request.logs = Some(Arc::new(Begun(Mutex::new(Some(begun)))));
    let stop = SignalSource::new();
    request.signal = stop.signal();
    let run = host.spawn(host.runtime.run(request));
    host.block_on(has_begun).unwrap();
    stop.cancel("the user left");
    let failure = host.block_on(run).unwrap().unwrap().end.unwrap_err();
    assert_eq!((failure.kind, &*failure.message), (FailureKind::Abort, "the user left"));
    assert!(isolate.strong_count() > 0, "the isolate had stopped");
    assert_eq!(host.runtime.abandoned_isolates(), 1);
    host.block_on(is_gone).unwrap();
}

#[test]
fn dropped_run_that_does_not_stop_gives_its_place_back() {
    let _alone = alone();
    let mut config = HostConfig::default();
    config.runtime.max_concurrent_runs = 1;
    config.runtime.max_abandoned_isolates = 1;
    let host = Host::made(config);
    let (mut request, isolate, is_gone) = stuck();
    let (begun, has_begun) = oneshot::channel();
    request.logs = Some(Arc::new(Begun(Mutex::new(Some(begun)))));
    let run = host.spawn(host.runtime.run(request));
    host.block_on(has_begun).unwrap();
    run.abort();
    assert_eq!(host.value("return 1"), Json::from(1));
    assert!(isolate.strong_count() > 0, "the isolate had stopped");
    assert_eq!(host.runtime.abandoned_isolates(), 1);
    host.block_on(is_gone).unwrap();
}

/// Tells that a program has begun, by its first line of output.
struct Begun(Mutex<Option<oneshot::Sender<()>>>);

impl LogSink for Begun {
    fn entry(&self, _text: &str) {
        if let Some(begun) = self.0.lock().unwrap().take() {
            let _ = begun.send(());
        }
    }
}
