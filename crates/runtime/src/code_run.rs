//! The result of `run_code`, read by a host.

use code_mode_registry::ToolResult;
use code_mode_schema::Json;
use serde::Serialize;

use crate::run_code::CodeRunFailed;
use crate::seam::Failure;

/// What came of one call of `run_code`: its log, and what it returned or why it failed.
///
/// JSON: `{"logs": […], "result": …}` or `{"logs": […], "error": {"kind": …, "message": …, "line": …, "column": …}}`;
/// what is `None` is left out.
///
/// ```
/// # use std::sync::Arc;
/// # use code_mode_registry::{Mode, RegistryConfig, ToolCall, ToolRegistry};
/// # use code_mode_runtime::{CodeMode, CodeRun, FailureKind, ThreadRuntime};
/// # use code_mode_schema::json;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code))?;
/// # let _code_mode = CodeMode::install(&registry, Arc::new(ThreadRuntime::new()?))?;
/// # let tokio = tokio::runtime::Runtime::new()?;
/// let arguments = json!({"code": "console.log('begun');\nreturn missing", "description": "Fail"});
/// let result = tokio.block_on(registry.execute(ToolCall::new("call_1", "run_code", arguments)));
///
/// let run = CodeRun::of(&result);
/// assert_eq!(run.logs, ["begun"]);
/// assert_eq!(run.result, None);
/// let error = run.error.ok_or("the program failed")?;
/// assert_eq!((error.kind, error.line), ("exception", Some(2)));
/// assert_eq!(error.failure.map(|failure| failure.kind), Some(FailureKind::Exception));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CodeRun<'a> {
    /// What the program printed, an entry for each call of `console`.
    pub logs: Vec<&'a str>,
    /// What it returned; `None` for `undefined` and for a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'a Json>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CodeRunError<'a>>,
}

/// Why a call of `run_code` failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CodeRunError<'a> {
    /// The wire name of the program's [`FailureKind`](crate::FailureKind). If no program ran, the code of the call's
    /// failure, such as `INVALID_ARGS`, or `failed` where it has none.
    pub kind: &'a str,
    /// What went wrong.
    pub message: &'a str,
    /// The line of the program, 1-based, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column of that line, 1-based, in UTF-16 units, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The failure of the program; `None` if none ran: the call was denied, had wrong arguments or was refused.
    #[serde(skip)]
    pub failure: Option<&'a Failure>,
}

impl<'a> CodeRun<'a> {
    /// Reads the result of a call of `run_code`. For that of another tool the log is empty.
    #[must_use]
    pub fn of(result: &'a ToolResult) -> Self {
        if let Some(error) = result.error() {
            let failed = error.source().and_then(|source| source.downcast_ref::<CodeRunFailed>());
            return match failed {
                Some(CodeRunFailed { failure, logs }) => Self {
                    logs: logs.iter().map(String::as_str).collect(),
                    result: None,
                    error: Some(CodeRunError {
                        kind: failure.kind.as_str(),
                        message: &failure.message,
                        line: failure.line,
                        column: failure.column,
                        failure: Some(failure),
                    }),
                },
                None => Self {
                    logs: Vec::new(),
                    result: None,
                    error: Some(CodeRunError {
                        kind: error.code().unwrap_or("failed"),
                        message: error.message(),
                        line: None,
                        column: None,
                        failure: None,
                    }),
                },
            };
        }
        let member = |name| result.value().and_then(|value| value.get(name));
        let logs = member("logs").and_then(Json::as_array);
        Self {
            logs: logs.into_iter().flat_map(|logs| logs.iter()).filter_map(Json::as_str).collect(),
            result: member("result"),
            error: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::FailureKind;
    use code_mode_registry::{ErrorInfo, ToolFailure};
    use code_mode_schema::{json, to_json};

    #[track_caller]
    fn check(result: &ToolResult, expected: Json) {
        assert_eq!(to_json(&CodeRun::of(result)).unwrap(), expected);
    }

    #[test]
    fn success_is_its_log_and_its_value() {
        check(
            &ToolResult::success(json!({"logs": ["a", "b"], "result": null})),
            json!({"logs": ["a", "b"], "result": null}),
        );
        check(&ToolResult::success(json!({"logs": []})), json!({"logs": []}));
    }

    #[test]
    fn call_that_ran_no_program_has_the_code_of_its_failure() {
        let denied = ToolFailure::new("invalid").with_info(ErrorInfo::new("ToolArgsError", "INVALID_ARGS"));
        check(
            &ToolResult::failure(denied),
            json!({"logs": [], "error": {"kind": "INVALID_ARGS", "message": "invalid"}}),
        );
        let plain = ToolResult::failure(ToolFailure::new("no"));
        assert_eq!(
            CodeRun::of(&plain).error.map(|error| (error.kind, error.failure)),
            Some(("failed", None))
        );
    }

    #[test]
    fn failure_of_a_program_has_its_kind_and_place_and_keeps_the_log() {
        let mut failure = Failure::new(FailureKind::WorkerExit, "gone");
        (failure.line, failure.column) = (Some(2), Some(3));
        let failed = CodeRunFailed { failure, logs: vec!["a".to_owned()] };
        let error = code_mode_registry::ToolError::new("x").with_source(failed);
        check(
            &ToolResult::failure(ToolFailure::from(error)),
            json!({"logs": ["a"], "error": {"kind": "worker-exit", "message": "gone", "line": 2, "column": 3}}),
        );
    }
}
