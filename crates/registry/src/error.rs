//! What can go wrong: the failure of a call (a value the model reads) and the refusals of the registry
//! (errors the embedder reads).
//!
//! [`ToolError`] is what callbacks return; the pipeline turns it into a [`ToolFailure`], the failed half of a
//! result. Every other type here is one refusal enum per operation, each with a `code()` where the contract
//! names one.

use std::{borrow::Cow, error::Error, fmt, sync::Arc};

use code_mode_schema::{JsonSchemaError, LosslessError};

use crate::config::Mode;

/// What a tool body, a listener, a guard or a renderer returns as `Err`.
///
/// The message is written for the model. The source is for operators only and never reaches the model. Any
/// standard error converts with `?`: its text becomes the message and itself the source.
///
/// ```
/// use code_mode_registry::ToolError;
///
/// fn read(path: &str) -> Result<String, ToolError> {
///     if path.is_empty() {
///         return Err(ToolError::new("path must not be empty"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
/// assert_eq!(read("").unwrap_err().message(), "path must not be empty");
/// ```
#[derive(Clone)]
pub struct ToolError(Box<ToolErrorState>);

#[derive(Clone)]
struct ToolErrorState {
    kind: ToolErrorKind,
    message: Arc<str>,
    info: Option<ErrorInfo>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// How the pipeline treats an error.
#[derive(Clone)]
pub(crate) enum ToolErrorKind {
    /// The failure of the call, as it stands.
    Plain,
    /// The body succeeded, but its value is no lossless JSON: becomes `INVALID_TOOL_OUTPUT`.
    LossyOutput(LosslessError),
}

impl ToolError {
    /// An error with this message and no info.
    #[must_use]
    pub fn new(message: impl Into<Arc<str>>) -> Self {
        Self::of_kind(ToolErrorKind::Plain, message.into())
    }

    /// An error of any boxed kind, for what is no [`std::error::Error`] itself and so does not convert with `?`:
    /// `Box<dyn Error + Send + Sync>` and `anyhow::Error`. Its text becomes the message and itself the source.
    ///
    /// ```
    /// use code_mode_registry::ToolError;
    ///
    /// fn fetch() -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    ///     Err("no route to host".into())
    /// }
    /// assert_eq!(fetch().map_err(ToolError::other).unwrap_err().message(), "no route to host");
    /// ```
    #[must_use]
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error = error.into();
        let mut other = Self::new(error.to_string());
        other.0.source = Some(Arc::from(error));
        other
    }

    /// `ToolArgsError` / `INVALID_ARGS`: the arguments break the tool's schema; `violations` say how
    /// (contract 3.11).
    #[must_use]
    pub fn invalid_arguments(violations: &[String]) -> Self {
        Self::new(format!("invalid arguments: {}", violations.join("; ")))
            .with_info(ErrorInfo::new("ToolArgsError", "INVALID_ARGS"))
    }

    /// The body's value cannot be written as lossless JSON. The call fails with `INVALID_TOOL_OUTPUT`.
    #[must_use]
    pub fn lossy_output(error: LosslessError) -> Self {
        let message = Arc::from(error.to_string());
        Self::of_kind(ToolErrorKind::LossyOutput(error), message)
    }

    fn of_kind(kind: ToolErrorKind, message: Arc<str>) -> Self {
        Self(Box::new(ToolErrorState { kind, message, info: None, source: None }))
    }

    /// Adds the class name and code that hosts see beside the message.
    #[must_use]
    pub fn with_info(mut self, info: ErrorInfo) -> Self {
        self.0.info = Some(info);
        self
    }

    /// Adds the cause, for operators.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// The text for the model, without `Error: `.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Class name and code, if the error has them.
    #[must_use]
    pub fn info(&self) -> Option<&ErrorInfo> {
        self.0.info.as_ref()
    }

    /// The cause, for operators.
    #[must_use]
    pub fn source(&self) -> Option<&Arc<dyn Error + Send + Sync>> {
        self.0.source.as_ref()
    }

    pub(crate) fn kind(&self) -> &ToolErrorKind {
        &self.0.kind
    }

    pub(crate) fn into_failure(self) -> ToolFailure {
        let ToolErrorState { message, info, source, .. } = *self.0;
        ToolFailure { message, info, source }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("message", &self.message())
            .field("info", &self.info())
            .finish_non_exhaustive()
    }
}

// `ToolError` itself is no `std::error::Error`, so that every standard error can convert with `?`.
impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(error.to_string()).with_source(error)
    }
}

