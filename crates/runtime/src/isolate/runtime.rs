//! [`ThreadRuntime`]: queueing runs, starting their threads, answering callers.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use tokio::sync::mpsc;

use super::abandoned::{Abandoned, Place, Tenant};
use super::control::{Cause, RunControl};
use super::engine::Engine;
use super::limits::{Limits, LimitsError};
use super::thread::{self, Job};
use super::watchdog;
use crate::admission::{Admission, Admitted};
use crate::answer::{answer, never_begun};
use crate::bridge::call::HostCalls;
use crate::seam::{CodeRuntime, Isolation, MisuseError, RunOutcome, RunRequest};

/// What a [`ThreadRuntime`] is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadRuntimeConfig {
    /// The limits of each run.
    pub limits: Limits,
    /// Runs at one time; default twice the cores. Further ones wait, first in
    /// first out.
    pub max_concurrent_runs: usize,
    /// Runs that may wait; default 1000. Further ones are refused.
    pub max_queued_runs: usize,
    /// Isolates that may still be busy after their callers were answered without
    /// them; default one less than the cores, at least 1. While there are more,
    /// new runs wait: those that have a place among the concurrent ones beside
    /// the queue, further ones in it.
    pub max_abandoned_isolates: usize,
}

impl Default for ThreadRuntimeConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            limits: Limits::default(),
            max_concurrent_runs: 2 * cores,
            max_queued_runs: 1000,
            max_abandoned_isolates: cores.saturating_sub(1).max(1),
        }
    }
}

/// Runs programs in isolates on threads of this process. Cheap to clone.
///
/// A limit that the engine honours ends a run in time whatever the program does.
/// Some built-ins of the engine cannot be interrupted: the caller is then
/// answered all the same, [`Limits::grace`] after the limit, and the thread goes
/// on until the built-in returns; [`abandoned_isolates`](Self::abandoned_isolates)
/// counts such threads, and new runs wait while there are too many. What the
/// engine cannot survive at all, such as exhausting the memory of its parser,
/// ends this process; the back end of worker processes is the remedy for that
/// (`ProcessRuntime`, on Unix).
#[derive(Clone)]
pub struct ThreadRuntime {
    shared: Arc<Shared>,
}

struct Shared {
    config: ThreadRuntimeConfig,
    admission: Admission,
    abandoned: Arc<Abandoned>,
}

impl std::fmt::Debug for ThreadRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadRuntime").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

impl ThreadRuntime {
    /// A runtime under the default limits.
    ///
    /// # Errors
    /// As [`with_config`](Self::with_config).
    pub fn new() -> Result<Self, ThreadRuntimeError> {
        Self::with_config(ThreadRuntimeConfig::default())
    }

    /// A runtime. The engine is started here, once per process.
    ///
    /// # Errors
    /// [`ThreadRuntimeError`] for a limit that no run could be under, for a count
    /// of zero, and if the engine cannot be started.
    pub fn with_config(config: ThreadRuntimeConfig) -> Result<Self, ThreadRuntimeError> {
        config.limits.check()?;
        if config.max_concurrent_runs == 0 {
            return Err(ThreadRuntimeError::NoRuns);
        }
        Engine::get().map_err(|reason| ThreadRuntimeError::Engine { reason })?;
        Ok(Self {
            shared: Arc::new(Shared {
                admission: Admission::new(config.max_concurrent_runs, config.max_queued_runs),
                abandoned: Arc::new(Abandoned::new(config.max_abandoned_isolates)),
                config,
            }),
        })
    }

    /// How many isolates are still busy although their callers were answered: each
    /// keeps a core and its memory until its built-in returns.
    #[must_use]
    pub fn abandoned_isolates(&self) -> usize {
        self.shared.abandoned.count()
    }

    /// Ends all runs as `abort` with message `runtime disposed` and refuses
    /// further ones. Idempotent.
    pub fn dispose(&self) {
        self.shared.admission.close();
    }
}

/// Why a [`ThreadRuntime`] could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadRuntimeError {
    /// A limit that no run could be under.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// No run could ever start.
    #[error("max_concurrent_runs must be at least 1")]
    NoRuns,
    /// The engine could not be started.
    #[error("the JavaScript engine could not be started: {reason}")]
    Engine {
        /// Why.
        reason: String,
    },
}

impl CodeRuntime for ThreadRuntime {
    fn run(&self, request: RunRequest) -> BoxFuture<'static, Result<RunOutcome, MisuseError>> {
        let shared = Arc::clone(&self.shared);
        async move { run(&shared, request).await }.boxed()
    }

    fn language(&self) -> &str {
        "typescript"
    }

    fn isolation(&self) -> Isolation {
        Isolation::Thread
    }

    fn limits(&self) -> &Limits {
        &self.shared.config.limits
    }
}

async fn run(shared: &Arc<Shared>, request: RunRequest) -> Result<RunOutcome, MisuseError> {
    let limits = shared.config.limits.clone();
    let Admitted { embedder, signal, place } = shared.admission.enter(&request).await?;
    let Some(permit) = place else {
        return Ok(never_begun(&signal, &limits));
    };
    let engine = Engine::get().map_err(|reason| MisuseError::Engine { reason })?;
    if !shared.abandoned.are_few(&signal).await {
        return Ok(never_begun(&signal, &limits));
    }
    // From here on it is the watchdog or the isolate's thread that gives the place back.
    permit.forget();
    let place = Arc::new(Place::new(Arc::clone(&shared.abandoned), shared.admission.places()));
    let tenant = Tenant(Arc::clone(&place));
    let control = Arc::new(RunControl::new(limits));
    control.attach_place(place);
    let (caller, told) = mpsc::unbounded_channel();
    let job = Job {
        control: Arc::clone(&control),
        program: request.program,
        calls: Arc::new(HostCalls::new(request.namespaces.clone(), embedder)),
        namespaces: request.namespaces,
        caller: Arc::new(caller),
    };
    watchdog::watch(Arc::clone(&control));
    engine
        .spawn(move || {
            thread::run(job);
            drop(tenant);
        })
        .map_err(|reason| MisuseError::Engine { reason })?;
    let guard = StopOnDrop(control);
    let abort = |reason| guard.0.trip(Cause::Abort(reason));
    let outcome = answer(&guard.0, told, &signal, request.logs.as_deref(), abort).await;
    Ok(outcome.unwrap_or_else(|| never_begun(&signal, &guard.0.limits)))
}

/// Stops the run if its caller goes away.
struct StopOnDrop(Arc<RunControl>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if !self.0.is_stopped() {
            self.0.trip(Cause::Abort("the run was dropped by its caller".to_owned()));
        }
    }
}
