//! One suite of hooks for every way to call a tool. It is compiled into the tests of the registry, whose callers are
//! native calls, batches and sub-calls in a pool, and into those of the whole, whose caller is a program.
//!
//! A scenario sets up a [`Stage`]; a caller calls the tool [`TOOL`] on it; and what was [seen](Seen) of the call must
//! be the same whoever the caller was.

use std::sync::{Arc, Mutex};

use code_mode_registry::{
    Acceptance, AdditionalContext, Agent, ApprovalOutcome, ApprovalRequest, ApprovalService, ContentBlock,
    Dispatch, HostEvent, HostEventRecord, Next, PostDecision, PreDecision, SignalSource, ToolBuilder,
    ToolDefinition, ToolError, ToolExecution, ToolRegistry, ToolResult, ToolRunContext,
    policy::TimeoutPolicy,
};
use code_mode_schema::{Json, Schema, json};
use futures::future::BoxFuture;

/// The one tool of every scenario.
pub(crate) const TOOL: &str = "t";

/// The arguments of every call.
pub(crate) fn arguments() -> Json {
    json!({"x": 1})
}

/// A registry in which one call is made, and everything that is seen of it.
pub(crate) struct Stage {
    pub(crate) registry: ToolRegistry,
    pub(crate) agent: Agent,
    /// Cancels the call, from inside a hook.
    pub(crate) stop: Arc<SignalSource>,
    notes: Notes,
    seen: Arc<Mutex<Vec<Final>>>,
    events: Arc<Mutex<Vec<Told>>>,
}

/// All that must not depend on who made the call.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    /// What ran, in order, with what policies decided.
    stages: Vec<String>,
    /// The results that observers were told of.
    results: Vec<Final>,
    /// What hosts are told: of the start, and of the end.
    pub(crate) events: Vec<Told>,
}

#[derive(Debug, PartialEq)]
struct Final {
    value: Option<Json>,
    message: Option<String>,
    code: Option<String>,
    content: Vec<ContentBlock>,
    contexts: Vec<AdditionalContext>,
}

/// A host event without the names that differ between native calls and sub-calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    Started { name: String, arguments: Json },
    Settled { is_error: bool, content: Vec<ContentBlock> },
}

/// What the caller itself got: the value or the message, and the contexts.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) outcome: Result<Json, String>,
    pub(crate) contexts: Vec<AdditionalContext>,
}

impl Answer {
    pub(crate) fn of(result: &ToolResult) -> Self {
        let message = || result.message().unwrap_or_default().to_owned();
        Self {
            outcome: result.value().cloned().ok_or_else(message),
            contexts: result.additional_contexts().to_vec(),
        }
    }
}

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }
}

/// A name, and what it registers.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Whether the call is cancelled on the way. A program is then gone before it can get an answer.
    pub(crate) cancels: bool,
    set_up: fn(&Stage),
}

impl Scenario {
    /// Sets the scenario up on a registry that has no tool [`TOOL`] yet.
    pub(crate) fn on(&self, registry: &ToolRegistry, agent: &Agent) -> Stage {
        let stage = Stage {
            registry: registry.clone(),
            agent: agent.clone(),
            stop: Arc::default(),
            notes: Notes::default(),
            seen: Arc::default(),
            events: Arc::default(),
        };
        (self.set_up)(&stage);
        stage.watch();
        stage
    }
}

impl Stage {
    /// What was seen so far.
    pub(crate) fn seen(&self) -> Seen {
        let results = std::mem::take(&mut *self.seen.lock().unwrap());
        assert_eq!(results.len(), 1, "a call has one result");
        Seen {
            stages: std::mem::take(&mut *self.notes.0.lock().unwrap()),
            results,
            events: std::mem::take(&mut *self.events.lock().unwrap()),
        }
    }

