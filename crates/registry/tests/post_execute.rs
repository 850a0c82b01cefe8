//! Contract 3.9: what post-policies decide.

use std::sync::Arc;

use code_mode_registry::{
    Acceptance, AdditionalContext, ContentBlock, PostDecision, SignalSource, ToolBuilder, ToolError,
    ToolExecution, ToolRegistry, ToolResult,
};
use code_mode_schema::json;

use crate::support::{Log, call, check_failure, code, echo, execute, run};

fn context(name: &str) -> AdditionalContext {
    AdditionalContext::text(name, "c")
}

fn sources(result: &ToolResult) -> Vec<&str> {
    result.additional_contexts().iter().map(|context| context.source.as_ref()).collect()
}

/// A tool that defers one context and computes meta.
fn tool() -> ToolBuilder {
    echo("t").output(json!({"type": "object"})).presentation_meta(|_, value| value.clone()).execute(
        |args, ctx| {
            ctx.defer_context(context("tool"));
            async move { Ok(args) }
        },
    )
}

fn failing_tool() -> ToolBuilder {
    tool().execute(|_, ctx| {
        ctx.defer_context(context("tool"));
        async move { Err(ToolError::new("broken")) }
    })
}

/// The result of a call about which the post-policy decides this.
fn decided(tool: ToolBuilder, decision: PostDecision) -> Arc<ToolResult> {
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool).unwrap();
    let _post = registry.on_post_execute(move |_, _, _| {
        let decision = decision.clone();
        async move { Ok(decision) }
    });
    execute(&registry, "t")
}

fn accept(change: impl FnOnce(&mut Acceptance)) -> PostDecision {
    let mut acceptance = Acceptance::default();
    acceptance.additional_contexts.push(context("policy"));
    change(&mut acceptance);
    PostDecision::Accept(acceptance)
}

#[test]
fn accept_keeps_everything_and_appends_contexts() {
    let result = decided(tool(), accept(|_| {}));
    assert_eq!(result.text(), r#"{"x":1}"#);
    assert_eq!(result.value(), Some(&json!({"x": 1})));
    assert_eq!(result.meta(), Some(&json!({"x": 1})));
    assert_eq!(sources(&result), ["tool", "policy"]);
}

#[test]
fn accept_with_content_replaces_the_content_only() {
    let replaced = || accept(|acceptance| acceptance.content = Some(vec!["new".into()]));
    let result = decided(tool(), replaced());
    assert_eq!(result.text(), "new");
    assert_eq!(result.value(), Some(&json!({"x": 1})));
    assert_eq!(result.meta(), Some(&json!({"x": 1})));
    assert_eq!(sources(&result), ["tool", "policy"]);

    let failure = decided(failing_tool(), replaced());
    assert_eq!(failure.text(), "new");
    assert_eq!(failure.message(), Some("broken"));
}

#[test]
fn accept_with_value_validates_and_renders_again() {
    let result = decided(tool(), accept(|acceptance| acceptance.value = Some(json!({"y": 2}))));
    assert_eq!(result.value(), Some(&json!({"y": 2})));
    assert_eq!(result.text(), r#"{"y":2}"#);
    assert_eq!(result.meta(), Some(&json!({"y": 2})));
    assert_eq!(sources(&result), ["tool", "policy"]);

    let invalid = decided(tool(), accept(|acceptance| acceptance.value = Some(json!(5))));
    check_failure(
        &invalid,
        r#"tool "t" returned invalid output: "value" must be an object"#,
        Some("INVALID_TOOL_OUTPUT"),
    );
}

#[test]
fn accept_cannot_replace_both() {
    let both = accept(|acceptance| {
        acceptance.content = Some(Vec::new());
        acceptance.value = Some(json!({}));
    });
    let result = decided(tool(), both);
    check_failure(&result, "tools/post-execute accept decision cannot replace both value and content", None);
    assert_eq!(sources(&result), [""; 0]);
}

#[test]
fn accept_cannot_give_a_failure_a_value() {
    let result = decided(failing_tool(), accept(|acceptance| acceptance.value = Some(json!({}))));
    check_failure(&result, "tools/post-execute cannot replace the value of a failed result", None);
}

#[test]
fn block_is_a_failure_with_the_feedback_verbatim() {
    let block = |feedback: Vec<ContentBlock>| {
        decided(tool(), PostDecision::Block { feedback, additional_contexts: vec![context("policy")] })
    };
    let result = block(vec!["secret found".into(), ContentBlock::image("", "image/png"), "sorry".into()]);
    assert!(result.is_error());
    assert_eq!(result.content().len(), 3);
    assert_eq!(result.content()[0], "secret found".into(), "no prefix");
    assert_eq!(result.message(), Some("secret found\n[image content]\nsorry"));
    assert_eq!(code(&result), None);
    assert_eq!(result.meta(), None);
    assert_eq!(sources(&result), ["policy"], "the tool's are dropped");

    let unknown = ContentBlock::from_json(&json!({"type": "chart", "points": []}));
    assert_eq!(block(vec![unknown]).message(), Some("[chart content]"));
    for empty in [Vec::new(), vec![ContentBlock::text("")]] {
        let result = block(empty.clone());
        assert_eq!(result.message(), Some("tool result blocked by post-execute policy"));
        assert_eq!(result.content(), empty);
    }
}

#[test]
fn a_failing_or_panicking_post_policy_is_a_failure_without_contexts() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool()).unwrap();
    let failing = registry.on_post_execute(|_, _, _| async { Err(ToolError::new("gate broke")) });
    let result = execute(&registry, "t");
    check_failure(&result, "gate broke", None);
    assert_eq!(sources(&result), [""; 0]);
    drop(failing);
    let _panicking = registry.on_post_execute(|_, _, _| async { panic!("boom") });
    check_failure(&execute(&registry, "t"), "boom", None);
}

