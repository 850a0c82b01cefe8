//! One call and its result: what goes in, what policies see, what comes out.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use code_mode_schema::{Json, LosslessError};

use crate::{
    cancellation::Signal, content::AdditionalContext, shared::Shared, sync::lock, tool::ToolDefinition,
};

mod result;

pub use result::{Outcome, ToolResult};

/// One call, as the caller hands it to [`ToolRegistry::execute`](crate::ToolRegistry::execute). It is
/// consumed: every field is read exactly once (contract 3.1).
///
/// ```
/// use code_mode_registry::{SignalSource, ToolCall};
/// use code_mode_schema::json;
///
/// let stop = SignalSource::new();
/// let call = ToolCall::new("call_1", "read_file", json!({"path": "README.md"})).with_signal(stop.signal());
/// assert_eq!(call.name.as_ref(), "read_file");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// The caller's id of the call.
    pub call_id: CallId,
    /// The tool's name.
    pub name: Arc<str>,
    /// The arguments, or why they are no lossless JSON (the call then fails before any policy).
    pub arguments: Result<Json, LosslessError>,
    /// Cancels the call. Default: never.
    pub signal: Signal,
    /// The agent on whose behalf the call is made; decides the view, scoped listeners and guards, and
    /// approval.
    pub agent: Option<Agent>,
    /// The token of the enclosing execution; present for the sub-calls of a program.
    pub parent: Option<Token>,
}

impl ToolCall {
    /// A call without agent and parent that nothing cancels.
    #[must_use]
    pub fn new(call_id: impl Into<CallId>, name: impl Into<Arc<str>>, arguments: impl IntoArguments) -> Self {
        Self {
            call_id: call_id.into(),
            name: name.into(),
            arguments: arguments.into_arguments(),
            signal: Signal::never(),
            agent: None,
            parent: None,
        }
    }

    /// Sets what cancels the call.
    #[must_use]
    pub fn with_signal(mut self, signal: Signal) -> Self {
        self.signal = signal;
        self
    }

    /// Sets the agent.
    #[must_use]
    pub fn with_agent(mut self, agent: Agent) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Makes this a sub-call of the execution with that token.
    #[must_use]
    pub fn with_parent(mut self, parent: Token) -> Self {
        self.parent = Some(parent);
        self
    }
}

/// What [`ToolCall::new`] takes as arguments: a [`Json`] value, or the outcome of
/// [`to_json`](code_mode_schema::to_json) or of `Json::try_from` a `serde_json::Value`.
#[diagnostic::on_unimplemented(
    note = "from a `serde_json::Value`: `Json::try_from(value)`; from any type that serializes: `to_json(&value)`"
)]
pub trait IntoArguments {
    /// The arguments, or why there are none.
    #[expect(clippy::missing_errors_doc, reason = "a conversion that hands on an error it was given")]
    fn into_arguments(self) -> Result<Json, LosslessError>;
}

impl IntoArguments for Json {
    fn into_arguments(self) -> Result<Json, LosslessError> {
        Ok(self)
    }
}

impl IntoArguments for Result<Json, LosslessError> {
    fn into_arguments(self) -> Result<Json, LosslessError> {
        self
    }
}

/// The caller's id of a call, for example the id a model gave it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for CallId {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// Names one execution within this process. It can be compared and nothing else: it has no serialized form
/// and never leaves the host (decision 28).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(u64);

impl Token {
    /// A token unlike every other one.
    pub(crate) fn mint() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// One agent. The identity is the value itself: two agents of the same name are two agents, clones are one.
#[derive(Clone)]
pub struct Agent(Arc<AgentIdentity>);

pub(crate) struct AgentIdentity {
    id: u64,
    name: Arc<str>,
}

impl Agent {
    /// A new agent. The name is for people; nothing is looked up by it.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(Arc::new(AgentIdentity { id: NEXT.fetch_add(1, Ordering::Relaxed), name: name.into() }))
    }

    /// The name given to [`Agent::new`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Never used twice in a process, also not after the agent is gone.
    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    pub(crate) fn downgrade(&self) -> std::sync::Weak<AgentIdentity> {
        Arc::downgrade(&self.0)
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Agent {}

impl std::hash::Hash for Agent {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agent({})", self.name())
    }
}

/// One execution as listeners, guards, finalizers and observers see it. Clones are the same execution.
#[derive(Clone)]
pub struct ToolExecution(Arc<ExecutionState>);

struct ExecutionState {
    token: Token,
    call_id: CallId,
    name: Arc<str>,
    arguments: Option<Json>,
    agent: Option<Agent>,
    parent: Option<Token>,
    caller_signal: Signal,
    /// `None`: the caller's signal is in place.
    assigned_signal: Mutex<Option<Signal>>,
    body_started: AtomicBool,
    frozen: AtomicBool,
    /// `None`: nothing is deferred any more.
    deferred: Mutex<Option<Vec<AdditionalContext>>>,
}

impl ToolExecution {
    pub(crate) fn new(call: ToolCall) -> (Self, Option<LosslessError>) {
        let ToolCall { call_id, name, arguments, signal, agent, parent } = call;
        let (arguments, error) = match arguments {
            Ok(arguments) => (Some(arguments), None),
            Err(error) => (None, Some(error)),
        };
        let state = ExecutionState {
            token: Token::mint(),
            call_id,
            name,
            arguments,
            agent,
            parent,
            caller_signal: signal,
            assigned_signal: Mutex::new(None),
            body_started: AtomicBool::new(false),
            frozen: AtomicBool::new(false),
            deferred: Mutex::new(Some(Vec::new())),
        };
        (Self(Arc::new(state)), error)
    }

