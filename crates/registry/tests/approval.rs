//! Contract 3.6: how a question is answered, and every way in which it is not.

use std::sync::{Arc, Mutex};

use code_mode_registry::{
    Admission, Agent, ApprovalOutcome, ApprovalRequest, ApprovalService, HostEvent, HostEventRecord,
    PreDecision, Registration, SignalSource, ToolError, ToolRegistry, ToolResult,
    approval::{ApprovalDesk, ApprovalPolicy, OpenTurn},
};
use futures::{FutureExt, channel::oneshot, future::BoxFuture};

use crate::support::{Log, call, check_failure, code, echo, poll_once, run};

/// A service that gives one answer and keeps the requests.
struct Answers {
    answer: Box<dyn Fn() -> Result<ApprovalOutcome, ToolError> + Send + Sync>,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl ApprovalService for Answers {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, Result<ApprovalOutcome, ToolError>> {
        self.asked.lock().unwrap().push(request);
        std::future::ready((self.answer)()).boxed()
    }
}

struct Setup {
    registry: ToolRegistry,
    agent: Agent,
    stop: SignalSource,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Setup {
    /// A policy that asks about everything.
    fn new(reason: Option<&'static str>) -> Self {
        let registry = ToolRegistry::default();
        registry.register(echo("t")).unwrap().keep();
        registry
            .on_pre_execute(move |_, _| async move {
                Ok(reason.map_or(PreDecision::Ask { reason: None }, PreDecision::ask))
            })
            .keep();
        Self { registry, agent: Agent::new("a"), stop: SignalSource::new(), asked: Arc::default() }
    }

    fn answers(
        self,
        answer: impl Fn() -> Result<ApprovalOutcome, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let service = Answers { answer: Box::new(answer), asked: Arc::clone(&self.asked) };
        self.registry.mount_approval(Arc::new(service)).keep();
        self
    }

    fn execute(&self) -> Arc<ToolResult> {
        let call = call("t").with_agent(self.agent.clone()).with_signal(self.stop.signal());
        run(self.registry.execute(call))
    }

    #[track_caller]
    fn check_denied(&self, reason: &str) {
        check_failure(&self.execute(), reason, None);
    }
}

#[test]
fn without_a_service_the_asks_own_reason_denies() {
    Setup::new(Some("needs a yes")).check_denied("needs a yes");
    Setup::new(None).check_denied(r#"tool "t" requires approval (not yet supported)"#);
}

#[test]
fn without_an_agent_nobody_is_asked() {
    let setup = Setup::new(None).answers(|| Ok(ApprovalOutcome::AllowedOnce));
    let result = run(setup.registry.execute(call("t")));
    let reason = r#"tool "t" requires approval, but the call has no agent to route it through"#;
    check_failure(&result, reason, None);
    assert!(setup.asked.lock().unwrap().is_empty());
}

#[test]
fn each_outcome_has_its_reason() {
    let outcomes = [
        (ApprovalOutcome::Rejected, r#"the user rejected tool "t""#),
        (ApprovalOutcome::Cancelled, r#"approval for tool "t" was cancelled"#),
        (ApprovalOutcome::Unavailable, r#"tool "t" requires approval, but no approval channel is available"#),
    ];
    for (outcome, reason) in outcomes {
        Setup::new(None).answers(move || Ok(outcome.clone())).check_denied(reason);
    }
}

#[test]
fn allowed_once_goes_on_to_the_guards() {
    let setup = Setup::new(None).answers(|| Ok(ApprovalOutcome::AllowedOnce));
    assert!(!setup.execute().is_error());
    let _guard = setup.registry.guard(|_: &code_mode_registry::ToolExecution| Some("guarded"));
    setup.check_denied("guarded");
}

#[test]
fn an_outcome_outside_the_vocabulary_is_an_internal_error() {
    let setup = Setup::new(None).answers(|| Ok(ApprovalOutcome::Other("maybe".into())));
    let log = Log::default();
    let _post = note_post(&setup.registry, &log);
    let result = setup.execute();
    assert!(result.text().starts_with("Error: unreachable variant"), "{}", result.text());
    assert_eq!(log.take(), [""; 0], "no post-policy sees it");
}

#[test]
fn a_failing_service_is_final() {
    let log = Log::default();
    let setup = Setup::new(None).answers(|| Err(ToolError::new("no turn")));
    let _post = note_post(&setup.registry, &log);
    check_failure(&setup.execute(), "no turn", None);
    let setup = Setup::new(None).answers(|| panic!("boom"));
    let _post = note_post(&setup.registry, &log);
    check_failure(&setup.execute(), "boom", None);
    assert_eq!(log.take(), [""; 0]);
}

fn note_post(registry: &ToolRegistry, log: &Log) -> Registration {
    let log = log.clone();
    registry.on_post_execute(move |_, _, next| {
        log.add("post");
        async move { next.call().await }
    })
}

#[test]
fn the_request_carries_the_call_and_the_callers_own_signal() {
    let setup = Setup::new(Some("why")).answers(|| Ok(ApprovalOutcome::AllowedOnce));
    setup.execute();
    let asked = setup.asked.lock().unwrap();
    let [request] = &asked[..] else { panic!("asked once") };
    assert_eq!(request.agent, setup.agent);
    assert_eq!(&*request.tool_name, "t");
    assert_eq!(request.call_id.as_str(), "call-t");
    assert_eq!(request.arguments, call("t").arguments.unwrap());
    assert_eq!(request.reason.as_deref(), Some("why"));
    assert!(request.signal.same(&setup.stop.signal()));
}

#[test]
fn the_service_mounted_last_answers_and_is_looked_up_per_ask() {
    let setup = Setup::new(None).answers(|| Ok(ApprovalOutcome::Rejected));
    let service = Answers { answer: Box::new(|| Ok(ApprovalOutcome::AllowedOnce)), asked: Arc::default() };
    let mounted = setup.registry.mount_approval(Arc::new(service));
    assert!(!setup.execute().is_error());
    drop(mounted);
    assert!(setup.execute().is_error());
}

#[test]
fn cancelled_by_a_cancelled_caller_is_an_abort_that_post_policies_see() {
    let setup = Setup::new(None);
    let stop = Arc::new(SignalSource::new());
    let service = {
        let stop = Arc::clone(&stop);
        Answers {
            answer: Box::new(move || {
                stop.cancel("escape");
                Ok(ApprovalOutcome::Cancelled)
            }),
            asked: Arc::default(),
        }
    };
    let _mounted = setup.registry.mount_approval(Arc::new(service));
    let log = Log::default();
    let _post = note_post(&setup.registry, &log);
    let call = call("t").with_agent(setup.agent.clone()).with_signal(stop.signal());
    let result = run(setup.registry.execute(call));
    check_failure(&result, "tool call aborted before dispatch", Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(log.take(), ["post"]);
}

#[test]
fn rejection_beats_cancellation() {
    let stop = Arc::new(SignalSource::new());
    let setup = Setup::new(None).answers({
        let stop = Arc::clone(&stop);
        move || {
            stop.cancel("escape");
            Ok(ApprovalOutcome::Rejected)
        }
    });
    let call = call("t").with_agent(setup.agent.clone()).with_signal(stop.signal());
    check_failure(&run(setup.registry.execute(call)), r#"the user rejected tool "t""#, None);
}

#[test]
fn admission_stops_where_an_approval_has_to_be_waited_for() {
    let setup = Setup::new(None).answers(|| Ok(ApprovalOutcome::AllowedOnce));
    let call = call("t").with_agent(setup.agent.clone());
    let Admission::Asking(asking) = run(setup.registry.admit(call)) else { panic!("must ask") };
    assert!(setup.asked.lock().unwrap().is_empty(), "nobody was asked yet");
    assert_eq!(asking.execution().name(), "t");
    let started = run(asking.resolve());
    assert!(!run(run(started.run()).commit()).is_error());
}

#[test]
fn outcomes_have_wire_names() {
    let names = [
        (ApprovalOutcome::AllowedOnce, "allowed-once"),
        (ApprovalOutcome::Rejected, "rejected"),
        (ApprovalOutcome::Cancelled, "cancelled"),
        (ApprovalOutcome::Unavailable, "unavailable"),
        (ApprovalOutcome::Other("maybe".into()), "maybe"),
    ];
    for (outcome, name) in names {
        let json = code_mode_schema::to_json(&outcome).unwrap();
        assert_eq!(json.as_str(), Some(name));
        assert_eq!(code_mode_schema::from_json::<ApprovalOutcome>(&json).unwrap(), outcome);
    }
}

// The desk.

struct Desk {
    setup: Setup,
    desk: ApprovalDesk,
    log: Log,
    _mounted: Registration,
}

impl Desk {
    fn new(policy: ApprovalPolicy) -> Self {
        let setup = Setup::new(Some("why"));
        let (desk, mounted) = ApprovalDesk::mount(&setup.registry, policy);
        let log = Log::default();
        let events = log.clone();
        let observer = move |record: &HostEventRecord| match &record.event {
            HostEvent::ApprovalAsked { id, tool_name, call_id, reason } => {
                let call_id = call_id.as_ref().unwrap();
                let reason = reason.as_ref().unwrap();
                events.add(format!("asked {id} {tool_name} {call_id} {reason}"));
            }
            HostEvent::ApprovalDecided { id, outcome } => {
                events.add(format!("decided {id} {outcome:?}"));
            }
            _ => {}
        };
        setup.registry.on_host_event(Arc::new(observer)).keep();
        Self { setup, desk, log, _mounted: mounted }
    }

    fn open(policy: ApprovalPolicy) -> (Self, OpenTurn) {
        let desk = Self::new(policy);
        let turn = desk.desk.open_turn();
        (desk, turn)
    }

    /// Exactly one asked, then exactly one decided, with one id.
    #[track_caller]
    fn check_logged(&self, outcome: &str) {
        let log = self.log.take();
        let [asked, decided] = &log[..] else { panic!("{log:?}") };
        let id = asked.split(' ').nth(1).unwrap();
        assert_eq!(*asked, format!("asked {id} t call-t why"));
        assert_eq!(*decided, format!("decided {id} {outcome}"));
    }
}

#[test]
fn the_desk_needs_an_open_turn_before_it_logs_anything() {
    let desk = Desk::new(ApprovalPolicy::Ask);
    assert!(desk.setup.execute().text().contains("open turn"));
    drop(desk.desk.open_turn());
    assert!(desk.setup.execute().text().contains("open turn"));
    assert_eq!(desk.log.take(), [""; 0]);
}

#[test]
fn the_desk_asks_the_listeners_and_logs_both() {
    let (desk, _turn) = Desk::open(ApprovalPolicy::Ask);
    let _listener = desk.setup.registry.hooks().on_approval_request(|request, _| async move {
        assert_eq!(request.reason.as_deref(), Some("why"));
        Ok(ApprovalOutcome::AllowedOnce)
    });
    assert!(!desk.setup.execute().is_error());
    desk.check_logged("AllowedOnce");
}

#[test]
fn nobody_at_the_desk_is_unavailable() {
    let (desk, _turn) = Desk::open(ApprovalPolicy::Ask);
    desk.setup.check_denied(r#"tool "t" requires approval, but no approval channel is available"#);
    desk.check_logged("Unavailable");
    let _passes_on =
        desk.setup.registry.hooks().on_approval_request(|_, next| async move { next.call().await });
    desk.setup.check_denied(r#"tool "t" requires approval, but no approval channel is available"#);
    desk.check_logged("Unavailable");
}

#[test]
fn an_answerer_that_fails_or_makes_words_up_is_unavailable() {
    let (desk, _turn) = Desk::open(ApprovalPolicy::Ask);
    let answers: [fn() -> Result<ApprovalOutcome, ToolError>; 3] =
        [|| Err(ToolError::new("no")), || panic!("boom"), || Ok(ApprovalOutcome::Other("sure".into()))];
    for answer in answers {
        let _listener = desk.setup.registry.hooks().on_approval_request(move |_, _| async move { answer() });
        assert!(desk.setup.execute().text().ends_with("no approval channel is available"));
        desk.check_logged("Unavailable");
    }
}

#[test]
fn policy_never_rejects_without_consulting_anybody() {
    let (desk, _turn) = Desk::open(ApprovalPolicy::Never);
    let log = Log::default();
    let note = log.clone();
    let _listener = desk.setup.registry.hooks().prepend().on_approval_request(move |_, _| {
        note.add("consulted");
        async { Ok(ApprovalOutcome::AllowedOnce) }
    });
    desk.setup.check_denied(r#"the user rejected tool "t""#);
    desk.check_logged("Rejected");
    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn a_scoped_answerer_answers_for_its_agent_only() {
    let (desk, _turn) = Desk::open(ApprovalPolicy::Ask);
    let allow = || |_, _| async { Ok(ApprovalOutcome::AllowedOnce) };
    let other = desk.setup.registry.hooks().for_agent(&Agent::new("a")).on_approval_request(allow());
    assert!(desk.setup.execute().is_error());
    drop(other);
    let _own = desk.setup.registry.hooks().for_agent(&desk.setup.agent).on_approval_request(allow());
    assert!(!desk.setup.execute().is_error());
}

#[test]
fn cancelling_answers_at_once_and_drops_the_late_answer() {
    let (desk, _turn) = Desk::open(ApprovalPolicy::Ask);
    let (answer, waiting) = oneshot::channel::<ApprovalOutcome>();
    let waiting = Mutex::new(Some(waiting));
    let _listener = desk.setup.registry.hooks().on_approval_request(move |_, _| {
        let waiting = waiting.lock().unwrap().take().unwrap();
        async move { Ok(waiting.await?) }
    });
    let call = call("t").with_agent(desk.setup.agent.clone()).with_signal(desk.setup.stop.signal());
    let mut executing = Box::pin(desk.setup.registry.execute(call));
    assert!(poll_once(&mut executing).is_pending());
    desk.setup.stop.cancel("escape");
    let result = run(executing);
    assert_eq!(code(&result).as_deref(), Some("ABORTED_BEFORE_DISPATCH"));
    assert!(answer.send(ApprovalOutcome::AllowedOnce).is_err(), "nobody listens any more");
    desk.check_logged("Cancelled");
}

#[test]
fn a_question_that_is_dropped_counts_as_cancelled() {
    let (desk, _turn) = Desk::open(ApprovalPolicy::Ask);
    let _listener = desk
        .setup
        .registry
        .hooks()
        .on_approval_request(|_, _| std::future::pending::<Result<ApprovalOutcome, ToolError>>());
    let call = call("t").with_agent(desk.setup.agent.clone());
    let mut executing = Box::pin(desk.setup.registry.execute(call));
    assert!(poll_once(&mut executing).is_pending());
    drop(executing);
    desk.check_logged("Cancelled");
}
