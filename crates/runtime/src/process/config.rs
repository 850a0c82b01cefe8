//! What a [`ProcessRuntime`](super::ProcessRuntime) is made with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::isolate::{Limits, LimitsError, ThreadRuntimeConfig};

/// What a [`ProcessRuntime`](super::ProcessRuntime) is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessRuntimeConfig {
    /// The limits of each run, as in the `thread` back end.
    pub limits: Limits,
    /// Runs at one time, hence busy workers; default twice the cores. Further
    /// ones wait, first in first out.
    pub max_concurrent_runs: usize,
    /// Runs that may wait; default 1000. Further ones are refused.
    pub max_queued_runs: usize,
    /// Workers that are kept ready beside the busy ones, so that no run waits for a
    /// process to start; default 1. They are started with the runtime, before its
    /// first run and also if there is never one; with 0 a worker is started when a
    /// run needs it and there is none from an earlier one. Busy and ready ones
    /// together are at most `max_concurrent_runs` and this.
    pub spare_workers: usize,
    /// Runs that one worker serves before it is replaced; default 1000. With 1
    /// each run has a process of its own.
    pub max_runs_per_worker: usize,
    /// Resident memory of an idle worker, in bytes, beyond which it is replaced;
    /// default 256 MiB. Linux only.
    pub max_idle_worker_bytes: u64,
    /// Memory that a worker may allocate, in bytes; default (`None`) four times
    /// the heap limit, the array-buffer limit and 576 MiB together. It holds what
    /// no limit of the engine does, such as the memory of its parser. Reached:
    /// the worker is lost, `worker-exit`. Enforced as `RLIMIT_DATA`. An engine needs
    /// some 350 MiB of it to start at all, most of which it never touches.
    pub max_worker_bytes: Option<u64>,
    /// How long a worker may take to start; default 10 s.
    pub start_timeout: Duration,
    /// The executable of the workers; default (`None`) that of this process. Its
    /// `main` must begin with [`run_if_requested`](crate::worker::run_if_requested).
    pub executable: Option<PathBuf>,
    /// Arguments for the executable, if its `main` wants to see any; default none.
    pub arguments: Vec<OsString>,
}

impl Default for ProcessRuntimeConfig {
    fn default() -> Self {
        // What both back ends have is the same in both.
        let ThreadRuntimeConfig { limits, max_concurrent_runs, max_queued_runs, .. } =
            ThreadRuntimeConfig::default();
        Self {
            limits,
            max_concurrent_runs,
            max_queued_runs,
            spare_workers: 1,
            max_runs_per_worker: 1000,
            max_idle_worker_bytes: 256 << 20,
            max_worker_bytes: None,
            start_timeout: Duration::from_secs(10),
            executable: None,
            arguments: Vec::new(),
        }
    }
}

impl ProcessRuntimeConfig {
    pub(super) fn check(&self) -> Result<(), ProcessRuntimeError> {
        self.limits.check()?;
        if self.max_concurrent_runs == 0 {
            return Err(ProcessRuntimeError::NoRuns);
        }
        if self.max_runs_per_worker == 0 {
            return Err(ProcessRuntimeError::NoRunsPerWorker);
        }
        Ok(())
    }

    /// What `RLIMIT_DATA` of a worker is.
    pub(super) fn worker_bytes(&self) -> u64 {
        self.max_worker_bytes.unwrap_or_else(|| {
            let heap = (self.limits.max_old_generation_size_mb as u64).saturating_mul(1 << 20);
            heap.saturating_mul(4)
                .saturating_add(self.limits.max_array_buffer_bytes as u64)
                .saturating_add(576 << 20)
        })
    }
}

/// Why a [`ProcessRuntime`](super::ProcessRuntime) could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessRuntimeError {
    /// A limit that no run could be under.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// No run could ever start.
    #[error("max_concurrent_runs must be at least 1")]
    NoRuns,
    /// No worker could serve a run.
    #[error("max_runs_per_worker must be at least 1")]
    NoRunsPerWorker,
    /// This process is a worker that went on as an ordinary program.
    #[error(
        "this process was started as a worker: call code_mode::worker::run_if_requested() first thing in `main`"
    )]
    Worker,
}
