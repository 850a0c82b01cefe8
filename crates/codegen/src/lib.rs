//! JSON Schema in, TypeScript out: the declarations that a model reads before it writes a program.

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