    /// This execution's token.
    #[must_use]
    pub fn token(&self) -> Token {
        self.0.token
    }

    /// The caller's id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// The name that was called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The arguments; `None` if they were no lossless JSON.
    #[must_use]
    pub fn arguments(&self) -> Option<&Json> {
        self.0.arguments.as_ref()
    }

    /// The agent on whose behalf the call is made.
    #[must_use]
    pub fn agent(&self) -> Option<&Agent> {
        self.0.agent.as_ref()
    }

    /// The token of the enclosing execution.
    #[must_use]
    pub fn parent(&self) -> Option<Token> {
        self.0.parent
    }

    /// The signal in place now: the caller's, or what a wrapper put there for the dispatch.
    #[must_use]
    pub fn signal(&self) -> Signal {
        lock(&self.0.assigned_signal).as_ref().unwrap_or(&self.0.caller_signal).clone()
    }

    pub(crate) fn name_shared(&self) -> &Arc<str> {
        &self.0.name
    }

    pub(crate) fn caller_signal(&self) -> &Signal {
        &self.0.caller_signal
    }

    /// Puts `signal` in place, `None` the caller's. Without effect once the execution is frozen.
    pub(crate) fn assign_signal(&self, signal: Option<Signal>) {
        if !self.0.frozen.load(Ordering::Acquire) {
            *lock(&self.0.assigned_signal) = signal;
        }
    }

    /// Puts `previous` back in the place of `current`, unless somebody has put another one there meanwhile.
    pub(crate) fn restore_signal(&self, current: &Signal, previous: Option<Signal>) {
        let mut assigned = lock(&self.0.assigned_signal);
        if assigned.as_ref().is_some_and(|assigned| assigned.same(current)) && !self.is_frozen() {
            *assigned = previous;
        }
    }

    pub(crate) fn assigned_signal(&self) -> Option<Signal> {
        lock(&self.0.assigned_signal).clone()
    }

    pub(crate) fn mark_body_started(&self) {
        self.0.body_started.store(true, Ordering::Release);
    }

    pub(crate) fn body_started(&self) -> bool {
        self.0.body_started.load(Ordering::Acquire)
    }

    /// From now on nothing about the execution changes (contract 3.9 d).
    pub(crate) fn freeze(&self) {
        self.0.frozen.store(true, Ordering::Release);
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.0.frozen.load(Ordering::Acquire)
    }

    pub(crate) fn defer_context(&self, context: AdditionalContext) {
        if let Some(deferred) = &mut *lock(&self.0.deferred) {
            deferred.push(context);
        }
    }

    /// What was deferred; from now on nothing is.
    pub(crate) fn take_deferred(&self) -> Vec<AdditionalContext> {
        lock(&self.0.deferred).take().unwrap_or_default()
    }
}

impl fmt::Debug for ToolExecution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolExecution")
            .field("call_id", &self.0.call_id)
            .field("name", &self.0.name)
            .field("agent", &self.0.agent)
            .field("is_sub_call", &self.0.parent.is_some())
            .finish_non_exhaustive()
    }
}

/// An execution as a wrapper around the dispatch sees it: the same as [`ToolExecution`], and the signal can
/// be replaced (contract 3.1).
#[derive(Clone)]
pub struct Dispatch {
    execution: ToolExecution,
    shared: Arc<Shared>,
}

impl Dispatch {
    pub(crate) fn new(execution: ToolExecution, shared: Arc<Shared>) -> Self {
        Self { execution, shared }
    }

    /// The tool as it is visible to the call now.
    #[must_use]
    pub fn tool(&self) -> Option<ToolDefinition> {
        self.shared.resolve(self.execution.name(), self.execution.agent())
    }

    /// The read-only view.
    #[must_use]
    pub fn execution(&self) -> &ToolExecution {
        &self.execution
    }

    /// Puts another signal in place for the dispatch inside, and returns the one that was there. The dispatch
    /// follows both this one and the caller's. Put the old one back after `next`; the pipeline puts the
    /// caller's back when the last wrapper has returned.
    pub fn set_signal(&self, signal: Signal) -> Signal {
        let previous = self.execution.signal();
        let signal = (!signal.same(self.execution.caller_signal())).then_some(signal);
        self.execution.assign_signal(signal);
        previous
    }
}

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dispatch").field(&self.execution).finish()
    }
}

impl std::ops::Deref for Dispatch {
    type Target = ToolExecution;

    fn deref(&self) -> &ToolExecution {
        &self.execution
    }
}
