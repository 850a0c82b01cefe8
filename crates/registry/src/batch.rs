//! The native scheduler: the calls of one assistant message, in the model's order (contract 3.14).
//!
//! It is the [pool](crate::scheduler) that programs use, with results committed in the order of the calls. What is
//! of its own: arguments come as the model wrote them and are parsed once, each call has its pair of host events,
//! and calls that an abort left unstarted are answered all the same.

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};

use code_mode_schema::{Json, LosslessError, ParseErrorKind};
use futures::future::BoxFuture;

use crate::{
    cancellation::{Signal, aborted, aborted_before_dispatch},
    content::AdditionalContext,
    error::ToolFailure,
    execution::{Agent, CallId, ToolCall, ToolResult},
    host::HostEvent,
    registry::ToolRegistry,
    scheduler::{CallObserver, CallPool, CommitOrder, PoolConfig, Spawn},
    sync::lock,
};

/// The tool calls of one assistant message; for [`ToolRegistry::execute_batch`].
///
/// ```
/// use code_mode_registry::{BatchCall, ToolBatch};
///
/// let batch = ToolBatch::new([
///     BatchCall::new("call_1", "read_file", r#"{"path": "a.txt"}"#),
///     BatchCall::new("call_2", "read_file", r#"{"path": "b.txt"}"#),
/// ])
/// .at(3, 1);
/// assert_eq!((batch.turn, batch.step, batch.calls.len()), (3, 1, 2));
/// assert_eq!(batch.max_parallel_tool_calls.get(), 10);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolBatch {
    /// The calls, in the model's order.
    pub calls: Vec<BatchCall>,
    /// The agent whose message it is. Default: none.
    pub agent: Option<Agent>,
    /// From its cancellation on nothing starts. Default: never.
    pub signal: Signal,
    /// The turn, for the host events. Default 0.
    pub turn: u64,
    /// The step of the turn, for the host events. Default 0.
    pub step: u64,
    /// How many parallel calls may run at one time. Default 10.
    pub max_parallel_tool_calls: NonZeroUsize,
    /// Where bodies run that are not ready at once. Default `None`: on the task that awaits the batch, all of them.
    pub spawn: Option<Spawn>,
}

const DEFAULT_MAX_PARALLEL: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9);

impl ToolBatch {
    /// A batch that nobody cancels, with the defaults.
    #[must_use]
    pub fn new(calls: impl IntoIterator<Item = BatchCall>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            agent: None,
            signal: Signal::never(),
            turn: 0,
            step: 0,
            max_parallel_tool_calls: DEFAULT_MAX_PARALLEL,
            spawn: None,
        }
    }

    /// Sets [`ToolBatch::agent`].
    #[must_use]
    pub fn with_agent(mut self, agent: Agent) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Sets [`ToolBatch::signal`].
    #[must_use]
    pub fn with_signal(mut self, signal: Signal) -> Self {
        self.signal = signal;
        self
    }

    /// Sets [`ToolBatch::turn`] and [`ToolBatch::step`].
    #[must_use]
    pub fn at(mut self, turn: u64, step: u64) -> Self {
        (self.turn, self.step) = (turn, step);
        self
    }

    /// Sets [`ToolBatch::max_parallel_tool_calls`].
    #[must_use]
    pub fn with_max_parallel_tool_calls(mut self, max: NonZeroUsize) -> Self {
        self.max_parallel_tool_calls = max;
        self
    }

    /// Sets [`ToolBatch::spawn`], for example to `|body| drop(tokio::spawn(body))`.
    #[must_use]
    pub fn with_spawn(mut self, spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        self.spawn = Some(Arc::new(spawn));
        self
    }
}

impl fmt::Debug for ToolBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBatch")
            .field("calls", &self.calls)
            .field("agent", &self.agent)
            .field("turn", &self.turn)
            .field("step", &self.step)
            .field("max_parallel_tool_calls", &self.max_parallel_tool_calls)
            .field("spawns", &self.spawn.is_some())
            .finish_non_exhaustive()
    }
}