#[test]
fn post_policies_see_successes_and_every_kind_of_failure_but_the_final_ones() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let _tools = [
        registry.register(tool()),
        registry.register(echo("broken").execute(|_, _| async { Err(ToolError::new("broken")) })),
    ];
    let note = log.clone();
    let _post = registry.on_post_execute(move |_, result, next| {
        note.add(result.text());
        async move { next.call().await }
    });
    let _guard = registry
        .guard(|execution: &ToolExecution| (execution.name() == "denied").then_some("denied by a guard"));
    for name in ["t", "broken", "unknown", "denied"] {
        execute(&registry, name);
    }
    assert_eq!(
        log.take(),
        [r#"{"x":1}"#, "Error: broken", r#"Error: unknown tool "unknown""#, "Error: denied by a guard"]
    );
}

#[test]
fn post_policies_nest_outermost_first() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool()).unwrap();
    let _outer = registry.on_post_execute(|_, _, next| async move {
        match next.call().await? {
            PostDecision::Block { .. } => Ok(PostDecision::accept()),
            other => Ok(other),
        }
    });
    let _inner = registry.on_post_execute(|_, _, _| async { Ok(PostDecision::block("no")) });
    assert!(!execute(&registry, "t").is_error(), "the outer one has the last word");
}

/// A post-policy that cancels the caller and then decides.
#[track_caller]
fn check_cancelled_in_post(
    tool: ToolBuilder,
    decision: PostDecision,
    expected: (&str, Option<&str>),
    contexts: &[&str],
) {
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool).unwrap();
    let stop = Arc::new(SignalSource::new());
    let _post = registry.on_post_execute({
        let stop = Arc::clone(&stop);
        move |_, _, _| {
            stop.cancel("stop");
            let decision = decision.clone();
            async move { Ok(decision) }
        }
    });
    let result = run(registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, expected.0, expected.1);
    assert_eq!(sources(&result), contexts);
}

#[test]
fn a_success_cancelled_in_the_post_policies_is_aborted_with_its_contexts() {
    check_cancelled_in_post(
        tool(),
        accept(|_| {}),
        ("tool call aborted", Some("ABORTED")),
        &["tool", "policy"],
    );
}

#[test]
fn a_failure_cancelled_in_the_post_policies_stays_what_it_is() {
    check_cancelled_in_post(failing_tool(), accept(|_| {}), ("broken", None), &["tool", "policy"]);
}

#[test]
fn a_short_circuit_cancelled_in_the_post_policies_was_never_dispatched() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool()).unwrap();
    let _wrapper = registry.on_execute(|_, _| async { Ok(Arc::new(ToolResult::success(json!({})))) });
    let stop = Arc::new(SignalSource::new());
    let _post = registry.on_post_execute({
        let stop = Arc::clone(&stop);
        move |_, _, next| {
            stop.cancel("stop");
            async move { next.call().await }
        }
    });
    let result = run(registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, "tool call aborted before dispatch", Some("ABORTED_BEFORE_DISPATCH"));
}

#[test]
fn what_a_post_policy_saw_does_not_change_afterwards() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool()).unwrap();
    let seen: Arc<std::sync::Mutex<Option<Arc<ToolResult>>>> = Arc::default();
    let _outer = registry.on_post_execute({
        let seen = Arc::clone(&seen);
        move |_, result, next| {
            *seen.lock().unwrap() = Some(result);
            async move { next.call().await }
        }
    });
    let _inner =
        registry.on_post_execute(|_, _, _| async { Ok(accept(|a| a.content = Some(vec!["new".into()]))) });
    assert_eq!(execute(&registry, "t").text(), "new");
    assert_eq!(seen.lock().unwrap().as_ref().unwrap().text(), r#"{"x":1}"#);
}
