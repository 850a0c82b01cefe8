//! What the suite is run on: a back end, and a runtime of it with a few functions to call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use code_mode::runtime::{HostCall, HostFunctions, LogSink, MisuseError, Namespace, Reply};
use code_mode::{
    CodeRuntime, Failure, FailureKind, Json, Limits, RunOutcome, RunRequest, ThreadRuntime,
    ThreadRuntimeConfig,
};
#[cfg(unix)]
use code_mode::{ProcessRuntime, ProcessRuntimeConfig};

/// A way to make runtimes.
#[derive(Clone, Copy)]
pub(crate) struct BackEnd {
    pub(crate) name: &'static str,
    make: fn(Setup) -> Made,
}

/// How a runtime is made.
pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) max_concurrent_runs: usize,
    pub(crate) max_queued_runs: usize,
}

impl Default for Setup {
    /// Limits that no ordinary program meets, also on a machine that is busy.
    fn default() -> Self {
        let mut limits = Limits::default();
        limits.compute = Duration::from_secs(30);
        limits.max_wall = Duration::from_secs(120);
        limits.max_old_generation_size_mb = 64;
        Self { limits, max_concurrent_runs: 4, max_queued_runs: 100 }
    }
}

struct Made {
    runtime: Arc<dyn CodeRuntime>,
    dispose: Box<dyn Fn() + Send + Sync>,
}

/// Every back end. The suite holds for each.
pub(crate) fn back_ends() -> Vec<BackEnd> {
    vec![
        BackEnd { name: "thread", make: thread },
        #[cfg(unix)]
        BackEnd { name: "process", make: process },
    ]
}

fn thread(setup: Setup) -> Made {
    let mut config = ThreadRuntimeConfig::default();
    config.limits = setup.limits;
    config.max_concurrent_runs = setup.max_concurrent_runs;
    config.max_queued_runs = setup.max_queued_runs;
    let runtime = ThreadRuntime::with_config(config).unwrap();
    Made { runtime: Arc::new(runtime.clone()), dispose: Box::new(move || runtime.dispose()) }
}

#[cfg(unix)]
fn process(setup: Setup) -> Made {
    let mut config = ProcessRuntimeConfig::default();
    config.limits = setup.limits;
    config.max_concurrent_runs = setup.max_concurrent_runs;
    config.max_queued_runs = setup.max_queued_runs;
    config.start_timeout = Duration::from_secs(60);
    let runtime = ProcessRuntime::with_config(config).unwrap();
    Made { runtime: Arc::new(runtime.clone()), dispose: Box::new(move || runtime.dispose()) }
}

/// A runtime, and a tokio runtime to await it on.
pub(crate) struct Subject {
    pub(crate) runtime: Arc<dyn CodeRuntime>,
    dispose: Box<dyn Fn() + Send + Sync>,
    pub(crate) tokio: tokio::runtime::Runtime,
}

impl Subject {
    pub(crate) fn new(back_end: BackEnd) -> Self {
        Self::with(back_end, |_| ())
    }

    pub(crate) fn with(back_end: BackEnd, change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup::default();
        change(&mut setup);
        let Made { runtime, dispose } = (back_end.make)(setup);
        Self { runtime, dispose, tokio: tokio() }
    }

    /// A subject of a runtime that was made otherwise.
    pub(crate) fn of(runtime: Arc<dyn CodeRuntime>) -> Self {
        Self { runtime, dispose: Box::new(|| ()), tokio: tokio() }
    }

    pub(crate) fn dispose(&self) {
        (self.dispose)();
    }

    pub(crate) fn run(&self, program: &str) -> RunOutcome {
        self.request(request(program)).unwrap()
    }

    pub(crate) fn request(&self, request: RunRequest) -> Result<RunOutcome, MisuseError> {
        self.tokio.block_on(self.runtime.run(request))
    }

    /// Runs beside the test.
    pub(crate) fn spawn(
        &self,
        request: RunRequest,
    ) -> tokio::task::JoinHandle<Result<RunOutcome, MisuseError>> {
        self.tokio.spawn(self.runtime.run(request))
    }

