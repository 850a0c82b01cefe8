//! Contract 3.10: signals, and which abort a call ends in.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Wake, Waker},
};

use code_mode_registry::{CancelReason, Signal, SignalSource, ToolError, ToolRegistry, ToolResult};
use code_mode_schema::json;

use crate::support::{call, check_failure, echo, poll_once, run};

#[test]
fn a_default_source_can_cancel() {
    let stop = SignalSource::default();
    assert!(stop.cancel("stop"));
    assert!(stop.signal().is_cancelled());
}

#[test]
fn the_first_cause_wins() {
    let source = SignalSource::new();
    let signal = source.signal();
    assert!(!signal.is_cancelled());
    assert!(signal.reason().is_none());
    assert!(source.cancel("first"));
    assert!(!source.cancel("second"));
    assert_eq!(signal.reason().unwrap().as_str(), "first");
    assert_eq!(run(signal.cancelled()).as_str(), "first");
}

#[test]
fn a_signal_whose_source_is_gone_stays_as_it_was() {
    let source = SignalSource::new();
    let signal = source.signal();
    drop(source);
    assert!(!signal.is_cancelled());
    assert!(poll_once(&mut signal.cancelled()).is_pending());
}

#[test]
fn never_is_never() {
    let never = Signal::never();
    assert!(!never.is_cancelled());
    assert!(poll_once(&mut never.cancelled()).is_pending());
    assert!(never.same(&Signal::default()));
    assert!(!never.same(&SignalSource::new().signal()));
}

#[test]
fn any_is_cancelled_by_the_first_of_its_signals() {
    let (a, b) = (SignalSource::new(), SignalSource::new());
    let any = Signal::any([a.signal(), Signal::never(), b.signal()]);
    assert!(!any.same(&a.signal()));
    b.cancel("b");
    a.cancel("a");
    assert_eq!(any.reason().unwrap().as_str(), "b");
}

#[test]
fn any_of_cancelled_signals_takes_the_first_in_order() {
    let (a, b) = (SignalSource::new(), SignalSource::new());
    b.cancel("b");
    a.cancel("a");
    let any = Signal::any([a.signal(), b.signal()]);
    assert_eq!(any.reason().unwrap().as_str(), "a");
}

#[test]
fn any_of_one_signal_is_that_signal() {
    let a = SignalSource::new();
    let any = Signal::any([a.signal(), a.signal(), Signal::never()]);
    assert!(any.same(&a.signal()));
    assert!(Signal::any([]).same(&Signal::never()));
}

#[test]
fn a_chain_of_any_is_cancelled_to_its_end() {
    let root = SignalSource::new();
    let mut last = root.signal();
    for _ in 0..100 {
        last = Signal::any([last, SignalSource::new().signal()]);
    }
    root.cancel("root");
    assert_eq!(last.reason().unwrap().as_str(), "root");
}

#[test]
fn all_waiters_wake_and_a_dropped_one_is_forgotten() {
    let source = SignalSource::new();
    let mut waiters: Vec<_> = (0..3).map(|_| source.signal().cancelled()).collect();
    for waiter in &mut waiters {
        assert!(poll_once(waiter).is_pending());
    }
    drop(waiters.remove(1));
    source.cancel("now");
    for mut waiter in waiters {
        assert!(poll_once(&mut waiter).is_ready());
    }
}

#[test]
fn a_waiter_on_another_thread_wakes() {
    let source = SignalSource::new();
    let signal = source.signal();
    let waiting = std::thread::spawn(move || run(signal.cancelled()).as_str().to_owned());
    source.cancel("now");
    assert_eq!(waiting.join().unwrap(), "now");
}

#[test]
fn reasons_are_compared_by_identity() {
    let (a, b) = (CancelReason::new("same text"), CancelReason::new("same text"));
    assert!(a.same(&a.clone()));
    assert!(!a.same(&b));
    assert!(!CancelReason::new("").same(&CancelReason::new("")));
    assert_eq!(a, b);
}

#[test]
fn cancelling_races_with_fusing_without_loss() {
    for _ in 0..200 {
        let source = Arc::new(SignalSource::new());
        let signal = source.signal();
        let cancelling = std::thread::spawn({
            let source = Arc::clone(&source);
            move || source.cancel("race")
        });
        let fused = Signal::any([signal, SignalSource::new().signal()]);
        cancelling.join().unwrap();
        assert!(fused.is_cancelled());
    }
}

