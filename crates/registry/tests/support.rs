//! What all subjects share: small tools, calls, and a log of what happened.

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use code_mode_registry::{
    ContentBlock, Mode, RegistryConfig, ToolBuilder, ToolCall, ToolDefinition, ToolRegistry, ToolResult,
};
use code_mode_schema::{Json, json};
use futures::task::AtomicWaker;

/// Drives a future on this thread.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    futures::executor::block_on(future)
}

/// Polls a future once.
pub(crate) fn poll_once<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Poll<T> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A registry in a mode other than the default.
pub(crate) fn registry_in(mode: Mode) -> ToolRegistry {
    ToolRegistry::new(RegistryConfig::new(mode)).unwrap()
}

/// A tool of any output that gives its arguments back and renders their JSON text.
pub(crate) fn echo(name: &str) -> ToolBuilder {
    ToolDefinition::builder(name)
        .description(format!("Gives the arguments of {name} back"))
        .output(json!({}))
        .render(|_, value| value.to_text())
        .execute(|args: Json, _| async move { Ok(args) })
}

/// A call with `{"x": 1}`.
pub(crate) fn call(name: &str) -> ToolCall {
    ToolCall::new(format!("call-{name}"), name, json!({"x": 1}))
}

pub(crate) fn execute(registry: &ToolRegistry, name: &str) -> Arc<ToolResult> {
    run(registry.execute(call(name)))
}

/// The code of the failure, if it has one.
pub(crate) fn code(result: &ToolResult) -> Option<String> {
    result.error().and_then(|failure| failure.code()).map(str::to_owned)
}

/// Says that a failure has the contract's shape: content is `Error: ` and the message.
#[track_caller]
pub(crate) fn check_failure(result: &ToolResult, message: &str, expected_code: Option<&str>) {
    assert_eq!(result.message(), Some(message));
    assert_eq!(result.content(), [ContentBlock::text(format!("Error: {message}"))]);
    assert_eq!(code(result).as_deref(), expected_code);
}

/// What happened, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    /// What happened since the last look.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Holds something up until it is opened. Clones are the same gate.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(AtomicBool, AtomicWaker)>);

impl Gate {
    pub(crate) fn open(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        self.0.1.wake();
    }

    /// For one waiter at a time.
    pub(crate) async fn opened(&self) {
        std::future::poll_fn(|cx| {
            self.0.1.register(cx.waker());
            if self.0.0.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Ready when it is polled for the second time.
pub(crate) async fn yield_once() {
    let mut is_second = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut is_second, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
