//! Stage 3, dispatch: the wrappers, in the middle of them the body, and what comes of both (contract 3.7).

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::{
    Progress, Run,
    adoption::Orphanage,
    canonical::{canonical, rebuild},
};
use crate::{
    cancellation::{Signal, aborted, aborted_before_dispatch, fuse},
    contain::contain_future,
    error::{ToolError, ToolFailure},
    events::run_waterfall,
    execution::{Dispatch, ToolExecution, ToolResult},
    registry::RUN_CODE,
    shared::Shared,
    tool::ToolRunContext,
};

pub(super) async fn dispatch(run: &mut Run) {
    let Progress::Allowed = run.progress else {
        return;
    };
    match around_the_body(run).await {
        Ok(result) => {
            let result = rebuild(&run.shared, &run.execution, result);
            let result = with_deferred_contexts(&run.execution, result);
            run.progress = Progress::Settled(overtaken_by_cancellation(&run.execution, result));
        }
        // The contexts that the body deferred are lost with the wrapper.
        Err(error) => run.fail_finally(error),
    }
}

async fn around_the_body(run: &Run) -> Result<Arc<ToolResult>, ToolError> {
    let Some(wrappers) = run.shared.execute.heard_by(run.execution.agent()) else {
        return Ok(dispatch_once(&run.shared, &run.execution, Signal::never()).await);
    };
    let orphanage: Arc<Orphanage> = Arc::default();
    let middle = {
        let (shared, execution) = (Arc::clone(&run.shared), run.execution.clone());
        let orphanage = Arc::clone(&orphanage);
        Box::new(move || -> BoxFuture<'static, _> {
            let (shared, execution) = (Arc::clone(&shared), execution.clone());
            let dispatch = orphanage.guarded(|abandoned| {
                Box::pin(async move { dispatch_once(&shared, &execution, abandoned).await })
            });
            Box::pin(dispatch.map(Ok))
        })
    };
    let arguments = Dispatch::new(run.execution.clone(), Arc::clone(&run.shared));
    let result = run_waterfall(wrappers, arguments, middle).await;
    orphanage.drain().await;
    // A wrapper that did not put the caller's signal back must not leave its own to the later stages.
    run.execution.assign_signal(None);
    result
}

/// One dispatch of the body. Each `next()` of the innermost wrapper is one (decision 24).
async fn dispatch_once(
    shared: &Shared,
    execution: &ToolExecution,
    abandoned: Signal,
) -> Arc<ToolResult> {
    let caller = execution.caller_signal();
    let in_place = execution.assigned_signal();
    let mut fused = fuse(in_place.as_ref().unwrap_or(caller), caller, &abandoned);
    if fused.signal.is_cancelled() {
        fused.settle();
        return failed(execution, aborted_before_dispatch());
    }
    // The live view: what was visible when the call began may be gone.
    let tool = shared.resolve(execution.name(), execution.agent());
    let runtime_error = || {
        shared
            .runtime_error()
            .filter(|_| execution.name() == RUN_CODE)
    };
    let Some(tool) = tool.filter(|_| runtime_error().is_none()) else {
        fused.settle();
        let unknown = || ToolFailure::unknown_tool(execution.name());
        return failed(
            execution,
            runtime_error().map_or_else(unknown, ToolFailure::new),
        );
    };
    let Some(arguments) = execution.arguments() else {
        fused.settle();
        return failed(
            execution,
            ToolFailure::new("a call without arguments reached the dispatch"),
        );
    };

    if in_place.is_some() {
        execution.assign_signal(Some(fused.signal.clone()));
    }
    execution.mark_body_started();
    let ctx = ToolRunContext::new(execution.clone(), fused.signal.clone());
    let outcome = contain_future(|| tool.start_body(arguments, ctx)).await;
    let result = canonical(&tool, execution, arguments, outcome);
    let is_cancelled = fused.signal.is_cancelled();
    fused.settle();
    if in_place.is_some() {
        execution.assign_signal(in_place);
    }
    if is_cancelled && !result.is_error() {
        return failed(execution, aborted());
    }
    Arc::new(result)
}

/// Contract 3.12: what the tool deferred stands before what is on the result.
fn with_deferred_contexts(
    execution: &ToolExecution,
    mut result: Arc<ToolResult>,
) -> Arc<ToolResult> {
    let mut contexts = execution.take_deferred();
    if !contexts.is_empty() {
        let result = Arc::make_mut(&mut result);
        contexts.append(result.contexts_mut());
        result.set_contexts(contexts);
    }
    result
}

/// A success that the caller no longer wants is an abort; a failure stays what it is (contract 3.10).
pub(super) fn overtaken_by_cancellation(
    execution: &ToolExecution,
    result: Arc<ToolResult>,
) -> Arc<ToolResult> {
    if result.is_error() || !execution.caller_signal().is_cancelled() {
        return result;
    }
    let failure = if execution.body_started() {
        aborted()
    } else {
        aborted_before_dispatch()
    };
    let mut overtaken = ToolResult::failed(execution.token(), failure);
    overtaken.set_contexts(result.additional_contexts().to_vec());
    Arc::new(overtaken)
}

fn failed(execution: &ToolExecution, failure: ToolFailure) -> Arc<ToolResult> {
    Arc::new(ToolResult::failed(execution.token(), failure))
}
