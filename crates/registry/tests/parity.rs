//! The same hooks see the same of a call, whoever makes it: `execute`, a batch, or a pool on behalf of a program.

use std::sync::{Arc, mpsc};

use crate::support::{execute, run};
use code_mode_registry::{
    Agent, BatchCall, ToolBatch, ToolCall, ToolRegistry, ToolResult,
    scheduler::{CallObserver, CallPool, CommitOrder, PoolConfig},
};

mod scenarios;

use scenarios::{Answer, SCENARIOS, Scenario, Seen, Stage, TOOL, Told, arguments};

/// Makes the one call of a scenario.
type Caller = fn(&Stage) -> Answer;

fn native(stage: &Stage) -> Answer {
    Answer::of(&run(stage.registry.execute(call(stage))))
}

fn call(stage: &Stage) -> ToolCall {
    ToolCall::new("1", TOOL, arguments()).with_agent(stage.agent.clone()).with_signal(stage.stop.signal())
}

fn batched(stage: &Stage) -> Answer {
    let batch = ToolBatch::new([BatchCall::new("1", TOOL, arguments().to_text())])
        .with_agent(stage.agent.clone())
        .with_signal(stage.stop.signal());
    let outcome = run(stage.registry.execute_batch(batch));
    let answer = Answer::of(&outcome.results[0].result);
    assert_eq!(answer.contexts, outcome.contexts);
    answer
}

/// As the run of a program does it: with the token of an outer call, committed in order of completion.
fn pooled(stage: &Stage) -> Answer {
    struct Reply(mpsc::Sender<Arc<ToolResult>>);

    impl CallObserver for Reply {
        fn committed(self: Box<Self>, result: Arc<ToolResult>) {
            self.0.send(result).unwrap();
        }

        fn abandoned(self: Box<Self>) {}
    }

    let outer = execute(&ToolRegistry::default(), "outer").token().unwrap();
    let mut config = PoolConfig::new(10, CommitOrder::Completion);
    config.signal = stage.stop.signal();
    let pool = CallPool::new(stage.registry.clone(), config);
    let (reply, result) = mpsc::channel();
    pool.submit_and_poll(call(stage).with_parent(outer), Reply(reply));
    pool.close();
    run(pool.drive());
    Answer::of(&result.recv().unwrap())
}

fn play(scenario: &Scenario, caller: Caller) -> (Seen, Answer) {
    let stage = scenario.on(&ToolRegistry::default(), &Agent::new("a"));
    let answer = caller(&stage);
    assert_eq!(stage.stop.signal().is_cancelled(), scenario.cancels, "{}", scenario.name);
    (stage.seen(), answer)
}

#[track_caller]
fn check_parity(caller: Caller) {
    for scenario in SCENARIOS {
        let (mut expected, answer) = play(scenario, native);
        let (mut seen, same_answer) = play(scenario, caller);
        // Host events are the schedulers' own; what they say is compared below and in the tests of the whole.
        (expected.events, seen.events) = (Vec::new(), Vec::new());
        assert_eq!(seen, expected, "{}", scenario.name);
        assert_eq!(same_answer, answer, "{}", scenario.name);
    }
}

#[test]
fn a_call_of_a_batch_is_what_a_native_call_is() {
    check_parity(batched);
}

#[test]
fn a_sub_call_in_a_pool_is_what_a_native_call_is() {
    check_parity(pooled);
}

#[test]
fn every_call_of_a_batch_has_a_beginning_and_an_end_for_hosts() {
    for scenario in SCENARIOS {
        let (seen, _) = play(scenario, batched);
        let [Told::Started { name, arguments: told }, Told::Settled { .. }] = &seen.events[..] else {
            panic!("{}: {:?}", scenario.name, seen.events)
        };
        assert_eq!((name.as_str(), told), (TOOL, &arguments()), "{}", scenario.name);
    }
}
