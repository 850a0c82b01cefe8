//! Containment: a panic in a callback of somebody else becomes the failure that an `Err` would be.

use std::{
    any::Any,
    future::Future,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;

use crate::error::ToolError;

/// Runs `callback`; a panic becomes an error with the panic's message.
pub(crate) fn contain<T>(callback: impl FnOnce() -> T) -> Result<T, ToolError> {
    // What the callback touched is its own; ours is behind locks that are never held while it runs.
    catch_unwind(AssertUnwindSafe(callback)).map_err(into_error)
}

/// Runs a fallible `callback`; a panic becomes an error like its own.
pub(crate) fn contain_result<T>(callback: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    contain(callback).and_then(|result| result)
}

/// Drops what may run code of others. A panic is logged, because nobody is there to be told.
pub(crate) fn discard<T>(garbage: T) {
    if let Err(error) = contain(|| drop(garbage)) {
        tracing::warn!(%error, "a destructor panicked");
    }
}

/// A callback of somebody else, shared. Its destructor is theirs too, and as contained as a call of it.
pub(crate) struct Callback<F: ?Sized>(Option<Arc<F>>);

impl<F: ?Sized> From<Arc<F>> for Callback<F> {
    fn from(callback: Arc<F>) -> Self {
        Self(Some(callback))
    }
}

impl<F: ?Sized> Clone for Callback<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<F: ?Sized> Deref for Callback<F> {
    type Target = F;

    fn deref(&self) -> &F {
        match &self.0 {
            Some(callback) => callback,
            None => unreachable!("only the destructor takes the callback out"),
        }
    }
}

impl<F: ?Sized> Drop for Callback<F> {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}

/// Makes a future by `start` and drives it; a panic in making, polling or dropping it becomes an error.
pub(crate) fn contain_future<T>(
    start: impl FnOnce() -> BoxFuture<'static, Result<T, ToolError>>,
) -> Contained<T> {
    match contain(start) {
        Ok(future) => Contained { state: State::Running(future) },
        Err(error) => Contained { state: State::Failed(error) },
    }
}

/// The future of [`contain_future`].
pub(crate) struct Contained<T> {
    state: State<T>,
}

/// A future that is dropped before its end is dropped as contained as one that came to it.
impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        if let State::Running(_) = self.state {
            discard(std::mem::replace(&mut self.state, State::Done));
        }
    }
}

enum State<T> {
    Running(BoxFuture<'static, Result<T, ToolError>>),
    Failed(ToolError),
    Done,
}

impl<T> Future for Contained<T> {
    type Output = Result<T, ToolError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let state = &mut self.state;
        let outcome = match state {
            State::Running(future) => match contain(|| future.as_mut().poll(cx)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(outcome)) => outcome,
                Err(error) => Err(error),
            },
            State::Failed(error) => Err(error.clone()),
            State::Done => return Poll::Pending,
        };
        let finished = std::mem::replace(state, State::Done);
        Poll::Ready(contain(|| drop(finished)).and(outcome))
    }
}

/// The message of a panic, as the message of a throw (contract 3.11).
fn into_error(payload: Box<dyn Any + Send>) -> ToolError {
    let message = if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        // A payload of an unknown type may panic again when it is dropped; leaking it is the only safe end.
        std::mem::forget(payload);
        return ToolError::new("<unprintable thrown value>");
    };
    ToolError::new(message)
}
