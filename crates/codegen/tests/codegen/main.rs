//! What the generated text must be (goldens), and what the TypeScript compiler says about it.

mod sdk;
mod subset;
