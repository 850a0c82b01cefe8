//! Hostile programs under a heap of 32 MiB and limits of 2 s, among them what no thread survives: each is answered
//! in time and rightly, the next run works, and the host is as small as before. Decision 32.
//!
//! With `CODE_MODE_STRICT_TIMES` set, times are measured: run one test at a time then. `CODE_MODE_HOSTILE` picks the
//! programs that contain it.

mod programs;
#[path = "../../hostile/unsurvivable.rs"]
mod unsurvivable;

use std::time::{Duration, Instant};

use code_mode::FailureKind::{self, Timeout, WorkerExit};

use self::programs::Program;
use self::unsurvivable::{Harm, UNSURVIVABLE};
use super::watch::{SOON, eventually, is_alive, resident_bytes};
use super::{config, made};
use crate::subject::Subject;
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<()>> {
    cases![
        loops_that_lose_their_check_end_at_the_limit,
        memory_ends_at_a_limit_and_comes_back,
        long_built_ins_are_answered_in_time,
        jobs_and_hooks_without_end_are_answered_in_time,
        programs_that_wait_are_answered_in_time,
        calls_results_and_escapes_are_told_as_they_are,
        programs_that_no_thread_survives_end_with_their_worker,
    ]
}

fn loops_that_lose_their_check_end_at_the_limit((): ()) {
    check(programs::LOOPS);
}

fn memory_ends_at_a_limit_and_comes_back((): ()) {
    check(programs::MEMORY);
}

fn long_built_ins_are_answered_in_time((): ()) {
    check(programs::BUILT_INS);
}

fn jobs_and_hooks_without_end_are_answered_in_time((): ()) {
    check(programs::JOBS);
}

fn programs_that_wait_are_answered_in_time((): ()) {
    check(programs::WAITING);
}

fn calls_results_and_escapes_are_told_as_they_are((): ()) {
    // No limit ends these, so they have time, also without optimization and on a machine that is busy.
    check_within(LIMIT + slack(), programs::RESULTS);
}

/// With a heap that has room for them, so that nothing but their harm ends them.
fn programs_that_no_thread_survives_end_with_their_worker((): ()) {
    let mut problems = Vec::new();
    for each in UNSURVIVABLE.iter().filter(|each| each.program.contains(&only())) {
        let mut config = config();
        config.limits.max_old_generation_size_mb = 512;
        config.limits.compute = LIMIT;
        config.limits.max_wall = LIMIT;
        let (runtime, subject) = made(config);
        subject.check_serves("nothing");
        let before = runtime.worker_ids();
        let kinds: &[FailureKind] =
            if each.harm == Harm::EscapesItsHeap { &[Timeout, WorkerExit] } else { &[Timeout] };
        println!("{}: {}", each.name, each.evidence);
        check_one(&subject, &(kinds, each.program), &mut problems);
        let is_so_here = if cfg!(feature = "quickjs") { each.on_quickjs } else { each.on_v8 };
        if is_so_here {
            // The one that ran it is among those that were there before.
            eventually("its worker has ended", SOON, || before.iter().any(|id| !is_alive(*id)));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// What a busy machine may add to an answer's time, unless it is measured: then nothing.
fn slack() -> Duration {
    if std::env::var_os("CODE_MODE_STRICT_TIMES").is_some() {
        Duration::ZERO
    } else {
        Duration::from_secs(20)
    }
}

fn only() -> String {
    std::env::var("CODE_MODE_HOSTILE").unwrap_or_default()
}

const LIMIT: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_millis(250);
/// Little, so that what is slow without optimization is not what is tested.
const OUTPUT_BYTES: usize = 4 << 20;
const HOST_BYTES: u64 = 64 << 20;

fn check(programs: &[Program]) {
    check_within(LIMIT, programs);
}

/// Runs all of them in one runtime, and names all that end otherwise.
fn check_within(limit: Duration, programs: &[Program]) {
    let mut config = config();
    config.limits.max_old_generation_size_mb = 32;
    config.limits.compute = limit;
    config.limits.max_wall = limit;
    config.limits.max_output_bytes = OUTPUT_BYTES;
    let (_, subject) = made(config);
    subject.check_serves("nothing");
    let mut problems = Vec::new();
    let mut latest = Duration::ZERO;
    for program in programs.iter().filter(|(_, text)| text.contains(&only())) {
        latest = latest.max(check_one(&subject, program, &mut problems));
    }
    println!("the latest answer came after {latest:?}");
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Runs one program and ten after it; how long its answer took.
fn check_one(subject: &Subject, (kinds, program): &Program, problems: &mut Vec<String>) -> Duration {
    let before = resident_bytes("self");
    let started = Instant::now();
    let end = subject.run(program).end;
    let elapsed = started.elapsed();
    let told = match &end {
        Err(failure) => format!("{}: {}", failure.kind, failure.message.lines().next().unwrap_or_default()),
        Ok(_) => "completed".to_owned(),
    };
    println!("{elapsed:>9.1?} {told}: {program}");
    let is_right = match &end {
        Err(failure) => kinds.contains(&failure.kind),
        Ok(_) => kinds.is_empty(),
    };
    if !is_right {
        problems.push(format!("{told}: {program}"));
    }
    if elapsed > subject.runtime.limits().max_wall + GRACE + slack() {
        problems.push(format!("answered after {elapsed:?}: {program}"));
    }
    drop(end);
    check_next(subject, before, program, problems);
    elapsed
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
