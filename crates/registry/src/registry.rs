//! The registry: tools by scope, what each agent sees of them, and everything that can be registered beside
//! them.

use std::{
    collections::HashSet,
    fmt,
    future::Future,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::{
    config::{Mode, RegistryConfig},
    error::{ConfigError, PresentError, ProjectionError, RegisterError, RestrictError, ToolError},
    events::Placement,
    execution::{Agent, Dispatch, ToolCall, ToolExecution, ToolResult},
    hooks::Hooks,
    layers::{Filter, Guard},
    pipeline,
    registration::Registration,
    scoped::ScopedRegistry,
    shared::Shared,
    sync::write,
    tool::ToolDefinition,
    visibility::{ExecutionMode, Restriction, ToolSchema, Transport},
};

/// The name of the one tool that runs programs; reserved in every mode but `native`.
pub const RUN_CODE: &str = "run_code";

/// Tools and the pipeline every call of them passes through. Clones are the same registry.
///
/// ```
/// use code_mode_registry::{ToolCall, ToolDefinition, ToolError, ToolRegistry};
/// use code_mode_schema::{Json, json};
///
/// let registry = ToolRegistry::default();
/// let double = ToolDefinition::builder("double")
///     .parameters(json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}))
///     .output(json!({"type": "number"}))
///     .render(|_, value| value.to_text())
///     .execute(|args: Json, _| async move {
///         let n = args.get("n").and_then(Json::as_i64).ok_or_else(|| ToolError::new("n must be an integer"))?;
///         Ok(Json::try_from(n * 2)?)
///     });
/// let _registration = registry.register(double).unwrap();
///
/// let result = futures::executor::block_on(registry.execute(ToolCall::new("1", "double", json!({"n": 21}))));
/// assert_eq!(result.text(), "42");
/// ```
#[derive(Clone)]
pub struct ToolRegistry {
    shared: Arc<Shared>,
}

impl ToolRegistry {
    /// An empty registry.
    ///
    /// # Errors
    /// [`ConfigError::MaxParallelSubCalls`] if the number is 0 in mode `code` or `both`;
    /// [`ConfigError::DuplicateInToolOrder`] and [`ConfigError::RestEntry`] for a `tool_order` that is none.
    pub fn new(config: RegistryConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self::with_config(config))
    }

    fn with_config(config: RegistryConfig) -> Self {
        Self { shared: Arc::new(Shared::new(config)) }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &RegistryConfig {
        &self.shared.config
    }

    /// Registers a tool for every agent.
    ///
    /// # Errors
    /// In this order: the definition is incomplete, its output schema is unsupported, its timeout is out of
    /// range, its name is reserved or taken; last, a change listener failed (the registration is then rolled
    /// back).
    pub fn register(&self, definition: impl Into<ToolDefinition>) -> Result<Registration, RegisterError> {
        self.register_in(None, definition.into())
    }

    /// Registers a tool for one agent; it shadows a global tool of the same name.
    ///
    /// # Errors
    /// As [`ToolRegistry::register`].
    pub fn register_for(
        &self,
        agent: &Agent,
        definition: impl Into<ToolDefinition>,
    ) -> Result<Registration, RegisterError> {
        self.register_in(Some(agent), definition.into())
    }

    /// The same registry as one agent's own: what is registered through it is heard and seen by that agent
    /// only.
    #[must_use]
    pub fn scoped(&self, agent: &Agent) -> ScopedRegistry {
        ScopedRegistry::new(self.clone(), agent.clone())
    }

    /// Installs the tool that runs programs, always last in every view of modes `code` and `both`. It
    /// replaces the one before it until its registration ends.
    ///
    /// # Errors
    /// [`RegisterError::NoTransport`] for another name than `run_code` or in mode `native`, and the checks of
    /// [`ToolRegistry::register`].
    pub fn install_transport(&self, transport: impl Into<Transport>) -> Result<Registration, RegisterError> {
        let transport = transport.into();
        check_definition(transport.definition())?;
        if self.shared.config.mode == Mode::Native || transport.definition().name() != RUN_CODE {
            return Err(RegisterError::NoTransport);
        }
        let id = self.shared.change(|layers| {
            let id = layers.next_id();
            layers.transports_mut().insert(id, transport);
            id
        });
        self.shared
            .confirm_change(move |layers| layers.transports_mut().remove(&id))
            .map_err(|message| RegisterError::ChangeListener { message })
    }

    /// Limits what one agent sees of the global tools; `None` in place of the agent is refused.
    ///
    /// # Errors
    /// In this order: no agent, neither allow nor deny, `run_code` named in a mode that reserves it, names
    /// that are no global tools; last, a change listener failed (the filter is then taken back).
    pub fn restrict(
        &self,
        agent: Option<&Agent>,
        restriction: Restriction,
    ) -> Result<Registration, RestrictError> {
        let agent = agent.ok_or(RestrictError::RequiresScope)?;
        let Restriction { allow, deny } = restriction;
        if allow.is_none() && deny.is_none() {
            return Err(RestrictError::NoOp);
        }
        let named = || allow.iter().chain(&deny).flatten();
        if self.shared.config.mode != Mode::Native && named().any(|name| &**name == RUN_CODE) {
            return Err(RestrictError::Reserved);
        }
        let id = self.shared.change(|layers| {
            let mut seen = HashSet::new();
            let unknown: Vec<_> = named()
                .filter(|name| !layers.global.contains(name) && seen.insert(Arc::clone(name)))
                .cloned()
                .collect();
            if !unknown.is_empty() {
                let mut known: Vec<_> = layers.global.names().cloned().collect();
                known.sort_unstable();
                return Err(RestrictError::UnknownTools { unknown, known });
            }
            let filter = Filter::new(allow.as_deref(), deny.as_deref());
            let id = layers.next_id();
            layers.filters_mut(agent).insert(id, filter);
            Ok(id)
        })?;
        let agent = agent.clone();
        self.shared
            .confirm_change(move |layers| layers.filters_mut(&agent).remove(&id))
            .map_err(|message| RestrictError::ChangeListener { message })
    }

    /// Presents the tools to one agent in another mode than [`RegistryConfig::mode`]: what is on its wire, the
    /// built-in sections of its prompt, the names legal in its `toolOrder`, whether its direct calls are refused, and
    /// whether it sees `run_code` at all. The last registration is in force until it ends. Which names are reserved
    /// stays a matter of the registry's own mode.
    ///
    /// Change listeners are told when it begins and when it ends.
    ///
    /// # Errors
    /// [`PresentError::NoPrograms`] for another mode than `native` where the registry's own is `native`, because
    /// `run_code` is then an ordinary name; last, a change listener failed (the mode is then taken back).
    pub fn present_as(&self, agent: &Agent, mode: Mode) -> Result<Registration, PresentError> {
        if self.shared.config.mode == Mode::Native && mode != Mode::Native {
            return Err(PresentError::NoPrograms { mode });
        }
        let id = self.shared.change(|layers| {
            let id = layers.next_id();
            layers.modes_mut(agent).insert(id, mode);
            id
        });
        let agent = agent.clone();
        self.shared
            .confirm_change(move |layers| layers.modes_mut(&agent).remove(&id))
            .map_err(|message| PresentError::ChangeListener { message })
    }

    /// The mode in which tools are presented to `agent`: its own, else that of the registry.
    #[must_use]
    pub fn mode_of(&self, agent: Option<&Agent>) -> Mode {
        self.shared.mode_of(agent)
    }

    /// Registers a guard for every call. Guards look at allowed calls, the global ones first, then the
    /// agent's, each in insertion order; the first reason denies the call. A guard cannot allow what another
    /// denied. It must not block: what has to wait is a policy ([`Hooks::on_pre_execute`]).
    #[must_use = "dropping the registration removes the guard"]
    pub fn guard<R: IntoVerdict>(
        &self,
        guard: impl Fn(&ToolExecution) -> R + Send + Sync + 'static,
    ) -> Registration {
        self.guard_in(None, Arc::new(move |execution: &ToolExecution| guard(execution).into_verdict()))
    }

    /// What `name` means to `agent` (to a caller without agent for `None`), filters and shadows considered.
    #[must_use]
    pub fn get(&self, name: &str, agent: Option<&Agent>) -> Option<ToolDefinition> {
        self.shared.resolve(name, agent)
    }

    /// The tools `agent` sees, in view order: globals in insertion order with shadows in their places, then
    /// the agent's own, then `run_code`.
    #[must_use]
    pub fn view(&self, agent: Option<&Agent>) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.shared.view(agent).tools)
    }

    /// Names, descriptions and parameters of the tools `agent` sees, in view order. A second call without a
    /// change in between allocates nothing.
    ///
    /// # Errors
    /// If a definition was given parameters that are no lossless JSON.
    pub fn schemas(&self, agent: Option<&Agent>) -> Result<Arc<[ToolSchema]>, ProjectionError> {
        self.shared.view(agent).schemas.clone()
    }

    /// Whether the call may run beside others. Exclusive for an unknown tool, a tool without a classifier,
    /// arguments that do not validate, a classifier that panics, and a direct call that mode `code` refuses.
    #[must_use]
    pub fn execution_mode(&self, call: &ToolCall) -> ExecutionMode {
        let tool = self.shared.resolve(&call.name, call.agent.as_ref());
        let refused = self.shared.refuses_direct_call(&call.name, call.agent.as_ref(), call.parent.is_some());
        match (tool, &call.arguments) {
            (Some(tool), Ok(arguments)) if !refused && tool.is_concurrency_safe(arguments) => {
                ExecutionMode::Parallel
            }
            _ => ExecutionMode::Exclusive,
        }
    }

    /// Registers listeners with options: [`Hooks::prepend`], [`Hooks::for_agent`].
    pub fn hooks(&self) -> Hooks<'_> {
        Hooks::new(self, Placement::default())
    }

    /// Runs one call through the whole pipeline and gives its result. It never fails: what goes wrong is a
    /// failed result. See [`crate::pipeline`] for the stages.
    ///
    /// A body that has started is awaited to its end, also when the call is cancelled. If this future itself
    /// is dropped, the body's future is dropped with it and the signal the body was given is cancelled; there
    /// is then no result and no observer is told.
    pub fn execute(&self, call: ToolCall) -> impl Future<Output = Arc<ToolResult>> + Send + use<> {
        pipeline::execute(Arc::clone(&self.shared), call)
    }

    /// The first phase of [`ToolRegistry::execute`]: everything before the body, approval included.
    pub fn start(&self, call: ToolCall) -> impl Future<Output = pipeline::StartedCall> + Send + use<> {
        pipeline::start(Arc::clone(&self.shared), call)
    }

    /// As [`ToolRegistry::start`], but stops where an approval has to be waited for, so that a scheduler can
    /// commit finished calls meanwhile (decision 23).
    pub fn admit(&self, call: ToolCall) -> impl Future<Output = pipeline::Admission> + Send + use<> {
        pipeline::admit(Arc::clone(&self.shared), call)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn guard_in(&self, scope: Option<&Agent>, guard: Arc<Guard>) -> Registration {
        let id = {
            let mut layers = write(&self.shared.layers);
            let id = layers.next_id();
            layers.guards_mut(scope).insert(id, guard.into());
            id
        };
        self.shared.has_guards.store(true, Ordering::Release);
        let (shared, scope) = (Arc::downgrade(&self.shared), scope.cloned());
        Registration::new(move || {
            let Some(shared) = shared.upgrade() else {
                return;
            };
            let removed = write(&shared.layers).guards_mut(scope.as_ref()).remove(id);
            drop(removed);
        })
    }

    fn register_in(
        &self,
        scope: Option<&Agent>,
        definition: ToolDefinition,
    ) -> Result<Registration, RegisterError> {
        check_definition(&definition)?;
        if self.shared.config.mode != Mode::Native && definition.name() == RUN_CODE {
            return Err(RegisterError::Reserved);
        }
        let id = self.shared.change(|layers| {
            let id = layers.next_id();
            let layer = layers.layer_mut(scope);
            if layer.contains(definition.name()) {
                let name = Arc::clone(definition.name_shared());
                return Err(RegisterError::AlreadyRegistered { name, scoped: scope.is_some() });
            }
            // A clone: a definition that is refused is dropped outside of the lock.
            layer.insert(id, definition.clone());
            Ok(id)
        })?;
        let scope = scope.cloned();
        let registration = self
            .shared
            .confirm_change(move |layers| layers.layer_mut(scope.as_ref()).remove(id))
            .map_err(|message| RegisterError::ChangeListener { message })?;
        warn_of_schemas(&definition);
        Ok(registration)
    }
}