/// The failed half of a result: what went wrong, in the contract's shape (contract 3.11).
#[derive(Clone)]
pub struct ToolFailure {
    message: Arc<str>,
    info: Option<ErrorInfo>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ToolFailure {
    /// A failure with this message and no info.
    #[must_use]
    pub fn new(message: impl Into<Arc<str>>) -> Self {
        Self { message: message.into(), info: None, source: None }
    }

    /// Adds class name and code.
    #[must_use]
    pub fn with_info(mut self, info: ErrorInfo) -> Self {
        self.info = Some(info);
        self
    }

    /// The message, without `Error: `. This is what a program's `ToolCallError` carries.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Class name and code; present only for the failures the contract gives a code.
    #[must_use]
    pub fn info(&self) -> Option<&ErrorInfo> {
        self.info.as_ref()
    }

    /// The code alone, for example `UNKNOWN_TOOL`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.info.as_ref().map(ErrorInfo::code)
    }

    /// The cause, for operators; never shown to the model.
    #[must_use]
    pub fn source(&self) -> Option<&Arc<dyn Error + Send + Sync>> {
        self.source.as_ref()
    }

    /// `ToolNotFoundError` / `UNKNOWN_TOOL`.
    pub(crate) fn unknown_tool(name: &str) -> Self {
        Self::new(format!("unknown tool \"{name}\""))
            .with_info(ErrorInfo::new("ToolNotFoundError", "UNKNOWN_TOOL"))
    }

    /// `ToolOutputError` / `INVALID_TOOL_OUTPUT` (contract 3.8).
    pub(crate) fn invalid_output(name: &str, violations: &str) -> Self {
        Self::new(format!("tool \"{name}\" returned invalid output: {violations}"))
            .with_info(ErrorInfo::new("ToolOutputError", "INVALID_TOOL_OUTPUT"))
    }
}

/// Equal when message and info are; the operator's source does not count.
impl PartialEq for ToolFailure {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message && self.info == other.info
    }
}

impl fmt::Debug for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFailure")
            .field("message", &self.message)
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl From<ToolError> for ToolFailure {
    fn from(error: ToolError) -> Self {
        error.into_failure()
    }
}

/// Class name and code of a failure, for example `ToolArgsError` and `INVALID_ARGS`.
///
/// A tool may give its errors [its own](ToolError::with_info). The pipeline and the stock policies use these:
///
/// | code | class | when |
/// |---|---|---|
/// | `UNKNOWN_TOOL` | `ToolNotFoundError` | the caller sees no tool of that name |
/// | `INVALID_ARGS` | `ToolArgsError` | the arguments break the tool's schema |
/// | `INVALID_TOOL_OUTPUT` | `ToolOutputError` | the value breaks its schema or is no JSON, or the renderer failed |
/// | `ABORTED_BEFORE_DISPATCH` | `AbortError` | cancelled before the body began |
/// | `ABORTED` | `AbortError` | cancelled while the body ran |
/// | `TOOL_TIMEOUT` | `ToolTimeoutError` | [`TimeoutPolicy`](crate::policy::TimeoutPolicy) |
///
/// A denial, a block, an `Err` without info and a panic have neither: only their message tells them apart.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ErrorInfo {
    name: Cow<'static, str>,
    code: Cow<'static, str>,
}

impl ErrorInfo {
    /// Class name and code, as hosts see them.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, code: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), code: code.into() }
    }

    /// The class name, for example `ToolArgsError`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The code, for example `INVALID_ARGS`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }
}

/// Why a registry cannot be made with this configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// `max_parallel_sub_calls` is 0 in a mode that runs programs.
    #[error("maxParallelSubCalls must be a positive integer, got {got}")]
    MaxParallelSubCalls {
        /// The refused number.
        got: usize,
    },
    /// A name stands in `tool_order` twice.
    #[error("toolOrder lists \"{name}\" more than once")]
    DuplicateInToolOrder {
        /// The name.
        name: Arc<str>,
    },
    /// `tool_order` does not say where the unlisted tools go.
    #[error("toolOrder lacks the rest entry \"<unlisted-tools>\", the place of all tools it does not list")]
    RestEntry,
}

