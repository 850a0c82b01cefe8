//! How an ended program becomes a failure that a model can act on. Contract 6.4,
//! decisions 11 to 16 and 19.

use code_mode_schema::Json;

use crate::bridge::program::Thrown;
use crate::isolate::thread::Job;
use crate::isolate::{Cause, Limits, RunControl};
use crate::seam::{Failure, FailureKind};
use crate::source::{Position, SourceError, code_frame};

/// The text is no program.
pub(crate) fn refused(text: &str, error: &SourceError) -> Failure {
    placed(text, error.to_string(), "", error.position())
}

/// The run was stopped from outside.
pub(crate) fn stopped(control: &RunControl) -> Failure {
    let limits = &control.limits;
    match control.cause() {
        Some(Cause::Compute) => Failure::new(
            FailureKind::Timeout,
            format!("compute budget exhausted ({}ms busy)", limits.compute.as_millis()),
        ),
        Some(Cause::Wall) => Failure::new(
            FailureKind::Timeout,
            format!("wall-clock ceiling reached ({}ms)", limits.max_wall.as_millis()),
        ),
        Some(Cause::Heap) => heap_limit(limits),
        Some(Cause::Output) => Failure::new(
            FailureKind::OutputLimit,
            format!("outer output exceeded {} bytes", limits.max_output_bytes),
        ),
        Some(Cause::Abort(reason)) => Failure::new(FailureKind::Abort, reason),
        None => lost("the engine stopped by itself"),
    }
}

/// The heap limit is reached.
pub(crate) fn heap_limit(limits: &Limits) -> Failure {
    Failure::new(
        FailureKind::WorkerExit,
        format!("heap limit of {} MiB reached", limits.max_old_generation_size_mb),
    )
}

/// True for what QuickJS throws at its heap limit: an error, or null where there
/// is no room even for that.
pub(crate) fn is_out_of_memory(failure: &Failure) -> bool {
    let head = failure.message.lines().next().unwrap_or_default();
    failure.kind == FailureKind::Exception && matches!(head, "InternalError: out of memory" | "null")
}

/// What the program ran on is gone.
pub(crate) fn lost(reason: &str) -> Failure {
    Failure::new(FailureKind::WorkerExit, format!("worker error: {reason}"))
}

/// The completion is no lossless JSON.
pub(crate) fn lossy(problem: &str) -> Failure {
    Failure::new(FailureKind::InvalidOutput, format!("program completion must be lossless JSON: {problem}"))
}

/// The completion's text as a value.
pub(crate) fn completed(text: Option<&str>) -> Result<Option<Json>, Failure> {
    text.map(Json::parse).transpose().map_err(|error| lossy(&error.to_string()))
}

/// It waits for something that cannot happen.
pub(crate) fn stalled() -> Failure {
    Failure::new(FailureKind::Exception, "the program waits on a promise that nothing can settle")
}

/// It threw.
pub(crate) fn threw(job: &Job, thrown: &Thrown) -> Failure {
    let mut head = thrown.head.clone();
    if let Some(hint) = job.hints().after(&head) {
        head.push_str(&hint);
    }
    described(job, head, thrown)
}

/// A rejection that nothing handled.
pub(crate) fn unhandled(job: &Job, thrown: &Thrown) -> Failure {
    let what =
        if thrown.tool.is_some() { "a tool call that was not awaited failed" } else { "unhandled rejection" };
    described(job, format!("{what}: {}", thrown.head), thrown)
}

fn described(job: &Job, head: String, thrown: &Thrown) -> Failure {
    let mut text = head;
    if !thrown.frames.is_empty() {
        text.push('\n');
        text.push_str(&thrown.frames);
    }
    placed(&job.program, text, &thrown.causes, thrown.position)
}

/// `text`, the code frame of `position`, then `rest`.
fn placed(program: &str, text: String, rest: &str, position: Option<Position>) -> Failure {
    let mut message = text;
    if let Some(frame) = position.and_then(|position| code_frame(program, position)) {
        message.push('\n');
        message.push_str(&frame);
    }
    message.push_str(rest);
    let mut failure = Failure::new(FailureKind::Exception, message);
    failure.line = position.map(|position| position.line);
    failure.column = position.map(|position| position.column).filter(|&column| column > 0);
    failure
}
