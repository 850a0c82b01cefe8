//! Prompt assembly: what goes to the model before the conversation, as plain data (contract 8).
//!
//! An [`Assembly`] is made of sections and of the tools on the wire. Sections come from whoever registers
//! them, are sorted by order, and may be replaced for one agent. Which tools are on the wire is a matter of
//! the [`Mode`]. The listeners of `system-prompt/assemble` have the last word.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    future::Future,
    sync::{Arc, Weak},
};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    config::Mode,
    contain::{Callback, contain_result},
    error::ToolError,
    events::run_waterfall,
    execution::{Agent, AgentIdentity},
    registration::Registration,
    registry::ToolRegistry,
    shared::Shared,
    sync::{read, write},
    tool::ToolDefinition,
    visibility::ToolSchema,
};

mod error;
mod request;
mod variables;
mod wire;

pub use error::{PromptError, SectionError};
pub use variables::{Variable, Variables};

/// Names and orders of the sections that have a fixed place.
pub mod places {
    /// Who the model is.
    pub const IDENTITY: (&str, i32) = ("harness:identity", -100);
    /// What this deployment wants of it.
    pub const PERSONA: (&str, i32) = ("deployment:persona", 0);
    /// That `run_code` is the only direct call; registered by the registry itself in mode `code`.
    pub const CODE_ONLY: (&str, i32) = ("tools:code-only", 99);
    /// The band of guidance for single tools.
    pub const TOOL_GUIDANCE: std::ops::RangeInclusive<i32> = 100..=199;
    /// The approval policy.
    pub const APPROVAL_POLICY: i32 = 115;
    /// The generated declarations of all tools; provided by whoever runs programs.
    pub const SDK: (&str, i32) = ("tools:sdk", 150);
}

/// One section of the system prompt.
#[derive(Clone)]
pub struct Section {
    name: Arc<str>,
    order: i32,
    text: SectionText,
    stands_in: StandsIn,
}

/// In which modes a section stands.
#[derive(Clone, Copy)]
enum StandsIn {
    Any,
    /// Where the model writes programs.
    Programs,
    /// Where it does nothing else.
    ProgramsOnly,
}

impl StandsIn {
    fn holds(self, mode: Mode) -> bool {
        match self {
            Self::Any => true,
            Self::Programs => mode != Mode::Native,
            Self::ProgramsOnly => mode == Mode::Code,
        }
    }
}

#[derive(Clone)]
enum SectionText {
    Fixed(Arc<str>),
    Made(Callback<MakeText>),
}

type MakeText = dyn Fn(&PromptContext) -> Result<String, ToolError> + Send + Sync;

impl Section {
    /// A section of fixed text. Sections are sorted by `order`; equal orders keep their order of
    /// registration.
    #[must_use]
    pub fn text(name: impl Into<Arc<str>>, order: i32, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), order, text: SectionText::Fixed(text.into()), stands_in: StandsIn::Any }
    }

    /// A section whose text is made anew at each assembly. An `Err` fails the assembly.
    #[must_use]
    pub fn made(
        name: impl Into<Arc<str>>,
        order: i32,
        make: impl Fn(&PromptContext) -> Result<String, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let make: Arc<MakeText> = Arc::new(make);
        Self { name: name.into(), order, text: SectionText::Made(make.into()), stands_in: StandsIn::Any }
    }

    /// Leaves the section out for agents to whom tools are presented in mode `native`.
    #[must_use]
    pub fn for_programs(mut self) -> Self {
        self.stands_in = StandsIn::Programs;
        self
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Section")
            .field("name", &self.name)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

/// For whom an assembly is made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptContext {
    /// The agent; `None` for a caller without one.
    pub scope: Option<Agent>,
    /// The mode in which tools are presented to the agent.
    pub mode: Mode,
    /// The tools the agent sees, in view order.
    pub tools: Arc<[ToolDefinition]>,
}

/// What goes to the model: the sections in order, with their variables still in place, and the tools on the
/// wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assembly {
    /// The sections, in order.
    pub system_sections: Vec<SystemSection>,
    /// The tools, in wire order.
    pub tools: Vec<ToolSchema>,
}

/// One section of an [`Assembly`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemSection {
    /// The name.
    pub name: Arc<str>,
    /// The order.
    pub order: i32,
    /// The text; `{{name}}` stands for a variable.
    pub text: Arc<str>,
}

