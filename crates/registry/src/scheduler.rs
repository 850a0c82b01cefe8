//! The bounded pool in which calls start in the order they were submitted (contract 3.14, 7.4; decision 23).
//!
//! One lane does everything that must not overlap: it classifies a call right before its start, takes it
//! through the policies and guards, and commits finished calls. Bodies run beside the lane. An exclusive call waits
//! until no body runs, and nothing starts until it is committed. While a call waits for an approval, finished calls
//! are committed and nothing else starts.
//!
//! The lane is a future that whoever has a reason may poll: the task that drives the pool, and a thread that has just
//! submitted a call and would rather have its result at once than through another thread
//! ([`CallPool::submit_and_poll`]). A body that is not ready when it is first polled moves to the [`Spawn`] the pool was given.

use std::{
    collections::VecDeque,
    fmt,
    future::{Future, poll_fn},
    sync::{
        Arc, Mutex, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures::{FutureExt, future::BoxFuture, task::AtomicWaker};

use crate::{
    cancellation::Signal,
    contain::contain,
    execution::{ToolCall, ToolResult},
    registry::ToolRegistry,
    sync::lock,
};

mod lane;

use lane::Lane;

/// Runs a body that was not ready when it was first polled. If it panics, that is logged and the call is abandoned.
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
    /// Where bodies run that are not ready at once. `None`: on the task that drives the pool, all of them.
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

/// Follows one submitted call. `started` and then `committed` are called, or `abandoned` alone; `abandoned` behind
/// `started` only if what ran the body, or the whole pool, was dropped. Called in the lane; must not block. A panic is
/// contained and logged.
pub trait CallObserver: Send + 'static {
    /// The call is about to enter the policies.
    fn started(&mut self) {}

    /// The call has its final result.
    fn committed(self: Box<Self>, result: Arc<ToolResult>);

    /// The call never started, or it has no end.
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
    lane: Mutex<LaneState>,
    /// Somebody wants the lane polled who could not do it.
    poll_again: AtomicBool,
    finished: AtomicBool,
    /// Nobody drives the pool any more.
    forsaken: AtomicBool,
    /// Whoever drives the pool, and whoever waits for its end.
    driver: AtomicWaker,
    waiter: AtomicWaker,
}

/// Lane and pool hold each other, so that the lane is made when it is first polled and gone when it is over.
enum LaneState {
    Unmade,
    Running(BoxFuture<'static, ()>),
    Over,
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
            lane: Mutex::new(LaneState::Unmade),
            poll_again: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            forsaken: AtomicBool::new(false),
            driver: AtomicWaker::new(),
            waiter: AtomicWaker::new(),
        });
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
        {
            let _queue = lock(&self.shared.queue);
            self.shared.closed.store(true, Ordering::SeqCst);
        }
        self.shared.notify();
    }

    /// Drives the pool to its end. To be polled by one task.
    ///
    /// Dropping the future ends the pool: what it runs itself is dropped, and every call that has no result by then is
    /// abandoned. Bodies that were handed to [`PoolConfig::spawn`] go on.
    pub fn drive(&self) -> impl Future<Output = ()> + Send + 'static {
        let driven = Driven(Arc::clone(&self.shared));
        poll_fn(move |context| {
            let shared = &driven.0;
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

/// Of a pool that nobody ever drove.
impl Drop for Pool {
    fn drop(&mut self) {
        self.abandon_queue();
    }
}

/// What the future of [`CallPool::drive`] holds.
struct Driven(Arc<Pool>);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.forsaken.store(true, Ordering::SeqCst);
        self.0.poll_lane();
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
            if self.advance(&mut lane) {
                let over = std::mem::replace(&mut *lane, LaneState::Over);
                drop(lane);
                // Runs code of others: bodies that are dropped, observers that are told.
                if let Err(error) = contain(|| drop(over)) {
                    tracing::warn!(%error, "a tool body panicked while it was dropped");
                }
                self.abandon_queue();
                self.finished.store(true, Ordering::SeqCst);
                self.driver.wake();
                self.waiter.wake();
            }
        }
    }

    /// Whether the lane has come to its end just now.
    fn advance(self: &Arc<Self>, lane: &mut LaneState) -> bool {
        if let LaneState::Over = lane {
            return false;
        }
        if self.forsaken.load(Ordering::SeqCst) {
            return true;
        }
        if let LaneState::Unmade = lane {
            *lane = LaneState::Running(Lane::new(Arc::clone(self)).run().boxed());
        }
        let LaneState::Running(future) = lane else {
            return false;
        };
        let waker = Waker::from(Arc::clone(self));
        future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
    }

    /// For a pool that ended before its time; a lane that came to its end leaves nothing.
    fn abandon_queue(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let rest = std::mem::take(&mut *lock(&self.queue));
        rest.into_iter().for_each(abandon);
    }

    fn poll_finished(&self) -> Poll<()> {
        if self.finished.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
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
