//! One isolate from birth to end: the body of an isolate's thread.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Instant;

use deno_core::{JsRuntime, PollEventLoopOptions, RuntimeOptions, v8};

use super::control::RunControl;
use super::heap::{HeapGuard, give_back};
use crate::bridge::call::Calls;
use crate::bridge::guest::RunGuest;
use crate::bridge::ops::{self, GuestSlot};
use crate::bridge::program::{self, Program, Progress};
use crate::hints::Hints;
use crate::outcome;
use crate::seam::{Failure, Namespace};
use crate::source;

#[cfg(feature = "v8")]
static SNAPSHOT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/code_mode.snapshot"));

/// Whom an isolate's thread tells what happens. Dropped without an end if the
/// thread is lost.
pub(crate) trait Caller: Send + Sync {
    /// One entry of the log, which the output limit bounds.
    fn log(&self, entry: String);

    /// How the program ended; told once, last.
    fn end(&self, end: End);
}

/// How a program ended, before the output limit is applied.
#[derive(Debug)]
pub(crate) struct End {
    /// The completion as JSON text, nothing for `undefined`.
    pub(crate) end: Result<Option<String>, Failure>,
    pub(crate) ends_with_expression: bool,
}

/// What a thread needs to run one program.
pub(crate) struct Job {
    pub(crate) control: Arc<RunControl>,
    pub(crate) program: Arc<str>,
    pub(crate) namespaces: Vec<Namespace>,
    pub(crate) calls: Arc<dyn Calls>,
    pub(crate) caller: Arc<dyn Caller>,
}

impl Job {
    /// What the host can add to errors of the engine.
    pub(crate) fn hints(&self) -> Hints {
        Hints::new(Arc::clone(&self.program), &self.namespaces, self.control.limits.max_array_buffer_bytes)
    }
}

/// Runs `job`; returns when its isolate is gone.
pub(crate) fn run(job: Job) {
    job.control.attach_thread();
    let source = match source::prepare(&job.program, job.control.limits.max_source_bytes) {
        Ok(source) => source,
        Err(error) => return end(&job, Err(outcome::refused(&job.program, &error)), false),
    };
    let ends_with_expression = source.ends_with_expression;
    if job.control.cause().is_some() {
        return end(&job, Err(outcome::stopped(&job.control)), ends_with_expression);
    }
    let heap = HeapGuard::new(Arc::clone(&job.control));
    let guest = Rc::new(RunGuest::new(
        Arc::clone(&job.control),
        Arc::clone(&job.calls),
        Arc::clone(&job.caller),
        job.hints(),
    ));
    let mut runtime = match isolate(&heap, &guest) {
        Ok(runtime) => runtime,
        Err(reason) => return end(&job, Err(outcome::lost(&reason)), ends_with_expression),
    };
    job.control.attach_isolate(runtime.v8_isolate().thread_safe_handle());
    let outcome = drive(&mut runtime, &job, &guest, &source.body);
    let outcome = match (outcome, job.control.cause()) {
        (_, Some(_)) => Err(outcome::stopped(&job.control)),
        (Err(failure), None) if heap.reached() && outcome::is_out_of_memory(&failure) => {
            Err(outcome::heap_limit(&job.control.limits))
        }
        (outcome, None) => outcome,
    };
    // The caller is answered before the isolate is taken apart.
    end(&job, outcome, ends_with_expression);
    program::forget();
    drop(runtime);
    if heap.reached() {
        give_back();
    }
    drop(heap);
}

fn end(job: &Job, end: Result<Option<String>, Failure>, ends_with_expression: bool) {
    // The caller may have given it up; it is told all the same.
    let _ = job.control.stop();
    job.caller.end(End { end, ends_with_expression });
}

fn isolate(heap: &HeapGuard, guest: &Rc<RunGuest>) -> Result<JsRuntime, String> {
    #[cfg(feature = "v8")]
    let (javascript, startup_snapshot) = (Vec::new(), Some(SNAPSHOT));
    #[cfg(not(feature = "v8"))]
    let (javascript, startup_snapshot) = (crate::bridge::sources(), None);
    let mut runtime = JsRuntime::try_new(RuntimeOptions {
        extensions: vec![ops::extension(javascript)],
        // A snapshot holds the ops already, bound.
        skip_op_registration: startup_snapshot.is_some(),
        startup_snapshot,
        create_params: Some(heap.create_params()),
        ..RuntimeOptions::default()
    })
    .map_err(|error| error.to_string())?;
    runtime.op_state().borrow_mut().put(GuestSlot(Rc::clone(guest) as Rc<dyn ops::Guest>));
    heap.arm(runtime.v8_isolate());
    Ok(runtime)
}

