//! Contract 2.1 and 2.2: definitions, layers, change notifications.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use code_mode_registry::{
    Agent, ConfigError, Mode, RegisterError, Registration, RegistryConfig, Restriction, ToolDefinition,
    ToolError, ToolRegistry,
};
use code_mode_schema::{ParameterSchemaSpec, ValueSchemaSpec, json};

use crate::support::{Log, call, echo, execute, registry_in, run};

#[track_caller]
fn check_refused(registry: &ToolRegistry, tool: impl Into<ToolDefinition>, fragments: &[&str]) {
    let error = registry.register(tool).unwrap_err();
    for fragment in fragments {
        assert!(error.to_string().contains(fragment), "{error}");
    }
}

#[test]
fn parallel_sub_calls_must_be_positive_where_programs_run() {
    for mode in [Mode::Code, Mode::Both] {
        let config = RegistryConfig::new(mode).with_max_parallel_sub_calls(0);
        let error = ToolRegistry::new(config).unwrap_err();
        assert_eq!(error, ConfigError::MaxParallelSubCalls { got: 0 });
        assert!(error.to_string().contains("maxParallelSubCalls must be a positive integer"));
    }
    assert!(ToolRegistry::new(RegistryConfig::new(Mode::Native).with_max_parallel_sub_calls(0)).is_ok());
}

#[test]
fn config_speaks_camel_case_and_refuses_unknown_keys() {
    let config = RegistryConfig::new(Mode::Both).with_tool_order(["b", "<unlisted-tools>"]);
    let json = code_mode_schema::to_json(&config).unwrap();
    assert_eq!(
        json.to_text(),
        r#"{"mode":"both","maxParallelSubCalls":10,"toolOrder":["b","<unlisted-tools>"]}"#
    );
    assert_eq!(code_mode_schema::from_json::<RegistryConfig>(&json).unwrap(), config);
    assert!(code_mode_schema::from_json::<RegistryConfig>(&json!({"modus": "both"})).is_err());
}

#[test]
fn a_definition_without_output_render_or_body_is_refused() {
    let registry = ToolRegistry::default();
    let bare = || ToolDefinition::builder("bare");
    let fragment = "must declare output { schema, render, presentationMeta? }";
    check_refused(&registry, bare(), &[fragment, "output.schema"]);
    check_refused(&registry, bare().output(json!({})), &[fragment, "output.render"]);
    check_refused(&registry, bare().output(json!({})).render(|_, _| ""), &[fragment, "execute"]);
}

#[test]
fn an_output_schema_outside_the_subset_is_refused() {
    let registry = ToolRegistry::default();
    let error = registry.register(echo("t").output(json!({"type": "string", "pattern": "a"}))).unwrap_err();
    assert_eq!(error.code(), Some("UNSUPPORTED_SCHEMA"));
    assert!(error.to_string().contains("unsupported JSON schema: schema.pattern"), "{error}");
}

