//! Contract 3.7 and 3.10: the signals of a dispatch, and dispatches that nobody waits for any more.

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use code_mode_registry::{
    Next, Registration, Signal, SignalSource, ToolError, ToolFailure, ToolRegistry, ToolResult,
};
use code_mode_schema::{Json, json};
use futures::channel::oneshot;

use crate::support::{Log, call, check_failure, echo, execute, poll_once, run, yield_once};

fn registry() -> ToolRegistry {
    let registry = ToolRegistry::default();
    registry.register(echo("t")).unwrap().keep();
    registry
}

/// A wrapper that puts `signal` in place for the dispatch.
fn with_signal(registry: &ToolRegistry, signal: Signal) -> Registration {
    registry.on_execute(move |dispatch, next| {
        let signal = signal.clone();
        async move {
            let previous = dispatch.set_signal(signal);
            let result = next.call().await;
            dispatch.set_signal(previous);
            result
        }
    })
}

/// A tool that waits for its signal and returns the reason.
fn waits(name: &str) -> code_mode_registry::ToolBuilder {
    echo(name).execute(|_, ctx| async move {
        let reason = ctx.signal().cancelled().await;
        Err(ToolError::new(format!("stopped: {reason}")))
    })
}

#[test]
fn the_body_follows_both_the_callers_and_the_wrappers_signal() {
    for caller_first in [true, false] {
        let registry = ToolRegistry::default();
        let _tool = registry.register(waits("t")).unwrap();
        let (caller, wrapper) = (SignalSource::new(), SignalSource::new());
        let _wrapper = with_signal(&registry, wrapper.signal());
        let mut executing = Box::pin(registry.execute(call("t").with_signal(caller.signal())));
        assert!(poll_once(&mut executing).is_pending());
        if caller_first {
            caller.cancel("caller");
            wrapper.cancel("wrapper");
        } else {
            wrapper.cancel("wrapper");
            caller.cancel("caller");
        }
        let first = if caller_first { "stopped: caller" } else { "stopped: wrapper" };
        check_failure(&run(executing), first, None);
    }
}

#[test]
fn an_aborted_wrapper_signal_stops_the_call_before_the_body() {
    let registry = registry();
    let stop = SignalSource::new();
    stop.cancel("wrapper");
    let _wrapper = with_signal(&registry, stop.signal());
    check_failure(
        &execute(&registry, "t"),
        "tool call aborted before dispatch",
        Some("ABORTED_BEFORE_DISPATCH"),
    );
}

#[test]
fn the_fused_signal_is_on_the_execution_while_the_body_runs_and_gone_after() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let (caller, wrapper) = (SignalSource::new(), SignalSource::new());
    let tool = {
        let (caller, wrapper, log) = (caller.signal(), wrapper.signal(), log.clone());
        echo("t").execute(move |args, ctx| {
            assert!(ctx.execution().signal().same(ctx.signal()));
            assert!(!ctx.signal().same(&caller) && !ctx.signal().same(&wrapper));
            log.add("body");
            async move { Ok(args) }
        })
    };
    let _tool = registry.register(tool).unwrap();
    let _leaves_it = registry.on_execute({
        let (signal, caller) = (wrapper.signal(), caller.signal());
        move |dispatch, next| {
            let previous = dispatch.set_signal(signal.clone());
            assert!(previous.same(&caller));
            let signal = signal.clone();
            async move {
                let result = next.call().await;
                assert!(dispatch.signal().same(&signal), "the wrapper's is back in place");
                result
            }
        }
    });
    let _post = registry.on_post_execute({
        let caller = caller.signal();
        move |execution, _, next| {
            assert!(execution.signal().same(&caller), "later stages see the caller's");
            async move { next.call().await }
        }
    });
    let result = run(registry.execute(call("t").with_signal(caller.signal())));
    assert!(!result.is_error(), "{}", result.text());
    assert_eq!(log.take(), ["body"]);
}

