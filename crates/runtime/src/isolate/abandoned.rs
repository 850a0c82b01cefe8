//! Isolates that still run after their callers were answered: how many there are,
//! and what has to wait for them. Decision 27.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use code_mode_registry::Signal;
use tokio::sync::{Semaphore, watch};

/// The isolates of one runtime that were given up and are still busy.
#[derive(Debug)]
pub(super) struct Abandoned {
    count: watch::Sender<usize>,
    most: usize,
}

impl Abandoned {
    pub(super) fn new(most: usize) -> Self {
        Self { count: watch::Sender::new(0), most }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// Waits while there are too many; false if the run was cancelled meanwhile.
    pub(super) async fn are_few(&self, signal: &Signal) -> bool {
        let mut count = self.count.subscribe();
        tokio::select! {
            biased;
            // It cannot be closed while `self` is there.
            _ = count.wait_for(|&count| count <= self.most) => true,
            _ = signal.cancelled() => false,
        }
    }

    fn add(&self) {
        self.count.send_modify(|count| *count += 1);
    }

    fn remove(&self) {
        self.count.send_modify(|count| *count -= 1);
    }
}

/// The place of one isolate among the runs. The watchdog gives it to others when
/// the isolate does not stop in time, the isolate's thread when it is gone;
/// whoever comes first. No lock that a program could hold up.
#[derive(Debug)]
pub(crate) struct Place {
    abandoned: Arc<Abandoned>,
    places: Arc<Semaphore>,
    state: AtomicU8,
}

/// The isolate has the place.
const HELD: u8 = 0;
/// The isolate is busy, and the place has been given back.
const ABANDONED: u8 = 1;
/// The isolate is gone, and the place has been given back.
const LEFT: u8 = 2;

impl Place {
    /// A place of `places`, whose permit is forgotten.
    pub(super) fn new(abandoned: Arc<Abandoned>, places: Arc<Semaphore>) -> Self {
        Self { abandoned, places, state: AtomicU8::new(HELD) }
    }

    /// The isolate did not stop in time.
    pub(super) fn abandon(&self) {
        if self.state.load(Ordering::Acquire) != HELD {
            return;
        }
        // Counted first, so that nobody gets the place without seeing the count.
        self.abandoned.add();
        match self.state.compare_exchange(HELD, ABANDONED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => self.places.add_permits(1),
            // It has stopped meanwhile.
            Err(_) => self.abandoned.remove(),
        }
    }

    /// The isolate is gone.
    fn leave(&self) {
        match self.state.swap(LEFT, Ordering::AcqRel) {
            HELD => self.places.add_permits(1),
            ABANDONED => self.abandoned.remove(),
            _ => {}
        }
    }
}

/// Leaves its place when dropped: by the isolate's thread, last of all.
#[derive(Debug)]
pub(super) struct Tenant(pub(super) Arc<Place>);

impl Drop for Tenant {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use code_mode_registry::SignalSource;
    use futures::FutureExt as _;

    use super::*;

    fn place(most: usize) -> (Arc<Abandoned>, Arc<Semaphore>, Arc<Place>) {
        let (abandoned, places) = (Arc::new(Abandoned::new(most)), Arc::new(Semaphore::new(0)));
        let place = Arc::new(Place::new(Arc::clone(&abandoned), Arc::clone(&places)));
        (abandoned, places, place)
    }

    #[test]
    fn place_is_given_back_once_whoever_comes_first() {
        for given_up_times in 0..3 {
            let (abandoned, places, place) = place(1);
            let tenant = Tenant(Arc::clone(&place));
            for _ in 0..given_up_times {
                place.abandon();
            }
            assert_eq!(abandoned.count(), given_up_times.min(1));
            drop(tenant);
            place.abandon();
            assert_eq!((abandoned.count(), places.available_permits()), (0, 1));
        }
    }

    #[test]
    fn more_than_may_be_abandoned_are_waited_for() {
        let (abandoned, _places, place) = place(0);
        let (signal, tenant) = (SignalSource::new().signal(), Tenant(Arc::clone(&place)));
        assert_eq!(abandoned.are_few(&signal).now_or_never(), Some(true));
        place.abandon();
        let mut waits = Box::pin(abandoned.are_few(&signal));
        assert_eq!((&mut waits).now_or_never(), None);
        drop(tenant);
        assert_eq!(waits.now_or_never(), Some(true));
    }

    #[test]
    fn run_that_is_cancelled_waits_no_more() {
        let (abandoned, _places, place) = place(0);
        place.abandon();
        let stop = SignalSource::new();
        stop.cancel("enough");
        assert_eq!(abandoned.are_few(&stop.signal()).now_or_never(), Some(false));
    }
}
