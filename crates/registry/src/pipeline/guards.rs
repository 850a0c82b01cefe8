//! Stage 2c, guards: an allowed call may still be denied, never the other way round (contract 2.4, 3.5).

use std::sync::atomic::Ordering;

use super::{Progress, Run};
use crate::{
    cancellation::aborted_before_dispatch,
    contain::contain_result,
    error::{ToolError, ToolFailure},
    execution::Agent,
    sync::read,
};

#[tracing::instrument(level = "debug", parent = &run.span, skip_all)]
pub(super) fn guards(run: &mut Run) {
    let Progress::Allowed = run.progress else {
        return;
    };
    match first_objection(run) {
        Ok(None) if run.execution.caller_signal().is_cancelled() => {
            run.settle_failure(aborted_before_dispatch());
        }
        Ok(None) => {}
        Ok(Some(reason)) => deny(run, &reason),
        Err(error) => run.fail_finally(error),
    }
}

/// The call is denied; the model reads `Error: <reason>`.
pub(super) fn deny(run: &mut Run, reason: &str) {
    run.settle_failure(ToolFailure::new(reason));
}

/// The global layer first, then the agent's.
fn first_objection(run: &Run) -> Result<Option<String>, ToolError> {
    if !run.shared.has_guards.load(Ordering::Acquire) {
        return Ok(None);
    }
    if let Some(reason) = ask_layer(run, None)? {
        return Ok(Some(reason));
    }
    match run.execution.agent() {
        Some(agent) => ask_layer(run, Some(agent)),
        None => Ok(None),
    }
}

/// One layer in insertion order. The lock is taken anew for every step: a guard may register and remove
/// guards.
fn ask_layer(run: &Run, scope: Option<&Agent>) -> Result<Option<String>, ToolError> {
    let mut cursor = None;
    loop {
        let step = read(&run.shared.layers).guards(scope).and_then(|layer| layer.next(cursor));
        let Some((next, guard)) = step else {
            return Ok(None);
        };
        if let Some(reason) = contain_result(|| guard(&run.execution))? {
            return Ok(Some(reason));
        }
        cursor = Some(next);
    }
}
