//! What is told of a tool, and the filter over what an agent sees.

use std::sync::Arc;

use code_mode_schema::Json;
use serde::{Deserialize, Serialize};

use crate::{
    error::ProjectionError,
    tool::{ToolBuilder, ToolDefinition},
};

/// What the model is told of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSchema {
    /// The name.
    pub name: Arc<str>,
    /// The description.
    pub description: Arc<str>,
    /// The JSON schema of the arguments.
    pub parameters: Json,
}

impl ToolSchema {
    pub(crate) fn of(tool: &ToolDefinition) -> Result<Self, ProjectionError> {
        let parameters = tool.parameters().map_err(|error| ProjectionError {
            tool: Arc::clone(tool.name_shared()),
            error: error.clone(),
        })?;
        Ok(Self {
            name: Arc::clone(tool.name_shared()),
            description: Arc::clone(tool.description_shared()),
            parameters: parameters.clone(),
        })
    }
}

/// Whether a call may run beside others (contract 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ExecutionMode {
    /// It may run beside other parallel calls.
    Parallel,
    /// It runs alone.
    Exclusive,
}

/// A visibility filter over the global tools, for one agent (contract 2.3). Visibility, not authority: it
/// hides tools, it does not protect anything a visible tool can reach.
#[derive(Clone, Debug, Default)]
pub struct Restriction {
    pub(crate) allow: Option<Vec<Arc<str>>>,
    pub(crate) deny: Option<Vec<Arc<str>>>,
}

impl Restriction {
    /// Shows only these global tools. Tools registered later stay hidden.
    #[must_use]
    pub fn allow<T: Into<Arc<str>>>(names: impl IntoIterator<Item = T>) -> Self {
        Self { allow: Some(names.into_iter().map(Into::into).collect()), deny: None }
    }

    /// Hides these global tools. Tools registered later are visible.
    #[must_use]
    pub fn deny<T: Into<Arc<str>>>(names: impl IntoIterator<Item = T>) -> Self {
        Self { allow: None, deny: Some(names.into_iter().map(Into::into).collect()) }
    }

    /// Hides these as well.
    #[must_use]
    pub fn and_deny<T: Into<Arc<str>>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.deny.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }
}

/// The tool that runs programs, and the language it runs; for
/// [`ToolRegistry::install_transport`](crate::ToolRegistry::install_transport).
#[derive(Clone, Debug)]
pub struct Transport {
    definition: ToolDefinition,
    language: Arc<str>,
}

/// The only language the generated SDK speaks.
pub(crate) const TYPESCRIPT: &str = "typescript";

impl Transport {
    /// A transport for programs in `language`. Only `typescript` fits the generated SDK; with any other,
    /// prompt assembly and calls of `run_code` fail and say so.
    #[must_use]
    pub fn new(definition: impl Into<ToolDefinition>, language: impl Into<Arc<str>>) -> Self {
        Self { definition: definition.into(), language: language.into() }
    }

    pub(crate) fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    pub(crate) fn language(&self) -> &str {
        &self.language
    }
}

impl From<ToolDefinition> for Transport {
    /// A TypeScript transport.
    fn from(definition: ToolDefinition) -> Self {
        Self::new(definition, TYPESCRIPT)
    }
}

impl From<ToolBuilder> for Transport {
    /// A TypeScript transport.
    fn from(builder: ToolBuilder) -> Self {
        Self::new(builder, TYPESCRIPT)
    }
}
