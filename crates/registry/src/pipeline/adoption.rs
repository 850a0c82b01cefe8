//! Bodies whose wrapper stopped waiting: they are told, and awaited all the same.
//!
//! A wrapper that races `next()` against a timer drops the future of the dispatch. A started body is never
//! dropped, so the dispatch moves here, its signal is cancelled, and the stage drives it to its end before it
//! goes on.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures::future::BoxFuture;

use crate::{
    cancellation::{Signal, SignalSource},
    execution::ToolResult,
    sync::lock,
};

/// The dispatches of one call that nobody waits for any more.
#[derive(Default)]
pub(super) struct Orphanage(Mutex<Vec<BoxFuture<'static, Arc<ToolResult>>>>);

impl Orphanage {
    /// Makes a dispatch whose future may be dropped: `start` gets the signal that says so.
    pub(super) fn guarded(
        self: &Arc<Self>,
        start: impl FnOnce(Signal) -> BoxFuture<'static, Arc<ToolResult>>,
    ) -> Guarded {
        let abandoned = SignalSource::new();
        let dispatch = start(abandoned.signal());
        Guarded { dispatch: Some(dispatch), is_started: false, abandoned, orphanage: Arc::clone(self) }
    }

    /// Drives what was left here to its end.
    pub(super) async fn drain(&self) {
        loop {
            let Some(orphan) = lock(&self.0).pop() else {
                return;
            };
            orphan.await;
        }
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
            lock(&self.orphanage.0).push(dispatch);
            self.abandoned.cancel("the wrapper around the call stopped waiting");
        }
    }
}
