//! The embedding: a registry with tools and `run_code`, and one program after another.

use std::{
    error::Error,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use code_mode::{
    Agent, CallId, CodeMode, CodeRun, ContentBlock, Json, Mode, Registration, RegistryConfig, ThreadRuntime,
    ToolCall, ToolDefinition, ToolRegistry, ToolResult, json,
    registry::{HostEvent, HostEventRecord, RUN_CODE},
};
use code_mode_folder_tools::Folder;
use serde::Serialize;

/// What lives as long as the agent does.
pub(crate) struct Session {
    registry: ToolRegistry,
    code_mode: CodeMode,
    /// Host events are told of an agent's calls only.
    agent: Agent,
    calls: Arc<Mutex<Vec<SubCall>>>,
    _tools: Registration,
    _observer: Registration,
}

impl Session {
    pub(crate) fn new(folder: &Folder) -> Result<Self, Box<dyn Error>> {
        let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code))?;
        let tools = folder.register(&registry)?;
        let code_mode = CodeMode::install(&registry, Arc::new(ThreadRuntime::new()?))?;

        let calls: Arc<Mutex<Vec<SubCall>>> = Arc::default();
        let observed = Arc::clone(&calls);
        let observer = registry.on_host_event(Arc::new(move |record: &HostEventRecord| {
            SubCall::note(&mut observed.lock().unwrap_or_else(PoisonError::into_inner), &record.event);
        }));
        let agent = Agent::new("demo");
        Ok(Self { registry, code_mode, agent, calls, _tools: tools, _observer: observer })
    }

    /// The section of the system prompt.
    pub(crate) fn sdk_section(&self) -> String {
        self.code_mode.sdk_section(Some(&self.agent))
    }

    /// `run_code`, and the tools that its programs reach.
    pub(crate) fn tools(&self) -> (Vec<ToolDefinition>, Vec<ToolDefinition>) {
        let view = self.registry.view(Some(&self.agent));
        view.iter().cloned().partition(|tool| tool.name() == RUN_CODE)
    }

    /// What an agent loop does when the model calls `run_code`.
    pub(crate) async fn run(&self, description: &str, code: &str) -> Run {
        let arguments = json!({"code": code, "description": description});
        let call = ToolCall::new("call_1", RUN_CODE, arguments).with_agent(self.agent.clone());
        let began = Instant::now();
        let result = self.registry.execute(call).await;
        let took = began.elapsed();
        let calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        Run { began, took, result, calls }
    }
}

/// One program's run.
pub(crate) struct Run {
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    /// What goes back to the model.
    pub(crate) result: Arc<ToolResult>,
    /// In the order of their starts.
    pub(crate) calls: Vec<SubCall>,
}

/// A tool call of a program, put together from its two host events.
pub(crate) struct SubCall {
    pub(crate) id: CallId,
    pub(crate) name: Arc<str>,
    pub(crate) arguments: Json,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    pub(crate) is_error: bool,
    /// What a model would have read, had it made the call itself.
    pub(crate) text: String,
}

impl SubCall {
    fn note(calls: &mut Vec<Self>, event: &HostEvent) {
        match event {
            HostEvent::CodeDispatchStart { sub_call_id, name, arguments, .. } => calls.push(Self {
                id: sub_call_id.clone(),
                name: Arc::clone(name),
                arguments: arguments.clone(),
                began: Instant::now(),
                took: Duration::ZERO,
                is_error: false,
                text: String::new(),
            }),
            HostEvent::CodeDispatch { sub_call_id, is_error, content, .. } => {
                if let Some(call) = calls.iter_mut().rev().find(|call| call.id == *sub_call_id) {
                    call.took = call.began.elapsed();
                    call.is_error = *is_error;
                    call.text =
                        content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n");
                }
            }
            _ => {}
        }
    }
}

/// What `--json` prints of a run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunJson<'a> {
    is_error: bool,
    content: &'a [ContentBlock],
    /// `logs`, and `result` or `error`.
    #[serde(flatten)]
    run: CodeRun<'a>,
    sub_calls: Vec<SubCallJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubCallJson {
    id: CallId,
    name: Arc<str>,
    is_error: bool,
    start_ms: f64,
    duration_ms: f64,
}

impl<'a> From<&'a Run> for RunJson<'a> {
    fn from(run: &'a Run) -> Self {
        let sub_calls = run.calls.iter().map(|call| SubCallJson {
            id: call.id.clone(),
            name: Arc::clone(&call.name),
            is_error: call.is_error,
            start_ms: ms(call.began - run.began),
            duration_ms: ms(call.took),
        });
        Self {
            is_error: run.result.is_error(),
            content: run.result.content(),
            run: CodeRun::of(&run.result),
            sub_calls: sub_calls.collect(),
        }
    }
}

/// Milliseconds, to the microsecond.
fn ms(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
