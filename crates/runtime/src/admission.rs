//! Which runs may start: those that are asked for rightly, while the runtime is not
//! disposed, so many at one time, further ones first in first out up to a bound.
//! Contract 6.1, decision 26.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use code_mode_registry::{CancelReason, Signal, SignalSource};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::seam::{MisuseError, RunRequest, check_names};

/// The places of a back end's runs, and the queue before them.
pub(crate) struct Admission {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    max_waiting: usize,
    disposal: SignalSource,
}

/// What a run was admitted with.
pub(crate) struct Admitted {
    /// The embedder's tokio runtime, for its tools.
    pub(crate) embedder: Handle,
    /// Cancelled with the request and when the runtime is disposed.
    pub(crate) signal: Signal,
    /// Its place; nothing if it was cancelled before it had one.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

impl Admission {
    pub(crate) fn new(max_concurrent: usize, max_waiting: usize) -> Self {
        let places = Arc::new(Semaphore::new(max_concurrent.min(Semaphore::MAX_PERMITS)));
        Self { places, waiting: AtomicUsize::new(0), max_waiting, disposal: SignalSource::new() }
    }

    /// Lets a run in, when it is its turn.
    ///
    /// # Errors
    /// [`MisuseError::Disposed`], [`Name`](MisuseError::Name), [`Duplicate`](MisuseError::Duplicate),
    /// [`NoTokio`](MisuseError::NoTokio) and [`QueueFull`](MisuseError::QueueFull).
    pub(crate) async fn enter(&self, request: &RunRequest) -> Result<Admitted, MisuseError> {
        let disposal = self.disposal.signal();
        if disposal.is_cancelled() {
            return Err(MisuseError::Disposed);
        }
        check_names(&request.namespaces)?;
        let embedder = Handle::try_current().map_err(|_| MisuseError::NoTokio)?;
        let signal = Signal::any([request.signal.clone(), disposal]);
        let place = self.place(&signal).await?;
        Ok(Admitted { embedder, signal, place })
    }

    /// Cancels all runs with the reason `runtime disposed`, and lets no other in.
    pub(crate) fn close(&self) {
        self.disposal.cancel(CancelReason::new("runtime disposed"));
    }

    async fn place(&self, signal: &Signal) -> Result<Option<OwnedSemaphorePermit>, MisuseError> {
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
