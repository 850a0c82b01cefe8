//! The lane of a pool: the one place where calls start and are committed.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, Waker},
};

use futures::{FutureExt, StreamExt, channel::oneshot, future::BoxFuture, stream::FuturesUnordered};

use super::{CallObserver, CommitOrder, Pool, Submitted, abandon, observe};
use crate::{
    contain::contain,
    pipeline::{Admission, SettledCall, StartedCall},
    sync::lock,
    visibility::ExecutionMode,
};

/// Starts and commits calls, one step at a time. What it has not brought to an end when it is dropped is abandoned.
pub(super) struct Lane {
    pool: Arc<Pool>,
    /// The first of the queue. Held here while it is looked at, because its classifier is code of others.
    next: Option<Submitted>,
    /// Started calls that are not committed, oldest first.
    started: VecDeque<Started>,
    bodies: FuturesUnordered<BoxFuture<'static, Finished>>,
    /// Finished bodies that are not committed, in the order they finished.
    finished: VecDeque<Finished>,
    next_place: usize,
    exclusive: bool,
}

struct Started {
    place: usize,
    exclusive: bool,
    observer: Box<dyn CallObserver>,
}

/// A finished body with its place among the started calls; `None` if what ran it dropped it.
type Finished = (usize, Option<SettledCall>);

enum AnswerOr {
    Answer(StartedCall),
    Finished,
}

impl Lane {
    pub(super) fn new(pool: Arc<Pool>) -> Self {
        Self {
            pool,
            next: None,
            started: VecDeque::new(),
            bodies: FuturesUnordered::new(),
            finished: VecDeque::new(),
            next_place: 0,
            exclusive: false,
        }
    }

    pub(super) async fn run(mut self) {
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
        // It stays among the started calls until it is committed, so that it is abandoned if the lane is dropped here.
        let result = match settled {
            Some(settled) => Some(self.beside_bodies(settled.commit()).await),
            None => None,
        };
        let Some(at) = self.started.iter().position(|started| started.place == place) else {
            return true;
        };
        let Some(started) = self.started.remove(at) else {
            return true;
        };
        match result {
            Some(result) => observe(|| started.observer.committed(result)),
            None => observe(|| started.observer.abandoned()),
        }
        if started.exclusive {
            self.exclusive = false;
        }
        true
    }

    /// Starts the call that was submitted first, if it may start now.
    async fn start_next(&mut self) -> bool {
        let Some((next, exclusive)) = self.take_startable() else {
            return false;
        };
        if self.pool.config.signal.is_cancelled() {
            abandon(next);
            return true;
        }
        let Submitted { call, mut observer } = next;
        self.exclusive |= exclusive;
        observe(|| observer.started());
        let place = self.next_place;
        self.next_place += 1;
        self.started.push_back(Started { place, exclusive, observer });
        let admission = self.pool.registry.admit(call);
        match self.beside_bodies(admission).await {
            Admission::Started(call) => self.launch(place, call),
            Admission::Asking(asking) => {
                let mut answer = asking.resolve();
                let call = loop {
                    if let AnswerOr::Answer(call) = self.answer_or_finished(&mut answer).await {
                        break call;
                    }
                    while self.commit_next().await {}
                };
                self.launch(place, call);
            }
        }
        true
    }

    /// The first of the queue if it may start, and whether it runs alone. It is classified at the last moment, because
    /// what is registered may have changed while it waited, and only once, because a classifier may change its mind.
    fn take_startable(&mut self) -> Option<(Submitted, bool)> {
        let next = self.next.take().or_else(|| lock(&self.pool.queue).pop_front())?;
        if self.pool.config.signal.is_cancelled() {
            return Some((next, false));
        }
        if !self.exclusive {
            let exclusive = self.pool.registry.execution_mode(&next.call) == ExecutionMode::Exclusive;
            let bound = if exclusive { 1 } else { self.pool.config.max_in_flight };
            if self.bodies.len() < bound {
                return Some((next, exclusive));
            }
        }
        self.next = Some(next);
        None
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
                let body = body.map(|settled| {
                    // The lane waits for every body, so it is there.
                    let _ = done.send(settled);
                });
                // A body that is lost here has no result, as one that its runtime loses later.
                if let Err(error) = contain(|| spawn(body.boxed())) {
                    tracing::warn!(%error, "a body could not be spawned");
                }
                result.map(move |settled| (place, settled.ok())).boxed()
            }
        };
        self.bodies.push(body);
    }

    /// Takes a step of the lane. The bodies that run on this task go on meanwhile.
    async fn beside_bodies<T>(&mut self, step: impl Future<Output = T>) -> T {
        let mut step = pin!(step);
        poll_fn(|context| {
            let poll = step.as_mut().poll(context);
            if poll.is_pending() {
                self.collect_finished(context);
            }
            poll
        })
        .await
    }

    /// Waits for the approval or for a body, whichever is first.
    async fn answer_or_finished(&mut self, answer: &mut BoxFuture<'static, StartedCall>) -> AnswerOr {
        poll_fn(|context| {
            if self.collect_finished(context) {
                return Poll::Ready(AnswerOr::Finished);
            }
            answer.poll_unpin(context).map(AnswerOr::Answer)
        })
        .await
    }

    /// Waits for a finished body, a submission, the abort or the end.
    async fn wait(&mut self) {
        let pool = Arc::clone(&self.pool);
        let mut cancelled = pool.config.signal.cancelled();
        poll_fn(|context| {
            let mut ready = pool.changed.swap(false, Ordering::SeqCst);
            ready |= self.collect_finished(context);
            // A cancellation matters only to what waits.
            if self.something_waits() && cancelled.poll_unpin(context).is_ready() {
                ready = true;
            }
            if ready { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Whether a body has finished since the last look.
    fn collect_finished(&mut self, context: &mut Context<'_>) -> bool {
        let before = self.finished.len();
        while let Poll::Ready(Some(finished)) = self.bodies.poll_next_unpin(context) {
            self.finished.push_back(finished);
        }
        self.finished.len() > before
    }

    fn something_waits(&self) -> bool {
        self.next.is_some() || !lock(&self.pool.queue).is_empty()
    }

    fn is_drained(&self) -> bool {
        let queue = lock(&self.pool.queue);
        self.next.is_none() && queue.is_empty() && self.pool.closed.load(Ordering::SeqCst)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        for started in std::mem::take(&mut self.started) {
            observe(|| started.observer.abandoned());
        }
        self.next.take().into_iter().for_each(abandon);
    }
}
