//! The tools of an assembly in the request shapes of common model interfaces.

use std::sync::Arc;

use code_mode_schema::{Json, json};

use super::Assembly;
use crate::visibility::ToolSchema;

impl Assembly {
    /// `[{"type":"function","function":{name, description, parameters}}]`, as OpenAI-style chat completion
    /// takes them.
    #[must_use]
    pub fn to_function_tools(&self) -> Json {
        self.tools
            .iter()
            .map(|tool| json!({"type": "function", "function": described(tool, "parameters")}))
            .collect::<Vec<_>>()
            .into()
    }

    /// `[{name, description, "input_schema"}]`, as Anthropic-style messages take them.
    #[must_use]
    pub fn to_message_tools(&self) -> Json {
        self.tools.iter().map(|tool| described(tool, "input_schema")).collect::<Vec<_>>().into()
    }

    /// `[{name, description, "inputSchema"}]`, the tools of an MCP `tools/list` result.
    #[must_use]
    pub fn to_mcp_tools(&self) -> Json {
        self.tools.iter().map(|tool| described(tool, "inputSchema")).collect::<Vec<_>>().into()
    }
}

fn described(tool: &ToolSchema, parameters: &'static str) -> Json {
    let fields = [
        ("name", Json::String(Arc::clone(&tool.name))),
        ("description", Json::String(Arc::clone(&tool.description))),
        (parameters, tool.parameters.clone()),
    ];
    Json::Object(fields.into_iter().collect())
}
