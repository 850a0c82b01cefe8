//! Contract 3.9 (a–e): the last word on the content, exactly once on every path, and the observers.

use std::sync::{Arc, Mutex};

use code_mode_registry::{
    AdditionalContext, Agent, PostDecision, PreDecision, Registration, SignalSource, ToolBuilder, ToolCall,
    ToolError, ToolExecution, ToolRegistry, ToolResult,
};
use code_mode_schema::{LosslessError, Lossy, json};

use crate::support::{Log, call, check_failure, echo, execute, run};

fn finalized(log: &Log) -> ToolBuilder {
    let log = log.clone();
    echo("t").finalize_content(move |_, result| {
        log.add(result.text());
        Ok(Some(vec!["final".into()]))
    })
}

/// One path through the pipeline: how to get onto it, and the content the finalizer must see.
type Path = (&'static str, fn(&ToolRegistry) -> Registration, fn(ToolCall) -> ToolCall, &'static str);

#[test]
fn the_finalizer_runs_exactly_once_on_every_path() {
    let nothing = |_: &ToolRegistry| Registration::default();
    let paths: [Path; 11] = [
        ("success", nothing, |call| call, r#"{"x":1}"#),
        (
            "lossy arguments",
            nothing,
            |mut call| {
                call.arguments = Err(LosslessError::new("a", Lossy::NotANumber));
                call
            },
            "Error: tool execution arguments must be losslessly JSON-serializable: args.a is NaN",
        ),
        (
            "pre-aborted",
            nothing,
            |call| {
                let stop = SignalSource::new();
                stop.cancel("stop");
                call.with_signal(stop.signal())
            },
            "Error: tool call aborted before dispatch",
        ),
        (
            "denied",
            |registry| registry.on_pre_execute(|_, _| async { Ok(PreDecision::deny("no")) }),
            |call| call,
            "Error: no",
        ),
        (
            "failed policy",
            |registry| registry.on_pre_execute(|_, _| async { panic!("gate") }),
            |call| call,
            "Error: gate",
        ),
        (
            "asked",
            |registry| registry.on_pre_execute(|_, _| async { Ok(PreDecision::ask("why")) }),
            |call| call,
            "Error: why",
        ),
        (
            "guarded",
            |registry| registry.guard(|_: &ToolExecution| Some("guarded")),
            |call| call,
            "Error: guarded",
        ),
        (
            "failed guard",
            |registry| registry.guard(|_: &ToolExecution| -> Option<String> { panic!("guard") }),
            |call| call,
            "Error: guard",
        ),
        (
            "failed wrapper",
            |registry| registry.on_execute(|_, _| async { Err(ToolError::new("wrapper")) }),
            |call| call,
            "Error: wrapper",
        ),
        (
            "blocked",
            |registry| registry.on_post_execute(|_, _, _| async { Ok(PostDecision::block("blocked")) }),
            |call| call,
            "blocked",
        ),
        (
            "failed post-policy",
            |registry| registry.on_post_execute(|_, _, _| async { Err(ToolError::new("post")) }),
            |call| call,
            "Error: post",
        ),
    ];
    for (path, listen, change, content) in paths {
        let registry = ToolRegistry::default();
        let log = Log::default();
        let _tool = registry.register(finalized(&log)).unwrap();
        let _listener = listen(&registry);
        let result = run(registry.execute(change(call("t"))));
        assert_eq!(log.take(), [content], "{path}");
        assert_eq!(result.text(), "final", "{path}");
    }
}

#[test]
fn the_finalizer_replaces_the_content_only() {
    let registry = ToolRegistry::default();
    let tool = finalized(&Log::default()).presentation_meta(|_, _| json!("meta"));
    let _tool = registry.register(tool).unwrap();
    let result = execute(&registry, "t");
    assert_eq!(result.text(), "final");
    assert_eq!(result.value(), Some(&json!({"x": 1})));
    assert_eq!(result.meta(), Some(&json!("meta")));

    let _deny = registry.guard(|_: &ToolExecution| Some("no"));
    let failure = execute(&registry, "t");
    assert_eq!(failure.text(), "final");
    assert_eq!(failure.message(), Some("no"));
}

#[test]
fn a_finalizer_that_says_nothing_keeps_the_content() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t").finalize_content(|_, _| Ok(None))).unwrap();
    assert_eq!(execute(&registry, "t").text(), r#"{"x":1}"#);
}

#[test]
fn a_failing_finalizer_is_a_failure_and_not_called_again() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let failing = |name: &str, panics: bool| {
        let log = log.clone();
        echo(name)
            .execute(|args, ctx| {
                ctx.defer_context(AdditionalContext::text("tool", "c"));
                async move { Ok(args) }
            })
            .finalize_content(move |_, _| {
                log.add("called");
                assert!(!panics, "boom");
                Err(ToolError::new("no last word"))
            })
    };
    let _tools = [registry.register(failing("fails", false)), registry.register(failing("panics", true))];
    let result = execute(&registry, "fails");
    check_failure(&result, "no last word", None);
    assert_eq!(result.additional_contexts().len(), 1);
    check_failure(&execute(&registry, "panics"), "boom", None);
    assert_eq!(log.take(), ["called", "called"]);
}

