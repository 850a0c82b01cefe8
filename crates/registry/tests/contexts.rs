//! Contract 3.12: what is injected after the step, in which order, and what drops it.

use std::sync::{Arc, Mutex};

use code_mode_registry::{
    Acceptance, AdditionalContext, PostDecision, SignalSource, ToolError, ToolRegistry, ToolResult,
    ToolRunContext,
};
use code_mode_schema::json;

use crate::support::{call, check_failure, echo, execute, run};

fn context(name: &str) -> AdditionalContext {
    AdditionalContext::text(name, "c")
}

fn sources(result: &ToolResult) -> Vec<String> {
    result.additional_contexts().iter().map(|context| context.source.to_string()).collect()
}

#[test]
fn order_is_tool_then_wrapper_then_post_policy() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|args, ctx| async move {
        ctx.defer_context(context("tool 1"));
        ctx.clone().defer_context(context("tool 2"));
        Ok(args)
    });
    let _tool = registry.register(tool).unwrap();
    let _wrapper = registry.on_execute(|_, next| async move {
        let result = ToolResult::clone(&*next.call().await?);
        assert!(result.additional_contexts().is_empty(), "joined after the wrappers");
        Ok(Arc::new(result.with_contexts([context("wrapper")])))
    });
    let _post = registry.on_post_execute(|_, _, next| async move {
        let PostDecision::Accept(mut acceptance) = next.call().await? else { panic!("accepted") };
        acceptance.additional_contexts.insert(0, context("outer"));
        Ok(PostDecision::Accept(acceptance))
    });
    let _inner = registry.on_post_execute(|_, _, _| async {
        let additional_contexts = vec![context("inner")];
        Ok(PostDecision::Accept(Acceptance { additional_contexts, ..Acceptance::default() }))
    });
    assert_eq!(sources(&execute(&registry, "t")), ["tool 1", "tool 2", "wrapper", "outer", "inner"]);
}

#[test]
fn contexts_survive_a_later_failure_of_the_body() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, ctx| async move {
        ctx.defer_context(context("tool"));
        panic!("later")
    });
    let _tool = registry.register(tool).unwrap();
    let result = execute(&registry, "t");
    check_failure(&result, "later", None);
    assert_eq!(sources(&result), ["tool"]);
}

#[test]
fn contexts_survive_cancellation() {
    let registry = ToolRegistry::default();
    let stop = Arc::new(SignalSource::new());
    let cancel = Arc::clone(&stop);
    let tool = echo("t").execute(move |args, ctx| {
        ctx.defer_context(context("tool"));
        cancel.cancel("stop");
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    let result = run(registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, "tool call aborted", Some("ABORTED"));
    assert_eq!(sources(&result), ["tool"]);
}

#[test]
fn contexts_deferred_after_the_body_has_settled_are_ignored() {
    let registry = ToolRegistry::default();
    let kept: Arc<Mutex<Option<ToolRunContext>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let tool = echo("t").execute(move |args, ctx| {
        *keep.lock().unwrap() = Some(ctx);
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    let _post = registry.on_post_execute(move |_, _, next| {
        kept.lock().unwrap().take().unwrap().defer_context(context("late"));
        async move { next.call().await }
    });
    assert_eq!(sources(&execute(&registry, "t")), [""; 0]);
}

#[test]
fn an_invalid_output_keeps_the_contexts() {
    let registry = ToolRegistry::default();
    let tool = echo("t").output(json!({"type": "string"})).execute(|args, ctx| async move {
        ctx.defer_context(context("tool"));
        Ok(args)
    });
    let _tool = registry.register(tool).unwrap();
    let result = execute(&registry, "t");
    assert!(result.is_error());
    assert_eq!(sources(&result), ["tool"]);
}

#[test]
fn a_context_has_a_wire_form() {
    let full = AdditionalContext::text("s", "t").with_placement("before").with_meta(json!({"m": 1}));
    let wire = json!({
        "content": [{"type": "text", "text": "t"}], "source": "s", "placement": "before", "meta": {"m": 1},
    });
    assert_eq!(code_mode_schema::to_json(&full).unwrap(), wire);
    let short = json!({"content": [], "source": "s"});
    let parsed: AdditionalContext = code_mode_schema::from_json(&short).unwrap();
    assert_eq!(parsed, AdditionalContext::new("s", Vec::new()));
    assert_eq!(code_mode_schema::to_json(&parsed).unwrap(), short);
}

#[test]
fn a_wrapper_failure_is_an_error_result_for_the_outer_wrapper_too() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let _outer = registry.on_execute(|_, next| async move {
        match next.call().await {
            Ok(result) => Ok(result),
            Err(error) => Ok(Arc::new(ToolResult::failure(ToolError::new(format!("caught {error}"))))),
        }
    });
    let _inner = registry.on_execute(|_, _| async { panic!("inner") });
    check_failure(&execute(&registry, "t"), "caught inner", None);
}

#[test]
fn what_is_deferred_after_the_body_is_not_kept() {
    let registry = ToolRegistry::default();
    let kept: Arc<Mutex<Option<ToolRunContext>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let tool = echo("t").execute(move |args, ctx| {
        *keep.lock().unwrap() = Some(ctx);
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    assert!(execute(&registry, "t").additional_contexts().is_empty());
    let text: Arc<str> = "late".into();
    kept.lock().unwrap().as_ref().unwrap().defer_context(AdditionalContext::text("tool", Arc::clone(&text)));
    assert_eq!(Arc::strong_count(&text), 1);
}
