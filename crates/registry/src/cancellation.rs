//! Cancellation: signals with a reason, the fusion of several into one, and the two abort results.
//!
//! Cancellation is cooperative. A [`Signal`] says that the result is no longer wanted and why; a body that
//! looks at it may stop early, and a body that does not is awaited to its end. The first cause wins: a signal
//! is cancelled once, and its reason never changes afterwards.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, OnceLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use crate::{
    error::{ErrorInfo, ToolFailure},
    sync::lock,
};

/// The owner's half of a signal: whoever holds it can cancel.
///
/// Dropping the source does not cancel; a signal whose source is gone simply stays uncancelled.
///
/// ```
/// use code_mode_registry::SignalSource;
///
/// let source = SignalSource::new();
/// let signal = source.signal();
/// assert!(!signal.is_cancelled());
/// source.cancel("the user pressed escape");
/// assert_eq!(signal.reason().unwrap().as_str(), "the user pressed escape");
/// ```
#[derive(Debug)]
pub struct SignalSource {
    signal: Signal,
}

impl SignalSource {
    /// A source whose signal is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self { signal: Signal::fresh(fresh_id()) }
    }

    /// Cancels the signal and everything fused from it. The first call wins and returns `true`; later ones do
    /// nothing and return `false`.
    pub fn cancel(&self, reason: impl Into<CancelReason>) -> bool {
        self.signal.state.as_ref().is_some_and(|state| State::cancel(state, &reason.into()))
    }

    /// The half to hand out.
    #[must_use]
    pub fn signal(&self) -> Signal {
        self.signal.clone()
    }
}

impl Default for SignalSource {
    fn default() -> Self {
        Self::new()
    }
}

/// Tells a call that its result is no longer wanted, and why. Clones are the same signal.
#[derive(Clone)]
pub struct Signal {
    /// `None`: can never be cancelled.
    state: Option<Arc<State>>,
    /// What [`Signal::same`] compares. The view of a caller's signal that a call hands to its body keeps the
    /// caller's id.
    id: u64,
}

impl Signal {
    /// The signal that is never cancelled.
    #[must_use]
    pub const fn never() -> Self {
        Self { state: None, id: NEVER }
    }

    /// A signal cancelled by the first of `signals` to be cancelled, with that one's reason. If several are
    /// cancelled already, the first in order gives the reason. One signal, or the same one several times, is
    /// returned as it is.
    #[must_use]
    pub fn any(signals: impl IntoIterator<Item = Signal>) -> Self {
        let mut parents: Vec<Signal> = Vec::new();
        for signal in signals {
            if signal.state.is_some() && !parents.iter().any(|known| known.is_identical(&signal)) {
                parents.push(signal);
            }
        }
        if let Some(cancelled) = parents.iter().find(|signal| signal.is_cancelled()) {
            return cancelled.clone();
        }
        match parents.len() {
            0 => Self::never(),
            1 => parents.swap_remove(0),
            _ => Self::relay(&parents, fresh_id()),
        }
    }

    /// Whether the signal has been cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.reason.get().is_some())
    }

    /// Why the signal was cancelled; `None` as long as it was not.
    #[must_use]
    pub fn reason(&self) -> Option<CancelReason> {
        self.state.as_ref()?.reason.get().cloned()
    }

    /// Waits until the signal is cancelled and gives the reason; never ready for [`Signal::never`].
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { signal: self.clone(), key: None }
    }

    /// Whether both stand for the same signal. What a call hands to its body counts as the caller's signal
    /// unless a wrapper put another one in its place.
    #[must_use]
    pub fn same(&self, other: &Signal) -> bool {
        self.id == other.id
    }

    fn fresh(id: u64) -> Self {
        Self { state: Some(Arc::default()), id }
    }

    fn is_identical(&self, other: &Signal) -> bool {
        match (&self.state, &other.state) {
            (Some(left), Some(right)) => Arc::ptr_eq(left, right),
            (None, None) => true,
            _ => false,
        }
    }

    /// A new signal that follows each of `parents`.
    fn relay<'a>(parents: impl IntoIterator<Item = &'a Signal>, id: u64) -> Self {
        let relay: Arc<State> = Arc::default();
        for parent in parents.into_iter().filter_map(|signal| signal.state.as_ref()) {
            State::link(parent, &relay);
        }
        Self { state: Some(relay), id }
    }
}

impl Default for Signal {
    fn default() -> Self {
        Self::never()
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            Some(reason) => write!(f, "Signal(cancelled: {reason})"),
            None if self.state.is_none() => f.write_str("Signal(never)"),
            None => f.write_str("Signal(live)"),
        }
    }
}

/// Why a signal was cancelled: a short text for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelReason(Arc<str>);

