//! The choice of a back end: config key `isolation`.

use std::sync::Arc;

use crate::isolate::{Limits, ThreadRuntime, ThreadRuntimeConfig, ThreadRuntimeError};
#[cfg(unix)]
use crate::process::{ProcessRuntime, ProcessRuntimeConfig, ProcessRuntimeError};
use crate::seam::{CodeRuntime, Isolation};

/// A back end by name, with what both have in common.
///
/// ```no_run
/// use code_mode_runtime::{BackEndConfig, Isolation};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // First thing in `main`, for the sake of `process`:
/// code_mode_runtime::worker::run_if_requested();
/// let mut config = BackEndConfig::new("process".parse::<Isolation>()?);
/// config.limits.max_old_generation_size_mb = 128;
/// let runtime = config.build()?;
/// assert_eq!(runtime.isolation(), Isolation::Process);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackEndConfig {
    /// Which back end.
    pub isolation: Isolation,
    /// The limits of each run.
    pub limits: Limits,
    /// Runs at one time; default twice the cores. Further ones wait, first in
    /// first out.
    pub max_concurrent_runs: usize,
    /// Runs that may wait; default 1000. Further ones are refused.
    pub max_queued_runs: usize,
}

impl BackEndConfig {
    /// The defaults, for one back end.
    #[must_use]
    pub fn new(isolation: Isolation) -> Self {
        let ThreadRuntimeConfig { limits, max_concurrent_runs, max_queued_runs, .. } =
            ThreadRuntimeConfig::default();
        Self { isolation, limits, max_concurrent_runs, max_queued_runs }
    }

    /// Makes the back end.
    ///
    /// # Errors
    /// Those of [`ThreadRuntime::with_config`] or of the process back end;
    /// [`BackEndError::Unavailable`] for `process` where the system is no Unix.
    pub fn build(self) -> Result<Arc<dyn CodeRuntime>, BackEndError> {
        let Self { isolation, limits, max_concurrent_runs, max_queued_runs } = self;
        match isolation {
            Isolation::Thread => {
                let rest = ThreadRuntimeConfig::default();
                let config = ThreadRuntimeConfig { limits, max_concurrent_runs, max_queued_runs, ..rest };
                Ok(Arc::new(ThreadRuntime::with_config(config)?))
            }
            #[cfg(unix)]
            Isolation::Process => {
                let rest = ProcessRuntimeConfig::default();
                let config = ProcessRuntimeConfig { limits, max_concurrent_runs, max_queued_runs, ..rest };
                Ok(Arc::new(ProcessRuntime::with_config(config)?))
            }
            #[cfg(not(unix))]
            Isolation::Process => Err(BackEndError::Unavailable { isolation }),
        }
    }
}

impl Default for BackEndConfig {
    /// The back end `thread`.
    fn default() -> Self {
        Self::new(Isolation::Thread)
    }
}

/// Why a back end could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackEndError {
    /// The `thread` back end could not.
    #[error(transparent)]
    Thread(#[from] ThreadRuntimeError),
    /// The `process` back end could not.
    #[cfg(unix)]
    #[error(transparent)]
    Process(#[from] ProcessRuntimeError),
    /// This system has no such back end.
    #[error("isolation `{isolation}` is not available on this system")]
    Unavailable {
        /// What was asked for.
        isolation: Isolation,
    },
}
