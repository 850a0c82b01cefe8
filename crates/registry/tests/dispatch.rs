//! Contract 3.7 and decision 24: the wrappers, the body, and results of unknown origin.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use code_mode_registry::{
    AdditionalContext, Agent, ContentBlock, Next, ToolCall, ToolDefinition, ToolError, ToolFailure,
    ToolRegistry, ToolResult,
};
use code_mode_schema::{Json, json};

use crate::support::{Log, call, check_failure, code, echo, execute, run, yield_once};

fn registry() -> ToolRegistry {
    let registry = ToolRegistry::default();
    registry.register(echo("t")).unwrap().keep();
    registry
}

/// A registry whose tool fails with the number of its attempt until `good`.
fn flaky(good: usize) -> (ToolRegistry, Arc<AtomicUsize>) {
    let registry = ToolRegistry::default();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&attempts);
    let tool = echo("t").execute(move |_, ctx| {
        let attempt = counter.fetch_add(1, Ordering::SeqCst) + 1;
        ctx.defer_context(AdditionalContext::text("tool", format!("attempt {attempt}")));
        async move {
            if attempt < good {
                return Err(ToolError::new(format!("attempt {attempt}")));
            }
            Ok(json!(attempt as i32))
        }
    });
    registry.register(tool).unwrap().keep();
    (registry, attempts)
}

#[test]
fn a_failing_body_is_a_failed_result() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, _| async { Err(ToolError::new("disk full")) });
    let _tool = registry.register(tool).unwrap();
    check_failure(&execute(&registry, "t"), "disk full", None);
}

#[test]
fn a_standard_error_becomes_the_message_and_the_operators_source() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, _| async {
        std::fs::read("/nonexistent/file")?;
        Ok(json!(null))
    });
    let _tool = registry.register(tool).unwrap();
    let result = execute(&registry, "t");
    assert!(result.message().unwrap().contains("No such file"));
    assert!(result.error().unwrap().source().is_some());
}

#[test]
fn a_panicking_body_is_the_failure_a_throw_would_be() {
    let registry = ToolRegistry::default();
    type Panic = fn() -> bool;
    let panics: [(Panic, &str); 3] = [
        (|| panic!("text"), "text"),
        (|| panic!("made {}", 1), "made 1"),
        (|| std::panic::panic_any(500), "<unprintable thrown value>"),
    ];
    for (panic, message) in panics {
        let late = registry.register(echo("late").execute(move |args, _| async move {
            yield_once().await;
            panic();
            Ok(args)
        }));
        let early = registry.register(echo("early").execute(move |args, _| {
            panic();
            async move { Ok(args) }
        }));
        check_failure(&execute(&registry, "late"), message, None);
        check_failure(&execute(&registry, "early"), message, None);
        drop((late, early));
    }
}

#[test]
fn a_body_whose_state_panics_when_dropped_fails_the_call() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|args, _| {
        let bomb = Bomb;
        async move {
            let _bomb = &bomb;
            yield_once().await;
            Ok(args)
        }
    });
    let _tool = registry.register(tool).unwrap();
    check_failure(&execute(&registry, "t"), "dropped", None);
}

#[test]
fn a_body_future_that_panics_when_dropped_fails_the_call() {
    struct Ready(Option<Json>);
    impl Future for Ready {
        type Output = Result<Json, ToolError>;
        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
            Poll::Ready(Ok(self.0.take().unwrap()))
        }
    }
    impl Drop for Ready {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t").execute(|args, _| Ready(Some(args)))).unwrap();
    check_failure(&execute(&registry, "t"), "dropped", None);
}

