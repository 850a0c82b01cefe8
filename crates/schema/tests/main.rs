//! The crate from outside, one module per subject.

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