impl Assembly {
    /// The system prompt as one text: variables put in, empty sections left out, the others joined by a blank
    /// line.
    ///
    /// # Errors
    /// [`PromptError::UnknownVariable`] for a `{{name}}` that `variables` does not know, in any section;
    /// [`PromptError::Variable`] if one could not be made.
    pub fn render(&self, variables: &Variables) -> Result<String, PromptError> {
        let mut rendered = Vec::with_capacity(self.system_sections.len());
        for section in &self.system_sections {
            let text = variables.interpolate(&section.name, &section.text)?;
            if !text.is_empty() {
                rendered.push(text);
            }
        }
        Ok(rendered.join("\n\n"))
    }
}

impl ToolRegistry {
    /// Registers a section for every agent, or with `Some` for one, where it replaces a global one of the
    /// same name.
    ///
    /// # Errors
    /// If the name is taken in the same layer.
    pub fn add_section(&self, agent: Option<&Agent>, section: Section) -> Result<Registration, SectionError> {
        let shared = self.shared();
        let id = shared.next_id();
        let (inserted, orphans) = write(&shared.prompt).sections.insert(id, agent, section);
        drop(orphans);
        inserted.map_err(|section| already_registered(&section))?;
        let (shared, agent) = (Arc::downgrade(shared), agent.cloned());
        Ok(Registration::new(move || {
            if let Some(shared) = shared.upgrade() {
                let removed = write(&shared.prompt).sections.remove(id, agent.as_ref());
                drop(removed);
            }
        }))
    }

    /// Registers a variable for section texts, globally or for one agent.
    ///
    /// # Errors
    /// If the name is taken in the same layer.
    pub fn add_variable(
        &self,
        agent: Option<&Agent>,
        variable: Variable,
    ) -> Result<Registration, SectionError> {
        let shared = self.shared();
        let id = shared.next_id();
        let (inserted, orphans) = write(&shared.prompt).variables.insert(id, agent, variable);
        drop(orphans);
        inserted.map_err(|variable| already_registered(&variable))?;
        let (shared, agent) = (Arc::downgrade(shared), agent.cloned());
        Ok(Registration::new(move || {
            if let Some(shared) = shared.upgrade() {
                let removed = write(&shared.prompt).variables.remove(id, agent.as_ref());
                drop(removed);
            }
        }))
    }

    /// The variables as `agent` has them now.
    #[must_use]
    pub fn variables(&self, agent: Option<&Agent>) -> Variables {
        read(&self.shared().prompt).variables.visible(agent).into_iter().collect()
    }

    /// Assembles what goes to the model for `agent`.
    ///
    /// # Errors
    /// Before any model request: no code runtime in a mode that needs one, a section that could not be made,
    /// a `toolOrder` that names unknown tools, a tool named like the rest entry, parameters that are no
    /// lossless JSON, a failing `system-prompt/assemble` listener.
    pub fn assemble(
        &self,
        agent: Option<&Agent>,
    ) -> impl Future<Output = Result<Assembly, PromptError>> + Send + use<> {
        let (shared, scope) = (Arc::clone(self.shared()), agent.cloned());
        async move {
            if let Some(message) = shared.runtime_error(scope.as_ref()) {
                return Err(PromptError::Runtime { message });
            }
            let tools = Arc::clone(&shared.view(scope.as_ref()).tools);
            let mode = shared.mode_of(scope.as_ref());
            let context = PromptContext { scope, mode, tools };
            let assembly = Assembly {
                system_sections: make_sections(&shared, &context)?,
                tools: wire::tools_on_the_wire(&shared, &context)?,
            };
            last_word(&shared, assembly, context).await
        }
    }
}

fn make_sections(shared: &Shared, context: &PromptContext) -> Result<Vec<SystemSection>, PromptError> {
    let mut sections = read(&shared.prompt).sections.visible(context.scope.as_ref());
    sections.retain(|section| section.stands_in.holds(context.mode));
    sections.sort_by_key(|section| section.order);
    let make = |section: Section| {
        let text = match &section.text {
            SectionText::Fixed(text) => Arc::clone(text),
            SectionText::Made(make) => contain_result(|| make(context))
                .map_err(|error| PromptError::Section {
                    section: Arc::clone(&section.name),
                    message: Arc::from(error.message()),
                })?
                .into(),
        };
        Ok(SystemSection { name: section.name, order: section.order, text })
    };
    sections.into_iter().map(make).collect()
}

