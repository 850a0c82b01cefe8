//! `run_code` as a tool of a registry: its exact definition, and its installation.
//! Contract 7.1.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use code_mode_codegen::{SdkBuilder, SdkTool};
use code_mode_registry::prompt::places;
use code_mode_registry::{
    Agent, CallKind, CallView, ContentBlock, RUN_CODE, RegisterError, Registration, Section, SectionError,
    Token, ToolDefinition, ToolExecution, ToolRegistry, ToolResult, Transport,
};
use code_mode_schema::{Json, Schema, json};

use crate::render;
use crate::run_code;
use crate::seam::CodeRuntime;

/// `run_code` in a registry: installed while this lives.
///
/// A registry has one, which serves all its agents: each sees its own tools in [`sdk_section`](Self::sdk_section)
/// and in its programs. Registries may share a [`CodeRuntime`].
///
/// ```
/// use std::sync::Arc;
/// use code_mode_registry::{Mode, RegistryConfig, ToolCall, ToolRegistry};
/// use code_mode_runtime::{CodeMode, ThreadRuntime};
/// use code_mode_schema::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code))?;
/// let code_mode = CodeMode::install(&registry, Arc::new(ThreadRuntime::new()?))?;
/// let arguments = json!({"code": "return 6 * 7", "description": "Multiply two numbers"});
/// let tokio = tokio::runtime::Runtime::new()?;
/// let result = tokio.block_on(registry.execute(ToolCall::new("call_1", "run_code", arguments)));
/// assert_eq!(result.text(), "42");
/// # Ok(()) }
/// ```
#[must_use = "run_code is uninstalled when this is dropped"]
#[derive(Debug)]
pub struct CodeMode {
    registry: ToolRegistry,
    sdk: Sdk,
    /// The transport and its section of the system prompt.
    _installed: [Registration; 2],
}

/// How `run_code` behaves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CodeModeConfig {
    /// Whether a note is added where the result alone would mislead the model;
    /// default true.
    pub diagnostics: bool,
}

impl Default for CodeModeConfig {
    fn default() -> Self {
        Self { diagnostics: true }
    }
}

impl CodeMode {
    /// Installs `run_code`, whose programs `runtime` runs.
    ///
    /// # Errors
    /// [`InstallError::Transport`] for a registry in mode `native`, which is that of `ToolRegistry::default()`;
    /// [`InstallError::Section`] if its prompt has a section `tools:sdk` already, as it has while another `CodeMode`
    /// of this registry lives.
    pub fn install(registry: &ToolRegistry, runtime: Arc<dyn CodeRuntime>) -> Result<Self, InstallError> {
        Self::with_config(registry, runtime, CodeModeConfig::default())
    }

    /// As [`install`](Self::install), configured.
    ///
    /// # Errors
    /// As [`install`](Self::install).
    pub fn with_config(
        registry: &ToolRegistry,
        runtime: Arc<dyn CodeRuntime>,
        config: CodeModeConfig,
    ) -> Result<Self, InstallError> {
        let language = runtime.language().to_owned();
        let transport = Transport::new(definition(registry.clone(), runtime, config), language);
        let (name, order) = places::SDK;
        let sdk = Sdk::default();
        let section = Section::made(name, order, {
            let sdk = sdk.clone();
            move |context| Ok(sdk.section_of(&context.tools))
        });
        let section = section.for_programs();
        let installed = [registry.install_transport(transport)?, registry.add_section(None, section)?];
        Ok(Self { registry: registry.clone(), sdk, _installed: installed })
    }

    /// The section of the system prompt that tells a model how to write programs
    /// for the tools that `agent` sees, and declares them; without an agent, for the tools that are
    /// registered for all. The same text for the same tools, whatever their order.
    #[must_use]
    pub fn sdk_section(&self, agent: Option<&Agent>) -> String {
        self.sdk.section_of(&self.registry.view(agent))
    }
}

/// Why `run_code` could not be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The registry refused the tool.
    #[error("`run_code` cannot be installed: {0}; make the registry with `RegistryConfig::new(Mode::Code)`")]
    Transport(#[from] RegisterError),
    /// The prompt refused the section.
    #[error(
        "`run_code` cannot be installed: {0}; a registry has one `CodeMode`, which serves all its agents"
    )]
    Section(#[from] SectionError),
}

/// The `tools:sdk` section. It is asked for at each assembly, and renders only the tools that are
/// not those of the last time.
#[derive(Clone, Default)]
struct Sdk(Arc<Mutex<SdkBuilder>>);

