//! Many callers at once, with cancellations, panics, denials, retries, slow bodies and changing
//! registrations: every call ends in exactly one result, and no started body is dropped.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use code_mode_registry::{
    Agent, PreDecision, Restriction, SignalSource, Token, ToolCall, ToolError, ToolExecution, ToolRegistry,
};
use code_mode_schema::{Json, json};

use crate::support::echo;

const TOOLS: usize = 50;
const CALLERS: usize = 50;
const CALLS: usize = 100;

/// Counts a body from its start to its end; one that is dropped in between is missing from the ends.
#[derive(Clone, Default)]
struct Bodies {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

fn register_tool(registry: &ToolRegistry, bodies: &Bodies, number: usize) {
    let bodies = bodies.clone();
    let tool = echo(&format!("tool_{number}")).execute(move |args: Json, ctx| {
        let bodies = bodies.clone();
        async move {
            bodies.started.fetch_add(1, Ordering::SeqCst);
            let outcome = match args.get("n").and_then(Json::as_i64).unwrap_or_default() % 5 {
                0 => Ok(args),
                1 => {
                    tokio::time::sleep(Duration::from_micros(200)).await;
                    Ok(args)
                }
                2 => Err(ToolError::new("unreachable host")),
                3 => {
                    let patience = tokio::time::sleep(Duration::from_millis(2));
                    tokio::select! {
                        _ = ctx.signal().cancelled() => Err(ToolError::new("stopped")),
                        () = patience => Ok(args),
                    }
                }
                _ => {
                    bodies.ended.fetch_add(1, Ordering::SeqCst);
                    panic!("tool {number} broke")
                }
            };
            bodies.ended.fetch_add(1, Ordering::SeqCst);
            outcome
        }
    });
    registry.register(tool).unwrap().keep();
}

async fn caller(registry: ToolRegistry, number: usize) -> usize {
    let agent = Agent::new(number.to_string());
    let mut results = 0;
    for round in 0..CALLS {
        let n = number * 7 + round;
        let _hidden = n.is_multiple_of(11).then(|| {
            registry.restrict(Some(&agent), Restriction::deny([format!("tool_{}", n % TOOLS)])).unwrap()
        });
        let stop = Arc::new(SignalSource::new());
        let call =
            ToolCall::new(format!("{number}-{round}"), format!("tool_{}", n % TOOLS), json!({"n": n as i32}))
                .with_agent(agent.clone())
                .with_signal(stop.signal());
        let executing = tokio::spawn(registry.execute(call));
        if n.is_multiple_of(3) {
            tokio::task::yield_now().await;
            stop.cancel("changed my mind");
        }
        executing.await.unwrap();
        results += 1;
    }
    results
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_call_under_stress_ends_in_exactly_one_result() {
    let registry = ToolRegistry::default();
    let bodies = Bodies::default();
    (0..TOOLS).for_each(|number| register_tool(&registry, &bodies, number));
    let observed: Arc<Mutex<HashMap<Token, usize>>> = Arc::default();
    let count = Arc::clone(&observed);
    let _watch = registry.on_result(move |execution, _| {
        *count.lock().unwrap().entry(execution.token()).or_default() += 1;
    });
    let _policy = registry.on_pre_execute(|execution, next| async move {
        match execution.arguments().and_then(|args| args.get("n")).and_then(Json::as_i64).unwrap_or_default()
            % 13
        {
            0 => Ok(PreDecision::deny("denied")),
            1 => panic!("policy broke"),
            _ => next.call().await,
        }
    });
    let _guard = registry
        .guard(|execution: &ToolExecution| execution.call_id().as_str().ends_with("99").then_some("no"));
    let _retry = registry.on_execute(|_, next| async move {
        let first = next.call().await?;
        if first.is_error() { next.call().await } else { Ok(first) }
    });
    let _impatient = registry.hooks().prepend().on_execute(|dispatch, next| async move {
        if dispatch.call_id().as_str().ends_with('7') {
            let patience = tokio::time::sleep(Duration::from_micros(100));
            tokio::select! {
                result = next.call() => return result,
                () = patience => return Err(ToolError::new("impatient")),
            }
        }
        next.call().await
    });
    let callers: Vec<_> = (0..CALLERS).map(|number| tokio::spawn(caller(registry.clone(), number))).collect();
    let mut results = 0;
    for caller in callers {
        results += caller.await.unwrap();
    }
    assert_eq!(results, CALLERS * CALLS);
    let observed = observed.lock().unwrap();
    assert_eq!(observed.len(), CALLERS * CALLS);
    assert!(observed.values().all(|times| *times == 1));
    let (started, ended) = (bodies.started.load(Ordering::SeqCst), bodies.ended.load(Ordering::SeqCst));
    assert!(started > CALLS * CALLERS / 2, "{started}");
    assert_eq!(started, ended, "no started body is dropped");
}
