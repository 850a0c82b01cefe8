//! Contract 2.3 and 2.4: filters, views, schemas.

use std::sync::Arc;

use code_mode_registry::{
    Agent, Mode, RestrictError, Restriction, ToolDefinition, ToolRegistry, ToolSchema, Transport,
};
use code_mode_schema::{Json, LosslessError, Lossy, json};

use crate::support::{Log, check_failure, echo, execute, registry_in, run};

struct Setup {
    registry: ToolRegistry,
    agent: Agent,
}

impl Setup {
    fn new(globals: &[&str]) -> Self {
        let registry = ToolRegistry::default();
        for name in globals {
            registry.register(echo(name)).unwrap().keep();
        }
        Self { registry, agent: Agent::new("agent") }
    }

    /// The names an agent sees must be the same in every way of looking.
    #[track_caller]
    fn check_view(&self, expected: &[&str]) {
        let view = self.registry.view(Some(&self.agent));
        let names: Vec<_> = view.iter().map(ToolDefinition::name).collect();
        assert_eq!(names, expected);
        let schemas = self.registry.schemas(Some(&self.agent)).unwrap();
        let names: Vec<_> = schemas.iter().map(|schema| schema.name.as_ref()).collect();
        assert_eq!(names, expected);
        for name in expected {
            assert!(self.registry.get(name, Some(&self.agent)).is_some(), "{name}");
        }
    }

    #[track_caller]
    fn check_refused(&self, restriction: Restriction, fragments: &[&str]) {
        let error = self.registry.restrict(Some(&self.agent), restriction).unwrap_err();
        for fragment in fragments {
            assert!(error.to_string().contains(fragment), "{error}");
        }
    }
}

#[test]
fn restrict_needs_an_agent() {
    let setup = Setup::new(&["a"]);
    let error = setup.registry.restrict(None, Restriction::default()).unwrap_err();
    assert_eq!(error, RestrictError::RequiresScope);
    assert!(error.to_string().contains("requires a scoped context"));
}

#[test]
fn restrict_needs_a_field() {
    Setup::new(&["a"]).check_refused(Restriction::default(), &["no-op"]);
}

#[test]
fn restrict_cannot_name_the_transport() {
    let fragment = "cannot name reserved Code Mode presentation transport";
    for mode in [Mode::Code, Mode::Both] {
        let registry = registry_in(mode);
        let agent = Agent::new("a");
        for restriction in [
            Restriction::deny(["unknown", "run_code"]),
            Restriction::allow(["run_code"]),
            Restriction::allow(["unknown"]).and_deny(["run_code"]),
        ] {
            let error = registry.restrict(Some(&agent), restriction).unwrap_err();
            assert_eq!(error, RestrictError::Reserved, "before unknown names");
            assert!(error.to_string().contains(fragment));
        }
    }
    Setup::new(&["a"]).check_refused(Restriction::deny(["run_code"]), &["unknown global tool"]);
}

