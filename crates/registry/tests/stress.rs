//! Many callers at once, natively, in batches and through one pool, with cancellations, panics, denials, retries,
//! slow bodies and changing registrations: every call ends in exactly one result, no permit of the pool is lost, and
//! no started body is dropped.
//!
//! It takes one second; `CODE_MODE_STRESS_MS=5000` makes it five. What each caller does is seeded, how the callers
//! interleave is not.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use code_mode_registry::{
    Agent, BatchCall, PreDecision, Restriction, Signal, SignalSource, Token, ToolBatch, ToolCall, ToolError,
    ToolExecution, ToolRegistry, ToolResult, ToolRunContext,
    scheduler::{CallObserver, CallPool, CommitOrder, PoolConfig},
};
use code_mode_schema::{Json, json};
use tokio::sync::{Barrier, oneshot};

use crate::support::{echo, execute};

const TOOLS: u64 = 50;
const CALLERS: u64 = 200;
const PERMITS: usize = 8;

/// What each caller does at least, also on a machine where the time is over before.
const MIN_ROUNDS: u64 = 10;

/// The ids of calls that go through the pool begin like this.
const POOLED: &str = "pool";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_call_under_stress_ends_in_exactly_one_result() {
    silence_panics_of_the_storm();
    let storm = Arc::new(Storm::new());
    let observed: Arc<Mutex<HashMap<Token, usize>>> = Arc::default();
    let count = Arc::clone(&observed);
    let _watch = storm.registry.on_result(move |execution, _| {
        *count.lock().unwrap().entry(execution.token()).or_default() += 1;
    });
    let driver = tokio::spawn(storm.pool.drive());

    let callers: Vec<_> =
        (0..CALLERS).map(|number| tokio::spawn(Arc::clone(&storm).caller(number))).collect();
    let mut results: Vec<Arc<ToolResult>> = Vec::new();
    for caller in callers {
        results.extend(caller.await.unwrap());
    }

    check_permits(&storm).await;
    storm.pool.close();
    driver.await.unwrap();

    let tokens: Vec<Token> = results.iter().filter_map(|result| result.token()).collect();
    let observed = observed.lock().unwrap();
    assert!(results.len() >= (CALLERS * MIN_ROUNDS) as usize, "only {} calls were made", results.len());
    println!("{} calls", results.len());
    // The calls of a batch that never started have no token. The gated calls at the end were observed too.
    let never_started = results.len() - tokens.len();
    assert!(never_started < results.len() / 4, "{never_started} of {}", results.len());
    assert_eq!(observed.len(), tokens.len() + PERMITS);
    assert!(tokens.iter().all(|token| observed.get(token) == Some(&1)), "a call has exactly one result");
    let bodies = &storm.bodies;
    let (started, ended) = (bodies.started.load(Ordering::SeqCst), bodies.ended.load(Ordering::SeqCst));
    assert!(started > tokens.len() / 2, "{started}");
    assert_eq!(started, ended, "no started body is dropped");
    assert_eq!(bodies.pooled.load(Ordering::SeqCst), 0);
}

/// There are thousands of them, and each costs a trace of the stack where those are on.
fn silence_panics_of_the_storm() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if !message.ends_with(" broke") {
            told(panic);
        }
    }));
}

/// After the storm as many calls run at one time as before it, and no more.
async fn check_permits(storm: &Storm) {
    let everybody = Arc::new(Barrier::new(PERMITS));
    let tool = echo("gated").concurrency_safe(|_| true).execute(move |args, _| {
        let everybody = Arc::clone(&everybody);
        async move {
            // Passed only by all of them together.
            everybody.wait().await;
            Ok(args)
        }
    });
    storm.registry.register(tool).unwrap().keep();
    let calls: Vec<_> = (0..PERMITS)
        .map(|number| storm.in_pool(ToolCall::new(format!("{number}-gated"), "gated", json!({"n": 2}))))
        .collect();
    for call in calls {
        assert!(!call.await.unwrap().is_error());
    }
}