/// One call of a [`ToolBatch`], as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchCall {
    /// The id that the model gave it.
    pub call_id: CallId,
    /// The tool's name.
    pub name: Arc<str>,
    /// The arguments as text: empty for `{}`; text that is no JSON reaches the tool as one string. Where an interface
    /// gives JSON instead, its text: [`Json::to_text`](code_mode_schema::Json::to_text).
    pub arguments: Arc<str>,
}

impl BatchCall {
    /// A call.
    #[must_use]
    pub fn new(
        call_id: impl Into<CallId>,
        name: impl Into<Arc<str>>,
        arguments: impl Into<Arc<str>>,
    ) -> Self {
        Self { call_id: call_id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// What a batch ended in: one result for each call, in the order of the calls.
///
/// As the messages that function calling takes, and as the one that Anthropic-style messages take. Results of more than
/// text ([`ToolResult::content`] has the blocks of MCP) are the host's to convert.
///
/// ```
/// use code_mode_registry::BatchOutcome;
/// use code_mode_schema::{Json, json};
///
/// fn tool_messages(outcome: &BatchOutcome) -> Vec<Json> {
///     let results = outcome.results.iter().map(|call| {
///         json!({"role": "tool", "tool_call_id": call.call_id, "content": call.result.text()})
///     });
///     let contexts = outcome.contexts.iter().map(|context| {
///         json!({"role": "user", "content": context.joined_text()})
///     });
///     results.chain(contexts).collect()
/// }
///
/// fn tool_results(outcome: &BatchOutcome) -> Json {
///     let results = outcome.results.iter().map(|call| {
///         let (text, is_error) = (call.result.text(), call.result.is_error());
///         json!({"type": "tool_result", "tool_use_id": call.call_id, "content": text, "is_error": is_error})
///     });
///     let contexts = outcome.contexts.iter().map(|context| {
///         json!({"type": "text", "text": context.joined_text()})
///     });
///     json!({"role": "user", "content": results.chain(contexts).collect::<Json>()})
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchOutcome {
    /// The results.
    pub results: Vec<BatchResult>,
    /// What is to be injected behind the results of the step, first in, first out (contract 3.12). To be used also if
    /// the step was aborted.
    pub contexts: Vec<AdditionalContext>,
}

/// The result of one call of a batch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchResult {
    /// The call.
    pub call_id: CallId,
    /// The tool's name.
    pub name: Arc<str>,
    /// Its result.
    pub result: Arc<ToolResult>,
}

impl ToolRegistry {
    /// Runs the calls of one assistant message and gives a result for each.
    ///
    /// Calls start in order. A parallel one starts while fewer than
    /// [`max_parallel_tool_calls`](ToolBatch::max_parallel_tool_calls) run; an exclusive one waits until nothing runs,
    /// and holds up what comes behind it until it is committed. Policies, guards and commits never overlap; bodies do.
    /// Results are committed in order, whichever body was first. Each call emits [`HostEvent::ToolCall`] when it
    /// starts and [`HostEvent::ToolResult`] when it is committed.
    ///
    /// When the signal is cancelled nothing starts any more and what runs is awaited. The calls that never started
    /// then get their two events as well, and `ABORTED_BEFORE_DISPATCH` for a result, which no policy and no observer
    /// of [`on_result`](ToolRegistry::on_result) sees.
    ///
    /// Dropping the future drops the bodies that it runs itself, as for [`ToolRegistry::execute`]. Bodies given to
    /// [`ToolBatch::spawn`] go on to their end and have no result.
    pub fn execute_batch(&self, batch: ToolBatch) -> impl Future<Output = BatchOutcome> + Send + use<> {
        execute(self.clone(), batch)
    }
}

async fn execute(registry: ToolRegistry, batch: ToolBatch) -> BatchOutcome {
    let mut config = PoolConfig::new(batch.max_parallel_tool_calls.get(), CommitOrder::Submission);
    config.signal = batch.signal.clone();
    config.spawn = batch.spawn.clone();
    let pool = CallPool::new(registry.clone(), config);
    let step = Arc::new(Step {
        registry,
        turn: batch.turn,
        step: batch.step,
        states: Mutex::new(vec![State::Waiting; batch.calls.len()]),
    });
    for (place, call) in batch.calls.iter().enumerate() {
        let follow = Follow { step: Arc::clone(&step), place, call: call.clone() };
        pool.submit(tool_call(call, &batch), follow);
    }
    pool.close();
    pool.drive().await;
    step.outcome(batch.calls)
}

fn tool_call(call: &BatchCall, batch: &ToolBatch) -> ToolCall {
    let arguments = parse_arguments(&call.arguments);
    let mut tool_call = ToolCall::new(call.call_id.clone(), Arc::clone(&call.name), arguments)
        .with_signal(batch.signal.clone());
    tool_call.agent = batch.agent.clone();
    tool_call
}

/// Nothing is no arguments. What is no JSON stays the text it is: a tool that validates says what it expected. JSON
/// that cannot be held without loss fails the call.
fn parse_arguments(text: &Arc<str>) -> Result<Json, LosslessError> {
    if text.is_empty() {
        return Ok(Json::Object(code_mode_schema::Object::default()));
    }
    match Json::parse(text) {
        Ok(arguments) => Ok(arguments),
        Err(error) => match error.kind {
            ParseErrorKind::Lossy(reason) => Err(LosslessError::new(error.path, reason)),
            _ => Ok(Json::String(Arc::clone(text))),
        },
    }
}

/// What the calls of a batch have in common.
struct Step {
    registry: ToolRegistry,
    turn: u64,
    step: u64,
    /// By the place of the call.
    states: Mutex<Vec<State>>,
}

#[derive(Clone)]
enum State {
    Waiting,
    /// With the place of the event of its start in the sequence.
    Started(u64),
    Settled(Arc<ToolResult>),
}

impl Step {
    /// Emits the call and gives its place in the sequence of events.
    fn emit_call(&self, call: &BatchCall) -> u64 {
        self.registry.emit_host_event(HostEvent::ToolCall {
            turn: self.turn,
            step: self.step,
            call_id: call.call_id.clone(),
            name: Arc::clone(&call.name),
            arguments: Arc::clone(&call.arguments),
        })
    }

    fn emit_result(&self, call: &BatchCall, call_seq: u64, result: &ToolResult) {
        self.registry.emit_host_event(HostEvent::ToolResult {
            turn: self.turn,
            step: self.step,
            call_id: call.call_id.clone(),
            content: result.content().to_vec(),
            is_error: result.is_error(),
            error: result.error().and_then(|failure| failure.info()).cloned(),
            meta: result.meta().cloned(),
            call_seq,
        });
    }

    /// Makes the result of a call that the pipeline made none for.
    fn settle_here(&self, call: &BatchCall, call_seq: u64, failure: ToolFailure) -> Arc<ToolResult> {
        let result = Arc::new(ToolResult::failure(failure));
        self.emit_result(call, call_seq, &result);
        result
    }

    /// The results, when nothing runs any more.
    fn outcome(&self, calls: Vec<BatchCall>) -> BatchOutcome {
        let states = std::mem::take(&mut *lock(&self.states));
        let (mut results, mut contexts) = (Vec::with_capacity(calls.len()), Vec::new());
        for (call, state) in calls.into_iter().zip(states) {
            let result = match state {
                State::Settled(result) => result,
                // Its body was lost with the runtime that it was given to.
                State::Started(call_seq) => self.settle_here(&call, call_seq, aborted()),
                State::Waiting => self.settle_here(&call, self.emit_call(&call), aborted_before_dispatch()),
            };
            contexts.extend_from_slice(result.additional_contexts());
            results.push(BatchResult { call_id: call.call_id, name: call.name, result });
        }
        BatchOutcome { results, contexts }
    }
}

/// Follows one call through the pool.
struct Follow {
    step: Arc<Step>,
    place: usize,
    call: BatchCall,
}

impl CallObserver for Follow {
    fn started(&mut self) {
        let call_seq = self.step.emit_call(&self.call);
        lock(&self.step.states)[self.place] = State::Started(call_seq);
    }

    fn committed(self: Box<Self>, result: Arc<ToolResult>) {
        let settled = State::Settled(Arc::clone(&result));
        let before = std::mem::replace(&mut lock(&self.step.states)[self.place], settled);
        if let State::Started(call_seq) = before {
            self.step.emit_result(&self.call, call_seq, &result);
        }
    }

    /// Its result waits until those of the others are there; if the batch was dropped nobody wants one.
    fn abandoned(self: Box<Self>) {}
}
