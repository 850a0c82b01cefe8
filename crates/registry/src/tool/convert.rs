//! What the builders take and what callbacks may return, each as one small trait.

use std::{any::Any, error::Error, fmt};

use code_mode_schema::{Json, JsonSchemaError, LosslessError, ParameterSchemaSpec, Schema, ValueSchemaSpec};

use super::Parameters;
use crate::{content::ContentBlock, error::ToolError};

/// Why a renderer gave nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum RenderError {
    /// It failed.
    Failed(ToolError),
    /// What it gave is no lossless JSON.
    Lossy(LosslessError),
}

impl From<ToolError> for RenderError {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}

/// A [`LosslessError`] says that the output is lossy; any other standard error is a failure with its text.
impl<E: Error + Send + Sync + 'static> From<E> for RenderError {
    fn from(error: E) -> Self {
        match (&error as &dyn Any).downcast_ref::<LosslessError>() {
            Some(lossy) => Self::Lossy(lossy.clone()),
            None => Self::Failed(ToolError::from(error)),
        }
    }
}

/// What a renderer may return: text, a block, blocks, or a `Result` of either.
#[diagnostic::on_unimplemented(note = "for a value that is no text: `value.to_text()`")]
pub trait IntoContent {
    /// The blocks.
    #[expect(clippy::missing_errors_doc, reason = "a conversion that hands on an error it was given")]
    fn into_content(self) -> Result<Vec<ContentBlock>, RenderError>;
}

impl IntoContent for ContentBlock {
    fn into_content(self) -> Result<Vec<ContentBlock>, RenderError> {
        Ok(vec![self])
    }
}

impl IntoContent for Vec<ContentBlock> {
    fn into_content(self) -> Result<Vec<ContentBlock>, RenderError> {
        Ok(self)
    }
}

impl IntoContent for String {
    fn into_content(self) -> Result<Vec<ContentBlock>, RenderError> {
        Ok(vec![ContentBlock::text(self)])
    }
}

impl IntoContent for &str {
    fn into_content(self) -> Result<Vec<ContentBlock>, RenderError> {
        Ok(vec![ContentBlock::text(self)])
    }
}

impl<T: IntoContent> IntoContent for Result<T, RenderError> {
    fn into_content(self) -> Result<Vec<ContentBlock>, RenderError> {
        self?.into_content()
    }
}

/// What `presentation_meta` may return: JSON, nothing, or a `Result` of either.
pub trait IntoMeta {
    /// The meta, if any.
    #[expect(clippy::missing_errors_doc, reason = "a conversion that hands on an error it was given")]
    fn into_meta(self) -> Result<Option<Json>, RenderError>;
}

impl IntoMeta for Json {
    fn into_meta(self) -> Result<Option<Json>, RenderError> {
        Ok(Some(self))
    }
}

impl IntoMeta for Option<Json> {
    fn into_meta(self) -> Result<Option<Json>, RenderError> {
        Ok(self)
    }
}

impl<T: IntoMeta> IntoMeta for Result<T, RenderError> {
    fn into_meta(self) -> Result<Option<Json>, RenderError> {
        self?.into_meta()
    }
}

/// What [`ToolBuilder::parameters`](super::ToolBuilder::parameters) takes: a raw [`Json`] document or the
/// outcome of [`to_json`](code_mode_schema::to_json), which goes to the model as it is; or a compiled
/// [`Schema`] or a spec of the author DSL, which also validates every call.
#[diagnostic::on_unimplemented(
    note = "from a `serde_json::Value`: `Json::try_from(value)`, or `Schema::full` of it to validate every call"
)]
pub trait IntoParameters {
    /// The parameters in the builder's own form.
    fn into_parameters(self) -> ToolParameters;
}

/// The builder's own form of parameters; made by [`IntoParameters`].
pub struct ToolParameters(pub(super) Parameters);

impl fmt::Debug for ToolParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolParameters")
    }
}

impl IntoParameters for Json {
    fn into_parameters(self) -> ToolParameters {
        ToolParameters(Parameters::Raw(self))
    }
}

impl IntoParameters for Schema {
    fn into_parameters(self) -> ToolParameters {
        ToolParameters(Parameters::Validated(self))
    }
}

impl IntoParameters for ParameterSchemaSpec {
    /// Compiled here; what is wrong with it is refused when the tool is registered.
    fn into_parameters(self) -> ToolParameters {
        ToolParameters(self.compile().map_or_else(Parameters::Unsupported, Parameters::Validated))
    }
}

impl IntoParameters for Result<Json, LosslessError> {
    fn into_parameters(self) -> ToolParameters {
        ToolParameters(self.map_or_else(Parameters::Lossy, Parameters::Raw))
    }
}

/// What [`ToolBuilder::output`](super::ToolBuilder::output) takes: a raw document of the subset, a spec of
/// the author DSL, or a compiled [`Schema`] of either vocabulary.
#[diagnostic::on_unimplemented(note = "from a `serde_json::Value`: `Schema::full(Json::try_from(value)?)`")]
pub trait IntoOutputSchema {
    /// The compiled schema, or why the document is outside the subset.
    #[expect(clippy::missing_errors_doc, reason = "a conversion; the error is kept for the registration")]
    fn into_output_schema(self) -> Result<Schema, JsonSchemaError>;
}

impl IntoOutputSchema for Json {
    fn into_output_schema(self) -> Result<Schema, JsonSchemaError> {
        Schema::subset(self)
    }
}

impl IntoOutputSchema for Schema {
    fn into_output_schema(self) -> Result<Schema, JsonSchemaError> {
        Ok(self)
    }
}

impl IntoOutputSchema for ValueSchemaSpec {
    fn into_output_schema(self) -> Result<Schema, JsonSchemaError> {
        self.compile()
    }
}
