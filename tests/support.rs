//! What all subjects share: a host with a few tools, programs run in it, and what came of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use code_mode::registry::{AdditionalContext, HostEvent, HostEventRecord, Registration, ToolBuilder};
use code_mode::runtime::{HostCall, HostFunctions, Namespace};
use code_mode::{
    Agent, CodeMode, CodeRunFailed, Failure, Json, Limits, Mode, RegistryConfig, RunRequest, ThreadRuntime,
    ThreadRuntimeConfig, ToolCall, ToolDefinition, ToolError, ToolRegistry, ToolResult, ToolRunContext, json,
};
use tokio::sync::{mpsc, oneshot};

/// How a [`Host`] is made.
pub(crate) struct HostConfig {
    pub(crate) mode: Mode,
    pub(crate) max_parallel_sub_calls: usize,
    pub(crate) runtime: ThreadRuntimeConfig,
}

impl Default for HostConfig {
    /// Mode `code`; limits that no ordinary program meets, also on a machine that is busy.
    fn default() -> Self {
        let mut runtime = ThreadRuntimeConfig::default();
        runtime.limits.compute = Duration::from_secs(20);
        runtime.limits.max_wall = Duration::from_secs(120);
        runtime.limits.max_old_generation_size_mb = 64;
        Self { mode: Mode::Code, max_parallel_sub_calls: 10, runtime }
    }
}

/// A registry with `run_code` and the tools `echo` (gives its `value` back), `fail` (fails with its `message`) and
/// `hang` (waits until it is cancelled).
pub(crate) struct Host {
    pub(crate) registry: ToolRegistry,
    pub(crate) agent: Agent,
    pub(crate) runtime: ThreadRuntime,
    tokio: tokio::runtime::Runtime,
    events: Arc<Mutex<Vec<HostEvent>>>,
    pub(crate) code_mode: CodeMode,
    _observer: Registration,
}

/// The id of the outer calls.
pub(crate) const CALL: &str = "call_1";

impl Host {
    pub(crate) fn new() -> Self {
        Self::made(HostConfig::default())
    }

    /// A host whose runs are under these limits.
    pub(crate) fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        let mut config = HostConfig::default();
        change(&mut config.runtime.limits);
        Self::made(config)
    }

    pub(crate) fn made(config: HostConfig) -> Self {
        let mut registry_config = RegistryConfig::new(config.mode);
        registry_config.max_parallel_sub_calls = config.max_parallel_sub_calls;
        let registry = ToolRegistry::new(registry_config).unwrap();
        let runtime = ThreadRuntime::with_config(config.runtime).unwrap();
        let code_mode = CodeMode::install(&registry, Arc::new(runtime.clone())).unwrap();
        let events = Arc::<Mutex<Vec<HostEvent>>>::default();
        let observer = registry.on_host_event(Arc::new({
            let events = Arc::clone(&events);
            move |record: &HostEventRecord| events.lock().unwrap().push(record.event.clone())
        }));
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let host = Self {
            registry,
            agent: Agent::new("tester"),
            runtime,
            tokio,
            events,
            code_mode,
            _observer: observer,
        };
        host.tool(
            "echo",
            |arguments, _| async move { Ok(arguments.get("value").cloned().unwrap_or_default()) },
        );
        host.tool("fail", |arguments, _| async move {
            Err(ToolError::new(
                arguments.get("message").and_then(Json::as_str).unwrap_or("no message").to_owned(),
            ))
        });
        host.tool("hang", |_, ctx: ToolRunContext| async move {
            let reason = ctx.signal().cancelled().await;
            Err(ToolError::new(format!("cancelled: {reason}")))
        });
        host
    }

    /// Registers a tool that may overlap with others, of any arguments and any value.
    pub(crate) fn tool<F, Fut>(&self, name: &str, body: F)
    where
        F: Fn(Json, ToolRunContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json, ToolError>> + Send + 'static,
    {
        self.register(tool(name).concurrency_safe(|_| true).execute(body));
    }

    /// Registers any tool for the host's life.
    pub(crate) fn register(&self, tool: impl Into<ToolDefinition>) {
        self.registry.register(tool).unwrap().keep();
    }

    /// Runs one program to its end.
    pub(crate) fn run(&self, program: &str) -> Run {
        self.run_call(self.call(program))
    }

    /// Runs one call of `run_code` to its end.
    pub(crate) fn run_call(&self, call: ToolCall) -> Run {
        let started = Instant::now();
        let result = self.block_on(self.registry.execute(call));
        Run { result, elapsed: started.elapsed() }
    }

    /// The value that a program returns; it must complete.
    #[track_caller]
    pub(crate) fn value(&self, program: &str) -> Json {
        self.run(program).value()
    }

    /// The call of `run_code` with this program, by the host's agent.
    pub(crate) fn call(&self, program: &str) -> ToolCall {
        let arguments = json!({"code": program, "description": "Run a test's program"});
        ToolCall::new(CALL, "run_code", arguments).with_agent(self.agent.clone())
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.tokio.block_on(future)
    }

    /// Runs something beside the test.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.tokio.spawn(future)
    }

    /// Calls `told` for every entry of a log, while the program runs.
    pub(crate) fn on_log(&self, told: impl Fn() + Send + Sync + 'static) -> Registration {
        self.registry.on_host_event(Arc::new(move |record: &HostEventRecord| {
            if matches!(record.event, HostEvent::Log { .. }) {
                told();
            }
        }))
    }

    /// The host events since the last look.
    pub(crate) fn take_events(&self) -> Vec<HostEvent> {
        std::mem::take(&mut *self.events.lock().unwrap())
    }

    /// The started sub-calls since the last look, as `id tool`.
    pub(crate) fn take_started(&self) -> Vec<String> {
        let started = |event: &HostEvent| match event {
            HostEvent::CodeDispatchStart { sub_call_id, name, .. } => Some(format!("{sub_call_id} {name}")),
            _ => None,
        };
        self.take_events().iter().filter_map(started).collect()
    }
}

