//! The waterfalls and observers of the pipeline: registration, order, scope filter, `next` (contract 3.2).
//!
//! Listeners run outermost first in registration order; a prepended one goes before all that are there. A
//! listener that does not call [`Next::call`] decides alone. The list is fixed when a dispatch of the event
//! starts. A listener registered for an agent receives only events of that agent, never events without one.

use std::{
    fmt,
    sync::{
        Arc, RwLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::future::BoxFuture;

use crate::{
    contain::{Callback, contain_future},
    error::ToolError,
    execution::{Agent, AgentIdentity},
    sync::{read, write},
};

/// The rest of a waterfall: the inner listeners, and in the middle what the event is about.
///
/// It may be called any number of times, each call runs the whole rest again (decision 24), and also not at
/// all.
pub struct Next<D> {
    rest: Arc<dyn Rest<D>>,
    from: usize,
}

impl<D: 'static> Next<D> {
    /// Runs the rest and gives its decision.
    ///
    /// # Errors
    /// What an inner listener returned as `Err`, or the panic it died of. The middle itself never fails: a
    /// failing tool is a failed result.
    pub async fn call(&self) -> Result<D, ToolError> {
        Arc::clone(&self.rest).run_from(self.from).await
    }
}

impl<D> Clone for Next<D> {
    fn clone(&self) -> Self {
        Self { rest: Arc::clone(&self.rest), from: self.from }
    }
}

impl<D> fmt::Debug for Next<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("from", &self.from).finish_non_exhaustive()
    }
}

/// A listener of a waterfall over arguments `A` that decides a `D`.
pub(crate) type Listener<A, D> = dyn Fn(A, Next<D>) -> BoxFuture<'static, Result<D, ToolError>> + Send + Sync;

/// What is in the middle of a waterfall.
pub(crate) type Middle<D> = dyn Fn() -> BoxFuture<'static, Result<D, ToolError>> + Send + Sync;

/// Runs `listeners` around `middle`.
pub(crate) async fn run_waterfall<A, D>(
    listeners: Heard<Listener<A, D>>,
    arguments: A,
    middle: Box<Middle<D>>,
) -> Result<D, ToolError>
where
    A: Clone + Send + Sync + 'static,
    D: Send + 'static,
{
    let waterfall: Arc<dyn Rest<D>> = Arc::new(Waterfall { listeners, arguments, middle });
    waterfall.run_from(0).await
}

/// Type-erases the arguments, so that [`Next`] needs to name the decision only.
trait Rest<D>: Send + Sync {
    fn run_from(self: Arc<Self>, from: usize) -> BoxFuture<'static, Result<D, ToolError>>;
}

struct Waterfall<A, D> {
    listeners: Heard<Listener<A, D>>,
    arguments: A,
    middle: Box<Middle<D>>,
}

impl<A, D> Rest<D> for Waterfall<A, D>
where
    A: Clone + Send + Sync + 'static,
    D: Send + 'static,
{
    fn run_from(self: Arc<Self>, from: usize) -> BoxFuture<'static, Result<D, ToolError>> {
        let Some((index, listener)) = self.listeners.next_from(from) else {
            return (self.middle)();
        };
        let listener = listener.clone();
        let arguments = self.arguments.clone();
        let next = Next { rest: self, from: index + 1 };
        Box::pin(contain_future(move || listener(arguments, next)))
    }
}

/// The listeners of one event, in order.
pub(crate) struct Listeners<F: ?Sized> {
    entries: RwLock<Arc<Vec<Entry<F>>>>,
    next_id: AtomicU64,
}

struct Entry<F: ?Sized> {
    id: u64,
    scope: Scope,
    callback: Callback<F>,
}

impl<F: ?Sized> Clone for Entry<F> {
    fn clone(&self) -> Self {
        Self { id: self.id, scope: self.scope.clone(), callback: self.callback.clone() }
    }
}

/// Whose events a listener hears. It does not keep the agent alive: there are none of an agent that is gone.
#[derive(Clone)]
enum Scope {
    Everybody,
    Agent(u64, Weak<AgentIdentity>),
}

impl Scope {
    fn hears(&self, agent: Option<&Agent>) -> bool {
        match self {
            Self::Everybody => true,
            Self::Agent(id, _) => agent.is_some_and(|agent| agent.id() == *id),
        }
    }

    fn is_alive(&self) -> bool {
        match self {
            Self::Everybody => true,
            Self::Agent(_, identity) => identity.strong_count() > 0,
        }
    }
}

impl From<&Placement> for Scope {
    fn from(placement: &Placement) -> Self {
        match &placement.scope {
            None => Self::Everybody,
            Some(agent) => Self::Agent(agent.id(), agent.downgrade()),
        }
    }
}

impl<F: ?Sized> Default for Listeners<F> {
    fn default() -> Self {
        Self { entries: RwLock::default(), next_id: AtomicU64::new(0) }
    }
}

impl<F: ?Sized> Listeners<F> {
    /// Adds a listener and returns its id for [`Listeners::remove`].
    pub(crate) fn add(&self, placement: &Placement, callback: Arc<F>) -> u64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let entry = Entry { id, scope: Scope::from(placement), callback: callback.into() };
        self.replace(|list| list.insert(if placement.prepend { 0 } else { list.len() }, entry));
        id
    }

    pub(crate) fn remove(&self, id: u64) {
        self.replace(|list| list.retain(|entry| entry.id != id));
    }

    /// Puts a changed list in place, without the listeners of agents that are gone.
    fn replace(&self, change: impl FnOnce(&mut Vec<Entry<F>>)) {
        let mut entries = write(&self.entries);
        let mut list: Vec<_> = entries.iter().filter(|entry| entry.scope.is_alive()).cloned().collect();
        change(&mut list);
        let replaced = std::mem::replace(&mut *entries, Arc::new(list));
        drop(entries);
        // Dropping a listener may run code of its owner; not under the lock.
        drop(replaced);
    }

    pub(crate) fn is_empty(&self) -> bool {
        read(&self.entries).is_empty()
    }

    /// The listeners that hear an event of `agent`, as they are now; `None` if there are none.
    pub(crate) fn heard_by(&self, agent: Option<&Agent>) -> Option<Heard<F>> {
        let entries = read(&self.entries);
        if entries.is_empty() {
            return None;
        }
        let heard = Heard { entries: Arc::clone(&entries), agent: agent.cloned() };
        drop(entries);
        heard.next_from(0).is_some().then_some(heard)
    }
}

/// A fixed list of listeners, seen by one agent.
pub(crate) struct Heard<F: ?Sized> {
    entries: Arc<Vec<Entry<F>>>,
    agent: Option<Agent>,
}

impl<F: ?Sized> Heard<F> {
    fn next_from(&self, from: usize) -> Option<(usize, &Callback<F>)> {
        let rest = self.entries.iter().enumerate().skip(from);
        let mut heard = rest.filter(|(_, entry)| entry.scope.hears(self.agent.as_ref()));
        heard.next().map(|(index, entry)| (index, &entry.callback))
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Callback<F>> {
        let heard = self.entries.iter().filter(|entry| entry.scope.hears(self.agent.as_ref()));
        heard.map(|entry| &entry.callback)
    }
}

/// Where a listener goes and what it hears.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placement {
    pub(crate) scope: Option<Agent>,
    pub(crate) prepend: bool,
}
