//! What the isolate's thread, the watchdog and the caller of one run share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use deno_core::v8;
use futures::task::AtomicWaker;

use super::abandoned::Place;
use super::clock::ThreadClock;
use super::limits::Limits;
use super::watchdog;

/// Why a run is stopped from outside. The first cause wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The compute budget is used up.
    Compute,
    /// The wall time is used up.
    Wall,
    /// The heap limit is reached.
    Heap,
    /// The log alone is over the output limit.
    Output,
    /// The signal was cancelled, with this reason.
    Abort(String),
}

/// One run as seen from all its threads. No lock in it: every part is written
/// once or atomic, so that nobody who acts on a limit waits for the isolate.
#[derive(Debug)]
pub(crate) struct RunControl {
    pub(crate) limits: Limits,
    pub(crate) started: Instant,
    cause: OnceLock<Cause>,
    tripped: OnceLock<Instant>,
    isolate: OnceLock<v8::IsolateHandle>,
    thread: OnceLock<Thread>,
    /// Its place among the runs of a runtime that counts what it gives up.
    place: OnceLock<Arc<Place>>,
    clock: ThreadClock,
    /// CPU nanoseconds of the thread that are not the program's.
    excused_nanos: AtomicU64,
    /// Thread CPU time at which the current host call began, plus one; 0 if none.
    host_since_nanos: AtomicU64,
    /// The isolate will run no more code of the program.
    stopped: AtomicBool,
    /// The isolate did not stop within the grace period.
    overdue: AtomicBool,
    /// The caller's task.
    pub(crate) caller: AtomicWaker,
}

impl RunControl {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            cause: OnceLock::new(),
            tripped: OnceLock::new(),
            isolate: OnceLock::new(),
            thread: OnceLock::new(),
            place: OnceLock::new(),
            clock: ThreadClock::default(),
            excused_nanos: AtomicU64::new(0),
            host_since_nanos: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            overdue: AtomicBool::new(false),
            caller: AtomicWaker::new(),
        }
    }

    /// Binds the run to the place that is given back if it must be given up.
    pub(super) fn attach_place(&self, place: Arc<Place>) {
        // As below: there is exactly one.
        let _ = self.place.set(place);
    }

    /// Binds the run to the thread that will run it: the caller of this.
    pub(crate) fn attach_thread(&self) {
        self.clock.attach_current_thread();
        // A second thread cannot be attached: a run has exactly one.
        let _ = self.thread.set(std::thread::current());
    }

    /// Binds the run to its isolate. What the engine needed to get ready is not
    /// the program's.
    pub(crate) fn attach_isolate(&self, isolate: v8::IsolateHandle) {
        self.excused_nanos.store(self.clock.nanos(), Ordering::Relaxed);
        // As above: there is exactly one.
        let _ = self.isolate.set(isolate);
    }

    /// Stops the run with `cause`, unless another cause came first.
    pub(crate) fn trip(&self, cause: Cause) {
        self.trip_since(cause, Instant::now());
    }

    /// Stops the run with a cause that holds since a moment which may have passed: the grace period began then,
    /// however late a busy machine lets somebody notice.
    pub(super) fn trip_since(&self, cause: Cause, since: Instant) {
        if self.cause.set(cause).is_ok() {
            let _ = self.tripped.set(since);
            watchdog::look_now();
            // In a worker the caller tells the host.
            self.caller.wake();
        }
        self.terminate();
    }

    /// Asks the engine to stop; repeated by the watchdog until it has.
    pub(crate) fn terminate(&self) {
        if self.stopped.load(Ordering::Acquire) {
            return;
        }
        if let Some(isolate) = self.isolate.get() {
            isolate.terminate_execution();
        }
        self.wake_isolate();
    }

    /// Makes the isolate's thread look at its queues again.
    pub(crate) fn wake_isolate(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.cause.get()
    }

    /// When the cause came.
    pub(super) fn tripped(&self) -> Option<Instant> {
        self.tripped.get().copied()
    }

    /// Said by the isolate's thread: no code of the program runs any more. True
    /// the first time.
    pub(crate) fn stop(&self) -> bool {
        !self.stopped.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Said by the watchdog: the caller shall answer without the isolate.
    pub(crate) fn give_up(&self) {
        // Before the answer, so that whoever has it finds the isolate counted.
        if let Some(place) = self.place.get() {
            place.abandon();
        }
        self.overdue.store(true, Ordering::Release);
        self.caller.wake();
    }

    pub(crate) fn is_overdue(&self) -> bool {
        self.overdue.load(Ordering::Acquire)
    }

    /// CPU time that the program has used.
    pub(crate) fn compute_used(&self) -> Duration {
        if self.isolate.get().is_none() {
            return Duration::ZERO;
        }
        let host_since = self.host_since_nanos.load(Ordering::Acquire);
        // While the host works on a call, the program's time stands still.
        let until = if host_since > 0 { host_since - 1 } else { self.clock.nanos() };
        Duration::from_nanos(until.saturating_sub(self.excused_nanos.load(Ordering::Acquire)))
    }

    /// Runs `work` of the host on the isolate's thread without billing it to the
    /// program.
    pub(crate) fn excuse<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.clock.nanos();
        self.host_since_nanos.store(before + 1, Ordering::Release);
        let result = work();
        let spent = self.clock.nanos().saturating_sub(before);
        self.excused_nanos.fetch_add(spent, Ordering::AcqRel);
        self.host_since_nanos.store(0, Ordering::Release);
        result
    }
}
