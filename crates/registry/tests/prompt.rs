//! Contract 8 and decision 25: sections, tools on the wire, variables.

use code_mode_registry::{
    Agent, Assembly, ConfigError, Mode, PromptError, RegistryConfig, Restriction, Section, SectionError,
    SystemSection, ToolError, ToolRegistry, Transport, UNLISTED_TOOLS, Variable, Variables, prompt::places,
};
use code_mode_schema::{LosslessError, Lossy, json};

use crate::support::{Log, echo, registry_in, run};

fn with_tools(registry: &ToolRegistry, names: &[&str]) {
    for name in names {
        registry.register(echo(name)).unwrap().keep();
    }
}

fn with_runtime(registry: &ToolRegistry) {
    registry.install_transport(echo("run_code").build()).unwrap().keep();
}

fn add(registry: &ToolRegistry, name: &str, order: i32, text: &str) {
    registry.add_section(None, Section::text(name, order, text)).unwrap().keep();
}

fn assemble(registry: &ToolRegistry, agent: Option<&Agent>) -> Assembly {
    run(registry.assemble(agent)).unwrap()
}

#[track_caller]
fn check_tools(registry: &ToolRegistry, expected: &[&str]) {
    let assembly = assemble(registry, None);
    let names: Vec<_> = assembly.tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, expected);
}

#[track_caller]
fn check_sections(registry: &ToolRegistry, agent: Option<&Agent>, expected: &[(&str, &str)]) {
    let assembly = assemble(registry, agent);
    let sections: Vec<_> =
        assembly.system_sections.iter().map(|section| (&*section.name, &*section.text)).collect();
    assert_eq!(sections, expected);
}

#[track_caller]
fn check_refused(registry: &ToolRegistry, fragments: &[&str]) -> PromptError {
    let error = run(registry.assemble(None)).unwrap_err();
    for fragment in fragments {
        assert!(error.to_string().contains(fragment), "{error}");
    }
    error
}

// Sections.

#[test]
fn sections_are_sorted_by_order_and_stable() {
    let registry = ToolRegistry::default();
    add(&registry, "late", 200, "1");
    add(&registry, places::PERSONA.0, places::PERSONA.1, "2");
    add(&registry, "first of 100", 100, "3");
    add(&registry, "second of 100", 100, "4");
    add(&registry, places::IDENTITY.0, places::IDENTITY.1, "5");
    let expected = [
        ("harness:identity", "5"),
        ("deployment:persona", "2"),
        ("first of 100", "3"),
        ("second of 100", "4"),
        ("late", "1"),
    ];
    check_sections(&registry, None, &expected);
}

#[test]
fn a_scoped_section_replaces_the_global_one_for_its_agent() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    add(&registry, "a", 1, "global a");
    add(&registry, "b", 1, "global b");
    let own = registry.add_section(Some(&agent), Section::text("a", 1, "own a")).unwrap();
    let _other = registry.add_section(Some(&agent), Section::text("c", 0, "own c")).unwrap();
    check_sections(&registry, Some(&agent), &[("c", "own c"), ("a", "own a"), ("b", "global b")]);
    check_sections(&registry, None, &[("a", "global a"), ("b", "global b")]);
    drop(own);
    check_sections(&registry, Some(&agent), &[("c", "own c"), ("a", "global a"), ("b", "global b")]);
}

#[test]
fn a_section_name_is_free_once_per_layer() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let section = || Section::text("s", 0, "");
    let first = registry.add_section(None, section()).unwrap();
    let error = registry.add_section(None, section()).unwrap_err();
    assert_eq!(error, SectionError::AlreadyRegistered { name: "s".into() });
    let _own = registry.add_section(Some(&agent), section()).unwrap();
    assert!(registry.add_section(Some(&agent), section()).is_err());
    drop(first);
    assert!(registry.add_section(None, section()).is_ok());
}

