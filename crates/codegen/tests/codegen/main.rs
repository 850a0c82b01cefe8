//! What the generated text must be (goldens), and what the TypeScript compiler says about it.

mod compiler;
mod corpus;
mod hostile;
mod keywords;
mod sdk;
mod subset;
mod suite;