    /// Notes every stage, outside of what the scenario registered.
    fn watch(&self) {
        let hooks = || self.registry.hooks().prepend();
        let notes = self.notes.clone();
        let pre = hooks().on_pre_execute(move |execution, next| {
            let notes = notes.clone();
            async move {
                let decision = next.call().await;
                if is_ours(&execution) {
                    notes.add(format!("pre {decision:?}"));
                }
                decision
            }
        });
        let notes = self.notes.clone();
        let guard = self.registry.guard(move |execution: &ToolExecution| {
            if is_ours(execution) {
                notes.add("guards");
            }
            None::<String>
        });
        let notes = self.notes.clone();
        let execute = hooks().on_execute(move |dispatch, next| {
            let notes = notes.clone();
            async move {
                let result = next.call().await;
                if is_ours(&dispatch) {
                    notes.add(match &result {
                        Ok(result) => format!("execute {:?}", result.outcome()),
                        Err(error) => format!("execute failed: {error}"),
                    });
                }
                result
            }
        });
        let notes = self.notes.clone();
        let post = hooks().on_post_execute(move |execution, result, next| {
            let notes = notes.clone();
            async move {
                let decision = next.call().await;
                if is_ours(&execution) {
                    notes.add(format!("post of {:?}: {decision:?}", result.outcome()));
                }
                decision
            }
        });
        let (notes, seen) = (self.notes.clone(), Arc::clone(&self.seen));
        let result = hooks().on_result(move |execution, result| {
            if is_ours(execution) {
                notes.add("result");
                seen.lock().unwrap().push(Final {
                    value: result.value().cloned(),
                    message: result.message().map(str::to_owned),
                    code: result.error().and_then(|failure| failure.code()).map(str::to_owned),
                    content: result.content().to_vec(),
                    contexts: result.additional_contexts().to_vec(),
                });
            }
        });
        let events = Arc::clone(&self.events);
        let host = self.registry.on_host_event(Arc::new(move |record: &HostEventRecord| {
            let told = match &record.event {
                HostEvent::ToolCall { name, arguments, .. } => {
                    Told::Started { name: name.to_string(), arguments: Json::parse(arguments).unwrap() }
                }
                HostEvent::CodeDispatchStart { name, arguments, .. } => {
                    Told::Started { name: name.to_string(), arguments: arguments.clone() }
                }
                HostEvent::ToolResult { is_error, content, .. }
                | HostEvent::CodeDispatch { is_error, content, .. } => {
                    Told::Settled { is_error: *is_error, content: content.clone() }
                }
                _ => return,
            };
            events.lock().unwrap().push(told);
        }));
        for registration in [pre, guard, execute, post, result, host] {
            registration.keep();
        }
    }

