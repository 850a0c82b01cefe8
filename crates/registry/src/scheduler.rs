//! The bounded pool in which calls start in the order they were submitted (contract 3.14, 7.4; decision 23).
//!
//! One lane does everything that must not overlap: it classifies a call right before its start, takes it through the
//! policies and guards, and commits finished calls. Bodies run beside the lane. An exclusive call waits until no body
//! runs, and nothing starts until it is committed. While a call waits for an approval, finished calls are committed and
//! nothing else starts.
//!
//! The lane is a future that whoever has a reason may poll: the task that drives the pool, and a thread that has just
//! submitted a call and would rather have its result at once than through another thread
//! ([`CallPool::submit_and_poll`]). A body that is not ready when it is first polled moves to the [`Spawn`] the pool was given.

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures::{
    FutureExt, StreamExt, channel::oneshot, future::BoxFuture, stream::FuturesUnordered, task::AtomicWaker,
};

use crate::{
    cancellation::Signal,
    contain::contain,
    execution::{ToolCall, ToolResult},
    pipeline::{Admission, SettledCall, StartedCall},
    registry::ToolRegistry,
    sync::lock,
    visibility::ExecutionMode,
};

/// Runs a body that was not ready when it was first polled.
pub type Spawn = Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

/// How a pool works.
#[derive(Clone)]
#[non_exhaustive]
pub struct PoolConfig {
    /// How many parallel calls may run at one time. At least 1.
    pub max_in_flight: usize,
    /// In which order finished calls are committed.
    pub commit_order: CommitOrder,
    /// From its cancellation on nothing starts; what waits is abandoned.
    pub signal: Signal,
    /// Where bodies run that are not ready at once. `None`: in the lane itself.
    pub spawn: Option<Spawn>,
}

impl PoolConfig {
    /// A pool for `max_in_flight` calls that nobody cancels, whose bodies run in the lane.
    #[must_use]
    pub fn new(max_in_flight: usize, commit_order: CommitOrder) -> Self {
        Self { max_in_flight: max_in_flight.max(1), commit_order, signal: Signal::never(), spawn: None }
    }
}

impl fmt::Debug for PoolConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolConfig")
            .field("max_in_flight", &self.max_in_flight)
            .field("commit_order", &self.commit_order)
            .field("spawns", &self.spawn.is_some())
            .finish_non_exhaustive()
    }
}

/// In which order finished calls are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitOrder {
    /// As they were submitted: the calls of one assistant message (contract 3.14).
    Submission,
    /// As they finish: the sub-calls of a program (decision 23).
    Completion,
}

/// Follows one submitted call. Either `started` and then `committed` is called, or `abandoned` alone. Called in the lane;
/// must not block. A panic is contained and logged.
pub trait CallObserver: Send + 'static {
    /// The call is about to enter the policies.
    fn started(&mut self) {}

    /// The call has its final result.
    fn committed(self: Box<Self>, result: Arc<ToolResult>);

    /// The call never started.
    fn abandoned(self: Box<Self>);
}

/// A bounded pool of calls. Clones are the same pool.
#[derive(Clone)]
pub struct CallPool {
    shared: Arc<Pool>,
}

struct Pool {
    registry: ToolRegistry,
    config: PoolConfig,
    queue: Mutex<VecDeque<Submitted>>,
    /// No further calls will be submitted.
    closed: AtomicBool,
    /// Something has changed that the lane has not seen.
    changed: AtomicBool,
    lane: Mutex<Option<BoxFuture<'static, ()>>>,
    /// Somebody wants the lane polled who could not do it.
    poll_again: AtomicBool,
    finished: AtomicBool,
    /// Whoever drives the pool, and whoever waits for its end.
    driver: AtomicWaker,
    waiter: AtomicWaker,
}

struct Submitted {
    call: ToolCall,
    observer: Box<dyn CallObserver>,
}

