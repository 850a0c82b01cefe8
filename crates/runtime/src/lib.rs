//! Programs: TypeScript in an embedded engine, whose calls go through the pipeline of a tool registry.
//!
//! [`CodeMode::install`] gives a [`ToolRegistry`](code_mode_registry::ToolRegistry) the tool `run_code`. What runs its
//! programs is a [`CodeRuntime`]: [`ThreadRuntime`] in this process, or on Unix `ProcessRuntime` in worker processes,
//! for which `main` begins with `worker::run_if_requested()`. [`BackEndConfig`] chooses between the two by name.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use code_mode_registry::{Agent, HostEvent, HostEventRecord, Mode, RegistryConfig, ToolCall, ToolRegistry};
//! use code_mode_runtime::{CodeMode, CodeRun, ThreadRuntime, ThreadRuntimeConfig};
//! use code_mode_schema::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = ThreadRuntimeConfig::default();
//! config.limits.compute = Duration::from_secs(5);
//! let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code))?;
//! let _code_mode = CodeMode::install(&registry, Arc::new(ThreadRuntime::with_config(config)?))?;
//!
//! // What a program prints is told as it prints it; events are told of an agent's calls.
//! let _log = registry.on_host_event(Arc::new(|record: &HostEventRecord| {
//!     if let HostEvent::Log { text, .. } = &record.event {
//!         println!("{text}");
//!     }
//! }));
//!
//! let arguments = json!({"code": "console.log('begun');\nreturn [1, 2", "description": "Fail"});
//! let call = ToolCall::new("call_1", "run_code", arguments).with_agent(Agent::new("main"));
//! let result = tokio::runtime::Runtime::new()?.block_on(registry.execute(call));
//!
//! // `result.content()` is what the model reads; a host reads the run itself.
//! let error = CodeRun::of(&result).error.ok_or("the program does not parse")?;
//! assert_eq!((error.kind, error.line), ("exception", Some(2)));
//! # Ok(()) }
//! ```
//!
//! # What can go wrong
//!
//! | who | where it shows |
//! |---|---|
//! | a tool fails | the program's call rejects with a `ToolCallError`, which it may catch |
//! | the program fails | a failed [`ToolResult`](code_mode_registry::ToolResult) with code `CODE_RUN_FAILED`; [`CodeRun::of`] gives its [`FailureKind`] and place |
//! | a limit is reached | the same, or an error that the program can catch: see [`Limits`] |
//! | somebody cancels the call's signal | the same, of kind `abort` |
//! | the back end is broken or its queue full | a failed result without that code; its source is a [`MisuseError`] |
//!
//! A run is cancelled by the signal of its call
//! ([`ToolCall::with_signal`](code_mode_registry::ToolCall::with_signal)).
//!
//! # Programs without a registry
//!
//! [`CodeRuntime::run`] takes a [`RunRequest`]: a program and the [`Namespace`]s it may call. An implementation of the
//! trait is another back end.
//!
//! # Features
//!
//! `v8` (default) and `quickjs` choose the engine and exclude each other.

#[cfg(all(feature = "v8", feature = "quickjs"))]
compile_error!(
    "features `v8` and `quickjs` exclude each other: use `--no-default-features --features quickjs` for QuickJS"
);
#[cfg(not(any(feature = "v8", feature = "quickjs")))]
compile_error!("one of the features `v8` and `quickjs` is needed");

mod run_code;
mod code_run;
mod source;
mod admission;
mod isolate;
mod bridge;
mod dispatch;
mod media;
mod answer;
mod outcome;
mod hints;
mod ledger;
mod render;
mod notes;
mod seam;
mod transport;
#[cfg(unix)]
mod process;
mod back_end;

#[cfg(unix)]
pub mod worker {
    //! The worker processes of the `process` back end.

    pub use crate::process::worker::run_if_requested;
}

pub use back_end::{BackEndConfig, BackEndError};
#[cfg(unix)]
pub use process::{ProcessRuntime, ProcessRuntimeConfig, ProcessRuntimeError};

pub use code_run::{CodeRun, CodeRunError};
pub use isolate::{Limits, LimitsError, ThreadRuntime, ThreadRuntimeConfig, ThreadRuntimeError};
pub use run_code::CodeRunFailed;
pub use seam::{
    CodeRuntime, ErrorClass, Failure, FailureKind, HostCall, HostFunctions, Isolation, LogSink, MisuseError,
    Namespace, Reply, RunOutcome, RunRequest, Settlement, UnknownIsolation,
};
pub use transport::{CodeMode, CodeModeConfig, InstallError};