impl Sdk {
    fn section_of(&self, view: &[ToolDefinition]) -> String {
        let anything = json!({});
        let tools: Vec<SdkTool<'_>> = view
            .iter()
            .filter(|tool| tool.name() != RUN_CODE)
            .map(|tool| SdkTool {
                name: tool.name(),
                description: tool.description(),
                parameters: tool.parameters().unwrap_or(&anything),
                output: tool.output_schema().map_or(&anything, Schema::document),
            })
            .collect();
        let mut builder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        builder.update(&tools);
        builder.section().to_owned()
    }
}

impl fmt::Debug for Sdk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sdk")
    }
}

const DESCRIPTION: &str = "Execute a TypeScript program against the available tools. Write the BODY of an async function (erasable syntax only; top-level `await` and `return` work) and call tools as `await tools.name(args)` per the declarations in the system prompt. Only what you print or return comes back — curate it.";
const CODE: &str = "The program: the body of an async TypeScript function.";
const WHAT_FOR: &str = "Clear, concise description of what this program does in active voice, 5-10 words (shown in the UI). Examples: \"Count TODO markers across packages\"; \"Read failing test and its fixture\"; \"Rename config key in every cordis.yml\".";

/// The tool. Contract 7.1.
fn definition(
    registry: ToolRegistry,
    runtime: Arc<dyn CodeRuntime>,
    config: CodeModeConfig,
) -> ToolDefinition {
    let notes = Notes { enabled: config.diagnostics, by_execution: Arc::default() };
    let parameters = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": CODE},
            "description": {"type": "string", "description": WHAT_FOR},
        },
        "required": ["code", "description"],
    });
    ToolDefinition::builder(RUN_CODE)
        .description(DESCRIPTION)
        .parameters(Schema::subset(parameters).expect("the schema is in the subset"))
        .output(json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {"logs": {"type": "array", "items": {"type": "string"}}, "result": {}},
            "required": ["logs"],
        }))
        .render(|_, value| {
            let logs = value.get("logs").and_then(Json::as_array).map_or(&[][..], |logs| logs);
            render::success(&logs.iter().filter_map(Json::as_str).collect::<Vec<_>>(), value.get("result"))
        })
        .present_call(|arguments| {
            let title = arguments.get("description").and_then(Json::as_str)?;
            let mut view = CallView::generic(title);
            if let CallView::Generic { kind, raw_input, .. } = &mut view {
                *kind = Some(CallKind::Execute);
                *raw_input = arguments.get("code").cloned();
            }
            Some(view)
        })
        .finalize_content({
            let notes = notes.clone();
            move |execution, result| Ok(notes.add(execution, result))
        })
        .execute(move |arguments, outer| {
            let (registry, runtime, notes) = (registry.clone(), Arc::clone(&runtime), notes.clone());
            async move { run_code::run(registry, runtime, notes, arguments, outer).await }
        })
        .build()
}

/// What is added to the content of runs that are not finalized yet.
#[derive(Clone)]
pub(crate) struct Notes {
    enabled: bool,
    by_execution: Arc<Mutex<HashMap<Token, Kept>>>,
}

struct Kept {
    note: Option<String>,
    /// The images and sounds of the run's tool calls.
    media: Vec<ContentBlock>,
}

impl Notes {
    /// Whether the host wants notes.
    pub(crate) fn are_on(&self) -> bool {
        self.enabled
    }

    pub(crate) fn keep(&self, execution: Token, note: Option<String>, media: Vec<ContentBlock>) {
        if note.is_some() || !media.is_empty() {
            self.by_execution
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(execution, Kept { note, media });
        }
    }

    /// The content with its note and what else was kept, if anything was.
    fn add(&self, execution: &ToolExecution, result: &ToolResult) -> Option<Vec<ContentBlock>> {
        let Kept { note, media } =
            self.by_execution.lock().unwrap_or_else(PoisonError::into_inner).remove(&execution.token())?;
        // The words of a policy that blocked the result stay as they are.
        if result.error().is_some_and(|failure| failure.code() != Some(run_code::FAILED)) {
            return None;
        }
        let mut content = result.content().to_vec();
        if let Some(note) = note {
            let last = content.pop();
            match last.as_ref().and_then(ContentBlock::as_text) {
                Some(text) => content.push(ContentBlock::text(format!("{text}\n{note}"))),
                None => content.extend(last.into_iter().chain([ContentBlock::text(note)])),
            }
        }
        content.extend(media);
        Some(content)
    }
}
