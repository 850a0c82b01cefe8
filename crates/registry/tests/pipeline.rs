//! Contract 3.1 to 3.3: what policies see, in which order, and calls that are over before they begin.

use std::sync::{Arc, Mutex};

use code_mode_registry::{
    Admission, Agent, Hooks, Registration, SignalSource, ToolCall, ToolExecution, ToolRegistry,
};
use code_mode_schema::{LosslessError, Lossy, json};

use crate::support::{Log, call, check_failure, code, echo, execute, poll_once, run};

/// Listeners on every event that note the event and their name.
fn note_everything(hooks: &Hooks<'_>, log: &Log, name: &'static str) -> Registration {
    let note = |event: &'static str| {
        let log = log.clone();
        move || log.add(format!("{event} {name}"))
    };
    let (pre, execute, post, result) = (note("pre"), note("execute"), note("post"), note("result"));
    let registrations = [
        hooks.clone().on_pre_execute(move |_, next| {
            pre();
            async move { next.call().await }
        }),
        hooks.clone().on_execute(move |_, next| {
            execute();
            async move { next.call().await }
        }),
        hooks.clone().on_post_execute(move |_, _, next| {
            post();
            async move { next.call().await }
        }),
        hooks.clone().on_result(move |_, _| result()),
    ];
    registrations.into_iter().reduce(Registration::and).unwrap()
}

fn registry_with_notes(log: &Log) -> ToolRegistry {
    let registry = ToolRegistry::default();
    let body = log.clone();
    let tool = echo("t").execute(move |args, _| {
        body.add("body");
        async move { Ok(args) }
    });
    registry.register(tool).unwrap().keep();
    note_everything(&registry.hooks(), log, "A").keep();
    note_everything(&registry.hooks(), log, "B").keep();
    note_everything(&registry.hooks().prepend(), log, "P").keep();
    let guard = log.clone();
    registry
        .guard(move |_: &ToolExecution| {
            guard.add("guard");
            None::<String>
        })
        .keep();
    registry
}

const BEFORE: [&str; 7] = ["pre P", "pre A", "pre B", "guard", "execute P", "execute A", "execute B"];
const AFTER: [&str; 6] = ["post P", "post A", "post B", "result P", "result A", "result B"];

#[test]
fn an_allowed_call_passes_the_stages_in_order() {
    let log = Log::default();
    let registry = registry_with_notes(&log);
    assert!(!execute(&registry, "t").is_error());
    assert_eq!(log.take(), [&BEFORE[..], &["body"], &AFTER].concat());
}

#[test]
fn an_unknown_tool_passes_the_same_stages() {
    let log = Log::default();
    let registry = registry_with_notes(&log);
    check_failure(&execute(&registry, "nope"), "unknown tool \"nope\"", Some("UNKNOWN_TOOL"));
    assert_eq!(log.take(), [&BEFORE[..], &AFTER].concat());
}

#[test]
fn the_three_phases_in_a_row_are_the_whole_call() {
    let log = Log::default();
    let registry = registry_with_notes(&log);
    let started = run(registry.start(call("t")));
    assert_eq!(log.take(), BEFORE[..4]);
    assert!(!started.is_decided());
    let settled = run(started.run());
    assert_eq!(log.take(), [&BEFORE[4..], &["body"]].concat());
    let result = run(settled.commit());
    assert_eq!(log.take(), AFTER);
    assert_eq!(result.text(), r#"{"x":1}"#);
}

#[test]
fn a_decided_call_runs_at_once() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let _guard = registry.guard(|_: &ToolExecution| Some("no"));
    let Admission::Started(started) = run(registry.admit(call("t"))) else { panic!("nobody asks") };
    assert!(started.is_decided());
    let mut running = started.run();
    let std::task::Poll::Ready(settled) = poll_once(&mut running) else { panic!("must be ready") };
    check_failure(&run(settled.commit()), "no", None);
}

#[test]
fn phases_are_send_and_static() {
    fn check<T: Send + 'static>(_: &T) {}
    let registry = ToolRegistry::default();
    check(&registry.execute(call("t")));
    check(&registry.start(call("t")));
    check(&registry.admit(call("t")));
    let started = run(registry.start(call("t")));
    check(&started);
    let running = started.run();
    check(&running);
    let settled = run(running);
    check(&settled);
    check(&settled.commit());
}

#[test]
fn a_scoped_listener_hears_its_agents_calls_only() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let agent = Agent::new("a");
    let log = Log::default();
    let _scoped = note_everything(&registry.scoped(&agent).hooks(), &log, "S");
    let _unscoped = note_everything(&registry.hooks(), &log, "U");
    let scopes = |log: &Log| log.take().join(" ").matches('S').count();

    execute(&registry, "t");
    assert_eq!(scopes(&log), 0, "a call without an agent");
    run(registry.execute(call("t").with_agent(Agent::new("a"))));
    assert_eq!(scopes(&log), 0, "another agent of that name");
    run(registry.execute(call("t").with_agent(agent)));
    assert_eq!(
        log.take(),
        ["pre S", "pre U", "execute S", "execute U", "post S", "post U", "result S", "result U"]
    );
}