/// Runs the program to its end. Whatever it returns does not count if the run was
/// stopped meanwhile.
fn drive(
    runtime: &mut JsRuntime,
    job: &Job,
    guest: &RunGuest,
    body: &str,
) -> Result<Option<String>, Failure> {
    let stopped = || Err(outcome::stopped(&job.control));
    let program = {
        deno_core::scope!(scope, runtime);
        if program::install(scope, &job.namespaces).is_none() {
            return stopped();
        }
        match program::start(scope, &job.namespaces, body) {
            Ok(Some(program)) => program,
            Ok(None) => return stopped(),
            Err(thrown) => return Err(outcome::threw(job, &thrown)),
        }
    };
    let housekeeping = Housekeeping::new();
    loop {
        if job.control.cause().is_some() {
            return stopped();
        }
        let turn = {
            deno_core::scope!(scope, runtime);
            turn(scope, &program, job, guest)
        };
        match turn {
            Turn::Again => {}
            Turn::Idle => {
                if !housekeeping.done(runtime) {
                    park(guest);
                }
            }
            Turn::Ended(end) => return end,
        }
    }
}

/// What one turn of the event loop came to.
enum Turn {
    /// Something happened, so more may be ready.
    Again,
    /// Nothing is ready.
    Idle,
    /// The program has ended.
    Ended(Result<Option<String>, Failure>),
}

/// Runs what is ready: jobs, then answers, then one timer.
fn turn(scope: &mut v8::PinScope<'_, '_>, program: &Program, job: &Job, guest: &RunGuest) -> Turn {
    match program.turn(scope) {
        None => return Turn::Ended(Err(outcome::stopped(&job.control))),
        Some(Progress::Threw(thrown)) => return Turn::Ended(Err(outcome::threw(job, &thrown))),
        Some(Progress::Lossy(problem)) => return Turn::Ended(Err(outcome::lossy(&problem))),
        Some(Progress::Completed(text)) => {
            return Turn::Ended(match program.unhandled(scope) {
                Some(thrown) => Err(outcome::unhandled(job, &thrown)),
                None => Ok(text),
            });
        }
        Some(Progress::Pending) => {}
    }
    let arrivals = guest.take_arrivals();
    if !arrivals.is_empty() {
        for (id, settlement) in arrivals {
            if program::settle(scope, id, &settlement).is_none() {
                break;
            }
        }
        return Turn::Again;
    }
    if let Some(id) = guest.pop_due_timer() {
        return match program::fire_timer(scope, id) {
            Some(thrown) => Turn::Ended(Err(outcome::threw(job, &thrown))),
            None => Turn::Again,
        };
    }
    if guest.is_idle_for_ever() {
        return Turn::Ended(Err(match program.unhandled(scope) {
            Some(thrown) => outcome::unhandled(job, &thrown),
            None => outcome::stalled(),
        }));
    }
    Turn::Idle
}

/// Waits for an answer, a timer or a stop. A wake-up that comes between the look
/// at the queues and the waiting is not lost.
fn park(guest: &RunGuest) {
    match guest.next_timer() {
        Some(due) => std::thread::park_timeout(due.saturating_duration_since(Instant::now())),
        None => std::thread::park(),
    }
}

/// The engine's own tasks, such as finalizers, which it posts from its threads.
struct Housekeeping {
    posted: Arc<Posted>,
    waker: Waker,
}

struct Posted {
    thread: std::thread::Thread,
    any: std::sync::atomic::AtomicBool,
}

impl Wake for Posted {
    fn wake(self: Arc<Self>) {
        self.any.store(true, std::sync::atomic::Ordering::Release);
        self.thread.unpark();
    }
}

impl Housekeeping {
    fn new() -> Self {
        // True at first: the engine learns of the waker when it is polled.
        let any = std::sync::atomic::AtomicBool::new(true);
        let posted = Arc::new(Posted { thread: std::thread::current(), any });
        Self { waker: Waker::from(Arc::clone(&posted)), posted }
    }

    /// Runs what was posted; true if there was anything.
    fn done(&self, runtime: &mut JsRuntime) -> bool {
        if !self.posted.any.swap(false, std::sync::atomic::Ordering::AcqRel) {
            return false;
        }
        // None of our work is in deno_core's loop, so neither is its outcome.
        let _ =
            runtime.poll_event_loop(&mut Context::from_waker(&self.waker), PollEventLoopOptions::default());
        true
    }
}
