//! The author DSL: schemas written as Rust, compiled to the closed subset and back.

use crate::subset::assert_supported_json_schema;
use crate::validate::Validator;
use crate::{Json, JsonSchemaError, Object, Schema};

mod compile;
mod decompile;

/// The parameters of a tool: named value schemas, each required or optional.
///
/// Stands for an object that may have further members. The shape of its
/// [`spec`](ParameterSchemaSpec::spec) is `{name: value schema with "required"?: true}`.
///
/// ```
/// use code_mode_schema::{ParameterSchemaSpec, ValueSchemaSpec};
///
/// let parameters = ParameterSchemaSpec::new()
///     .required("id", ValueSchemaSpec::string().description("Document id"))
///     .optional("pages", ValueSchemaSpec::array(ValueSchemaSpec::integer()));
/// assert_eq!(
///     parameters.to_json_schema()?.to_text(),
///     concat!(
///         r#"{"type":"object","properties":{"id":{"type":"string","description":"Document id"},"#,
///         r#""pages":{"type":"array","items":{"type":"integer"}}},"required":["id"]}"#,
///     ),
/// );
/// # Ok::<(), code_mode_schema::JsonSchemaError>(())
/// ```
///
/// Source: contract 4.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSchemaSpec(Json);

/// The schema of one value.
///
/// A node has a `type` (`string`, `number`, `integer`, `boolean`, `null`, `array`, `object`, or
/// `json` for any value) or a `oneOf`, and may carry `description`, `title`, `default` and
/// `examples`. Each constructor makes one kind of node; what does not fit together, such as
/// properties on a string, is an error of [`to_json_schema`](ValueSchemaSpec::to_json_schema).
///
/// ```
/// use code_mode_schema::{ValueSchemaSpec, json};
///
/// let mode = ValueSchemaSpec::string().enum_values(["create", "replace"]);
/// let options = ValueSchemaSpec::closed_object()
///     .required("mode", mode)
///     .optional("limit", ValueSchemaSpec::integer().default_value(10));
/// assert_eq!(
///     options.to_json_schema()?,
///     json!({
///         "type": "object",
///         "additionalProperties": false,
///         "properties": {
///             "mode": {"type": "string", "enum": ["create", "replace"]},
///             "limit": {"type": "integer", "default": 10},
///         },
///         "required": ["mode"],
///     }),
/// );
/// # Ok::<(), code_mode_schema::JsonSchemaError>(())
/// ```
///
/// Source: contract 4.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSchemaSpec(Json);

impl Default for ParameterSchemaSpec {
    fn default() -> ParameterSchemaSpec {
        ParameterSchemaSpec::new()
    }
}

impl ParameterSchemaSpec {
    /// No parameters.
    pub fn new() -> ParameterSchemaSpec {
        ParameterSchemaSpec(Object::new().into())
    }

    /// Parameters given as a spec document; what is wrong with it shows when it is compiled.
    pub fn from_spec(spec: Json) -> ParameterSchemaSpec {
        ParameterSchemaSpec(spec)
    }

    /// The parameters that compile to `schema`, an object that may have further members.
    ///
    /// # Errors
    ///
    /// The violations of [`assert_supported_json_schema`]; a root that is no object, is closed or
    /// has annotations, which parameters cannot say.
    pub fn from_json_schema(schema: &Json) -> Result<ParameterSchemaSpec, JsonSchemaError> {
        decompile::parameters(schema).map(ParameterSchemaSpec)
    }

    /// Adds a parameter that must be given.
    #[must_use]
    pub fn required(self, name: &str, schema: ValueSchemaSpec) -> ParameterSchemaSpec {
        ParameterSchemaSpec(with_member(&self.0, name, required(&schema)))
    }

    /// Adds a parameter that may be left out.
    #[must_use]
    pub fn optional(self, name: &str, schema: ValueSchemaSpec) -> ParameterSchemaSpec {
        ParameterSchemaSpec(with_member(&self.0, name, schema.0))
    }

    /// The spec document.
    pub fn spec(&self) -> &Json {
        &self.0
    }

    /// Compiles to JSON Schema: `{type, properties, required?}`.
    ///
    /// # Errors
    ///
    /// The first error of the spec, with its path from `parameters`; else all violations of the
    /// closed subset, with their paths from `schema`.
    pub fn to_json_schema(&self) -> Result<Json, JsonSchemaError> {
        checked(compile::parameters(&self.0)?)
    }

    /// Compiles to a [`Schema`] of the closed subset.
    ///
    /// # Errors
    ///
    /// As [`to_json_schema`](ParameterSchemaSpec::to_json_schema).
    pub fn compile(&self) -> Result<Schema, JsonSchemaError> {
        Schema::subset(compile::parameters(&self.0)?)
    }
}

impl ValueSchemaSpec {
    fn of_type(name: &str) -> ValueSchemaSpec {
        ValueSchemaSpec(Json::Object(Object::new().with("type", name)))
    }

    fn with(self, key: &str, value: impl Into<Json>) -> ValueSchemaSpec {
        ValueSchemaSpec(with_member(&self.0, key, value.into()))
    }