/// What all callers share.
struct Storm {
    registry: ToolRegistry,
    pool: CallPool,
    bodies: Bodies,
    parent: Token,
    until: Instant,
}

/// Counts a body from its start to its end; one that is dropped in between is missing from the ends.
#[derive(Clone, Default)]
struct Bodies {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    /// Those that run in the pool now.
    pooled: Arc<AtomicUsize>,
}

impl Storm {
    fn new() -> Self {
        let registry = ToolRegistry::default();
        let bodies = Bodies::default();
        (0..TOOLS).for_each(|number| register_tool(&registry, &bodies, number));
        register_listeners(&registry);
        let mut config = PoolConfig::new(PERMITS, CommitOrder::Completion);
        config.spawn = Some(Arc::new(|body| drop(tokio::spawn(body))));
        let pool = CallPool::new(registry.clone(), config);
        let parent = execute(&ToolRegistry::default(), "outer").token().unwrap();
        let takes =
            std::env::var("CODE_MODE_STRESS_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
        Self { registry, pool, bodies, parent, until: Instant::now() + Duration::from_millis(takes) }
    }

    /// Makes calls of every kind until the time is over, and gives all their results.
    async fn caller(self: Arc<Self>, number: u64) -> Vec<Arc<ToolResult>> {
        let mut random = Random(number + 1);
        let agent = Agent::new(number.to_string());
        let mut results = Vec::new();
        let mut rounds = 0;
        while rounds < MIN_ROUNDS || Instant::now() < self.until {
            rounds += 1;
            let _hidden = random.one_in(11).then(|| {
                let hidden = Restriction::deny([tool_name(random.below(TOOLS))]);
                self.registry.restrict(Some(&agent), hidden).unwrap()
            });
            let stop = Arc::new(SignalSource::new());
            let impatience =
                random.one_in(3).then(|| tokio::spawn(cancel_soon(Arc::clone(&stop), random.below(4))));
            match random.below(5) {
                0 => results.extend(self.batch(&mut random, &agent, stop.signal()).await),
                1 => {
                    let call = self.call(&mut random, POOLED, &agent, stop.signal()).with_parent(self.parent);
                    results.push(self.in_pool(call).await.unwrap());
                }
                _ => {
                    let call = self.call(&mut random, "native", &agent, stop.signal());
                    results.push(tokio::spawn(self.registry.execute(call)).await.unwrap());
                }
            }
            if let Some(impatience) = impatience {
                impatience.await.unwrap();
            }
        }
        results
    }

    fn call(&self, random: &mut Random, kind: &str, agent: &Agent, signal: Signal) -> ToolCall {
        let n = random.below(1_000);
        ToolCall::new(format!("{kind}-{n}"), tool_name(random.below(TOOLS)), json!({"n": n as i32}))
            .with_agent(agent.clone())
            .with_signal(signal)
    }

    fn in_pool(&self, call: ToolCall) -> oneshot::Receiver<Arc<ToolResult>> {
        let (reply, result) = oneshot::channel();
        self.pool.submit(call, Reply(reply));
        result
    }

    async fn batch(&self, random: &mut Random, agent: &Agent, signal: Signal) -> Vec<Arc<ToolResult>> {
        let calls = (0..3).map(|place| {
            let n = random.below(1_000);
            BatchCall::new(format!("{place}-{n}"), tool_name(random.below(TOOLS)), format!("{{\"n\": {n}}}"))
        });
        let batch = ToolBatch::new(calls).with_agent(agent.clone()).with_signal(signal);
        let outcome = self.registry.execute_batch(batch).await;
        assert_eq!(outcome.results.len(), 3);
        outcome.results.into_iter().map(|call| call.result).collect()
    }
}

struct Reply(oneshot::Sender<Arc<ToolResult>>);

impl CallObserver for Reply {
    fn committed(self: Box<Self>, result: Arc<ToolResult>) {
        self.0.send(result).unwrap();
    }