/// Why a definition was not registered. The variants stand in the order in which they are checked (contract
/// 2.2).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The definition lacks an output schema, a renderer, or a body.
    #[error(
        "tool \"{tool}\" must declare output {{ schema, render, presentationMeta? }} and a body: {missing} is missing"
    )]
    IncompleteDefinition {
        /// The tool's name.
        tool: Arc<str>,
        /// What is missing: `output.schema`, `output.render` or `execute`.
        missing: &'static str,
    },
    /// The output schema is outside the supported subset.
    #[error("tool \"{tool}\": {error}")]
    UnsupportedSchema {
        /// The tool's name.
        tool: Arc<str>,
        /// All violations.
        error: JsonSchemaError,
    },
    /// The timeout is zero or longer than a timer can be.
    #[error("tool \"{tool}\": timeoutMs must be a positive finite number of at most 2147483647")]
    Timeout {
        /// The tool's name.
        tool: Arc<str>,
    },
    /// The name `run_code` belongs to the transport in every mode but `native`.
    #[error("tool name \"run_code\" is reserved for the Code Mode presentation transport")]
    Reserved,
    /// The name is taken in the layer of the registration.
    #[error("{}", taken(name, *scoped))]
    AlreadyRegistered {
        /// The name.
        name: Arc<str>,
        /// Whether the layer is an agent's (`true`) or the global one.
        scoped: bool,
    },
    /// [`install_transport`](crate::ToolRegistry::install_transport) was called with another name than
    /// `run_code`, or in mode `native`, which has no transport.
    #[error("a transport is named \"run_code\" and needs mode \"code\" or \"both\"")]
    NoTransport,
    /// A change listener failed; the registration was rolled back and the name is free.
    #[error("a tools/change listener failed: {message}")]
    ChangeListener {
        /// The listener's message.
        message: Arc<str>,
    },
}

fn taken(name: &str, scoped: bool) -> String {
    if scoped {
        format!("tool \"{name}\" is already registered in this scope")
    } else {
        format!(
            "tool \"{name}\" is already registered; to shadow it for one agent, register it in that agent's scope \
             (`registry.scoped(&agent)`, the counterpart of `agent.ctx`)"
        )
    }
}

impl RegisterError {
    /// The contract's code, where it names one.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        matches!(self, Self::UnsupportedSchema { .. }).then_some("UNSUPPORTED_SCHEMA")
    }
}

/// Why tools cannot be presented to an agent in a mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PresentError {
    /// A registry in mode `native` runs no programs for anybody.
    #[error("tools cannot be presented in mode \"{}\" by a registry in mode \"native\"", mode.as_str())]
    NoPrograms {
        /// The mode.
        mode: Mode,
    },
    /// A change listener failed; the mode was taken back.
    #[error("a tools/change listener failed: {message}")]
    ChangeListener {
        /// The listener's message.
        message: Arc<str>,
    },
}

/// Why a visibility filter was refused. The variants stand in the order in which they are checked (contract
/// 2.3).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestrictError {
    /// A filter belongs to one agent; it cannot be global.
    #[error("restrict requires a scoped context (an agent)")]
    RequiresScope,
    /// Neither `allow` nor `deny` was given.
    #[error("restrict without allow or deny is a no-op")]
    NoOp,
    /// `run_code` cannot be filtered where it is the transport.
    #[error("restrict cannot name reserved Code Mode presentation transport \"run_code\"")]
    Reserved,
    /// Names that are no global tools at this moment.
    #[error("{}", unknown_globals(unknown, known))]
    UnknownTools {
        /// The unknown names, in the order given.
        unknown: Vec<Arc<str>>,
        /// All global names, sorted.
        known: Vec<Arc<str>>,
    },
    /// A change listener failed; the filter was taken back.
    #[error("a tools/change listener failed: {message}")]
    ChangeListener {
        /// The listener's message.
        message: Arc<str>,
    },
}

fn unknown_globals(unknown: &[Arc<str>], known: &[Arc<str>]) -> String {
    let plural = if unknown.len() == 1 { "" } else { "s" };
    let known = if known.is_empty() { "(none)".to_owned() } else { known.join(", ") };
    format!("unknown global tool{plural} {}; known global tools: {known}", quoted(unknown))
}

/// `"a", "b"`.
pub(crate) fn quoted(names: &[Arc<str>]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Why the schemas of a view cannot be projected (contract 2.4).
#[derive(Clone, Debug, thiserror::Error)]
#[error("tool \"{tool}\" parameters must be lossless JSON before schema projection: {error}")]
pub struct ProjectionError {
    /// The tool whose parameters cannot be written.
    pub tool: Arc<str>,
    /// Where and why.
    pub error: LosslessError,
}
