//! The workers: started ahead, used again, replaced.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::config::ProcessRuntimeConfig;
use super::link::{self, Worker};
use super::start::{self, StartError};

/// All workers of a runtime.
pub(super) struct Pool {
    pub(super) config: ProcessRuntimeConfig,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    all: Vec<Arc<Worker>>,
    /// The one used last comes last, and is used next.
    idle: Vec<Arc<Worker>>,
    waiting: VecDeque<Waiter>,
    starting: usize,
    closed: bool,
}

type Waiter = oneshot::Sender<Result<Lease, StartError>>;

/// A worker that was taken for a run. Without one it goes back when dropped.
pub(super) struct Lease {
    pool: Arc<Pool>,
    worker: Option<Arc<Worker>>,
}

impl Pool {
    pub(super) fn new(config: ProcessRuntimeConfig) -> Arc<Self> {
        let pool = Arc::new(Self { config, state: Mutex::default() });
        pool.top_up(pool.state());
        pool
    }

    /// A worker that is ready.
    ///
    /// # Errors
    /// [`StartError`] if a new one was needed and could not be started.
    pub(super) async fn take(self: &Arc<Self>) -> Result<Lease, StartError> {
        let wait = {
            let mut state = self.state();
            if let Some(worker) = state.idle.pop() {
                self.top_up(state);
                return Ok(self.lease(worker));
            }
            let (waiter, wait) = oneshot::channel();
            state.waiting.push_back(waiter);
            self.top_up(state);
            wait
        };
        // The pool tells every waiter, or is closed under it.
        wait.await.unwrap_or_else(|_| {
            Err(StartError::Engine { reason: "the runtime was disposed meanwhile".to_owned() })
        })
    }

    /// A worker has started.
    pub(super) fn add(self: &Arc<Self>, worker: &Arc<Worker>) {
        let mut state = self.state();
        state.starting -= 1;
        state.all.push(Arc::clone(worker));
        self.hand_over(state, worker);
    }

    /// A worker's run has ended.
    pub(super) fn release(self: &Arc<Self>, worker: &Arc<Worker>) {
        let most = u32::try_from(self.config.max_runs_per_worker).unwrap_or(u32::MAX);
        if worker.runs() >= most {
            worker.kill();
        } else {
            self.hand_over(self.state(), worker);
        }
    }

    /// Ends an idle worker that has grown too large.
    pub(super) fn inspect(&self, worker: &Arc<Worker>) {
        if resident_bytes(worker.id).is_none_or(|bytes| bytes <= self.config.max_idle_worker_bytes) {
            return;
        }
        let mut state = self.state();
        if let Some(place) = state.idle.iter().position(|idle| Arc::ptr_eq(idle, worker)) {
            state.idle.remove(place);
            worker.kill();
        }
        // One that is busy again is looked at again.
    }

    /// A worker is gone.
    pub(super) fn remove(self: &Arc<Self>, worker: &Arc<Worker>) {
        let mut state = self.state();
        state.all.retain(|each| !Arc::ptr_eq(each, worker));
        state.idle.retain(|each| !Arc::ptr_eq(each, worker));
        // One that ends before it was of any use may be followed by many alike.
        if worker.runs() > 0 || !state.waiting.is_empty() {
            self.top_up(state);
        }
    }

    /// Ends all workers, the busy ones when their runs have ended.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.waiting.clear();
        for worker in state.idle.drain(..) {
            worker.kill();
        }
    }

    /// The process ids of the workers.
    pub(super) fn ids(&self) -> Vec<u32> {
        self.state().all.iter().map(|worker| worker.id).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lease(self: &Arc<Self>, worker: Arc<Worker>) -> Lease {
        Lease { pool: Arc::clone(self), worker: Some(worker) }
    }

    /// Gives a worker to whoever waits longest, or keeps it.
    fn hand_over(self: &Arc<Self>, mut state: MutexGuard<'_, State>, worker: &Arc<Worker>) {
        if state.closed {
            worker.kill();
            return;
        }
        while let Some(waiter) = state.waiting.pop_front() {
            match waiter.send(Ok(self.lease(Arc::clone(worker)))) {
                Ok(()) => return,
                // It waits no more. Its lease must not go back from here.
                Err(lease) => drop(lease.map(|mut lease| lease.worker.take())),
            }
        }
        state.idle.push(Arc::clone(worker));
    }

    /// Starts workers until there are enough for those who wait, and to spare.
    fn top_up(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if state.closed {
            return;
        }
        let most = self.config.max_concurrent_runs.saturating_add(self.config.spare_workers);
        let wanted = state.waiting.len().max(self.config.spare_workers.saturating_sub(state.idle.len()));
        while state.starting < wanted
            && (state.all.len() + state.starting < most || state.starting < state.waiting.len())
        {
            state.starting += 1;
            let pool = Arc::clone(self);
            let thread = std::thread::Builder::new().name("code-mode-worker".to_owned());
            let spawned = thread.spawn(move || match start::start(&pool.config) {
                Ok(started) => link::listen(started, &pool),
                Err(error) => pool.failed(&error),
            });
            if let Err(error) = spawned {
                state.starting -= 1;
                if let Some(waiter) = state.waiting.pop_front() {
                    let executable = "a thread".into();
                    // Whoever waits no more needs no answer.
                    let _ = waiter.send(Err(StartError::Spawn { executable, reason: error.to_string() }));
                }
                return;
            }
        }
    }

    /// A worker could not be started.
    fn failed(self: &Arc<Self>, error: &StartError) {
        tracing::error!(%error, "no worker process");
        let mut state = self.state();
        state.starting -= 1;
        while let Some(waiter) = state.waiting.pop_front() {
            if waiter.send(Err(error.clone())).is_ok() {
                break;
            }
        }
        // Only for those who wait: each failure answers one of them.
        if !state.waiting.is_empty() {
            self.top_up(state);
        }
    }
}

impl Lease {
    /// The worker, to be given a run.
    pub(super) fn into_worker(mut self) -> Arc<Worker> {
        self.worker.take().expect("only a lease that nobody got loses its worker")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.pool.hand_over(self.pool.state(), &worker);
        }
    }
}

/// The resident memory of a process in bytes, where the system tells.
fn resident_bytes(process: u32) -> Option<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}
