//! Registering listeners: one method per event, with order and scope as options.

use std::{future::Future, sync::Arc};

use code_mode_schema::Json;

use crate::{
    approval::{ApprovalOutcome, ApprovalRequest, ApprovalService, Mounted},
    content::{AdditionalContext, ContentBlock},
    error::ToolError,
    events::{Listener, Listeners, Next, Placement},
    execution::{Agent, Dispatch, ToolExecution, ToolResult},
    host::HostEventObserver,
    prompt::{Assembly, PromptContext},
    registration::Registration,
    registry::ToolRegistry,
    shared::Shared,
    sync::write,
};

pub(crate) type PreExecuteListener = Listener<ToolExecution, PreDecision>;
pub(crate) type ExecuteListener = Listener<Dispatch, Arc<ToolResult>>;
pub(crate) type PostExecuteListener = Listener<(ToolExecution, Arc<ToolResult>), PostDecision>;
pub(crate) type ApprovalListener = Listener<ApprovalRequest, ApprovalOutcome>;
pub(crate) type AssembleListener = Listener<(Arc<Assembly>, PromptContext), Assembly>;
pub(crate) type ResultObserver = dyn Fn(&ToolExecution, &Arc<ToolResult>) + Send + Sync;
pub(crate) type ChangeListener = dyn Fn() -> Result<(), ToolError> + Send + Sync;

/// What a `tools/pre-execute` listener decides (contract 3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreDecision {
    /// The call may go on to the guards.
    Allow,
    /// The call is denied; the model reads `Error: <reason>`.
    Deny {
        /// The reason.
        reason: Arc<str>,
    },
    /// Somebody has to be asked; see [`crate::approval`].
    Ask {
        /// Why, for whoever is asked.
        reason: Option<Arc<str>>,
    },
}

impl PreDecision {
    /// Denies with a reason.
    #[must_use]
    pub fn deny(reason: impl Into<Arc<str>>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// Asks, with a reason.
    #[must_use]
    pub fn ask(reason: impl Into<Arc<str>>) -> Self {
        Self::Ask { reason: Some(reason.into()) }
    }
}

/// What a `tools/post-execute` listener decides (contract 3.9).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PostDecision {
    /// The result stands, possibly with replacements.
    Accept(Acceptance),
    /// The result is replaced by a failure with this feedback as its content, verbatim.
    Block {
        /// What the model reads instead.
        feedback: Vec<ContentBlock>,
        /// Contexts; those the tool deferred are dropped.
        additional_contexts: Vec<AdditionalContext>,
    },
}

impl PostDecision {
    /// Accepts the result as it is.
    #[must_use]
    pub fn accept() -> Self {
        Self::Accept(Acceptance::default())
    }

    /// Blocks with one text.
    #[must_use]
    pub fn block(feedback: impl Into<Arc<str>>) -> Self {
        Self::Block { feedback: vec![ContentBlock::text(feedback)], additional_contexts: Vec::new() }
    }
}

/// What an accepting post-policy changes. At most one of content and value may be replaced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acceptance {
    /// Replaces the content only.
    pub content: Option<Vec<ContentBlock>>,
    /// Replaces the value of a success; it is validated and rendered again.
    pub value: Option<Json>,
    /// Contexts, behind those already there.
    pub additional_contexts: Vec<AdditionalContext>,
}

/// Registers listeners of one registry with options; made by [`ToolRegistry::hooks`] and
/// [`ScopedRegistry::hooks`](crate::ScopedRegistry::hooks).
///
/// ```
/// use code_mode_registry::{PreDecision, ToolRegistry};
///
/// let registry = ToolRegistry::default();
/// let _no_deletes = registry.hooks().prepend().on_pre_execute(|execution, next| async move {
///     if execution.name().starts_with("delete_") {
///         return Ok(PreDecision::deny("deleting is switched off"));
///     }
///     next.call().await
/// });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Hooks<'a> {
    registry: &'a ToolRegistry,
    placement: Placement,
}

impl<'a> Hooks<'a> {
    pub(crate) fn new(registry: &'a ToolRegistry, placement: Placement) -> Self {
        Self { registry, placement }
    }

    /// Places the listener before all that are there, so that it is the outermost.
    pub fn prepend(mut self) -> Self {
        self.placement.prepend = true;
        self
    }