impl CancelReason {
    /// A reason of its own, distinct under [`CancelReason::same`] from every other one, whatever its text.
    #[must_use]
    pub fn new(text: impl AsRef<str>) -> Self {
        // Always a fresh allocation: its address is the identity.
        Self(Arc::from(text.as_ref()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a clone of that very reason. This is how a policy recognises that *its* deadline, and
    /// not somebody else's cancellation, came first.
    #[must_use]
    pub fn same(&self, other: &CancelReason) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for CancelReason {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for CancelReason {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// The future of [`Signal::cancelled`]. Dropping it takes its waiter out of the signal.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Cancelled {
    signal: Signal,
    key: Option<u64>,
}

impl Future for Cancelled {
    type Output = CancelReason;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CancelReason> {
        let this = &mut *self;
        let Some(state) = &this.signal.state else {
            return Poll::Pending;
        };
        // Cloned before the lock is taken, and what it replaces is dropped after it: both may run code of others.
        let mut waker = cx.waker().clone();
        // `cancel` sets the reason under the same lock, so no wake-up can fall between the look and the
        // entry.
        let mut links = lock(&state.links);
        if let Some(reason) = state.reason.get() {
            return Poll::Ready(reason.clone());
        }
        match this.key.and_then(|key| links.waiters.iter_mut().find(|(known, _)| *known == key)) {
            Some((_, known)) => std::mem::swap(known, &mut waker),
            None => {
                let key = links.next_key();
                links.waiters.push((key, waker));
                this.key = Some(key);
                return Poll::Pending;
            }
        }
        drop(links);
        drop(waker);
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        let (Some(key), Some(state)) = (self.key, &self.signal.state) else {
            return;
        };
        let waiter = Links::take(&mut lock(&state.links).waiters, key);
        drop(waiter);
    }
}

/// The signal of one dispatch: follows the caller's signal, the one a wrapper put in its place (contract
/// 3.7), and `abandoned`, which says that the wrapper stopped waiting.
///
/// If the first two are the same signal, so is the fused one. If the wrapper's is cancelled already, its
/// reason wins.
pub(crate) fn fuse(assigned: &Signal, caller: &Signal, abandoned: &Signal) -> Fused {
    let relays_a_wrapper = !assigned.same(caller);
    let signal = if relays_a_wrapper {
        Signal::relay([assigned, caller, abandoned], fresh_id())
    } else {
        Signal::relay([caller, abandoned], caller.id)
    };
    Fused { signal, relays_a_wrapper, settled: false }
}

/// Owns the signal of one dispatch; cancels it if the dispatch is dropped before the body settled.
pub(crate) struct Fused {
    pub(crate) signal: Signal,
    relays_a_wrapper: bool,
    settled: bool,
}

impl Fused {
    /// The body has settled: a relay stops following, and dropping this no longer cancels.
    pub(crate) fn settle(&mut self) {
        self.settled = true;
        if let (true, Some(state)) = (self.relays_a_wrapper, &self.signal.state) {
            State::unlink(state);
        }
    }
}

impl Drop for Fused {
    fn drop(&mut self) {
        if let (false, Some(state)) = (self.settled, &self.signal.state) {
            State::cancel(state, &CancelReason::new("the tool call was dropped before it settled"));
        }
    }
}

/// The body started and would have succeeded, but the caller no longer wants the result (contract 3.10).
pub(crate) fn aborted() -> ToolFailure {
    ToolFailure::new("tool call aborted").with_info(ErrorInfo::new("AbortError", "ABORTED"))
}

/// The caller cancelled before the body started (contract 3.10).
pub(crate) fn aborted_before_dispatch() -> ToolFailure {
    ToolFailure::new("tool call aborted before dispatch")
        .with_info(ErrorInfo::new("AbortError", "ABORTED_BEFORE_DISPATCH"))
}

const NEVER: u64 = 0;

fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(NEVER + 1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[derive(Default)]
struct State {
    reason: OnceLock<CancelReason>,
    links: Mutex<Links>,
}

/// Who is to be told, and whom this signal follows. Both lists are short: one entry per call in flight.
#[derive(Default)]
struct Links {
    last_key: u64,
    waiters: Vec<(u64, Waker)>,
    children: Vec<(u64, Weak<State>)>,
    parents: Vec<(u64, Arc<State>)>,
}

impl Links {
    fn next_key(&mut self) -> u64 {
        self.last_key += 1;
        self.last_key
    }

    /// Searches from the end: the newest entry is the likeliest to leave.
    fn take<T>(list: &mut Vec<(u64, T)>, key: u64) -> Option<T> {
        let index = list.iter().rposition(|(known, _)| *known == key)?;
        Some(list.swap_remove(index).1)
    }
}

impl State {
    /// Cancels `state` and everything that follows it. Every reason is set before anybody wakes, and no lock
    /// is held while wakers run.
    fn cancel(state: &Arc<State>, reason: &CancelReason) -> bool {
        let Some((mut wakers, mut followers)) = state.fire(reason) else {
            return false;
        };
        while let Some((_, follower)) = followers.pop() {
            let fired = follower.upgrade().and_then(|follower| follower.fire(reason));
            if let Some((more_wakers, more_followers)) = fired {
                wakers.extend(more_wakers);
                followers.extend(more_followers);
            }
        }
        for (_, waker) in wakers {
            waker.wake();
        }
        true
    }

    #[expect(clippy::type_complexity, reason = "the two lists to be told, used in one place")]
    fn fire(&self, reason: &CancelReason) -> Option<(Vec<(u64, Waker)>, Vec<(u64, Weak<State>)>)> {
        let mut links = lock(&self.links);
        self.reason.set(reason.clone()).ok()?;
        Some((std::mem::take(&mut links.waiters), std::mem::take(&mut links.children)))
    }

    fn link(parent: &Arc<State>, child: &Arc<State>) {
        let mut links = lock(&parent.links);
        if let Some(reason) = parent.reason.get().cloned() {
            drop(links);
            State::cancel(child, &reason);
            return;
        }
        let key = links.next_key();
        links.children.push((key, Arc::downgrade(child)));
        drop(links);
        lock(&child.links).parents.push((key, Arc::clone(parent)));
    }

    /// Lets go of what `child` follows. Step by step: a signal may follow the first of a chain of any length, which all
    /// ends with it.
    fn unlink(child: &State) {
        let mut pending = std::mem::take(&mut lock(&child.links).parents);
        while let Some((key, parent)) = pending.pop() {
            let follower = Links::take(&mut lock(&parent.links).children, key);
            drop(follower);
            if let Some(last) = Arc::into_inner(parent) {
                pending.append(&mut lock(&last.links).parents);
            }
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        State::unlink(self);
    }
}
