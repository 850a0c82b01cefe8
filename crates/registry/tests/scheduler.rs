//! Contract 3.14 and 7.4: the pool that native batches and programs share.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Wake, Waker},
};

use code_mode_registry::{
    Agent, ApprovalOutcome, ApprovalRequest, ApprovalService, PreDecision, SignalSource, ToolCall,
    ToolDefinition, ToolError, ToolRegistry, ToolResult,
    scheduler::{CallObserver, CallPool, CommitOrder, PoolConfig},
};
use code_mode_schema::json;
use futures::future::BoxFuture;

use crate::support::{Gate, echo, poll_once, yield_once};

/// Tells what happens to calls, in order.
struct Tell {
    name: &'static str,
    events: mpsc::Sender<String>,
}

impl CallObserver for Tell {
    fn started(&mut self) {
        self.events.send(format!("start {}", self.name)).unwrap();
    }

    fn committed(self: Box<Self>, result: Arc<ToolResult>) {
        let how = if result.is_error() { "fail" } else { "commit" };
        self.events.send(format!("{how} {}", self.name)).unwrap();
    }

    fn abandoned(self: Box<Self>) {
        self.events.send(format!("abandon {}", self.name)).unwrap();
    }
}

struct Setup {
    registry: ToolRegistry,
    told: mpsc::Receiver<String>,
    events: mpsc::Sender<String>,
}

impl Setup {
    fn new() -> Self {
        let registry = ToolRegistry::default();
        let (events, told) = mpsc::channel();
        Self { registry, told, events }
    }

    /// A tool that is ready after `turns` further polls.
    fn tool(&self, name: &'static str, turns: usize, parallel: bool) {
        let tool = ToolDefinition::builder(name)
            .output(json!({"type": "null"}))
            .render(|_, _| Ok(Vec::new()))
            .concurrency_safe(move |_| parallel)
            .execute(move |_, _| async move {
                for _ in 0..turns {
                    yield_once().await;
                }
                Ok(json!(null))
            })
            .build();
        self.registry.register(tool).unwrap().keep();
    }

    /// A tool that is ready when its gate is opened.
    fn gated(&self, name: &'static str, parallel: bool) -> Gate {
        let gate = Gate::default();
        let opened = gate.clone();
        let tool = ToolDefinition::builder(name)
            .output(json!({"type": "null"}))
            .render(|_, _| Ok(Vec::new()))
            .concurrency_safe(move |_| parallel)
            .execute(move |_, _| {
                let opened = opened.clone();
                async move {
                    opened.opened().await;
                    Ok(json!(null))
                }
            })
            .build();
        self.registry.register(tool).unwrap().keep();
        gate
    }

