//! Stage 1, materialize: the tool as it is visible now, the arguments, and the calls that are over before
//! they begin (contract 3.3, decision 25).

use std::sync::Arc;

use super::{Progress, Run, invariants::Passed};
use crate::{
    cancellation::aborted_before_dispatch,
    error::{ErrorInfo, ToolFailure},
    execution::{ToolCall, ToolExecution},
    shared::Shared,
    tool::ToolDefinition,
};

pub(super) fn materialize(shared: Arc<Shared>, call: ToolCall) -> Run {
    let tool = shared.resolve(&call.name, call.agent.as_ref());
    let (execution, lossy) = ToolExecution::new(call);
    let finalizer = tool.as_ref().and_then(ToolDefinition::finalizer);
    let span = tracing::debug_span!(
        "tool_call",
        tool = execution.name(),
        call_id = execution.call_id().as_str(),
        is_sub_call = execution.parent().is_some()
    );
    let mut run =
        Run { shared, execution, span, finalizer, progress: Progress::Fresh, passed: Passed::default() };

    // Arguments that are no JSON come first: they win over a cancelled caller.
    if let Some(error) = lossy {
        let error = error.with_root("args");
        run.fail_finally(ToolFailure::new(format!(
            "tool execution arguments must be losslessly JSON-serializable: {error}"
        )));
    } else if run.execution.caller_signal().is_cancelled() {
        run.fail_finally(aborted_before_dispatch());
    } else if run.shared.refuses_direct_call(
        run.execution.name(),
        run.execution.agent(),
        run.execution.parent().is_some(),
    ) {
        run.passed.refused();
        run.settle_failure(only_run_code(run.execution.name()));
    }
    run
}

/// Mode `code`: a direct call of anything but `run_code`.
fn only_run_code(name: &str) -> ToolFailure {
    ToolFailure::new(format!(
        "unknown tool \"{name}\": only `run_code` is callable directly — call `{name}` from inside a `run_code` \
         program instead"
    ))
    .with_info(ErrorInfo::new("ToolNotFoundError", "UNKNOWN_TOOL"))
}
