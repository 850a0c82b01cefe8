//! Hostile programs under a heap of 32 MiB and limits of 2 s, among them what no thread survives: each is answered
//! in time with the right kind, the next run works, and the host is as small as before.

use std::time::{Duration, Instant};

use code_mode::FailureKind::{self, Exception, InvalidOutput, Timeout, WorkerExit};

use super::watch::resident_bytes;
use super::{config, made};
use crate::subject::Subject;
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<()>> {
    cases![hostile_programs_are_answered_in_time_and_cost_the_host_nothing]
}

/// What a busy machine may add to an answer's time, unless it is measured: then nothing.
fn slack() -> Duration {
    if std::env::var_os("CODE_MODE_STRICT_TIMES").is_some() { Duration::ZERO } else { Duration::from_secs(8) }
}

const LIMIT: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_millis(250);
const HOST_BYTES: u64 = 64 << 20;

/// Programs that must fail, each with the kinds that are right. Where two are, it is a matter of the engine's speed
/// which limit is met first.
const PROGRAMS: &[(&[FailureKind], &str)] = &[
    // Loops that lose their interrupt check unless loop unrolling is off.
    (&[Timeout], "while (true) new Array(100).fill(1)"),
    (&[WorkerExit, Timeout], "const a = []; while (true) a.push(new Array(1000).fill(1))"),
    (&[Timeout], "await (async () => { for (;;) { const a = new Array(100).fill(0) } })()"),
    // Memory, on the heap and beside it.
    (&[WorkerExit, Timeout], "const a = []; for (;;) a.push('abc'.repeat(1e7).split(''))"),
    (&[WorkerExit, Timeout, Exception], "eval('[' + '1,'.repeat(5e7) + ']')"),
    (&[WorkerExit, Timeout, Exception], "const a = []; for (;;) a.push(new Array(3e7).fill(0))"),
    (&[WorkerExit, Timeout], "const a = new Map(); for (let i = 0; ; i++) a.set(i, { i })"),
    (&[WorkerExit, Timeout], "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(1e5) + i)"),
    (&[WorkerExit, Timeout, Exception], "let s = 'x'; for (;;) s += s"),
    (&[WorkerExit, Timeout, Exception], "const a = []; for (;;) a.push(new Float64Array(1e6))"),
    (&[WorkerExit, Timeout, Exception], "new Function('return ' + '('.repeat(1e6) + ')'.repeat(1e6))()"),
    (&[WorkerExit, Timeout, Exception], "return JSON.parse('['.repeat(1e7))"),
    (
        &[WorkerExit, Timeout, Exception],
        "const b = new ArrayBuffer(1e8), v = new Array(b.byteLength), u = new Uint8Array(b); let i = v.length; while (i--) v[i] = u[i]",
    ),
    // Built-ins that cannot be interrupted.
    (&[WorkerExit, Timeout], "const b = new Array(2e6).fill('x'); for (;;) JSON.stringify(b)"),
    (&[WorkerExit, Timeout], "const t = '[' + '1,'.repeat(4e6) + '1]'; for (;;) JSON.parse(t)"),
    (&[Timeout], "const sparse = []; sparse[33554000] = 1; for (;;) sparse.sort()"),
    (&[WorkerExit, Timeout], "for (;;) Array.from({ length: 2e6 }, () => Math.random()).sort()"),
    (&[WorkerExit, Timeout], "const t = 'a'.repeat(3e7); for (;;) t.replace(/a/g, 'b')"),
    (&[Timeout, Exception], "let x = 2n; while (true) x = x * x"),
    (&[Timeout, Exception], "let n = 3n; for (;;) n *= n"),
    (&[Exception], "const a = []; a[1735689600] = 1; a.filter(Boolean)"),
    (&[Exception], "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"),
    (&[Exception], "new Array(1e8).fill(0)"),
    (&[Exception], "Array.from({ length: 1e8 })"),
    (&[Timeout], "return /^(a+)+$/.test('a'.repeat(40) + 'b')"),
    // Jobs and hooks.
    (
        &[Timeout, WorkerExit],
        "for (let i = 0; i < 1e5; i++) (async () => { for (;;) await null })(); await new Promise(() => {})",
    ),
    (&[Timeout], "for (;;) await null"),
    (&[Timeout], "for (let i = 0; i < 1e12; i++) {}"),
    (&[Exception], "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')"),
    (&[Timeout], "return { then() { for (;;); } }"),
    (&[Timeout], "return new Proxy({}, { ownKeys() { for (;;); } })"),
    (&[Timeout], "try { for (;;) {} } finally { for (;;) {} }"),
    // Waiting.
    (&[Timeout], "await tools.hold({})"),
    (&[Timeout], "await new Promise((done) => setTimeout(done, 1e9))"),
    (&[Exception], "await new Promise(() => {})"),
    // What it returns, and where it would like to be.
    (&[InvalidOutput], "const a = {}; a.a = a; return a"),
    (&[InvalidOutput], "return () => 1"),
    (&[InvalidOutput], "return { n: NaN, i: Infinity, u: undefined, m: new Map([[1, 2]]) }"),
    (&[Exception], "return this.constructor.constructor('return process')()"),
    (&[Exception], "return (async () => {}).constructor('return import(\"node:fs\")')()"),
    (&[Exception], "const f = () => f() + 1; return f()"),
    (&[Exception], "Promise.reject(new Error('lost')); return 1"),
    (&[Exception], "const x = ;"),
];

fn hostile_programs_are_answered_in_time_and_cost_the_host_nothing((): ()) {
    let mut config = config();
    config.limits.max_old_generation_size_mb = 32;
    config.limits.compute = LIMIT;
    config.limits.max_wall = LIMIT;
    let (_, subject) = made(config);
    subject.check_serves("nothing");
    let mut problems = Vec::new();
    let mut latest = Duration::ZERO;
    let only = std::env::var("CODE_MODE_HOSTILE").unwrap_or_default();
    for (kinds, program) in PROGRAMS.iter().filter(|(_, program)| program.contains(&only)) {
        let before = resident_bytes("self");
        let started = Instant::now();
        let end = subject.run(program).end;
        let elapsed = started.elapsed();
        latest = latest.max(elapsed);
        match end {
            Err(failure) if kinds.contains(&failure.kind) => {
                println!("{elapsed:>9.1?} {}: {program}", failure.message.lines().next().unwrap_or_default());
            }
            Err(failure) => problems.push(format!("{}: {}: {program}", failure.kind, failure.message)),
            Ok(value) => problems.push(format!("it completed with {value:?}: {program}")),
        }
        if elapsed > LIMIT + GRACE + slack() {
            problems.push(format!("answered after {elapsed:?}: {program}"));
        }
        check_next(&subject, before, program, &mut problems);
    }
    println!("the latest answer came after {latest:?}");
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Ten runs that must work, after which the host is as small as before.
fn check_next(subject: &Subject, before: u64, program: &str, problems: &mut Vec<String>) {
    let started = Instant::now();
    subject.check_serves(program);
    let next = started.elapsed();
    if next > Duration::from_secs(2) + slack() {
        problems.push(format!("the next run took {next:?}: {program}"));
    }
    for _ in 0..9 {
        subject.check_serves(program);
    }
    let after = resident_bytes("self");
    if after > before + HOST_BYTES {
        problems.push(format!("the host has grown by {} MiB: {program}", (after - before) >> 20));
    }
}
