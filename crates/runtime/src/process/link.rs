//! One worker as the host holds it, and the thread that listens to it.
//!
//! The thread starts the process, reads what it says, makes the program's calls,
//! and reaps it. Nothing else waits for a worker.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use super::frame::{FrameError, encode};
use super::outbox::Outbox;
use super::pool::Pool;
use super::protocol::{Return, ToHost, ToWorker, WireFailure, WireNamespace};
use super::start::Started;
use crate::answer::Told;
use crate::bridge::call::HostCalls;
use crate::isolate::{Cause, RunControl};
use crate::ledger::LogMeter;
use crate::outcome;
use crate::seam::{Failure, FailureKind, Namespace};

/// A worker, for whoever gives it a run or ends it.
pub(super) struct Worker {
    pub(super) id: u32,
    /// Nothing once it is being reaped.
    child: Mutex<Option<Child>>,
    outbox: Arc<Outbox>,
    runs: AtomicU32,
    mailbox: Mutex<Mailbox>,
}

/// Where a run is left for the thread that listens.
enum Mailbox {
    Open(Option<Run>),
    /// The worker is gone.
    Closed,
}

/// A run as the thread that listens holds it.
pub(super) struct Run {
    pub(super) control: Arc<RunControl>,
    pub(super) calls: HostCalls,
    pub(super) caller: mpsc::UnboundedSender<Told>,
}

/// A [`Run`] that has begun.
struct Begun {
    number: u32,
    run: Run,
    meter: LogMeter,
    last_call: u32,
}

impl Worker {
    /// Gives the worker a run; its number, nothing if the worker is gone. To be
    /// called between runs only.
    pub(super) fn begin(&self, run: Run, program: &str, namespaces: &[Namespace]) -> Option<u32> {
        let number = self.runs.fetch_add(1, Ordering::AcqRel) + 1;
        {
            let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *mailbox {
                Mailbox::Closed => return None,
                Mailbox::Open(place) => *place = Some(run),
            }
        }
        let namespaces = namespaces.iter().map(WireNamespace::from).collect();
        self.outbox.post(encode(&ToWorker::Run { run: number, program, namespaces }));
        Some(number)
    }

    /// Asks the worker to end a run as cancelled.
    pub(super) fn abort(&self, run: u32, reason: &str) {
        self.outbox.post(encode(&ToWorker::Abort { run, reason }));
    }

    /// Ends the process. Whoever waits for its run is told.
    pub(super) fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = &mut *child {
            // It may have ended by itself.
            let _ = child.kill();
        }
    }

    /// Runs that it was given.
    pub(super) fn runs(&self) -> u32 {
        self.runs.load(Ordering::Acquire)
    }
}

/// Listens to a worker until it is gone.
pub(super) fn listen(started: Started, pool: &Arc<Pool>) {
    let Started { child, mut from_worker, outbox, returns } = started;
    let worker = Arc::new(Worker {
        id: child.id(),
        child: Mutex::new(Some(child)),
        outbox,
        runs: AtomicU32::new(0),
        mailbox: Mutex::new(Mailbox::Open(None)),
    });
    pool.add(&worker);
    let mut listener = Listener { worker: &worker, pool, returns, begun: None };
    let fault = loop {
        match from_worker.receive() {
            Ok(Some(message)) => match listener.take(message) {
                Ok(()) => {}
                Err(fault) => break Some(fault),
            },
            Ok(None) => break None,
            Err(error) => break Some(Fault::Frame(error)),
        }
    };
    let begun = listener.begun.take();
    let status = reap(&worker);
    let mailbox = {
        let mut mailbox = worker.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *mailbox, Mailbox::Closed)
    };
    pool.remove(&worker);
    if let Some(fault) = &fault {
        tracing::warn!(worker = worker.id, %fault, "a worker was ended");
    }
    if let Some(begun) = begun {
        begun.run.lost(fault.is_some(), status);
    } else if let Mailbox::Open(Some(run)) = mailbox {
        run.not_begun();
    }
}

/// Why a worker is not listened to any more.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Frame(FrameError),
    #[error("the worker said {0} where it may not")]
    Order(&'static str),
    #[error("an answer could not be handed to it: {0}")]
    Return(std::io::Error),
    #[error("its isolate does not stop")]
    Stuck,
}

struct Listener<'a> {
    worker: &'a Arc<Worker>,
    pool: &'a Arc<Pool>,
    returns: UnixStream,
    begun: Option<Begun>,
}