    fn submit(&self, pool: &CallPool, names: &[&'static str]) {
        for name in names {
            let tell = Tell { name, events: self.events.clone() };
            pool.submit(ToolCall::new(*name, *name, json!({})), tell);
        }
    }

    fn told(&self) -> Vec<String> {
        self.told.try_iter().collect()
    }

    fn run(&self, config: PoolConfig, names: &[&'static str]) -> Vec<String> {
        let pool = CallPool::new(self.registry.clone(), config);
        for name in names {
            let tell = Tell { name, events: self.events.clone() };
            pool.submit(ToolCall::new(*name, *name, json!({})), tell);
        }
        pool.close();
        futures::executor::block_on(pool.drive());
        self.told.try_iter().collect()
    }
}

#[test]
fn calls_start_in_order_and_commit_as_they_finish() {
    let setup = Setup::new();
    setup.tool("slow", 5, true);
    setup.tool("quick", 1, true);
    let told = setup.run(PoolConfig::new(10, CommitOrder::Completion), &["slow", "quick"]);
    assert_eq!(told, ["start slow", "start quick", "commit quick", "commit slow"]);
}

#[test]
fn native_calls_commit_in_submission_order() {
    let setup = Setup::new();
    setup.tool("slow", 5, true);
    setup.tool("quick", 1, true);
    let told = setup.run(PoolConfig::new(10, CommitOrder::Submission), &["slow", "quick"]);
    assert_eq!(told, ["start slow", "start quick", "commit slow", "commit quick"]);
}

#[test]
fn exclusive_call_waits_for_bodies_and_blocks_until_its_commit() {
    let setup = Setup::new();
    setup.tool("a", 3, true);
    setup.tool("write", 2, false);
    setup.tool("b", 0, true);
    let told = setup.run(PoolConfig::new(10, CommitOrder::Completion), &["a", "write", "b"]);
    assert_eq!(told, ["start a", "commit a", "start write", "commit write", "start b", "commit b"]);
}

#[test]
fn no_more_than_the_limit_run_at_one_time() {
    let setup = Setup::new();
    let gates: Vec<Gate> = ["a", "b", "c"].into_iter().map(|name| setup.gated(name, true)).collect();
    let pool = CallPool::new(setup.registry.clone(), PoolConfig::new(2, CommitOrder::Completion));
    setup.submit(&pool, &["a", "b", "c"]);
    pool.poll_now();
    assert_eq!(setup.told(), ["start a", "start b"]);
    gates[1].open();
    pool.poll_now();
    assert_eq!(setup.told(), ["commit b", "start c"]);
    gates.iter().for_each(Gate::open);
    pool.close();
    futures::executor::block_on(pool.drive());
    assert_eq!(setup.told().len(), 2);
}

#[test]
fn cancelled_pool_abandons_what_waits_and_commits_what_runs() {
    let setup = Setup::new();
    let gate = setup.gated("a", false);
    setup.tool("b", 0, true);
    let stop = SignalSource::new();
    let mut config = PoolConfig::new(10, CommitOrder::Completion);
    config.signal = stop.signal();
    let pool = CallPool::new(setup.registry.clone(), config);
    setup.submit(&pool, &["a", "b"]);
    pool.poll_now();
    stop.cancel("enough");
    pool.poll_now();
    assert_eq!(setup.told(), ["start a", "abandon b"]);
    gate.open();
    pool.close();
    futures::executor::block_on(pool.drive());
    assert_eq!(setup.told(), ["commit a"]);
}

#[test]
fn call_submitted_to_a_closed_pool_is_abandoned() {
    let setup = Setup::new();
    let pool = CallPool::new(setup.registry.clone(), PoolConfig::new(1, CommitOrder::Completion));
    pool.close();
    pool.submit(ToolCall::new("a", "a", json!({})), Tell { name: "a", events: setup.events.clone() });
    assert_eq!(setup.told.try_iter().collect::<Vec<_>>(), ["abandon a"]);
}

#[test]
fn bodies_go_on_while_the_lane_waits_for_a_policy() {
    let setup = Setup::new();
    let (body, policy) = (setup.gated("a", true), Gate::default());
    setup.tool("b", 0, true);
    let opened = policy.clone();
    let _slow = setup.registry.on_pre_execute(move |execution, next| {
        let opened = opened.clone();
        async move {
            if execution.name() == "b" {
                opened.opened().await;
            }
            next.call().await
        }
    });
    let ended = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ended);
    let _counts = setup.registry.on_execute(move |_, next| {
        let count = Arc::clone(&count);
        async move {
            let result = next.call().await;
            count.fetch_add(1, Ordering::SeqCst);
            result
        }
    });
    let pool = CallPool::new(setup.registry.clone(), PoolConfig::new(10, CommitOrder::Completion));
    setup.submit(&pool, &["a", "b"]);
    pool.poll_now();
    assert_eq!(setup.told(), ["start a", "start b"]);
    body.open();
    pool.poll_now();
    assert_eq!((ended.load(Ordering::SeqCst), setup.told().len()), (1, 0), "ended, and not committed yet");
    policy.open();
    pool.close();
    futures::executor::block_on(pool.drive());
    assert_eq!(setup.told(), ["commit a", "commit b"]);
}

#[test]
fn call_is_classified_once_for_its_start() {
    let setup = Setup::new();
    let gate = setup.gated("a", true);
    let looks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&looks);
    // Says parallel at every second look only.
    let fickle =
        echo("fickle").concurrency_safe(move |_| count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2));
    setup.registry.register(fickle).unwrap().keep();
    let pool = CallPool::new(setup.registry.clone(), PoolConfig::new(10, CommitOrder::Completion));
    setup.submit(&pool, &["a", "fickle"]);
    pool.poll_now();
    assert_eq!(setup.told(), ["start a", "start fickle", "commit fickle"]);
    assert_eq!(looks.load(Ordering::SeqCst), 1);
    gate.open();
    pool.close();
    futures::executor::block_on(pool.drive());
}

