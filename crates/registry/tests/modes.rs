//! Contract 2.4 (`executionMode`), 8 and decision 25: scheduling classes, and what mode `code` refuses.

use code_mode_registry::{
    Agent, ExecutionMode, Mode, PostDecision, PreDecision, PresentError, Section, ToolCall, ToolDefinition,
    ToolError, ToolExecution, ToolRegistry, Transport,
};
use code_mode_schema::{LosslessError, Lossy, ParameterSchemaSpec, ValueSchemaSpec, json};

use crate::support::{Log, call, check_failure, echo, execute, registry_in, run};

#[track_caller]
fn check_mode(registry: &ToolRegistry, call: &ToolCall, expected: ExecutionMode) {
    assert_eq!(registry.execution_mode(call), expected);
}

#[test]
fn only_a_classifier_that_says_so_makes_a_call_parallel() {
    let registry = ToolRegistry::default();
    registry.register(echo("none")).unwrap().keep();
    registry.register(echo("yes").concurrency_safe(|_| true)).unwrap().keep();
    registry.register(echo("no").concurrency_safe(|_| false)).unwrap().keep();
    registry.register(echo("panics").concurrency_safe(|_| panic!("no"))).unwrap().keep();
    registry.register(echo("undone").concurrency_safe(|_| true).exclusive()).unwrap().keep();
    let by_arguments = echo("some").concurrency_safe(|args| args.get("x").is_some());
    registry.register(by_arguments).unwrap().keep();

    check_mode(&registry, &call("yes"), ExecutionMode::Parallel);
    check_mode(&registry, &call("some"), ExecutionMode::Parallel);
    check_mode(&registry, &ToolCall::new("1", "some", json!({})), ExecutionMode::Exclusive);
    for name in ["none", "no", "panics", "undone", "unknown"] {
        check_mode(&registry, &call(name), ExecutionMode::Exclusive);
    }
    let lossy = ToolCall::new("1", "yes", Err(LosslessError::new("x", Lossy::NotANumber)));
    check_mode(&registry, &lossy, ExecutionMode::Exclusive);
}

#[test]
fn the_visible_definition_is_classified() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    registry.register(echo("t").concurrency_safe(|_| true)).unwrap().keep();
    let _shadow = registry.register_for(&agent, echo("t")).unwrap();
    check_mode(&registry, &call("t"), ExecutionMode::Parallel);
    check_mode(&registry, &call("t").with_agent(agent), ExecutionMode::Exclusive);
}

#[test]
fn arguments_that_do_not_validate_are_exclusive() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {
        path: String,
    }
    let registry = ToolRegistry::default();
    let tool = ToolDefinition::typed("t", "", |args: Args, _| async move { Ok(args.path) })
        .concurrency_safe(|_| true);
    registry.register(tool).unwrap().keep();
    check_mode(&registry, &ToolCall::new("1", "t", json!({"path": "p"})), ExecutionMode::Parallel);
    check_mode(&registry, &call("t"), ExecutionMode::Exclusive);
    check_mode(&registry, &ToolCall::new("1", "t", json!("raw text")), ExecutionMode::Exclusive);

    let parameters = ParameterSchemaSpec::new().required("x", ValueSchemaSpec::string());
    registry.register(echo("dsl").parameters(parameters).concurrency_safe(|_| true)).unwrap().keep();
    check_mode(&registry, &ToolCall::new("1", "dsl", json!({"x": "s"})), ExecutionMode::Parallel);
    check_mode(&registry, &call("dsl"), ExecutionMode::Exclusive);
}

#[test]
fn an_execution_mode_has_a_wire_form() {
    let json = code_mode_schema::to_json(&ExecutionMode::Parallel).unwrap();
    assert_eq!(json, json!({"kind": "parallel"}));
}

fn code_registry(log: &Log) -> ToolRegistry {
    let registry = registry_in(Mode::Code);
    registry.install_transport(echo("run_code").build()).unwrap().keep();
    let note = |what: &'static str| {
        let log = log.clone();
        move || log.add(what)
    };
    let (pre, guard, execute, post) = (note("pre"), note("guard"), note("execute"), note("post"));
    registry
        .on_pre_execute(move |_, next| {
            pre();
            async move { next.call().await }
        })
        .keep();
    registry
        .guard(move |_: &ToolExecution| {
            guard();
            None::<String>
        })
        .keep();
    registry
        .on_execute(move |_, next| {
            execute();
            async move { next.call().await }
        })
        .keep();
    registry
        .on_post_execute(move |_, _, next| {
            post();
            async move { next.call().await }
        })
        .keep();
    registry
}