impl Listener<'_> {
    fn take(&mut self, message: ToHost<'_>) -> Result<(), Fault> {
        match message {
            ToHost::Hello { .. } | ToHost::Ready | ToHost::Broken { .. } => {
                Err(Fault::Order("its first words again"))
            }
            ToHost::Began { run } => {
                if self.begun.is_some() {
                    return Err(Fault::Order("a beginning"));
                }
                self.begun(run).map(|_| ())
            }
            ToHost::Log { run, entry } => {
                self.begun(run)?.log(entry);
                Ok(())
            }
            ToHost::Call { run, call, namespace, function, arguments } => {
                self.call(run, call, (namespace, function), arguments)
            }
            ToHost::Stopping { run, cause } => {
                // From now on the grace period runs here as well.
                self.begun(run)?.run.control.trip(cause.into());
                Ok(())
            }
            ToHost::End { run, end, ends_with_expression, stuck } => {
                self.begun(run)?;
                if let Some(begun) = self.begun.take() {
                    self.end(&begun.run, end, ends_with_expression, stuck)?;
                }
                Ok(())
            }
            ToHost::Gone { run } => self.gone(run),
        }
    }

    /// Looks at what is left of a run, unless the next one is there already.
    fn gone(&mut self, number: u32) -> Result<(), Fault> {
        let last = self.worker.runs();
        if number == 0 || number > last || self.begun.as_ref().is_some_and(|begun| begun.number == number) {
            return Err(Fault::Order("that a run is gone"));
        }
        if number == last {
            self.pool.inspect(self.worker);
        }
        Ok(())
    }

    /// The run that the worker speaks of, which must be the one that it has.
    fn begun(&mut self, number: u32) -> Result<&mut Begun, Fault> {
        if self.begun.is_none() {
            let mut mailbox = self.worker.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
            if let Mailbox::Open(place) = &mut *mailbox
                && let Some(run) = place.take()
            {
                let meter = LogMeter::new(run.control.limits.max_output_bytes);
                self.begun = Some(Begun { number: self.worker.runs(), run, meter, last_call: 0 });
            }
        }
        self.begun
            .as_mut()
            .filter(|begun| begun.number == number)
            .ok_or(Fault::Order("a run it does not have"))
    }

    fn call(&mut self, run: u32, call: u32, place: (u32, u32), arguments: &str) -> Result<(), Fault> {
        let outbox = Arc::clone(&self.worker.outbox);
        let begun = self.begun(run)?;
        if call != begun.last_call.wrapping_add(1) {
            return Err(Fault::Order("a call out of order"));
        }
        begun.last_call = call;
        let control = Arc::clone(&begun.run.control);
        let late = move |answer: String| {
            // After the end of the run nobody waits for it.
            if !control.is_stopped() {
                outbox.post(encode(&ToWorker::Answer { run, call, answer: &answer }));
            }
        };
        let answer = begun.run.calls.make(place.0, place.1, arguments, late);
        let returned = encode(&match &answer {
            Some(answer) => Return::Now { call, answer },
            None => Return::Later { call },
        });
        self.returns.write_all(&returned).map_err(Fault::Return)
    }

    fn end(
        &mut self,
        run: &Run,
        end: Result<Option<&str>, WireFailure<'_>>,
        ends_with_expression: bool,
        stuck: bool,
    ) -> Result<(), Fault> {
        let end = match end {
            // The first cause wins, and this one the worker may not have known.
            _ if matches!(run.control.cause(), Some(Cause::Abort(_))) => Err(outcome::stopped(&run.control)),
            Ok(text) => outcome::completed(text),
            Err(failure) => Err(failure.into()),
        };
        // If its caller has given it up, it is being ended.
        let in_time = run.control.stop();
        // Whose memory was used up may not have room for another isolate yet.
        let spent = matches!(&end, Err(failure) if failure.kind == FailureKind::WorkerExit);
        if in_time && !stuck && !spent {
            // Before the caller is told, so that the next run finds it ready.
            self.pool.release(self.worker);
        }
        run.tell(Told::End { end, ends_with_expression });
        if stuck || !in_time {
            return Err(Fault::Stuck);
        }
        if spent {
            self.worker.kill();
        }
        Ok(())
    }
}

impl Begun {
    fn log(&mut self, entry: &str) {
        if matches!(self.run.control.cause(), Some(Cause::Output)) {
            // More than the limit is never kept.
            return;
        }
        if !self.meter.add(entry) {
            self.run.control.trip(Cause::Output);
        }
        self.run.tell(Told::Log(entry.to_owned()));
    }
}

impl Run {
    /// The worker was gone before it knew of the program.
    fn not_begun(self) {
        if self.control.cause().is_some() {
            return self.lost(false, None);
        }
        let _ = self.control.stop();
        self.tell(Told::NotBegun);
    }

    /// The worker is gone, and with it the program.
    fn lost(self, faulty: bool, status: Option<ExitStatus>) {
        let failure = match self.control.cause() {
            Some(_) => outcome::stopped(&self.control),
            None if faulty => outcome::lost("the worker process broke the protocol and was ended"),
            None => gone(status),
        };
        let _ = self.control.stop();
        self.tell(Told::End { end: Err(failure), ends_with_expression: false });
    }

    fn tell(&self, told: Told) {
        // The caller is gone only if its run was dropped; then nobody is told.
        let _ = self.caller.send(told);
    }
}

/// The failure of a program whose process ended under it.
fn gone(status: Option<ExitStatus>) -> Failure {
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => {
            Failure::new(FailureKind::WorkerExit, format!("worker exited with code {code} before completing"))
        }
        Some((None, Some(signal))) => outcome::lost(&format!(
            "the worker process was ended by signal {signal} before the program completed; it may have used too much memory"
        )),
        _ => outcome::lost("the worker process ended before the program completed"),
    }
}

/// Ends the process and waits for it.
fn reap(worker: &Worker) -> Option<ExitStatus> {
    let mut child = worker.child.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    // How it ended by itself says more than that it was ended.
    match child.try_wait() {
        Ok(Some(status)) => Some(status),
        _ => {
            let _ = child.kill();
            child.wait().ok()
        }
    }
}
