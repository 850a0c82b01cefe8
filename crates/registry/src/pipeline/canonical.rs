//! Stage 3b, canonical: a body's value becomes a result, and a result of unknown origin becomes one of ours
//! (contract 3.7, 3.8).

use std::sync::Arc;

use code_mode_schema::Json;

use crate::{
    error::{ToolError, ToolErrorKind, ToolFailure},
    execution::{Outcome, ToolExecution, ToolResult},
    shared::Shared,
    tool::{RenderError, ToolDefinition},
};

/// What a body returned, as a result of this execution.
#[tracing::instrument(level = "debug", skip_all)]
pub(super) fn canonical(
    tool: &ToolDefinition,
    execution: &ToolExecution,
    arguments: &Json,
    outcome: Result<Json, ToolError>,
) -> ToolResult {
    let result = match outcome {
        Ok(value) => canonical_success(tool, execution, arguments, value),
        Err(error) => Err(match error.kind() {
            ToolErrorKind::Plain => error.into_failure(),
            ToolErrorKind::LossyOutput(lossy) => {
                let lossy = lossy.clone().with_root("value");
                ToolFailure::invalid_output(execution.name(), &format!("value is not lossless JSON: {lossy}"))
            }
        }),
    };
    result.unwrap_or_else(|failure| ToolResult::failed(execution.token(), failure))
}

/// Validates a value and renders it under `tool`.
pub(super) fn canonical_success(
    tool: &ToolDefinition,
    execution: &ToolExecution,
    arguments: &Json,
    value: Json,
) -> Result<ToolResult, ToolFailure> {
    let invalid = |violations: &str| ToolFailure::invalid_output(execution.name(), violations);
    let violations = tool.output_schema().map(|schema| schema.validate(&value, "value")).unwrap_or_default();
    if !violations.is_empty() {
        return Err(invalid(&violations.join("; ")));
    }
    let content = tool
        .render(arguments, &value)
        .map_err(|error| invalid(&render_violation("output.render", &error)))?;
    let meta = match execution.parent() {
        // Nested calls have no card of their own.
        Some(_) => None,
        None => tool
            .presentation_meta(arguments, &value)
            .map_err(|error| invalid(&render_violation("output.presentationMeta", &error)))?,
    };
    Ok(ToolResult::canonical(execution.token(), value, content, meta))
}

/// Takes a result that this execution's own pipeline made as it is, and makes any other one anew: a success
/// from its value under the tool as it is visible now, a failure from its message, content, meta and
/// contexts.
pub(super) fn rebuild(
    shared: &Shared,
    execution: &ToolExecution,
    result: Arc<ToolResult>,
) -> Arc<ToolResult> {
    if result.token() == Some(execution.token()) {
        return result;
    }
    let rebuilt = match result.outcome() {
        Outcome::Err(_) => ToolResult::clone(&result).owned_by(execution.token()),
        Outcome::Ok { value } => {
            let mut rebuilt = revalue(shared, execution, value.clone());
            rebuilt.set_contexts(result.additional_contexts().to_vec());
            rebuilt
        }
    };
    Arc::new(rebuilt)
}

/// A value that did not come from the body, as a result under the tool as it is visible now.
pub(super) fn revalue(shared: &Shared, execution: &ToolExecution, value: Json) -> ToolResult {
    let tool = shared.resolve(execution.name(), execution.agent());
    let result = match (tool, execution.arguments()) {
        (Some(tool), Some(arguments)) => canonical_success(&tool, execution, arguments, value),
        _ => Err(ToolFailure::unknown_tool(execution.name())),
    };
    result.unwrap_or_else(|failure| ToolResult::failed(execution.token(), failure))
}

fn render_violation(what: &str, error: &RenderError) -> String {
    match error {
        RenderError::Failed(error) => format!("{what} failed: {}", error.message()),
        RenderError::Lossy(error) => format!("{what} returned non-lossless JSON: {error}"),
    }
}