impl CallPool {
    /// An empty pool. Nothing happens unless [`drive`](Self::drive) is polled.
    #[must_use]
    pub fn new(registry: ToolRegistry, config: PoolConfig) -> Self {
        let shared = Arc::new(Pool {
            registry,
            config,
            queue: Mutex::default(),
            closed: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            lane: Mutex::new(None),
            poll_again: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            driver: AtomicWaker::new(),
            waiter: AtomicWaker::new(),
        });
        *lock(&shared.lane) = Some(Lane::new(Arc::clone(&shared)).run().boxed());
        Self { shared }
    }

    /// Adds a call behind those already submitted. After [`close`](Self::close) it is abandoned at once.
    pub fn submit(&self, call: ToolCall, observer: impl CallObserver) {
        if self.enqueue(call, observer) {
            self.shared.notify();
        }
    }

    /// As [`submit`](Self::submit) and then [`poll_now`](Self::poll_now), which wakes no other thread for a call that
    /// is ready at once.
    pub fn submit_and_poll(&self, call: ToolCall, observer: impl CallObserver) {
        if self.enqueue(call, observer) {
            self.shared.changed.store(true, Ordering::SeqCst);
            self.shared.poll_lane();
        }
    }

    /// Whether the call was queued; if not, it is abandoned.
    fn enqueue(&self, call: ToolCall, observer: impl CallObserver) -> bool {
        let submitted = Submitted { call, observer: Box::new(observer) };
        {
            let mut queue = lock(&self.shared.queue);
            // Under the lock, so that no call slips in behind the last look at the queue.
            if !self.shared.closed.load(Ordering::SeqCst) {
                queue.push_back(submitted);
                return true;
            }
        }
        abandon(submitted);
        false
    }

    /// Polls the lane on this thread as far as it goes without waiting, unless another thread is doing so.
    pub fn poll_now(&self) {
        self.shared.poll_lane();
    }

    /// Ends the pool: nothing can be submitted any more, and it finishes when all that was is committed or abandoned.
    pub fn close(&self) {
        let _queue = lock(&self.shared.queue);
        self.shared.closed.store(true, Ordering::SeqCst);
        self.shared.notify();
    }

    /// Drives the pool to its end. To be polled by one task.
    pub fn drive(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        poll_fn(move |context| {
            shared.driver.register(context.waker());
            shared.poll_lane();
            shared.poll_finished()
        })
    }

    /// Waits until the pool is closed and everything in it is committed or abandoned. To be awaited by one task.
    pub fn finished(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        poll_fn(move |context| {
            shared.waiter.register(context.waker());
            shared.poll_finished()
        })
    }
}

impl fmt::Debug for CallPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallPool")
            .field("config", &self.shared.config)
            .field("queued", &lock(&self.shared.queue).len())
            .finish_non_exhaustive()
    }
}

/// The lane is polled with this waker whoever polls it, so that what it waits for always wakes the driver.
impl Wake for Pool {
    fn wake(self: Arc<Self>) {
        self.driver.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.driver.wake();
    }
}

impl Pool {
    fn notify(&self) {
        self.changed.store(true, Ordering::SeqCst);
        self.driver.wake();
    }

