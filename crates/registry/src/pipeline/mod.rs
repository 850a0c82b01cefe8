//! The path of one call: the stages as one visible list.
//!
//! A call goes through three phases whose concatenation is
//! [`ToolRegistry::execute`](crate::ToolRegistry::execute). A scheduler runs them apart: starts and commits
//! one after the other in its lane, bodies beside each other.
//!
//! | phase | stage | what it does |
//! |---|---|---|
//! | start | `materialize` | the tool as visible now, the arguments, calls that are over before they begin |
//! | | `pre_execute` | the policies allow, deny or ask |
//! | | `approval` | a question is answered |
//! | | `guards` | an allowed call may still be denied |
//! | run | `dispatch` | the wrappers around the body |
//! | | `canonical` | the body's value is validated and rendered |
//! | commit | `post_execute` | the policies accept, replace or block the result |
//! | | `finalize` | the tool's last word on the content |
//! | | `observe` | everybody is told |
//!
//! Each call has a `tracing` span `tool_call` (fields `tool`, `call_id`, `is_sub_call`) with a child per
//! stage, named like the stage (`materialize` makes the span and has none); inside `dispatch`, each dispatch has
//! the spans `body` and `canonical`. All are of level debug. Arguments and results are never in them;
//! [`TracePayloads`](crate::policy::TracePayloads) adds them for who wants them.
//!
//! A stage that decides the call sets where it goes on: most failures still pass the post-policies, a failure
//! of the pipeline's own machinery (a policy, guard or wrapper that failed, arguments that are no JSON, a
//! call cancelled before it began) goes straight to `finalize`.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use invariants::Passed;

use crate::{
    contain::Callback,
    error::ToolFailure,
    execution::{ToolCall, ToolExecution, ToolResult},
    shared::Shared,
    tool::FinalizeContent,
};

// start
mod materialize;

mod pre_execute;

mod approval;

mod guards;

// run
mod dispatch;

mod adoption;

mod canonical;

// commit
mod post_execute;

mod finalize;

mod observe;

// every phase
mod invariants;

/// A call from the first stage to the last.
pub(crate) async fn execute(shared: Arc<Shared>, call: ToolCall) -> Arc<ToolResult> {
    // start
    let mut run = materialize::materialize(shared, call);
    pre_execute::pre_execute(&mut run).await;
    approval::approval(&mut run).await;
    guards::guards(&mut run);
    // run
    dispatch::dispatch(&mut run).await; // around the body; `canonical` inside
    // commit
    post_execute::post_execute(&mut run).await;
    finalize::finalize(&mut run);
    observe::observe(run)
}

/// The first phase, up to the place where an approval has to be waited for.
pub(crate) async fn admit(shared: Arc<Shared>, call: ToolCall) -> Admission {
    let mut run = materialize::materialize(shared, call);
    pre_execute::pre_execute(&mut run).await;
    if matches!(run.progress, Progress::Asking { .. }) {
        return Admission::Asking(AskingCall { run });
    }
    guards::guards(&mut run);
    Admission::Started(StartedCall { run })
}

/// The first phase.
pub(crate) async fn start(shared: Arc<Shared>, call: ToolCall) -> StartedCall {
    match admit(shared, call).await {
        Admission::Started(started) => started,
        Admission::Asking(asking) => asking.resolve().await,
    }
}

/// Where the first phase stands after the policies.
#[derive(Debug)]
pub enum Admission {
    /// The phase is over.
    Started(StartedCall),
    /// A policy asks; the answer may take as long as a person takes.
    Asking(AskingCall),
}

/// A call that waits for an approval.
#[must_use = "the call goes no further unless it is resolved"]
pub struct AskingCall {
    run: Run,
}

