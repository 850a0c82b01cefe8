//! The tracing of payloads: arguments and results as `tracing` events, for whoever opts in.

use crate::{ContentBlock, Registration, ToolRegistry};

/// Writes the arguments and the results of every call to `tracing`, which without it never sees them.
///
/// Two events of level debug and target `code_mode::payloads`: `tool arguments` with the field `arguments` (JSON text)
/// where the policies begin, and `tool result` with the fields `is_error` and `content` (JSON text) for the final
/// result. Both carry `tool` and `call_id` and stand inside the spans of the call. They hold whatever tools are given
/// and give back, secrets included: install it where the log may hold that.
///
/// ```
/// use code_mode_registry::{ToolRegistry, policy::TracePayloads};
///
/// let registry = ToolRegistry::default();
/// let _traced = TracePayloads::install(&registry);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TracePayloads;

const TARGET: &str = "code_mode::payloads";

impl TracePayloads {
    /// Installs the policy for every call.
    pub fn install(registry: &ToolRegistry) -> Registration {
        let arguments = registry.hooks().prepend().on_pre_execute(|execution, next| async move {
            if let Some(arguments) = execution.arguments() {
                tracing::debug!(
                    target: TARGET,
                    tool = execution.name(),
                    call_id = execution.call_id().as_str(),
                    arguments = %arguments,
                    "tool arguments"
                );
            }
            next.call().await
        });
        let results = registry.on_result(|execution, result| {
            tracing::debug!(
                target: TARGET,
                tool = execution.name(),
                call_id = execution.call_id().as_str(),
                is_error = result.is_error(),
                content = %text_of(result.content()),
                "tool result"
            );
        });
        arguments.and(results)
    }
}

fn text_of(content: &[ContentBlock]) -> String {
    let blocks: Vec<_> = content.iter().map(ContentBlock::to_json).collect();
    code_mode_schema::Json::from(blocks).to_text()
}
