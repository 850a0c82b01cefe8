//! The closed schema subset: which schemas are in it, and what is wrong with the others.

use crate::json::Path;
use crate::violations::Violations;
use crate::{Array, Json, JsonSchemaError, Object};

/// Checks that `schema` is in the closed subset.
///
/// A schema is an object with either `type` (one of `object`, `array`, `string`, `number`,
/// `integer`, `boolean`, `null`), or `oneOf` (at least two schemas), or neither, which means any
/// value. Objects take `properties`, `required` and a boolean `additionalProperties`, arrays
/// take `items`, scalars `enum` and `const`; `description`, `title`, `default` and `examples` may
/// stand anywhere.
///
/// # Errors
///
/// [`JsonSchemaError`] with all violations, each with its path from `schema`, in the order of a
/// walk from the root.
///
/// Source: contract 4.2.
pub fn assert_supported_json_schema(schema: &Json) -> Result<(), JsonSchemaError> {
    let mut walk = Walk::new(schema);
    while let Some(step) = walk.pending.pop() {
        walk.take(step);
    }
    match walk.violations.into_texts() {
        violations if violations.is_empty() => Ok(()),
        violations => Err(JsonSchemaError { violations }),
    }
}

/// Checks that `schema` is in the closed subset and describes an object.
///
/// # Errors
///
/// As [`assert_supported_json_schema`]; if there is nothing else, also for a root whose `type` is
/// not `object`.
///
/// Source: contract 4.2.
pub fn assert_object_json_schema(schema: &Json) -> Result<(), JsonSchemaError> {
    assert_supported_json_schema(schema)?;
    match schema.get("type") {
        Some(name) if name == "object" => Ok(()),
        _ => Err(JsonSchemaError {
            violations: vec![
                "schema.type must be \"object\" (structured output is object-rooted)".to_owned(),
            ],
        }),
    }
}

/// A value type of the subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Object,
    Array,
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

impl Type {
    pub(crate) fn from_name(name: &str) -> Option<Type> {
        Some(match name {
            "object" => Type::Object,
            "array" => Type::Array,
            "string" => Type::String,
            "number" => Type::Number,
            "integer" => Type::Integer,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Number => "number",
            Type::Integer => "integer",
            Type::Boolean => "boolean",
            Type::Null => "null",
        }
    }

    /// Whether `value` is of this type; integers are counted as in ECMAScript.
    pub(crate) fn admits(self, value: &Json) -> bool {
        match self {
            Type::Object => value.is_object(),
            Type::Array => value.is_array(),
            Type::String => value.is_string(),
            Type::Number => value.is_number(),
            Type::Integer => value.is_integer(),
            Type::Boolean => value.is_bool(),
            Type::Null => value.is_null(),
        }
    }

    fn takes(self, keyword: &str) -> bool {
        match self {
            Type::Object => matches!(keyword, "properties" | "required" | "additionalProperties"),
            Type::Array => keyword == "items",
            _ => matches!(keyword, "enum" | "const"),
        }
    }
}

/// The keywords that need a `type`, in the order in which misplaced ones are reported.
const TYPED_KEYWORDS: [&str; 6] =
    ["properties", "required", "additionalProperties", "items", "enum", "const"];

fn is_supported_keyword(keyword: &str) -> bool {
    TYPED_KEYWORDS.contains(&keyword)
        || matches!(keyword, "type" | "oneOf" | "description" | "title" | "default" | "examples")
}

/// The walk's state: what is left to do, and the path of the node at hand.
struct Walk<'a> {
    pending: Vec<Step<'a>>,
    path: Path,
    violations: Violations,
}

/// One step of the walk; the path it needs is rebuilt from its parent's length, so that a deep
/// schema does not hold one path a level.
struct Step<'a> {
    parent_len: usize,
    place: Place<'a>,
    work: Work<'a>,
}

/// Where a step's node lies below its parent.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// The parent itself.
    Here,
    Property(&'a str),
    Items,
    Branch(usize),
}