#[test]
fn a_dsl_tool_validates_and_a_broken_spec_is_refused() {
    let registry = ToolRegistry::default();
    let parameters = ParameterSchemaSpec::new().required("x", ValueSchemaSpec::string());
    let tool = echo("t").parameters(parameters.clone()).output(ValueSchemaSpec::open_object());
    let _kept = registry.register(tool).unwrap();
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]});
    assert_eq!(registry.schemas(None).unwrap()[0].parameters, schema);
    let result = execute(&registry, "t");
    assert_eq!(result.message(), Some(r#"invalid arguments: "x" must be a string"#));

    let broken = ValueSchemaSpec::from_spec(json!({"type": "string", "pattern": "a"}));
    let refusals = [
        echo("u").parameters(ParameterSchemaSpec::new().required("x", broken.clone())),
        echo("u").output(broken),
    ];
    for tool in refusals {
        assert_eq!(registry.register(tool).unwrap_err().code(), Some("UNSUPPORTED_SCHEMA"));
    }
}

#[test]
fn a_timeout_must_be_positive_and_fit_a_timer() {
    let registry = ToolRegistry::default();
    let fragment = "timeoutMs must be a positive finite number";
    check_refused(&registry, echo("t").timeout(Duration::ZERO), &[fragment]);
    check_refused(&registry, echo("t").timeout(Duration::from_millis(2_147_483_648)), &[fragment]);
    let longest = Duration::from_millis(2_147_483_647);
    assert!(registry.register(echo("t").timeout(longest)).is_ok());
}

#[test]
fn checks_run_in_the_contracts_order() {
    let registry = registry_in(Mode::Both);
    let lossy_schema = json!({"$ref": "#"});
    let everything = || ToolDefinition::builder("run_code").timeout(Duration::ZERO);
    let kinds = [
        registry.register(everything().output(lossy_schema.clone())),
        registry.register(echo("run_code").timeout(Duration::ZERO).output(lossy_schema)),
        registry.register(echo("run_code").timeout(Duration::ZERO)),
        registry.register(echo("run_code")),
    ]
    .map(Result::unwrap_err);
    assert!(matches!(kinds[0], RegisterError::IncompleteDefinition { .. }));
    assert!(matches!(kinds[1], RegisterError::UnsupportedSchema { .. }));
    assert!(matches!(kinds[2], RegisterError::Timeout { .. }));
    assert!(matches!(kinds[3], RegisterError::Reserved));
}

#[test]
fn run_code_is_reserved_where_it_is_the_transport() {
    let agent = Agent::new("a");
    for mode in [Mode::Code, Mode::Both] {
        let registry = registry_in(mode);
        let fragment = "reserved for the Code Mode presentation transport";
        check_refused(&registry, echo("run_code"), &[fragment]);
        let error = registry.register_for(&agent, echo("run_code")).unwrap_err();
        assert!(error.to_string().contains(fragment));
    }
    let native = ToolRegistry::default();
    let _kept = native.register(echo("run_code")).unwrap();
    assert_eq!(execute(&native, "run_code").text(), r#"{"x":1}"#);
}

#[test]
fn a_transport_needs_its_name_and_a_mode_for_it() {
    let registry = registry_in(Mode::Code);
    let refused = |error: RegisterError| matches!(error, RegisterError::NoTransport);
    assert!(refused(registry.install_transport(echo("other").build()).unwrap_err()));
    assert!(refused(ToolRegistry::default().install_transport(echo("run_code").build()).unwrap_err()));
    assert!(registry.install_transport(echo("run_code").build()).is_ok());
}

#[test]
fn a_name_is_free_once_per_layer() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let _global = registry.register(echo("t")).unwrap();
    check_refused(&registry, echo("t"), &["already registered", "agent.ctx"]);

    let scoped = registry.scoped(&agent);
    let _scoped = scoped.register(echo("t")).unwrap();
    let error = scoped.register(echo("t")).unwrap_err();
    assert!(error.to_string().contains("already registered in this scope"), "{error}");
    assert!(registry.register_for(&Agent::new("a"), echo("t")).is_ok(), "another agent of that name");
}

#[test]
fn names_are_not_validated() {
    let registry = ToolRegistry::default();
    for name in ["", " ", "__proto__", "näme\n"] {
        let _kept = registry.register(echo(name)).unwrap();
        assert_eq!(execute(&registry, name).text(), r#"{"x":1}"#);
    }
}

#[test]
fn a_scoped_tool_shadows_whichever_came_first() {
    for scoped_first in [true, false] {
        let registry = ToolRegistry::default();
        let agent = Agent::new("a");
        let global = || registry.register(echo("t").description("global")).unwrap();
        let scoped = || registry.register_for(&agent, echo("t").description("scoped")).unwrap();
        let _both = if scoped_first { [scoped(), global()] } else { [global(), scoped()] };
        assert_eq!(registry.get("t", Some(&agent)).unwrap().description(), "scoped");
        assert_eq!(registry.get("t", None).unwrap().description(), "global");
        assert_eq!(registry.get("t", Some(&Agent::new("b"))).unwrap().description(), "global");
    }
}

#[test]
fn a_registration_ends_once_when_disposed_or_dropped() {
    let registry = ToolRegistry::default();
    let first = registry.register(echo("t")).unwrap();
    first.dispose();
    assert!(registry.get("t", None).is_none());
    let second = registry.register(echo("t")).unwrap();
    first.dispose();
    drop(first);
    assert!(registry.get("t", None).is_some(), "a second disposal must not touch the successor");
    drop(second);
    assert!(registry.get("t", None).is_none());
    registry.register(echo("t")).unwrap().keep();
    assert!(registry.get("t", None).is_some());
}

#[test]
fn grouped_registrations_end_together_in_reverse_order() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let names = registry.register(echo("a")).unwrap().and(registry.register(echo("b")).unwrap());
    let _watch = registry.on_change({
        let (registry, log) = (registry.clone(), log.clone());
        move || {
            log.add(registry.view(None).iter().map(ToolDefinition::name).collect::<Vec<_>>().join(","));
            Ok(())
        }
    });
    names.dispose();
    assert_eq!(log.take(), ["a", ""]);

    let register = |name| registry.register(echo(name));
    let names: Registration = ["a", "b"].into_iter().map(register).collect::<Result<_, _>>().unwrap();
    assert_eq!(log.take(), ["a", "a,b"]);
    names.dispose();
    assert_eq!(log.take(), ["a", ""]);
    ["a", "b", "a"].into_iter().map(register).collect::<Result<Registration, _>>().unwrap_err();
    assert_eq!(log.take(), ["a", "a,b", "a", ""], "what was registered before the refusal is taken back");
}

#[test]
fn a_registration_may_outlive_its_registry() {
    let registry = ToolRegistry::default();
    let registration = registry.register(echo("t")).unwrap();
    drop(registry);
    registration.dispose();
}

#[test]
fn change_is_told_after_register_unregister_restrict_and_lift_only() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let log = Log::default();
    let _watch = registry.scoped(&Agent::new("somebody else")).hooks().on_change({
        let log = log.clone();
        move || {
            log.add("change");
            Ok(())
        }
    });
    let count = || log.take().len();

    let global = registry.register(echo("t")).unwrap();
    assert_eq!(count(), 1, "register");
    let scoped = registry.register_for(&agent, echo("t")).unwrap();
    assert_eq!(count(), 1, "scoped register");
    let filter = registry.restrict(Some(&agent), Restriction::deny(["t"])).unwrap();
    assert_eq!(count(), 1, "restrict");
    filter.dispose();
    filter.dispose();
    assert_eq!(count(), 1, "lift");
    drop(scoped);
    drop(global);
    assert_eq!(count(), 2, "unregister");
    let guard = registry.guard(|_| None::<String>);
    drop(guard);
    let _ = registry.register(echo("t").timeout(Duration::ZERO)).unwrap_err();
    assert_eq!(count(), 0, "guards and refusals");
}

