//! JSON Schema in, TypeScript out: the declarations that a model reads before it writes a program.

#![forbid(unsafe_code)]

mod to_ts;

mod subset;

mod comments;
mod names;

mod instructions;
mod sdk;

pub use instructions::INSTRUCTIONS;
pub use sdk::{SdkTool, sdk_declarations, sdk_section};
pub use to_ts::json_schema_to_ts;