#[test]
fn a_made_section_is_made_anew_at_each_assembly_for_whom_it_is() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("alice");
    with_tools(&registry, &["a"]);
    let made = Section::made("s", 0, |context| {
        let name = context.scope.as_ref().map_or("nobody", Agent::name);
        Ok(format!("{name} sees {} tools in {:?}", context.tools.len(), context.mode))
    });
    let _section = registry.add_section(None, made).unwrap();
    check_sections(&registry, None, &[("s", "nobody sees 1 tools in Native")]);
    with_tools(&registry, &["b"]);
    check_sections(&registry, Some(&agent), &[("s", "alice sees 2 tools in Native")]);
}

#[test]
fn a_section_that_fails_or_panics_fails_the_assembly() {
    let registry = ToolRegistry::default();
    let failing =
        registry.add_section(None, Section::made("s", 0, |_| Err(ToolError::new("no text")))).unwrap();
    check_refused(&registry, &["prompt section \"s\" failed: no text"]);
    drop(failing);
    let _panicking = registry.add_section(None, Section::made("s", 0, |_| panic!("boom"))).unwrap();
    check_refused(&registry, &["prompt section \"s\" failed: boom"]);
}

#[test]
fn rendering_joins_with_a_blank_line_and_drops_the_empty() {
    let registry = ToolRegistry::default();
    add(&registry, "a", 0, "first\nline");
    add(&registry, "b", 1, "");
    add(&registry, "c", 2, "{{nothing}}");
    add(&registry, "d", 3, "last");
    let _nothing = registry.add_variable(None, Variable::text("nothing", "")).unwrap();
    let prompt = assemble(&registry, None).render(&registry.variables(None)).unwrap();
    assert_eq!(prompt, "first\nline\n\nlast");
}

// Modes.

#[test]
fn native_puts_every_visible_tool_on_the_wire() {
    let registry = ToolRegistry::default();
    with_tools(&registry, &["b", "a"]);
    check_tools(&registry, &["a", "b"]);
    check_sections(&registry, None, &[]);
}

#[test]
fn code_puts_only_run_code_on_the_wire_and_says_so() {
    let registry = registry_in(Mode::Code);
    with_runtime(&registry);
    with_tools(&registry, &["b", "a"]);
    check_tools(&registry, &["run_code"]);
    let text = "`run_code` is the only tool you can call directly — a tool call naming any other tool fails. \
                Reach every tool the SDK declares below from inside the program.";
    check_sections(&registry, None, &[("tools:code-only", text)]);
    assert_eq!(assemble(&registry, None).system_sections[0].order, 99);
}

#[test]
fn both_puts_everything_on_the_wire() {
    let registry = registry_in(Mode::Both);
    with_runtime(&registry);
    with_tools(&registry, &["z", "a"]);
    check_tools(&registry, &["a", "run_code", "z"]);
    check_sections(&registry, None, &[]);
}

#[test]
fn a_mode_with_programs_requires_a_runtime_of_the_right_language() {
    for mode in [Mode::Code, Mode::Both] {
        let registry = registry_in(mode);
        check_refused(&registry, &["requires a code runtime", mode.as_str()]);
        let python = Transport::new(echo("run_code"), "python");
        let _kept = registry.install_transport(python).unwrap();
        check_refused(&registry, &["language is \"python\""]);
    }
}

#[test]
fn a_restricted_tool_is_not_on_the_wire() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    with_tools(&registry, &["a", "b"]);
    let _deny = registry.restrict(Some(&agent), Restriction::deny(["a"])).unwrap();
    let assembly = assemble(&registry, Some(&agent));
    assert_eq!(assembly.tools.len(), 1);
    check_tools(&registry, &["a", "b"]);
}

#[test]
fn lossy_parameters_fail_the_assembly_that_needs_them() {
    let lossy = || echo("t").parameters(Err(LosslessError::new("x", Lossy::NotANumber)));
    let native = ToolRegistry::default();
    native.register(lossy()).unwrap().keep();
    check_refused(&native, &["parameters must be lossless JSON"]);
}

// Order on the wire.

#[test]
fn the_wire_order_is_by_code_unit() {
    let registry = ToolRegistry::default();
    with_tools(&registry, &["b", "a", "B", "a1", "\u{ffff}", "\u{10000}", ""]);
    check_tools(&registry, &["", "B", "a", "a1", "b", "\u{10000}", "\u{ffff}"]);
}