    /// Lets the listener hear only this agent's calls, never calls without an agent.
    pub fn for_agent(mut self, agent: &Agent) -> Self {
        self.placement.scope = Some(agent.clone());
        self
    }

    /// `tools/pre-execute`: decides before the guards whether the call may run. An `Err` fails the call.
    ///
    /// The decision of the outermost listener counts, and without `next.call()` the inner ones are never asked. So a
    /// listener that has no objection returns what `next` gives, and one that asks lets a denial stand:
    ///
    /// ```
    /// use code_mode_registry::{PreDecision, ToolRegistry};
    ///
    /// let registry = ToolRegistry::default();
    /// let _asks = registry.on_pre_execute(|execution, next| async move {
    ///     match next.call().await? {
    ///         PreDecision::Allow if execution.name() == "write_file" => Ok(PreDecision::ask("it writes")),
    ///         decision => Ok(decision),
    ///     }
    /// });
    /// ```
    pub fn on_pre_execute<F, Fut>(self, listener: F) -> Registration
    where
        F: Fn(ToolExecution, Next<PreDecision>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<PreDecision, ToolError>> + Send + 'static,
    {
        let listener: Arc<PreExecuteListener> =
            Arc::new(move |execution, next| Box::pin(listener(execution, next)));
        self.add(|shared| &shared.pre_execute, listener)
    }

    /// `tools/execute`: wraps the dispatch. May look, retry, replace the signal, answer itself. An `Err`
    /// fails the call and skips the post-policies.
    ///
    /// A wrapper that keeps values and answers with them; the pipeline validates and renders such an answer again:
    ///
    /// ```
    /// use std::{
    ///     collections::HashMap,
    ///     sync::{Arc, Mutex},
    /// };
    ///
    /// use code_mode_registry::{ToolRegistry, ToolResult};
    /// use code_mode_schema::Json;
    ///
    /// let registry = ToolRegistry::default();
    /// let cache: Arc<Mutex<HashMap<Json, Json>>> = Arc::default();
    /// let _cached = registry.on_execute(move |dispatch, next| {
    ///     let cache = Arc::clone(&cache);
    ///     async move {
    ///         let Some(arguments) = dispatch.arguments().filter(|_| dispatch.name() == "read_page") else {
    ///             return next.call().await;
    ///         };
    ///         if let Some(value) = cache.lock().unwrap().get(arguments) {
    ///             return Ok(Arc::new(ToolResult::success(value.clone())));
    ///         }
    ///         let result = next.call().await?;
    ///         if let Some(value) = result.value() {
    ///             cache.lock().unwrap().insert(arguments.clone(), value.clone());
    ///         }
    ///         Ok(result)
    ///     }
    /// });
    /// ```
    pub fn on_execute<F, Fut>(self, wrapper: F) -> Registration
    where
        F: Fn(Dispatch, Next<Arc<ToolResult>>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Arc<ToolResult>, ToolError>> + Send + 'static,
    {
        let wrapper: Arc<ExecuteListener> = Arc::new(move |dispatch, next| Box::pin(wrapper(dispatch, next)));
        self.add(|shared| &shared.execute, wrapper)
    }

    /// `tools/post-execute`: accepts, replaces or blocks a result, failures included.
    pub fn on_post_execute<F, Fut>(self, listener: F) -> Registration
    where
        F: Fn(ToolExecution, Arc<ToolResult>, Next<PostDecision>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<PostDecision, ToolError>> + Send + 'static,
    {
        let listener: Arc<PostExecuteListener> =
            Arc::new(move |(execution, result), next| Box::pin(listener(execution, result, next)));
        self.add(|shared| &shared.post_execute, listener)
    }

    /// `tools/result`: observes every final result. A panic is contained and logged.
    pub fn on_result(
        self,
        observer: impl Fn(&ToolExecution, &Arc<ToolResult>) + Send + Sync + 'static,
    ) -> Registration {
        let observer: Arc<ResultObserver> = Arc::new(observer);
        self.add(|shared| &shared.result, observer)
    }

    /// `tools/change`: told after every register, unregister, restrict and lift, whatever the scope. An `Err`
    /// during a registration rolls it back.
    pub fn on_change(
        mut self,
        listener: impl Fn() -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Registration {
        self.placement.scope = None;
        let listener: Arc<ChangeListener> = Arc::new(listener);
        self.add(|shared| &shared.change, listener)
    }

    /// `approval/request`: answers a question of the policies; `next()` without anybody inside answers
    /// [`ApprovalOutcome::Unavailable`]. Consulted by [`ApprovalDesk`](crate::approval::ApprovalDesk) where
    /// that is mounted. Scoped by the agent of the call.
    pub fn on_approval_request<F, Fut>(self, listener: F) -> Registration
    where
        F: Fn(ApprovalRequest, Next<ApprovalOutcome>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ApprovalOutcome, ToolError>> + Send + 'static,
    {
        let listener: Arc<ApprovalListener> =
            Arc::new(move |request, next| Box::pin(listener(request, next)));
        self.add(|shared| &shared.approval_request, listener)
    }

    /// `system-prompt/assemble`: the assembly that a listener returns is authoritative; nothing it leaves out
    /// is put back. The first argument is what was assembled, `next()` gives what the inner listeners make of
    /// it. Scoped by the agent of the assembly.
    pub fn on_assemble<F, Fut>(self, listener: F) -> Registration
    where
        F: Fn(Arc<Assembly>, PromptContext, Next<Assembly>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Assembly, ToolError>> + Send + 'static,
    {
        let listener: Arc<AssembleListener> =
            Arc::new(move |(assembly, context), next| Box::pin(listener(assembly, context, next)));
        self.add(|shared| &shared.assemble, listener)
    }

    fn add<F: ?Sized + 'static>(
        self,
        listeners: fn(&Shared) -> &Listeners<F>,
        callback: Arc<F>,
    ) -> Registration
    where
        Listeners<F>: Send + Sync,
    {
        let shared = Arc::clone(self.registry.shared());
        let id = listeners(&shared).add(&self.placement, callback);
        let shared = Arc::downgrade(&shared);
        Registration::new(move || {
            if let Some(shared) = shared.upgrade() {
                listeners(&shared).remove(id);
            }
        })
    }
}

impl ToolRegistry {
    /// [`Hooks::on_pre_execute`] without options.
    pub fn on_pre_execute<F, Fut>(&self, listener: F) -> Registration
    where
        F: Fn(ToolExecution, Next<PreDecision>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<PreDecision, ToolError>> + Send + 'static,
    {
        self.hooks().on_pre_execute(listener)
    }

    /// [`Hooks::on_execute`] without options.
    pub fn on_execute<F, Fut>(&self, wrapper: F) -> Registration
    where
        F: Fn(Dispatch, Next<Arc<ToolResult>>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Arc<ToolResult>, ToolError>> + Send + 'static,
    {
        self.hooks().on_execute(wrapper)
    }

    /// [`Hooks::on_post_execute`] without options.
    pub fn on_post_execute<F, Fut>(&self, listener: F) -> Registration
    where
        F: Fn(ToolExecution, Arc<ToolResult>, Next<PostDecision>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<PostDecision, ToolError>> + Send + 'static,
    {
        self.hooks().on_post_execute(listener)
    }

    /// [`Hooks::on_result`] without options.
    pub fn on_result(
        &self,
        observer: impl Fn(&ToolExecution, &Arc<ToolResult>) + Send + Sync + 'static,
    ) -> Registration {
        self.hooks().on_result(observer)
    }

    /// [`Hooks::on_change`] without options.
    pub fn on_change(
        &self,
        listener: impl Fn() -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Registration {
        self.hooks().on_change(listener)
    }

    /// Registers an observer of the host events of contract 3.14 and 7.5. Its panics are contained and
    /// logged.
    pub fn on_host_event(&self, observer: Arc<dyn HostEventObserver>) -> Registration {
        let id = self.shared().host.observers.add(&Placement::default(), observer);
        let shared = Arc::downgrade(self.shared());
        Registration::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.host.observers.remove(id);
            }
        })
    }

    /// Mounts the service that answers `ask` decisions. It is looked up for every ask; the one mounted last
    /// answers.
    pub fn mount_approval(&self, service: Arc<dyn ApprovalService>) -> Registration {
        let id = self.shared().next_id();
        write(&self.shared().approval).push(Mounted { id, service });
        let shared = Arc::downgrade(self.shared());
        Registration::new(move || {
            let Some(shared) = shared.upgrade() else {
                return;
            };
            let mut mounted = write(&shared.approval);
            let removed =
                mounted.iter().position(|mounted| mounted.id == id).map(|index| mounted.remove(index));
            drop(mounted);
            drop(removed);
        })
    }
}
