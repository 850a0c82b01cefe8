//! A sub-call passes the very pipeline that a native call passes, to the same end. Contract 3.5, 7.3; decisions 24, 25.

use std::sync::{Arc, Mutex};

use code_mode::registry::{
    ApprovalOutcome, ApprovalRequest, ApprovalService, HostEvent, PostDecision, PreDecision, Registration,
};
use code_mode::{Json, Mode, ToolCall, ToolError, ToolResult, json};
use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::support::{Host, HostConfig, Journal, tool};

/// Answers every question with one outcome.
struct Answers(ApprovalOutcome);

impl ApprovalService for Answers {
    fn request(&self, _request: ApprovalRequest) -> BoxFuture<'static, Result<ApprovalOutcome, ToolError>> {
        let outcome = self.0.clone();
        async move { Ok(outcome) }.boxed()
    }
}

/// Notes each stage that a call of any tool but `run_code` passes.
fn note_stages(host: &Host, journal: &Journal) -> Vec<Registration> {
    let note = |stage: &'static str| {
        let journal = journal.clone();
        move |name: &str| {
            if name != "run_code" {
                journal.add(format!("{stage} {name}"));
            }
        }
    };
    let (pre, guard, before, after) = (note("pre"), note("guard"), note("execute"), note("executed"));
    let (post, result) = (note("post"), note("result"));
    let after = Arc::new(after);
    vec![
        host.registry.on_pre_execute(move |execution, next| {
            pre(execution.name());
            async move { next.call().await }
        }),
        host.registry.guard(move |execution| {
            guard(execution.name());
            None::<String>
        }),
        host.registry.on_execute(move |dispatch, next| {
            before(dispatch.name());
            let after = Arc::clone(&after);
            async move {
                let result = next.call().await;
                after(dispatch.name());
                result
            }
        }),
        host.registry.on_post_execute(move |execution, _, next| {
            post(execution.name());
            async move { next.call().await }
        }),
        host.registry.on_result(move |execution, _| result(execution.name())),
    ]
}

/// Says that a native call and a sub-call of `name` pass the same stages to the same end, and returns both.
#[track_caller]
fn same_both_ways(
    change: impl FnOnce(&Host) -> Vec<Registration>,
    name: &str,
    stages: &[&str],
    message: Result<&str, &str>,
) {
    let config = HostConfig { mode: Mode::Both, ..HostConfig::default() };
    let (host, journal) = (Host::made(config), Journal::default());
    let _noted = note_stages(&host, &journal);
    let _changed = change(&host);
    let arguments = json!({"value": 7, "message": "as told"});
    let call = ToolCall::new("native", name, arguments.clone()).with_agent(host.agent.clone());
    let native = host.block_on(host.registry.execute(call));
    let passed: Vec<String> = stages.iter().map(|stage| format!("{stage} {name}")).collect();
    assert_eq!(journal.take(), passed, "native");
    assert_eq!(outcome(&native), message.map(str::to_owned).map_err(str::to_owned), "native");

    let program = format!(
        "return tools[{name:?}]({arguments}).then((value) => ({{ value }}), (error) => ({{ error: error.message }}))"
    );
    let value = host.value(&program);
    assert_eq!(journal.take(), passed, "from a program");
    let told = match (value.get("value"), value.get("error").and_then(Json::as_str)) {
        (Some(value), _) => Ok(value.to_text()),
        (None, error) => Err(error.unwrap_or_default().to_owned()),
    };
    assert_eq!(told, outcome(&native), "from a program");
    let content = host.take_events().into_iter().find_map(|event| match event {
        HostEvent::CodeDispatch { content, .. } => Some(content),
        _ => None,
    });
    assert_eq!(content.as_deref(), Some(native.content()), "from a program");
}

fn outcome(result: &ToolResult) -> Result<String, String> {
    match result.value() {
        Some(value) => Ok(value.to_text()),
        None => Err(result.message().unwrap_or_default().to_owned()),
    }
}

const ALL: &[&str] = &["pre", "guard", "execute", "executed", "post", "result"];

