//! The `thread` back end: every run in a fresh isolate on a thread of its own.

mod abandoned;
mod clock;
mod control;
pub(crate) mod engine;
mod heap;
mod limits;
mod runtime;
pub(crate) mod thread;
mod timers;
pub(crate) mod watchdog;

pub use limits::{Limits, LimitsError};
pub use runtime::{ThreadRuntime, ThreadRuntimeConfig, ThreadRuntimeError};

pub(crate) use control::{Cause, RunControl};
pub(crate) use engine::STACK_BYTES;
pub(crate) use thread::{Caller, End};
pub(crate) use timers::Timers;
