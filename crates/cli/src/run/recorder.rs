//! What happens in a run, and when.
//!
//! The recorder stands around the back end, where a call is seen as the program sees it: when it was made,
//! what it was made with, and what its promise settled with. When the pool started it is known from the host
//! event.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use code_mode::registry::HostEvent;
use code_mode::runtime::{HostCall, HostFunctions, LogSink, MisuseError, Namespace, Reply};
use code_mode::{CodeRuntime, Isolation, Json, Limits, RunOutcome, RunRequest, ToolResult};

use super::trace::{Excerpt, Excerpts};

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The calls with their times.
    Times,
    /// Also the beginnings of all values and of the log.
    Everything,
}

/// One run. Times count from its beginning.
pub(crate) struct Recording {
    pub(crate) took: Duration,
    /// What goes back to the model.
    pub(crate) result: Arc<ToolResult>,
    /// In the order in which the program made them.
    pub(crate) calls: Vec<Call>,
    /// Only with [`Detail::Everything`].
    pub(crate) log: Vec<LogEntry>,
}

/// A tool call of the program. What it made it with and what came of it only with [`Detail::Everything`].
pub(crate) struct Call {
    pub(crate) tool: Arc<str>,
    pub(crate) made: Duration,
    /// None if it never left the queue.
    pub(crate) started: Option<Duration>,
    /// None if it was never answered.
    pub(crate) settled: Option<Duration>,
    pub(crate) is_error: bool,
    pub(crate) arguments: Excerpt,
    pub(crate) result: Excerpt,
}

pub(crate) struct LogEntry {
    pub(crate) at: Duration,
    pub(crate) text: Excerpt,
}

/// Records one run. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<Mutex<State>>);

struct State {
    began: Instant,
    excerpts: Excerpts,
    detail: Detail,
    calls: Vec<Call>,
    log: Vec<LogEntry>,
}

impl Recorder {
    pub(crate) fn new(detail: Detail) -> Self {
        Self(Arc::new(Mutex::new(State {
            began: Instant::now(),
            excerpts: Excerpts::default(),
            detail,
            calls: Vec::new(),
            log: Vec::new(),
        })))
    }

    /// A back end whose runs are recorded here.
    pub(crate) fn around(&self, inner: Arc<dyn CodeRuntime>) -> Arc<dyn CodeRuntime> {
        Arc::new(Recorded { recorder: self.clone(), inner })
    }

    /// Sets the time from which others count.
    pub(crate) fn begin(&self, began: Instant) {
        self.state().began = began;
    }

    /// Takes note of the start of a call. The pool numbers calls from 1 in the order in which they are made.
    pub(crate) fn note(&self, event: &HostEvent) {
        let HostEvent::CodeDispatchStart { sub_call_id, .. } = event else { return };
        let mut state = self.state();
        let now = state.began.elapsed();
        let number = sub_call_id.as_str().rsplit(':').next().and_then(|number| number.parse::<usize>().ok());
        if let Some(call) = number.and_then(|number| state.calls.get_mut(number.checked_sub(1)?)) {
            call.started = Some(now);
        }
    }

    pub(crate) fn finish(&self, took: Duration, result: Arc<ToolResult>) -> Recording {
        let mut state = self.state();
        let (calls, log) = (std::mem::take(&mut state.calls), std::mem::take(&mut state.log));
        Recording { took, result, calls, log }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn excerpt(&mut self, make: impl FnOnce(&mut Excerpts) -> Excerpt) -> Excerpt {
        match self.detail {
            Detail::Times => Excerpt::default(),
            Detail::Everything => make(&mut self.excerpts),
        }
    }
}

/// The recorder around a back end.
struct Recorded {
    recorder: Recorder,
    inner: Arc<dyn CodeRuntime>,
}

impl CodeRuntime for Recorded {
    fn run(
        &self,
        mut request: RunRequest,
    ) -> Pin<Box<dyn Future<Output = Result<RunOutcome, MisuseError>> + Send>> {
        for namespace in &mut request.namespaces {
            namespace.host =
                Arc::new(RecordedHost { recorder: self.recorder.clone(), inner: namespace.clone() });
        }
        request.logs =
            Some(Arc::new(RecordedLog { recorder: self.recorder.clone(), inner: request.logs.take() }));
        self.inner.run(request)
    }

    fn language(&self) -> &str {
        self.inner.language()
    }

    fn isolation(&self) -> Isolation {
        self.inner.isolation()
    }

    fn limits(&self) -> &Limits {
        self.inner.limits()
    }
}

struct RecordedHost {
    recorder: Recorder,
    inner: Namespace,
}

impl HostFunctions for RecordedHost {
    fn call(&self, call: HostCall) {
        let HostCall { function, arguments, reply } = call;
        let tool = self.inner.functions.get(function).map_or_else(|| "?".into(), Arc::clone);
        let index = self.recorder.made(tool, &arguments);
        let recorder = self.recorder.clone();
        let reply = Reply::new(move |settlement| {
            recorder.settled(index, &settlement);
            reply.send(settlement);
        });
        self.inner.host.call(HostCall { function, arguments, reply });
    }
}

impl Recorder {
    fn made(&self, tool: Arc<str>, arguments: &Json) -> usize {
        let mut state = self.state();
        let made = state.began.elapsed();
        let arguments = state.excerpt(|excerpts| excerpts.json(arguments));
        let result = Excerpt::default();
        state.calls.push(Call {
            tool,
            made,
            started: None,
            settled: None,
            is_error: false,
            arguments,
            result,
        });
        state.calls.len() - 1
    }

    fn settled(&self, index: usize, settlement: &Result<Json, String>) {
        let mut state = self.state();
        let now = state.began.elapsed();
        let result = state.excerpt(|excerpts| match settlement {
            Ok(value) => excerpts.json(value),
            Err(message) => excerpts.text(message),
        });
        // The recording is over for what comes later.
        if let Some(call) = state.calls.get_mut(index) {
            call.settled = Some(now);
            call.is_error = settlement.is_err();
            call.result = result;
        }
    }
}

struct RecordedLog {
    recorder: Recorder,
    inner: Option<Arc<dyn LogSink>>,
}

impl LogSink for RecordedLog {
    fn entry(&self, text: &str) {
        let mut state = self.recorder.state();
        if state.detail == Detail::Everything {
            let at = state.began.elapsed();
            let excerpt = state.excerpts.text(text);
            state.log.push(LogEntry { at, text: excerpt });
        }
        drop(state);
        if let Some(inner) = &self.inner {
            inner.entry(text);
        }
    }
}
