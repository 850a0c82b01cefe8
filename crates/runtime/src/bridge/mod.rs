//! What crosses between JavaScript and Rust: ops one way, calls of our own
//! functions the other way.

pub(crate) mod call;
pub(crate) mod guest;
#[cfg(not(feature = "v8"))]
mod js;
pub(crate) mod ops;
pub(crate) mod program;
mod web;

#[cfg(not(feature = "v8"))]
pub(crate) use js::sources;
