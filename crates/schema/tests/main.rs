//! The crate from outside, one module per subject.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod args;
mod corpus;
mod depth;
mod dsl;
mod full;
mod lossless;
mod properties;
mod subset;
mod suite;
mod typed;
mod validation;
