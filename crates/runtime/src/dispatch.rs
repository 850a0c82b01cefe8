//! Sub-calls: every call a program makes goes through the pool into the native
//! pipeline, with its id, its events and its settlement. Contract 7.2 to 7.5.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use code_mode_registry::scheduler::{CallObserver, CallPool};
use code_mode_registry::{
    AdditionalContext, Agent, CallId, HostEvent, Signal, Token, ToolCall, ToolRegistry, ToolResult,
    ToolRunContext,
};
use code_mode_schema::Json;

use crate::isolate::Limits;
use crate::media::{Forwarded, Media};
use crate::seam::{HostCall, HostFunctions, Reply};

/// The host's side of `tools`, for one run.
pub(crate) struct Dispatch {
    run: Arc<Run>,
    pool: CallPool,
    names: Arc<[Arc<str>]>,
    max_sub_calls: usize,
}

/// What every sub-call of a run needs to know of it.
struct Run {
    registry: ToolRegistry,
    parent: CallId,
    token: Token,
    agent: Option<Agent>,
    /// Cancelled with the outer call and when the run has settled.
    signal: Signal,
    tally: Mutex<Tally>,
}

/// What has become of the sub-calls.
#[derive(Debug)]
pub(crate) struct Tally {
    submitted: usize,
    /// By number: calls that were submitted and have not settled.
    open: BTreeMap<usize, Open>,
    /// Names of the calls that succeeded, in order.
    succeeded: Vec<Arc<str>>,
    /// By number, so that they are handed on in the order of the calls.
    contexts: BTreeMap<usize, Vec<AdditionalContext>>,
    /// The images and sounds of the calls that succeeded.
    media: Media,
}

#[derive(Debug)]
struct Open {
    name: Arc<str>,
    is_running: bool,
}

impl Tally {
    fn new(max_media_bytes: usize) -> Self {
        Self {
            submitted: 0,
            open: BTreeMap::new(),
            succeeded: Vec::new(),
            contexts: BTreeMap::new(),
            media: Media::new(max_media_bytes),
        }
    }

    /// Names and counts of the calls that have started and not settled, in order.
    pub(crate) fn running(&self) -> Vec<(Arc<str>, usize)> {
        counted(self.open.values().filter(|call| call.is_running).map(|call| &call.name))
    }

    /// Names and counts of the calls that wait for their turn, in order.
    pub(crate) fn queued(&self) -> Vec<(Arc<str>, usize)> {
        counted(self.open.values().filter(|call| !call.is_running).map(|call| &call.name))
    }

    /// Names and counts of the calls that succeeded, in order.
    pub(crate) fn succeeded(&self) -> Vec<(Arc<str>, usize)> {
        counted(self.succeeded.iter())
    }
}

fn counted<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Vec<(Arc<str>, usize)> {
    let mut counts: Vec<(Arc<str>, usize)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for name in names {
        let place = *places.entry(name).or_insert(counts.len());
        if place == counts.len() {
            counts.push((Arc::clone(name), 0));
        }
        counts[place].1 += 1;
    }
    counts
}

impl Dispatch {
    /// The dispatch of the run that `outer` is the execution of.
    pub(crate) fn new(
        registry: ToolRegistry,
        outer: &ToolRunContext,
        signal: Signal,
        pool: CallPool,
        names: Arc<[Arc<str>]>,
        limits: &Limits,
    ) -> Self {
        let run = Run {
            registry,
            parent: outer.call_id().clone(),
            token: outer.token(),
            agent: outer.agent().cloned(),
            signal,
            tally: Mutex::new(Tally::new(limits.max_media_bytes)),
        };
        Self { run: Arc::new(run), pool, names, max_sub_calls: limits.max_sub_calls }
    }

    /// Looks at what has become of the sub-calls so far.
    pub(crate) fn tally<T>(&self, look: impl FnOnce(&Tally) -> T) -> T {
        look(&self.run.tally())
    }

    /// Takes the images and sounds of the sub-calls, as many as are handed back.
    pub(crate) fn take_media(&self) -> Forwarded {
        self.run.tally().media.take()
    }