    /// Polls the lane until nobody wants it polled again. A thread that finds it locked leaves its wish to the one that
    /// holds it, which looks again after letting go.
    fn poll_lane(self: &Arc<Self>) {
        self.poll_again.store(true, Ordering::SeqCst);
        while self.poll_again.load(Ordering::SeqCst) {
            let mut lane = match self.lane.try_lock() {
                Ok(lane) => lane,
                Err(TryLockError::WouldBlock) => return,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            };
            self.poll_again.store(false, Ordering::SeqCst);
            let Some(future) = lane.as_mut() else { return };
            let waker = Waker::from(Arc::clone(self));
            if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                *lane = None;
                self.finished.store(true, Ordering::SeqCst);
                self.driver.wake();
                self.waiter.wake();
            }
        }
    }

    fn poll_finished(&self) -> Poll<()> {
        if self.finished.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A finished body with its place among the started calls; `None` if its runtime dropped it.
type Finished = (usize, Option<SettledCall>);

/// The one place where calls start and are committed.
struct Lane {
    pool: Arc<Pool>,
    /// Started calls that are not committed, oldest first.
    started: VecDeque<Started>,
    bodies: FuturesUnordered<BoxFuture<'static, Finished>>,
    /// Finished bodies that are not committed, in the order they finished.
    finished: VecDeque<Finished>,
    next_place: usize,
    exclusive: bool,
}

enum AnswerOr {
    Answer(StartedCall),
    Finished(Finished),
}

struct Started {
    place: usize,
    exclusive: bool,
    observer: Box<dyn CallObserver>,
}

impl Lane {
    fn new(pool: Arc<Pool>) -> Self {
        Self {
            pool,
            started: VecDeque::new(),
            bodies: FuturesUnordered::new(),
            finished: VecDeque::new(),
            next_place: 0,
            exclusive: false,
        }
    }

    async fn run(mut self) {
        loop {
            if self.commit_next().await || self.start_next().await {
                continue;
            }
            if self.started.is_empty() && self.is_drained() {
                return;
            }
            self.wait().await;
        }
    }

    /// Commits the next finished call, if the order allows one.
    async fn commit_next(&mut self) -> bool {
        let next = match self.pool.config.commit_order {
            CommitOrder::Completion => self.finished.pop_front(),
            CommitOrder::Submission => {
                let oldest = self.started.front().map(|started| started.place);
                let at = self.finished.iter().position(|(place, _)| Some(*place) == oldest);
                at.and_then(|at| self.finished.remove(at))
            }
        };
        let Some((place, settled)) = next else {
            return false;
        };
        let Some(at) = self.started.iter().position(|started| started.place == place) else {
            return true;
        };
        let Some(started) = self.started.remove(at) else {
            return true;
        };
        match settled {
            Some(settled) => {
                let result = settled.commit().await;
                observe(|| started.observer.committed(result));
            }
            None => observe(|| started.observer.abandoned()),
        }
        if started.exclusive {
            self.exclusive = false;
        }
        true
    }

    /// Starts the call that was submitted first, if it may start now.
    async fn start_next(&mut self) -> bool {
        let aborted = self.pool.config.signal.is_cancelled();
        let Some(mut next) = self.take_startable(aborted) else {
            return false;
        };
        if aborted {
            abandon(next);
            return true;
        }
        // Classified at the last moment: what is registered may have changed while it waited.
        let exclusive = self.mode_of(&next.call) == ExecutionMode::Exclusive;
        self.exclusive |= exclusive;
        observe(|| next.observer.started());
        let place = self.next_place;
        self.next_place += 1;
        self.started.push_back(Started { place, exclusive, observer: next.observer });
        match self.pool.registry.admit(next.call).await {
            Admission::Started(call) => self.launch(place, call),
            Admission::Asking(asking) => {
                let mut answer = asking.resolve();
                let call = loop {
                    match self.answer_or_finished(&mut answer).await {
                        AnswerOr::Answer(call) => break call,
                        AnswerOr::Finished(finished) => self.finished.push_back(finished),
                    }
                    while self.commit_next().await {}
                };
                self.launch(place, call);
            }
        }
        true
    }

    fn take_startable(&self, aborted: bool) -> Option<Submitted> {
        let mut queue = lock(&self.pool.queue);
        let startable = aborted || (!self.exclusive && self.may_start(&queue.front()?.call));
        if startable { queue.pop_front() } else { None }
    }

    fn may_start(&self, call: &ToolCall) -> bool {
        match self.mode_of(call) {
            ExecutionMode::Exclusive => self.bodies.is_empty(),
            ExecutionMode::Parallel => self.bodies.len() < self.pool.config.max_in_flight,
        }
    }

    fn mode_of(&self, call: &ToolCall) -> ExecutionMode {
        self.pool.registry.execution_mode(call)
    }

    /// Polls the body once here. Most tools that only look something up are ready then.
    fn launch(&mut self, place: usize, call: StartedCall) {
        let mut body = call.run();
        let waker = Waker::from(Arc::clone(&self.pool));
        if let Poll::Ready(settled) = Pin::new(&mut body).poll(&mut Context::from_waker(&waker)) {
            self.finished.push_back((place, Some(settled)));
            return;
        }
        let body: BoxFuture<'static, Finished> = match &self.pool.config.spawn {
            None => body.map(move |settled| (place, Some(settled))).boxed(),
            Some(spawn) => {
                let (done, result) = oneshot::channel();
                spawn(
                    body.map(|settled| {
                        // The lane waits for every body, so it is there.
                        let _ = done.send(settled);
                    })
                    .boxed(),
                );
                result.map(move |settled| (place, settled.ok())).boxed()
            }
        };
        self.bodies.push(body);
    }

    /// Waits for the approval or for a body, whichever is first.
    async fn answer_or_finished(&mut self, answer: &mut BoxFuture<'static, StartedCall>) -> AnswerOr {
        poll_fn(|context| {
            if let Poll::Ready(Some(finished)) = self.bodies.poll_next_unpin(context) {
                return Poll::Ready(AnswerOr::Finished(finished));
            }
            answer.poll_unpin(context).map(AnswerOr::Answer)
        })
        .await
    }

    fn is_drained(&self) -> bool {
        let queue = lock(&self.pool.queue);
        queue.is_empty() && self.pool.closed.load(Ordering::SeqCst)
    }

    /// Waits for a finished body, a submission, the abort or the end.
    async fn wait(&mut self) {
        let pool = Arc::clone(&self.pool);
        let mut cancelled = pool.config.signal.cancelled();
        poll_fn(|context| {
            let mut ready = pool.changed.swap(false, Ordering::SeqCst);
            while let Poll::Ready(Some(finished)) = self.bodies.poll_next_unpin(context) {
                self.finished.push_back(finished);
                ready = true;
            }
            // A cancellation matters only to what waits.
            if !lock(&pool.queue).is_empty() && cancelled.poll_unpin(context).is_ready() {
                ready = true;
            }
            if ready { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

fn abandon(submitted: Submitted) {
    observe(|| submitted.observer.abandoned());
}

fn observe(callback: impl FnOnce()) {
    if let Err(error) = contain(callback) {
        tracing::warn!(%error, "a call observer panicked");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use code_mode_schema::json;

    use super::*;
    use crate::{
        config::{Mode, RegistryConfig},
        tool::ToolDefinition,
    };

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
            let registry = ToolRegistry::new(RegistryConfig::new(Mode::Native)).unwrap();
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
            let gate = Gate(Arc::default());
            let tool = ToolDefinition::builder(name)
                .output(json!({"type": "null"}))
                .render(|_, _| Ok(Vec::new()))
                .concurrency_safe(move |_| parallel)
                .execute({
                    let gate = Arc::clone(&gate.0);
                    move |_, _| {
                        let gate = Arc::clone(&gate);
                        async move {
                            poll_fn(|context| {
                                gate.1.register(context.waker());
                                if gate.0.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
                            })
                            .await;
                            Ok(json!(null))
                        }
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

    /// Open once `open` is called.
    struct Gate(Arc<(AtomicBool, AtomicWaker)>);

    impl Gate {
        fn open(&self) {
            self.0.0.store(true, Ordering::SeqCst);
            self.0.1.wake();
        }
    }

    async fn yield_once() {
        let mut yielded = false;
        poll_fn(|context| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
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
        let stop = crate::cancellation::SignalSource::new();
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
}
