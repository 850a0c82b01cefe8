//! What TypeScript cannot say: why a value that a schema refuses may be of its type all the same.

use code_mode::schema::Object;
use code_mode::{Json, Schema, json};

/// A family of constraints that no type can hold: its name, and a schema's members without them.
type Family = (&'static str, fn(&Object) -> Object);

const FAMILIES: [Family; 10] = [
    // Every weakened schema has it.
    ("a value of two branches fits a union", Object::clone),
    ("bounds of numbers", |schema| {
        without(schema, &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
    }),
    ("integers", |schema| match schema.get("type") {
        Some(kind) => schema.with("type", number_for_integer(kind)),
        None => schema.clone(),
    }),
    ("lengths of strings", |schema| without(schema, &["minLength", "maxLength"])),
    ("patterns", |schema| without(schema, &["pattern"])),
    ("lengths of arrays", |schema| without(schema, &["minItems", "maxItems"])),
    ("what an array holds", |schema| {
        without(schema, &["uniqueItems", "contains", "minContains", "maxContains"])
    }),
    ("numbers and names of members", |schema| {
        without(schema, &["minProperties", "maxProperties", "propertyNames"])
    }),
    ("conditions and negations", |schema| {
        let conditions =
            ["not", "if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies"];
        without(schema, &conditions)
    }),
    ("index signatures take what members take", open_index),
];

/// The family that a value breaks: without it, the schema takes the value. Several, if only together.
///
/// `None` if the value breaks something that a type can say.
pub(crate) fn reason(schema: &Json, value: &Json) -> Option<&'static str> {
    let takes =
        |families: &[Family]| Schema::full(weakened(schema, families)).validate(value, "value").is_empty();
    let alone = FAMILIES.iter().find(|family| takes(std::slice::from_ref(*family)));
    alone.map(|(name, _)| *name).or_else(|| takes(&FAMILIES).then_some("several of these at once"))
}

/// Reasons, each once.
pub(crate) fn joined(mut reasons: Vec<&'static str>) -> String {
    reasons.sort_unstable();
    reasons.dedup();
    reasons.join("; ")
}

/// The schema without the constraints of some families, and with unions that any number of branches may fit.
///
/// Within a negation nothing is changed: what is weaker there is stronger outside.
fn weakened(schema: &Json, families: &[Family]) -> Json {
    let Json::Object(members) = schema else { return schema.clone() };
    let members = families.iter().fold(members.clone(), |members, (_, weaken)| weaken(&members));
    let schemas = |value: &Json| -> Json {
        match value {
            Json::Array(list) => list.iter().map(|schema| weakened(schema, families)).collect(),
            schema => weakened(schema, families),
        }
    };
    let mut weak: Vec<(String, Json)> = Vec::new();
    let mut conjunction: Vec<Json> = Vec::new();
    for (keyword, value) in &members {
        let value = match (keyword, value) {
            ("properties" | "patternProperties" | "$defs" | "definitions", Json::Object(named)) => named
                .iter()
                .map(|(name, schema)| (name, weakened(schema, families)))
                .collect::<Object>()
                .into(),
            ("oneOf", branches) => {
                conjunction.push(json!({"anyOf": (schemas(branches))}));
                continue;
            }
            ("allOf", Json::Array(branches)) => {
                conjunction.extend(branches.iter().map(|schema| weakened(schema, families)));
                continue;
            }
            (
                "anyOf"
                | "items"
                | "prefixItems"
                | "additionalItems"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                value,
            ) => schemas(value),
            (_, data) => data.clone(),
        };
        weak.push((keyword.to_owned(), value));
    }
    if !conjunction.is_empty() {
        weak.push(("allOf".to_owned(), conjunction.into()));
    }
    weak.into_iter().collect::<Object>().into()
}

fn without(schema: &Object, keywords: &[&str]) -> Object {
    keywords.iter().fold(schema.clone(), |schema, keyword| schema.without(keyword))
}

fn number_for_integer(kind: &Json) -> Json {
    match kind {
        Json::Array(kinds) => kinds.iter().map(number_for_integer).collect(),
        kind if kind.as_str() == Some("integer") => "number".into(),
        kind => kind.clone(),
    }
}

/// In TypeScript, what is said of all members must hold of the declared ones and of those under patterns too; so an
/// index signature beside them takes what any of them takes. Patterns that are neither a beginning nor an end are
/// said by nothing else.
fn open_index(schema: &Object) -> Object {
    let schemas_of = |keyword| schema.get(keyword).and_then(Json::as_object);
    let rest = schema.get("additionalProperties").filter(|rest| rest.as_bool().is_none());
    let mut taken: Vec<Json> = rest.into_iter().cloned().collect();
    taken.extend(schemas_of("properties").into_iter().flat_map(Object::values).cloned());
    taken.extend(schemas_of("patternProperties").into_iter().flat_map(Object::values).cloned());
    if taken.is_empty() || (rest.is_none() && schemas_of("patternProperties").is_none()) {
        return schema.clone();
    }
    schema.without("patternProperties").with("additionalProperties", json!({"anyOf": (Json::from(taken))}))
}
