//! Contract 3.14: the calls of one assistant message.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use code_mode_registry::{
    AdditionalContext, Agent, BatchCall, BatchOutcome, HostEvent, HostEventRecord, Mode, PostDecision,
    Registration, Signal, SignalSource, ToolBatch, ToolDefinition, ToolRegistry, Transport,
};
use code_mode_schema::{Json, ParameterSchemaSpec, ValueSchemaSpec, json};
use futures::future::BoxFuture;

use crate::support::{Gate, Log, check_failure, code, echo, poll_once, registry_in, run, yield_once};

/// A registry, the host events of its batches, and what its tools do.
struct Setup {
    registry: ToolRegistry,
    events: Arc<Mutex<Vec<HostEventRecord>>>,
    log: Log,
    _observer: Registration,
}

impl Setup {
    fn new() -> Self {
        Self::with(ToolRegistry::default())
    }

    fn with(registry: ToolRegistry) -> Self {
        let events: Arc<Mutex<Vec<HostEventRecord>>> = Arc::default();
        let keep = Arc::clone(&events);
        let observer = registry.on_host_event(Arc::new(move |record: &HostEventRecord| {
            keep.lock().unwrap().push(record.clone())
        }));
        Self { registry, events, log: Log::default(), _observer: observer }
    }

    /// A tool whose body notes its begin and its end, and waits for its gate in between.
    fn gated(&self, name: &'static str, parallel: bool) -> Gate {
        let (gate, log) = (Gate::default(), self.log.clone());
        let opened = gate.clone();
        let tool = echo(name).concurrency_safe(move |_| parallel).execute(move |args, _| {
            let (opened, log) = (opened.clone(), log.clone());
            async move {
                log.add(format!("begin {name}"));
                opened.opened().await;
                log.add(format!("end {name}"));
                Ok(args)
            }
        });
        self.registry.register(tool).unwrap().keep();
        gate
    }

    fn run(&self, batch: ToolBatch) -> BatchOutcome {
        run(self.registry.execute_batch(batch))
    }

    fn start(&self, batch: ToolBatch) -> BoxFuture<'static, BatchOutcome> {
        let mut running: BoxFuture<'static, BatchOutcome> = Box::pin(self.registry.execute_batch(batch));
        assert!(poll_once(&mut running).is_pending());
        running
    }

    /// The events since the last look, as `call ID` and `result ID`.
    fn told(&self) -> Vec<String> {
        let line = |record: HostEventRecord| match record.event {
            HostEvent::ToolCall { call_id, .. } => format!("call {call_id}"),
            HostEvent::ToolResult { call_id, .. } => format!("result {call_id}"),
            other => panic!("{other:?}"),
        };
        std::mem::take(&mut *self.events.lock().unwrap()).into_iter().map(line).collect()
    }
}

/// Calls without arguments, each with its tool's name as its id.
fn calls(names: &[&str]) -> ToolBatch {
    ToolBatch::new(names.iter().map(|name| BatchCall::new(*name, *name, "")))
}

fn texts(outcome: &BatchOutcome) -> Vec<String> {
    outcome.results.iter().map(|call| call.result.text()).collect()
}

