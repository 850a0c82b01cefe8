//! Events for hosts: what happened, with wire names, times and sequence numbers (contract 3.14, 7.5).
//!
//! These are a log for people and tools beside the conversation; none of them is ever part of what the model
//! reads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::{SystemTime, UNIX_EPOCH},
};

use code_mode_schema::Json;
use serde::{Deserialize, Serialize};

use crate::{
    contain::contain, content::ContentBlock, error::ErrorInfo, events::Listeners, execution::CallId,
    registry::ToolRegistry,
};

/// Receives host events, in order of their sequence numbers as far as one thread emits them.
///
/// It is called on the thread that emits, so it must be quick and must not block. A panic is contained and
/// logged.
pub trait HostEventObserver: Send + Sync {
    /// One event.
    fn on_host_event(&self, record: &HostEventRecord);
}

impl<F: Fn(&HostEventRecord) + Send + Sync> HostEventObserver for F {
    fn on_host_event(&self, record: &HostEventRecord) {
        self(record);
    }
}

/// One event with its place, time and sizes. JSON: the event's fields with `seq`, `time`, `argumentsBytes` and
/// `contentBytes` beside them. How long a call took is the difference of the times of its two events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HostEventRecord {
    /// Counts the events of a registry from 1.
    pub seq: u64,
    /// Milliseconds since the Unix epoch.
    pub time: u64,
    /// The size of the event's arguments as JSON text in UTF-8; `None` for an event without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_bytes: Option<u64>,
    /// The size of the event's content, or of its line: texts in UTF-8, images and sounds in base64, other blocks as
    /// JSON text. `None` for an event without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_bytes: Option<u64>,
    /// What happened.
    #[serde(flatten)]
    pub event: HostEvent,
}

/// What happened. JSON: `{"type": "tool/call", …}` with the fields in camelCase.
///
/// Events are told of an agent's calls only: of a call without an [`Agent`](crate::Agent)
/// ([`ToolCall::with_agent`](crate::ToolCall::with_agent)) nobody hears, nor of what its program calls and prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum HostEvent {
    /// A native call of one assistant message was started.
    #[serde(rename = "tool/call")]
    ToolCall {
        /// The turn.
        turn: u64,
        /// The step of the turn.
        step: u64,
        /// The call.
        call_id: CallId,
        /// The tool.
        name: Arc<str>,
        /// The arguments as the model wrote them.
        arguments: Arc<str>,
    },
    /// A native call of one assistant message was committed.
    #[serde(rename = "tool/result")]
    ToolResult {
        /// The turn.
        turn: u64,
        /// The step of the turn.
        step: u64,
        /// The call.
        call_id: CallId,
        /// What the model reads.
        content: Vec<ContentBlock>,
        /// Whether the call failed.
        is_error: bool,
        /// Class name and code of a failure that has them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorInfo>,
        /// What the tool computed for display.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meta: Option<Json>,
        /// The sequence number of the `tool/call` this answers.
        call_seq: u64,
    },
    /// A program's sub-call was started.
    #[serde(rename = "tool/code-dispatch-start")]
    CodeDispatchStart {
        /// The call of `run_code`.
        parent_call_id: CallId,
        /// The sub-call, `<parent>:code:<n>`.
        sub_call_id: CallId,
        /// The tool.
        name: Arc<str>,
        /// The arguments.
        arguments: Json,
    },
    /// A program's sub-call was committed.
    #[serde(rename = "tool/code-dispatch")]
    CodeDispatch {
        /// The call of `run_code`.
        parent_call_id: CallId,
        /// The sub-call, `<parent>:code:<n>`.
        sub_call_id: CallId,
        /// The tool.
        name: Arc<str>,
        /// The arguments.
        arguments: Json,
        /// Whether the sub-call failed.
        is_error: bool,
        /// The whole final content; the `Error: …` form for a failure.
        content: Vec<ContentBlock>,
    },
    /// A question was put to whoever approves calls.
    #[serde(rename = "approval/asked")]
    ApprovalAsked {
        /// The question.
        id: Arc<str>,
        /// The tool.
        tool_name: Arc<str>,
        /// The call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<CallId>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// The question was decided.
    #[serde(rename = "approval/decided")]
    ApprovalDecided {
        /// The question.
        id: Arc<str>,
        /// How.
        outcome: crate::approval::ApprovalOutcome,
    },
    /// An entry of a program's log, told while it runs; it may have several lines.
    #[serde(rename = "log")]
    Log {
        /// The call of `run_code`.
        call_id: CallId,
        /// The entry.
        text: Arc<str>,
    },
}

