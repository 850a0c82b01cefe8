//! Approval: the seam through which an `ask` decision reaches somebody who can answer it (contract 3.6).
//!
//! A policy decides [`PreDecision::Ask`](crate::PreDecision::Ask); the pipeline then looks for the
//! [`ApprovalService`] mounted last and asks it once. Without a service, without an agent, or with an answer
//! other than [`ApprovalOutcome::AllowedOnce`], the call is denied.
//!
//! An outcome carries no words. A user whose reason the model is to read is asked by the policy itself, which then
//! [denies](crate::PreDecision::deny) with that reason; no approval event is emitted for such a question.

use std::sync::Arc;

use code_mode_schema::Json;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    cancellation::Signal,
    error::ToolError,
    execution::{Agent, CallId},
};

mod desk;

pub use desk::{ApprovalDesk, ApprovalPolicy, OpenTurn};

/// Answers approval requests.
///
/// ```
/// use code_mode_registry::{ApprovalOutcome, ApprovalRequest, ApprovalService, BoxFuture, ToolError};
///
/// struct Headless;
///
/// impl ApprovalService for Headless {
///     fn request(&self, _: ApprovalRequest) -> BoxFuture<'static, Result<ApprovalOutcome, ToolError>> {
///         Box::pin(async { Ok(ApprovalOutcome::Unavailable) })
///     }
/// }
/// ```
///
/// An implementation must answer every request once, must return [`ApprovalOutcome::Cancelled`] soon after
/// the request's signal is cancelled, and must not need any lock held by the caller. An `Err` or a panic
/// fails the call.
pub trait ApprovalService: Send + Sync {
    /// Asks, and waits for the answer.
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, Result<ApprovalOutcome, ToolError>>;
}

/// What is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// On whose behalf the call is made.
    pub agent: Agent,
    /// The tool.
    pub tool_name: Arc<str>,
    /// The call.
    pub call_id: CallId,
    /// What the call was given, for whoever answers to look at. A tool's schema is checked behind the approval, so
    /// these may still be refused.
    pub arguments: Json,
    /// Why the policy asks.
    pub reason: Option<Arc<str>>,
    /// The caller's own signal.
    pub signal: Signal,
}

/// The answer. JSON: the names in kebab case, for example `"allowed-once"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ApprovalOutcome {
    /// This one call may run.
    AllowedOnce,
    /// The user said no.
    Rejected,
    /// The question was withdrawn before an answer came.
    Cancelled,
    /// Nobody could be asked.
    Unavailable,
    /// A word outside the vocabulary, as it came. From a service it is an internal error.
    #[serde(untagged)]
    Other(Arc<str>),
}

/// A mounted service.
pub(crate) struct Mounted {
    pub(crate) id: u64,
    pub(crate) service: Arc<dyn ApprovalService>,
}
