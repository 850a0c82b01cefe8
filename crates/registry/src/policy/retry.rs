//! The retry policy: a failed call of a tool that declares it safe is made again.

use std::{sync::Arc, time::Duration};

use futures::future::{Either, select};

use super::{Timer, TokioTimer};
use crate::{Dispatch, Hooks, Next, Registration, ToolError, ToolRegistry, ToolResult};

/// Calls a tool that was built with `retry_safe()` again when it fails, with growing pauses.
///
/// Each attempt is a whole dispatch. Not retried: arguments that do not fit the schema, an unknown tool, an
/// aborted call, a timeout. A cancelled call ends with the last failure.
///
/// ```
/// use code_mode_registry::{ToolRegistry, policy::RetryPolicy};
///
/// let registry = ToolRegistry::default();
/// let _retries = RetryPolicy::default().install(&registry);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// How often a call is made at most, the first time included. Default 3; 0 is as 1.
    pub max_attempts: u32,
    /// The pause before the second attempt; each further one is twice as long. Default 100 ms.
    pub first_pause: Duration,
    /// The longest pause. Default 5 s.
    pub max_pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 3, first_pause: Duration::from_millis(100), max_pause: Duration::from_secs(5) }
    }
}

impl RetryPolicy {
    /// Sets [`RetryPolicy::max_attempts`].
    #[must_use]
    pub fn with_max_attempts(mut self, max: u32) -> Self {
        self.max_attempts = max;
        self
    }

    /// Sets [`RetryPolicy::first_pause`] and [`RetryPolicy::max_pause`].
    #[must_use]
    pub fn with_pauses(mut self, first: Duration, max: Duration) -> Self {
        (self.first_pause, self.max_pause) = (first, max);
        self
    }

    /// Installs the policy for every call.
    pub fn install(self, registry: &ToolRegistry) -> Registration {
        self.install_on(registry.hooks(), TokioTimer)
    }

    /// Installs the policy with other options and another timer, for one agent for example with
    /// `registry.hooks().for_agent(&agent)` and [`TokioTimer`].
    pub fn install_on(self, hooks: Hooks<'_>, timer: impl Timer) -> Registration {
        let retries = Arc::new(Retries { policy: self, timer: Box::new(timer) });
        hooks.on_execute(move |dispatch, next| Arc::clone(&retries).run(dispatch, next))
    }
}

struct Retries {
    policy: RetryPolicy,
    timer: Box<dyn Timer>,
}

impl Retries {
    async fn run(
        self: Arc<Self>,
        dispatch: Dispatch,
        next: Next<Arc<ToolResult>>,
    ) -> Result<Arc<ToolResult>, ToolError> {
        let mut pause = self.policy.first_pause;
        let mut attempt = 1;
        loop {
            let result = next.call().await?;
            let is_safe = dispatch.tool().is_some_and(|tool| tool.is_retry_safe());
            if !is_safe || attempt >= self.policy.max_attempts || !is_worth_another(&result) {
                return Ok(result);
            }
            let signal = dispatch.signal();
            if let Either::Left(_) = select(signal.cancelled(), self.timer.sleep(pause)).await {
                return Ok(result);
            }
            pause = pause.saturating_mul(2).min(self.policy.max_pause);
            attempt += 1;
        }
    }
}

/// A failure that has none of these codes may be gone the next time.
fn is_worth_another(result: &ToolResult) -> bool {
    const FINAL: [&str; 5] =
        ["INVALID_ARGS", "UNKNOWN_TOOL", "ABORTED", "ABORTED_BEFORE_DISPATCH", "TOOL_TIMEOUT"];
    result.error().is_some_and(|failure| failure.code().is_none_or(|code| !FINAL.contains(&code)))
}
