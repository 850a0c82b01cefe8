//! A bound on the work of one validation.
//!
//! The `jsonschema` crate has no budget of its own, and collecting errors can take time exponential
//! in the depth of a value where branches nest in branches. But every step it takes looks at the
//! value through our [`node`](super::node), so the looks are counted there. What a pattern does between two looks cannot
//! be counted; where there are patterns, time is bounded as well.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// What one piece of work may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// So many looks.
    pub(super) looks: u64,
    /// What each of them counts.
    pub(super) weight: u64,
    /// So many nodes may be hashed, which makes no errors and is therefore counted apart.
    pub(super) hashed: u64,
    /// So much time, asked for at each text; nothing if there is no bound.
    pub(super) time: Option<Duration>,
}

#[derive(Clone, Copy)]
struct Left {
    looks: u64,
    weight: u64,
    hashed: u64,
    deadline: Option<Instant>,
}

const UNBOUNDED: Left = Left { looks: u64::MAX, weight: 0, hashed: u64::MAX, deadline: None };

thread_local! {
    static LEFT: Cell<Left> = const { Cell::new(UNBOUNDED) };
}

/// Why work came to no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The permitted looks or the time were used up.
    TooLong,
    /// The library panicked.
    Panicked,
}

struct UsedUp;

/// Runs `work` within `budget`.
pub(super) fn bounded<T>(budget: Budget, work: impl FnOnce() -> T) -> Result<T, Failure> {
    let deadline = budget.time.and_then(|time| Instant::now().checked_add(time));
    let Budget { looks, weight, hashed, .. } = budget;
    LEFT.set(Left { looks, weight, hashed, deadline });
    let result = catch_unwind(AssertUnwindSafe(work));
    LEFT.set(UNBOUNDED);
    result.map_err(|cause| if cause.is::<UsedUp>() { Failure::TooLong } else { Failure::Panicked })
}

/// Counts one look. Unwinds out of the work when there are none left; this is no panic, so no hook
/// runs and nothing is printed.
pub(super) fn look() {
    let left = LEFT.get();
    match left.looks.checked_sub(left.weight) {
        Some(looks) => LEFT.set(Left { looks, ..left }),
        None => resume_unwind(Box::new(UsedUp)),
    }
}

/// Counts one node that is hashed, as [`look`] counts looks.
pub(super) fn hash_one() {
    let left = LEFT.get();
    match left.hashed.checked_sub(1) {
        Some(hashed) => LEFT.set(Left { hashed, ..left }),
        None => resume_unwind(Box::new(UsedUp)),
    }
}

/// As [`look`], for a text that a pattern may be tried on.
pub(super) fn look_at_text() {
    look();
    if LEFT.get().deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        resume_unwind(Box::new(UsedUp));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(budget: Budget, work: impl FnOnce(), expected: Result<(), Failure>) {
        assert_eq!(bounded(budget, work), expected);
    }

    #[test]
    fn work_ends_when_its_looks_are_used_up() {
        let looking = |times| move || (0..times).for_each(|_| look());
        let budget = Budget { looks: 3, weight: 1, hashed: 0, time: None };
        check(budget, looking(3), Ok(()));
        check(budget, looking(4), Err(Failure::TooLong));
        check(budget, looking(3), Ok(()));
        check(Budget { weight: 2, ..budget }, looking(2), Err(Failure::TooLong));
        check(Budget { hashed: 1, ..budget }, hash_one, Ok(()));
        check(budget, hash_one, Err(Failure::TooLong));
        look();
        hash_one();
    }

    #[test]
    fn work_on_texts_ends_when_its_time_is_over() {
        let budget = Budget { looks: 100, weight: 1, hashed: 0, time: Some(Duration::ZERO) };
        check(budget, look, Ok(()));
        check(budget, look_at_text, Err(Failure::TooLong));
        check(Budget { time: None, ..budget }, look_at_text, Ok(()));
        look_at_text();
    }
}
