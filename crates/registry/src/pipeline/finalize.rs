//! Stage 4b, finalize: the tool's last word on the content, exactly once on every path (contract 3.9 a–c).
//!
//! That content, meta, contexts and message are lossless JSON needs no check here: their types hold nothing
//! else.

use std::sync::Arc;

use super::{Progress, Run};
use crate::{execution::ToolResult, tool::call_finalizer};

#[tracing::instrument(level = "debug", parent = &run.span, skip_all)]
pub(super) fn finalize(run: &mut Run) {
    let Progress::Final(result) = &mut run.progress else {
        return;
    };
    // Taken: it cannot be called again.
    let Some(finalizer) = run.finalizer.take() else {
        return;
    };
    match call_finalizer(&*finalizer, &run.execution, result) {
        Ok(None) => {}
        Ok(Some(content)) => Arc::make_mut(result).set_content(content),
        Err(error) => {
            let mut failed = ToolResult::failed(run.execution.token(), error.into_failure());
            failed.set_contexts(result.additional_contexts().to_vec());
            *result = Arc::new(failed);
        }
    }
}