async fn last_word(
    shared: &Shared,
    assembly: Assembly,
    context: PromptContext,
) -> Result<Assembly, PromptError> {
    let Some(listeners) = shared.assemble.heard_by(context.scope.as_ref()) else {
        return Ok(assembly);
    };
    let assembly = Arc::new(assembly);
    let middle = {
        let assembly = Arc::clone(&assembly);
        Box::new(move || -> BoxFuture<'static, _> {
            Box::pin(std::future::ready(Ok(Assembly::clone(&assembly))))
        })
    };
    run_waterfall(listeners, (assembly, context), middle)
        .await
        .map_err(|error| PromptError::Listener { message: Arc::from(error.message()) })
}

/// What is registered for prompts.
pub(crate) struct PromptParts {
    sections: Named<Section>,
    variables: Named<Variable>,
}

impl PromptParts {
    pub(crate) fn new(mode: Mode) -> Self {
        let mut sections = Named::default();
        if mode != Mode::Native {
            let (name, order) = places::CODE_ONLY;
            let mut section = Section::text(name, order, CODE_ONLY_TEXT);
            section.stands_in = StandsIn::ProgramsOnly;
            // Id 0: before everything that is registered later.
            sections.global.insert(0, section);
        }
        Self { sections, variables: Named::default() }
    }
}

/// Decision 25.
const CODE_ONLY_TEXT: &str = "`run_code` is the only tool you can call directly — a tool call naming any other tool \
     fails. Reach every tool the SDK declares below from inside the program.";

/// Something that has a name and can be replaced per agent.
trait HasName: Clone {
    fn name(&self) -> &Arc<str>;
}

impl HasName for Section {
    fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl HasName for Variable {
    fn name(&self) -> &Arc<str> {
        Variable::name(self)
    }
}

/// Named things in two layers, each in order of registration.
struct Named<T> {
    global: BTreeMap<u64, T>,
    scopes: HashMap<u64, NamedScope<T>>,
}

/// One agent's, with the agent.
type NamedScope<T> = (Weak<AgentIdentity>, BTreeMap<u64, T>);

fn already_registered(item: &impl HasName) -> SectionError {
    SectionError::AlreadyRegistered { name: Arc::clone(item.name()) }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { global: BTreeMap::new(), scopes: HashMap::new() }
    }
}

impl<T: HasName> Named<T> {
    /// Inserts `item`, or gives it back if its name is taken. With it comes what belonged to agents that are gone: what
    /// is dropped may run code of its owner, so it is not dropped under the lock.
    fn insert(&mut self, id: u64, agent: Option<&Agent>, item: T) -> (Result<(), T>, Vec<NamedScope<T>>) {
        let gone = self.scopes.extract_if(|_, (owner, _)| owner.strong_count() == 0);
        let orphans = gone.map(|(_, orphan)| orphan).collect();
        let layer = match agent {
            None => &mut self.global,
            Some(agent) => {
                let scope = self.scopes.entry(agent.id());
                &mut scope.or_insert_with(|| (agent.downgrade(), BTreeMap::new())).1
            }
        };
        if layer.values().any(|known| known.name() == item.name()) {
            return (Err(item), orphans);
        }
        layer.insert(id, item);
        (Ok(()), orphans)
    }

    fn remove(&mut self, id: u64, agent: Option<&Agent>) -> Option<T> {
        match agent {
            None => self.global.remove(&id),
            Some(agent) => self.scopes.get_mut(&agent.id())?.1.remove(&id),
        }
    }

    /// The global ones, each replaced in place by the agent's of the same name, then the agent's others.
    fn visible(&self, agent: Option<&Agent>) -> Vec<T> {
        let own = agent.and_then(|agent| self.scopes.get(&agent.id())).map(|(_, own)| own);
        let Some(own) = own else {
            return self.global.values().cloned().collect();
        };
        let mut by_name: HashMap<_, _> = own.values().map(|item| (item.name(), item)).collect();
        let global = self.global.values().map(|item| by_name.remove(item.name()).unwrap_or(item));
        let mut visible: Vec<T> = global.cloned().collect();
        let rest: HashSet<_> = by_name.into_keys().collect();
        visible.extend(own.values().filter(|item| rest.contains(item.name())).cloned());
        visible
    }
}
