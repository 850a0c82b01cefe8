//! What the generated text must be (goldens), and what the TypeScript compiler says about it.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod builder;
mod compiler;
mod corpus;
mod hostile;
mod keywords;
mod lexer;
mod random;
mod sdk;
mod subset;
mod suite;
mod tokens;
