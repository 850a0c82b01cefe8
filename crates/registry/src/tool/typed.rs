//! The builder of a tool over Rust types: schemas from `schemars`, values through serde.

use std::{any::type_name, fmt, future::Future, marker::PhantomData, sync::Arc, time::Duration};

use code_mode_schema::{Json, Schema, from_json, to_json};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    ToolBuilder, ToolDefinition, ToolRunContext,
    convert::{IntoContent, IntoMeta},
};
use crate::{
    content::ContentBlock,
    error::ToolError,
    execution::{ToolExecution, ToolResult},
    presentation::{CallView, ResultView, ToolOutcomeView},
};

/// Builds a [`ToolDefinition`] over Rust types; see [`ToolDefinition::typed`].
#[must_use]
pub struct TypedToolBuilder<A, O> {
    builder: ToolBuilder,
    types: PhantomData<fn(A) -> O>,
}

impl<A: DeserializeOwned + 'static, O: 'static> TypedToolBuilder<A, O> {
    pub(super) fn new<F, Fut>(name: Arc<str>, description: Arc<str>, body: F) -> Self
    where
        A: schemars::JsonSchema,
        O: Serialize + schemars::JsonSchema,
        F: Fn(A, ToolRunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        let builder = ToolBuilder::new(name)
            .description(description)
            .parameters(Schema::of::<A>())
            .output(Schema::of_output::<O>())
            .render(|_, value| value.as_str().map_or_else(|| value.to_text(), str::to_owned))
            .execute(move |arguments, ctx| {
                let running = parse_arguments(&arguments).map(|typed| body(typed, ctx));
                async move { to_json(&running?.await?).map_err(ToolError::lossy_output) }
            });
        Self { builder, types: PhantomData }
    }

    /// Replaces the renderer. It sees the arguments as a Rust value and the canonical value as JSON.
    pub fn render<R: IntoContent>(self, render: impl Fn(&A, &Json) -> R + Send + Sync + 'static) -> Self {
        self.map(|builder| {
            builder.render(move |arguments, value| render(&parse_arguments(arguments)?, value).into_content())
        })
    }

    /// As [`ToolBuilder::presentation_meta`], over the Rust arguments.
    pub fn presentation_meta<R: IntoMeta>(
        self,
        meta: impl Fn(&A, &Json) -> R + Send + Sync + 'static,
    ) -> Self {
        self.map(|builder| {
            builder.presentation_meta(move |arguments, value| {
                meta(&parse_arguments(arguments)?, value).into_meta()
            })
        })
    }

    /// As [`ToolBuilder::concurrency_safe`], over the Rust arguments.
    pub fn concurrency_safe(self, classify: impl Fn(&A) -> bool + Send + Sync + 'static) -> Self {
        self.map(|builder| {
            builder.concurrency_safe(move |arguments| {
                parse_arguments(arguments).is_ok_and(|typed| classify(&typed))
            })
        })
    }

    /// As [`ToolBuilder::exclusive`].
    pub fn exclusive(self) -> Self {
        self.map(ToolBuilder::exclusive)
    }

    /// As [`ToolBuilder::retry_safe`].
    pub fn retry_safe(self) -> Self {
        self.map(ToolBuilder::retry_safe)
    }

    /// As [`ToolBuilder::timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        self.map(|builder| builder.timeout(timeout))
    }

    /// As [`ToolBuilder::finalize_content`].
    pub fn finalize_content<F>(self, finalize: F) -> Self
    where
        F: Fn(&ToolExecution, &ToolResult) -> Result<Option<Vec<ContentBlock>>, ToolError>
            + Send
            + Sync
            + 'static,
    {
        self.map(|builder| builder.finalize_content(finalize))
    }

    /// As [`ToolBuilder::present_call`], over the Rust arguments.
    pub fn present_call(self, present: impl Fn(&A) -> Option<CallView> + Send + Sync + 'static) -> Self {
        self.map(|builder| builder.present_call(move |arguments| present(&parse_arguments(arguments).ok()?)))
    }

    /// As [`ToolBuilder::present_result`], over the Rust arguments.
    pub fn present_result<F>(self, present: F) -> Self
    where
        F: Fn(&A, &ToolOutcomeView<'_>) -> Option<ResultView> + Send + Sync + 'static,
    {
        self.map(|builder| {
            builder
                .present_result(move |arguments, outcome| present(&parse_arguments(arguments).ok()?, outcome))
        })
    }

    /// The definition.
    #[must_use]
    pub fn build(self) -> ToolDefinition {
        self.builder.build()
    }

    fn map(self, change: impl FnOnce(ToolBuilder) -> ToolBuilder) -> Self {
        Self { builder: change(self.builder), types: PhantomData }
    }
}

impl<A, O> fmt::Debug for TypedToolBuilder<A, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedToolBuilder")
            .field("builder", &self.builder)
            .field("arguments", &type_name::<A>())
            .field("output", &type_name::<O>())
            .finish()
    }
}

impl<A: DeserializeOwned + 'static, O: 'static> From<TypedToolBuilder<A, O>> for ToolDefinition {
    fn from(builder: TypedToolBuilder<A, O>) -> Self {
        builder.build()
    }
}

/// The Rust value of arguments that passed the schema. A type may refuse more than its schema says.
fn parse_arguments<A: DeserializeOwned>(arguments: &Json) -> Result<A, ToolError> {
    from_json(arguments).map_err(|error| ToolError::invalid_arguments(&[error.to_string()]))
}
