//! The thread that holds every run to its limits. Decision 27.
//!
//! It only reads clocks, asks engines to stop and wakes callers. Nobody waits for
//! a lock of it while a program runs, nor it for one of theirs, so nothing a
//! program does can delay it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::control::{Cause, RunControl};

/// How often an engine that was asked to stop is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// Watches `run` until it has stopped.
pub(crate) fn watch(run: Arc<RunControl>) {
    let watchdog = WATCHDOG.get_or_init(Watchdog::start);
    let next = run.started + first_look(&run);
    let mut state = watchdog.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.runs.retain(|watched| !watched.run.is_stopped());
    state.runs.push(Watched { run, next });
    // It sleeps until the earliest look; only an earlier one has to wake it.
    if state.wakes.is_none_or(|wakes| next < wakes) {
        state.wakes = Some(next);
        watchdog.thread.unpark();
    }
}

/// Makes the watchdog look at the runs that are stopped for another cause than
/// its own, so that the grace period is theirs too.
pub(crate) fn look_now() {
    if let Some(watchdog) = WATCHDOG.get() {
        watchdog.thread.unpark();
    }
}

static WATCHDOG: OnceLock<Watchdog> = OnceLock::new();

fn first_look(run: &RunControl) -> Duration {
    run.limits.compute.min(run.limits.max_wall)
}

struct Watchdog {
    state: Arc<Mutex<State>>,
    thread: Thread,
}

#[derive(Default)]
struct State {
    runs: Vec<Watched>,
    /// When the thread will look next.
    wakes: Option<Instant>,
}

struct Watched {
    run: Arc<RunControl>,
    /// When to look at it next.
    next: Instant,
}

impl Watchdog {
    fn start() -> Self {
        let state = Arc::<Mutex<State>>::default();
        let thread = std::thread::Builder::new().name("code-mode-watchdog".to_owned()).spawn({
            let state = Arc::clone(&state);
            move || work(&state)
        });
        // Without the thread no limit holds, so no program may run.
        let thread = thread.expect("the operating system can start one more thread");
        Self { state, thread: thread.thread().clone() }
    }
}

fn work(state: &Mutex<State>) {
    loop {
        let now = Instant::now();
        let wakes = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.runs.retain_mut(|watched| {
                if watched.run.is_stopped() {
                    return false;
                }
                if watched.next <= now || watched.run.tripped().is_some() {
                    watched.next = look(&watched.run, now);
                }
                true
            });
            state.wakes = state.runs.iter().map(|watched| watched.next).min();
            state.wakes
        };
        // A run that came in between has left its token: this returns at once.
        match wakes {
            Some(wakes) => std::thread::park_timeout(wakes.saturating_duration_since(now)),
            None => std::thread::park(),
        }
    }
}

/// Acts on one run and says when to look at it again.
fn look(run: &RunControl, now: Instant) -> Instant {
    if let Some(tripped) = run.tripped() {
        run.terminate();
        if now >= tripped + run.limits.grace {
            run.give_up();
        }
        return (now + ASK_AGAIN).min((tripped + run.limits.grace).max(now + Duration::from_millis(1)));
    }
    let wall_end = run.started + run.limits.max_wall;
    if now >= wall_end {
        run.trip_since(Cause::Wall, wall_end);
        return now + ASK_AGAIN;
    }
    let used = run.compute_used();
    if let Some(over) = used.checked_sub(run.limits.compute) {
        // The thread cannot have used more than time has passed.
        run.trip_since(Cause::Compute, now - over);
        return now + ASK_AGAIN;
    }
    // Nor can it use its budget faster.
    now + (wall_end - now).min(run.limits.compute - used)
}

#[cfg(test)]
mod tests {
    use super::super::limits::Limits;
    use super::*;

    #[test]
    fn grace_begins_with_the_limit_however_late_that_is_noticed() {
        let second = Duration::from_secs(1);
        let mut run = RunControl::new(Limits { max_wall: second, grace: second, ..Limits::default() });
        let now = Instant::now();
        run.started = now - Duration::from_millis(1500);
        let overdue_after = |more: u64| {
            look(&run, now + Duration::from_millis(more));
            run.is_overdue()
        };
        assert_eq!([0, 499, 500].map(overdue_after), [false, false, true]);
        assert_eq!(run.cause(), Some(&Cause::Wall));
    }
}
