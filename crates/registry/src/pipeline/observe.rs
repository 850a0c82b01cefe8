//! Stage 4c, observe: nothing changes any more, and everybody is told (contract 3.9 d–e).

use std::sync::Arc;

use super::{Progress, Run};
use crate::{contain::contain, error::ToolFailure, execution::ToolResult};

#[tracing::instrument(level = "debug", parent = &run.span, skip_all)]
pub(super) fn observe(mut run: Run) -> Arc<ToolResult> {
    let result = match run.progress {
        Progress::Final(result) => result,
        _ => run.failed(ToolFailure::new("a stage of the pipeline left the call undecided")),
    };
    run.execution.freeze();
    run.passed.observe(&run.execution);
    if let Some(observers) = run.shared.result.heard_by(run.execution.agent()) {
        for observer in observers.iter() {
            if let Err(error) = contain(|| observer(&run.execution, &result)) {
                tracing::warn!(%error, tool = run.execution.name(), "a tools/result observer panicked");
            }
        }
    }
    result
}
