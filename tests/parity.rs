//! The suite of hooks of the registry's tests once more, with a program as the caller: stages, results, errors, host
//! events and contexts are those of a native call. Contract 3.1 to 3.12, 7.4, 7.5; decision 24.

use code_mode::registry::{BatchCall, ToolBatch};
use code_mode::{Agent, Json, Mode, ToolRegistry};

use crate::support::{Host, HostConfig};

#[path = "../crates/registry/tests/parity/scenarios.rs"]
mod scenarios;

use scenarios::{Answer, SCENARIOS, Scenario, Seen, TOOL, arguments};

/// In a batch of the model's own: the native call whose host events have a counterpart among those of programs.
fn natively(scenario: &Scenario) -> (Seen, Answer) {
    let stage = scenario.on(&ToolRegistry::default(), &Agent::new("a"));
    let batch = ToolBatch::new([BatchCall::new("1", TOOL, arguments().to_text())])
        .with_agent(stage.agent.clone())
        .with_signal(stage.stop.signal());
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = tokio.block_on(stage.registry.execute_batch(batch));
    (stage.seen(), Answer::of(&outcome.results[0].result))
}

/// From a program of an agent.
fn from_a_program(scenario: &Scenario) -> (Seen, Answer) {
    let host = Host::made(HostConfig { mode: Mode::Both, ..HostConfig::default() });
    let stage = scenario.on(&host.registry, &host.agent);
    let program = format!(
        "return tools.{TOOL}({}).then((value) => ({{ value }}), (error) => ({{ message: error.message }}))",
        arguments().to_text()
    );
    let run = host.run_call(host.call(&program).with_signal(stage.stop.signal()));
    let returned = run.result.value().and_then(|value| value.get("result"));
    let message = returned.and_then(|returned| returned.get("message")).and_then(Json::as_str);
    let value = returned.and_then(|returned| returned.get("value")).cloned();
    let answer = Answer {
        outcome: value.ok_or_else(|| message.unwrap_or_default().to_owned()),
        contexts: run.result.additional_contexts().to_vec(),
    };
    (stage.seen(), answer)
}

#[test]
fn hooks_see_the_same_of_a_native_call_and_of_a_programs() {
    for scenario in SCENARIOS {
        let (expected, answer) = natively(scenario);
        let (seen, programs_answer) = from_a_program(scenario);
        assert_eq!(seen, expected, "{}", scenario.name);
        if !scenario.cancels {
            assert_eq!(programs_answer, answer, "{}", scenario.name);
        }
    }
}
