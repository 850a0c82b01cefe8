//! Canonical JSON values, the schemas that describe them, and validation.
//!
//! The leaf of the workspace: it knows no tool, no engine and does no I/O. In reading order:
//!
//! - [`mod@json`]: values without loss, at any depth; their text; [`to_json`] and [`from_json`];
//! - [`ParameterSchemaSpec`] and [`ValueSchemaSpec`]: schemas written as Rust;
//! - [`assert_supported_json_schema`] and [`validate_json_schema_value`]: the closed subset;
//! - [`Schema`]: any schema ready for use, of the subset, of the full vocabulary or of a Rust type;
//! - [`ValidationMode`]: how strictly outside tools are held to their schemas.
//!
//! `Source:` lines name the rule that a behaviour comes from; `tests/CONTRACT.md` of the workspace lists the rules with
//! the tests that hold them.
//!
//! ```
//! use code_mode_schema::{ParameterSchemaSpec, ValueSchemaSpec, json};
//!
//! let parameters = ParameterSchemaSpec::new()
//!     .required("host", ValueSchemaSpec::string())
//!     .optional("port", ValueSchemaSpec::integer());
//! let schema = parameters.compile()?;
//! assert_eq!(
//!     schema.validate(&json!({"port": "80"}), ""),
//!     [r#"missing required property "host""#, r#""port" must be an integer"#],
//! );
//! # Ok::<(), code_mode_schema::JsonSchemaError>(())
//! ```

#![forbid(unsafe_code)]

pub mod json;

mod dsl;
mod error;
mod full;
mod mode;
mod schema;
mod subset;
mod typed;
mod validate;
mod violations;

pub use dsl::{ParameterSchemaSpec, ValueSchemaSpec, validate_args};
pub use error::JsonSchemaError;
pub use json::{
    Array, FromJsonError, Json, LosslessError, Lossy, MAX_SAFE_INTEGER, MAX_SERDE_DEPTH, Number, Object,
    ObjectBuilder, ObjectIter, ParseError, ParseErrorKind, Path, from_json, json_string_len, to_json,
    write_json_string, write_number,
};
#[doc(hidden)]
pub use json::{member_key, member_value};
pub use mode::{Judgement, UnknownModeError, ValidationMode};
pub use schema::{Schema, Vocabulary};
pub use subset::{assert_object_json_schema, assert_supported_json_schema};
pub use validate::validate_json_schema_value;
