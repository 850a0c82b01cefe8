//! Stage 3, dispatch: the wrappers, in the middle of them the body, and what comes of both (contract 3.7).

use std::sync::Arc;

use code_mode_schema::Json;
use futures::{FutureExt, future::BoxFuture};
use tracing::Instrument;

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
    tool::{ToolDefinition, ToolRunContext},
};

#[tracing::instrument(level = "debug", parent = &run.span, skip_all)]
pub(super) async fn dispatch(run: &mut Run) {
    let Progress::Allowed = run.progress else {
        return;
    };
    run.passed.dispatch();
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
    let result = orphanage.beside(run_waterfall(wrappers, arguments, middle)).await;
    // A wrapper that did not put the caller's signal back must not leave its own to the later stages.
    run.execution.assign_signal(None);
    result
}

/// One dispatch of the body. Each `next()` of the innermost wrapper is one (decision 24).
async fn dispatch_once(shared: &Shared, execution: &ToolExecution, abandoned: Signal) -> Arc<ToolResult> {
    let caller = execution.caller_signal();
    let in_place = execution.assigned_signal();
    let mut fused = fuse(in_place.as_ref().unwrap_or(caller), caller, &abandoned);
    let (tool, arguments) = match dispatchable(shared, execution, &fused.signal) {
        Ok(dispatchable) => dispatchable,
        Err(failure) => {
            fused.settle();
            return failed(execution, failure);
        }
    };

    if in_place.is_some() {
        execution.assign_signal(Some(fused.signal.clone()));
    }
    execution.mark_body_started();
    let ctx = ToolRunContext::new(execution.clone(), fused.signal.clone());
    let body = tracing::debug_span!("body");
    let running = body.in_scope(|| contain_future(|| tool.start_body(arguments, ctx)));
    let outcome = running.instrument(body).await;
    let result = canonical(&tool, execution, arguments, outcome);
    let is_cancelled = fused.signal.is_cancelled();
    fused.settle();
    if in_place.is_some() {
        execution.restore_signal(&fused.signal, in_place);
    }
    if is_cancelled && !result.is_error() {
        return failed(execution, aborted());
    }
    Arc::new(result)
}

/// What is to be run, or why nothing is.
fn dispatchable<'a>(
    shared: &Shared,
    execution: &'a ToolExecution,
    signal: &Signal,
) -> Result<(ToolDefinition, &'a Json), ToolFailure> {
    let name = execution.name();
    if signal.is_cancelled() {
        return Err(aborted_before_dispatch());
    }
    if execution.is_frozen() {
        return Err(ToolFailure::new("the call is over; it cannot be dispatched again"));
    }
    if let Some(message) = (name == RUN_CODE).then(|| shared.runtime_error(execution.agent())).flatten() {
        return Err(ToolFailure::new(message));
    }
    // The live view: what was visible when the call began may be gone.
    let tool = shared.resolve(name, execution.agent());
    tool.zip(execution.arguments()).ok_or_else(|| ToolFailure::unknown_tool(name))
}

/// Contract 3.12: what the tool deferred stands before what is on the result.
fn with_deferred_contexts(execution: &ToolExecution, mut result: Arc<ToolResult>) -> Arc<ToolResult> {
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
    let failure = if execution.body_started() { aborted() } else { aborted_before_dispatch() };
    let mut overtaken = ToolResult::failed(execution.token(), failure);
    overtaken.set_contexts(result.additional_contexts().to_vec());
    Arc::new(overtaken)
}

fn failed(execution: &ToolExecution, failure: ToolFailure) -> Arc<ToolResult> {
    Arc::new(ToolResult::failed(execution.token(), failure))
}