#[test]
fn mode_code_refuses_direct_calls_before_any_policy() {
    let log = Log::default();
    let registry = code_registry(&log);
    let _tool = registry.register(echo("t").concurrency_safe(|_| true)).unwrap();
    check_failure(
        &execute(&registry, "t"),
        "unknown tool \"t\": only `run_code` is callable directly — call `t` from inside a `run_code` program instead",
        Some("UNKNOWN_TOOL"),
    );
    assert_eq!(log.take(), ["post"]);
    check_mode(&registry, &call("t"), ExecutionMode::Exclusive);
    assert!(execute(&registry, "unknown").text().contains("only `run_code` is callable directly"));
}

#[test]
fn mode_code_lets_run_code_and_its_sub_calls_through() {
    let log = Log::default();
    let registry = code_registry(&log);
    let _tool = registry.register(echo("t").concurrency_safe(|_| true)).unwrap();
    let outer = execute(&registry, "run_code");
    assert!(!outer.is_error());
    assert_eq!(log.take(), ["pre", "guard", "execute", "post"]);
    let sub = call("t").with_parent(outer.token().unwrap());
    check_mode(&registry, &sub, ExecutionMode::Parallel);
    assert!(!run(registry.execute(sub)).is_error());
    assert_eq!(log.take(), ["pre", "guard", "execute", "post"]);
}

#[test]
fn mode_both_and_native_take_direct_calls() {
    for mode in [Mode::Both, Mode::Native] {
        let registry = registry_in(mode);
        let _tool = registry.register(echo("t")).unwrap();
        assert!(!execute(&registry, "t").is_error(), "{mode:?}");
    }
}