#[test]
fn a_success_overtaken_by_cancellation_is_aborted_and_a_failure_is_not() {
    let registry = ToolRegistry::default();
    let stop = Arc::new(SignalSource::new());
    let cancelling = |name: &str, fails: bool| {
        let stop = Arc::clone(&stop);
        echo(name).execute(move |args, _| {
            stop.cancel("stop");
            async move { if fails { Err(ToolError::new("own failure")) } else { Ok(args) } }
        })
    };
    let _tools = [registry.register(cancelling("ok", false)), registry.register(cancelling("fails", true))];
    let fresh = SignalSource::new();
    assert!(!run(registry.execute(call("ok").with_signal(fresh.signal()))).is_error());

    let registry2 = ToolRegistry::default();
    for (name, fails, message, code) in
        [("ok", false, "tool call aborted", Some("ABORTED")), ("fails", true, "own failure", None)]
    {
        let stop = Arc::new(SignalSource::new());
        let cancel = Arc::clone(&stop);
        let tool = echo(name).execute(move |args, _| {
            cancel.cancel("stop");
            async move { if fails { Err(ToolError::new("own failure")) } else { Ok(args) } }
        });
        let _tool = registry2.register(tool).unwrap();
        let result = run(registry2.execute(call(name).with_signal(stop.signal())));
        check_failure(&result, message, code);
    }
}

#[test]
fn a_success_under_a_cancelled_wrapper_signal_is_aborted() {
    let registry = ToolRegistry::default();
    let wrapper = Arc::new(SignalSource::new());
    let cancel = Arc::clone(&wrapper);
    let tool = echo("t").execute(move |args, _| {
        cancel.cancel("wrapper");
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    let signal = wrapper.signal();
    let _wrapper = registry.on_execute(move |dispatch, next| {
        dispatch.set_signal(signal.clone());
        async move { next.call().await }
    });
    let result = run(registry.execute(call("t")));
    check_failure(&result, "tool call aborted", Some("ABORTED"));
}

#[test]
fn a_short_circuit_overtaken_by_cancellation_was_never_dispatched() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let stop = Arc::new(SignalSource::new());
    let cancel = Arc::clone(&stop);
    let _wrapper = registry.on_execute(move |_, _| {
        cancel.cancel("stop");
        async { Ok(Arc::new(ToolResult::success(json!(1)))) }
    });
    let result = run(registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, "tool call aborted before dispatch", Some("ABORTED_BEFORE_DISPATCH"));
}

#[test]
fn a_wrappers_rescue_of_a_cancelled_body_counts_as_started() {
    let registry = ToolRegistry::default();
    let stop = Arc::new(SignalSource::new());
    let cancel = Arc::clone(&stop);
    let tool = echo("t").execute(move |_, _| {
        cancel.cancel("stop");
        async { Err(ToolError::new("stopped")) }
    });
    let _tool = registry.register(tool).unwrap();
    let _rescue = registry.on_execute(|_, next| async move {
        next.call().await?;
        Ok(Arc::new(ToolResult::success(json!("cached"))))
    });
    let result = run(registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, "tool call aborted", Some("ABORTED"));
}

#[test]
fn many_calls_on_one_signal_leave_nothing_behind() {
    let registry = ToolRegistry::default();
    let bodies = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&bodies);
    let tool = echo("t").execute(move |args, ctx| {
        counter.fetch_add(1, Ordering::SeqCst);
        let cancelled = ctx.signal().cancelled();
        async move {
            drop(cancelled);
            Ok(args)
        }
    });
    let _tool = registry.register(tool).unwrap();
    let stop = SignalSource::new();
    for _ in 0..1_000 {
        run(registry.execute(call("t").with_signal(stop.signal())));
    }
    assert_eq!(bodies.load(Ordering::SeqCst), 1_000);
    assert!(stop.cancel("end"));
}

/// A signal that follows `first` through very many others.
fn end_of_a_chain(first: &SignalSource) -> Signal {
    (0..100_000).fold(first.signal(), |signal, _| Signal::any([signal, SignalSource::new().signal()]))
}

#[test]
fn chains_of_signals_of_any_length_are_cancelled_and_dropped() {
    let work = || {
        let first = SignalSource::new();
        let signal = end_of_a_chain(&first);
        first.cancel("stop");
        assert_eq!(signal.reason().unwrap().as_str(), "stop");
        drop(signal);
        drop(end_of_a_chain(&SignalSource::new()));
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(work).unwrap().join().unwrap();
}

/// A waker that looks at a signal whenever it is cloned, woken or dropped.
struct Looks(Signal);

impl Wake for Looks {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Looks {
    fn drop(&mut self) {
        assert!(poll_once(&mut self.0.cancelled()).is_pending());
    }
}

#[test]
fn a_replaced_waker_is_dropped_outside_of_the_lock() {
    let source = SignalSource::new();
    let mut waiting = source.signal().cancelled();
    let waker = Waker::from(Arc::new(Looks(source.signal())));
    assert!(Pin::new(&mut waiting).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(poll_once(&mut waiting).is_pending());
}
