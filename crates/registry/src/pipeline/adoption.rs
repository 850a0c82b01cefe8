//! Bodies whose wrapper stopped waiting: they are told, and awaited all the same.
//!
//! A wrapper that races `next()` against a timer drops the future of the dispatch. A started body is never
//! dropped, so the dispatch moves here and its signal is cancelled. It goes on beside the wrappers, because they may
//! wait for it: a second attempt for the lock that the first one holds. The stage ends when both are over.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures::{future::BoxFuture, task::AtomicWaker};

use crate::{
    cancellation::{Signal, SignalSource},
    execution::ToolResult,
    sync::lock,
};

/// The dispatches of one call that nobody waits for any more.
#[derive(Default)]
pub(super) struct Orphanage {
    /// Those that have not been polled here.
    arrivals: Mutex<Vec<BoxFuture<'static, Arc<ToolResult>>>>,
    /// Whoever drives the stage: a dispatch may be left by another task.
    driver: AtomicWaker,
}

impl Orphanage {
    /// Drives the wrappers to their end and gives what came of them, with every dispatch that they leave here.
    pub(super) async fn beside<T>(&self, wrappers: impl Future<Output = T>) -> T {
        let mut wrappers = pin!(wrappers);
        let mut outcome = None;
        let mut orphans = Vec::new();
        poll_fn(|cx| {
            self.driver.register(cx.waker());
            if outcome.is_none()
                && let Poll::Ready(ready) = wrappers.as_mut().poll(cx)
            {
                outcome = Some(ready);
            }
            orphans.append(&mut lock(&self.arrivals));
            orphans.retain_mut(|orphan| orphan.as_mut().poll(cx).is_pending());
            match outcome.take() {
                Some(ready) if orphans.is_empty() => Poll::Ready(ready),
                waiting => {
                    outcome = waiting;
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Makes a dispatch whose future may be dropped: `start` gets the signal that says so.
    pub(super) fn guarded(
        self: &Arc<Self>,
        start: impl FnOnce(Signal) -> BoxFuture<'static, Arc<ToolResult>>,
    ) -> Guarded {
        let abandoned = SignalSource::new();
        let dispatch = start(abandoned.signal());
        Guarded { dispatch: Some(dispatch), is_started: false, abandoned, orphanage: Arc::clone(self) }
    }
}

/// The future of one guarded dispatch.
pub(super) struct Guarded {
    dispatch: Option<BoxFuture<'static, Arc<ToolResult>>>,
    is_started: bool,
    abandoned: SignalSource,
    orphanage: Arc<Orphanage>,
}

impl Future for Guarded {
    type Output = Arc<ToolResult>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Arc<ToolResult>> {
        self.is_started = true;
        let Some(dispatch) = &mut self.dispatch else {
            return Poll::Pending;
        };
        let poll = dispatch.as_mut().poll(cx);
        if poll.is_ready() {
            self.dispatch = None;
        }
        poll
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let (true, Some(dispatch)) = (self.is_started, self.dispatch.take()) {
            lock(&self.orphanage.arrivals).push(dispatch);
            self.abandoned.cancel("the wrapper around the call stopped waiting");
            self.orphanage.driver.wake();
        }
    }
}
