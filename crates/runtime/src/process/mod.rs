//! The `process` back end: every run in a worker process, which the host can end
//! whatever the program does to it. Decision 32.
//!
//! A worker is the host's own executable, started again ([`worker`]). It runs
//! programs as the `thread` back end does, in fresh isolates under the same
//! limits; every call of a program comes back to the host ([`link`]), where it
//! goes through the pipeline. No tool ever runs in a worker.

mod config;
mod runtime;
mod pool;
mod link;
mod outbox;
mod start;
mod protocol;
mod frame;
pub(crate) mod worker;
mod relay;
mod reporter;
mod confine;

pub use config::{ProcessRuntimeConfig, ProcessRuntimeError};
pub use runtime::ProcessRuntime;

/// Set in the environment of a worker, and of nothing else.
const WORKER_ENV: &str = "CODE_MODE_WORKER";

/// What host and worker must have in common.
const BUILD: &str = if cfg!(feature = "v8") {
    concat!(env!("CARGO_PKG_VERSION"), " v8")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " quickjs")
};
