//! A tool: its definition, the builders that make one, and what its body is given.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use code_mode_schema::{Json, JsonSchemaError, LosslessError, Schema};
use futures::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    cancellation::Signal,
    contain::{Callback, contain, contain_result, discard},
    content::{AdditionalContext, ContentBlock},
    error::ToolError,
    execution::{Agent, CallId, Token, ToolExecution, ToolResult},
    presentation::{CallView, ResultView, ToolOutcomeView},
};

mod builder;
mod convert;
mod typed;

pub use builder::ToolBuilder;
pub use convert::{IntoContent, IntoMeta, IntoOutputSchema, IntoParameters, RenderError, ToolParameters};
pub use typed::TypedToolBuilder;

/// One tool: what the model reads (name, description, parameters), what a result is made of (output schema,
/// renderer), and the body (contract 2.1). Immutable; clones are cheap and are the same definition.
///
/// A typed tool takes and gives Rust types; its schemas come from `schemars` and its arguments are validated:
///
/// ```
/// use code_mode_registry::{ToolDefinition, ToolRunContext};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     left: i32,
///     right: i32,
/// }
///
/// let add = ToolDefinition::typed("add", "Adds two numbers", |args: Add, _ctx: ToolRunContext| async move {
///     Ok(args.left + args.right)
/// })
/// .concurrency_safe(|_| true)
/// .build();
/// assert_eq!(add.name(), "add");
/// ```
#[derive(Clone)]
pub struct ToolDefinition(Arc<Definition>);

pub(crate) struct Definition {
    name: Arc<str>,
    description: Arc<str>,
    parameters: Parameters,
    output: Option<Result<Schema, JsonSchemaError>>,
    render: Option<Box<Render>>,
    presentation_meta: Option<Box<PresentationMeta>>,
    execute: Option<Box<Execute>>,
    finalize_content: Option<Callback<FinalizeContent>>,
    timeout: Option<Duration>,
    is_concurrency_safe: Option<Box<Classify>>,
    present_call: Option<Box<PresentCall>>,
    present_result: Option<Box<PresentResult>>,
    is_retry_safe: bool,
}

