//! The seam between `run_code` and whatever runs programs. Contract 6.1, decision 32.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use code_mode_registry::Signal;
use code_mode_schema::Json;
use futures::future::BoxFuture;

use crate::isolate::Limits;

/// Something that runs programs: the seam that every back end implements.
///
/// An implementer must keep: one fresh state per run and nothing shared between
/// runs; every outcome of a program is an `Ok`; after the outcome no code of the
/// program runs; values cross whole; log entries are handed to
/// [`RunRequest::logs`] in order and while the program runs; the limits hold
/// whatever the program does.
pub trait CodeRuntime: Send + Sync + 'static {
    /// Runs one program.
    ///
    /// # Errors
    /// [`MisuseError`] if the request itself is wrong or the back end is broken;
    /// never for anything that the program did.
    fn run(&self, request: RunRequest) -> BoxFuture<'static, Result<RunOutcome, MisuseError>>;

    /// The language of the programs; `typescript` for both back ends of this crate.
    fn language(&self) -> &str;

    /// What separates a program from the host.
    fn isolation(&self) -> Isolation;

    /// The limits that runs of this back end are under.
    fn limits(&self) -> &Limits;
}

/// What separates a program from the host. Config key `isolation`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isolation {
    /// A fresh isolate on a thread of this process; the default of the library.
    #[default]
    Thread,
    /// A worker process.
    Process,
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thread => "thread",
            Self::Process => "process",
        })
    }
}

impl FromStr for Isolation {
    type Err = UnknownIsolation;

    /// Reads the wire name, `thread` or `process`.
    fn from_str(name: &str) -> Result<Self, UnknownIsolation> {
        match name {
            "thread" => Ok(Self::Thread),
            "process" => Ok(Self::Process),
            _ => Err(UnknownIsolation { name: name.to_owned() }),
        }
    }
}

/// A name that no [`Isolation`] has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown isolation {name:?}: expected `thread` or `process`")]
pub struct UnknownIsolation {
    /// The name.
    pub name: String,
}

/// One program and what it may reach.
#[derive(Clone)]
#[non_exhaustive]
pub struct RunRequest {
    /// The body of an async TypeScript function.
    pub program: Arc<str>,
    /// The globals whose functions call the host.
    pub namespaces: Vec<Namespace>,
    /// Ends the run as [`FailureKind::Abort`].
    pub signal: Signal,
    /// Told every log entry while the program runs.
    pub logs: Option<Arc<dyn LogSink>>,
}

impl RunRequest {
    /// A run of `program` with nothing to call, which nobody cancels.
    pub fn new(program: impl Into<Arc<str>>) -> Self {
        Self { program: program.into(), namespaces: Vec::new(), signal: Signal::never(), logs: None }
    }
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRequest")
            .field("program", &self.program)
            .field("namespaces", &self.namespaces)
            .finish_non_exhaustive()
    }
}

/// A global object of the program whose functions call the host.
#[derive(Clone)]
#[non_exhaustive]
pub struct Namespace {
    /// Its name, an identifier.
    pub global: Arc<str>,
    /// The names of its functions, in the order of its keys.
    pub functions: Arc<[Arc<str>]>,
    /// The class of the errors that failed calls reject with.
    pub error_class: ErrorClass,
    /// Who answers the calls.
    pub host: Arc<dyn HostFunctions>,
}

impl Namespace {
    /// The namespace `tools` with error class `ToolCallError` and member `toolName`.
    pub fn tools(functions: Arc<[Arc<str>]>, host: Arc<dyn HostFunctions>) -> Self {
        Self {
            global: "tools".into(),
            functions,
            error_class: ErrorClass { name: "ToolCallError".into(), member: "toolName".into() },
            host,
        }
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Namespace")
            .field("global", &self.global)
            .field("functions", &self.functions.len())
            .field("error_class", &self.error_class)
            .finish_non_exhaustive()
    }
}

/// The class of the errors that a namespace's calls reject with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorClass {
    /// Its name and global, an identifier.
    pub name: Arc<str>,
    /// The property that holds the name of the function that failed.
    pub member: Arc<str>,
}

/// The host's side of a namespace.
pub trait HostFunctions: Send + Sync + 'static {
    /// Takes a call. It may be answered before this returns, which spares the
    /// program a turn of its event loop, or later from any thread.
    ///
    /// Called with the embedder's tokio runtime entered. Must not block.
    fn call(&self, call: HostCall);
}

/// A call that the program made and waits for.
#[derive(Debug)]
pub struct HostCall {
    /// The function's place in [`Namespace::functions`].
    pub function: usize,
    /// What it was called with.
    pub arguments: Json,
    /// Where the answer goes.
    pub reply: Reply,
}

/// The place for the answer to one call. Dropping it unanswered fails the call.
pub struct Reply(Option<Box<dyn FnOnce(Settlement) + Send>>);

/// The value a call resolves with, or the message it rejects with.
pub type Settlement = Result<Json, String>;

impl Reply {
    /// A place that hands the answer to `deliver`.
    pub fn new(deliver: impl FnOnce(Settlement) + Send + 'static) -> Self {
        Self(Some(Box::new(deliver)))
    }

