//! Contract 2.4 and 3.5: guards are monotonic, ordered and live.

use std::sync::{Arc, Mutex};

use code_mode_registry::{Agent, PreDecision, Registration, ToolError, ToolExecution, ToolRegistry};

use crate::support::{Log, call, check_failure, echo, execute, run};

struct Setup {
    registry: ToolRegistry,
    agent: Agent,
    log: Log,
}

impl Setup {
    fn new() -> Self {
        let registry = ToolRegistry::default();
        registry.register(echo("t")).unwrap().keep();
        Self { registry, agent: Agent::new("a"), log: Log::default() }
    }

    /// A guard that notes its name and has no objection.
    fn note(&self, name: &str) -> impl Fn(&ToolExecution) -> Option<String> + Send + Sync + 'static {
        let (log, name) = (self.log.clone(), name.to_owned());
        move |_| {
            log.add(&name);
            None
        }
    }

    fn object(&self, name: &str) -> impl Fn(&ToolExecution) -> Option<String> + Send + Sync + 'static {
        let note = self.note(name);
        let reason = format!("{name} objects");
        move |execution| note(execution).or(Some(reason.clone()))
    }

    fn execute(&self) -> Arc<code_mode_registry::ToolResult> {
        run(self.registry.execute(call("t").with_agent(self.agent.clone())))
    }
}

#[test]
fn global_guards_run_first_then_the_agents_each_in_order() {
    let setup = Setup::new();
    let scoped = setup.registry.scoped(&setup.agent);
    let _scoped = [scoped.guard(setup.note("s1")), scoped.guard(setup.note("s2"))];
    let _global = [setup.registry.guard(setup.note("g1")), setup.registry.guard(setup.note("g2"))];
    assert!(!setup.execute().is_error());
    assert_eq!(setup.log.take(), ["g1", "g2", "s1", "s2"]);
}

#[test]
fn a_scoped_guard_sees_no_other_agents_calls() {
    let setup = Setup::new();
    let _guard = setup.registry.scoped(&setup.agent).guard(setup.object("s"));
    assert!(!execute(&setup.registry, "t").is_error(), "a call without an agent");
    let other = call("t").with_agent(Agent::new("a"));
    assert!(!run(setup.registry.execute(other)).is_error());
    assert!(setup.execute().is_error());
}

#[test]
fn the_first_reason_denies_and_ends_the_pass() {
    let setup = Setup::new();
    let _guards = [
        setup.registry.guard(setup.note("g1")),
        setup.registry.guard(setup.object("g2")),
        setup.registry.guard(setup.object("g3")),
    ];
    check_failure(&setup.execute(), "g2 objects", None);
    assert_eq!(setup.log.take(), ["g1", "g2"]);
}

#[test]
fn a_guard_cannot_allow_what_a_policy_denied() {
    let setup = Setup::new();
    let _policy = setup.registry.on_pre_execute(|_, _| async { Ok(PreDecision::deny("policy")) });
    let _guard = setup.registry.guard(setup.note("g"));
    check_failure(&setup.execute(), "policy", None);
    assert_eq!(setup.log.take(), [""; 0], "guards look at allowed calls only");
}

#[test]
fn a_guard_that_fails_or_panics_fails_the_call_finally() {
    let setup = Setup::new();
    let _post = setup.registry.on_post_execute({
        let log = setup.log.clone();
        move |_, _, next| {
            log.add("post");
            async move { next.call().await }
        }
    });
    let guard = setup.registry.guard(|_: &ToolExecution| Err::<Option<String>, _>(ToolError::new("broken")));
    check_failure(&setup.execute(), "broken", None);
    drop(guard);
    let _guard = setup.registry.guard(|_: &ToolExecution| -> Option<String> { panic!("boom") });
    check_failure(&setup.execute(), "boom", None);
    assert_eq!(setup.log.take(), [""; 0], "no post-policy sees it");
}

#[test]
fn a_guard_added_during_the_pass_runs_in_it() {
    let setup = Setup::new();
    let added: Arc<Mutex<Vec<Registration>>> = Arc::default();
    let _adding = setup.registry.guard({
        let (registry, agent, added) = (setup.registry.clone(), setup.agent.clone(), Arc::clone(&added));
        let (global, scoped) = (Arc::new(setup.note("late global")), Arc::new(setup.note("late scoped")));
        move |_: &ToolExecution| {
            let (global, scoped) = (Arc::clone(&global), Arc::clone(&scoped));
            let mut added = added.lock().unwrap();
            added.push(registry.guard(move |execution: &ToolExecution| global(execution)));
            added.push(registry.scoped(&agent).guard(move |execution: &ToolExecution| scoped(execution)));
            None::<String>
        }
    });
    let _second = setup.registry.guard(setup.note("second"));
    assert!(!setup.execute().is_error());
    assert_eq!(setup.log.take(), ["second", "late global", "late scoped"]);
}

#[test]
fn a_guard_removed_during_the_pass_does_not_run() {
    let setup = Setup::new();
    let victim: Arc<Mutex<Option<Registration>>> = Arc::default();
    let _killer = setup.registry.guard({
        let victim = Arc::clone(&victim);
        move |_: &ToolExecution| {
            victim.lock().unwrap().take();
            None::<String>
        }
    });
    *victim.lock().unwrap() = Some(setup.registry.guard(setup.object("victim")));
    assert!(!setup.execute().is_error());
}

#[test]
fn a_layer_that_drained_to_empty_starts_a_new_generation() {
    let setup = Setup::new();
    let only: Arc<Mutex<Option<Registration>>> = Arc::default();
    let guard = setup.registry.guard({
        let (registry, only) = (setup.registry.clone(), Arc::clone(&only));
        let late = Arc::new(setup.note("new generation"));
        move |_: &ToolExecution| {
            let late = Arc::clone(&late);
            let mut only = only.lock().unwrap();
            drop(only.take());
            *only = Some(registry.guard(move |execution: &ToolExecution| late(execution)));
            None::<String>
        }
    });
    *only.lock().unwrap() = Some(guard);
    assert!(!setup.execute().is_error());
    assert_eq!(setup.log.take(), [""; 0], "not in this pass");
    assert!(!setup.execute().is_error());
    assert_eq!(setup.log.take(), ["new generation"]);
}
