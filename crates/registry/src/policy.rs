//! Stock policies. Each is a listener in its own file that uses only what any embedder could use.

use std::{future::Future, time::Duration};

use futures::future::BoxFuture;

mod call_size;
mod invariants;
mod metrics;
mod payloads;
mod retry;
mod spill;
mod timeout;

pub use call_size::CallSizePolicy;
pub use invariants::DevInvariants;
pub use metrics::{Metrics, ToolMetrics};
pub use payloads::TracePayloads;
pub use retry::RetryPolicy;
pub use spill::{FolderStore, Spill, SpillPolicy, SpillStore};
pub use timeout::TimeoutPolicy;

/// How a policy waits. The default of every policy is [`TokioTimer`].
pub trait Timer: Send + Sync + 'static {
    /// Ready after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

impl<F, Fut> Timer for F
where
    F: Fn(Duration) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(self(duration))
    }
}

/// The timer of the tokio runtime in whose context the call is polled. Without one, a call that needs the
/// timer fails and says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

impl Timer for TokioTimer {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}
