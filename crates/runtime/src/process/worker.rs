//! The worker's side: one program at a time, in the same isolates that the
//! `thread` back end uses, its calls relayed to the host.
//!
//! The main thread reads what the host says and never runs anything itself, so
//! that an abort, or the end of the host, is noticed whatever a program does.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use super::confine;
use super::frame::{FrameError, Receiver, send};
use super::protocol::{GREETING, ToHost, ToWorker, VERSION, WireCause, WireFailure, WireNamespace};
use super::relay::Relay;
use super::reporter::Reporter;
use super::{BUILD, WORKER_ENV};
use crate::isolate::engine::Engine;
use crate::isolate::thread::{self, Job};
use crate::isolate::{Caller, Cause, End, Limits, RunControl, watchdog};
use crate::outcome;

/// Turns this process into a worker if it was started as one by
/// [`ProcessRuntime`](crate::ProcessRuntime); then it does not return. Otherwise
/// it does nothing.
///
/// A program that uses the `process` back end calls this first thing in `main`,
/// before it reads arguments, starts threads or a tokio runtime:
///
/// ```no_run
/// code_mode_runtime::worker::run_if_requested();
/// // What the program does.
/// ```
pub fn run_if_requested() {
    if std::env::var_os(WORKER_ENV).is_none() {
        return;
    }
    // Not an orderly exit, which would take the engine apart under its threads.
    confine::end_process(match serve() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("code-mode worker: {error}");
            EXIT_BROKEN
        }
    })
}

/// The exit status of a worker whose host broke the protocol.
const EXIT_BROKEN: i32 = 70;

/// Why a worker ends that its host did not simply leave.
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    #[error("the streams to the host are not there: {0}")]
    Streams(io::Error),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("the host sent {0} where it may not")]
    Order(&'static str),
}

/// Serves the host until it leaves.
fn serve() -> Result<(), WorkerError> {
    confine::die_with_host();
    confine::close_inherited();
    let (control, returns) = streams().map_err(WorkerError::Streams)?;
    let to_host = ToHostStream::new(control.try_clone().map_err(WorkerError::Streams)?);
    let mut control = Receiver::new(control);
    to_host.say(&ToHost::Hello { greeting: GREETING, version: VERSION, build: BUILD });
    let limits = match control.receive()? {
        Some(ToWorker::Configure { limits, max_data_bytes }) => {
            confine::limit_data(max_data_bytes);
            limits
        }
        Some(_) => return Err(WorkerError::Order("a message before the configuration")),
        None => return Ok(()),
    };
    let engine = match Engine::get() {
        Ok(engine) => engine,
        Err(reason) => {
            to_host.say(&ToHost::Broken { reason: &reason });
            return Ok(());
        }
    };
    let reporter = Reporter::start();
    let mut worker = Worker {
        limits,
        ready: ReadyThread::new(engine, &to_host),
        engine,
        returns: Arc::new(Mutex::new(Receiver::new(returns))),
        reporter,
        to_host: to_host.clone(),
        current: None,
        last: 0,
    };
    to_host.say(&ToHost::Ready);
    while let Some(message) = control.receive()? {
        worker.take(message)?;
    }
    Ok(())
}

/// The streams that the host passed as standard input and output. Nothing else
/// of this process shall reach them.
fn streams() -> io::Result<(UnixStream, UnixStream)> {
    let control = io::stdin().as_fd().try_clone_to_owned()?;
    let returns = io::stdout().as_fd().try_clone_to_owned()?;
    let nothing: OwnedFd = std::fs::File::options().read(true).write(true).open("/dev/null")?.into();
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok((control.into(), returns.into()))
}

struct Worker {
    limits: Limits,
    engine: &'static Engine,
    /// Where the next run's isolate will be.
    ready: ReadyThread,
    returns: Arc<Mutex<Receiver>>,
    reporter: Reporter,
    to_host: ToHostStream,
    current: Option<Current>,
    /// The number of the last run.
    last: u32,
}

/// The run that is being served, or was served last.
struct Current {
    run: u32,
    control: Arc<RunControl>,
    relay: Arc<Relay>,
}

impl Worker {
    fn take(&mut self, message: ToWorker<'_>) -> Result<(), WorkerError> {
        match message {
            ToWorker::Configure { .. } => Err(WorkerError::Order("a second configuration")),
            ToWorker::Run { run, program, namespaces } => self.run(run, program, namespaces),
            ToWorker::Abort { run, reason } => {
                if let Some(current) = self.current(run) {
                    current.control.trip(Cause::Abort(reason.to_owned()));
                }
                Ok(())
            }
            // An answer may come after the end of its run.
            ToWorker::Answer { run, call, answer } => match self.current(run) {
                Some(current) if !current.relay.settle(call, answer) => {
                    Err(WorkerError::Order("an answer to no call"))
                }
                _ => Ok(()),
            },
        }
    }

    fn current(&self, run: u32) -> Option<&Current> {
        self.current.as_ref().filter(|current| current.run == run)
    }

