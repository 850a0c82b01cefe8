//! Programs that meet a limit: the right kind, in time, and the next one is served. Contract 6.2, decisions 26, 27.

use std::time::{Duration, Instant};

use code_mode::{FailureKind, Json};

use crate::subject::{BackEnd, Subject};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        hot_loop_ends_at_the_compute_budget,
        waiting_ends_at_the_wall_limit,
        waiting_is_not_computing,
        retained_memory_ends_at_the_heap_limit,
        deep_recursion_is_an_exception,
        built_in_that_nothing_can_stop_is_answered_in_time,
    ]
}

/// What a busy machine may add to an answer's time.
const SLACK: Duration = Duration::from_secs(10);

#[track_caller]
fn check(subject: &Subject, program: &str, limit: Duration, kind: FailureKind, message: &str) {
    let started = Instant::now();
    let failure = subject.failure(program);
    let (elapsed, latest) = (started.elapsed(), limit + subject.runtime.limits().grace + SLACK);
    assert_eq!((failure.kind, failure.message.as_str()), (kind, message), "{program}");
    assert!(elapsed <= latest, "answered after {elapsed:?}, not within {latest:?}: {program}");
    subject.check_serves(program);
}

fn hot_loop_ends_at_the_compute_budget(back_end: BackEnd) {
    let budget = Duration::from_millis(300);
    let subject = Subject::with(back_end, |setup| setup.limits.compute = budget);
    for program in [
        "for (;;) {}",
        "while (true) new Array(100).fill(1)",
        "for (;;) await null",
        "return { get a() { for (;;); } }",
        "await tools.now({ get a() { for (;;); } })",
        "try { for (;;) {} } finally { for (;;) {} }",
    ] {
        let message = "compute budget exhausted (300ms busy)";
        check(&subject, program, budget, FailureKind::Timeout, message);
    }
}

fn waiting_ends_at_the_wall_limit(back_end: BackEnd) {
    let limit = Duration::from_millis(500);
    let subject = Subject::with(back_end, |setup| setup.limits.max_wall = limit);
    for program in [
        "await tools.hold({})",
        "await new Promise((done) => setTimeout(done, 1e9))",
        "setInterval(() => {}, 10); await new Promise(() => {})",
    ] {
        check(&subject, program, limit, FailureKind::Timeout, "wall-clock ceiling reached (500ms)");
    }
}

fn waiting_is_not_computing(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.compute = Duration::from_millis(300));
    let program = "await new Promise((done) => setTimeout(done, 600)); return 'rested'";
    assert_eq!(subject.value(program), "rested");
}

fn retained_memory_ends_at_the_heap_limit(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_old_generation_size_mb = 32);
    let limit = subject.runtime.limits().compute;
    for program in [
        "const all = []; for (;;) all.push({ a: 1, b: { c: [2] } })",
        "const all = []; for (;;) { all.push(new Array(1000).fill(0)); await null }",
        "return 'abc'.repeat(1e7).split('').length",
    ] {
        check(&subject, program, limit, FailureKind::WorkerExit, "heap limit of 32 MiB reached");
    }
}

fn deep_recursion_is_an_exception(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let message = "RangeError: Maximum call stack size exceeded";
    subject.check_failure("const f = () => f() + 1; return f()", FailureKind::Exception, message);
    let caught = "const f = () => f() + 1; try { f() } catch { return 'caught' }";
    assert_eq!(subject.value(caught), Json::from("caught"));
}

fn built_in_that_nothing_can_stop_is_answered_in_time(back_end: BackEnd) {
    let budget = Duration::from_millis(300);
    let subject = Subject::with(back_end, |setup| setup.limits.compute = budget);
    // Takes seconds on either engine.
    let program = "const sparse = []; sparse[33554000] = 1; sparse.sort()";
    let started = Instant::now();
    let failure = subject.failure(program);
    assert_eq!(failure.message, "compute budget exhausted (300ms busy)");
    let elapsed = started.elapsed();
    // The built-in itself takes longer than that, also where nothing else runs.
    assert!(elapsed < Duration::from_millis(300) + subject.runtime.limits().grace + SLACK, "{elapsed:?}");
    subject.check_serves(program);
}
