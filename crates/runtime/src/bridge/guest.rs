//! The host's side of the ops, for one run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use code_mode_schema::Json;

use super::ops::{Guest, Web};
use super::web::WebState;
use crate::isolate::{Cause, FromIsolate, RunControl, Timers};
use crate::ledger::LogMeter;
use crate::seam::{HostCall, Namespace, Reply, Settlement};

/// Serves one program. Lives on the isolate's thread.
pub(crate) struct RunGuest {
    control: Arc<RunControl>,
    namespaces: Vec<Namespace>,
    embedder: tokio::runtime::Handle,
    to_caller: tokio::sync::mpsc::UnboundedSender<FromIsolate>,
    arrivals: Arc<Arrivals>,
    pending_calls: Cell<usize>,
    timers: RefCell<Timers>,
    meter: RefCell<LogMeter>,
    web: WebState,
}

/// Answers that came after their call had returned, in order of arrival. At most
/// one for each pending call.
#[derive(Debug)]
struct Arrivals {
    control: Arc<RunControl>,
    queue: Mutex<VecDeque<(u32, String)>>,
}

impl Arrivals {
    fn push(&self, call: u32, settlement: String) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back((call, settlement));
        self.control.wake_isolate();
    }
}

impl RunGuest {
    pub(crate) fn new(
        control: Arc<RunControl>,
        namespaces: Vec<Namespace>,
        embedder: tokio::runtime::Handle,
        to_caller: tokio::sync::mpsc::UnboundedSender<FromIsolate>,
    ) -> Self {
        Self {
            meter: RefCell::new(LogMeter::new(control.limits.max_output_bytes)),
            arrivals: Arc::new(Arrivals { control: Arc::clone(&control), queue: Mutex::default() }),
            control,
            namespaces,
            embedder,
            to_caller,
            pending_calls: Cell::new(0),
            timers: RefCell::default(),
            web: WebState::default(),
        }
    }

    /// Takes the answers that have arrived, as `(call, settlement)`.
    pub(crate) fn take_arrivals(&self) -> VecDeque<(u32, String)> {
        let taken = std::mem::take(&mut *self.arrivals.queue.lock().unwrap_or_else(PoisonError::into_inner));
        self.pending_calls.set(self.pending_calls.get().saturating_sub(taken.len()));
        taken
    }

    /// Takes the first timer that is due.
    pub(crate) fn pop_due_timer(&self) -> Option<u32> {
        let mut timers = self.timers.borrow_mut();
        timers.next()?;
        timers.pop_due(Instant::now())
    }

    /// When the next timer is due.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.borrow().next()
    }

    /// True if nothing could ever make the program go on.
    pub(crate) fn is_idle_for_ever(&self) -> bool {
        self.pending_calls.get() == 0 && self.timers.borrow().next().is_none()
    }
}

/// The longest text that an engine takes as one string, in bytes.
const MAX_TEXT_BYTES: usize = (1 << 29) - 24;

/// The text form in which an answer crosses: `+` and JSON, or `-` and a message.
fn settlement_text(settlement: Settlement) -> String {
    match settlement {
        Ok(value) if value.text_len() >= MAX_TEXT_BYTES => {
            format!(
                "-the result has {} bytes of JSON, more than the {MAX_TEXT_BYTES} that a program can take",
                value.text_len()
            )
        }
        Ok(value) => {
            let mut text = String::with_capacity(1 + value.text_len());
            text.push('+');
            value.write_text(&mut text);
            text
        }
        Err(message) => format!("-{message}"),
    }
}

/// Where an answer goes: back with the call while that has not returned, else to
/// the queue.
#[derive(Debug)]
enum Slot {
    Calling,
    Answered(String),
    Returned,
}

impl Guest for RunGuest {
    fn call(&self, namespace: u32, function: u32, call: u32, arguments: String) -> Option<String> {
        let Some(target) = self.namespaces.get(namespace as usize) else {
            return Some("-unknown binding".to_owned());
        };
        // The guard has written this text, so it parses.
        let arguments = match Json::parse(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Some(format!("-binding arguments must be lossless JSON: {error}")),
        };
        let slot = Arc::new(Mutex::new(Slot::Calling));
        let reply = Reply::new({
            let (slot, arrivals) = (Arc::clone(&slot), Arc::clone(&self.arrivals));
            move |settlement| {
                let text = settlement_text(settlement);
                let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
                match *slot {
                    Slot::Returned => arrivals.push(call, text),
                    Slot::Calling | Slot::Answered(_) => *slot = Slot::Answered(text),
                }
            }
        });
        let call_host = || {
            let _entered = self.embedder.enter();
            target.host.call(HostCall { function: function as usize, arguments, reply });
        };
        // A panic must not unwind into the engine's frames. The reply it dropped
        // fails the call.
        if self.control.excuse(|| catch_unwind(AssertUnwindSafe(call_host))).is_err() {
            tracing::error!("the host of a program's functions panicked");
        }
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Returned) {
            Slot::Answered(text) => Some(text),
            Slot::Calling | Slot::Returned => {
                self.pending_calls.set(self.pending_calls.get() + 1);
                None
            }
        }
    }

    fn log(&self, mut entry: String) {
        let within = self.meter.borrow_mut().add(&entry);
        if !within {
            // The caller keeps what fits; more than the limit never does.
            let limit = entry.floor_char_boundary(self.control.limits.max_output_bytes);
            entry.truncate(limit);
        }
        // The caller is gone only if its run is dropped; then nobody reads it.
        let _ = self.to_caller.send(FromIsolate::Log(entry));
        if !within {
            self.control.trip(Cause::Output);
        }
    }

    fn start_timer(&self, id: u32, delay_ms: f64) {
        self.timers.borrow_mut().start(id, delay_ms, Instant::now());
    }

    fn cancel_timer(&self, id: u32) {
        self.timers.borrow_mut().cancel(id);
    }

    fn now_ms(&self) -> f64 {
        self.control.started.elapsed().as_secs_f64() * 1000.0
    }

    fn fill_random(&self, bytes: &mut [u8]) -> bool {
        getrandom::fill(bytes).is_ok()
    }

    fn web(&self) -> &dyn Web {
        &self.web
    }
}
