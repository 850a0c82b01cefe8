//! A registry as one agent's own.

use std::sync::Arc;

use crate::{
    config::Mode,
    error::{PresentError, ProjectionError, RegisterError, RestrictError},
    events::Placement,
    execution::{Agent, ToolExecution},
    hooks::Hooks,
    registration::Registration,
    registry::{IntoVerdict, ToolRegistry},
    tool::ToolDefinition,
    visibility::{Restriction, ToolSchema},
};

/// A registry as one agent's own; see [`ToolRegistry::scoped`].
#[derive(Clone, Debug)]
pub struct ScopedRegistry {
    registry: ToolRegistry,
    agent: Agent,
}

impl ScopedRegistry {
    pub(crate) fn new(registry: ToolRegistry, agent: Agent) -> Self {
        Self { registry, agent }
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The registry.
    #[must_use]
    pub fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    /// Registers a tool for this agent only.
    ///
    /// # Errors
    /// As [`ToolRegistry::register`].
    pub fn register(&self, definition: impl Into<ToolDefinition>) -> Result<Registration, RegisterError> {
        self.registry.register_for(&self.agent, definition)
    }

    /// Limits what this agent sees of the global tools.
    ///
    /// # Errors
    /// As [`ToolRegistry::restrict`].
    pub fn restrict(&self, restriction: Restriction) -> Result<Registration, RestrictError> {
        self.registry.restrict(Some(&self.agent), restriction)
    }

    /// Presents the tools to this agent in another mode than the registry's.
    ///
    /// ```
    /// use code_mode_registry::{Agent, Mode, RegistryConfig, ToolRegistry};
    ///
    /// let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code))?;
    /// let helper = Agent::new("helper");
    /// let _native = registry.scoped(&helper).present_as(Mode::Native)?;
    /// assert_eq!(registry.mode_of(Some(&helper)), Mode::Native);
    /// assert_eq!(registry.mode_of(None), Mode::Code);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`ToolRegistry::present_as`].
    pub fn present_as(&self, mode: Mode) -> Result<Registration, PresentError> {
        self.registry.present_as(&self.agent, mode)
    }

    /// Registers a guard for this agent's calls; it runs after the global ones.
    #[must_use = "dropping the registration removes the guard"]
    pub fn guard<R: IntoVerdict>(
        &self,
        guard: impl Fn(&ToolExecution) -> R + Send + Sync + 'static,
    ) -> Registration {
        self.registry.guard_in(
            Some(&self.agent),
            Arc::new(move |execution: &ToolExecution| guard(execution).into_verdict()),
        )
    }

    /// What `name` means to this agent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<ToolDefinition> {
        self.registry.get(name, Some(&self.agent))
    }

    /// The tools this agent sees, in view order.
    #[must_use]
    pub fn view(&self) -> Arc<[ToolDefinition]> {
        self.registry.view(Some(&self.agent))
    }

    /// Names, descriptions and parameters of the tools this agent sees.
    ///
    /// # Errors
    /// As [`ToolRegistry::schemas`].
    pub fn schemas(&self) -> Result<Arc<[ToolSchema]>, ProjectionError> {
        self.registry.schemas(Some(&self.agent))
    }

    /// Registers listeners that hear this agent's calls only.
    pub fn hooks(&self) -> Hooks<'_> {
        Hooks::new(&self.registry, Placement { scope: Some(self.agent.clone()), prepend: false })
    }
}
