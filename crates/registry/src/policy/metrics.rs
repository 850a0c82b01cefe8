//! The metrics policy: counts and times per tool.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{Registration, ToolRegistry};

/// Counts every call and times every dispatch of a registry. Clones are the same counters.
///
/// Numbers are kept by the name that was called, and models call tools that do not exist. At most 1 000 names that no
/// tool answered to are kept, each of at most 256 bytes; what comes after them is counted together under
/// [`Metrics::OTHER_NAMES`]. A tool that was dispatched always has numbers of its own.
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

/// Beyond them the names of calls that reached no tool are not told apart.
const MAX_NAMES: usize = 1_000;
const MAX_NAME_BYTES: usize = 256;

impl Metrics {
    /// Where the calls of too many, or too long, unknown names are counted.
    pub const OTHER_NAMES: &'static str = "<other names>";

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
                metrics.update(dispatch.name(), dispatch.tool().is_some(), |tool| {
                    tool.dispatches += 1;
                    tool.total_time += time;
                    tool.max_time = tool.max_time.max(time);
                });
                result
            }
        });
        let counted = metrics.clone();
        let results = registry.on_result(move |execution, result| {
            counted.update(execution.name(), false, |tool| {
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

    fn update(&self, name: &str, is_known: bool, change: impl FnOnce(&mut ToolMetrics)) {
        let mut tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tool) = tools.get_mut(name) {
            return change(tool);
        }
        let has_room = tools.len() < MAX_NAMES && name.len() <= MAX_NAME_BYTES;
        let name = if is_known || has_room { name } else { Self::OTHER_NAMES };
        change(tools.entry(name.to_owned()).or_default());
    }
}
