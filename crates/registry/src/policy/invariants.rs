//! Development invariants: what must hold of every execution, checked from outside (contract 3.15).
//!
//! That arguments, result and content do not change after the observers are told needs no check: their types
//! have no way to change them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Registration, Token, ToolExecution, ToolRegistry};

/// Watches every call of a registry and keeps a list of what was violated. For development and tests: it
/// takes a lock per stage.
///
/// Per execution: pre-execute at most once; execute only after pre-execute; post-execute only after
/// pre-execute or execute; one result; name and call id are not empty.
#[derive(Clone, Debug, Default)]
pub struct DevInvariants(Arc<Mutex<Watch>>);

#[derive(Debug, Default)]
struct Watch {
    seen: HashMap<Token, Seen>,
    violations: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    pre_execute: bool,
    execute: bool,
}

impl DevInvariants {
    /// Installs the watch as the outermost listener of every event.
    pub fn install(registry: &ToolRegistry) -> (Self, Registration) {
        let watch = Self::default();
        let installed = [
            registry.hooks().prepend().on_pre_execute({
                let watch = watch.clone();
                move |execution, next| {
                    watch.see(&execution, |seen| {
                        let again = std::mem::replace(&mut seen.pre_execute, true);
                        again.then_some("pre-execute ran twice")
                    });
                    async move { next.call().await }
                }
            }),
            registry.hooks().prepend().on_execute({
                let watch = watch.clone();
                move |dispatch, next| {
                    watch.see(&dispatch, |seen| {
                        seen.execute = true;
                        (!seen.pre_execute).then_some("execute ran before pre-execute")
                    });
                    async move { next.call().await }
                }
            }),
            registry.hooks().prepend().on_post_execute({
                let watch = watch.clone();
                move |execution, result, next| {
                    // What mode `code` refuses goes from there to the post-policies (decision 25).
                    let is_refused =
                        result.error().is_some_and(|failure| failure.code() == Some("UNKNOWN_TOOL"));
                    watch.see(&execution, |seen| {
                        let early = !seen.pre_execute && !seen.execute && !is_refused;
                        early.then_some("post-execute ran before pre-execute")
                    });
                    async move { next.call().await }
                }
            }),
            registry.hooks().prepend().on_result({
                let watch = watch.clone();
                move |execution, _result| {
                    if execution.name().is_empty() {
                        watch.violate(execution, "the name is empty");
                    }
                    if execution.call_id().as_str().is_empty() {
                        watch.violate(execution, "the call id is empty");
                    }
                    watch.lock().seen.remove(&execution.token());
                }
            }),
        ];
        (watch, installed.into_iter().reduce(Registration::and).unwrap_or_default())
    }

    /// What was violated so far, in order.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }

    fn see(&self, execution: &ToolExecution, look: impl FnOnce(&mut Seen) -> Option<&'static str>) {
        let violation = look(self.lock().seen.entry(execution.token()).or_default());
        if let Some(what) = violation {
            self.violate(execution, what);
        }
    }

    fn violate(&self, execution: &ToolExecution, what: &str) {
        let violation = format!("{} ({}): {what}", execution.call_id(), execution.name());
        tracing::error!(violation, "a development invariant does not hold");
        self.lock().violations.push(violation);
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