#[test]
fn prepended_listeners_go_before_all_that_are_there() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let _all = ["1", "2", "3"].map(|name| {
        let hooks = if name == "2" { registry.hooks() } else { registry.hooks().prepend() };
        note_everything(&hooks, &log, name)
    });
    execute(&registry, "t");
    assert_eq!(log.take()[..3], ["pre 3", "pre 1", "pre 2"]);
}

#[test]
fn the_listener_list_is_fixed_when_a_dispatch_starts() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let added: Arc<Mutex<Vec<Registration>>> = Arc::default();
    let victim: Arc<Mutex<Option<Registration>>> = Arc::default();
    let _adding = registry.on_pre_execute({
        let (registry, log) = (registry.clone(), log.clone());
        let (added, victim) = (Arc::clone(&added), Arc::clone(&victim));
        move |_, next| {
            added.lock().unwrap().push(note_everything(&registry.hooks(), &log, "late"));
            victim.lock().unwrap().take();
            async move { next.call().await }
        }
    });
    *victim.lock().unwrap() = Some(note_everything(&registry.hooks(), &log, "victim"));
    execute(&registry, "t");
    assert_eq!(
        log.take(),
        ["pre victim", "execute late", "post late", "result late"],
        "the list of the dispatch under way stays; the next stage sees the change"
    );
}

#[test]
fn the_execution_is_the_call_with_a_fresh_token() {
    let registry = ToolRegistry::default();
    let seen: Arc<Mutex<Vec<ToolExecution>>> = Arc::default();
    let _watch = registry.on_result({
        let seen = Arc::clone(&seen);
        move |execution, _| seen.lock().unwrap().push(execution.clone())
    });
    let agent = Agent::new("a");
    let stop = SignalSource::new();
    let outer = execute(&registry, "outer").token().unwrap();
    let call = ToolCall::new("id", "t", json!({"a": 1}))
        .with_agent(agent.clone())
        .with_signal(stop.signal())
        .with_parent(outer);
    run(registry.execute(call));
    let seen = seen.lock().unwrap();
    let execution = &seen[1];
    assert_eq!(execution.call_id().as_str(), "id");
    assert_eq!(execution.name(), "t");
    assert_eq!(execution.arguments(), Some(&json!({"a": 1})));
    assert_eq!(execution.agent(), Some(&agent));
    assert_eq!(execution.parent(), Some(outer));
    assert!(execution.signal().same(&stop.signal()));
    assert_ne!(execution.token(), seen[0].token());
    assert_eq!(format!("{:?}", execution.token()), "Token", "a token has no readable form");
}

#[test]
fn the_body_is_given_the_execution_and_the_callers_signal() {
    let registry = ToolRegistry::default();
    let stop = SignalSource::new();
    let agent = Agent::new("a");
    let (signal, name) = (stop.signal(), agent.clone());
    let tool = echo("t").execute(move |args, ctx| {
        assert!(ctx.signal().same(&signal));
        assert!(ctx.execution().signal().same(&signal));
        assert_eq!((ctx.name(), ctx.call_id().as_str()), ("t", "call-t"));
        assert_eq!(ctx.agent(), Some(&name));
        assert_eq!(ctx.parent(), None);
        assert_eq!(ctx.token(), ctx.execution().token());
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    let call = call("t").with_signal(stop.signal()).with_agent(agent);
    assert!(!run(registry.execute(call)).is_error());
}

fn lossy_call() -> ToolCall {
    ToolCall::new("1", "t", Err(LosslessError::new("items[3]", Lossy::NotANumber)))
}

#[test]
fn lossy_arguments_go_straight_to_the_final_stage() {
    let log = Log::default();
    let registry = registry_with_notes(&log);
    let _watch = registry.on_result(|execution, _| assert!(execution.arguments().is_none()));
    check_failure(
        &run(registry.execute(lossy_call())),
        "tool execution arguments must be losslessly JSON-serializable: args.items[3] is NaN",
        None,
    );
    assert_eq!(log.take(), AFTER[3..]);
}

#[test]
fn lossy_arguments_win_over_a_cancelled_caller() {
    let registry = ToolRegistry::default();
    let stop = SignalSource::new();
    stop.cancel("stop");
    let result = run(registry.execute(lossy_call().with_signal(stop.signal())));
    assert!(result.text().starts_with("Error: tool execution arguments must be losslessly"));
}

#[test]
fn a_cancelled_caller_goes_straight_to_the_final_stage() {
    let log = Log::default();
    let registry = registry_with_notes(&log);
    let finalized = log.clone();
    let tool = echo("f").finalize_content(move |_, _| {
        finalized.add("finalize");
        Ok(None)
    });
    let _tool = registry.register(tool).unwrap();
    let stop = SignalSource::new();
    stop.cancel("stop");
    let result = run(registry.execute(call("f").with_signal(stop.signal())));
    check_failure(&result, "tool call aborted before dispatch", Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(result.error().unwrap().info().unwrap().name(), "AbortError");
    assert_eq!(log.take(), [&["finalize"], &AFTER[3..]].concat());
}

#[test]
fn arguments_are_the_callers_no_more() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let first = run(registry.execute(call("t")));
    let second = run(registry.execute(call("t")));
    assert_eq!(first.value(), second.value());
    assert_ne!(first.token(), second.token());
    assert_eq!(code(&first), None);
}
