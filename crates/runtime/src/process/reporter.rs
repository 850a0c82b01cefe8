//! The thread of a worker that tells the host of limits: that one is reached,
//! and that the isolate did not stop within the grace period.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::protocol::WireCause;
use super::worker::RunCaller;
use crate::isolate::{End, RunControl};
use crate::outcome;

/// The thread. It sleeps unless a limit is reached; a run that reaches none costs
/// it nothing.
pub(super) struct Reporter(Sender<Arc<Report>>);

impl Reporter {
    pub(super) fn start() -> Self {
        let (due, reports) = mpsc::channel::<Arc<Report>>();
        let thread = std::thread::Builder::new().name("code-mode-reporter".to_owned());
        thread
            .spawn(move || reports.iter().for_each(Report::look))
            // Without the thread no limit would reach the host.
            .expect("the operating system can start one more thread");
        Self(due)
    }

    /// Reports on `run` from now on. To be called before anything can stop it.
    pub(super) fn report(&self, run: &Arc<RunControl>, caller: Arc<RunCaller>) {
        let report = Report {
            run: Arc::downgrade(run),
            caller,
            is_stopping_told: AtomicBool::new(false),
            due: self.0.clone(),
        };
        run.caller.register(&Waker::from(Arc::new(report)));
    }
}

/// What there may be to tell of one run: it stands in for the task of a caller.
struct Report {
    /// The run holds the waker, so this must not hold the run.
    run: Weak<RunControl>,
    caller: Arc<RunCaller>,
    is_stopping_told: AtomicBool,
    due: Sender<Arc<Report>>,
}

impl Wake for Report {
    fn wake(self: Arc<Self>) {
        // The thread lives as long as the process.
        let _ = self.due.send(Arc::clone(&self));
    }
}

impl Report {
    fn look(self: Arc<Self>) {
        let Some(run) = self.run.upgrade() else { return };
        // Before the look, so that what happens during it is looked at again.
        run.caller.register(&Waker::from(Arc::clone(&self)));
        if run.is_stopped() {
            return;
        }
        if let Some(cause) = run.cause().and_then(WireCause::of)
            && !self.is_stopping_told.swap(true, Ordering::Relaxed)
        {
            self.caller.say_stopping(cause);
        }
        if run.is_overdue() {
            let end = End { end: Err(outcome::stopped(&run)), ends_with_expression: false };
            self.caller.say_end(&end, true);
        }
    }
}
