//! What all clones of a registry share, and how it changes: briefly under the lock, then the listeners are
//! told.

use std::sync::{
    Arc, RwLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::{
    approval::Mounted,
    config::{Mode, RegistryConfig},
    contain::contain_result,
    error::ToolError,
    events::Listeners,
    execution::Agent,
    hooks::{
        ApprovalListener, AssembleListener, ChangeListener, ExecuteListener, PostExecuteListener,
        PreExecuteListener, ResultObserver,
    },
    host::HostEvents,
    layers::{Layers, View},
    prompt::PromptParts,
    registration::Registration,
    registry::RUN_CODE,
    sync::{read, write},
    tool::ToolDefinition,
    visibility::TYPESCRIPT,
};

pub(crate) struct Shared {
    pub(crate) config: RegistryConfig,
    pub(crate) layers: RwLock<Layers>,
    /// Whether any guard was ever registered; a call looks at the guards only then.
    pub(crate) has_guards: AtomicBool,
    pub(crate) pre_execute: Listeners<PreExecuteListener>,
    pub(crate) execute: Listeners<ExecuteListener>,
    pub(crate) post_execute: Listeners<PostExecuteListener>,
    pub(crate) result: Listeners<ResultObserver>,
    pub(crate) change: Listeners<ChangeListener>,
    pub(crate) approval_request: Listeners<ApprovalListener>,
    pub(crate) assemble: Listeners<AssembleListener>,
    pub(crate) approval: RwLock<Vec<Mounted>>,
    pub(crate) prompt: RwLock<PromptParts>,
    pub(crate) host: HostEvents,
    next_id: AtomicU64,
}

impl Shared {
    pub(crate) fn new(config: RegistryConfig) -> Self {
        Self {
            prompt: RwLock::new(PromptParts::new(config.mode)),
            config,
            layers: RwLock::default(),
            has_guards: AtomicBool::new(false),
            pre_execute: Listeners::default(),
            execute: Listeners::default(),
            post_execute: Listeners::default(),
            result: Listeners::default(),
            change: Listeners::default(),
            approval_request: Listeners::default(),
            assemble: Listeners::default(),
            approval: RwLock::default(),
            host: HostEvents::default(),
            next_id: AtomicU64::new(1),
        }
    }

    pub(crate) fn resolve(&self, name: &str, agent: Option<&Agent>) -> Option<ToolDefinition> {
        read(&self.layers).resolve(name, agent).cloned()
    }

    pub(crate) fn view(&self, agent: Option<&Agent>) -> Arc<View> {
        if let Some(view) = read(&self.layers).cached_view(agent) {
            return view;
        }
        write(&self.layers).view(agent)
    }

    /// The mode in which tools are presented to `agent`.
    pub(crate) fn mode_of(&self, agent: Option<&Agent>) -> Mode {
        match self.config.mode {
            // No agent of such a registry has another one.
            Mode::Native => Mode::Native,
            mode => read(&self.layers).mode_of(agent).unwrap_or(mode),
        }
    }

    /// Mode `code`: only `run_code` may be called without a parent (decision 25).
    pub(crate) fn refuses_direct_call(&self, name: &str, agent: Option<&Agent>, has_parent: bool) -> bool {
        !has_parent && name != RUN_CODE && self.mode_of(agent) == Mode::Code
    }

    /// Why programs of `agent` cannot run here, if they cannot: mode `code` or `both` without a runtime, or with
    /// one of another language (contract 8).
    pub(crate) fn runtime_error(&self, agent: Option<&Agent>) -> Option<String> {
        let mode = self.mode_of(agent);
        if mode == Mode::Native {
            return None;
        }
        let mode = mode.as_str();
        match read(&self.layers).transport() {
            None => Some(format!("tools mode \"{mode}\" requires a code runtime, and none is installed")),
            Some(transport) if transport.language() != TYPESCRIPT => Some(format!(
                "tools mode \"{mode}\" requires a code runtime for \"{TYPESCRIPT}\", but its language is \"{}\"",
                transport.language()
            )),
            Some(_) => None,
        }
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Changes the layers under the lock. What the change threw away is dropped after it: dropping a
    /// definition may run code of its owner.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Layers) -> T) -> T {
        let mut layers = write(&self.layers);
        let outcome = change(&mut layers);
        let garbage = layers.forget_views();
        drop(layers);
        drop(garbage);
        outcome
    }

    /// Tells the change listeners of a change that `take` undoes. If one fails, the change is undone, those
    /// that were told before are told again, and the message comes back; else the registration that undoes
    /// it.
    pub(crate) fn confirm_change<T>(
        self: &Arc<Self>,
        take: impl FnOnce(&mut Layers) -> T + Send + 'static,
    ) -> Result<Registration, Arc<str>> {
        if let Err((told, error)) = self.tell_until_failure() {
            drop(self.change(take));
            self.tell_contained(told);
            return Err(Arc::from(error.message()));
        }
        // Weakly: with the registry gone there is nothing left to undo.
        let shared = Arc::downgrade(self);
        Ok(Registration::new(move || {
            if let Some(shared) = shared.upgrade() {
                drop(shared.change(take));
                shared.tell_contained(usize::MAX);
            }
        }))
    }

    fn tell_until_failure(&self) -> Result<(), (usize, ToolError)> {
        let Some(listeners) = self.change.heard_by(None) else {
            return Ok(());
        };
        listeners
            .iter()
            .enumerate()
            .try_for_each(|(told, listener)| contain_result(&**listener).map_err(|error| (told, error)))
    }

    /// Tells at most `count` listeners; for changes that cannot be taken back.
    fn tell_contained(&self, count: usize) {
        let Some(listeners) = self.change.heard_by(None) else {
            return;
        };
        for listener in listeners.iter().take(count) {
            if let Err(error) = contain_result(&**listener) {
                tracing::warn!(%error, "a tools/change listener failed");
            }
        }
    }
}