#[test]
fn success_and_failure_are_the_same_natively_and_from_a_program() {
    same_both_ways(|_| vec![], "echo", ALL, Ok("7"));
    same_both_ways(|_| vec![], "fail", ALL, Err("as told"));
    let panics = |host: &Host| {
        host.register(tool("panics").execute(|_, _| async { panic!("out of reach") }));
        vec![]
    };
    same_both_ways(panics, "panics", ALL, Err("out of reach"));
}

#[test]
fn denial_of_a_policy_is_the_same_natively_and_from_a_program() {
    let deny = |host: &Host| {
        vec![host.registry.on_pre_execute(|execution, next| async move {
            if execution.name() == "echo" { Ok(PreDecision::deny("not today")) } else { next.call().await }
        })]
    };
    same_both_ways(deny, "echo", &["pre", "post", "result"], Err("not today"));
}

#[test]
fn objection_of_a_guard_is_the_same_natively_and_from_a_program() {
    let guard = |host: &Host| {
        vec![host.registry.guard(|execution| (execution.name() == "echo").then_some("guarded"))]
    };
    same_both_ways(guard, "echo", &["pre", "guard", "post", "result"], Err("guarded"));
}

#[test]
fn approval_is_the_same_natively_and_from_a_program() {
    let ask = |outcome: Option<ApprovalOutcome>| {
        move |host: &Host| {
            let mut registrations = vec![host.registry.on_pre_execute(|execution, next| async move {
                if execution.name() == "echo" {
                    Ok(PreDecision::ask("it looks dangerous"))
                } else {
                    next.call().await
                }
            })];
            registrations
                .extend(outcome.map(|outcome| host.registry.mount_approval(Arc::new(Answers(outcome)))));
            registrations
        }
    };
    let denied = &["pre", "post", "result"];
    same_both_ways(ask(None), "echo", denied, Err("it looks dangerous"));
    same_both_ways(
        ask(Some(ApprovalOutcome::Rejected)),
        "echo",
        denied,
        Err("the user rejected tool \"echo\""),
    );
    same_both_ways(ask(Some(ApprovalOutcome::AllowedOnce)), "echo", ALL, Ok("7"));
}

#[test]
fn wrapper_and_post_policy_are_the_same_natively_and_from_a_program() {
    let replace = |host: &Host| {
        vec![host.registry.on_execute(|dispatch, next| async move {
            if dispatch.name() == "echo" {
                Ok(Arc::new(ToolResult::success(json!("cached"))))
            } else {
                next.call().await
            }
        })]
    };
    same_both_ways(replace, "echo", ALL, Ok("\"cached\""));
    let block = |host: &Host| {
        vec![host.registry.on_post_execute(|execution, _, next| async move {
            if execution.name() == "echo" { Ok(PostDecision::block("too much")) } else { next.call().await }
        })]
    };
    same_both_ways(block, "echo", ALL, Err("too much"));
}

#[test]
fn wrapper_may_call_the_rest_again_for_a_sub_call() {
    let host = Host::new();
    let tries = Arc::new(Mutex::new(0));
    host.tool("flaky", {
        let tries = Arc::clone(&tries);
        move |_, _| {
            *tries.lock().unwrap() += 1;
            let count = *tries.lock().unwrap();
            async move { if count < 3 { Err(ToolError::new("not yet")) } else { Ok(json!(count)) } }
        }
    });
    let _retry = host.registry.on_execute(|dispatch, next| async move {
        let mut result = next.call().await?;
        while dispatch.name() == "flaky" && result.is_error() {
            result = next.call().await?;
        }
        Ok(result)
    });
    assert_eq!(host.value("return tools.flaky()"), json!(3));
    assert_eq!(host.take_started(), ["call_1:code:1 flaky"]);
}

#[test]
fn code_mode_refuses_direct_calls_of_other_tools() {
    let host = Host::new();
    let run = host.run_call(ToolCall::new("direct", "echo", json!({"value": 1})));
    assert_eq!(
        run.text(),
        "Error: unknown tool \"echo\": only `run_code` is callable directly — call `echo` from inside a `run_code` program instead"
    );
    assert_eq!(run.result.error().and_then(|failure| failure.code()), Some("UNKNOWN_TOOL"));
}