#[test]
fn a_change_listener_that_fails_rolls_the_registration_back() {
    for panics in [false, true] {
        let registry = ToolRegistry::default();
        let log = Log::default();
        let is_failing = Arc::new(AtomicBool::new(true));
        let _earlier = registry.on_change({
            let (registry, log) = (registry.clone(), log.clone());
            move || {
                log.add(format!("{} tools", registry.view(None).len()));
                Ok(())
            }
        });
        let _failing = registry.on_change({
            let is_failing = Arc::clone(&is_failing);
            move || match is_failing.load(Ordering::SeqCst) {
                true if panics => panic!("full"),
                true => Err(ToolError::new("full")),
                false => Ok(()),
            }
        });
        let error = registry.register(echo("t")).unwrap_err();
        assert!(matches!(&error, RegisterError::ChangeListener { message } if &**message == "full"));
        assert!(registry.get("t", None).is_none());
        assert_eq!(log.take(), ["1 tools", "0 tools"], "who was told is told again");

        is_failing.store(false, Ordering::SeqCst);
        assert!(registry.register(echo("t")).is_ok(), "the name stayed free");
    }
}

#[test]
fn a_change_listener_that_fails_takes_a_filter_back() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let _tool = registry.register(echo("t")).unwrap();
    let _failing = registry.on_change(|| Err(ToolError::new("no")));
    assert!(registry.restrict(Some(&agent), Restriction::deny(["t"])).is_err());
    assert!(registry.get("t", Some(&agent)).is_some());
}

#[test]
fn a_failing_change_listener_cannot_stop_an_unregistration() {
    let registry = ToolRegistry::default();
    let tool = registry.register(echo("t")).unwrap();
    let log = Log::default();
    let _failing = registry.on_change(|| panic!("no"));
    let _later = registry.on_change({
        let log = log.clone();
        move || {
            log.add("told");
            Ok(())
        }
    });
    drop(tool);
    assert!(registry.get("t", None).is_none());
    assert_eq!(log.take(), ["told"]);
}

#[test]
fn listeners_may_change_the_registry_they_are_told_about() {
    let registry = ToolRegistry::default();
    let is_first = AtomicBool::new(true);
    let _listener = registry.on_change({
        let registry = registry.clone();
        move || {
            if is_first.swap(false, Ordering::SeqCst) {
                registry.register(echo("second")).unwrap().keep();
            }
            Ok(())
        }
    });
    let _first = registry.register(echo("first")).unwrap();
    assert!(registry.get("second", None).is_some());
}