impl HostEvent {
    fn arguments_bytes(&self) -> Option<u64> {
        match self {
            Self::ToolCall { arguments, .. } => Some(arguments.len() as u64),
            Self::CodeDispatchStart { arguments, .. } | Self::CodeDispatch { arguments, .. } => {
                Some(arguments.text_len() as u64)
            }
            _ => None,
        }
    }

    fn content_bytes(&self) -> Option<u64> {
        match self {
            Self::ToolResult { content, .. } | Self::CodeDispatch { content, .. } => {
                Some(content.iter().map(|block| block.size_bytes() as u64).sum())
            }
            Self::Log { text, .. } => Some(text.len() as u64),
            _ => None,
        }
    }
}

/// A bounded channel of host events: an observer, and the receiver of what it sees. At most `capacity` events
/// wait; what comes while the channel is full is dropped and counted, so that a slow reader never holds up a
/// call.
///
/// ```
/// use std::sync::Arc;
///
/// use code_mode_registry::{HostEvent, ToolRegistry, host};
///
/// let registry = ToolRegistry::default();
/// let (observer, events) = host::channel(1_000);
/// let _registration = registry.on_host_event(Arc::new(observer));
/// registry.emit_host_event(HostEvent::Log { call_id: "1".into(), text: "hello".into() });
/// assert_eq!(events.recv().unwrap().seq, 1);
/// ```
///
/// Receiving blocks, so it has a thread of its own. A log of JSON lines:
///
/// ```
/// # use std::sync::Arc;
/// # use code_mode_registry::{ToolRegistry, host};
/// # let registry = ToolRegistry::default();
/// let (observer, events) = host::channel(1_000);
/// let observed = registry.on_host_event(Arc::new(observer));
/// let log = std::thread::spawn(move || {
///     for record in events.iter() {
///         match code_mode_schema::to_json(&record) {
///             Ok(line) => println!("{line}"),
///             Err(error) => eprintln!("an event is no JSON: {error}"),
///         }
///     }
/// });
/// // Calls are made; in the end:
/// drop(observed);
/// log.join().unwrap();
/// ```
///
/// Async code gives [`ToolRegistry::on_host_event`] a closure of its own, which sends to a channel of its runtime.
#[must_use]
pub fn channel(capacity: usize) -> (impl HostEventObserver + 'static, HostEventReceiver) {
    let (sender, receiver) = mpsc::sync_channel(capacity);
    let dropped: Arc<AtomicU64> = Arc::default();
    let counter = Arc::clone(&dropped);
    let observer = move |record: &HostEventRecord| {
        if sender.try_send(record.clone()).is_err() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    };
    (observer, HostEventReceiver { receiver, dropped })
}

/// Receives what the observer of [`channel`] sees.
#[derive(Debug)]
pub struct HostEventReceiver {
    receiver: mpsc::Receiver<HostEventRecord>,
    dropped: Arc<AtomicU64>,
}

impl HostEventReceiver {
    /// The next event that waits, if one does.
    #[must_use]
    pub fn try_recv(&self) -> Option<HostEventRecord> {
        self.receiver.try_recv().ok()
    }

    /// Waits for the next event on this thread; `None` once the observer is gone.
    #[must_use]
    pub fn recv(&self) -> Option<HostEventRecord> {
        self.receiver.recv().ok()
    }

    /// The events that come, waiting for each as [`recv`](Self::recv) does; ends once the observer is gone.
    pub fn iter(&self) -> impl Iterator<Item = HostEventRecord> {
        std::iter::from_fn(|| self.recv())
    }

    /// How many events found the channel full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// The observers of one registry and its sequence.
#[derive(Default)]
pub(crate) struct HostEvents {
    pub(crate) observers: Listeners<dyn HostEventObserver>,
    last_seq: AtomicU64,
}

impl HostEvents {
    pub(crate) fn emit(&self, event: HostEvent) -> u64 {
        let seq = self.last_seq.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(observers) = self.observers.heard_by(None) {
            let record = HostEventRecord {
                seq,
                time: now_ms(),
                arguments_bytes: event.arguments_bytes(),
                content_bytes: event.content_bytes(),
                event,
            };
            for observer in observers.iter() {
                if let Err(error) = contain(|| observer.on_host_event(&record)) {
                    tracing::warn!(%error, "a host event observer panicked");
                }
            }
        }
        seq
    }
}

impl ToolRegistry {
    /// Whether anybody would receive a host event; what builds costly ones may look first.
    #[must_use]
    pub fn has_host_observers(&self) -> bool {
        !self.shared().host.observers.is_empty()
    }

    /// Emits a host event and returns its sequence number.
    pub fn emit_host_event(&self, event: HostEvent) -> u64 {
        self.shared().host.emit(event)
    }
}

fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
