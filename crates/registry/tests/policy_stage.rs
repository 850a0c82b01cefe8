//! Contract 3.5: what the policies decide, and what beats what.

use code_mode_registry::{PreDecision, SignalSource, ToolError, ToolExecution, ToolRegistry};

use crate::support::{Log, call, check_failure, echo, execute, run};

struct Setup {
    registry: ToolRegistry,
    log: Log,
}

impl Setup {
    /// Notes guards, bodies and post-policies.
    fn new() -> Self {
        let (registry, log) = (ToolRegistry::default(), Log::default());
        let body = log.clone();
        let tool = echo("t").execute(move |args, _| {
            body.add("body");
            async move { Ok(args) }
        });
        registry.register(tool).unwrap().keep();
        let guard = log.clone();
        registry
            .guard(move |_: &ToolExecution| {
                guard.add("guard");
                None::<String>
            })
            .keep();
        let post = log.clone();
        registry
            .on_post_execute(move |_, _, next| {
                post.add("post");
                async move { next.call().await }
            })
            .keep();
        Self { registry, log }
    }
}

#[test]
fn allow_goes_on_to_the_guards() {
    let setup = Setup::new();
    let _policy = setup.registry.on_pre_execute(|_, _| async { Ok(PreDecision::Allow) });
    assert!(!execute(&setup.registry, "t").is_error());
    assert_eq!(setup.log.take(), ["guard", "body", "post"]);
}

#[test]
fn deny_is_a_failure_without_info_that_post_policies_see() {
    let setup = Setup::new();
    let _policy = setup.registry.on_pre_execute(|_, _| async { Ok(PreDecision::deny("not today")) });
    check_failure(&execute(&setup.registry, "t"), "not today", None);
    assert_eq!(setup.log.take(), ["post"]);
}

#[test]
fn a_failing_or_panicking_policy_is_final() {
    let setup = Setup::new();
    let failing = setup.registry.on_pre_execute(|_, _| async { Err(ToolError::new("gate broke")) });
    check_failure(&execute(&setup.registry, "t"), "gate broke", None);
    drop(failing);
    let panicking = setup.registry.on_pre_execute(|_, _| async { panic!("boom") });
    check_failure(&execute(&setup.registry, "t"), "boom", None);
    drop(panicking);
    let _before_the_future = setup.registry.on_pre_execute(|execution, next| {
        assert!(execution.name().is_empty(), "early");
        async move { next.call().await }
    });
    check_failure(&execute(&setup.registry, "t"), "early", None);
    assert_eq!(setup.log.take(), [""; 0]);
}

#[test]
fn a_listener_that_does_not_call_next_decides_alone() {
    let setup = Setup::new();
    let inner = setup.log.clone();
    let _outer = setup.registry.on_pre_execute(|_, _| async { Ok(PreDecision::Allow) });
    let _inner = setup.registry.on_pre_execute(move |_, _| {
        inner.add("inner");
        async { Ok(PreDecision::deny("never asked")) }
    });
    assert!(!execute(&setup.registry, "t").is_error());
    assert!(!setup.log.take().contains(&"inner".to_owned()));
}

#[test]
fn an_outer_listener_may_overrule_what_next_gave() {
    let setup = Setup::new();
    let _outer = setup.registry.on_pre_execute(|_, next| async move {
        match next.call().await? {
            PreDecision::Deny { reason } => Ok(PreDecision::deny(format!("overruled: {reason}"))),
            other => Ok(other),
        }
    });
    let _inner = setup.registry.on_pre_execute(|_, _| async { Ok(PreDecision::deny("inner")) });
    check_failure(&execute(&setup.registry, "t"), "overruled: inner", None);
}

#[test]
fn an_inner_failure_is_seen_by_the_outer_listener() {
    let setup = Setup::new();
    let _outer = setup.registry.on_pre_execute(|_, next| async move {
        Ok(next.call().await.unwrap_or_else(|error| PreDecision::deny(format!("caught {error}"))))
    });
    let _inner = setup.registry.on_pre_execute(|_, _| async { panic!("inner") });
    check_failure(&execute(&setup.registry, "t"), "caught inner", None);
}

#[test]
fn next_may_be_called_again_and_runs_the_whole_rest_again() {
    let setup = Setup::new();
    let inner = setup.log.clone();
    let _outer = setup.registry.on_pre_execute(|_, next| async move {
        next.call().await?;
        next.clone().call().await
    });
    let _inner = setup.registry.on_pre_execute(move |_, next| {
        inner.add("inner");
        async move { next.call().await }
    });
    assert!(!execute(&setup.registry, "t").is_error());
    assert_eq!(setup.log.take(), ["inner", "inner", "guard", "body", "post"]);
}

/// A policy that cancels the caller and then decides.
fn cancel_and(
    setup: &Setup,
    stop: &std::sync::Arc<SignalSource>,
    decide: fn() -> Result<PreDecision, ToolError>,
) -> code_mode_registry::Registration {
    let stop = std::sync::Arc::clone(stop);
    setup.registry.on_pre_execute(move |_, _| {
        stop.cancel("stop");
        async move { decide() }
    })
}

#[track_caller]
fn check_cancelled_in_policy(
    decide: fn() -> Result<PreDecision, ToolError>,
    message: &str,
    code: Option<&str>,
    stages: &[&str],
) {
    let setup = Setup::new();
    let stop = std::sync::Arc::new(SignalSource::new());
    let _policy = cancel_and(&setup, &stop, decide);
    let wrapper = setup.log.clone();
    let _wrapper = setup.registry.on_execute(move |_, next| {
        wrapper.add("execute");
        async move { next.call().await }
    });
    let result = run(setup.registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, message, code);
    assert_eq!(setup.log.take(), stages);
}

#[test]
fn an_allowed_call_that_was_cancelled_meanwhile_does_not_run() {
    check_cancelled_in_policy(
        || Ok(PreDecision::Allow),
        "tool call aborted before dispatch",
        Some("ABORTED_BEFORE_DISPATCH"),
        &["guard", "post"],
    );
}

#[test]
fn deny_beats_cancellation() {
    check_cancelled_in_policy(|| Ok(PreDecision::deny("no")), "no", None, &["post"]);
}

#[test]
fn a_failed_gate_beats_cancellation() {
    check_cancelled_in_policy(|| Err(ToolError::new("broke")), "broke", None, &[]);
}

#[test]
fn a_guards_reason_beats_cancellation() {
    let setup = Setup::new();
    let stop = std::sync::Arc::new(SignalSource::new());
    let _policy = cancel_and(&setup, &stop, || Ok(PreDecision::Allow));
    let _guard = setup.registry.guard(|_: &ToolExecution| Some("guarded"));
    let result = run(setup.registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, "guarded", None);
}