impl Default for ToolRegistry {
    /// An empty registry in mode `native`.
    fn default() -> Self {
        Self::with_config(RegistryConfig::default())
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRegistry").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// Tells the operator which parts of a tool's schemas will not be enforced (decision 29).
fn warn_of_schemas(definition: &ToolDefinition) {
    let schemas = [("parameters", definition.parameters_schema()), ("output", definition.output_schema())];
    for (schema, warning) in schemas.into_iter().filter_map(|(name, schema)| Some((name, schema?.warning()?)))
    {
        tracing::warn!(tool = definition.name(), schema, warning, "parts of a schema are not enforced");
    }
}

/// The longest a timer may run: 2 147 483 647 ms.
const MAX_TIMEOUT: Duration = Duration::from_millis(2_147_483_647);

/// Checks 1 to 3 of contract 2.2.
fn check_definition(definition: &ToolDefinition) -> Result<(), RegisterError> {
    let tool = || Arc::clone(definition.name_shared());
    if let Some(missing) = definition.missing_part() {
        return Err(RegisterError::IncompleteDefinition { tool: tool(), missing });
    }
    if let Some(error) = definition.schema_error() {
        return Err(RegisterError::UnsupportedSchema { tool: tool(), error: error.clone() });
    }
    if definition.timeout().is_some_and(|timeout| timeout.is_zero() || timeout > MAX_TIMEOUT) {
        return Err(RegisterError::Timeout { tool: tool() });
    }
    Ok(())
}

/// What a guard may return: a reason to deny or none, also as a `Result` whose error fails the call.
#[diagnostic::on_unimplemented(
    note = "a guard returns `Option` of a reason to deny, or a `Result` of one; `condition.then_some(reason)`"
)]
pub trait IntoVerdict {
    /// The verdict.
    #[expect(clippy::missing_errors_doc, reason = "a conversion that hands on an error it was given")]
    fn into_verdict(self) -> Result<Option<String>, ToolError>;
}

impl<T: Into<String>> IntoVerdict for Option<T> {
    fn into_verdict(self) -> Result<Option<String>, ToolError> {
        Ok(self.map(Into::into))
    }
}

impl<T: Into<String>> IntoVerdict for Result<Option<T>, ToolError> {
    fn into_verdict(self) -> Result<Option<String>, ToolError> {
        self.map(|reason| reason.map(Into::into))
    }
}

// The three phases of a call and what waits between them are handed between threads.
const _: () = {
    const fn crosses_threads<T: Send + Sync + 'static>() {}
    crosses_threads::<ToolRegistry>();
    crosses_threads::<Registration>();
    crosses_threads::<ToolExecution>();
    crosses_threads::<Dispatch>();
    crosses_threads::<ToolResult>();
};