impl AskingCall {
    /// Asks, waits for the answer, and lets the guards look.
    #[must_use]
    pub fn resolve(mut self) -> BoxFuture<'static, StartedCall> {
        Box::pin(async move {
            approval::approval(&mut self.run).await;
            guards::guards(&mut self.run);
            StartedCall { run: self.run }
        })
    }

    /// The execution.
    #[must_use]
    pub fn execution(&self) -> &ToolExecution {
        &self.run.execution
    }
}

/// A call that is through all policies: its body may run now, or it is decided already.
///
/// Dropping it forgets the call: the body never starts, there is no result and nobody is told.
#[must_use = "the call goes no further unless it is run"]
pub struct StartedCall {
    run: Run,
}

impl StartedCall {
    /// The second phase: the wrappers and the body. Ready at once if the call is already decided.
    ///
    /// Once polled, the future must be driven to its end: dropping it drops the body and cancels the body's
    /// signal.
    #[must_use]
    pub fn run(mut self) -> BoxFuture<'static, SettledCall> {
        Box::pin(async move {
            dispatch::dispatch(&mut self.run).await;
            SettledCall { run: self.run }
        })
    }

    /// Whether the call is decided without a body (denied, cancelled, refused).
    #[must_use]
    pub fn is_decided(&self) -> bool {
        !matches!(self.run.progress, Progress::Allowed)
    }

    /// The execution.
    #[must_use]
    pub fn execution(&self) -> &ToolExecution {
        &self.run.execution
    }
}

/// A call whose body has settled; its result is not yet final.
#[must_use = "the call has no result until it is committed"]
pub struct SettledCall {
    run: Run,
}

impl SettledCall {
    /// The third phase: post-policies, finalization, observers.
    #[must_use]
    pub fn commit(mut self) -> BoxFuture<'static, Arc<ToolResult>> {
        Box::pin(async move {
            post_execute::post_execute(&mut self.run).await;
            finalize::finalize(&mut self.run);
            observe::observe(self.run)
        })
    }

    /// The execution.
    #[must_use]
    pub fn execution(&self) -> &ToolExecution {
        &self.run.execution
    }
}

/// What the stages hand on.
pub(crate) struct Run {
    shared: Arc<Shared>,
    execution: ToolExecution,
    span: tracing::Span,
    /// Captured by the first stage; survives the tool's unregistration.
    finalizer: Option<Callback<FinalizeContent>>,
    progress: Progress,
    passed: Passed,
}

/// Where the call stands. Each stage acts on one of these and passes the others by.
enum Progress {
    /// Not yet seen by the policies.
    Fresh,
    /// A policy asks.
    Asking { reason: Option<Arc<str>> },
    /// Nobody has objected so far.
    Allowed,
    /// There is a result, also a denial; the post-policies come next.
    Settled(Arc<ToolResult>),
    /// There is a result that no post-policy sees.
    Final(Arc<ToolResult>),
}

impl Run {
    /// The call ends in a failure that the post-policies still see.
    fn settle_failure(&mut self, failure: ToolFailure) {
        self.progress = Progress::Settled(self.failed(failure));
    }

    /// The call ends in a failure that no post-policy sees.
    fn fail_finally(&mut self, failure: impl Into<ToolFailure>) {
        self.progress = Progress::Final(self.failed(failure.into()));
    }

    fn failed(&self, failure: ToolFailure) -> Arc<ToolResult> {
        Arc::new(ToolResult::failed(self.execution.token(), failure))
    }
}

impl fmt::Debug for AskingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AskingCall").field(&self.run.execution).finish()
    }
}

impl fmt::Debug for StartedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StartedCall").field(&self.run.execution).finish()
    }
}

impl fmt::Debug for SettledCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SettledCall").field(&self.run.execution).finish()
    }
}

// Phases are run on whatever thread the scheduler has.
const _: () = {
    const fn crosses_threads<T: Send + 'static>() {}
    crosses_threads::<Admission>();
    crosses_threads::<StartedCall>();
    crosses_threads::<SettledCall>();
};
