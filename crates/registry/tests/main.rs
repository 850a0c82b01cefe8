//! The behaviour of the registry, one module per subject. One binary, because each costs a link.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "helpers of tests are tests")]

mod support;

/// What the files of `stock_policies` find at the root of their crate.
#[allow(unused_imports, reason = "each of those files uses some of it")]
use code_mode_registry::*;

mod stock_policies;

mod registration;

mod destructors;

mod visibility;

mod guards;

mod modes;

mod pipeline;

mod policy_stage;

mod approval;

mod dispatch;

mod dispatch_signals;

mod canonical;

mod post_execute;

mod finalize;

mod contexts;

mod cancellation;

mod failures;

mod presentation;

mod prompt;

mod scheduler;

mod batch;

mod parity;

mod host_events;

mod spans;

mod policies;

mod model;

mod stress;
