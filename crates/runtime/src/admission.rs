//! Which runs may start: so many at one time, further ones first in first out up
//! to a bound. Decision 26.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use code_mode_registry::Signal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::seam::MisuseError;

/// The places of a back end's runs, and the queue before them.
pub(crate) struct Admission {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    max_waiting: usize,
}

impl Admission {
    pub(crate) fn new(max_concurrent: usize, max_waiting: usize) -> Self {
        let places = Arc::new(Semaphore::new(max_concurrent.min(Semaphore::MAX_PERMITS)));
        Self { places, waiting: AtomicUsize::new(0), max_waiting }
    }

    /// A place among the runs, or None if the run was cancelled while it waited.
    ///
    /// # Errors
    /// [`MisuseError::QueueFull`].
    pub(crate) async fn enter(&self, signal: &Signal) -> Result<Option<OwnedSemaphorePermit>, MisuseError> {
        if signal.is_cancelled() {
            return Ok(None);
        }
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(Some(place));
        }
        let limit = self.max_waiting;
        let waiting = self.waiting.fetch_add(1, Ordering::AcqRel);
        let _counted = Counted(&self.waiting);
        if waiting >= limit {
            return Err(MisuseError::QueueFull { waiting, limit });
        }
        Ok(tokio::select! {
            biased;
            _ = signal.cancelled() => None,
            place = Arc::clone(&self.places).acquire_owned() => place.ok(),
        })
    }

    /// The places themselves, for whoever gives one back that is not held as a permit.
    pub(crate) fn places(&self) -> Arc<Semaphore> {
        Arc::clone(&self.places)
    }
}

/// One of those who wait, also if it stops waiting by being dropped.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