#[test]
fn lossy_arguments_and_a_cancelled_caller_win_over_the_refusal() {
    let log = Log::default();
    let registry = code_registry(&log);
    let lossy = ToolCall::new("1", "t", Err(LosslessError::new("x", Lossy::NotANumber)));
    assert!(run(registry.execute(lossy)).text().contains("losslessly"));
    let stopped = code_mode_registry::SignalSource::new();
    stopped.cancel("stop");
    let result = run(registry.execute(call("t").with_signal(stopped.signal())));
    assert_eq!(crate::support::code(&result).as_deref(), Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(log.take(), [""; 0]);
}

#[test]
fn a_post_policy_may_block_a_refused_call_and_finalize_runs() {
    let registry = registry_in(Mode::Code);
    let tool =
        echo("t").finalize_content(|_, result| Ok(Some(vec![format!("final: {}", result.text()).into()])));
    let _tool = registry.register(tool).unwrap();
    assert!(execute(&registry, "t").text().starts_with("final: Error: unknown tool \"t\": only"));
    let _post = registry.on_post_execute(|_, _, _| async { Ok(PostDecision::block("no")) });
    assert_eq!(execute(&registry, "t").text(), "final: no");
}

#[test]
fn run_code_without_a_runtime_says_what_is_required() {
    for mode in [Mode::Code, Mode::Both] {
        let registry = registry_in(mode);
        let result = execute(&registry, "run_code");
        assert!(result.text().contains("requires a code runtime"), "{}", result.text());
        let python = Transport::new(echo("run_code"), "python");
        let _kept = registry.install_transport(python).unwrap();
        assert!(execute(&registry, "run_code").text().contains("language is \"python\""));
    }
    let result = execute(&ToolRegistry::default(), "run_code");
    check_failure(&result, "unknown tool \"run_code\"", Some("UNKNOWN_TOOL"));
}

#[test]
fn a_policy_still_decides_about_run_code() {
    let log = Log::default();
    let registry = code_registry(&log);
    let _deny = registry.on_pre_execute(|_, _| async { Ok(PreDecision::deny("no programs")) });
    check_failure(&execute(&registry, "run_code"), "no programs", None);
}

// A mode of an agent's own.

/// A registry with a runtime and the tool `t`, and an agent of it.
fn presenting(mode: Mode) -> (ToolRegistry, Agent) {
    let registry = registry_in(mode);
    registry.install_transport(echo("run_code").build()).unwrap().keep();
    registry.register(echo("t")).unwrap().keep();
    (registry, Agent::new("a"))
}

/// The names on the agent's wire, and of its sections.
fn assembled(registry: &ToolRegistry, agent: &Agent) -> (Vec<String>, Vec<String>) {
    let assembly = run(registry.assemble(Some(agent))).unwrap();
    let tools = assembly.tools.iter().map(|tool| tool.name.to_string()).collect();
    (tools, assembly.system_sections.iter().map(|section| section.name.to_string()).collect())
}

#[test]
fn an_agent_can_be_presented_with_tools_only() {
    let (registry, agent) = presenting(Mode::Code);
    let sdk = Section::text("tools:sdk", 150, "the SDK").for_programs();
    registry.add_section(None, sdk).unwrap().keep();
    let _native = registry.scoped(&agent).present_as(Mode::Native).unwrap();
    assert_eq!(assembled(&registry, &agent), (vec!["t".to_owned()], vec![]));
    assert_eq!(registry.view(Some(&agent)).len(), 1);
    assert!(!run(registry.execute(call("t").with_agent(agent.clone()))).is_error());
    let programs = run(registry.execute(call("run_code").with_agent(agent)));
    check_failure(&programs, "unknown tool \"run_code\"", Some("UNKNOWN_TOOL"));

    let other = assembled(&registry, &Agent::new("a"));
    assert_eq!(
        other,
        (vec!["run_code".to_owned()], vec!["tools:code-only".to_owned(), "tools:sdk".to_owned()])
    );
}

#[test]
fn an_agent_can_be_presented_with_programs_only() {
    let (registry, agent) = presenting(Mode::Both);
    let _code = registry.present_as(&agent, Mode::Code).unwrap();
    assert_eq!(
        assembled(&registry, &agent),
        (vec!["run_code".to_owned()], vec!["tools:code-only".to_owned()])
    );
    let refused = run(registry.execute(call("t").with_agent(agent.clone())));
    assert!(refused.text().contains("only `run_code` is callable directly"));
    assert!(!run(registry.execute(call("run_code").with_agent(agent))).is_error());
    assert!(!execute(&registry, "t").is_error(), "others call it directly");
}

#[test]
fn the_mode_presented_last_is_in_force_and_change_is_told() {
    let (registry, agent) = presenting(Mode::Both);
    let log = Log::default();
    let note = log.clone();
    let _told = registry.on_change(move || {
        note.add("change");
        Ok(())
    });
    let code = registry.present_as(&agent, Mode::Code).unwrap();
    let native = registry.present_as(&agent, Mode::Native).unwrap();
    assert_eq!(registry.mode_of(Some(&agent)), Mode::Native);
    drop(code);
    assert_eq!(registry.mode_of(Some(&agent)), Mode::Native);
    drop(native);
    assert_eq!(registry.mode_of(Some(&agent)), Mode::Both);
    assert_eq!(log.take(), ["change"; 4]);
    assert_eq!(assembled(&registry, &agent).0, ["run_code", "t"]);
}

#[test]
fn a_native_registry_presents_no_programs() {
    let (registry, agent) = (ToolRegistry::default(), Agent::new("a"));
    for mode in [Mode::Code, Mode::Both] {
        assert_eq!(registry.present_as(&agent, mode).unwrap_err(), PresentError::NoPrograms { mode });
    }
    let _native = registry.present_as(&agent, Mode::Native).unwrap();
    assert_eq!(registry.mode_of(Some(&agent)), Mode::Native);
}

#[test]
fn a_change_listener_that_fails_takes_a_mode_back() {
    let (registry, agent) = presenting(Mode::Both);
    let _fails = registry.on_change(|| Err(ToolError::new("no")));
    let error = registry.present_as(&agent, Mode::Code).unwrap_err();
    assert_eq!(error, PresentError::ChangeListener { message: "no".into() });
    assert_eq!(registry.mode_of(Some(&agent)), Mode::Both);
}
