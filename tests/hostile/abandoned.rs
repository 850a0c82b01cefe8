//! Isolates that do not stop: their callers are answered, they are counted and reaped.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use code_mode::runtime::LogSink;
use code_mode::{CodeRuntime as _, FailureKind, Json, RunRequest, SignalSource};
use futures::FutureExt as _;
use futures::channel::oneshot;

use crate::support::{Host, HostConfig, alone, stuck};

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