#[test]
fn arguments_are_parsed_once_from_the_models_text() {
    let setup = Setup::new();
    setup.registry.register(echo("raw")).unwrap().keep();
    let parameters = ParameterSchemaSpec::new().required("x", ValueSchemaSpec::string());
    setup.registry.register(echo("dsl").parameters(parameters)).unwrap().keep();
    let batch = ToolBatch::new([
        BatchCall::new("1", "raw", ""),
        BatchCall::new("2", "raw", r#" {"x": [1]} "#),
        BatchCall::new("3", "raw", "{oops"),
        BatchCall::new("4", "dsl", "{oops"),
        BatchCall::new("5", "raw", r#"{"x": -0}"#),
    ]);
    assert_eq!(
        texts(&setup.run(batch)),
        [
            "{}",
            r#"{"x":[1]}"#,
            r#""{oops""#,
            r#"Error: invalid arguments: "arguments" must be an object"#,
            "Error: tool execution arguments must be losslessly JSON-serializable: args.x is -0",
        ]
    );
}

#[test]
fn every_call_has_two_events_and_the_second_names_the_first() {
    let setup = Setup::new();
    let tool = echo("t").presentation_meta(|_, _| json!({"m": 1}));
    setup.registry.register(tool).unwrap().keep();
    let batch =
        ToolBatch::new([BatchCall::new("a", "t", r#"{"x": 1}"#), BatchCall::new("b", "no", "")]).at(4, 2);
    setup.run(batch);
    let events = setup.events.lock().unwrap();
    let wire: Vec<Json> =
        events.iter().map(|record| code_mode_schema::to_json(&record.event).unwrap()).collect();
    assert_eq!(
        wire,
        [
            json!({"type": "tool/call", "turn": 4, "step": 2, "callId": "a", "name": "t", "arguments": "{\"x\": 1}"}),
            json!({
                "type": "tool/result", "turn": 4, "step": 2, "callId": "a",
                "content": [{"type": "text", "text": "{\"x\":1}"}], "isError": false, "meta": {"m": 1}, "callSeq": 1,
            }),
            json!({"type": "tool/call", "turn": 4, "step": 2, "callId": "b", "name": "no", "arguments": ""}),
            json!({
                "type": "tool/result", "turn": 4, "step": 2, "callId": "b",
                "content": [{"type": "text", "text": "Error: unknown tool \"no\""}], "isError": true,
                "error": {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"}, "callSeq": 3,
            }),
        ]
    );
    let sizes: Vec<_> = events.iter().map(|record| (record.arguments_bytes, record.content_bytes)).collect();
    assert_eq!(sizes, [(Some(8), None), (None, Some(7)), (Some(0), None), (None, Some(24))]);
}

#[test]
fn results_are_committed_in_the_models_order() {
    let setup = Setup::new();
    let gates = ["a", "b", "c"].map(|name| setup.gated(name, true));
    let mut running = setup.start(calls(&["a", "b", "c"]));
    assert_eq!(setup.told(), ["call a", "call b", "call c"]);
    gates[2].open();
    gates[1].open();
    assert!(poll_once(&mut running).is_pending());
    assert_eq!(setup.log.take(), ["begin a", "begin b", "begin c", "end c", "end b"]);
    assert_eq!(setup.told(), [""; 0], "finished bodies wait for the one before them");
    gates[0].open();
    let outcome = run(running);
    assert_eq!(setup.told(), ["result a", "result b", "result c"]);
    let ids: Vec<&str> = outcome.results.iter().map(|call| call.call_id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[test]
fn no_more_calls_than_the_bound_are_in_flight() {
    let setup = Setup::new();
    let gates = ["a", "b", "c"].map(|name| setup.gated(name, true));
    let batch = calls(&["a", "b", "c"]).with_max_parallel_tool_calls(NonZeroUsize::new(2).unwrap());
    let mut running = setup.start(batch);
    assert_eq!(setup.log.take(), ["begin a", "begin b"]);
    gates[1].open();
    assert!(poll_once(&mut running).is_pending());
    assert_eq!(setup.log.take(), ["end b", "begin c"]);
    gates.iter().for_each(Gate::open);
    run(running);
}

#[test]
fn ten_calls_are_in_flight_by_default() {
    let setup = Setup::new();
    let gate = setup.gated("t", true);
    let running = setup.start(calls(&["t"; 12]));
    assert_eq!(setup.log.take().len(), 10);
    drop((running, gate));
}

#[test]
fn an_exclusive_call_runs_alone_and_holds_up_what_comes_behind_it() {
    let setup = Setup::new();
    let gates =
        [("a", true), ("write", false), ("b", true)].map(|(name, parallel)| setup.gated(name, parallel));
    let mut running = setup.start(calls(&["a", "write", "b"]));
    assert_eq!(setup.log.take(), ["begin a"]);
    gates[2].open();
    gates[0].open();
    assert!(poll_once(&mut running).is_pending());
    assert_eq!(setup.log.take(), ["end a", "begin write"]);
    assert_eq!(setup.told(), ["call a", "result a", "call write"]);
    gates[1].open();
    run(running);
    assert_eq!(setup.log.take(), ["end write", "begin b", "end b"]);
    assert_eq!(setup.told(), ["result write", "call b", "result b"]);
}

#[test]
fn a_call_is_classified_when_its_turn_has_come() {
    let setup = Setup::new();
    let agent = Agent::new("a");
    let gate = setup.gated("t", true);
    // While the first call runs, its tool becomes exclusive for the agent.
    let (registry, scope) = (setup.registry.clone(), agent.clone());
    let _shadows = setup.registry.on_execute(move |dispatch, next| {
        if dispatch.name() == "t" && dispatch.call_id().as_str() == "t" {
            let shadow = echo("late").execute(|args, _| async { Ok(args) });
            registry.register_for(&scope, shadow).unwrap().keep();
        }
        async move { next.call().await }
    });
    let late = setup.gated("late", true);
    let mut running = setup.start(calls(&["t", "late"]).with_agent(agent));
    assert_eq!(setup.told(), ["call t"], "the second call is exclusive by now");
    gate.open();
    late.open();
    assert!(poll_once(&mut running).is_ready());
    assert_eq!(setup.told(), ["result t", "call late", "result late"]);
}

#[test]
fn policies_of_a_batch_never_overlap_and_bodies_do() {
    let setup = Setup::new();
    let gates = ["a", "b"].map(|name| setup.gated(name, true));
    let busy = Arc::new(AtomicBool::new(false));
    let alone = move || {
        let busy = Arc::clone(&busy);
        async move {
            assert!(!busy.swap(true, Ordering::SeqCst), "two policies at one time");
            yield_once().await;
            busy.store(false, Ordering::SeqCst);
        }
    };
    let before = alone.clone();
    let _pre = setup.registry.on_pre_execute(move |_, next| {
        let alone = before();
        async move {
            alone.await;
            next.call().await
        }
    });
    let _post = setup.registry.on_post_execute(move |_, _, next| {
        let alone = alone();
        async move {
            alone.await;
            next.call().await
        }
    });
    let mut running = setup.start(calls(&["a", "b"]));
    while setup.log.take().last().map(String::as_str) != Some("begin b") {
        assert!(poll_once(&mut running).is_pending());
    }
    gates.iter().for_each(Gate::open);
    let outcome = run(running);
    assert_eq!(texts(&outcome), ["{}", "{}"]);
}

#[test]
fn contexts_are_collected_in_the_order_of_the_calls() {
    let setup = Setup::new();
    let defers = |name: &'static str, turns: usize| {
        echo(name).concurrency_safe(|_| true).execute(move |args, ctx| async move {
            for _ in 0..turns {
                yield_once().await;
            }
            ctx.defer_context(AdditionalContext::text(name, "c"));
            Ok(args)
        })
    };
    setup.registry.register(defers("slow", 3)).unwrap().keep();
    setup.registry.register(defers("quick", 0)).unwrap().keep();
    let outcome = setup.run(calls(&["slow", "quick"]));
    let sources: Vec<&str> = outcome.contexts.iter().map(|context| &*context.source).collect();
    assert_eq!(sources, ["slow", "quick"]);
}

/// A batch of which `a` runs, `b` waits behind it, and `stop` ends both.
fn stopped_batch(setup: &Setup, stop: &SignalSource) -> BoxFuture<'static, BatchOutcome> {
    let mut running = setup.start(calls(&["a", "b", "c"]).with_signal(stop.signal()));
    assert_eq!(setup.told(), ["call a"]);
    stop.cancel("the user pressed escape");
    assert!(poll_once(&mut running).is_pending(), "what runs is awaited");
    running
}

#[test]
fn an_abort_commits_what_runs_and_answers_what_never_started() {
    let setup = Setup::new();
    let gate = setup.gated("a", false);
    let observed = setup.log.clone();
    let _watch =
        setup.registry.on_result(move |execution, _| observed.add(format!("result {}", execution.name())));
    let _contexts = setup.registry.on_post_execute(|_, _, _| async {
        let mut decision = PostDecision::accept();
        if let PostDecision::Accept(acceptance) = &mut decision {
            acceptance.additional_contexts.push(AdditionalContext::text("post", "kept"));
        }
        Ok(decision)
    });
    let stop = SignalSource::new();
    let running = stopped_batch(&setup, &stop);
    assert_eq!(setup.told(), [""; 0], "those behind wait for the results of those before");
    gate.open();
    let outcome = run(running);
    assert_eq!(setup.told(), ["result a", "call b", "result b", "call c", "result c"]);
    let codes: Vec<_> = outcome.results.iter().map(|call| code(&call.result)).collect();
    assert_eq!(
        codes,
        [
            Some("ABORTED".into()),
            Some("ABORTED_BEFORE_DISPATCH".into()),
            Some("ABORTED_BEFORE_DISPATCH".into())
        ]
    );
    let message = "tool call aborted before dispatch";
    check_failure(&outcome.results[2].result, message, Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(outcome.contexts.len(), 1, "those of the step that was aborted too");
    assert_eq!(setup.log.take(), ["begin a", "end a", "result a"]);
}

#[test]
fn a_batch_cancelled_beforehand_starts_nothing() {
    let setup = Setup::new();
    let _gate = setup.gated("a", true);
    let stop = SignalSource::new();
    stop.cancel("stop");
    let outcome = setup.run(calls(&["a", "a"]).with_signal(stop.signal()));
    assert_eq!(setup.log.take(), [""; 0]);
    assert_eq!(setup.told(), ["call a", "result a", "call a", "result a"]);
    assert!(
        outcome.results.iter().all(|call| code(&call.result).as_deref() == Some("ABORTED_BEFORE_DISPATCH"))
    );
}

#[test]
fn an_empty_batch_is_over_at_once() {
    let setup = Setup::new();
    assert_eq!(setup.run(ToolBatch::new([])).results.len(), 0);
    assert_eq!(setup.told(), [""; 0]);
}

#[test]
fn run_code_is_exclusive_in_a_batch_and_others_are_refused_in_mode_code() {
    let setup = Setup::with(registry_in(Mode::Code));
    let transport: ToolDefinition = echo("run_code").build();
    setup.registry.install_transport(Transport::from(transport)).unwrap().keep();
    setup.registry.register(echo("t").concurrency_safe(|_| true)).unwrap().keep();
    let outcome = setup.run(calls(&["run_code", "t"]));
    assert_eq!(code(&outcome.results[0].result), None);
    assert_eq!(code(&outcome.results[1].result).as_deref(), Some("UNKNOWN_TOOL"));
    assert_eq!(setup.told(), ["call run_code", "result run_code", "call t", "result t"]);
}

#[test]
fn a_dropped_batch_drops_its_bodies_and_cancels_their_signals() {
    let setup = Setup::new();
    let seen: Arc<Mutex<Option<Signal>>> = Arc::default();
    let keep = Arc::clone(&seen);
    let tool = echo("t").execute(move |_, ctx| {
        *keep.lock().unwrap() = Some(ctx.signal().clone());
        std::future::pending()
    });
    setup.registry.register(tool).unwrap().keep();
    let running = setup.start(calls(&["t", "t"]));
    drop(running);
    assert!(seen.lock().unwrap().as_ref().unwrap().is_cancelled());
    assert_eq!(setup.told(), ["call t"], "nobody is there to read more");
}

/// Keeps the bodies of a batch instead of running them.
fn kept_bodies(batch: ToolBatch) -> (ToolBatch, Arc<Mutex<Vec<BoxFuture<'static, ()>>>>) {
    let bodies: Arc<Mutex<Vec<BoxFuture<'static, ()>>>> = Arc::default();
    let keep = Arc::clone(&bodies);
    (batch.with_spawn(move |body| keep.lock().unwrap().push(body)), bodies)
}

#[test]
fn bodies_can_run_elsewhere_and_outlive_a_dropped_batch() {
    let setup = Setup::new();
    let gate = setup.gated("t", true);
    let (batch, bodies) = kept_bodies(calls(&["t"]));
    drop(setup.start(batch));
    gate.open();
    for body in std::mem::take(&mut *bodies.lock().unwrap()) {
        run(body);
    }
    assert_eq!(setup.log.take(), ["begin t", "end t"]);
}

#[test]
fn a_body_lost_with_its_runtime_is_an_aborted_call() {
    let setup = Setup::new();
    let _gates = ["a", "b"].map(|name| setup.gated(name, true));
    let (batch, bodies) = kept_bodies(calls(&["a", "b"]));
    let running = setup.start(batch);
    bodies.lock().unwrap().clear();
    let outcome = run(running);
    assert!(outcome.results.iter().all(|call| code(&call.result).as_deref() == Some("ABORTED")));
    assert_eq!(setup.told(), ["call a", "call b", "result a", "result b"]);
}

#[test]
fn an_observer_that_panics_loses_no_result() {
    let setup = Setup::new();
    setup.registry.register(echo("t")).unwrap().keep();
    let calls_seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls_seen);
    let _panics = setup.registry.on_host_event(Arc::new(move |_: &HostEventRecord| {
        count.fetch_add(1, Ordering::SeqCst);
        panic!("observer")
    }));
    assert_eq!(texts(&setup.run(calls(&["t", "t"]))), ["{}", "{}"]);
    assert_eq!(calls_seen.load(Ordering::SeqCst), 4);
}

#[test]
fn bodies_that_cannot_be_spawned_are_aborted_and_the_others_go_on() {
    let registry = ToolRegistry::default();
    let slow = echo("slow").concurrency_safe(|_| true).execute(|args: Json, _| async move {
        yield_once().await;
        Ok(args)
    });
    let _tools = [registry.register(slow), registry.register(echo("t"))];
    let calls =
        [BatchCall::new("1", "slow", ""), BatchCall::new("2", "slow", ""), BatchCall::new("3", "t", "")];
    let batch = ToolBatch::new(calls).with_spawn(|_| panic!("no runtime"));
    let outcome = run(registry.execute_batch(batch));
    let codes: Vec<_> = outcome.results.iter().map(|one| code(&one.result)).collect();
    assert_eq!(codes, [Some("ABORTED".to_owned()), Some("ABORTED".to_owned()), None]);
}