fn ordered(mode: Mode, order: &[&str]) -> ToolRegistry {
    let config = RegistryConfig::new(mode).with_tool_order(order.iter().copied());
    ToolRegistry::new(config).unwrap()
}

#[test]
fn tool_order_puts_the_rest_at_its_marker() {
    let registry = ordered(Mode::Native, &["z", UNLISTED_TOOLS, "a"]);
    with_tools(&registry, &["a", "c", "z", "b"]);
    check_tools(&registry, &["z", "b", "c", "a"]);
}

#[test]
fn tool_order_is_checked_at_load() {
    let refused = |order: &[&str]| {
        let config = RegistryConfig::default().with_tool_order(order.iter().copied());
        ToolRegistry::new(config).unwrap_err()
    };
    let twice = refused(&["a", UNLISTED_TOOLS, "a"]);
    assert_eq!(twice, ConfigError::DuplicateInToolOrder { name: "a".into() });
    assert!(twice.to_string().contains("more than once"));
    assert!(refused(&[UNLISTED_TOOLS, UNLISTED_TOOLS]).to_string().contains("more than once"));
    assert!(refused(&["a"]).to_string().contains("rest entry"));
    assert!(refused(&[]).to_string().contains("rest entry"));
}

#[test]
fn tool_order_refuses_unknown_names_at_assembly() {
    let registry = ordered(Mode::Native, &["x", UNLISTED_TOOLS]);
    with_tools(&registry, &["b", "a"]);
    check_refused(&registry, &[r#"toolOrder lists unregistered tool "x""#, "known tools: a, b"]);
    let registry = ordered(Mode::Native, &["x", UNLISTED_TOOLS, "y"]);
    check_refused(&registry, &[r#"toolOrder lists unregistered tools "x", "y""#]);
}

#[test]
fn each_mode_has_its_legal_names_in_tool_order() {
    let legal = |mode: Mode, name: &str| {
        let registry = ordered(mode, &[name, UNLISTED_TOOLS]);
        if mode != Mode::Native {
            with_runtime(&registry);
        }
        with_tools(&registry, &["t"]);
        run(registry.assemble(None)).is_ok()
    };
    assert!(legal(Mode::Native, "t"));
    assert!(!legal(Mode::Native, "run_code"));
    assert!(!legal(Mode::Code, "t"));
    assert!(legal(Mode::Code, "run_code"));
    assert!(legal(Mode::Both, "t"));
    assert!(legal(Mode::Both, "run_code"));
}

#[test]
fn a_restricted_name_may_be_absent_silently() {
    let registry = ordered(Mode::Native, &["a", UNLISTED_TOOLS]);
    let agent = Agent::new("a");
    with_tools(&registry, &["a", "b"]);
    let _deny = registry.restrict(Some(&agent), Restriction::deny(["a"])).unwrap();
    assert_eq!(assemble(&registry, Some(&agent)).tools.len(), 1);
}

#[test]
fn a_tool_named_like_the_rest_entry_is_refused() {
    let registry = ToolRegistry::default();
    with_tools(&registry, &[UNLISTED_TOOLS]);
    assert!(matches!(check_refused(&registry, &[]), PromptError::RestEntryAsName));
}

// Listeners.

#[test]
fn an_assemble_listener_has_the_last_word() {
    let registry = registry_in(Mode::Code);
    with_runtime(&registry);
    let _listener = registry.hooks().on_assemble(|assembled, context, next| async move {
        assert_eq!(assembled.tools.len(), 1);
        assert_eq!(context.mode, Mode::Code);
        let mut assembly = next.call().await?;
        assembly.tools.clear();
        assembly.system_sections = vec![SystemSection { name: "only".into(), order: 0, text: "this".into() }];
        Ok(assembly)
    });
    check_tools(&registry, &[]);
    check_sections(&registry, None, &[("only", "this")]);
}

#[test]
fn assemble_listeners_are_scoped_and_nest() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    let log = Log::default();
    let note = |name: &'static str| {
        let log = log.clone();
        move |_, _, next: code_mode_registry::Next<Assembly>| {
            log.add(name);
            async move { next.call().await }
        }
    };
    let _outer = registry.hooks().on_assemble(note("outer"));
    let _scoped = registry.hooks().for_agent(&agent).on_assemble(note("scoped"));
    assemble(&registry, None);
    assert_eq!(log.take(), ["outer"]);
    assemble(&registry, Some(&agent));
    assert_eq!(log.take(), ["outer", "scoped"]);
}

#[test]
fn a_failing_assemble_listener_fails_the_assembly() {
    let registry = ToolRegistry::default();
    let _failing = registry.hooks().on_assemble(|_, _, _| async { panic!("boom") });
    check_refused(&registry, &["boom"]);
}

// Variables.

#[track_caller]
fn check_rendered(text: &str, expected: &str) {
    let assembly = Assembly {
        system_sections: vec![SystemSection { name: "s".into(), order: 0, text: text.into() }],
        tools: Vec::new(),
    };
    let variables: Variables =
        [Variable::text("name", "{{other}}"), Variable::text("a.b-c:d_1", "odd")].into_iter().collect();
    assert_eq!(assembly.render(&variables).unwrap(), expected, "{text}");
}

#[test]
fn variables_are_put_in_once() {
    check_rendered("{{name}} and {{a.b-c:d_1}}", "{{other}} and odd");
    check_rendered("{{{name}}}", "{{{other}}}");
    check_rendered("{ {name} } {{ name }} {{}} {{", "{ {name} } {{ name }} {{}} {{");
    check_rendered("{{na", "{{na");
    check_rendered("ä{{name}}ö", "ä{{other}}ö");
}

#[test]
fn an_unknown_variable_fails_the_rendering_also_in_the_sdk() {
    let registry = ToolRegistry::default();
    add(&registry, places::SDK.0, places::SDK.1, "/** about {{x}} */");
    let error = assemble(&registry, None).render(&registry.variables(None)).unwrap_err();
    assert_eq!(error.to_string(), r#"unknown prompt variable "{{x}}" in section "tools:sdk""#);
}

#[test]
fn variables_are_made_scoped_and_contained() {
    let registry = ToolRegistry::default();
    let agent = Agent::new("a");
    add(&registry, "s", 0, "{{who}}");
    let render = |agent| assemble(&registry, agent).render(&registry.variables(agent));
    let _global = registry.add_variable(None, Variable::made("who", || Ok("all".into()))).unwrap();
    let own = registry.add_variable(Some(&agent), Variable::text("who", "one")).unwrap();
    assert_eq!(render(None).unwrap(), "all");
    assert_eq!(render(Some(&agent)).unwrap(), "one");
    drop(own);
    let _panics = registry.add_variable(Some(&agent), Variable::made("who", || panic!("boom"))).unwrap();
    let error = render(Some(&agent)).unwrap_err();
    assert_eq!(error.to_string(), r#"prompt variable "{{who}}" failed: boom"#);
}

// Plain data.

#[test]
fn an_assembly_is_plain_data_and_fits_the_usual_requests() {
    let registry = ToolRegistry::default();
    let parameters = json!({"type": "object", "properties": {}});
    registry.register(echo("t").description("d").parameters(parameters.clone())).unwrap().keep();
    add(&registry, "s", 1, "text");
    let assembly = assemble(&registry, None);
    let wire = json!({
        "systemSections": [{"name": "s", "order": 1, "text": "text"}],
        "tools": [{"name": "t", "description": "d", "parameters": parameters.clone()}],
    });
    assert_eq!(code_mode_schema::to_json(&assembly).unwrap(), wire);
    assert_eq!(code_mode_schema::from_json::<Assembly>(&wire).unwrap(), assembly);
    let function = json!({"name": "t", "description": "d", "parameters": parameters.clone()});
    assert_eq!(assembly.to_function_tools(), json!([{"type": "function", "function": function}]));
    assert_eq!(
        assembly.to_message_tools(),
        json!([{"name": "t", "description": "d", "input_schema": parameters.clone()}])
    );
    assert_eq!(
        assembly.to_mcp_tools(),
        json!([{"name": "t", "description": "d", "inputSchema": parameters}])
    );
}
