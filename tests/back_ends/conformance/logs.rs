//! What a program prints. Contract 6.5, 6.6.

use std::sync::{Arc, Mutex};

use code_mode::{FailureKind, Json};

use crate::subject::{BackEnd, Log, Subject, Tools, request, requesting};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        log_is_streamed_in_order_and_returned,
        log_is_told_while_the_program_runs,
        log_is_kept_when_the_program_fails,
        output_at_its_limit_passes_and_one_byte_more_does_not,
        flood_of_output_is_stopped_and_cut_at_its_limit,
        result_over_the_limit_is_dropped_and_the_log_kept,
    ]
}

fn log_is_streamed_in_order_and_returned(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let log = Log::new(|_| ());
    let mut request = request("for (let i = 0; i < 1000; i++) console.log(i, 'é\\n'); console.log()");
    request.logs = Some(Arc::clone(&log) as Arc<_>);
    let outcome = subject.request(request).unwrap();
    let expected: Vec<String> = (0..1000).map(|i| format!("{i} é\n")).chain([String::new()]).collect();
    assert_eq!(outcome.logs, expected);
    assert_eq!(*log.entries.lock().unwrap(), expected);
}

fn log_is_told_while_the_program_runs(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let (tools, mut told) = Tools::telling();
    let (seen, is_seen) = tokio::sync::oneshot::channel();
    let seen = Mutex::new(Some(seen));
    let mut request = requesting("console.log('here'); await tools.hold({})", tools.clone());
    request.logs = Some(Log::new(move |_| {
        if let Some(seen) = seen.lock().unwrap().take() {
            let _ = seen.send(());
        }
    }));
    let run = subject.spawn(request);
    subject.tokio.block_on(async {
        is_seen.await.unwrap();
        told.recv().await.unwrap();
        for reply in tools.take_held() {
            reply.send(Ok(Json::Null));
        }
        assert_eq!(run.await.unwrap().unwrap().end, Ok(None));
    });
}

fn log_is_kept_when_the_program_fails(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let outcome = subject.run("console.log('a'); console.error('b'); throw new Error('c')");
    assert_eq!(outcome.logs, ["a", "b"]);
    assert_eq!(outcome.end.unwrap_err().kind, FailureKind::Exception);
}

fn output_at_its_limit_passes_and_one_byte_more_does_not(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_output_bytes = 1000);
    // The log costs `["ab"]`, the result `"xx…"`.
    let program = |bytes: usize| format!("console.log('ab'); return 'x'.repeat({})", bytes - 6 - 2);
    assert!(subject.run(&program(1000)).end.is_ok());
    let message = "outer output exceeded 1000 bytes";
    subject.check_failure(&program(1001), FailureKind::OutputLimit, message);
    // The log alone: `["xx…"]`.
    assert!(subject.run(&format!("console.log('x'.repeat({}))", 1000 - 4)).end.is_ok());
    subject.check_failure(
        &format!("console.log('x'.repeat({}))", 1000 - 3),
        FailureKind::OutputLimit,
        message,
    );
}

fn flood_of_output_is_stopped_and_cut_at_its_limit(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_output_bytes = 10_000);
    for program in ["for (;;) console.log('x'.repeat(100))", "console.log('x'.repeat(1e6)); return 1"] {
        let outcome = subject.run(program);
        let failure = outcome.end.unwrap_err();
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (FailureKind::OutputLimit, "outer output exceeded 10000 bytes")
        );
        let logs = Json::from(outcome.logs.into_iter().map(Json::from).collect::<Vec<_>>());
        let bytes = logs.to_text().len() + Json::from(failure.message).to_text().len();
        assert!((9_990..=10_000).contains(&bytes), "{bytes} bytes");
        subject.check_serves(program);
    }
}

fn result_over_the_limit_is_dropped_and_the_log_kept(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_output_bytes = 10_000);
    let outcome = subject.run("console.log('kept'); return 'é'.repeat(10_000)");
    assert_eq!(outcome.end.unwrap_err().kind, FailureKind::OutputLimit);
    assert_eq!(outcome.logs, ["kept"]);
}
