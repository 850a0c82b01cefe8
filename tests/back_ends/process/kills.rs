//! Workers that are killed: every run ends once, with an outcome of its own, and nothing is left over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use code_mode::runtime::{LogSink, MisuseError};
use code_mode::{FailureKind, ProcessRuntime, json};

use super::roles::CUT;
use super::watch::{self, settled};
use super::{config, made};
use crate::subject::{Log, Subject, request};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<()>> {
    cases![
        worker_that_is_killed_at_any_message_fails_its_run_only,
        runs_survive_workers_that_are_killed_at_random
    ]
}

/// The messages of one run with its start: Hello, Configure, Ready, Run, Began, Log, Call, Now, Call,
/// Later, Answer, Log, End, Gone.
const PROGRAM: &str =
    "console.log('a'); await tools.now({}); await tools.later({}); console.log('b'); return 'end'";
const END: usize = 13;
/// The one that says that the run has begun. Before it is delivered another worker may have the run.
const BEGAN: usize = 5;

fn worker_that_is_killed_at_any_message_fails_its_run_only((): ()) {
    // Whatever is started once per process is there afterwards.
    drop(made(config()).1.run("return 1"));
    let before = settled();
    for number in 1..=END + 1 {
        for delivered in [false, true] {
            let when = if delivered { "after" } else { "before" };
            let mut config = config();
            config.spare_workers = 0;
            config.arguments = [CUT.to_owned(), number.to_string(), when.to_owned()].map(Into::into).into();
            let (runtime, subject) = made(config);
            let log = Log::new(|_| ());
            let mut request = request(PROGRAM);
            request.logs = Some(Arc::clone(&log) as Arc<_>);
            let outcome = subject.request(request);
            let place = format!("killed {when} message {number}: {outcome:?}");
            match outcome {
                Err(MisuseError::Worker { .. }) => assert!((number, delivered) < (BEGAN, true), "{place}"),
                Err(_) => panic!("{place}"),
                Ok(outcome) => {
                    assert!(["a", "b"].iter().zip(&outcome.logs).all(|(a, b)| a == b), "{place}");
                    assert_eq!(*log.entries.lock().unwrap(), outcome.logs, "{place}");
                    match outcome.end {
                        // Its end was delivered.
                        Ok(end) => {
                            assert_eq!((end, outcome.logs.len()), (Some("end".into()), 2), "{place}");
                            // One message earlier if `later` was answered before its call had returned.
                            assert!((number, delivered) >= (END - 1, true), "{place}");
                        }
                        Err(failure) => {
                            assert_eq!(failure.kind, FailureKind::WorkerExit, "{place}");
                            assert!((number, delivered) >= (BEGAN, true), "{place}");
                        }
                    }
                }
            }
            drop((runtime, subject));
        }
    }
    assert_eq!(settled(), before);
}

/// How many runs; the whole measure is 10 000.
fn count() -> usize {
    std::env::var("CODE_MODE_KILL_RUNS").ok().and_then(|count| count.parse().ok()).unwrap_or(400)
}

/// When a worker is killed is counted in what the runs say, and not in time, so that it does not depend on how fast
/// the engine is whether many are hit.
fn runs_survive_workers_that_are_killed_at_random((): ()) {
    // Whatever is started once per process is there afterwards.
    drop(made(config()).1.run("return 1"));
    let before = settled();
    let mut config = config();
    config.max_concurrent_runs = 3;
    let (runtime, subject) = made(config);
    subject.check_serves("nothing");
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut completed, mut lost) = (0, 0);
    let total = count();
    let mut next = 0;
    while next < total {
        let batch: Vec<_> = (next..total.min(next + 100))
            .map(|n| {
                let mut request = request(&program(n));
                request.logs = Some(killer(&runtime, &mut random));
                (n, subject.spawn(request))
            })
            .collect();
        next += batch.len();
        for (n, run) in batch {
            match ended(&subject, n, run) {
                true => completed += 1,
                false => lost += 1,
            }
        }
    }
    println!("{completed} runs completed, {lost} lost their worker");
    assert!(completed > total / 10 && lost > total / 10 && completed + lost == total);
    subject.check_serves("all that");
    drop((runtime, subject));
    assert_eq!(settled(), before);
}

/// Prints before and after every step: what has been said when the worker is killed is any of its messages.
fn program(n: usize) -> String {
    format!(
        "console.log({n}); const a = await tools.now({{ n: {n} }});
         console.log({n}); const b = await tools.later({{ n: {n} }});
         console.log({n}); const [c, d] = await Promise.all([tools.later({{ n: {n} }}), tools.now({{ n: {n} }})]);
         console.log({n}); return [a.n, b.n, c.n, d.n]"
    )
}
const LINES: u64 = 4;

/// Kills one of the workers, not always the one that is listened to, at one of the lines; in half of the runs at none.
fn killer(runtime: &ProcessRuntime, random: &mut Random) -> Arc<dyn LogSink> {
    let (at, which) = (random.below(2 * LINES), random.below(1 << 16));
    let (runtime, line) = (runtime.clone(), AtomicU64::new(0));
    Log::new(move |_| {
        if line.fetch_add(1, Ordering::Relaxed) == at {
            let ids = runtime.worker_ids();
            if !ids.is_empty() {
                watch::kill(ids[which as usize % ids.len()]);
            }
        }
    })
}

/// Any sequence does, but it shall be the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % bound
    }
}

/// True if the run completed, false if it lost its worker. It may have no other end.
fn ended(
    subject: &Subject,
    n: usize,
    run: tokio::task::JoinHandle<Result<code_mode::RunOutcome, MisuseError>>,
) -> bool {
    let outcome = subject.tokio.block_on(run).unwrap().unwrap();
    assert!(outcome.logs.iter().all(|entry| *entry == n.to_string()), "{n}: {:?}", outcome.logs);
    match outcome.end {
        Ok(end) => {
            assert_eq!(end, Some(json!([n, n, n, n])));
            true
        }
        Err(failure) => {
            assert_eq!(failure.kind, FailureKind::WorkerExit, "{}", failure.message);
            false
        }
    }
}
