//! The guard that owns registrations.

use std::{fmt, sync::Mutex};

use crate::{contain::contain, sync::lock};

/// Owns one registration (a tool, a filter, a guard, a listener, …) and ends it when dropped.
///
/// `let _ = registry.register(tool)?;` drops it at once, and no lint says so: bind it to a name (`let _tool = …`), or
/// [`keep`](Self::keep) it. Several are collected into one, or none if one of them is refused:
///
/// ```
/// use code_mode_registry::{Registration, ToolDefinition, ToolRegistry};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// let tool = |name| ToolDefinition::typed(name, "Says its name", move |_: Nothing, _| async move { Ok(name) });
/// let registry = ToolRegistry::default();
/// let tools: Registration =
///     ["left", "right"].into_iter().map(|name| registry.register(tool(name))).collect::<Result<_, _>>()?;
/// assert_eq!(registry.view(None).len(), 2);
/// drop(tools);
/// assert_eq!(registry.view(None).len(), 0);
/// # Ok::<(), code_mode_registry::RegisterError>(())
/// ```
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

/// All as one, as [`Registration::and`] makes it.
impl FromIterator<Registration> for Registration {
    fn from_iter<I: IntoIterator<Item = Registration>>(registrations: I) -> Self {
        registrations.into_iter().fold(Self::default(), Self::and)
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