    /// A string.
    pub fn string() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("string")
    }

    /// A number.
    pub fn number() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("number")
    }

    /// A number without a fraction.
    pub fn integer() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("integer")
    }

    /// `true` or `false`.
    pub fn boolean() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("boolean")
    }

    /// `null`.
    pub fn null() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("null")
    }

    /// Any value.
    pub fn json() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("json")
    }

    /// An array whose elements follow `items`.
    pub fn array(items: ValueSchemaSpec) -> ValueSchemaSpec {
        ValueSchemaSpec::any_array().with("items", items.0)
    }

    /// An array of any values.
    pub fn any_array() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("array")
    }

    /// An object that may have members besides its properties.
    pub fn open_object() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("object").with("additionalProperties", true)
    }

    /// An object that has no members besides its properties.
    pub fn closed_object() -> ValueSchemaSpec {
        ValueSchemaSpec::of_type("object").with("additionalProperties", false)
    }

    /// A value that follows exactly one of `branches`, which are at least two.
    pub fn one_of(branches: impl IntoIterator<Item = ValueSchemaSpec>) -> ValueSchemaSpec {
        let branches: Json = branches.into_iter().map(|branch| branch.0).collect();
        ValueSchemaSpec(Json::Object(Object::new().with("oneOf", branches)))
    }

    /// A node given as a spec document; what is wrong with it shows when it is compiled.
    pub fn from_spec(spec: Json) -> ValueSchemaSpec {
        ValueSchemaSpec(spec)
    }

    /// The node that compiles to `schema`, with every object's openness said explicitly.
    ///
    /// # Errors
    ///
    /// The violations of [`assert_supported_json_schema`].
    pub fn from_json_schema(schema: &Json) -> Result<ValueSchemaSpec, JsonSchemaError> {
        decompile::value(schema).map(ValueSchemaSpec)
    }

    /// Adds a property that must be there; for objects.
    #[must_use]
    pub fn required(self, name: &str, schema: ValueSchemaSpec) -> ValueSchemaSpec {
        let schema = required(&schema);
        self.with_property(name, schema)
    }

    /// Adds a property that may be left out; for objects.
    #[must_use]
    pub fn optional(self, name: &str, schema: ValueSchemaSpec) -> ValueSchemaSpec {
        self.with_property(name, schema.0)
    }

    fn with_property(self, name: &str, schema: Json) -> ValueSchemaSpec {
        let properties = self.0.get("properties").cloned().unwrap_or_else(|| Object::new().into());
        self.with("properties", with_member(&properties, name, schema))
    }

    /// Limits a scalar to these values.
    #[must_use]
    pub fn enum_values<V: Into<Json>>(self, values: impl IntoIterator<Item = V>) -> ValueSchemaSpec {
        self.with("enum", values.into_iter().map(Into::into).collect::<Json>())
    }

    /// Limits a scalar to this value.
    #[must_use]
    pub fn const_value(self, value: impl Into<Json>) -> ValueSchemaSpec {
        self.with("const", value)
    }

    /// Says what the value is for; models read this.
    #[must_use]
    pub fn description(self, text: &str) -> ValueSchemaSpec {
        self.with("description", text)
    }

    /// Names the value.
    #[must_use]
    pub fn title(self, text: &str) -> ValueSchemaSpec {
        self.with("title", text)
    }

    /// Says which value is assumed if none is given. Never applied by validation.
    #[must_use]
    pub fn default_value(self, value: impl Into<Json>) -> ValueSchemaSpec {
        self.with("default", value)
    }

    /// Shows some values. Never checked.
    #[must_use]
    pub fn examples<V: Into<Json>>(self, values: impl IntoIterator<Item = V>) -> ValueSchemaSpec {
        self.with("examples", values.into_iter().map(Into::into).collect::<Json>())
    }

    /// The spec document.
    pub fn spec(&self) -> &Json {
        &self.0
    }

    /// Compiles to JSON Schema.
    ///
    /// Keys come in the order `type`, `description`, `title`, `default`, `examples`, and then what
    /// belongs to the type; `required` lists names in the order of their declaration.
    ///
    /// # Errors
    ///
    /// The first error of the spec, with its path from `schema`; else all violations of the closed
    /// subset.
    pub fn to_json_schema(&self) -> Result<Json, JsonSchemaError> {
        checked(compile::value(&self.0)?)
    }

    /// Compiles to a [`Schema`] of the closed subset.
    ///
    /// # Errors
    ///
    /// As [`to_json_schema`](ValueSchemaSpec::to_json_schema).
    pub fn compile(&self) -> Result<Schema, JsonSchemaError> {
        Schema::subset(compile::value(&self.0)?)
    }
}

/// Validates the arguments of a tool against its parameters; an empty list means they are valid.
///
/// The root is called `arguments`, its members stand without a prefix. If `spec` does not
/// compile, its errors are returned. To validate many calls, compile the spec once.
///
/// Source: contract 4.3.
pub fn validate_args(spec: &ParameterSchemaSpec, args: &Json) -> Vec<String> {
    match spec.to_json_schema() {
        Ok(schema) => Validator::new(&schema).validate(args, ""),
        Err(error) => error.violations,
    }
}

fn checked(schema: Json) -> Result<Json, JsonSchemaError> {
    assert_supported_json_schema(&schema)?;
    Ok(schema)
}

/// `document` with one more member; a document that is no object stays what it is and fails later.
fn with_member(document: &Json, key: &str, value: Json) -> Json {
    match document {
        Json::Object(object) => Json::Object(object.with(key, value)),
        other => other.clone(),
    }
}

fn required(schema: &ValueSchemaSpec) -> Json {
    with_member(&schema.0, "required", Json::Bool(true))
}

/// The annotations in the order in which they are compiled.
const ANNOTATIONS: [&str; 4] = ["description", "title", "default", "examples"];

/// Builds the documents of `nodes` from the last to the first and returns the first: every child
/// must stand behind its parent.
fn build_bottom_up<N>(nodes: Vec<N>, mut build: impl FnMut(N, &mut [Json]) -> Json) -> Json {
    let mut built = vec![Json::Null; nodes.len()];
    for (id, node) in nodes.into_iter().enumerate().rev() {
        built[id] = build(node, &mut built);
    }
    built.swap_remove(0)
}
