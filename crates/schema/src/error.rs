//! Schema errors.

/// A schema is outside the supported subset, or the author DSL cannot express it.
///
/// Prints as `unsupported JSON schema: <violations joined by "; ">`, a text that models read.
///
/// Source: contract 3.11, 4.1 and 4.2.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("unsupported JSON schema: {}", violations.join("; "))]
pub struct JsonSchemaError {
    /// What is wrong, each with its path, in the order of the walk.
    pub violations: Vec<String>,
}

impl JsonSchemaError {
    /// The stable code of this error on the wire.
    pub fn code(&self) -> &'static str {
        "UNSUPPORTED_SCHEMA"
    }
}
