//! What host and worker say to each other.
//!
//! Three streams, each with one writer at a time:
//!
//! - **to the host** ([`ToHost`]): everything a worker says, in its order;
//! - **to the worker** ([`ToWorker`]): runs, aborts, and answers that came late;
//! - **returns** ([`Return`]): what the host says at once to a call, read by the
//!   very thread that made it. So a tool that is ready at once costs a program
//!   two thread switches and no turn of its event loop. Neither thread spins while
//!   it waits for the other: measured, that costs more than it saves as soon as
//!   the machine has something else to do.
//!
//! Messages are `postcard` in chunks ([`super::frame`]). Each side takes the other
//! for hostile: a message that does not decode, or that may not come now, ends
//! the worker.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::isolate::{Cause, Limits};
use crate::seam::{ErrorClass, Failure, FailureKind, HostCall, HostFunctions, Namespace};

/// The form of the messages. A change of any of them changes it.
pub(super) const VERSION: u32 = 2;

/// The first words of a worker: no other program says them by accident.
pub(super) const GREETING: &str = "code-mode worker";

/// What a worker says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum ToHost<'a> {
    /// The first message.
    Hello { greeting: &'a str, version: u32, build: &'a str },
    /// The engine is started; comes once, after [`ToWorker::Configure`].
    Ready,
    /// The engine cannot be started.
    Broken { reason: &'a str },
    /// The run was received, and begins.
    Began { run: u32 },
    /// One entry of the log.
    Log { run: u32, entry: &'a str },
    /// A call, numbered from 1 within its run. A [`Return`] follows at once.
    Call { run: u32, call: u32, namespace: u32, function: u32, arguments: &'a str },
    /// A limit is reached; the end follows within the grace period.
    Stopping { run: u32, cause: WireCause },
    /// The program has ended.
    End {
        run: u32,
        /// JSON text, nothing for `undefined`; or the failure.
        #[serde(borrow)]
        end: Result<Option<&'a str>, WireFailure<'a>>,
        ends_with_expression: bool,
        /// The isolate did not stop: this worker can serve no other run.
        stuck: bool,
    },
    /// The isolate of a run that has ended is taken apart, and its memory free.
    Gone { run: u32 },
}

/// What a host says on its own account.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum ToWorker<'a> {
    /// Comes once, first.
    Configure {
        #[serde(with = "WireLimits")]
        limits: Limits,
        max_data_bytes: u64,
    },
    /// Runs a program. Numbers grow; one run at a time.
    Run {
        run: u32,
        program: &'a str,
        #[serde(borrow)]
        namespaces: Vec<WireNamespace<'a>>,
    },
    /// Ends the run as cancelled.
    Abort { run: u32, reason: &'a str },
    /// The answer to a call that had returned [`Return::Later`].
    Answer { run: u32, call: u32, answer: &'a str },
}

/// What a host says to a call at once. An answer is `+` and JSON, or `-` and the
/// message that the call rejects with.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Return<'a> {
    /// The call is answered.
    Now { call: u32, answer: &'a str },
    /// [`ToWorker::Answer`] will come.
    Later { call: u32 },
}

/// [`Cause`], without what only the host can know.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum WireCause {
    Compute,
    Wall,
    Heap,
    Output,
}

impl WireCause {
    /// The cause for the wire; nothing for an abort, which comes from the host.
    pub(super) fn of(cause: &Cause) -> Option<Self> {
        match cause {
            Cause::Compute => Some(Self::Compute),
            Cause::Wall => Some(Self::Wall),
            Cause::Heap => Some(Self::Heap),
            Cause::Output => Some(Self::Output),
            Cause::Abort(_) => None,
        }
    }
}

impl From<WireCause> for Cause {
    fn from(cause: WireCause) -> Self {
        match cause {
            WireCause::Compute => Self::Compute,
            WireCause::Wall => Self::Wall,
            WireCause::Heap => Self::Heap,
            WireCause::Output => Self::Output,
        }
    }
}

/// [`Limits`] for the wire. One that is not named here does not compile.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Limits")]
struct WireLimits {
    compute: Duration,
    max_wall: Duration,
    grace: Duration,
    max_output_bytes: usize,
    max_old_generation_size_mb: usize,
    max_array_buffer_bytes: usize,
    max_source_bytes: usize,
    max_sub_calls: usize,
    max_media_bytes: usize,
}

/// The names of a [`Namespace`].
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WireNamespace<'a> {
    global: &'a str,
    error_class: &'a str,
    error_member: &'a str,
    #[serde(borrow)]
    functions: Vec<&'a str>,
}

impl<'a> From<&'a Namespace> for WireNamespace<'a> {
    fn from(namespace: &'a Namespace) -> Self {
        Self {
            global: &namespace.global,
            error_class: &namespace.error_class.name,
            error_member: &namespace.error_class.member,
            functions: namespace.functions.iter().map(|name| &**name).collect(),
        }
    }
}

impl From<WireNamespace<'_>> for Namespace {
    /// A namespace whose calls must be taken before they reach its host.
    fn from(wire: WireNamespace<'_>) -> Self {
        Self {
            global: wire.global.into(),
            functions: wire.functions.into_iter().map(Into::into).collect(),
            error_class: ErrorClass { name: wire.error_class.into(), member: wire.error_member.into() },
            host: std::sync::Arc::new(Elsewhere),
        }
    }
}

/// The host of namespaces in a worker. It is never called: the isolate's calls go
/// through a relay. Dropping a call would fail it.
struct Elsewhere;

impl HostFunctions for Elsewhere {
    fn call(&self, call: HostCall) {
        drop(call);
    }
}

/// [`Failure`].
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WireFailure<'a> {
    #[serde(with = "WireKind")]
    kind: FailureKind,
    message: &'a str,
    #[serde(borrow)]
    whole: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
}

/// [`FailureKind`] for the wire.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FailureKind")]
enum WireKind {
    Exception,
    Timeout,
    Abort,
    WorkerExit,
    InvalidOutput,
    OutputLimit,
}

impl<'a> From<&'a Failure> for WireFailure<'a> {
    fn from(failure: &'a Failure) -> Self {
        let Failure { kind, message, whole, line, column } = failure;
        Self { kind: *kind, message, whole: whole.as_deref(), line: *line, column: *column }
    }
}

impl From<WireFailure<'_>> for Failure {
    fn from(wire: WireFailure<'_>) -> Self {
        // A longer message than the model may get is cut again.
        let mut failure = Self::new(wire.kind, wire.message);
        failure.whole = wire.whole.map(str::to_owned).or(failure.whole);
        failure.line = wire.line;
        failure.column = wire.column;
        failure
    }
}
