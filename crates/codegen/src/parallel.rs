//! Work on many items that do not know of each other.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// So many items are taken at a time, and not shared among threads if there are no more.
const CHUNK: usize = 64;

/// Does `work` on every item, on all cores if there are many.
pub(crate) fn for_each<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Sync) {
    // To ask for the cores costs more than to look at a few items.
    let is_shared = items.len() > CHUNK;
    let cores = is_shared.then(thread::available_parallelism).and_then(Result::ok);
    on_threads(cores.map_or(1, NonZero::get), items, work);
}

/// Does `work` on every item, on so many threads at most.
fn on_threads<T: Send>(most: usize, items: &mut [T], work: impl Fn(&mut T) + Sync) {
    let threads = most.min(items.len().div_ceil(CHUNK));
    if threads < 2 {
        items.iter_mut().for_each(work);
        return;
    }
    let chunks = Mutex::new(items.chunks_mut(CHUNK));
    let work_off = || {
        loop {
            let chunk = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(chunk) = chunk else { return };
            chunk.iter_mut().for_each(&work);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without a further thread those that there are do the work.
            if thread::Builder::new().spawn_scoped(scope, work_off).is_err() {
                break;
            }
        }
        work_off();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for count in [0, 1, CHUNK, CHUNK + 1, 10 * CHUNK + 3] {
            for threads in [0, 1, 2, 7] {
                let mut items: Vec<usize> = (0..count).collect();
                on_threads(threads, &mut items, |item| *item += 1);
                assert_eq!(items, (1..=count).collect::<Vec<_>>());
            }
        }
    }
}
