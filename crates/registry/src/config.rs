//! How a registry is configured.

use std::{collections::HashSet, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::error::ConfigError;

/// How a registry behaves. JSON: `{"mode": "native" | "code" | "both", "maxParallelSubCalls": 10,
/// "toolOrder"?: […]}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RegistryConfig {
    /// How tools are offered to the model. Default `native`.
    pub mode: Mode,
    /// How many sub-calls of one program may run at the same time; more queue. Default 10, at least 1 in
    /// every mode but `native`.
    pub max_parallel_sub_calls: usize,
    /// The order of tools on the wire: unique names with exactly one `<unlisted-tools>` where the rest goes.
    /// Default `None`: lexicographic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_order: Option<Vec<Arc<str>>>,
}

/// Stands for all tools that `tool_order` does not name.
pub const UNLISTED_TOOLS: &str = "<unlisted-tools>";

impl RegistryConfig {
    /// The defaults, in `mode`.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, max_parallel_sub_calls: 10, tool_order: None }
    }

    /// Sets [`RegistryConfig::max_parallel_sub_calls`].
    #[must_use]
    pub fn with_max_parallel_sub_calls(mut self, max: usize) -> Self {
        self.max_parallel_sub_calls = max;
        self
    }

    /// Sets [`RegistryConfig::tool_order`].
    #[must_use]
    pub fn with_tool_order<T: Into<Arc<str>>>(mut self, order: impl IntoIterator<Item = T>) -> Self {
        self.tool_order = Some(order.into_iter().map(Into::into).collect());
        self
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.mode != Mode::Native && self.max_parallel_sub_calls == 0 {
            return Err(ConfigError::MaxParallelSubCalls { got: self.max_parallel_sub_calls });
        }
        let Some(order) = &self.tool_order else {
            return Ok(());
        };
        let mut seen = HashSet::new();
        if let Some(name) = order.iter().find(|name| !seen.insert(Arc::clone(name))) {
            return Err(ConfigError::DuplicateInToolOrder { name: Arc::clone(name) });
        }
        if !seen.contains(UNLISTED_TOOLS) {
            return Err(ConfigError::RestEntry);
        }
        Ok(())
    }
}

impl Default for RegistryConfig {
    fn default() -> Self {
        Self::new(Mode::Native)
    }
}

/// How tools are offered to the model (contract 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every tool on the wire, no programs.
    #[default]
    Native,
    /// Only `run_code` on the wire; every other tool is called from programs (decision 25).
    Code,
    /// Every tool on the wire, and `run_code`.
    Both,
}

impl Mode {
    /// The name in configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Code => "code",
            Self::Both => "both",
        }
    }
}
