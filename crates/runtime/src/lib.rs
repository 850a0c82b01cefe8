//! Programs: TypeScript in V8 isolates whose calls re-enter the tool pipeline.

#[cfg(all(feature = "v8", feature = "quickjs"))]
compile_error!(
    "features `v8` and `quickjs` exclude each other: use `--no-default-features --features quickjs` for QuickJS"
);
#[cfg(not(any(feature = "v8", feature = "quickjs")))]
compile_error!("one of the features `v8` and `quickjs` is needed");

mod run_code;
mod source;
mod isolate;
mod bridge;
mod dispatch;
mod outcome;
mod ledger;
mod render;
mod notes;
mod seam;
mod transport;

pub use isolate::{Limits, LimitsError, ThreadRuntime, ThreadRuntimeConfig, ThreadRuntimeError};
pub use run_code::CodeRunFailed;
pub use seam::{
    CodeRuntime, ErrorClass, Failure, FailureKind, HostCall, HostFunctions, Isolation, LogSink, MisuseError,
    Namespace, Reply, RunOutcome, RunRequest, Settlement,
};
pub use transport::{CodeMode, CodeModeConfig, InstallError};
