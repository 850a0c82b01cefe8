//! The clock side of the program's timers.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// Timers by due time; those due at one time fire in the order they were started.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeSet<(Instant, u64, u32)>,
    by_id: HashMap<u32, (Instant, u64)>,
    started: u64,
}

/// Longer delays are as good as never: no run lasts that long.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl Timers {
    pub(crate) fn start(&mut self, id: u32, delay_ms: f64, now: Instant) {
        self.cancel(id);
        let delay = Duration::try_from_secs_f64((delay_ms / 1000.0).max(0.0))
            .map_or(LONGEST, |delay| delay.min(LONGEST));
        self.started += 1;
        let entry = (now + delay, self.started);
        self.by_id.insert(id, entry);
        self.due.insert((entry.0, entry.1, id));
    }

    pub(crate) fn cancel(&mut self, id: u32) {
        if let Some((at, order)) = self.by_id.remove(&id) {
            self.due.remove(&(at, order, id));
        }
    }

    /// Takes the first timer that is due.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<u32> {
        let (at, _, id) = *self.due.first()?;
        if at > now {
            return None;
        }
        self.cancel(id);
        Some(id)
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.first().map(|entry| entry.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_by_due_time_then_by_start() {
        let now = Instant::now();
        let mut timers = Timers::default();
        for (id, delay_ms) in [(1, 5.0), (2, 0.0), (3, 5.0), (4, f64::MAX), (5, 1.0)] {
            timers.start(id, delay_ms, now);
        }
        timers.cancel(5);
        let later = now + Duration::from_millis(5);
        let fired: Vec<u32> = std::iter::from_fn(|| timers.pop_due(later)).collect();
        assert_eq!(fired, [2, 1, 3]);
        assert!(timers.next().is_some());
    }
}
