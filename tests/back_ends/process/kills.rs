//! Workers that are killed: every run ends once, with an outcome of its own, and nothing is left over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use code_mode::runtime::MisuseError;
use code_mode::{FailureKind, json};

use super::roles::CUT;
use super::watch::{self, Holdings, eventually};
use super::{config, made};
use crate::subject::{Log, Subject, request};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<()>> {
    cases![
        worker_that_is_killed_at_any_message_fails_its_run_only,
        runs_survive_workers_that_are_killed_at_random
    ]
}

const SOON: Duration = Duration::from_secs(20);

/// The messages of one run with its start: Hello, Configure, Ready, Run, Began, Log, Call, Now, Call,
/// Later, Answer, Log, End, Gone.
const PROGRAM: &str =
    "console.log('a'); await tools.now({}); await tools.later({}); console.log('b'); return 'end'";
const END: usize = 13;
/// The one that says that the run has begun. Before it is delivered another worker may have the run.
const BEGAN: usize = 5;

fn worker_that_is_killed_at_any_message_fails_its_run_only((): ()) {
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
    eventually("no worker is left", SOON, || Holdings::now().children.is_empty());
}

/// How many runs; the whole measure is 10 000.
fn count() -> usize {
    std::env::var("CODE_MODE_KILL_RUNS").ok().and_then(|count| count.parse().ok()).unwrap_or(400)
}

fn runs_survive_workers_that_are_killed_at_random((): ()) {
    let mut config = config();
    config.max_concurrent_runs = 3;
    let (runtime, subject) = made(config);
    subject.check_serves("nothing");
    let over = Arc::new(AtomicBool::new(false));
    let killer = std::thread::spawn({
        let (runtime, over) = (runtime.clone(), Arc::clone(&over));
        move || {
            // Any sequence does, but it shall be the same every time.
            let mut random = 0x2545_f491_4f6c_dd1d_u64;
            while !over.load(Ordering::Relaxed) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                std::thread::sleep(Duration::from_millis(20) + Duration::from_micros(random % 60_000));
                let ids = runtime.worker_ids();
                if !ids.is_empty() {
                    watch::kill(ids[(random >> 32) as usize % ids.len()]);
                }
            }
        }
    });
    let (mut completed, mut lost) = (0, 0);
    let total = count();
    let mut next = 0;
    while next < total {
        let batch: Vec<_> =
            (next..total.min(next + 100)).map(|n| (n, subject.spawn(request(&program(n))))).collect();
        next += batch.len();
        for (n, run) in batch {
            match ended(&subject, n, run) {
                true => completed += 1,
                false => lost += 1,
            }
        }
    }
    over.store(true, Ordering::Relaxed);
    killer.join().unwrap();
    println!("{completed} runs completed, {lost} lost their worker");
    assert!(completed > 0 && completed + lost == total);
    subject.check_serves("all that");
    drop(subject);
    runtime.dispose();
    eventually("no worker is left", SOON, || runtime.worker_ids().is_empty());
}

fn program(n: usize) -> String {
    format!(
        "console.log({n}); const [a, b] = await Promise.all([tools.now({{ n: {n} }}), tools.later({{ n: {n} }})]); return [a.n, b.n]"
    )
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
            assert_eq!(end, Some(json!([n, n])));
            true
        }
        Err(failure) => {
            assert_eq!(failure.kind, FailureKind::WorkerExit, "{}", failure.message);
            false
        }
    }
}