#[test]
fn the_finalizer_of_the_first_look_is_used_whatever_happens_to_the_tool() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let tool = Arc::new(Mutex::new(Some(registry.register(finalized(&log)).unwrap())));
    let _swap = registry.on_pre_execute({
        let (registry, tool) = (registry.clone(), Arc::clone(&tool));
        move |_, next| {
            tool.lock().unwrap().take();
            let other = echo("t").finalize_content(|_, _| Ok(Some(vec!["other".into()])));
            *tool.lock().unwrap() = Some(registry.register(other).unwrap());
            async move { next.call().await }
        }
    });
    assert_eq!(execute(&registry, "t").text(), "final");
    assert_eq!(log.take(), [r#"{"x":1}"#]);
}

#[test]
fn an_unknown_tool_has_no_finalizer_even_if_it_appears_meanwhile() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let kept: Arc<Mutex<Vec<Registration>>> = Arc::default();
    let _appears = registry.on_pre_execute({
        let (registry, log) = (registry.clone(), log.clone());
        move |_, next| {
            kept.lock().unwrap().push(registry.register(finalized(&log)).unwrap());
            async move { next.call().await }
        }
    });
    assert_eq!(execute(&registry, "t").text(), r#"{"x":1}"#, "it runs, being visible at the dispatch");
    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn observers_are_told_once_of_the_very_result_that_is_returned() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let _tool = registry.register(finalized(&Log::default())).unwrap();
    let seen: Arc<Mutex<Vec<Arc<ToolResult>>>> = Arc::default();
    let _watch = registry.on_result({
        let seen = Arc::clone(&seen);
        move |_, result| seen.lock().unwrap().push(Arc::clone(result))
    });
    let result = run(registry.execute(call("t").with_agent(agent)));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert!(Arc::ptr_eq(&seen[0], &result));
    assert_eq!(seen[0].text(), "final");
}

#[test]
fn a_panicking_observer_is_contained_and_the_others_are_told() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let log = Log::default();
    let _panicking = registry.on_result(|_, _| panic!("observer"));
    let note = log.clone();
    let _second = registry.on_result(move |_, _| note.add("told"));
    assert!(!execute(&registry, "t").is_error());
    assert_eq!(log.take(), ["told"]);
}

#[test]
fn the_execution_is_frozen_when_the_observers_are_told() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let kept: Arc<Mutex<Option<code_mode_registry::Dispatch>>> = Arc::default();
    let _wrapper = registry.on_execute({
        let kept = Arc::clone(&kept);
        move |dispatch, next| {
            *kept.lock().unwrap() = Some(dispatch);
            async move { next.call().await }
        }
    });
    let (caller, other) = (SignalSource::new(), SignalSource::new());
    run(registry.execute(call("t").with_signal(caller.signal())));
    let dispatch = kept.lock().unwrap().take().unwrap();
    dispatch.set_signal(other.signal());
    assert!(dispatch.signal().same(&caller.signal()));
}