    /// Registers [`TOOL`] with this body.
    fn body<Fut>(&self, body: impl Fn(Json, ToolRunContext) -> Fut + Send + Sync + 'static)
    where
        Fut: Future<Output = Result<Json, ToolError>> + Send + 'static,
    {
        self.tool(|tool| tool, body);
    }

    fn tool<Fut>(
        &self,
        parts: impl FnOnce(ToolBuilder) -> ToolBuilder,
        body: impl Fn(Json, ToolRunContext) -> Fut + Send + Sync + 'static,
    ) where
        Fut: Future<Output = Result<Json, ToolError>> + Send + 'static,
    {
        let notes = self.notes.clone();
        let tool = ToolDefinition::builder(TOOL)
            .output(json!({}))
            .render(|_, value| value.to_text())
            .concurrency_safe(|_| true)
            .execute(move |arguments, ctx| {
                notes.add("body");
                body(arguments, ctx)
            });
        self.registry.register(parts(tool)).unwrap().keep();
    }

    /// A body that gives its arguments back.
    fn echo(&self) {
        self.body(|arguments, _| async move { Ok(arguments) });
    }

    fn fails(&self) {
        self.body(|_, _| async { Err(ToolError::new("the disk is full")) });
    }

    fn pre(&self, decide: impl Fn() -> Result<PreDecision, ToolError> + Send + Sync + 'static) {
        let pre = self.registry.on_pre_execute(move |execution, next| {
            let decision = is_ours(&execution).then(&decide);
            async move {
                match decision {
                    Some(Ok(PreDecision::Allow)) | None => next.call().await,
                    Some(decision) => decision,
                }
            }
        });
        pre.keep();
    }

    fn asks(&self, outcome: Result<ApprovalOutcome, ToolError>) {
        self.pre(|| Ok(PreDecision::ask("are you sure?")));
        self.registry.mount_approval(Arc::new(Answers(outcome))).keep();
    }

    fn wrap<Fut>(&self, wrapper: impl Fn(Dispatch, Next<Arc<ToolResult>>) -> Fut + Send + Sync + 'static)
    where
        Fut: Future<Output = Result<Arc<ToolResult>, ToolError>> + Send + 'static,
    {
        let wrapper = Arc::new(wrapper);
        let wrapped = self.registry.on_execute(move |dispatch, next| {
            let wrapper = Arc::clone(&wrapper);
            async move { if is_ours(&dispatch) { wrapper(dispatch, next).await } else { next.call().await } }
        });
        wrapped.keep();
    }

    fn post(&self, decide: impl Fn() -> Result<PostDecision, ToolError> + Send + Sync + 'static) {
        let post = self.registry.on_post_execute(move |execution, _, next| {
            let decision = is_ours(&execution).then(&decide);
            async move {
                match decision {
                    Some(decision) => decision,
                    None => next.call().await,
                }
            }
        });
        post.keep();
    }

    fn stops(&self) -> impl Fn() + Send + Sync + Clone + 'static {
        let stop = Arc::clone(&self.stop);
        move || {
            stop.cancel("the user pressed escape");
        }
    }
}

/// The call of the program itself passes the hooks as well.
fn is_ours(execution: &ToolExecution) -> bool {
    execution.name() == TOOL
}

struct Answers(Result<ApprovalOutcome, ToolError>);

impl ApprovalService for Answers {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, Result<ApprovalOutcome, ToolError>> {
        assert_eq!((&*request.tool_name, request.reason.as_deref()), (TOOL, Some("are you sure?")));
        Box::pin(std::future::ready(self.0.clone()))
    }
}

fn context(text: &str) -> AdditionalContext {
    AdditionalContext::text("test", text)
}

fn accepting(acceptance: Acceptance) -> Result<PostDecision, ToolError> {
    Ok(PostDecision::Accept(acceptance))
}

fn content(text: &str) -> Option<Vec<ContentBlock>> {
    Some(vec![ContentBlock::text(text)])
}

const fn scenario(name: &'static str, set_up: fn(&Stage)) -> Scenario {
    Scenario { name, cancels: false, set_up }
}

const fn cancelled(name: &'static str, set_up: fn(&Stage)) -> Scenario {
    Scenario { name, cancels: true, set_up }
}

/// The suite, in the order of the stages.
pub(crate) const SCENARIOS: &[Scenario] = &[
    scenario("an allowed call", Stage::echo),
    // pre-execute
    scenario("a policy denies", |stage| {
        stage.echo();
        stage.pre(|| Ok(PreDecision::deny("not on Sundays")));
    }),
    scenario("a policy fails", |stage| {
        stage.echo();
        stage.pre(|| Err(ToolError::new("the policy is broken")));
    }),
    scenario("a policy panics", |stage| {
        stage.echo();
        stage.pre(|| panic!("the policy panicked"));
    }),
    cancelled("cancelled by a policy that allows", |stage| {
        stage.echo();
        let stop = stage.stops();
        stage.pre(move || {
            stop();
            Ok(PreDecision::Allow)
        });
    }),
    cancelled("cancelled by a policy that denies", |stage| {
        stage.echo();
        let stop = stage.stops();
        stage.pre(move || {
            stop();
            Ok(PreDecision::deny("no"))
        });
    }),
    // approval
    scenario("nobody can be asked", |stage| {
        stage.echo();
        stage.pre(|| Ok(PreDecision::Ask { reason: None }));
    }),
    scenario("approved", |stage| {
        stage.echo();
        stage.asks(Ok(ApprovalOutcome::AllowedOnce));
    }),
    scenario("rejected", |stage| {
        stage.echo();
        stage.asks(Ok(ApprovalOutcome::Rejected));
    }),
    scenario("the question was cancelled", |stage| {
        stage.echo();
        stage.asks(Ok(ApprovalOutcome::Cancelled));
    }),
    scenario("no channel for the question", |stage| {
        stage.echo();
        stage.asks(Ok(ApprovalOutcome::Unavailable));
    }),
    scenario("an answer outside the vocabulary", |stage| {
        stage.echo();
        stage.asks(Ok(ApprovalOutcome::Other("perhaps".into())));
    }),
    scenario("the approval fails", |stage| {
        stage.echo();
        stage.asks(Err(ToolError::new("no answer")));
    }),
    // guards
    scenario("a guard objects", |stage| {
        stage.echo();
        stage.registry.guard(|execution: &ToolExecution| is_ours(execution).then_some("guarded")).keep();
    }),
    scenario("a guard of the agent fails", |stage| {
        stage.echo();
        let guard = |execution: &ToolExecution| {
            if is_ours(execution) { Err(ToolError::new("the guard is broken")) } else { Ok(None::<String>) }
        };
        stage.registry.scoped(&stage.agent).guard(guard).keep();
    }),
    // dispatch
    scenario("the body fails", Stage::fails),
    scenario("the body fails with a code", |stage| {
        stage.body(|_, _| async { Err(ToolError::invalid_arguments(&["\"x\" is odd".to_owned()])) });
    }),
    scenario("the body panics", |stage| stage.body(|_, _| async { panic!("the tool panicked") })),
    scenario("the arguments break the schema", |stage| {
        let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
        stage.tool(|tool| tool.parameters(Schema::full(schema)), |arguments, _| async { Ok(arguments) });
    }),
    scenario("the tool is gone at the dispatch", |stage| {
        let tool = ToolDefinition::builder(TOOL)
            .output(json!({}))
            .render(|_, _| "")
            .execute(|arguments, _| async { Ok(arguments) });
        let registration = Mutex::new(Some(stage.registry.register(tool).unwrap()));
        stage.pre(move || {
            drop(registration.lock().unwrap().take());
            Ok(PreDecision::Allow)
        });
    }),
    scenario("a wrapper answers itself", |stage| {
        stage.echo();
        stage.wrap(|_, _| async {
            let result = ToolResult::success(json!({"cached": true})).with_content(vec!["mine".into()]);
            Ok(Arc::new(result.with_contexts([context("wrapper")])))
        });
    }),
    scenario("a wrapper makes a failure", |stage| {
        stage.echo();
        stage.wrap(|_, next| async move {
            next.call().await?;
            Ok(Arc::new(ToolResult::failure(ToolError::new("too slow")).with_meta(Some(json!(1)))))
        });
    }),
    scenario("a wrapper fails", |stage| {
        stage.body(|arguments, ctx| async move {
            ctx.defer_context(context("lost"));
            Ok(arguments)
        });
        stage.wrap(|_, next| async move {
            next.call().await?;
            Err(ToolError::new("the wrapper is broken"))
        });
    }),
    scenario("a wrapper tries again", |stage| {
        stage.fails();
        stage.wrap(|_, next| async move {
            next.call().await?;
            next.call().await
        });
    }),
    scenario("a wrapper's signal is cancelled already", |stage| {
        stage.echo();
        stage.wrap(|dispatch, next| async move {
            let mine = SignalSource::new();
            mine.cancel("mine");
            let previous = dispatch.set_signal(mine.signal());
            let result = next.call().await;
            dispatch.set_signal(previous);
            result
        });
    }),
    scenario("the tool times out", |stage| {
        stage.tool(
            |tool| tool.timeout(std::time::Duration::from_millis(5)),
            |arguments, ctx| async move {
                ctx.signal().cancelled().await;
                Ok(arguments)
            },
        );
        TimeoutPolicy::install_on(stage.registry.hooks(), |_| std::future::ready(())).keep();
    }),
    cancelled("cancelled while the body runs, which succeeds", |stage| {
        let stop = stage.stops();
        stage.body(move |arguments, ctx| {
            stop();
            async move {
                ctx.signal().cancelled().await;
                ctx.defer_context(context("kept"));
                Ok(arguments)
            }
        });
    }),
    cancelled("cancelled while the body runs, which fails", |stage| {
        let stop = stage.stops();
        stage.body(move |_, _| {
            stop();
            async { Err(ToolError::new("its own failure")) }
        });
    }),
    // canonical
    scenario("the output breaks its schema", |stage| {
        stage.tool(|tool| tool.output(json!({"type": "string"})), |arguments, _| async { Ok(arguments) });
    }),
    scenario("the renderer fails", |stage| {
        stage.tool(
            |tool| tool.render(|_, _| Err::<String, _>(ToolError::new("no ink").into())),
            |arguments, _| async { Ok(arguments) },
        );
    }),
    // post-execute
    scenario("post-policy replaces the content", |stage| {
        stage.echo();
        stage.post(|| accepting(Acceptance { content: content("for the model"), ..Acceptance::default() }));
    }),
    scenario("post-policy replaces the content of a failure", |stage| {
        stage.fails();
        stage.post(|| accepting(Acceptance { content: content("for the model"), ..Acceptance::default() }));
    }),
    scenario("post-policy replaces the value", |stage| {
        stage.echo();
        stage.post(|| accepting(Acceptance { value: Some(json!([2])), ..Acceptance::default() }));
    }),
    scenario("post-policy replaces the value of a failure", |stage| {
        stage.fails();
        stage.post(|| accepting(Acceptance { value: Some(json!([2])), ..Acceptance::default() }));
    }),
    scenario("post-policy replaces both", |stage| {
        stage.echo();
        stage.post(|| {
            accepting(Acceptance { content: content("c"), value: Some(json!([2])), ..Acceptance::default() })
        });
    }),
    scenario("post-policy blocks", |stage| {
        stage.body(|arguments, ctx| async move {
            ctx.defer_context(context("dropped"));
            Ok(arguments)
        });
        stage.post(|| {
            let feedback = vec!["secret".into(), ContentBlock::image("aGk=", "image/png")];
            Ok(PostDecision::Block { feedback, additional_contexts: vec![context("of the block")] })
        });
    }),
    scenario("post-policy fails", |stage| {
        stage.echo();
        stage.post(|| Err(ToolError::new("the post-policy is broken")));
    }),
    cancelled("cancelled by a post-policy", |stage| {
        stage.echo();
        let stop = stage.stops();
        stage.post(move || {
            stop();
            Ok(PostDecision::accept())
        });
    }),
    scenario("contexts of tool, wrapper and post-policy", |stage| {
        stage.body(|arguments, ctx| async move {
            ctx.defer_context(context("tool"));
            Ok(arguments)
        });
        stage.wrap(|_, next| async move {
            let result = ToolResult::clone(&*next.call().await?);
            Ok(Arc::new(result.with_contexts([context("wrapper")])))
        });
        stage.post(|| {
            accepting(Acceptance { additional_contexts: vec![context("post")], ..Acceptance::default() })
        });
    }),
    // finalize
    scenario("the finalizer has the last word", |stage| {
        stage.tool(
            |tool| tool.finalize_content(|_, result| Ok(Some(vec![format!("<{}>", result.text()).into()]))),
            |arguments, _| async { Ok(arguments) },
        );
    }),
    scenario("the finalizer fails", |stage| {
        stage.tool(
            |tool| tool.finalize_content(|_, _| Err(ToolError::new("no last word"))),
            |arguments, _| async { Ok(arguments) },
        );
    }),
];
