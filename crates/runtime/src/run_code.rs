//! `run_code`: one program from source to result text.
//!
//! Every call its program makes goes through the pipeline that a native call goes
//! through; `run_code` itself is a tool in it ([`crate::transport`]).

use std::sync::Arc;

use code_mode_registry::scheduler::{CallPool, CommitOrder, PoolConfig};
use code_mode_registry::{
    ErrorInfo, HostEvent, RUN_CODE, Signal, SignalSource, ToolDefinition, ToolError, ToolRegistry,
    ToolRunContext,
};
use code_mode_schema::{Json, Object};
use tokio::sync::oneshot;

use crate::dispatch::Dispatch;
use crate::isolate::STACK_BYTES;
use crate::notes::{self, Seen};
use crate::render;
use crate::seam::{CodeRuntime, Failure, LogSink, Namespace, RunOutcome, RunRequest};
use crate::source;
use crate::transport::Notes;

/// The code of the failure of a program.
pub(crate) const FAILED: &str = "CODE_RUN_FAILED";

/// One call of `run_code`.
pub(crate) async fn run(
    registry: ToolRegistry,
    runtime: Arc<dyn CodeRuntime>,
    notes: Notes,
    arguments: Json,
    outer: ToolRunContext,
) -> Result<Json, ToolError> {
    let text = |name| arguments.get(name).and_then(Json::as_str).unwrap_or_default();
    if text("description").trim().is_empty() {
        return Err(ToolError::new("invalid description: expected a non-empty string"));
    }
    let settled = SignalSource::new();
    let signal = Signal::any([outer.signal().clone(), settled.signal()]);
    let pool = pool(&registry, &signal)?;
    let names: Arc<[Arc<str>]> = names(&registry, &outer);
    let dispatch = Arc::new(Dispatch::new(
        registry.clone(),
        &outer,
        signal,
        pool.clone(),
        Arc::clone(&names),
        runtime.limits(),
    ));
    // Whatever becomes of this future, the sub-calls are aborted and drained.
    let settle = Settle { settled, pool: pool.clone() };
    let mut request = RunRequest::new(text("code"));
    request.namespaces = vec![Namespace::tools(names, Arc::clone(&dispatch) as Arc<_>)];
    request.signal = outer.signal().clone();
    request.logs = Some(Arc::new(Stream { registry, outer: outer.clone() }));
    let outcome = runtime.run(request).await;
    let seen = dispatch.tally(Seen::of);
    drop(settle);
    pool.finished().await;
    dispatch.hand_on_contexts(&outer);
    let outcome = outcome.map_err(|error| ToolError::new(error.to_string()).with_source(error))?;
    let media = dispatch.take_media();
    let note = if notes.are_on() {
        notes::note(&outcome, &seen, &media, oversight(&outcome, text("code")).await)
    } else {
        None
    };
    notes.keep(outer.token(), note, media.blocks);
    match outcome.end {
        Ok(result) => Ok(output(&outcome.logs, result)),
        Err(failure) => Err(failed(failure, outcome.logs)),
    }
}

/// What a program forgot, if its outcome looks as if it had.
async fn oversight(outcome: &RunOutcome, program: &str) -> Option<String> {
    if !notes::is_puzzling(outcome) {
        return None;
    }
    let (tell, told) = oneshot::channel();
    let program = program.to_owned();
    // The parser recurses: it gets the stack that it had when the program was prepared.
    let looking = std::thread::Builder::new().name("code-mode-parser".to_owned()).stack_size(STACK_BYTES);
    let _ = looking.spawn(move || tell.send(source::oversight(&program))).ok()?;
    told.await.ok().flatten()
}

/// The pool of one run, driven by a task of its own.
fn pool(registry: &ToolRegistry, signal: &Signal) -> Result<CallPool, ToolError> {
    let tokio = tokio::runtime::Handle::try_current()
        .map_err(|_| ToolError::new("run_code needs a tokio runtime: await the call inside one"))?;
    let mut config = PoolConfig::new(registry.config().max_parallel_sub_calls, CommitOrder::Completion);
    config.signal = signal.clone();
    config.spawn = Some(Arc::new({
        let tokio = tokio.clone();
        move |body| {
            tokio.spawn(body);
        }
    }));
    let pool = CallPool::new(registry.clone(), config);
    tokio.spawn(pool.drive());
    Ok(pool)
}

/// The functions of `tools`: every tool the agent sees but `run_code` itself.
fn names(registry: &ToolRegistry, outer: &ToolRunContext) -> Arc<[Arc<str>]> {
    let view = registry.view(outer.agent());
    view.iter().map(ToolDefinition::name).filter(|name| *name != RUN_CODE).map(Arc::from).collect()
}

fn output(logs: &[String], result: Option<Json>) -> Json {
    let logs: Json = logs.iter().map(|entry| Json::from(entry.as_str())).collect::<Vec<_>>().into();
    let fields = std::iter::once(("logs", logs)).chain(result.map(|result| ("result", result)));
    Json::Object(fields.collect::<Object>())
}

fn failed(failure: Failure, logs: Vec<String>) -> ToolError {
    ToolError::new(render::failure(&failure, &logs))
        .with_info(ErrorInfo::new("CodeRunFailedError", FAILED))
        .with_source(CodeRunFailed { failure, logs })
}

/// Aborts the sub-calls of a run and closes its pool when dropped.
struct Settle {
    settled: SignalSource,
    pool: CallPool,
}

impl Drop for Settle {
    fn drop(&mut self) {
        self.settled.cancel("run_code settled");
        self.pool.close();
    }
}

/// Streams the log to the host while the program runs.
struct Stream {
    registry: ToolRegistry,
    outer: ToolRunContext,
}

impl LogSink for Stream {
    fn entry(&self, text: &str) {
        if self.outer.agent().is_some() && self.registry.has_host_observers() {
            self.registry
                .emit_host_event(HostEvent::Log { call_id: self.outer.call_id().clone(), text: text.into() });
        }
    }
}

/// The failure of a program, as the source of the tool's failure.
#[derive(Debug, Clone, thiserror::Error)]
#[error("code run failed ({}): {}", .failure.kind, .failure.message)]
pub struct CodeRunFailed {
    /// Kind, message and place.
    pub failure: Failure,
    /// What the program had printed.
    pub logs: Vec<String>,
}
