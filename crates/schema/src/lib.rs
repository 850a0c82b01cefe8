//! Canonical JSON values, the schemas that describe them, and validation.
//!
//! The leaf of the workspace: it knows no tool, no engine and no I/O.

#![forbid(unsafe_code)]

pub mod json;

pub use json::{
    Array, FromJsonError, Json, LosslessError, Lossy, MAX_SAFE_INTEGER, MAX_SERDE_DEPTH, Number,
    Object, ObjectBuilder, ObjectIter, ParseError, ParseErrorKind, Path, from_json,
    json_string_len, to_json, write_json_string, write_number,
};
#[doc(hidden)]
pub use json::{member_key, member_value};

mod dsl;
mod error;
mod full;
mod schema;
mod subset;
mod typed;
mod validate;
mod violations;

pub use dsl::{ParameterSchemaSpec, ValueSchemaSpec, validate_args};
pub use error::JsonSchemaError;
pub use schema::{Schema, Vocabulary};
pub use subset::{assert_object_json_schema, assert_supported_json_schema};
pub use validate::validate_json_schema_value;
