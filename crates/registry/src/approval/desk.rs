//! The stock approval service: puts each question to the `approval/request` listeners, and logs question and
//! answer.

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::future::{self, BoxFuture, Either};

use super::{ApprovalOutcome, ApprovalRequest, ApprovalService};
use crate::{
    error::ToolError, events::run_waterfall, host::HostEvent, registration::Registration,
    registry::ToolRegistry, shared::Shared,
};

/// Whether anybody is asked at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalPolicy {
    /// The `approval/request` listeners are asked.
    #[default]
    Ask,
    /// Every question is answered with [`ApprovalOutcome::Rejected`], and nobody is consulted.
    Never,
}

/// Answers questions through the `approval/request` listeners of a registry (contract 3.6).
///
/// A question is answered within an open turn only. It is logged as `approval/asked`, then exactly once as
/// `approval/decided`, both as host events. A cancelled call is answered `cancelled` at once and a late
/// answer is dropped. A listener that fails, or answers a word outside the vocabulary, counts as
/// `unavailable`.
///
/// ```
/// use code_mode_registry::{
///     ApprovalOutcome, ToolRegistry,
///     approval::{ApprovalDesk, ApprovalPolicy},
/// };
///
/// let registry = ToolRegistry::default();
/// let (desk, _mounted) = ApprovalDesk::mount(&registry, ApprovalPolicy::Ask);
/// let _terminal = registry.hooks().on_approval_request(|request, _next| async move {
///     println!("{} wants to call {}", request.agent.name(), request.tool_name);
///     Ok(ApprovalOutcome::AllowedOnce)
/// });
/// let _turn = desk.open_turn();
/// ```
#[derive(Clone)]
pub struct ApprovalDesk(Arc<Desk>);

struct Desk {
    registry: Weak<Shared>,
    policy: ApprovalPolicy,
    open_turns: AtomicUsize,
}

impl ApprovalDesk {
    /// Mounts a desk on `registry`; it answers until the registration ends.
    pub fn mount(registry: &ToolRegistry, policy: ApprovalPolicy) -> (Self, Registration) {
        let desk = Self(Arc::new(Desk {
            registry: Arc::downgrade(registry.shared()),
            policy,
            open_turns: AtomicUsize::new(0),
        }));
        let mounted = registry.mount_approval(Arc::new(desk.clone()));
        (desk, mounted)
    }

    /// Opens a turn; questions are answered as long as one is open.
    #[must_use = "the turn is closed when this is dropped"]
    pub fn open_turn(&self) -> OpenTurn {
        self.0.open_turns.fetch_add(1, Ordering::AcqRel);
        OpenTurn(self.clone())
    }
}

impl fmt::Debug for ApprovalDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalDesk").field("policy", &self.0.policy).finish_non_exhaustive()
    }
}

/// A turn within which questions are answered; closed when dropped.
#[derive(Debug)]
pub struct OpenTurn(ApprovalDesk);

impl Drop for OpenTurn {
    fn drop(&mut self) {
        self.0.0.open_turns.fetch_sub(1, Ordering::AcqRel);
    }
}

impl ApprovalService for ApprovalDesk {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, Result<ApprovalOutcome, ToolError>> {
        let desk = Arc::clone(&self.0);
        Box::pin(async move { answer(&desk, request).await })
    }
}

async fn answer(desk: &Desk, request: ApprovalRequest) -> Result<ApprovalOutcome, ToolError> {
    if desk.open_turns.load(Ordering::Acquire) == 0 {
        return Err(ToolError::new("approval can only be asked for within an open turn"));
    }
    let Some(shared) = desk.registry.upgrade() else {
        return Ok(ApprovalOutcome::Unavailable);
    };
    let mut question = Question::ask(shared, &request);
    let outcome = if request.signal.is_cancelled() {
        ApprovalOutcome::Cancelled
    } else if desk.policy == ApprovalPolicy::Never {
        ApprovalOutcome::Rejected
    } else {
        consult(&question.shared, request).await
    };
    question.decide(outcome.clone());
    Ok(outcome)
}

/// The listeners' answer, or `cancelled` if that comes first.
async fn consult(shared: &Shared, request: ApprovalRequest) -> ApprovalOutcome {
    let Some(listeners) = shared.approval_request.heard_by(Some(&request.agent)) else {
        return ApprovalOutcome::Unavailable;
    };
    let cancelled = request.signal.cancelled();
    let nobody =
        Box::new(|| -> BoxFuture<'static, _> { Box::pin(future::ready(Ok(ApprovalOutcome::Unavailable))) });
    let answered = Box::pin(run_waterfall(listeners, request, nobody));
    match future::select(cancelled, answered).await {
        Either::Left(_) => ApprovalOutcome::Cancelled,
        Either::Right((Ok(ApprovalOutcome::Other(_)) | Err(_), _)) => ApprovalOutcome::Unavailable,
        Either::Right((Ok(outcome), _)) => outcome,
    }
}

/// One logged question; decided exactly once, as `cancelled` if it is dropped undecided.
struct Question {
    shared: Arc<Shared>,
    id: Arc<str>,
    is_decided: bool,
}

impl Question {
    fn ask(shared: Arc<Shared>, request: &ApprovalRequest) -> Self {
        let id: Arc<str> = Arc::from(format!("approval-{}", shared.next_id()));
        shared.host.emit(HostEvent::ApprovalAsked {
            id: Arc::clone(&id),
            tool_name: Arc::clone(&request.tool_name),
            call_id: Some(request.call_id.clone()),
            reason: request.reason.clone(),
        });
        Self { shared, id, is_decided: false }
    }

    fn decide(&mut self, outcome: ApprovalOutcome) {
        self.is_decided = true;
        self.shared.host.emit(HostEvent::ApprovalDecided { id: Arc::clone(&self.id), outcome });
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if !self.is_decided {
            self.decide(ApprovalOutcome::Cancelled);
        }
    }
}