    /// Answers the call.
    pub fn send(mut self, settlement: Settlement) {
        if let Some(deliver) = self.0.take() {
            deliver(settlement);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(deliver) = self.0.take() {
            deliver(Err("the call was dropped by its host".to_owned()));
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// Told the log while it grows.
pub trait LogSink: Send + Sync + 'static {
    /// One entry, in order. Must not block.
    fn entry(&self, text: &str);
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunOutcome {
    /// Its log, within the output limit.
    pub logs: Vec<String>,
    /// What it returned (nothing for `undefined`), or why it failed.
    pub end: Result<Option<Json>, Failure>,
    /// True if its last statement is an expression whose value went nowhere.
    pub ends_with_expression: bool,
}

/// Why a program failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// What the model is told, at most [`Failure::MAX_MESSAGE_BYTES`] long.
    pub message: String,
    /// The whole message, where [`message`](Self::message) was cut.
    pub whole: Option<String>,
    /// The line of the program, 1-based, where it is known.
    pub line: Option<u32>,
    /// The column of that line, 1-based, in UTF-16 units, where it is known.
    pub column: Option<u32>,
}

impl Failure {
    /// The longest message for the model, in bytes. Decision 19.
    pub const MAX_MESSAGE_BYTES: usize = 16 * 1024;

    /// A failure with no place in the program. A longer message is cut.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let (message, whole) = if message.len() > Self::MAX_MESSAGE_BYTES {
            (cut(&message), Some(message))
        } else {
            (message, None)
        };
        Self { kind, message, whole, line: None, column: None }
    }
}

/// The beginning of `text`, and how much is missing.
fn cut(text: &str) -> String {
    // Room for the mark itself.
    let kept = &text[..text.floor_char_boundary(Failure::MAX_MESSAGE_BYTES - 80)];
    format!("{kept}\n[error text cut: {} of {} bytes not shown]", text.len() - kept.len(), text.len())
}

/// The six ways a program fails. Contract 6.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// It does not parse, or something it threw or rejected was not handled.
    Exception,
    /// Its compute budget or its wall time is used up.
    Timeout,
    /// Somebody cancelled it.
    Abort,
    /// What it ran on is gone: the heap limit, a lost worker.
    WorkerExit,
    /// What it returned is not lossless JSON.
    InvalidOutput,
    /// It printed and returned more than allowed.
    OutputLimit,
}

impl FailureKind {
    /// The wire name: `exception`, `timeout`, `abort`, `worker-exit`,
    /// `invalid-output` or `output-limit`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exception => "exception",
            Self::Timeout => "timeout",
            Self::Abort => "abort",
            Self::WorkerExit => "worker-exit",
            Self::InvalidOutput => "invalid-output",
            Self::OutputLimit => "output-limit",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request that no back end can serve, or a back end that is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MisuseError {
    /// The runtime was disposed.
    #[error("runtime disposed")]
    Disposed,
    /// A global or an error class is not a name that a program can use.
    #[error("{role} {name:?} is not a usable identifier")]
    Name {
        /// `namespace`, `error class` or `error member`.
        role: &'static str,
        /// The name.
        name: String,
    },
    /// Two globals have one name.
    #[error("global {name:?} is declared twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The future was polled outside a tokio runtime, which tools need.
    #[error("programs need a tokio runtime: poll the run inside one")]
    NoTokio,
    /// Too many runs wait already.
    #[error("{waiting} runs are waiting already (limit {limit}): try again later")]
    QueueFull {
        /// How many wait.
        waiting: usize,
        /// The limit.
        limit: usize,
    },
    /// A worker process was needed and could not be started.
    #[error("no worker process: {reason}")]
    Worker {
        /// Why, and what to do.
        reason: String,
    },
    /// The engine could not be started.
    #[error("the JavaScript engine could not be started: {reason}")]
    Engine {
        /// Why.
        reason: String,
    },
}

/// Words that no global may be called: they are the language's, or taken.
const RESERVED: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "console",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "globalThis",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Checks the names of a request. Contract 6.1.
///
/// # Errors
/// [`MisuseError::Name`] and [`MisuseError::Duplicate`].
pub(crate) fn check_names(namespaces: &[Namespace]) -> Result<(), MisuseError> {
    let mut seen: Vec<&str> = Vec::new();
    for namespace in namespaces {
        let ErrorClass { name, member } = &namespace.error_class;
        for (role, name) in [("namespace", &namespace.global), ("error class", name)] {
            if !is_identifier(name) || RESERVED.contains(&&**name) {
                return Err(MisuseError::Name { role, name: name.to_string() });
            }
            if seen.contains(&&**name) {
                return Err(MisuseError::Duplicate { name: name.to_string() });
            }
            seen.push(name);
        }
        if member.is_empty() || ["name", "message", "stack"].contains(&&**member) {
            return Err(MisuseError::Name { role: "error member", name: member.to_string() });
        }
    }
    Ok(())
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let start = |char: char| char.is_ascii_alphabetic() || char == '_' || char == '$';
    chars.next().is_some_and(start) && chars.all(|char| start(char) || char.is_ascii_digit())
}
