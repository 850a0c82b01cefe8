//! The builder of a tool from JSON parts.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use code_mode_schema::{Json, json};

use super::{
    Definition, FinalizeContent, Parameters, ToolDefinition, ToolRunContext,
    convert::{IntoContent, IntoMeta, IntoOutputSchema, IntoParameters},
};
use crate::{
    content::ContentBlock,
    error::ToolError,
    execution::{ToolExecution, ToolResult},
    presentation::{CallView, ResultView, ToolOutcomeView},
};

/// Builds a [`ToolDefinition`] from JSON parts; see [`ToolDefinition::builder`].
#[must_use]
pub struct ToolBuilder {
    definition: Definition,
}

impl ToolBuilder {
    pub(super) fn new(name: Arc<str>) -> Self {
        let definition = Definition {
            name,
            description: Arc::from(""),
            parameters: Parameters::Raw(json!({"type": "object", "properties": {}})),
            output: None,
            render: None,
            presentation_meta: None,
            execute: None,
            finalize_content: None,
            timeout: None,
            is_concurrency_safe: None,
            present_call: None,
            present_result: None,
            is_retry_safe: false,
        };
        Self { definition }
    }

    /// What the model reads about the tool. Default: empty.
    pub fn description(mut self, description: impl Into<Arc<str>>) -> Self {
        self.definition.description = description.into();
        self
    }

    /// The schema of the arguments. A raw [`Json`] document goes to the model as it is and nothing is
    /// validated; a compiled [`Schema`](code_mode_schema::Schema) or a spec of the author DSL validates every
    /// call before the body. Default: an open object without properties.
    ///
    /// [`Schema::full`](code_mode_schema::Schema::full) takes what is wrong in a schema of others for not there;
    /// [`Schema::warning`](code_mode_schema::Schema::warning) says what that is. A raw document is not looked at: that
    /// it describes an object is the author's care.
    pub fn parameters(mut self, parameters: impl IntoParameters) -> Self {
        self.definition.parameters = parameters.into_parameters().0;
        self
    }

    /// The schema of the value: a raw [`Json`] document of the supported subset (contract 4.2), a spec of the
    /// author DSL, or a compiled [`Schema`](code_mode_schema::Schema) of either vocabulary. Mandatory.
    pub fn output(mut self, schema: impl IntoOutputSchema) -> Self {
        self.definition.output = Some(schema.into_output_schema());
        self
    }

    /// Turns arguments and value into what the model reads. Pure. Mandatory.
    pub fn render<R: IntoContent>(
        mut self,
        render: impl Fn(&Json, &Json) -> R + Send + Sync + 'static,
    ) -> Self {
        self.definition.render =
            Some(Box::new(move |arguments, value| render(arguments, value).into_content()));
        self
    }

    /// Computes meta for the host's display; evaluated only for calls without a parent.
    pub fn presentation_meta<R: IntoMeta>(
        mut self,
        meta: impl Fn(&Json, &Json) -> R + Send + Sync + 'static,
    ) -> Self {
        self.definition.presentation_meta =
            Some(Box::new(move |arguments, value| meta(arguments, value).into_meta()));
        self
    }

    /// The body. Mandatory. Once started it is always awaited to its end; it may watch
    /// [`ToolRunContext::signal`] to stop early.
    pub fn execute<F, Fut>(mut self, body: F) -> Self
    where
        F: Fn(Json, ToolRunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json, ToolError>> + Send + 'static,
    {
        self.definition.execute = Some(Box::new(move |arguments, ctx| Box::pin(body(arguments, ctx))));
        self
    }

    /// Last word on the content of every call of the tool, failures included; called exactly once per call,
    /// also if the tool was unregistered meanwhile. `Ok(None)` keeps the content (contract 3.9).
    pub fn finalize_content<F>(mut self, finalize: F) -> Self
    where
        F: Fn(&ToolExecution, &ToolResult) -> Result<Option<Vec<ContentBlock>>, ToolError>
            + Send
            + Sync
            + 'static,
    {
        let finalize: Arc<FinalizeContent> = Arc::new(finalize);
        self.definition.finalize_content = Some(finalize.into());
        self
    }

    /// How long a call may take: more than zero, at most 2 147 483 647 ms. Enforced by the timeout policy
    /// only.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = Some(timeout);
        self
    }

    /// Declares which calls may run beside others.
    pub fn concurrency_safe(mut self, classify: impl Fn(&Json) -> bool + Send + Sync + 'static) -> Self {
        self.definition.is_concurrency_safe = Some(Box::new(classify));
        self
    }

    /// Declares that every call runs alone. This is the default.
    pub fn exclusive(mut self) -> Self {
        self.definition.is_concurrency_safe = None;
        self
    }

    /// Declares that a failed call may simply be made again; see the retry policy.
    pub fn retry_safe(mut self) -> Self {
        self.definition.is_retry_safe = true;
        self
    }

    /// How a call is shown. Pure.
    pub fn present_call(
        mut self,
        present: impl Fn(&Json) -> Option<CallView> + Send + Sync + 'static,
    ) -> Self {
        self.definition.present_call = Some(Box::new(present));
        self
    }

    /// How a finished call is shown. Pure.
    pub fn present_result<F>(mut self, present: F) -> Self
    where
        F: Fn(&Json, &ToolOutcomeView<'_>) -> Option<ResultView> + Send + Sync + 'static,
    {
        self.definition.present_result = Some(Box::new(present));
        self
    }

    /// The definition. What is missing or wrong is refused when it is registered.
    #[must_use]
    pub fn build(self) -> ToolDefinition {
        ToolDefinition(Arc::new(self.definition))
    }
}

impl fmt::Debug for ToolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

impl From<ToolBuilder> for ToolDefinition {
    fn from(builder: ToolBuilder) -> Self {
        builder.build()
    }
}
