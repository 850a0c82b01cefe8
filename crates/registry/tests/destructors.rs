//! What was registered is somebody else's and so are its destructors: they run outside of every lock, and what panics in
//! one is contained.

use std::sync::{Arc, Mutex};

use code_mode_registry::{
    Agent, Registration, ToolDefinition, ToolError, ToolExecution, ToolRegistry,
    prompt::{Section, Variable},
};

use crate::support::{echo, execute};

/// Registers a tool when it is dropped.
struct Successor(ToolRegistry, &'static str);

impl Drop for Successor {
    fn drop(&mut self) {
        self.0.register(echo(self.1)).unwrap().keep();
    }
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("broken destructor");
    }
}

/// A tool called `t` that owns `owned`.
fn tool_with(owned: impl Send + Sync + 'static) -> ToolDefinition {
    let tool = echo("t").execute(move |args, _| {
        let _owned = &owned;
        async move { Ok(args) }
    });
    tool.build()
}

fn section_with(owned: impl Send + Sync + 'static) -> Section {
    Section::made("s", 1, move |_| {
        let _owned = &owned;
        Ok(String::new())
    })
}

fn variable_with(owned: impl Send + Sync + 'static) -> Variable {
    Variable::made("v", move || {
        let _owned = &owned;
        Ok(String::new())
    })
}

#[track_caller]
fn check_succeeded(registry: &ToolRegistry, name: &str) {
    assert!(registry.get(name, None).is_some(), "{name} was not registered");
}

#[test]
fn what_is_refused_is_dropped_outside_of_the_lock() {
    let registry = ToolRegistry::default();
    let successor = |name| Successor(registry.clone(), name);
    let _taken = registry.register(echo("t")).unwrap();
    let _section = registry.add_section(None, section_with(())).unwrap();
    let _variable = registry.add_variable(None, variable_with(())).unwrap();
    let _ = registry.register(tool_with(successor("after tool"))).unwrap_err();
    let _ = registry.add_section(None, section_with(successor("after section"))).unwrap_err();
    let _ = registry.add_variable(None, variable_with(successor("after variable"))).unwrap_err();
    for name in ["after tool", "after section", "after variable"] {
        check_succeeded(&registry, name);
    }
}

#[test]
fn what_an_agent_left_behind_is_dropped_outside_of_the_lock() {
    let registry = ToolRegistry::default();
    let successor = |name| Successor(registry.clone(), name);
    let agent = Agent::new("a");
    let guard = successor("after guard");
    registry
        .scoped(&agent)
        .guard(move |_: &ToolExecution| {
            let _owned = &guard;
            None::<String>
        })
        .keep();
    registry.add_section(Some(&agent), section_with(successor("after section"))).unwrap().keep();
    registry.add_variable(Some(&agent), variable_with(successor("after variable"))).unwrap().keep();
    drop(agent);
    registry.register(echo("t")).unwrap().keep();
    registry.add_section(None, section_with(())).unwrap().keep();
    registry.add_variable(None, variable_with(())).unwrap().keep();
    for name in ["after guard", "after section", "after variable"] {
        check_succeeded(&registry, name);
    }
}

#[test]
fn a_destructor_that_panics_stops_no_other_end() {
    let registry = ToolRegistry::default();
    let first = registry.register(echo("first")).unwrap();
    let broken = registry.register(tool_with(PanicsWhenDropped)).unwrap();
    let owned = PanicsWhenDropped;
    let listener = registry.on_result(move |_, _| {
        let _owned = &owned;
    });
    let last = registry.register(echo("last")).unwrap();
    first.and(broken).and(listener).and(last).dispose();
    assert!(registry.view(None).is_empty());
}

#[test]
fn a_definition_whose_destructors_panic_fails_no_call() {
    let registry = ToolRegistry::default();
    let own: Arc<Mutex<Option<Registration>>> = Arc::default();
    let (itself, bodys, renderers, finalizers) =
        (Arc::clone(&own), PanicsWhenDropped, PanicsWhenDropped, PanicsWhenDropped);
    let tool = echo("t")
        .render(move |_, value| {
            let _owned = &renderers;
            value.to_text()
        })
        .finalize_content(move |_, _| {
            let _owned = &finalizers;
            Ok::<_, ToolError>(None)
        })
        .execute(move |args, _| {
            let _owned = &bodys;
            // The call that runs is the last to hold it.
            drop(itself.lock().unwrap().take());
            async move { Ok(args) }
        });
    let registration = registry.register(tool).unwrap();
    *own.lock().unwrap() = Some(registration);
    assert_eq!(execute(&registry, "t").text(), r#"{"x":1}"#);
    assert!(registry.get("t", None).is_none());
}

#[test]
fn a_guard_that_removes_itself_and_panics_when_dropped_fails_no_call() {
    let registry = ToolRegistry::default();
    registry.register(echo("t")).unwrap().keep();
    let own: Arc<Mutex<Option<Registration>>> = Arc::default();
    let (itself, owned) = (Arc::clone(&own), PanicsWhenDropped);
    let guard = registry.guard(move |_: &ToolExecution| {
        let _owned = &owned;
        drop(itself.lock().unwrap().take());
        None::<String>
    });
    *own.lock().unwrap() = Some(guard);
    assert_eq!(execute(&registry, "t").text(), r#"{"x":1}"#);
}