#[test]
fn raw_definitions_are_never_validated_and_compiled_ones_are() {
    let registry = ToolRegistry::default();
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x", "x"]});
    let raw = registry.register(echo("t").parameters(schema));
    assert!(!execute(&registry, "t").is_error());
    drop(raw);
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let compiled = code_mode_schema::Schema::subset(schema).unwrap();
    let _compiled = registry.register(echo("t").parameters(compiled)).unwrap();
    check_failure(
        &execute(&registry, "t"),
        r#"invalid arguments: "x" must be a string"#,
        Some("INVALID_ARGS"),
    );
    let raw_text = run(registry.execute(ToolCall::new("1", "t", json!("not json"))));
    check_failure(&raw_text, r#"invalid arguments: "arguments" must be an object"#, Some("INVALID_ARGS"));
    assert_eq!(raw_text.error().unwrap().info().unwrap().name(), "ToolArgsError");
}

#[test]
fn the_tool_is_resolved_again_at_the_dispatch() {
    let registry = ToolRegistry::default();
    let tool = Arc::new(Mutex::new(Some(registry.register(echo("t").description("old")).unwrap())));
    let swap = {
        let (registry, tool) = (registry.clone(), Arc::clone(&tool));
        registry.clone().on_pre_execute(move |_, next| {
            tool.lock().unwrap().take();
            let new = echo("t").execute(|_, _| async { Ok(json!("new")) });
            *tool.lock().unwrap() = Some(registry.register(new).unwrap());
            async move { next.call().await }
        })
    };
    assert_eq!(execute(&registry, "t").value(), Some(&json!("new")));
    drop(swap);
    let _gone = registry.on_pre_execute({
        let tool = Arc::clone(&tool);
        move |_, next| {
            tool.lock().unwrap().take();
            async move { next.call().await }
        }
    });
    check_failure(&execute(&registry, "t"), "unknown tool \"t\"", Some("UNKNOWN_TOOL"));
}

#[test]
fn a_wrapper_sees_the_normalized_result() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, _| async { panic!("boom") });
    let _tool = registry.register(tool).unwrap();
    let _wrapper = registry.on_execute(|_, next| async move {
        let result = next.call().await?;
        check_failure(&result, "boom", None);
        Ok(result)
    });
    check_failure(&execute(&registry, "t"), "boom", None);
}

