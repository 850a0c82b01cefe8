//! JSON Schema in, TypeScript out: the declarations that a model reads before it writes a program.
//!
//! Pure and without state of its own: the same input gives the same bytes. Nothing here fails; what TypeScript cannot
//! say is `unknown` at that place.
//!
//! | for | call |
//! |---|---|
//! | the type of one schema | [`json_schema_to_ts`] |
//! | the same, with its aliases and what became `unknown` | [`render`](render()) |
//! | the declarations of some tools | [`sdk_declarations`] |
//! | the section of a system prompt: instructions and declarations | [`sdk_section`] |
//! | either, again and again while tools come and go | [`SdkBuilder`] |
//!
//! ```
//! use code_mode_codegen::{SdkTool, sdk_declarations};
//! use code_mode_schema::json;
//!
//! let parameters = json!({
//!     "type": "object",
//!     "properties": {"city": {"type": "string", "description": "Its name, in English."}},
//!     "required": ["city"],
//!     "additionalProperties": false,
//! });
//! let output = json!({"type": "number"});
//! let tool = SdkTool { name: "name_length", description: "Counts letters.", parameters: &parameters, output: &output };
//! let declarations = sdk_declarations(&[tool]);
//! assert!(declarations.contains(
//! r#"interface ToolArgsMap {
//!   /** Counts letters. */
//!   name_length: {
//!     /** Its name, in English. */
//!     city: string;
//!   };
//! }"#));
//! ```

#![forbid(unsafe_code)]

mod to_ts;

mod subset;

mod lower;

mod keywords;
mod refs;

mod bare;
mod graph;
mod hash;
mod shape;
mod share;
mod simplify;

mod alias;
mod comments;
mod names;
mod print;
mod parallel;
mod printed;

mod render;

mod instructions;
mod sdk;

pub use instructions::INSTRUCTIONS;
pub use render::{Alias, Rendered, UnknownNode, UnknownReason};
pub use sdk::{SchemaReport, SdkBuilder, SdkTool, ToolReport, sdk_declarations, sdk_section};
pub use to_ts::{json_schema_to_ts, render};