enum Work<'a> {
    /// A whole schema.
    Schema(&'a Json),
    /// What is checked after an object's properties.
    ObjectRest(&'a Object),
    /// What is checked after the branches of a `oneOf`.
    OneOfRest(&'a Object),
}

impl<'a> Walk<'a> {
    fn new(schema: &'a Json) -> Walk<'a> {
        let path = Path::root("schema");
        let root = Step { parent_len: path.len(), place: Place::Here, work: Work::Schema(schema) };
        Walk { pending: vec![root], path, violations: Violations::new() }
    }

    fn take(&mut self, step: Step<'a>) {
        self.path.truncate(step.parent_len);
        match step.place {
            Place::Here => {}
            Place::Property(name) => {
                self.path.push_key("properties");
                self.path.push_key(name);
            }
            Place::Items => self.path.push_key("items"),
            Place::Branch(index) => {
                self.path.push_key("oneOf");
                self.path.push_index(index);
            }
        }
        match step.work {
            Work::Schema(schema) => self.schema(schema),
            Work::ObjectRest(schema) => self.object_rest(schema),
            Work::OneOfRest(schema) => self.keywords_beside_one_of(schema),
        }
    }

    fn schema(&mut self, schema: &'a Json) {
        let Json::Object(schema) = schema else {
            return self.report(" must be a schema object");
        };
        self.keywords(schema);
        match (schema.get("type"), schema.get("oneOf")) {
            (Some(_), Some(_)) => self.report(" cannot declare both type and oneOf"),
            (None, None) => self.keywords_without_type(schema),
            (None, Some(branches)) => self.one_of(schema, branches),
            (Some(name), None) => self.typed(schema, name),
        }
    }

    fn keywords(&mut self, schema: &Object) {
        for keyword in schema.keys().filter(|keyword| !is_supported_keyword(keyword)) {
            self.report(&format!(
                ".{keyword} is not a supported keyword (subset: \
                 type/oneOf/properties/required/additionalProperties/items/enum/const + annotations)"
            ));
        }
        for annotation in ["description", "title"] {
            if schema.get(annotation).is_some_and(|text| !text.is_string()) {
                self.report(&format!(".{annotation} must be a string"));
            }
        }
    }

    fn keywords_without_type(&mut self, schema: &Object) {
        for keyword in TYPED_KEYWORDS.iter().filter(|keyword| schema.contains_key(keyword)) {
            self.report(&format!(".{keyword} requires type or oneOf"));
        }
    }

    fn one_of(&mut self, schema: &'a Object, branches: &'a Json) {
        self.later(Place::Here, Work::OneOfRest(schema));
        match branches {
            Json::Array(branches) if branches.len() >= 2 => {
                for (index, branch) in branches.iter().enumerate().rev() {
                    self.later(Place::Branch(index), Work::Schema(branch));
                }
            }
            _ => self.report(".oneOf must be an array of at least two schemas"),
        }
    }

    fn keywords_beside_one_of(&mut self, schema: &Object) {
        for keyword in TYPED_KEYWORDS.iter().filter(|keyword| schema.contains_key(keyword)) {
            self.report(&format!(".{keyword} is not supported beside oneOf"));
        }
    }

    fn typed(&mut self, schema: &'a Object, name: &Json) {
        let Some(name) = name.as_str() else {
            return self.report(".type must be a single type string (type arrays are not supported)");
        };
        let Some(kind) = Type::from_name(name) else {
            return self.report(".type must be one of object/array/string/number/integer/boolean/null");
        };
        for keyword in TYPED_KEYWORDS {
            if !kind.takes(keyword) && schema.contains_key(keyword) {
                self.report(&format!(".{keyword} is not supported on type \"{name}\""));
            }
        }
        match kind {
            Type::Object => self.object(schema),
            Type::Array => {
                if let Some(items) = schema.get("items") {
                    self.later(Place::Items, Work::Schema(items));
                }
            }
            _ => self.scalar(schema, kind),
        }
    }

    fn object(&mut self, schema: &'a Object) {
        self.later(Place::Here, Work::ObjectRest(schema));
        match schema.get("properties") {
            None => {}
            Some(Json::Object(properties)) => {
                for (name, property) in properties.iter().rev() {
                    self.later(Place::Property(name), Work::Schema(property));
                }
            }
            Some(_) => self.report(".properties must be an object of schemas"),
        }
    }

    fn object_rest(&mut self, schema: &Object) {
        if let Some(required) = schema.get("required") {
            match required.as_array().and_then(strings) {
                None => self.report(".required must be an array of strings"),
                Some(names) => {
                    let properties = schema.get("properties").and_then(Json::as_object);
                    let is_declared = |name| properties.is_some_and(|all| all.contains_key(name));
                    for name in names.into_iter().filter(|name| !is_declared(name)) {
                        self.report(&format!(".required names \"{name}\" which is not in properties"));
                    }
                }
            }
        }
        if schema.get("additionalProperties").is_some_and(|value| !value.is_bool()) {
            self.report(".additionalProperties must be a boolean");
        }
    }

    fn scalar(&mut self, schema: &Object, kind: Type) {
        let name = kind.name();
        let allowed = schema.get("enum").map(|values| match values.as_array() {
            Some(values) if !values.is_empty() && values.iter().all(|value| kind.admits(value)) => {
                Some(values)
            }
            _ => None,
        });
        let fixed = schema.get("const").map(|value| kind.admits(value).then_some(value));
        if allowed == Some(None) {
            self.report(&format!(".enum must be a non-empty array of {name} values"));
        }
        if fixed == Some(None) {
            self.report(&format!(".const must be a {name} value"));
        }
        if let (Some(Some(allowed)), Some(Some(fixed))) = (allowed, fixed)
            && !allowed.contains(fixed)
        {
            let path = self.path.as_str();
            self.violations
                .push(|| format!("{path}.const must be one of {path}.enum when both are declared"));
        }
    }

    fn later(&mut self, place: Place<'a>, work: Work<'a>) {
        self.pending.push(Step { parent_len: self.path.len(), place, work });
    }

    /// Reports the path at hand followed by `rest`.
    fn report(&mut self, rest: &str) {
        let path = self.path.as_str();
        self.violations.push(|| format!("{path}{rest}"));
    }
}

fn strings(array: &Array) -> Option<Vec<&str>> {
    array.iter().map(Json::as_str).collect()
}
