//! The behaviour of the whole, one module per subject. One binary, because each costs a link.
#![allow(clippy::unwrap_used, reason = "a helper that cannot go on fails the test that called it")]

mod support;

// What stands where, and what holds it.
mod architecture;
mod contract;

// What a program can reach, and what crosses.
mod surface;
mod values;
mod web;

// What becomes of its calls, and of itself.
mod both_ways;
mod dispatch;
mod failures;
mod hostile;
mod limits;
mod parity;
mod positions;

// What programs of all kinds give.
mod generated;
