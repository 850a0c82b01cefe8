//! The host that a program runs in: the mock tools in a registry, `run_code` in front of them, and what was seen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use code_mode::registry::{HostEvent, HostEventRecord, Registration};
use code_mode::{
    Agent, BackEndConfig, CodeMode, CodeRunFailed, Isolation, Json, Mode, RegistryConfig, ToolCall,
    ToolRegistry, ToolResult, json,
};

use crate::case::CaseLimits;
use crate::mock_tools::{ToolFile, Written};

/// A host for one program.
pub(crate) struct Host {
    registry: ToolRegistry,
    agent: Agent,
    seen: Arc<Mutex<Seen>>,
    written: Written,
    _installed: (CodeMode, Registration),
}

/// What host events told.
#[derive(Default)]
struct Seen {
    calls: BTreeMap<String, u64>,
    logs: Vec<String>,
}

/// What a run gave.
pub(crate) struct Observed {
    /// What the model reads.
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// What the program returned; `None` also for nothing.
    pub(crate) result: Option<Json>,
    pub(crate) logs: Vec<String>,
    /// Started sub-calls by tool.
    pub(crate) calls: BTreeMap<String, u64>,
    pub(crate) written: BTreeMap<String, String>,
    /// From the call to the answer.
    pub(crate) elapsed: Duration,
}

impl Host {
    /// # Errors
    /// If the limits are none that a run can be under, or a tool is none that can be registered.
    pub(crate) fn new(tools: &ToolFile, limits: &CaseLimits, isolation: Isolation) -> Result<Self, String> {
        let mut config = BackEndConfig::new(isolation);
        config.limits.compute = Duration::from_millis(limits.compute_ms);
        config.limits.max_wall = Duration::from_millis(limits.max_wall_ms);
        config.limits.max_old_generation_size_mb =
            usize::try_from(limits.heap_mb).map_err(|error| error.to_string())?;
        config.limits.max_output_bytes =
            usize::try_from(limits.max_output_bytes).map_err(|error| error.to_string())?;
        let runtime = config.build().map_err(|error| error.to_string())?;
        let registry =
            ToolRegistry::new(RegistryConfig::new(Mode::Code)).map_err(|error| error.to_string())?;
        let written = Written::default();
        for tool in tools.definitions(&written) {
            registry.register(tool).map_err(|error| error.to_string())?.keep();
        }
        let seen = Arc::<Mutex<Seen>>::default();
        let observer = registry.on_host_event(Arc::new({
            let seen = Arc::clone(&seen);
            move |record: &HostEventRecord| note(&mut lock(&seen), &record.event)
        }));
        let code_mode = CodeMode::install(&registry, runtime).map_err(|error| error.to_string())?;
        Ok(Self { registry, agent: Agent::new("corpus"), seen, written, _installed: (code_mode, observer) })
    }

    /// Runs a program; `None` if there is no answer after `patience`.
    pub(crate) async fn run(&self, program: &str, patience: Duration) -> Option<Observed> {
        *lock(&self.seen) = Seen::default();
        let started = Instant::now();
        let result = self.execute(program, patience).await?;
        let elapsed = started.elapsed();
        let seen = std::mem::take(&mut *lock(&self.seen));
        Some(Observed {
            text: result.text(),
            is_error: result.is_error(),
            result: result.value().and_then(|value| value.get("result")).cloned(),
            logs: logs(&result).unwrap_or(seen.logs),
            calls: seen.calls,
            written: self.written.snapshot(),
            elapsed,
        })
    }

    /// Runs the smallest program; how that differs from its answer, if it does.
    pub(crate) async fn check_serves(&self) -> Option<String> {
        let result = self.execute("return 1", Duration::from_secs(60)).await;
        let text = result.map_or_else(|| "no answer".to_owned(), |result| result.text());
        (text != "1").then(|| format!("hostOk: afterwards `return 1` gives {text:?}"))
    }

    async fn execute(&self, program: &str, patience: Duration) -> Option<Arc<ToolResult>> {
        let arguments = json!({"code": program, "description": "Run a program of the corpus"});
        let call = ToolCall::new("corpus", "run_code", arguments).with_agent(self.agent.clone());
        tokio::time::timeout(patience, self.registry.execute(call)).await.ok()
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(seen: &mut Seen, event: &HostEvent) {
    match event {
        HostEvent::CodeDispatchStart { name, .. } => *seen.calls.entry(name.to_string()).or_default() += 1,
        HostEvent::Log { text, .. } => seen.logs.push(text.to_string()),
        _ => {}
    }
}

/// The log that counts: that of the value, or that of the failure.
fn logs(result: &ToolResult) -> Option<Vec<String>> {
    if let Some(value) = result.value() {
        return value
            .get("logs")?
            .as_array()?
            .iter()
            .map(|entry| entry.as_str().map(str::to_owned))
            .collect();
    }
    let source = result.error()?.source()?;
    source.downcast_ref::<CodeRunFailed>().map(|failed| failed.logs.clone())
}