#[test]
fn a_settled_relay_no_longer_follows_its_parents() {
    let registry = ToolRegistry::default();
    let kept: Arc<Mutex<Option<Signal>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let tool = echo("t").execute(move |args, ctx| {
        *keep.lock().unwrap() = Some(ctx.signal().clone());
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    let (caller, wrapper) = (SignalSource::new(), SignalSource::new());
    let _wrapper = with_signal(&registry, wrapper.signal());
    run(registry.execute(call("t").with_signal(caller.signal())));
    wrapper.cancel("late");
    caller.cancel("late");
    assert!(!kept.lock().unwrap().as_ref().unwrap().is_cancelled());
}

#[test]
fn a_body_that_ignores_cancellation_keeps_the_call_pending() {
    let registry = ToolRegistry::default();
    let (finish, finished) = oneshot::channel::<()>();
    let finished = Mutex::new(Some(finished));
    let tool = echo("t").execute(move |args, _| {
        let finished = finished.lock().unwrap().take().unwrap();
        async move {
            finished.await?;
            Ok(args)
        }
    });
    let _tool = registry.register(tool).unwrap();
    let stop = SignalSource::new();
    let mut executing = Box::pin(registry.execute(call("t").with_signal(stop.signal())));
    assert!(poll_once(&mut executing).is_pending());
    stop.cancel("stop");
    assert!(poll_once(&mut executing).is_pending());
    finish.send(()).unwrap();
    check_failure(&run(executing), "tool call aborted", Some("ABORTED"));
}

#[test]
fn a_wrapper_that_stops_waiting_does_not_drop_the_body() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let (finish, finished) = oneshot::channel::<()>();
    let finished = Mutex::new(Some(finished));
    let tool = {
        let log = log.clone();
        echo("t").execute(move |args, ctx| {
            let (finished, log) = (finished.lock().unwrap().take().unwrap(), log.clone());
            async move {
                log.add(ctx.signal().cancelled().await.to_string());
                finished.await?;
                log.add("body ended");
                Ok(args)
            }
        })
    };
    let _tool = registry.register(tool).unwrap();
    let _impatient = registry.on_execute(|_, next| async move {
        let mut waiting = Box::pin(next.call());
        assert!(poll_once(&mut waiting).is_pending());
        drop(waiting);
        Ok(Arc::new(ToolResult::failure(ToolFailure::new("too slow"))))
    });
    let mut executing = Box::pin(registry.execute(call("t")));
    assert!(poll_once(&mut executing).is_pending(), "the body is awaited all the same");
    assert_eq!(log.take(), ["the wrapper around the call stopped waiting"]);
    finish.send(()).unwrap();
    check_failure(&run(executing), "too slow", None);
    assert_eq!(log.take(), ["body ended"]);
}

#[test]
fn a_dispatch_that_was_never_polled_is_simply_dropped() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let body = log.clone();
    let tool = echo("t").execute(move |args, _| {
        body.add("body");
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    let _wrapper = registry.on_execute(|_, next| async move {
        drop(next.call());
        Ok(Arc::new(ToolResult::success(json!(1))))
    });
    assert_eq!(execute(&registry, "t").value(), Some(&json!(1)));
    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn dropping_the_whole_call_cancels_the_bodys_signal() {
    for wrapped in [false, true] {
        let registry = ToolRegistry::default();
        let kept: Arc<Mutex<Option<Signal>>> = Arc::default();
        let keep = Arc::clone(&kept);
        let tool = echo("t").execute(move |_, ctx| {
            *keep.lock().unwrap() = Some(ctx.signal().clone());
            std::future::pending::<Result<Json, ToolError>>()
        });
        let _tool = registry.register(tool).unwrap();
        let _wrapper = wrapped.then(|| registry.on_execute(|_, next| async move { next.call().await }));
        let log = Log::default();
        let note = log.clone();
        let _watch = registry.on_result(move |_, _| note.add("result"));
        let caller = SignalSource::new();
        let mut executing = Box::pin(registry.execute(call("t").with_signal(caller.signal())));
        assert!(poll_once(&mut executing).is_pending());
        drop(executing);
        assert!(kept.lock().unwrap().as_ref().unwrap().is_cancelled());
        assert!(!caller.signal().is_cancelled());
        assert_eq!(log.take(), [""; 0], "there is no result");
    }
}

/// A tool that needs what only one body can have at a time. The first to have it keeps it until it is told to stop.
fn greedy() -> (ToolRegistry, Log) {
    let (registry, log) = (ToolRegistry::default(), Log::default());
    let (one_at_a_time, counter, bodies) =
        (Arc::new(tokio::sync::Mutex::new(())), AtomicUsize::new(0), log.clone());
    let tool = echo("t").execute(move |args: Json, ctx| {
        let (one_at_a_time, bodies) = (Arc::clone(&one_at_a_time), bodies.clone());
        let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            let _held = one_at_a_time.lock().await;
            bodies.add(format!("{number} begins"));
            if number == 1 {
                ctx.signal().cancelled().await;
            }
            yield_once().await;
            bodies.add(format!("{number} ends"));
            Ok(args)
        }
    });
    registry.register(tool).unwrap().keep();
    (registry, log)
}

/// Polls `next()` once and stops waiting.
async fn give_up(next: &Next<Arc<ToolResult>>) {
    let mut attempt = Box::pin(next.call());
    std::future::poll_fn(|cx| {
        assert!(attempt.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
}

#[test]
fn an_abandoned_body_goes_on_while_its_wrapper_tries_again() {
    let (registry, log) = greedy();
    let _impatient = registry.on_execute(|_, next| async move {
        give_up(&next).await;
        next.call().await
    });
    let mut running = Box::pin(registry.execute(call("t")));
    let result = run(&mut running);
    assert!(!result.is_error());
    assert_eq!(log.take(), ["1 begins", "1 ends", "2 begins", "2 ends"]);
}

#[test]
fn abandoned_bodies_that_wait_for_each_other_all_end() {
    let (registry, log) = greedy();
    let _impatient = registry.on_execute(|_, next| async move {
        give_up(&next).await;
        give_up(&next).await;
        Ok(Arc::new(ToolResult::failure(ToolError::new("too slow"))))
    });
    check_failure(&execute(&registry, "t"), "too slow", None);
    assert_eq!(log.take(), ["1 begins", "1 ends", "2 begins", "2 ends"]);
}

#[test]
fn an_abandoned_body_leaves_the_signal_of_the_next_attempt_in_place() {
    let (registry, _) = greedy();
    let second = SignalSource::new();
    let (placed, seen) = (second.signal(), Log::default());
    let inner = seen.clone();
    let _outer = registry.on_execute(move |dispatch, next| {
        let (placed, inner) = (placed.clone(), inner.clone());
        async move {
            let first = SignalSource::new();
            dispatch.set_signal(first.signal());
            give_up(&next).await;
            dispatch.set_signal(placed.clone());
            // The first body ends meanwhile.
            yield_once().await;
            yield_once().await;
            yield_once().await;
            inner.add(dispatch.signal().same(&placed).to_string());
            next.call().await
        }
    });
    execute(&registry, "t");
    assert_eq!(seen.take(), ["true"]);
}
