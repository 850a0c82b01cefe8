//! A schema ready for use: its document, its vocabulary and its validator.

use std::fmt;
use std::sync::Arc;

use crate::full::{self, FullValidator, MAX_REPORTED};
use crate::validate::Validator;
use crate::{Json, JsonSchemaError, assert_supported_json_schema, typed};

/// A schema with its validator, compiled once; cheap to clone.
///
/// ```
/// use code_mode_schema::{Schema, json};
///
/// let schema = Schema::subset(json!({
///     "type": "object",
///     "properties": {"host": {"type": "string"}},
///     "required": ["host"],
/// }))?;
/// assert!(schema.validate(&json!({"host": "a", "port": 1}), "").is_empty());
/// assert_eq!(schema.validate(&json!({"host": 7}), ""), [r#""host" must be a string"#]);
/// # Ok::<(), code_mode_schema::JsonSchemaError>(())
/// ```
///
/// Source: contract 4, decision 29.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    document: Json,
    vocabulary: Vocabulary,
    validator: Compiled,
    warning: Option<String>,
}

enum Compiled {
    /// A schema of the closed subset.
    Subset(Validator),
    Full(FullValidator),
    /// What can be told from a schema that does not compile.
    Structural(Validator),
}

/// Which keywords a schema may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Vocabulary {
    /// The closed subset of contract 4.2; anything else is an error.
    Subset,
    /// Any JSON Schema of draft-07 or 2020-12.
    Full,
}

impl Schema {
    /// A schema of the closed subset, see [`assert_supported_json_schema`].
    ///
    /// # Errors
    ///
    /// [`JsonSchemaError`] with all violations.
    ///
    /// Source: contract 4.2.
    pub fn subset(document: Json) -> Result<Schema, JsonSchemaError> {
        assert_supported_json_schema(&document)?;
        let validator = Compiled::Subset(Validator::new(&document));
        Ok(Schema::new(document, Vocabulary::Subset, validator, None))
    }

    /// Any JSON Schema of draft-07 or 2020-12, 2020-12 if it does not say.
    ///
    /// Nothing is fetched from anywhere; `format` and content keywords assert nothing. A part that
    /// does not compile, such as a reference that leads nowhere, is not enforced. If nothing can be
    /// compiled, as with a schema of more than 128 levels, types, properties, items and literals
    /// are still checked. Either way there is a [`warning`](Schema::warning).
    ///
    /// Source: decision 29.
    pub fn full(document: Json) -> Schema {
        let plain = without_identifiers(&document);
        if assert_supported_json_schema(&plain).is_ok() {
            let validator = Compiled::Subset(Validator::new(&plain));
            return Schema::new(document, Vocabulary::Full, validator, None);
        }
        let compiled = full::compile(&document);
        let validator = match compiled.validator {
            Some(validator) => Compiled::Full(validator),
            None => Compiled::Structural(Validator::structural(&document)),
        };
        let warning = Some(compiled.warnings.join("; ")).filter(|warning| !warning.is_empty());
        Schema::new(document, Vocabulary::Full, validator, warning)
    }

    /// The schema of a Rust type as it is read, for the arguments of a tool.
    ///
    /// Small types are written out where they are used, larger ones are kept under `$defs` and
    /// referred to. Names of Rust types and number formats are left out.
    ///
    /// ```
    /// #[derive(schemars::JsonSchema)]
    /// struct Args {
    ///     /// Document id
    ///     id: u32,
    /// }
    ///
    /// let schema = code_mode_schema::Schema::of::<Args>();
    /// assert_eq!(
    ///     schema.document().to_text(),
    ///     concat!(
    ///         r#"{"type":"object","properties":{"id":{"type":"integer","#,
    ///         r#""description":"Document id","minimum":0}},"required":["id"]}"#,
    ///     ),
    /// );
    /// ```
    ///
    /// Source: decision 29.
    pub fn of<T: schemars::JsonSchema>() -> Schema {
        Schema::full(typed::document::<T>(typed::Direction::In))
    }

    /// The schema of a Rust type as it is written, for the output of a tool.
    ///
    /// Differs from [`of`](Schema::of) where the type says that it is read and written differently,
    /// as by a serde default.
    ///
    /// Source: decision 29.
    pub fn of_output<T: schemars::JsonSchema>() -> Schema {
        Schema::full(typed::document::<T>(typed::Direction::Out))
    }

    fn new(document: Json, vocabulary: Vocabulary, validator: Compiled, warning: Option<String>) -> Schema {
        Schema(Arc::new(Inner { document, vocabulary, validator, warning }))
    }

    /// The schema as JSON.
    pub fn document(&self) -> &Json {
        &self.0.document
    }

    /// Which keywords the schema may use.
    pub fn vocabulary(&self) -> Vocabulary {
        self.0.vocabulary
    }

    /// Which parts of the schema are not enforced, and why; nothing if all are.
    pub fn warning(&self) -> Option<&str> {
        self.0.warning.as_deref()
    }

    /// What is wrong with `value`; empty when it is valid.
    ///
    /// `label` names the root in the texts: `value` for outputs; empty for arguments, whose root is
    /// then called `arguments` and whose members stand without a prefix. In the full vocabulary at
    /// most 10 violations are written out, the rest is counted.
    ///
    /// Never panics and, in the subset, never recurses. A value that nests so deeply that a
    /// recursive schema cannot be followed is reported as such.
    ///
    /// Source: contract 4.3, decision 29.
    pub fn validate(&self, value: &Json, label: &str) -> Vec<String> {
        let max_reported = match self.0.vocabulary {
            Vocabulary::Subset => usize::MAX,
            Vocabulary::Full => MAX_REPORTED,
        };
        match &self.0.validator {
            Compiled::Subset(validator) | Compiled::Structural(validator) => {
                validator.validate_at_most(max_reported, value, label)
            }
            Compiled::Full(validator) => validator.validate(value, label),
        }
    }
}

/// The document of the schema.
impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.document.fmt(formatter)
    }
}

/// Two schemas are equal when their documents and vocabularies are.
impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        self.0.vocabulary == other.0.vocabulary && self.0.document == other.0.document
    }
}

/// The document without what only names it.
fn without_identifiers(document: &Json) -> Json {
    match document {
        Json::Object(schema) => {
            let is_name = |key: &&str| matches!(*key, "$schema" | "$id" | "$comment");
            schema.keys().filter(is_name).fold(schema.clone(), |schema, key| schema.without(key)).into()
        }
        other => other.clone(),
    }
}