#[test]
fn a_wrapper_may_answer_itself() {
    let registry = registry();
    let log = Log::default();
    let body = log.clone();
    let tool = echo("noted").execute(move |args, _| {
        body.add("body");
        async move { Ok(args) }
    });
    let _tool = registry.register(tool).unwrap();
    let _wrapper = registry.on_execute(|_, _| async { Ok(Arc::new(ToolResult::success(json!([1])))) });
    let result = execute(&registry, "noted");
    assert_eq!(result.value(), Some(&json!([1])));
    assert_eq!(result.text(), "[1]", "rendered by the tool");
    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn an_authored_success_loses_content_and_meta_and_keeps_contexts() {
    let registry = registry();
    let _wrapper = registry.on_execute(|_, next| async move {
        let result = ToolResult::clone(&*next.call().await?);
        Ok(Arc::new(
            result
                .with_content(vec![ContentBlock::text("forged")])
                .with_meta(Some(json!({"forged": true})))
                .with_contexts([AdditionalContext::text("wrapper", "c")]),
        ))
    });
    let result = execute(&registry, "t");
    assert_eq!(result.text(), r#"{"x":1}"#);
    assert_eq!(result.meta(), None);
    assert_eq!(result.additional_contexts(), [AdditionalContext::text("wrapper", "c")]);
}

#[test]
fn an_authored_failure_keeps_message_content_meta_and_contexts() {
    let registry = registry();
    let _wrapper = registry.on_execute(|_, _| async {
        Ok(Arc::new(
            ToolResult::failure(ToolFailure::new("mine"))
                .with_content(vec![ContentBlock::text("shown")])
                .with_meta(Some(json!(1)))
                .with_contexts([AdditionalContext::text("wrapper", "c")]),
        ))
    });
    let result = execute(&registry, "t");
    assert_eq!(result.message(), Some("mine"));
    assert_eq!(result.text(), "shown");
    assert_eq!(result.meta(), Some(&json!(1)));
    assert_eq!(result.additional_contexts().len(), 1);
}

#[test]
fn an_authored_value_is_validated_under_the_current_tool() {
    let registry = ToolRegistry::default();
    let tool = echo("t").output(json!({"type": "object"}).clone()).output(json!({"type": "string"}));
    let _tool = registry.register(tool).unwrap();
    let _wrapper = registry.on_execute(|_, _| async { Ok(Arc::new(ToolResult::success(json!(5)))) });
    check_failure(
        &execute(&registry, "t"),
        r#"tool "t" returned invalid output: "value" must be a string"#,
        Some("INVALID_TOOL_OUTPUT"),
    );
    check_failure(&execute(&registry, "gone"), "unknown tool \"gone\"", Some("UNKNOWN_TOOL"));
}

#[test]
fn a_cached_result_of_another_call_is_rebuilt() {
    let registry = ToolRegistry::default();
    let renders = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&renders);
    let tool = echo("t")
        .render(move |_, value| format!("{} #{}", value.to_text(), counter.fetch_add(1, Ordering::SeqCst)));
    let _tool = registry.register(tool).unwrap();
    let cache: Arc<Mutex<Option<Arc<ToolResult>>>> = Arc::default();
    let _wrapper = registry.on_execute(move |_, next| {
        let cache = Arc::clone(&cache);
        async move {
            if let Some(cached) = cache.lock().unwrap().clone() {
                return Ok(cached);
            }
            let result = next.call().await?;
            *cache.lock().unwrap() = Some(Arc::clone(&result));
            Ok(result)
        }
    });
    let first = execute(&registry, "t");
    assert_eq!(first.text(), r#"{"x":1} #0"#, "its own result is taken as it is");
    let second = execute(&registry, "t");
    assert_eq!(second.text(), r#"{"x":1} #1"#);
    assert_ne!(first.token(), second.token());
}

#[test]
fn a_failing_wrapper_is_final_and_loses_the_contexts() {
    let (registry, _) = flaky(1);
    let log = Log::default();
    let post = log.clone();
    let _post = registry.on_post_execute(move |_, _, next| {
        post.add("post");
        async move { next.call().await }
    });
    let failing = registry.on_execute(|_, next| async move {
        next.call().await?;
        Err(ToolError::new("wrapper broke"))
    });
    let result = execute(&registry, "t");
    check_failure(&result, "wrapper broke", None);
    assert!(result.additional_contexts().is_empty());
    drop(failing);
    let _panicking = registry.on_execute(|_, _| async { panic!("boom") });
    check_failure(&execute(&registry, "t"), "boom", None);
    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn next_may_be_called_again_and_each_call_is_a_full_dispatch() {
    let (registry, attempts) = flaky(3);
    let inner = Log::default();
    let _retry = registry.on_execute(|_, next| async move {
        loop {
            let result = next.call().await?;
            if !result.is_error() {
                return Ok(result);
            }
        }
    });
    let note = inner.clone();
    let _inner = registry.on_execute(move |_, next| {
        note.add("inner");
        async move { next.call().await }
    });
    let result = execute(&registry, "t");
    assert_eq!(result.value(), Some(&json!(3)));
    assert_eq!(attempts.load(Ordering::SeqCst), 3);
    assert_eq!(inner.take().len(), 3, "inner wrappers run again too");
    let contexts: Vec<_> =
        result.additional_contexts().iter().map(|context| context.content[0].as_text().unwrap()).collect();
    assert_eq!(contexts, ["attempt 1", "attempt 2", "attempt 3"]);
}

#[test]
fn a_retry_may_return_the_result_of_an_earlier_dispatch() {
    let registry = ToolRegistry::default();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&attempts);
    let tool = echo("t").execute(move |_, _| {
        let attempt = counter.fetch_add(1, Ordering::SeqCst);
        async move { Ok(Json::try_from(attempt)?) }
    });
    let _tool = registry.register(tool).unwrap();
    let _wrapper = registry.on_execute(|_, next| async move {
        let first = next.call().await?;
        next.call().await?;
        Ok(first)
    });
    assert_eq!(execute(&registry, "t").value(), Some(&json!(0)));
    assert_eq!(attempts.load(Ordering::SeqCst), 2);
}

#[test]
fn a_call_that_is_over_cannot_be_dispatched_again() {
    let registry = registry();
    let kept: Arc<Mutex<Option<Next<Arc<ToolResult>>>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let _wrapper = registry.on_execute(move |_, next| {
        *keep.lock().unwrap() = Some(next.clone());
        async move { next.call().await }
    });
    assert!(!execute(&registry, "t").is_error());
    let next = kept.lock().unwrap().take().unwrap();
    assert!(run(next.call()).unwrap().text().contains("the call is over"));
}

#[test]
fn a_dispatch_knows_its_tool() {
    let registry = registry();
    let _watch = registry.on_execute(|dispatch, next| async move {
        assert_eq!(dispatch.tool().map(|tool| tool.name().to_owned()), Some("t".to_owned()));
        next.call().await
    });
    assert!(!execute(&registry, "t").is_error());
}

#[test]
fn sub_calls_go_through_the_same_pipeline_with_their_parent() {
    let registry = registry();
    let outer = {
        let registry = registry.clone();
        ToolDefinition::builder("outer").output(json!({})).render(|_, _| "outer").execute(move |_, ctx| {
            let sub = call("t").with_parent(ctx.token());
            let executing = registry.execute(sub);
            async move { Ok(executing.await.value().cloned().unwrap_or(json!(null))) }
        })
    };
    let _outer = registry.register(outer).unwrap();
    let log = Log::default();
    let note = log.clone();
    let _watch = registry.on_result(move |execution, _| {
        note.add(format!("{} {}", execution.name(), execution.parent().is_some()));
    });
    let agent = Agent::new("a");
    let result = run(registry.execute(call("outer").with_agent(agent)));
    assert_eq!(result.value(), Some(&json!({"x": 1})));
    assert_eq!(log.take(), ["t true", "outer false"]);
    assert_eq!(code(&result), None);
}