    /// Hands the contexts of the sub-calls to the outer result, in their order.
    pub(crate) fn hand_on_contexts(&self, outer: &ToolRunContext) {
        let contexts = std::mem::take(&mut self.run.tally().contexts);
        for context in contexts.into_values().flatten() {
            outer.defer_context(context);
        }
    }
}

impl HostFunctions for Dispatch {
    fn call(&self, call: HostCall) {
        let HostCall { function, arguments, reply } = call;
        let Some(name) = self.names.get(function).map(Arc::clone) else {
            return reply.send(Err("unknown binding".to_owned()));
        };
        if self.run.signal.is_cancelled() {
            return reply
                .send(Err(format!("run_code run is over ({}); {name} not dispatched", self.run.reason())));
        }
        let number = {
            let mut tally = self.run.tally();
            if tally.submitted >= self.max_sub_calls {
                return reply.send(Err(format!(
                    "a run may make {} tool calls (maxSubCalls); {name} not dispatched: return what there is and go on in another program",
                    self.max_sub_calls
                )));
            }
            tally.submitted += 1;
            let number = tally.submitted;
            tally.open.insert(number, Open { name: Arc::clone(&name), is_running: false });
            number
        };
        let id = CallId::from(format!("{}:code:{number}", self.run.parent));
        let mut sub_call = ToolCall::new(id.clone(), Arc::clone(&name), arguments.clone())
            .with_signal(self.run.signal.clone())
            .with_parent(self.run.token);
        if let Some(agent) = &self.run.agent {
            sub_call = sub_call.with_agent(agent.clone());
        }
        self.pool.submit_and_poll(
            sub_call,
            SubCall { run: Arc::clone(&self.run), number, id, name, arguments, reply },
        );
    }
}

impl Run {
    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reason(&self) -> String {
        self.signal.reason().map(|reason| reason.as_str().to_owned()).unwrap_or_default()
    }

    /// Events are for the log of an agent's session: without an agent there is none.
    fn emit(&self, event: impl FnOnce() -> HostEvent) {
        if self.agent.is_some() && self.registry.has_host_observers() {
            self.registry.emit_host_event(event());
        }
    }
}

/// One sub-call on its way through the pool.
struct SubCall {
    run: Arc<Run>,
    number: usize,
    id: CallId,
    name: Arc<str>,
    arguments: Json,
    reply: Reply,
}

impl CallObserver for SubCall {
    fn started(&mut self) {
        if let Some(call) = self.run.tally().open.get_mut(&self.number) {
            call.is_running = true;
        }
        self.run.emit(|| HostEvent::CodeDispatchStart {
            parent_call_id: self.run.parent.clone(),
            sub_call_id: self.id.clone(),
            name: Arc::clone(&self.name),
            arguments: self.arguments.clone(),
        });
    }

    fn committed(self: Box<Self>, result: Arc<ToolResult>) {
        self.run.emit(|| HostEvent::CodeDispatch {
            parent_call_id: self.run.parent.clone(),
            sub_call_id: self.id.clone(),
            name: Arc::clone(&self.name),
            arguments: self.arguments.clone(),
            is_error: result.is_error(),
            content: result.content().to_vec(),
        });
        {
            let mut tally = self.run.tally();
            tally.open.remove(&self.number);
            if !result.is_error() {
                tally.succeeded.push(Arc::clone(&self.name));
                tally.media.add(self.number, result.content());
            }
            if !result.additional_contexts().is_empty() {
                tally.contexts.insert(self.number, result.additional_contexts().to_vec());
            }
        }
        self.reply.send(match result.value() {
            Some(value) => Ok(value.clone()),
            None => Err(result.message().unwrap_or_default().to_owned()),
        });
    }

    fn abandoned(self: Box<Self>) {
        self.run.tally().open.remove(&self.number);
        let reason = self.run.reason();
        self.reply.send(Err(format!("run_code run is over ({reason}); {} tool call abandoned", self.name)));
    }
}
