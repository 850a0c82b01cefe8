//! Runs that somebody ends. Contract 6.1, 6.4.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use code_mode::{Failure, FailureKind, Json, RunRequest, SignalSource};

use crate::subject::{BackEnd, Log, Subject, Tools, request, requesting};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        run_that_is_cancelled_beforehand_never_begins,
        cancelled_run_ends_with_the_reason,
        cancelled_run_is_answered_though_a_built_in_goes_on,
        disposal_ends_runs_as_aborted,
        dropped_run_gives_its_place_back,
    ]
}

fn run_that_is_cancelled_beforehand_never_begins(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let stop = SignalSource::new();
    stop.cancel("too late");
    let mut request = request("console.log('ran'); return 1");
    request.signal = stop.signal();
    let outcome = subject.request(request).unwrap();
    assert_eq!(outcome.end, Err(Failure::new(FailureKind::Abort, "too late")));
    assert!(outcome.logs.is_empty());
}

/// `program`, cancelled when it prints its first line.
fn cancelled_at_first_line(subject: &Subject, program: &str) -> code_mode::RunOutcome {
    let stop = Arc::new(SignalSource::new());
    let mut request: RunRequest = request(program);
    request.signal = stop.signal();
    request.logs = Some(Log::new(move |_| {
        stop.cancel("the user left");
    }));
    subject.request(request).unwrap()
}

fn cancelled_run_ends_with_the_reason(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    for program in [
        "console.log('here'); for (;;) {}",
        "console.log('here'); await tools.hold({})",
        "console.log('here'); await new Promise((done) => setTimeout(done, 1e9))",
        "console.log('here'); for (;;) await tools.later({})",
    ] {
        let outcome = cancelled_at_first_line(&subject, program);
        assert_eq!(outcome.end, Err(Failure::new(FailureKind::Abort, "the user left")), "{program}");
        assert_eq!(outcome.logs, ["here"]);
        subject.check_serves(program);
    }
}

fn cancelled_run_is_answered_though_a_built_in_goes_on(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let program = "console.log('here'); const sparse = []; sparse[33554000] = 1; for (;;) sparse.sort()";
    let started = Instant::now();
    let outcome = cancelled_at_first_line(&subject, program);
    let elapsed = started.elapsed();
    assert_eq!(outcome.end, Err(Failure::new(FailureKind::Abort, "the user left")));
    // Far within the compute budget, at which it would end anyway.
    assert!(elapsed < Duration::from_secs(15), "{elapsed:?}");
    subject.check_serves(program);
}

fn disposal_ends_runs_as_aborted(back_end: BackEnd) {
    let subject = Arc::new(Subject::new(back_end));
    let (tools, mut told) = Tools::telling();
    let run = subject.spawn(requesting("await tools.hold({})", tools));
    let outcome = subject.tokio.block_on(async {
        told.recv().await.unwrap();
        subject.dispose();
        run.await.unwrap().unwrap()
    });
    assert_eq!(outcome.end, Err(Failure::new(FailureKind::Abort, "runtime disposed")));
}

fn dropped_run_gives_its_place_back(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.max_concurrent_runs = 1);
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let begun = Mutex::new(Some(begun));
    let mut request = request("console.log('here'); for (;;) {}");
    request.logs = Some(Log::new(move |_| {
        if let Some(begun) = begun.lock().unwrap().take() {
            let _ = begun.send(());
        }
    }));
    let run = subject.spawn(request);
    subject.tokio.block_on(has_begun).unwrap();
    run.abort();
    assert_eq!(subject.value("return 1"), Json::from(1));
}
