//! Programs: TypeScript in V8 isolates whose calls re-enter the tool pipeline.

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
mod answer;
mod outcome;
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
