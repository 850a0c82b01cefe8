//! The host's side of the ops, for one run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::call::Calls;
use super::ops::{Guest, Web};
use super::web::WebState;
use crate::hints::Hints;
use crate::isolate::{Caller, Cause, RunControl, Timers};
use crate::ledger::LogMeter;

/// Serves one program. Lives on the isolate's thread.
pub(crate) struct RunGuest {
    control: Arc<RunControl>,
    calls: Arc<dyn Calls>,
    caller: Arc<dyn Caller>,
    arrivals: Arc<Arrivals>,
    pending_calls: Cell<usize>,
    timers: RefCell<Timers>,
    meter: RefCell<LogMeter>,
    hints: Hints,
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
        calls: Arc<dyn Calls>,
        caller: Arc<dyn Caller>,
        hints: Hints,
    ) -> Self {
        Self {
            meter: RefCell::new(LogMeter::new(control.limits.max_output_bytes)),
            arrivals: Arc::new(Arrivals { control: Arc::clone(&control), queue: Mutex::default() }),
            control,
            calls,
            caller,
            pending_calls: Cell::new(0),
            timers: RefCell::default(),
            hints,
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

impl Guest for RunGuest {
    fn call(&self, namespace: u32, function: u32, call: u32, arguments: String) -> Option<String> {
        let arrivals = Arc::clone(&self.arrivals);
        let late = Box::new(move |answer| arrivals.push(call, answer));
        let answer = self.control.excuse(|| self.calls.call(namespace, function, arguments, late));
        if answer.is_none() {
            self.pending_calls.set(self.pending_calls.get() + 1);
        }
        answer
    }

    fn log(&self, mut entry: String) {
        let within = self.meter.borrow_mut().add(&entry);
        if !within {
            // The caller keeps what fits; more than the limit never does.
            let limit = entry.floor_char_boundary(self.control.limits.max_output_bytes);
            entry.truncate(limit);
        }
        self.caller.log(entry);
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

    fn hint(&self, head: &str) -> Option<String> {
        self.hints.after(head)
    }

    fn web(&self) -> &dyn Web {
        &self.web
    }
}
