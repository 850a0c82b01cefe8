//! Stage 2a, pre-execute: the policies allow, deny or ask (contract 3.5).

use super::{Progress, Run, guards::deny};
use crate::{events::run_waterfall, hooks::PreDecision};

#[tracing::instrument(level = "debug", parent = &run.span, skip_all)]
pub(super) async fn pre_execute(run: &mut Run) {
    let Progress::Fresh = run.progress else {
        return;
    };
    run.passed.pre_execute();
    let Some(listeners) = run.shared.pre_execute.heard_by(run.execution.agent()) else {
        run.progress = Progress::Allowed;
        return;
    };
    let middle = Box::new(|| -> futures::future::BoxFuture<'static, _> {
        Box::pin(std::future::ready(Ok(PreDecision::Allow)))
    });
    match run_waterfall(listeners, run.execution.clone(), middle).await {
        Ok(PreDecision::Allow) => run.progress = Progress::Allowed,
        Ok(PreDecision::Deny { reason }) => deny(run, &reason),
        Ok(PreDecision::Ask { reason }) => run.progress = Progress::Asking { reason },
        Err(error) => run.fail_finally(error),
    }
}
