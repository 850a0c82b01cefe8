//! Stage 4a, post-execute: the policies accept, replace or block the result (contract 3.9).

use std::sync::Arc;

use super::{Progress, Run, canonical::revalue, dispatch::overtaken_by_cancellation};
use crate::{
    content::{AdditionalContext, ContentBlock},
    error::ToolFailure,
    events::run_waterfall,
    execution::ToolResult,
    hooks::{Acceptance, PostDecision},
};

#[tracing::instrument(level = "debug", parent = &run.span, skip_all)]
pub(super) async fn post_execute(run: &mut Run) {
    let result = match std::mem::replace(&mut run.progress, Progress::Fresh) {
        Progress::Settled(result) => result,
        other => {
            run.progress = other;
            return;
        }
    };
    run.passed.post_execute();
    let decided = match run.shared.post_execute.heard_by(run.execution.agent()) {
        None => result,
        Some(listeners) => {
            let middle = Box::new(|| -> futures::future::BoxFuture<'static, _> {
                Box::pin(std::future::ready(Ok(PostDecision::accept())))
            });
            let arguments = (run.execution.clone(), Arc::clone(&result));
            match run_waterfall(listeners, arguments, middle).await {
                Ok(PostDecision::Accept(acceptance)) => accept(run, result, acceptance),
                Ok(PostDecision::Block { feedback, additional_contexts }) => {
                    block(run, feedback, additional_contexts)
                }
                Err(error) => run.failed(error.into_failure()),
            }
        }
    };
    run.progress = Progress::Final(overtaken_by_cancellation(&run.execution, decided));
}

fn accept(run: &Run, mut result: Arc<ToolResult>, acceptance: Acceptance) -> Arc<ToolResult> {
    let Acceptance { content, value, additional_contexts } = acceptance;
    if content.is_none() && value.is_none() && additional_contexts.is_empty() {
        return result;
    }
    if content.is_some() && value.is_some() {
        return run.failed(ToolFailure::new(
            "tools/post-execute accept decision cannot replace both value and content",
        ));
    }
    if value.is_some() && result.is_error() {
        return run
            .failed(ToolFailure::new("tools/post-execute cannot replace the value of a failed result"));
    }
    if let Some(value) = value {
        let mut revalued = revalue(&run.shared, &run.execution, value);
        revalued.set_contexts(result.additional_contexts().to_vec());
        result = Arc::new(revalued);
    }
    let accepted = Arc::make_mut(&mut result);
    if let Some(content) = content {
        accepted.set_content(content);
    }
    accepted.contexts_mut().extend(additional_contexts);
    result
}

fn block(run: &Run, feedback: Vec<ContentBlock>, contexts: Vec<AdditionalContext>) -> Arc<ToolResult> {
    let texts = feedback.iter().map(|block| match block.as_text() {
        Some(text) => text.to_owned(),
        None => format!("[{} content]", block.kind()),
    });
    let mut message = texts.collect::<Vec<_>>().join("\n");
    if message.is_empty() {
        message.push_str("tool result blocked by post-execute policy");
    }
    let mut blocked = ToolResult::failed(run.execution.token(), ToolFailure::new(message));
    blocked.set_content(feedback);
    blocked.set_contexts(contexts);
    Arc::new(blocked)
}
