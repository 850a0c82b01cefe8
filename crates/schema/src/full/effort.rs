//! A bound on the work of one validation.
//!
//! The `jsonschema` crate has no budget of its own, and collecting errors can take time exponential
//! in the depth of a value where branches nest in branches. But every step it takes looks at the
//! value through our [`node`](super::node), so the looks are counted there.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

thread_local! {
    static LOOKS_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Why work came to no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The permitted number of looks was used up.
    TooLong,
    /// The library panicked.
    Panicked,
}

struct UsedUp;

/// Runs `work`, which may look at values so many times.
pub(super) fn bounded<T>(looks: u64, work: impl FnOnce() -> T) -> Result<T, Failure> {
    LOOKS_LEFT.set(looks);
    let result = catch_unwind(AssertUnwindSafe(work));
    LOOKS_LEFT.set(u64::MAX);
    result.map_err(|cause| if cause.is::<UsedUp>() { Failure::TooLong } else { Failure::Panicked })
}

/// Counts one look. Unwinds out of the work when there are none left; this is no panic, so no hook
/// runs and nothing is printed.
pub(super) fn look() {
    let left = LOOKS_LEFT.get();
    if left == 0 {
        resume_unwind(Box::new(UsedUp));
    }
    LOOKS_LEFT.set(left - 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_its_looks_are_used_up() {
        let looking = |times| move || (0..times).for_each(|_| look());
        assert_eq!(bounded(3, looking(3)), Ok(()));
        assert_eq!(bounded(3, looking(4)), Err(Failure::TooLong));
        assert_eq!(bounded(3, looking(3)), Ok(()));
        look();
    }
}