type Render = dyn Fn(&Json, &Json) -> Result<Vec<ContentBlock>, RenderError> + Send + Sync;
type PresentationMeta = dyn Fn(&Json, &Json) -> Result<Option<Json>, RenderError> + Send + Sync;
type Execute = dyn Fn(Json, ToolRunContext) -> BoxFuture<'static, Result<Json, ToolError>> + Send + Sync;
type Classify = dyn Fn(&Json) -> bool + Send + Sync;
type PresentCall = dyn Fn(&Json) -> Option<CallView> + Send + Sync;
type PresentResult = dyn Fn(&Json, &ToolOutcomeView<'_>) -> Option<ResultView> + Send + Sync;
pub(crate) type FinalizeContent =
    dyn Fn(&ToolExecution, &ToolResult) -> Result<Option<Vec<ContentBlock>>, ToolError> + Send + Sync;

/// The callbacks are somebody else's and so are their destructors: what panics in one is contained, and the others
/// are dropped all the same.
impl Drop for Definition {
    fn drop(&mut self) {
        discard(self.render.take());
        discard(self.presentation_meta.take());
        discard(self.execute.take());
        discard(self.is_concurrency_safe.take());
        discard(self.present_call.take());
        discard(self.present_result.take());
    }
}

enum Parameters {
    /// Sent to the model as it is; arguments are not validated by the registry.
    Raw(Json),
    /// Arguments are validated before the body runs.
    Validated(Schema),
    /// Refused when the schemas of a view are projected.
    Lossy(LosslessError),
    /// A spec of the author DSL that does not compile. Refused when the tool is registered.
    Unsupported(JsonSchemaError),
}

impl ToolDefinition {
    /// Starts a definition from its parts. `output`, `render` and `execute` are mandatory; whether they are
    /// there is checked when the tool is registered, in the order of contract 2.2.
    ///
    /// The name is not checked. Model interfaces take letters, digits, `_` and `-`, commonly at most 64.
    ///
    /// ```
    /// use code_mode_registry::{ToolDefinition, ToolError};
    /// use code_mode_schema::{Json, json};
    ///
    /// let echo = ToolDefinition::builder("echo")
    ///     .description("Says it again")
    ///     .parameters(json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}))
    ///     .output(json!({"type": "string"}))
    ///     .render(|_args, value| value.as_str().unwrap_or_default().to_owned())
    ///     .execute(|args: Json, _ctx| async move {
    ///         args.get("text").cloned().ok_or_else(|| ToolError::new("nothing to say"))
    ///     })
    ///     .build();
    /// assert_eq!(echo.description(), "Says it again");
    /// ```
    pub fn builder(name: impl Into<Arc<str>>) -> ToolBuilder {
        ToolBuilder::new(name.into())
    }

    /// Starts a typed definition. Both schemas are derived (full vocabulary, decision 29); arguments are
    /// validated and answered with `INVALID_ARGS` if they do not fit; the renderer is the value's own text if
    /// it is a string, else its compact JSON text.
    ///
    /// `A` is a struct with named fields, an empty one for a tool without parameters, because models are only offered
    /// objects. Doc comments of its fields become the descriptions that the model reads. Members it does not know are
    /// ignored unless it has `#[serde(deny_unknown_fields)]`.
    pub fn typed<A, O, F, Fut>(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        body: F,
    ) -> TypedToolBuilder<A, O>
    where
        A: DeserializeOwned + schemars::JsonSchema + 'static,
        O: Serialize + schemars::JsonSchema + 'static,
        F: Fn(A, ToolRunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        TypedToolBuilder::new(name.into(), description.into(), body)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What the model reads about it.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The JSON schema of the arguments, as the model reads it.
    ///
    /// # Errors
    /// If the definition was given parameters that are no lossless JSON.
    pub fn parameters(&self) -> Result<&Json, &LosslessError> {
        match &self.0.parameters {
            Parameters::Raw(document) => Ok(document),
            Parameters::Validated(schema) => Ok(schema.document()),
            Parameters::Lossy(error) => Err(error),
            // No registry accepts such a definition.
            Parameters::Unsupported(_) => Ok(&Json::Null),
        }
    }

    /// The schema that arguments are validated against; `None` for a raw document, which is not enforced.
    #[must_use]
    pub fn parameters_schema(&self) -> Option<&Schema> {
        match &self.0.parameters {
            Parameters::Validated(schema) => Some(schema),
            Parameters::Raw(_) | Parameters::Lossy(_) | Parameters::Unsupported(_) => None,
        }
    }

    /// The schema of the value; `None` only for a definition that no registry accepts.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Schema> {
        self.0.output.as_ref()?.as_ref().ok()
    }

    /// How long a call may take. Metadata: enforced by the timeout policy where that is installed.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }

    /// Whether a failed call may simply be made again. Metadata for a retry policy.
    #[must_use]
    pub fn is_retry_safe(&self) -> bool {
        self.0.is_retry_safe
    }

    /// Whether a call with these arguments may run beside others. False without a classifier, for arguments
    /// that do not validate, and if the classifier panics (contract 2.4).
    #[must_use]
    pub fn is_concurrency_safe(&self, arguments: &Json) -> bool {
        let Some(classify) = &self.0.is_concurrency_safe else {
            return false;
        };
        contain(|| self.violations(arguments).is_empty() && classify(arguments)).unwrap_or(false)
    }

    /// How a call with these arguments is shown. Total: nothing for arguments that do not validate (old logs
    /// must not break a replay) and if the presenter panics (contract 3.13).
    #[must_use]
    pub fn present_call(&self, arguments: &Json) -> Option<CallView> {
        let present = self.0.present_call.as_ref()?;
        contain(|| self.violations(arguments).is_empty().then(|| present(arguments))?).ok()?
    }

    /// How a finished call is shown. Total, as [`ToolDefinition::present_call`].
    #[must_use]
    pub fn present_result(&self, arguments: &Json, outcome: &ToolOutcomeView<'_>) -> Option<ResultView> {
        let present = self.0.present_result.as_ref()?;
        contain(|| self.violations(arguments).is_empty().then(|| present(arguments, outcome))?).ok()?
    }

    pub(crate) fn name_shared(&self) -> &Arc<str> {
        &self.0.name
    }

    pub(crate) fn description_shared(&self) -> &Arc<str> {
        &self.0.description
    }

    /// What [`RegisterError::IncompleteDefinition`](crate::RegisterError::IncompleteDefinition) names.
    pub(crate) fn missing_part(&self) -> Option<&'static str> {
        let parts = [
            ("output.schema", self.0.output.is_some()),
            ("output.render", self.0.render.is_some()),
            ("execute", self.0.execute.is_some()),
        ];
        parts.into_iter().find(|(_, there)| !there).map(|(name, _)| name)
    }

    pub(crate) fn schema_error(&self) -> Option<&JsonSchemaError> {
        match &self.0.parameters {
            Parameters::Unsupported(error) => Some(error),
            _ => self.0.output.as_ref()?.as_ref().err(),
        }
    }

    pub(crate) fn finalizer(&self) -> Option<Callback<FinalizeContent>> {
        self.0.finalize_content.clone()
    }

    /// Starts the body. The future is made and polled by the caller, who contains its panics.
    pub(crate) fn start_body(
        &self,
        arguments: &Json,
        ctx: ToolRunContext,
    ) -> BoxFuture<'static, Result<Json, ToolError>> {
        let violations = self.violations(arguments);
        match &self.0.execute {
            Some(execute) if violations.is_empty() => execute(arguments.clone(), ctx),
            Some(_) => Box::pin(std::future::ready(Err(ToolError::invalid_arguments(&violations)))),
            None => Box::pin(std::future::ready(Err(ToolError::new("the tool has no body")))),
        }
    }

    pub(crate) fn render(&self, arguments: &Json, value: &Json) -> Result<Vec<ContentBlock>, RenderError> {
        match &self.0.render {
            Some(render) => contain(|| render(arguments, value))?,
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn presentation_meta(
        &self,
        arguments: &Json,
        value: &Json,
    ) -> Result<Option<Json>, RenderError> {
        match &self.0.presentation_meta {
            Some(meta) => contain(|| meta(arguments, value))?,
            None => Ok(None),
        }
    }

    /// What the arguments break; always nothing for a raw definition (contract 4.1).
    fn violations(&self, arguments: &Json) -> Vec<String> {
        match &self.0.parameters {
            Parameters::Validated(schema) => schema.validate(arguments, ""),
            Parameters::Raw(_) | Parameters::Lossy(_) | Parameters::Unsupported(_) => Vec::new(),
        }
    }
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDefinition").field("name", &self.0.name).finish_non_exhaustive()
    }
}

