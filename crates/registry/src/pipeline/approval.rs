//! Stage 2b, approval: a question of the policies is answered, or nobody can answer it (contract 3.6).

use std::sync::Arc;

use super::{Progress, Run, guards::deny};
use crate::{
    approval::{ApprovalOutcome, ApprovalRequest},
    cancellation::aborted_before_dispatch,
    contain::contain_future,
    error::ToolFailure,
    sync::read,
};

#[tracing::instrument(level = "debug", parent = &run.span, skip_all)]
pub(super) async fn approval(run: &mut Run) {
    let Progress::Asking { reason } = &run.progress else {
        return;
    };
    let reason = reason.clone();
    let name = Arc::clone(run.execution.name_shared());

    let service = read(&run.shared.approval).last().map(|mounted| Arc::clone(&mounted.service));
    let Some(service) = service else {
        let reason = reason
            .unwrap_or_else(|| Arc::from(format!("tool \"{name}\" requires approval (not yet supported)")));
        return deny(run, &reason);
    };
    let Some(agent) = run.execution.agent().cloned() else {
        let reason =
            format!("tool \"{name}\" requires approval, but the call has no agent to route it through");
        return deny(run, &reason);
    };

    let request = ApprovalRequest {
        agent,
        tool_name: Arc::clone(&name),
        call_id: run.execution.call_id().clone(),
        // A call whose arguments are no JSON has failed before any policy.
        arguments: run.execution.arguments().cloned().unwrap_or_default(),
        reason,
        signal: run.execution.caller_signal().clone(),
    };
    let outcome = contain_future(move || service.request(request)).await;
    let is_cancelled = run.execution.caller_signal().is_cancelled();
    match outcome {
        Ok(ApprovalOutcome::AllowedOnce) => run.progress = Progress::Allowed,
        Ok(ApprovalOutcome::Rejected) => deny(run, &format!("the user rejected tool \"{name}\"")),
        Ok(ApprovalOutcome::Cancelled) if is_cancelled => {
            run.settle_failure(aborted_before_dispatch());
        }
        Ok(ApprovalOutcome::Cancelled) => {
            deny(run, &format!("approval for tool \"{name}\" was cancelled"));
        }
        Ok(ApprovalOutcome::Unavailable) => {
            deny(run, &format!("tool \"{name}\" requires approval, but no approval channel is available"));
        }
        Ok(ApprovalOutcome::Other(outcome)) => {
            run.fail_finally(ToolFailure::new(format!(
                "unreachable variant of an approval outcome: \"{outcome}\""
            )));
        }
        Err(error) => run.fail_finally(error),
    }
}
