//! [`ProcessRuntime`]: queueing runs, giving them to workers, answering callers.

use std::sync::Arc;

use code_mode_registry::Signal;
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::mpsc;

use super::config::{ProcessRuntimeConfig, ProcessRuntimeError};
use super::link::{Run, Worker};
use super::pool::Pool;
use crate::admission::{Admission, Admitted};
use crate::answer::{answer, never_begun, not_begun};
use crate::bridge::call::HostCalls;
use crate::isolate::{Cause, Limits, RunControl, watchdog};
use crate::outcome;
use crate::seam::{CodeRuntime, Isolation, MisuseError, RunOutcome, RunRequest};
use crate::source;

/// Runs programs in worker processes. Cheap to clone; its workers end when the
/// last clone is dropped, and with this process however that ends.
///
/// A worker is this very executable, started again, whose `main` begins with
/// [`run_if_requested`](crate::worker::run_if_requested). It is ended and replaced
/// when it has not stopped a program within [`Limits::grace`] after a limit, or
/// is lost to whatever its engine cannot survive; the program then fails, and
/// nothing else does. No tool runs in a worker: calls come back to this process.
///
/// A worker counts compute itself and says at once when a limit is reached; wall
/// time, the grace period and the output are also counted here, so a worker that
/// says nothing ends at the wall limit. Its memory is bounded by
/// [`ProcessRuntimeConfig::max_worker_bytes`]. It may still use what any process
/// of its user may: a hole in the engine is contained by the process, not by a
/// sandbox around it.
///
/// What it costs over [`ThreadRuntime`](crate::ThreadRuntime): some hundred
/// microseconds a run, some ten microseconds a call, and the memory of its
/// workers.
#[derive(Clone)]
pub struct ProcessRuntime {
    shared: Arc<Shared>,
}

struct Shared {
    pool: Arc<Pool>,
    admission: Admission,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.pool.close();
    }
}

impl std::fmt::Debug for ProcessRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcessRuntime").field("config", &self.shared.pool.config).finish_non_exhaustive()
    }
}

impl ProcessRuntime {
    /// A runtime under the default limits.
    ///
    /// # Errors
    /// As [`with_config`](Self::with_config).
    pub fn new() -> Result<Self, ProcessRuntimeError> {
        Self::with_config(ProcessRuntimeConfig::default())
    }

    /// A runtime. Its first workers are being started when this returns; if they
    /// cannot be, the first run says why.
    ///
    /// # Errors
    /// [`ProcessRuntimeError`] for a limit that no run could be under, for a count
    /// of zero, and in a process that is a worker itself.
    pub fn with_config(config: ProcessRuntimeConfig) -> Result<Self, ProcessRuntimeError> {
        config.check()?;
        // Else a `main` without `run_if_requested` would start itself for ever.
        if std::env::var_os(super::WORKER_ENV).is_some() {
            return Err(ProcessRuntimeError::Worker);
        }
        let admission = Admission::new(config.max_concurrent_runs, config.max_queued_runs);
        Ok(Self { shared: Arc::new(Shared { pool: Pool::new(config), admission }) })
    }

    /// Ends all runs as `abort` with message `runtime disposed`, refuses further
    /// ones, and ends the workers. Idempotent.
    pub fn dispose(&self) {
        self.shared.admission.close();
        self.shared.pool.close();
    }

    /// The process ids of its workers, for whoever watches over them.
    #[must_use]
    pub fn worker_ids(&self) -> Vec<u32> {
        self.shared.pool.ids()
    }
}

impl CodeRuntime for ProcessRuntime {
    fn run(&self, request: RunRequest) -> BoxFuture<'static, Result<RunOutcome, MisuseError>> {
        let shared = Arc::clone(&self.shared);
        async move { run(&shared, request).await }.boxed()
    }

    fn language(&self) -> &str {
        "typescript"
    }

    fn isolation(&self) -> Isolation {
        Isolation::Process
    }

    fn limits(&self) -> &Limits {
        &self.shared.pool.config.limits
    }
}

/// How many workers a run is offered to, as long as none has begun it.
const MAX_ATTEMPTS: usize = 5;

async fn run(shared: &Arc<Shared>, request: RunRequest) -> Result<RunOutcome, MisuseError> {
    let limits = &shared.pool.config.limits;
    let Admitted { embedder, signal, place } = shared.admission.enter(&request).await?;
    let Some(_place) = place else {
        return Ok(never_begun(&signal, limits));
    };
    // So that what is too long does not cross.
    if let Err(error) = source::check_length(&request.program, limits.max_source_bytes) {
        return Ok(not_begun(outcome::refused(&request.program, &error), limits));
    }
    for _ in 0..MAX_ATTEMPTS {
        let lease = tokio::select! {
            biased;
            _ = signal.cancelled() => return Ok(never_begun(&signal, limits)),
            lease = shared.pool.take() => lease,
        };
        let worker = lease.map_err(|error| MisuseError::Worker { reason: error.to_string() })?.into_worker();
        if let Some(outcome) = run_in(worker, &request, &embedder, limits, &signal).await {
            return Ok(outcome);
        }
    }
    Err(MisuseError::Worker { reason: "workers end as soon as they have started".to_owned() })
}

/// Runs a program in a worker; nothing if that was gone before it began.
async fn run_in(
    worker: Arc<Worker>,
    request: &RunRequest,
    embedder: &tokio::runtime::Handle,
    limits: &Limits,
    signal: &Signal,
) -> Option<RunOutcome> {
    let (caller, told) = mpsc::unbounded_channel();
    let control = Arc::new(RunControl::new(limits.clone()));
    let calls = HostCalls::new(request.namespaces.clone(), embedder.clone());
    let run = Run { control: Arc::clone(&control), calls, caller };
    let number = worker.begin(run, &request.program, &request.namespaces)?;
    let busy = Busy { worker, control };
    watchdog::watch(Arc::clone(&busy.control));
    let abort = |reason: String| {
        busy.worker.abort(number, &reason);
        busy.control.trip(Cause::Abort(reason));
    };
    answer(&busy.control, told, signal, request.logs.as_deref(), abort).await
}

/// A worker with a run that somebody waits for. Ended if nobody does, and if it
/// has not stopped in time.
struct Busy {
    worker: Arc<Worker>,
    control: Arc<RunControl>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.control.stop() {
            self.worker.kill();
        }
    }
}
