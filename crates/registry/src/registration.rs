//! The guard that owns registrations.

use std::{fmt, sync::Mutex};

use crate::{contain::contain, sync::lock};

/// Owns one registration (a tool, a filter, a guard, a listener, …) and ends it when dropped.
#[must_use = "dropping a registration ends it; use `keep` to leave it for the registry's life"]
#[derive(Default)]
pub struct Registration {
    /// In order of registration; undone in reverse.
    undo: Mutex<Vec<Undo>>,
}

type Undo = Box<dyn FnOnce() + Send>;

impl Registration {
    pub(crate) fn new(undo: impl FnOnce() + Send + 'static) -> Self {
        Self { undo: Mutex::new(vec![Box::new(undo)]) }
    }

    /// Both as one. They end in reverse order, as an ordered teardown does.
    pub fn and(self, later: Registration) -> Self {
        lock(&self.undo).append(&mut later.take());
        self
    }

    /// Ends the registration. A second call does nothing. If code of others panics that runs for it, such as the
    /// destructor of what was registered, that is logged and the rest ends all the same.
    pub fn dispose(&self) {
        let undo = std::mem::take(&mut *lock(&self.undo));
        for undo in undo.into_iter().rev() {
            if let Err(error) = contain(undo) {
                tracing::warn!(%error, "the end of a registration panicked");
            }
        }
    }

    /// Leaves the registration in place for the registry's life (an agent's for the agent's).
    pub fn keep(self) {
        drop(self.take());
    }

    fn take(self) -> Vec<Undo> {
        std::mem::take(&mut *lock(&self.undo))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.dispose();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("is_ended", &lock(&self.undo).is_empty()).finish()
    }
}
