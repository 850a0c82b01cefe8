//! What a call ended in.

use code_mode_schema::Json;

use super::Token;
use crate::{
    content::{AdditionalContext, ContentBlock, text_of},
    error::ToolFailure,
};

/// What a call ended in: the canonical outcome for programs, the content for the model, and what goes with
/// them (contract 3.11). Immutable once it leaves the pipeline.
///
/// Wrappers around the dispatch make their own with [`ToolResult::success`] and [`ToolResult::failure`]. The
/// pipeline does not trust those: a success is validated and rendered again from its value, a failure keeps
/// message, content, meta and contexts.
#[derive(Clone, Debug)]
pub struct ToolResult {
    token: Option<Token>,
    outcome: Outcome,
    content: Vec<ContentBlock>,
    meta: Option<Json>,
    additional_contexts: Vec<AdditionalContext>,
}

/// The canonical half of a [`ToolResult`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The tool's validated value.
    Ok {
        /// The value.
        value: Json,
    },
    /// Why there is none.
    Err(ToolFailure),
}

impl ToolResult {
    /// A wrapper's own success. Content and meta come from the tool's renderer, not from the wrapper.
    #[must_use]
    pub fn success(value: Json) -> Self {
        Self {
            token: None,
            outcome: Outcome::Ok { value },
            content: Vec::new(),
            meta: None,
            additional_contexts: Vec::new(),
        }
    }

    /// A wrapper's own failure, with content `Error: <message>`.
    #[must_use]
    pub fn failure(failure: impl Into<ToolFailure>) -> Self {
        let failure = failure.into();
        let content = vec![ContentBlock::text(format!("Error: {}", failure.message()))];
        Self {
            token: None,
            outcome: Outcome::Err(failure),
            content,
            meta: None,
            additional_contexts: Vec::new(),
        }
    }

    /// Replaces the content. The result counts as authored from here on.
    #[must_use]
    pub fn with_content(mut self, content: Vec<ContentBlock>) -> Self {
        self.token = None;
        self.content = content;
        self
    }

    /// Replaces the meta. The result counts as authored from here on.
    #[must_use]
    pub fn with_meta(mut self, meta: Option<Json>) -> Self {
        self.token = None;
        self.meta = meta;
        self
    }

    /// Adds contexts behind those already there. The result counts as authored from here on.
    #[must_use]
    pub fn with_contexts(mut self, contexts: impl IntoIterator<Item = AdditionalContext>) -> Self {
        self.token = None;
        self.additional_contexts.extend(contexts);
        self
    }

    /// The execution whose pipeline made this result; `None` for one that a wrapper authored, and for a call of a batch
    /// that never started.
    #[must_use]
    pub fn token(&self) -> Option<Token> {
        self.token
    }

    /// Value or failure.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Whether the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(self.outcome, Outcome::Err(_))
    }

    /// The canonical value of a success.
    #[must_use]
    pub fn value(&self) -> Option<&Json> {
        match &self.outcome {
            Outcome::Ok { value } => Some(value),
            Outcome::Err(_) => None,
        }
    }

    /// The failure, if the call failed.
    #[must_use]
    pub fn error(&self) -> Option<&ToolFailure> {
        match &self.outcome {
            Outcome::Ok { .. } => None,
            Outcome::Err(failure) => Some(failure),
        }
    }

    /// The failure's message, without `Error: `.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.error().map(ToolFailure::message)
    }

    /// The blocks the model sees.
    #[must_use]
    pub fn content(&self) -> &[ContentBlock] {
        &self.content
    }

    /// The text blocks of the content, joined by newline.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// What the tool computed for a host's display. Only for calls without a parent.
    #[must_use]
    pub fn meta(&self) -> Option<&Json> {
        self.meta.as_ref()
    }

    /// What is to be injected after the results of the step, in order (contract 3.12).
    #[must_use]
    pub fn additional_contexts(&self) -> &[AdditionalContext] {
        &self.additional_contexts
    }

    /// A success of the pipeline's own making.
    pub(crate) fn canonical(
        token: Token,
        value: Json,
        content: Vec<ContentBlock>,
        meta: Option<Json>,
    ) -> Self {
        Self {
            token: Some(token),
            outcome: Outcome::Ok { value },
            content,
            meta,
            additional_contexts: Vec::new(),
        }
    }

    /// A failure of the pipeline's own making.
    pub(crate) fn failed(token: Token, failure: ToolFailure) -> Self {
        Self { token: Some(token), ..Self::failure(failure) }
    }

    /// The same result, owned by the execution `token` again.
    pub(crate) fn owned_by(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    pub(crate) fn set_content(&mut self, content: Vec<ContentBlock>) {
        self.content = content;
    }

    pub(crate) fn set_contexts(&mut self, contexts: Vec<AdditionalContext>) {
        self.additional_contexts = contexts;
    }

    pub(crate) fn contexts_mut(&mut self) -> &mut Vec<AdditionalContext> {
        &mut self.additional_contexts
    }
}