/// What a body is given besides its arguments. Clones are the same run.
#[derive(Clone)]
pub struct ToolRunContext {
    execution: ToolExecution,
    signal: Signal,
}

impl ToolRunContext {
    pub(crate) fn new(execution: ToolExecution, signal: Signal) -> Self {
        Self { execution, signal }
    }

    /// The token of this execution; the `parent` of calls made on its behalf.
    #[must_use]
    pub fn token(&self) -> Token {
        self.execution.token()
    }

    /// The caller's id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        self.execution.call_id()
    }

    /// The name under which the tool was called.
    #[must_use]
    pub fn name(&self) -> &str {
        self.execution.name()
    }

    /// Cancelled when the result is no longer wanted: by the caller, by a wrapper such as the timeout policy,
    /// or because the whole call was dropped.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use code_mode_registry::{ToolError, ToolRunContext};
    ///
    /// async fn wait(ctx: ToolRunContext) -> Result<&'static str, ToolError> {
    ///     tokio::select! {
    ///         reason = ctx.signal().cancelled() => Err(ToolError::new(format!("stopped: {reason}"))),
    ///         () = tokio::time::sleep(Duration::from_secs(5)) => Ok("waited"),
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn signal(&self) -> &Signal {
        &self.signal
    }

    /// The agent on whose behalf the call is made.
    #[must_use]
    pub fn agent(&self) -> Option<&Agent> {
        self.execution.agent()
    }

    /// The token of the enclosing execution, if this is a sub-call.
    #[must_use]
    pub fn parent(&self) -> Option<Token> {
        self.execution.parent()
    }

    /// The execution as policies see it.
    #[must_use]
    pub fn execution(&self) -> &ToolExecution {
        &self.execution
    }

    /// Adds something for the model to read after the results of the step. Kept also if the body fails later
    /// (contract 3.12). Without effect after the body has settled.
    pub fn defer_context(&self, context: AdditionalContext) {
        self.execution.defer_context(context);
    }
}

impl fmt::Debug for ToolRunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.execution.fmt(f)
    }
}

/// Calls a finalizer with its panics contained.
pub(crate) fn call_finalizer(
    finalize: &FinalizeContent,
    execution: &ToolExecution,
    result: &ToolResult,
) -> Result<Option<Vec<ContentBlock>>, ToolError> {
    contain_result(|| finalize(execution, result))
}