/// The beginning of a tool's definition: any value, rendered as its JSON text.
pub(crate) fn tool(name: &str) -> ToolBuilder {
    ToolDefinition::builder(name)
        .description(format!("The tool {name}"))
        .parameters(json!({"type": "object"}))
        .output(json!({}))
        .render(|_, value| value.to_text())
}

/// What came of one program.
pub(crate) struct Run {
    pub(crate) result: Arc<ToolResult>,
    /// From the call to the answer.
    pub(crate) elapsed: Duration,
}

impl Run {
    /// What the model reads.
    pub(crate) fn text(&self) -> String {
        self.result.text()
    }

    /// What the program returned; it must have completed and returned something.
    #[track_caller]
    pub(crate) fn value(&self) -> Json {
        match self.result.value().map(|value| value.get("result")) {
            Some(Some(result)) => result.clone(),
            _ => panic!("no value came back: {}", self.text()),
        }
    }

    /// Why the program failed; it must have failed.
    #[track_caller]
    pub(crate) fn failure(&self) -> Failure {
        self.failed().failure
    }

    /// What the program printed.
    #[track_caller]
    pub(crate) fn logs(&self) -> Vec<String> {
        match self.result.value() {
            Some(value) => {
                let logs = value.get("logs").and_then(Json::as_array).unwrap();
                logs.iter().map(|entry| entry.as_str().unwrap().to_owned()).collect()
            }
            None => self.failed().logs,
        }
    }

    #[track_caller]
    fn failed(&self) -> CodeRunFailed {
        let source = self.result.error().and_then(|failure| failure.source());
        let failed = source.and_then(|source| source.downcast_ref::<CodeRunFailed>());
        failed.unwrap_or_else(|| panic!("the program did not fail: {}", self.text())).clone()
    }
}

/// The one of the two that holds for the engine this was built with.
pub(crate) fn on_engine<T>(v8: T, quickjs: T) -> T {
    if cfg!(feature = "quickjs") { quickjs } else { v8 }
}

/// Hostile programs run one at a time, so that none is late because of another.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run whose isolate is in a built-in that nothing can stop, for seconds on either engine; it prints a line from
/// within. What comes beside it can be upgraded while the isolate is there, and is told when it is gone.
pub(crate) fn stuck() -> (RunRequest, Weak<Held>, oneshot::Receiver<()>) {
    let (gone, is_gone) = oneshot::channel();
    let held = Arc::new(Held(Some(gone)));
    let isolate = Arc::downgrade(&held);
    // A debug build of QuickJS takes twice as long for an element.
    let last = on_engine(33_554_000, 20_000_000);
    let mut request = RunRequest::new(format!(
        "const sparse = [];
        Object.defineProperty(sparse, 0, {{ get() {{ console.log('within') }} }});
        sparse[{last}] = 1;
        sparse.sort()",
    ));
    request.namespaces = vec![Namespace::tools(Arc::from([]), held)];
    (request, isolate, is_gone)
}

/// Answers nobody, and tells when the isolate that holds it is gone.
pub(crate) struct Held(Option<oneshot::Sender<()>>);

impl HostFunctions for Held {
    fn call(&self, _call: HostCall) {}
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(gone) = self.0.take() {
            let _ = gone.send(());
        }
    }
}

/// What happened, in order, told from anywhere.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(crate) fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    /// What happened since the last look.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A context that says `text`.
pub(crate) fn context(text: &str) -> AdditionalContext {
    AdditionalContext::text("test", text)
}

/// Tools whose bodies say that they have started and then wait for the test.
pub(crate) struct Gates {
    pub(crate) journal: Journal,
    waiting: Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>,
    started: Mutex<mpsc::UnboundedReceiver<String>>,
    starts: mpsc::UnboundedSender<String>,
}

impl Gates {
    pub(crate) fn new() -> Self {
        let (starts, started) = mpsc::unbounded_channel();
        Self { journal: Journal::default(), waiting: Arc::default(), started: Mutex::new(started), starts }
    }

    /// A tool that gives its `id` back once the test has released it; the journal says when its body begins and ends.
    pub(crate) fn tool(&self, name: &str) -> ToolBuilder {
        let (journal, waiting, starts) =
            (self.journal.clone(), Arc::clone(&self.waiting), self.starts.clone());
        tool(name).execute(move |arguments: Json, _| {
            let (journal, waiting, starts) = (journal.clone(), Arc::clone(&waiting), starts.clone());
            async move {
                let id = arguments.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
                let (release, released) = oneshot::channel();
                waiting.lock().unwrap().insert(id.clone(), release);
                journal.add(format!("{id} begins"));
                let _ = starts.send(id.clone());
                let _ = released.await;
                journal.add(format!("{id} ends"));
                Ok::<_, ToolError>(id.into())
            }
        })
    }

    /// The next body that begins.
    pub(crate) async fn next(&self) -> String {
        std::future::poll_fn(|context| self.started.lock().unwrap().poll_recv(context))
            .await
            .expect("the gates are open")
    }

    pub(crate) fn release(&self, id: &str) {
        let release = self.waiting.lock().unwrap().remove(id).unwrap_or_else(|| panic!("{id} does not wait"));
        let _ = release.send(());
    }
}
