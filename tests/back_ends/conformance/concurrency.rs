//! Runs beside each other. Decisions 26, 32.

use std::sync::{Arc, Mutex};

use code_mode::runtime::MisuseError;
use code_mode::{FailureKind, Json, SignalSource, json};
use futures::FutureExt as _;

use crate::subject::{BackEnd, Log, Subject, Tools, request, requesting, value};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        runs_beside_each_other_keep_to_themselves,
        runs_beyond_the_bound_wait_first_in_first_out,
        run_beyond_the_queue_is_refused_with_both_numbers,
        run_that_is_cancelled_while_it_waits_never_begins,
        many_runs_at_once_each_get_their_own_result,
    ]
}

fn runs_beside_each_other_keep_to_themselves(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.max_concurrent_runs = 2);
    let (first, mut first_told) = Tools::telling();
    let (second, mut second_told) = Tools::telling();
    let program = "globalThis.mark ??= []; mark.push(1); return [await tools.hold({}), mark.length]";
    let runs = [&first, &second].map(|tools| subject.spawn(requesting(program, tools.clone())));
    let outcomes = subject.tokio.block_on(async {
        first_told.recv().await.unwrap();
        second_told.recv().await.unwrap();
        for (tools, answer) in [(&second, "second"), (&first, "first")] {
            for reply in tools.take_held() {
                reply.send(Ok(answer.into()));
            }
        }
        futures::future::join_all(runs).await
    });
    let values: Vec<Json> = outcomes.into_iter().map(|outcome| value(outcome.unwrap().unwrap())).collect();
    assert_eq!(values, [json!(["first", 1]), json!(["second", 1])]);
}

fn runs_beyond_the_bound_wait_first_in_first_out(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.max_concurrent_runs = 1);
    let order = Arc::<Mutex<Vec<String>>>::default();
    let logged = |program: &str, tools: Tools| {
        let order = Arc::clone(&order);
        let mut request = requesting(program, tools);
        request.logs = Some(Log::new(move |entry| order.lock().unwrap().push(entry.to_owned())));
        request
    };
    let (tools, mut told) = Tools::telling();
    let first = subject.spawn(logged("await tools.hold({}); console.log('first')", tools.clone()));
    subject.tokio.block_on(async {
        told.recv().await.unwrap();
        let mut waiting: Vec<_> = ["second", "third", "fourth"]
            .map(|name| subject.runtime.run(logged(&format!("console.log('{name}')"), Tools::default())))
            .into();
        for run in &mut waiting {
            assert!(run.now_or_never().is_none());
        }
        for reply in tools.take_held() {
            reply.send(Ok(Json::Null));
        }
        waiting.reverse();
        for outcome in futures::future::join_all(waiting).await {
            assert_eq!(outcome.unwrap().end, Ok(None));
        }
        assert_eq!(first.await.unwrap().unwrap().end, Ok(None));
    });
    assert_eq!(*order.lock().unwrap(), ["first", "second", "third", "fourth"]);
}

fn run_beyond_the_queue_is_refused_with_both_numbers(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| {
        setup.max_concurrent_runs = 1;
        setup.max_queued_runs = 1;
    });
    let (tools, mut told) = Tools::telling();
    let first = subject.spawn(requesting("return tools.hold({})", tools.clone()));
    subject.tokio.block_on(async {
        told.recv().await.unwrap();
        let mut second = subject.runtime.run(request("return 2"));
        assert!((&mut second).now_or_never().is_none());
        let third = subject.runtime.run(request("return 3")).await;
        assert_eq!(third, Err(MisuseError::QueueFull { waiting: 1, limit: 1 }));
        for reply in tools.take_held() {
            reply.send(Ok(Json::Null));
        }
        assert_eq!(value(second.await.unwrap()), Json::from(2));
        first.await.unwrap().unwrap();
    });
}

fn run_that_is_cancelled_while_it_waits_never_begins(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.max_concurrent_runs = 1);
    let (tools, mut told) = Tools::telling();
    let first = subject.spawn(requesting("return tools.hold({})", tools.clone()));
    subject.tokio.block_on(async {
        told.recv().await.unwrap();
        let stop = SignalSource::new();
        let mut second = request("console.log('ran')");
        second.signal = stop.signal();
        let mut second = subject.runtime.run(second);
        assert!((&mut second).now_or_never().is_none());
        stop.cancel("not any more");
        let outcome = second.await.unwrap();
        assert_eq!(outcome.end.unwrap_err().kind, FailureKind::Abort);
        assert!(outcome.logs.is_empty());
        for reply in tools.take_held() {
            reply.send(Ok(Json::Null));
        }
        first.await.unwrap().unwrap();
    });
}

fn many_runs_at_once_each_get_their_own_result(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.max_concurrent_runs = 3);
    let runs: Vec<_> = (0..60)
        .map(|n| {
            let program =
                format!("console.log('log {n}'); return [{n}, (await tools.later({{ n: {n} }})).n]");
            subject.spawn(request(&program))
        })
        .collect();
    let outcomes = subject.tokio.block_on(futures::future::join_all(runs));
    for (n, outcome) in outcomes.into_iter().enumerate() {
        let outcome = outcome.unwrap().unwrap();
        assert_eq!(outcome.logs, [format!("log {n}")]);
        assert_eq!(value(outcome), json!([n, n]));
    }
}