    /// What a program returns that must complete.
    #[track_caller]
    pub(crate) fn value(&self, program: &str) -> Json {
        value(self.run(program))
    }

    /// How a program fails that must fail.
    #[track_caller]
    pub(crate) fn failure(&self, program: &str) -> Failure {
        self.run(program).end.unwrap_err()
    }

    /// Says that a program fails so, and that the next one is served.
    #[track_caller]
    pub(crate) fn check_failure(&self, program: &str, kind: FailureKind, message: &str) {
        let failure = self.failure(program);
        assert_eq!((failure.kind, failure.message.lines().next()), (kind, Some(message)), "{program}");
        self.check_serves(program);
    }

    #[track_caller]
    pub(crate) fn check_serves(&self, after: &str) {
        assert_eq!(self.run("return 1").end, Ok(Some(Json::from(1))), "after {after}");
    }
}

fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// What a run returned; it must have completed.
#[track_caller]
pub(crate) fn value(outcome: RunOutcome) -> Json {
    match outcome.end {
        Ok(value) => value.unwrap_or_default(),
        Err(failure) => panic!("{}: {}", failure.kind, failure.message),
    }
}

/// A run of `program` with the functions of [`Tools`].
pub(crate) fn request(program: &str) -> RunRequest {
    requesting(program, Tools::default())
}

pub(crate) fn requesting(program: &str, tools: Tools) -> RunRequest {
    let mut request = RunRequest::new(program);
    request.namespaces = vec![tools.namespace()];
    request
}

/// The functions of `tools`: `now` answers its arguments at once, `later` on another thread, `fail` rejects with its
/// `message`, `drop` drops the call, `panic` panics, `hold` keeps the call, `told` tells the test and answers null.
#[derive(Clone, Default)]
pub(crate) struct Tools {
    held: Arc<Mutex<Vec<Reply>>>,
    told: Option<tokio::sync::mpsc::UnboundedSender<Json>>,
}

const NAMES: [&str; 7] = ["now", "later", "fail", "drop", "panic", "hold", "told"];

impl Tools {
    /// Functions that tell the receiver of calls of `told` and `hold`.
    pub(crate) fn telling() -> (Self, tokio::sync::mpsc::UnboundedReceiver<Json>) {
        let (told, receiver) = tokio::sync::mpsc::unbounded_channel();
        (Self { told: Some(told), ..Self::default() }, receiver)
    }

    pub(crate) fn namespace(self) -> Namespace {
        Namespace::tools(NAMES.map(Arc::from).into(), Arc::new(self))
    }

    /// The calls that `hold` keeps.
    pub(crate) fn take_held(&self) -> Vec<Reply> {
        std::mem::take(&mut *self.held.lock().unwrap())
    }

    fn tell(&self, arguments: Json) {
        if let Some(told) = &self.told {
            let _ = told.send(arguments);
        }
    }
}

impl HostFunctions for Tools {
    fn call(&self, call: HostCall) {
        let HostCall { function, arguments, reply } = call;
        match NAMES[function] {
            "now" => reply.send(Ok(arguments)),
            "later" => {
                tokio::spawn(async move {
                    tokio::task::yield_now().await;
                    reply.send(Ok(arguments));
                });
            }
            "fail" => reply.send(Err(arguments
                .get("message")
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned())),
            "drop" => drop(reply),
            "panic" => panic!("the host's own fault, on purpose"),
            "hold" => {
                self.held.lock().unwrap().push(reply);
                self.tell(arguments);
            }
            _ => {
                self.tell(arguments);
                reply.send(Ok(Json::Null));
            }
        }
    }
}

/// Keeps what it is told, and calls `each`.
pub(crate) struct Log<F> {
    pub(crate) entries: Mutex<Vec<String>>,
    each: F,
}

impl<F: Fn(&str) + Send + Sync + 'static> Log<F> {
    pub(crate) fn new(each: F) -> Arc<Self> {
        Arc::new(Self { entries: Mutex::default(), each })
    }
}

impl<F: Fn(&str) + Send + Sync + 'static> LogSink for Log<F> {
    fn entry(&self, text: &str) {
        self.entries.lock().unwrap().push(text.to_owned());
        (self.each)(text);
    }
}