#[test]
fn pool_that_nobody_drives_any_more_abandons_everything() {
    let setup = Setup::new();
    let _never_opened = setup.gated("a", false);
    setup.tool("b", 0, true);
    let pool = CallPool::new(setup.registry.clone(), PoolConfig::new(10, CommitOrder::Completion));
    setup.submit(&pool, &["a", "b"]);
    let mut drive = Box::pin(pool.drive());
    assert!(poll_once(&mut drive).is_pending());
    assert_eq!(setup.told(), ["start a"]);
    drop(drive);
    assert_eq!(setup.told(), ["abandon a", "abandon b"]);
    assert!(poll_once(&mut Box::pin(pool.finished())).is_ready());
    setup.submit(&pool, &["b"]);
    assert_eq!(setup.told(), ["abandon b"], "it takes nothing any more");
}

#[test]
fn finished_calls_are_committed_while_one_waits_for_its_approval_and_nothing_starts() {
    struct Slow(Gate);

    impl ApprovalService for Slow {
        fn request(&self, _: ApprovalRequest) -> BoxFuture<'static, Result<ApprovalOutcome, ToolError>> {
            let answered = self.0.clone();
            Box::pin(async move {
                answered.opened().await;
                Ok(ApprovalOutcome::AllowedOnce)
            })
        }
    }

    let setup = Setup::new();
    let (body, answer) = (setup.gated("a", true), Gate::default());
    setup.tool("b", 0, true);
    setup.tool("c", 0, true);
    setup.registry.mount_approval(Arc::new(Slow(answer.clone()))).keep();
    let _asks = setup.registry.on_pre_execute(|execution, next| async move {
        if execution.name() == "b" { Ok(PreDecision::ask("sure?")) } else { next.call().await }
    });
    let pool = CallPool::new(setup.registry.clone(), PoolConfig::new(10, CommitOrder::Completion));
    let agent = Agent::new("a");
    for name in ["a", "b", "c"] {
        let tell = Tell { name, events: setup.events.clone() };
        pool.submit(ToolCall::new(name, name, json!({})).with_agent(agent.clone()), tell);
    }
    pool.poll_now();
    assert_eq!(setup.told(), ["start a", "start b"]);
    body.open();
    pool.poll_now();
    assert_eq!(setup.told(), ["commit a"]);
    answer.open();
    pool.close();
    futures::executor::block_on(pool.drive());
    assert_eq!(setup.told(), ["commit b", "start c", "commit c"]);
}

#[test]
fn pool_that_nobody_ever_drove_abandons_its_queue_when_it_is_dropped() {
    let setup = Setup::new();
    setup.tool("a", 0, true);
    let pool = CallPool::new(setup.registry.clone(), PoolConfig::new(1, CommitOrder::Completion));
    setup.submit(&pool, &["a"]);
    drop(pool);
    assert_eq!(setup.told(), ["abandon a"]);
}

/// A waker that looks at the pool while it is woken.
struct LooksAt(CallPool);

impl Wake for LooksAt {
    fn wake(self: Arc<Self>) {
        assert!(!format!("{:?}", self.0).is_empty());
    }
}

#[test]
fn closing_a_pool_wakes_its_driver_outside_of_the_lock() {
    let pool = CallPool::new(ToolRegistry::default(), PoolConfig::new(1, CommitOrder::Completion));
    let mut driving = Box::pin(pool.drive());
    let waker = Waker::from(Arc::new(LooksAt(pool.clone())));
    assert!(driving.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    pool.close();
    assert!(poll_once(&mut driving).is_ready());
}