    fn abandoned(self: Box<Self>) {
        panic!("nobody cancels the pool")
    }
}

async fn cancel_soon(stop: Arc<SignalSource>, yields: u64) {
    for _ in 0..yields {
        tokio::task::yield_now().await;
    }
    stop.cancel("changed my mind");
}

fn tool_name(number: u64) -> String {
    format!("tool_{number}")
}

/// A tool whose arguments say what its body does. Every tenth one runs alone.
fn register_tool(registry: &ToolRegistry, bodies: &Bodies, number: u64) {
    let runs_alone = number.is_multiple_of(10);
    let bodies = bodies.clone();
    let tool =
        echo(&tool_name(number)).concurrency_safe(move |_| !runs_alone).execute(move |args: Json, ctx| {
            let bodies = bodies.clone();
            async move {
                bodies.started.fetch_add(1, Ordering::SeqCst);
                let is_pooled = ctx.call_id().as_str().starts_with(POOLED);
                if is_pooled {
                    let running = bodies.pooled.fetch_add(1, Ordering::SeqCst) + 1;
                    // A panic here is a failed call like any other; it shows as a body that never ended.
                    assert!(running <= if runs_alone { 1 } else { PERMITS }, "{running} bodies at one time");
                }
                let outcome = act(&args, &ctx).await;
                if is_pooled {
                    bodies.pooled.fetch_sub(1, Ordering::SeqCst);
                }
                bodies.ended.fetch_add(1, Ordering::SeqCst);
                match outcome {
                    Some(outcome) => outcome.map(|()| args),
                    None => panic!("tool {number} broke"),
                }
            }
        });
    registry.register(tool).unwrap().keep();
}

/// `None`: panic.
async fn act(args: &Json, ctx: &ToolRunContext) -> Option<Result<(), ToolError>> {
    match number_in(args) % 6 {
        0 => Some(Ok(())),
        1 => {
            tokio::time::sleep(Duration::from_micros(200)).await;
            Some(Ok(()))
        }
        2 => Some(Err(ToolError::new("unreachable host"))),
        3 => {
            let patience = tokio::time::sleep(Duration::from_millis(2));
            tokio::select! {
                _ = ctx.signal().cancelled() => Some(Err(ToolError::new("stopped"))),
                () = patience => Some(Ok(())),
            }
        }
        4 => {
            tokio::task::yield_now().await;
            None
        }
        _ => None,
    }
}

fn number_in(args: &Json) -> i64 {
    args.get("n").and_then(Json::as_i64).unwrap_or_default()
}

fn register_listeners(registry: &ToolRegistry) {
    let policy = registry.on_pre_execute(|execution, next| async move {
        match execution.arguments().map(number_in).unwrap_or_default() % 13 {
            0 => Ok(PreDecision::deny("denied")),
            1 => panic!("policy broke"),
            _ => next.call().await,
        }
    });
    let guard = registry
        .guard(|execution: &ToolExecution| execution.call_id().as_str().ends_with("99").then_some("no"));
    let retry = registry.on_execute(|_, next| async move {
        let first = next.call().await?;
        if first.is_error() { next.call().await } else { Ok(first) }
    });
    let impatient = registry.hooks().prepend().on_execute(|dispatch, next| async move {
        if dispatch.call_id().as_str().ends_with('7') {
            let patience = tokio::time::sleep(Duration::from_micros(100));
            tokio::select! {
                result = next.call() => return result,
                () = patience => return Err(ToolError::new("impatient")),
            }
        }
        next.call().await
    });
    let post = registry.on_post_execute(|execution, _, next| async move {
        if execution.call_id().as_str().ends_with("33") {
            panic!("post-policy broke");
        }
        next.call().await
    });
    [policy, guard, retry, impatient, post].into_iter().for_each(code_mode_registry::Registration::keep);
}

/// A small generator of its own (splitmix64), so that a caller does the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}