    fn run(
        &mut self,
        run: u32,
        program: &str,
        namespaces: Vec<WireNamespace<'_>>,
    ) -> Result<(), WorkerError> {
        if run <= self.last || self.current.as_ref().is_some_and(|current| !current.control.is_stopped()) {
            return Err(WorkerError::Order("a run"));
        }
        self.last = run;
        // From now on it cannot be given to another worker.
        self.to_host.say(&ToHost::Began { run });
        let control = Arc::new(RunControl::new(self.limits.clone()));
        let relay = Arc::new(Relay::new(run, self.to_host.clone(), Arc::clone(&self.returns)));
        let caller = Arc::new(RunCaller { run, to_host: self.to_host.clone(), ended: Mutex::new(false) });
        let job = Job {
            control: Arc::clone(&control),
            program: program.into(),
            namespaces: namespaces.into_iter().map(Into::into).collect(),
            calls: Arc::clone(&relay) as Arc<_>,
            caller: Arc::new(IsolateCaller(Arc::clone(&caller))),
        };
        self.reporter.report(&control, caller);
        watchdog::watch(Arc::clone(&control));
        self.current = Some(Current { run, control, relay });
        self.ready.run(job, run);
        self.ready = ReadyThread::new(self.engine, &self.to_host);
        Ok(())
    }
}

/// A thread that waits for the run of its one isolate, so that no run waits for it to be started. The isolate itself
/// is made for the run.
struct ReadyThread(mpsc::Sender<(Job, u32)>);

impl ReadyThread {
    fn new(engine: &Engine, to_host: &ToHostStream) -> Self {
        let (jobs, job) = mpsc::channel();
        let to_host = to_host.clone();
        // If there is no thread, nobody takes the job.
        let _ = engine.spawn(move || {
            if let Ok((job, run)) = job.recv() {
                thread::run(job);
                to_host.say(&ToHost::Gone { run });
            }
        });
        Self(jobs)
    }

    /// Runs a job. If there is no thread for it, it is dropped, and that tells the host.
    fn run(&self, job: Job, run: u32) {
        let _ = self.0.send((job, run));
    }
}

/// The writing end of the stream to the host, for any thread.
#[derive(Clone)]
pub(super) struct ToHostStream(Arc<Mutex<UnixStream>>);

impl ToHostStream {
    fn new(stream: UnixStream) -> Self {
        Self(Arc::new(Mutex::new(stream)))
    }

    /// Says `message`, whole. Without a host there is nothing left to do.
    pub(super) fn say(&self, message: &ToHost<'_>) {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if send(message, &mut *stream).is_err() {
            confine::end_process(0);
        }
    }
}

/// Tells the host about one run: nothing more once its end was told.
pub(super) struct RunCaller {
    run: u32,
    to_host: ToHostStream,
    /// Held while something is told, as more than one thread may have something to tell.
    ended: Mutex<bool>,
}

impl RunCaller {
    /// The end.
    pub(super) fn say_end(&self, end: &End, stuck: bool) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *ended, true) {
            return;
        }
        self.to_host.say(&ToHost::End {
            run: self.run,
            end: match &end.end {
                Ok(text) => Ok(text.as_deref()),
                Err(failure) => Err(WireFailure::from(failure)),
            },
            ends_with_expression: end.ends_with_expression,
            stuck,
        });
    }

    /// That a limit is reached.
    pub(super) fn say_stopping(&self, cause: WireCause) {
        self.say_within(&ToHost::Stopping { run: self.run, cause });
    }

    fn say_within(&self, message: &ToHost<'_>) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if !*ended {
            self.to_host.say(message);
        }
    }
}

/// [`RunCaller`] as the isolate's thread holds it.
struct IsolateCaller(Arc<RunCaller>);

impl Caller for IsolateCaller {
    fn log(&self, entry: String) {
        self.0.say_within(&ToHost::Log { run: self.0.run, entry: &entry });
    }

    fn end(&self, end: End) {
        self.0.say_end(&end, false);
    }
}

impl Drop for IsolateCaller {
    /// If the program has not ended, its thread was lost, or never there.
    fn drop(&mut self) {
        let end = Err(outcome::lost("its thread ended before the program did"));
        self.0.say_end(&End { end, ends_with_expression: false }, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_a_run_after_its_end() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let caller =
            Arc::new(RunCaller { run: 7, to_host: ToHostStream::new(ours), ended: Mutex::new(false) });
        let isolate = IsolateCaller(Arc::clone(&caller));
        caller.say_stopping(WireCause::Wall);
        isolate.log("before".to_owned());
        isolate.end(End { end: Ok(None), ends_with_expression: false });
        caller.say_stopping(WireCause::Heap);
        isolate.log("after".to_owned());
        drop((isolate, caller));
        let mut heard = Receiver::new(theirs);
        let mut next = || heard.receive().unwrap().map(|message: ToHost<'_>| format!("{message:?}"));
        assert_eq!(next().unwrap(), format!("{:?}", ToHost::Stopping { run: 7, cause: WireCause::Wall }));
        assert_eq!(next().unwrap(), format!("{:?}", ToHost::Log { run: 7, entry: "before" }));
        let end = ToHost::End { run: 7, end: Ok(None), ends_with_expression: false, stuck: false };
        assert_eq!(next().unwrap(), format!("{end:?}"));
        assert_eq!(next(), None);
    }
}