#[test]
fn a_definition_that_registers_when_dropped_does_not_deadlock() {
    struct OnDrop(ToolRegistry);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.register(echo("successor")).unwrap().keep();
        }
    }
    let registry = ToolRegistry::default();
    let on_drop = OnDrop(registry.clone());
    let tool = echo("t").execute(move |args, _| {
        let _owned = &on_drop;
        async move { Ok(args) }
    });
    registry.register(tool).unwrap().dispose();
    assert!(registry.get("successor", None).is_some());
}

#[test]
fn tools_of_an_agent_that_is_gone_are_forgotten() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let token = Arc::new(());
    let held = Arc::clone(&token);
    let tool = echo("t").execute(move |args, _| {
        let _held = &held;
        async move { Ok(args) }
    });
    registry.register_for(&agent, tool).unwrap().keep();
    drop(agent);
    let _next_change = registry.register(echo("u")).unwrap();
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_typed_tool_has_derived_schemas_and_validates() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {
        count: u8,
    }
    let registry = ToolRegistry::default();
    let tool = ToolDefinition::typed("stars", "Prints stars", |args: Args, _| async move {
        Ok("*".repeat(args.count.into()))
    });
    let _kept = registry.register(tool).unwrap();
    let result = run(registry.execute(code_mode_registry::ToolCall::new("1", "stars", json!({"count": 3}))));
    assert_eq!(result.text(), "***", "a string is rendered raw");
    assert_eq!(result.value(), Some(&json!("***")));

    let result = run(registry.execute(call("stars")));
    assert!(result.text().starts_with("Error: invalid arguments: "), "{}", result.text());
    assert_eq!(crate::support::code(&result).as_deref(), Some("INVALID_ARGS"));
}

#[test]
fn a_type_may_refuse_more_than_its_schema_says() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {
        #[schemars(with = "String")]
        address: std::net::IpAddr,
    }
    let registry = ToolRegistry::default();
    let tool = ToolDefinition::typed("ping", "", |args: Args, _| async move { Ok(args.address.to_string()) });
    let _kept = registry.register(tool).unwrap();
    let ping = |address: &str| {
        let call = code_mode_registry::ToolCall::new("1", "ping", json!({"address": address}));
        run(registry.execute(call))
    };
    assert_eq!(ping("::1").text(), "::1");
    let refused = ping("here");
    assert_eq!(crate::support::code(&refused).as_deref(), Some("INVALID_ARGS"));
    assert!(refused.text().contains("address"), "{}", refused.text());
}

#[test]
fn a_typed_tool_renders_other_values_as_compact_json() {
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Out {
        a: u8,
        b: Vec<bool>,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct NoArgs {}
    let registry = ToolRegistry::default();
    let tool = ToolDefinition::typed("t", "", |_: NoArgs, _| async move { Ok(Out { a: 1, b: vec![true] }) });
    let _kept = registry.register(tool).unwrap();
    assert_eq!(execute(&registry, "t").text(), r#"{"a":1,"b":[true]}"#);
}

#[test]
fn a_typed_tools_output_schema_is_what_it_writes() {
    /// The default is for reading; what is written always has the count.
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Found {
        #[serde(default)]
        count: u32,
    }
    let tool = ToolDefinition::typed("t", "", |(), _| async { Ok(Found { count: 2 }) }).build();
    let schema = tool.output_schema().unwrap().document();
    assert_eq!(schema.get("required"), Some(&json!(["count"])));
}

#[test]
fn listeners_of_an_agent_that_is_gone_are_forgotten() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let token = Arc::new(());
    let held = Arc::clone(&token);
    registry.hooks().for_agent(&agent).on_result(move |_, _| drop(Arc::clone(&held))).keep();
    drop(agent);
    let _next = registry.on_result(|_, _| {});
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn what_many_agents_left_is_forgotten_too() {
    let registry = ToolRegistry::default();
    let token = Arc::new(());
    let agents: Vec<_> = (0..1_000).map(|_| Agent::new("a")).collect();
    for agent in &agents {
        let held = Arc::clone(&token);
        let tool = echo("t").execute(move |args, _| {
            let _held = &held;
            async move { Ok(args) }
        });
        registry.register_for(agent, tool).unwrap().keep();
    }
    assert_eq!(Arc::strong_count(&token), 1_001);
    drop(agents);
    for _ in 0..100 {
        registry.register(echo("u")).unwrap().dispose();
    }
    assert_eq!(Arc::strong_count(&token), 1);
}
