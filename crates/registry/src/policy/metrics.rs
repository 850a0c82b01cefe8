//! The metrics policy: counts and times per tool.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{Registration, ToolRegistry};

/// Counts every call and times every dispatch of a registry. Clones are the same counters.
///
/// ```
/// use code_mode_registry::{ToolCall, ToolRegistry, policy::Metrics};
/// use code_mode_schema::json;
///
/// let registry = ToolRegistry::default();
/// let (metrics, _installed) = Metrics::install(&registry);
/// futures::executor::block_on(registry.execute(ToolCall::new("1", "missing", json!({}))));
/// assert_eq!(metrics.snapshot()["missing"].failures["UNKNOWN_TOOL"], 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<BTreeMap<String, ToolMetrics>>>);

/// The numbers of one tool name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolMetrics {
    /// Finished calls, failures included.
    pub calls: u64,
    /// Failures by code; those without a code under the empty string.
    pub failures: BTreeMap<String, u64>,
    /// Dispatches, retries not counted apart: the time from the outermost wrapper on.
    pub dispatches: u64,
    /// The time of all dispatches.
    pub total_time: Duration,
    /// The longest dispatch.
    pub max_time: Duration,
}

impl Metrics {
    /// Installs fresh counters.
    pub fn install(registry: &ToolRegistry) -> (Self, Registration) {
        let metrics = Self::default();
        let timed = metrics.clone();
        let dispatches = registry.hooks().prepend().on_execute(move |dispatch, next| {
            let metrics = timed.clone();
            async move {
                let started = Instant::now();
                let result = next.call().await;
                let time = started.elapsed();
                metrics.update(dispatch.name(), |tool| {
                    tool.dispatches += 1;
                    tool.total_time += time;
                    tool.max_time = tool.max_time.max(time);
                });
                result
            }
        });
        let counted = metrics.clone();
        let results = registry.on_result(move |execution, result| {
            counted.update(execution.name(), |tool| {
                tool.calls += 1;
                if let Some(failure) = result.error() {
                    let code = failure.code().unwrap_or_default().to_owned();
                    *tool.failures.entry(code).or_default() += 1;
                }
            });
        });
        (metrics, dispatches.and(results))
    }

    /// The numbers so far, by tool name.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<String, ToolMetrics> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn update(&self, name: &str, change: impl FnOnce(&mut ToolMetrics)) {
        let mut tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tool) = tools.get_mut(name) {
            change(tool);
        } else {
            change(tools.entry(name.to_owned()).or_default());
        }
    }
}
