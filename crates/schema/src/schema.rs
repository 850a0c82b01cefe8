//! A schema ready for use: its document, its vocabulary and its validator.

use std::fmt;
use std::sync::Arc;

use crate::validate::Validator;
use crate::{Json, JsonSchemaError, assert_supported_json_schema};

/// A schema with its validator; cheap to clone.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    document: Json,
    vocabulary: Vocabulary,
    validator: Option<Validator>,
}

/// Which keywords a schema may use, and what validates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Vocabulary {
    /// The closed subset of contract 4.2.
    Subset,
    /// Any JSON Schema of draft-07 or 2020-12.
    Full,
}

impl Schema {
    /// A schema of the closed subset.
    pub fn subset(document: Json) -> Result<Schema, JsonSchemaError> {
        assert_supported_json_schema(&document)?;
        let validator = Some(Validator::new(&document));
        Ok(Schema(Arc::new(Inner { document, vocabulary: Vocabulary::Subset, validator })))
    }

    /// Any JSON Schema of draft-07 or 2020-12.
    pub fn full(document: Json) -> Schema {
        Schema(Arc::new(Inner { document, vocabulary: Vocabulary::Full, validator: None }))
    }

    /// The schema of a Rust type.
    pub fn of<T: schemars::JsonSchema>() -> Schema {
        let document = schemars::schema_for!(T);
        Schema::full(crate::to_json(document.as_value()).unwrap_or_default())
    }

    /// The schema as JSON.
    pub fn document(&self) -> &Json {
        &self.0.document
    }

    /// Which keywords the schema may use.
    pub fn vocabulary(&self) -> Vocabulary {
        self.0.vocabulary
    }

    /// Why the schema could not be compiled, if so.
    pub fn warning(&self) -> Option<&str> {
        None
    }

    /// What is wrong with `value`; empty when it is valid.
    pub fn validate(&self, value: &Json, label: &str) -> Vec<String> {
        match &self.0.validator {
            Some(validator) => validator.validate(value, label),
            None => Vec::new(),
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.document.fmt(formatter)
    }
}

