//! What a run takes: a registry with the tools of a folder, and `run_code` whose calls are recorded.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use code_mode::registry::{HostEventRecord, RUN_CODE};
use code_mode::{
    Agent, BackEndConfig, CodeMode, CodeRuntime, Isolation, Limits, Registration, SignalSource, ToolCall,
    ToolRegistry, ToolResult, json,
};
use code_mode_folder_tools::Folder;

use super::limits::LimitFlags;
use super::recorder::{Detail, Recorder, Recording};

/// Everything that one program needs.
pub(crate) struct Session {
    registry: ToolRegistry,
    recorder: Recorder,
    /// Host events are told of an agent's calls only.
    agent: Agent,
    _code_mode: CodeMode,
    _tools: Registration,
    _observer: Registration,
}

impl Session {
    pub(crate) fn new(
        folder: &Folder,
        flags: &LimitFlags,
        isolation: Isolation,
        detail: Detail,
    ) -> Result<Self, Box<dyn Error>> {
        let registry = ToolRegistry::new(flags.registry())?;
        let tools = folder.register(&registry)?;
        let recorder = Recorder::new(detail);
        let recorded = recorder.around(back_end(flags.limits(), isolation)?);
        let code_mode = CodeMode::install(&registry, recorded)?;
        let observer = registry.on_host_event(Arc::new({
            let recorder = recorder.clone();
            move |record: &HostEventRecord| recorder.note(&record.event)
        }));
        let agent = Agent::new("code-mode run");
        Ok(Self { registry, recorder, agent, _code_mode: code_mode, _tools: tools, _observer: observer })
    }

    /// What an agent loop does when the model calls `run_code`. An interrupt from the terminal aborts the
    /// run, so that what it did is still reported; a second one ends the process.
    pub(crate) async fn run(&self, description: &str, code: &str) -> Recording {
        let stop = SignalSource::new();
        let arguments = json!({"code": code, "description": description});
        let call = ToolCall::new("call_1", RUN_CODE, arguments)
            .with_agent(self.agent.clone())
            .with_signal(stop.signal());
        let began = Instant::now();
        self.recorder.begin(began);
        let result = until_interrupted(self.registry.execute(call), &stop).await;
        self.recorder.finish(began.elapsed(), result)
    }
}

/// What runs the program.
fn back_end(limits: Limits, isolation: Isolation) -> Result<Arc<dyn CodeRuntime>, Box<dyn Error>> {
    let mut config = BackEndConfig::new(isolation);
    config.limits = limits;
    Ok(config.build()?)
}

async fn until_interrupted(
    call: impl Future<Output = Arc<ToolResult>>,
    stop: &SignalSource,
) -> Arc<ToolResult> {
    let mut call = std::pin::pin!(call);
    tokio::select! {
        result = &mut call => return result,
        Ok(()) = tokio::signal::ctrl_c() => {
            stop.cancel("interrupted");
        },
    }
    tokio::select! {
        result = call => result,
        Ok(()) = tokio::signal::ctrl_c() => std::process::exit(130),
    }
}
