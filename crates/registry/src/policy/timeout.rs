//! The timeout policy: a call of a tool with a timeout is told to stop when it is over (contract 3.10).

use std::{pin::pin, sync::Arc, time::Duration};

use code_mode_schema::write_number;
use futures::future::{Either, select};

use super::{Timer, TokioTimer};
use crate::{
    CancelReason, Dispatch, ErrorInfo, Hooks, Next, Registration, Signal, SignalSource, ToolError,
    ToolFailure, ToolRegistry, ToolResult,
};

/// Enforces [`ToolDefinition::timeout`](crate::ToolDefinition::timeout).
///
/// When the time is over before anything else cancelled the call, the body's signal is cancelled, the body is
/// awaited all the same, and whatever it then returns is replaced by `TOOL_TIMEOUT`. It does not stop a body
/// that ignores its signal: the call then takes as long as the body. Tools without a timeout are untouched.
/// Where several wrappers are installed, they nest in the order of their registration: installed behind a
/// [`RetryPolicy`](crate::policy::RetryPolicy) it gives each attempt the whole time, before it one time to all attempts
/// and their pauses. A timeout is not retried.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TimeoutPolicy;

impl TimeoutPolicy {
    /// Installs the policy for every call.
    pub fn install(registry: &ToolRegistry) -> Registration {
        Self::install_on(registry.hooks(), TokioTimer)
    }

    /// Installs the policy with other options and another timer, for one agent for example with
    /// `registry.hooks().for_agent(&agent)` and [`TokioTimer`].
    pub fn install_on(hooks: Hooks<'_>, timer: impl Timer) -> Registration {
        let timer: Arc<dyn Timer> = Arc::new(timer);
        hooks.on_execute(move |dispatch, next| bounded(dispatch, next, Arc::clone(&timer)))
    }
}

async fn bounded(
    dispatch: Dispatch,
    next: Next<Arc<ToolResult>>,
    timer: Arc<dyn Timer>,
) -> Result<Arc<ToolResult>, ToolError> {
    let Some(timeout) = dispatch.tool().and_then(|tool| tool.timeout()) else {
        return next.call().await;
    };
    let failure = timed_out(timeout);
    let reason = CancelReason::new(failure.message());
    let deadline = SignalSource::new();
    let fused = Signal::any([dispatch.signal(), deadline.signal()]);

    let previous = dispatch.set_signal(fused.clone());
    let result = match select(pin!(next.call()), timer.sleep(timeout)).await {
        Either::Left((result, _)) => result,
        Either::Right(((), running)) => {
            deadline.cancel(reason.clone());
            running.await
        }
    };
    dispatch.set_signal(previous);

    // Somebody else's cancellation may have come first; then the call is simply aborted.
    if fused.reason().is_some_and(|first| first.same(&reason)) {
        let contexts = result?.additional_contexts().to_vec();
        return Ok(Arc::new(ToolResult::failure(failure).with_contexts(contexts)));
    }
    result
}

fn timed_out(timeout: Duration) -> ToolFailure {
    let mut message = String::from("tool call timed out after ");
    write_number(milliseconds(timeout), &mut message);
    message.push_str("ms");
    ToolFailure::new(message).with_info(ErrorInfo::new("ToolTimeoutError", "TOOL_TIMEOUT"))
}

/// Whole milliseconds come out as whole numbers.
fn milliseconds(timeout: Duration) -> f64 {
    let whole = timeout.as_secs() as f64 * 1e3 + f64::from(timeout.subsec_millis());
    whole + f64::from(timeout.subsec_nanos() % 1_000_000) / 1e6
}