#[test]
fn restrict_refuses_names_that_are_no_global_tools() {
    let setup = Setup::new(&["b", "a"]);
    let _local = setup.registry.register_for(&setup.agent, echo("local")).unwrap();
    setup
        .check_refused(Restriction::deny(["x"]), &[r#"unknown global tool "x""#, "known global tools: a, b"]);
    setup.check_refused(
        Restriction::allow(["x", "a"]).and_deny(["y", "x"]),
        &[r#"unknown global tools "x", "y""#],
    );
    setup.check_refused(Restriction::deny(["local"]), &[r#"unknown global tool "local""#]);
    Setup::new(&[]).check_refused(Restriction::deny(["x"]), &["known global tools: (none)"]);
}

#[test]
fn filters_intersect_and_lift_one_by_one() {
    let setup = Setup::new(&["a", "b", "c", "d"]);
    let scoped = setup.registry.scoped(&setup.agent);
    let allow = scoped.restrict(Restriction::allow(["a", "b", "c"])).unwrap();
    let deny = scoped.restrict(Restriction::deny(["b"])).unwrap();
    let both = scoped.restrict(Restriction::allow(["c", "a"]).and_deny(["a"])).unwrap();
    setup.check_view(&["c"]);
    drop(both);
    setup.check_view(&["a", "c"]);
    drop(allow);
    setup.check_view(&["a", "c", "d"]);
    drop(deny);
    setup.check_view(&["a", "b", "c", "d"]);
}

#[test]
fn an_empty_allow_list_hides_every_global() {
    let setup = Setup::new(&["a"]);
    let _local = setup.registry.register_for(&setup.agent, echo("local")).unwrap();
    let _none = setup.registry.scoped(&setup.agent).restrict(Restriction::allow([""; 0])).unwrap();
    setup.check_view(&["local"]);
}

#[test]
fn a_deny_mask_lets_later_tools_in_and_an_allow_mask_does_not() {
    let setup = Setup::new(&["a", "b"]);
    let scoped = setup.registry.scoped(&setup.agent);
    let deny = scoped.restrict(Restriction::deny(["a"])).unwrap();
    let _later = setup.registry.register(echo("later")).unwrap();
    setup.check_view(&["b", "later"]);
    drop(deny);
    let _allow = scoped.restrict(Restriction::allow(["a"])).unwrap();
    let _later = setup.registry.register(echo("later still")).unwrap();
    setup.check_view(&["a"]);
}

#[test]
fn a_mask_holds_for_a_name_that_is_registered_again() {
    let setup = Setup::new(&[]);
    let first = setup.registry.register(echo("a")).unwrap();
    let _deny = setup.registry.scoped(&setup.agent).restrict(Restriction::deny(["a"])).unwrap();
    drop(first);
    let _again = setup.registry.register(echo("a")).unwrap();
    setup.check_view(&[]);
}

#[test]
fn scoped_tools_are_never_filtered_and_others_see_everything() {
    let setup = Setup::new(&["a"]);
    let _deny = setup.registry.scoped(&setup.agent).restrict(Restriction::deny(["a"])).unwrap();
    let _shadow = setup.registry.register_for(&setup.agent, echo("a")).unwrap();
    setup.check_view(&["a"]);
    assert_eq!(setup.registry.view(None).len(), 1);
    assert_eq!(setup.registry.view(Some(&Agent::new("agent"))).len(), 1);
}

#[test]
fn a_hidden_tool_executes_as_unknown() {
    let setup = Setup::new(&["a"]);
    let _deny = setup.registry.scoped(&setup.agent).restrict(Restriction::deny(["a"])).unwrap();
    let call = crate::support::call("a").with_agent(setup.agent.clone());
    let result = run(setup.registry.execute(call));
    check_failure(&result, r#"unknown tool "a""#, Some("UNKNOWN_TOOL"));
    assert!(!execute(&setup.registry, "a").is_error());
    setup.check_view(&[]);
    assert!(setup.registry.get("a", Some(&setup.agent)).is_none());
}

#[test]
fn a_view_is_globals_then_scoped_then_the_transport() {
    let registry = registry_in(Mode::Both);
    let agent = Agent::new("a");
    let transport = registry.install_transport(echo("run_code").build()).unwrap();
    for name in ["b", "a", "c"] {
        registry.register(echo(name)).unwrap().keep();
    }
    for name in ["z", "a", "y"] {
        registry.register_for(&agent, echo(name).description("scoped")).unwrap().keep();
    }
    let setup = Setup { registry, agent };
    setup.check_view(&["b", "a", "c", "z", "y", "run_code"]);
    assert_eq!(setup.registry.view(Some(&setup.agent))[1].description(), "scoped");

    let _hidden = setup.registry.scoped(&setup.agent).restrict(Restriction::deny(["a"])).unwrap();
    setup.check_view(&["b", "c", "z", "a", "y", "run_code"]);
    drop(transport);
    setup.check_view(&["b", "c", "z", "a", "y"]);
}

#[test]
fn the_transport_installed_last_is_in_force() {
    let registry = registry_in(Mode::Code);
    let install = |text: &str| {
        let transport = Transport::new(echo("run_code").description(text), "typescript");
        registry.install_transport(transport).unwrap()
    };
    let description = || registry.get("run_code", None).unwrap().description().to_owned();
    let first = install("first");
    let second = install("second");
    assert_eq!(description(), "second");
    drop(first);
    assert_eq!(description(), "second");
    let third = install("third");
    drop(third);
    assert_eq!(description(), "second");
    drop(second);
    assert!(registry.get("run_code", None).is_none());
}

#[test]
fn a_reregistered_tool_goes_to_the_end() {
    let setup = Setup::new(&[]);
    let first = setup.registry.register(echo("a")).unwrap();
    let _second = setup.registry.register(echo("b")).unwrap();
    drop(first);
    let _again = setup.registry.register(echo("a")).unwrap();
    setup.check_view(&["b", "a"]);
}

#[test]
fn schemas_carry_name_description_and_parameters_only() {
    let registry = ToolRegistry::default();
    let parameters = json!({"type": "object", "x-anything": [1, 2], "properties": {}});
    let tool = echo("t").description("d").parameters(parameters.clone());
    let _kept = registry.register(tool).unwrap();
    let schemas: Arc<[ToolSchema]> = registry.schemas(None).unwrap();
    let json = code_mode_schema::to_json(&*schemas).unwrap();
    assert_eq!(json, json!([{"name": "t", "description": "d", "parameters": parameters}]));
}

#[test]
fn schemas_survive_the_tool() {
    let registry = ToolRegistry::default();
    let kept = registry.register(echo("t")).unwrap();
    let schemas = registry.schemas(None).unwrap();
    drop(kept);
    assert_eq!(&*schemas[0].name, "t");
    assert!(registry.schemas(None).unwrap().is_empty());
}

#[test]
fn schemas_without_a_change_in_between_are_the_same_allocation() {
    let setup = Setup::new(&["a", "b"]);
    let agent = Agent::new("unknown to the registry");
    let schemas = |agent| setup.registry.schemas(agent).unwrap();
    assert!(Arc::ptr_eq(&schemas(None), &schemas(None)));
    assert!(Arc::ptr_eq(&schemas(None), &schemas(Some(&agent))), "nothing of its own");
    let _own = setup.registry.register_for(&setup.agent, echo("own")).unwrap();
    assert!(Arc::ptr_eq(&schemas(Some(&setup.agent)), &schemas(Some(&setup.agent))));
    let before = schemas(None);
    let _change = setup.registry.register(echo("c")).unwrap();
    assert!(!Arc::ptr_eq(&before, &schemas(None)));
}

#[test]
fn lossy_parameters_are_refused_at_projection_only() {
    let registry = ToolRegistry::default();
    let lossy: Result<Json, LosslessError> = Err(LosslessError::new("properties.x", Lossy::NotANumber));
    let _kept = registry.register(echo("t").parameters(lossy)).unwrap();
    assert!(!execute(&registry, "t").is_error());
    let error = registry.schemas(None).unwrap_err();
    assert!(error.to_string().contains("parameters must be lossless JSON before schema projection"));
    assert!(error.to_string().contains("properties.x is NaN"), "{error}");
    assert_eq!(registry.view(None).len(), 1);
}

#[test]
fn parameters_of_any_depth_are_projected() {
    let registry = ToolRegistry::default();
    let mut deep = json!({"type": "string"});
    for _ in 0..5_000 {
        deep = json!({"type": "array", "items": deep});
    }
    let _kept = registry.register(echo("t").parameters(deep.clone())).unwrap();
    assert_eq!(registry.schemas(None).unwrap()[0].parameters, deep);
}

#[test]
fn a_change_listener_sees_the_view_after_the_change() {
    let setup = Setup::new(&["a"]);
    let log = Log::default();
    let _watch = setup.registry.on_change({
        let (registry, agent, log) = (setup.registry.clone(), setup.agent.clone(), log.clone());
        move || {
            let view = registry.view(Some(&agent));
            log.add(view.iter().map(ToolDefinition::name).collect::<Vec<_>>().join(","));
            Ok(())
        }
    });
    let scoped = setup.registry.scoped(&setup.agent);
    let b = scoped.register(echo("b")).unwrap();
    let filter = scoped.restrict(Restriction::deny(["a"])).unwrap();
    drop(b);
    drop(filter);
    assert_eq!(log.take(), ["a,b", "b", "", "a"]);
}
