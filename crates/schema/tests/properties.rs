//! What holds for all values and all schemas.

use std::sync::Arc;

use code_mode_schema::{
    Json, Lossy, Number, Object, Path, Schema, ValueSchemaSpec, assert_supported_json_schema, from_json,
    json, json_string_len, to_json, validate_json_schema_value, write_json_string,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

fn keys() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-d]",
        1 => "[0-9]{1,3}",
        1 => Just("__proto__".to_owned()),
        1 => ".{0,4}",
    ]
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        3 => (-5_i32..5).prop_map(Number::from),
        1 => any::<i32>().prop_map(Number::from),
        2 => any::<f64>().prop_filter_map("lossless", |value| Number::new(value).ok()),
        1 => (any::<i16>(), -300_i32..300)
            .prop_map(|(digits, exponent)| f64::from(digits) * 10_f64.powi(exponent))
            .prop_filter_map("lossless", |value| Number::new(value).ok()),
    ]
}

fn scalars() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        numbers().prop_map(Json::from),
        "[a-c]{0,2}".prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ]
}

fn values() -> impl Strategy<Value = Json> {
    scalars().prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Json::from),
            vec((keys(), inner), 0..6)
                .prop_map(|members| Json::from(members.into_iter().collect::<Object>())),
        ]
    })
}

/// Schemas of the subset.
fn schemas() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(json!({})),
        Just(json!({"description": "anything"})),
        prop_oneof![Just("string"), Just("number"), Just("integer"), Just("boolean"), Just("null")]
            .prop_map(|name| json!({"type": name})),
        vec("[a-c]{0,2}", 1..4).prop_map(|all| json!({"type": "string", "enum": all})),
        (-5_i32..5).prop_map(|value| json!({"type": "integer", "const": value})),
        vec(numbers(), 1..4).prop_map(|all| {
            let all: Json = all.into_iter().map(Json::from).collect();
            json!({"type": "number", "enum": all})
        }),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            Just(json!({"type": "array"})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            vec(inner.clone(), 2..4).prop_map(|branches| json!({"oneOf": (Json::from(branches))})),
            (vec((keys(), inner, any::<bool>()), 0..4), any::<Option<bool>>())
                .prop_map(|(properties, openness)| object_schema(properties, openness)),
        ]
    })
}

fn object_schema(properties: Vec<(String, Json, bool)>, openness: Option<bool>) -> Json {
    let mut required: Vec<Json> = properties
        .iter()
        .filter(|(_, _, is_required)| *is_required)
        .map(|(name, _, _)| Json::from(name))
        .collect();
    required.sort_by_key(Json::to_text);
    required.dedup();
    let properties: Object = properties.into_iter().map(|(name, schema, _)| (name, schema)).collect();
    let mut schema = Object::builder();
    schema.insert("type", "object").insert("properties", properties);
    if !required.is_empty() {
        schema.insert("required", required);
    }
    if let Some(openness) = openness {
        schema.insert("additionalProperties", openness);
    }
    schema.build().into()
}

/// A value that follows `schema` here and there, so that both outcomes occur.
fn value_for(schema: &Json) -> BoxedStrategy<Json> {
    let fitting = match schema.get("type").and_then(Json::as_str) {
        Some("string") => "[a-c]{0,2}".prop_map(Json::from).boxed(),
        Some("integer") => (-5_i32..5).prop_map(Json::from).boxed(),
        Some("number") => numbers().prop_map(Json::from).boxed(),
        Some("boolean") => any::<bool>().prop_map(Json::from).boxed(),
        Some("null") => Just(Json::Null).boxed(),
        Some("array") => match schema.get("items") {
            Some(items) => vec(value_for(items), 0..4).prop_map(Json::from).boxed(),
            None => vec(scalars(), 0..3).prop_map(Json::from).boxed(),
        },
        Some("object") => {
            let properties = schema.get("properties").and_then(Json::as_object).cloned().unwrap_or_default();
            let members: Vec<_> = properties
                .iter()
                .map(|(name, schema)| {
                    let name: Arc<str> = name.into();
                    let member = value_for(schema).prop_map(move |value| (name.clone(), value));
                    prop::option::weighted(0.8, member)
                })
                .collect();
            (members, prop::option::weighted(0.2, (keys(), scalars())))
                .prop_map(|(members, more)| {
                    let more = more.map(|(name, value)| (name.into(), value));
                    Json::from(members.into_iter().flatten().chain(more).collect::<Object>())
                })
                .boxed()
        }
        _ => match schema.get("oneOf").and_then(Json::as_array) {
            Some(branches) => prop::strategy::Union::new(branches.iter().map(value_for)).boxed(),
            None => values().boxed(),
        },
    };
    let literals: Vec<Json> = schema
        .get("enum")
        .and_then(Json::as_array)
        .into_iter()
        .flat_map(|all| all.iter().cloned())
        .chain(schema.get("const").cloned())
        .collect();
    let fitting = match literals.is_empty() {
        true => fitting,
        false => prop::sample::select(literals).boxed(),
    };
    prop_oneof![8 => fitting, 1 => values()].boxed()
}

fn schemas_with_values() -> impl Strategy<Value = (Json, Json)> {
    schemas().prop_flat_map(|schema| {
        let value = value_for(&schema);
        (Just(schema), value)
    })
}

/// Validation as one would write it without thinking of stacks or speed.
fn model(schema: &Json, value: &Json, path: &str, out: &mut Vec<String>) {
    let shown = if path.is_empty() { "arguments" } else { path };
    let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if let Some(branches) = schema.get("oneOf").and_then(Json::as_array) {
        let matched = branches
            .iter()
            .filter(|branch| {
                let mut found = Vec::new();
                model(branch, value, path, &mut found);
                found.is_empty()
            })
            .count();
        if matched != 1 {
            out.push(format!("\"{shown}\" must match exactly one oneOf branch (matched {matched})"));
        }
        return;
    }
    let Some(kind) = schema.get("type").and_then(Json::as_str) else { return };
    let (fits, expected) = match kind {
        "string" => (value.is_string(), "a string"),
        "number" => (value.is_number(), "a number"),
        "integer" => (value.as_f64().is_some_and(|value| value.fract() == 0.0), "an integer"),
        "boolean" => (value.is_bool(), "a boolean"),
        "null" => (value.is_null(), "null"),
        "array" => (value.is_array(), "an array"),
        _ => (value.is_object(), "an object"),
    };
    if !fits {
        out.push(format!("\"{shown}\" must be {expected}"));
        return;
    }
    if let Some(all) = schema.get("enum")
        && !all.as_array().unwrap().contains(value)
    {
        out.push(format!("\"{shown}\" must be one of {all}"));
        return;
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        out.push(format!("\"{shown}\" must be {only}"));
    }
    if let (Some(items), Some(array)) = (schema.get("items"), value.as_array()) {
        for (index, item) in array.iter().enumerate() {
            model(items, item, &format!("{path}[{index}]"), out);
        }
    }
    if let (Some(properties), Some(object)) = (schema.get("properties"), value.as_object()) {
        let properties = properties.as_object().unwrap();
        let required = schema.get("required").and_then(Json::as_array);
        for name in required.iter().flat_map(|names| names.iter()).filter_map(Json::as_str) {
            if !object.contains_key(name) {
                out.push(format!("missing required property \"{}\"", inside(name)));
            }
        }
        for (name, schema) in properties {
            if let Some(value) = object.get(name) {
                model(schema, value, &inside(name), out);
            }
        }
        if schema.get("additionalProperties") == Some(&Json::Bool(false)) {
            for name in object.keys().filter(|name| !properties.contains_key(name)) {
                out.push(format!(
                    "\"{}\" is not a declared property (additionalProperties: false)",
                    inside(name)
                ));
            }
        }
    }
}

/// A value for serde that is bad in one place.
#[derive(Clone, Debug)]
enum Planted {
    Bad(Bad),
    Good(Json),
    Seq(Vec<Planted>),
    Map(Vec<(String, Planted)>),
}

#[derive(Clone, Copy, Debug)]
enum Bad {
    Float(f64),
    Unsigned(u64),
    Signed(i64),
    Key,
}

impl Bad {
    fn reason(self) -> Lossy {
        match self {
            Bad::Float(value) => Number::new(value).unwrap_err(),
            Bad::Unsigned(value) => Lossy::UnsafeInteger(value.to_string().into()),
            Bad::Signed(value) => Lossy::UnsafeInteger(value.to_string().into()),
            Bad::Key => Lossy::NonStringKey,
        }
    }
}

impl Serialize for Planted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Planted::Bad(Bad::Float(value)) => serializer.serialize_f64(*value),
            Planted::Bad(Bad::Unsigned(value)) => serializer.serialize_u64(*value),
            Planted::Bad(Bad::Signed(value)) => serializer.serialize_i64(*value),
            Planted::Bad(Bad::Key) => serializer.collect_map([(1, 2)]),
            Planted::Good(value) => value.serialize(serializer),
            Planted::Seq(items) => {
                let mut seq = serializer.serialize_seq(None)?;
                items.iter().try_for_each(|item| seq.serialize_element(item))?;
                seq.end()
            }
            Planted::Map(members) => {
                let mut map = serializer.serialize_map(None)?;
                members.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

fn planted() -> impl Strategy<Value = (Planted, Path, Bad)> {
    let bad = prop_oneof![
        prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0)]
            .prop_map(Bad::Float),
        ((1_u64 << 53)..).prop_map(Bad::Unsigned),
        (..-(1_i64 << 53)).prop_map(Bad::Signed),
        Just(Bad::Key),
    ];
    let step = (any::<bool>(), vec((keys(), values()), 0..3), keys());
    (bad, vec(step, 0..5)).prop_map(|(bad, steps)| {
        let mut value = Planted::Bad(bad);
        let mut path = Path::new();
        let mut names = Vec::new();
        for (is_map, before, key) in steps {
            if is_map {
                let mut members: Vec<_> =
                    before.into_iter().map(|(key, value)| (key, Planted::Good(value))).collect();
                members.push((key.clone(), value));
                value = Planted::Map(members);
                names.push(Ok(key));
            } else {
                let mut items: Vec<_> = before.into_iter().map(|(_, value)| Planted::Good(value)).collect();
                names.push(Err(items.len()));
                items.push(value);
                value = Planted::Seq(items);
            }
        }
        for name in names.into_iter().rev() {
            match name {
                Ok(key) => path.push_key(&key),
                Err(index) => path.push_index(index),
            }
        }
        (value, path, bad)
    })
}

fn specs() -> impl Strategy<Value = ValueSchemaSpec> {
    let scalar = prop_oneof![
        Just(ValueSchemaSpec::json()),
        Just(ValueSchemaSpec::boolean()),
        Just(ValueSchemaSpec::null().description("d")),
        Just(ValueSchemaSpec::any_array().title("t")),
        vec("[a-c]{0,2}", 1..4).prop_map(|all| ValueSchemaSpec::string().enum_values(all)),
        any::<i32>().prop_map(|value| ValueSchemaSpec::integer().const_value(value)),
        values().prop_map(|value| ValueSchemaSpec::number().default_value(value)),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(ValueSchemaSpec::array),
            vec(inner.clone(), 2..4).prop_map(ValueSchemaSpec::one_of),
            (vec((keys(), inner, any::<bool>()), 0..4), any::<bool>()).prop_map(|(properties, is_open)| {
                let object = match is_open {
                    true => ValueSchemaSpec::open_object(),
                    false => ValueSchemaSpec::closed_object(),
                };
                properties.into_iter().fold(object, |object, (name, schema, is_required)| match is_required {
                    true => object.required(&name, schema),
                    false => object.optional(&name, schema),
                })
            }),
        ]
    })
}

/// Documents that look like schemas of any vocabulary, right and wrong ones.
fn schema_like() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        scalars(),
        Just(json!(["string", "null"])),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/a"})),
        Just(json!({"$ref": "#/nowhere"})),
        Just(json!({"$ref": "https://example.com/x"})),
        Just(json!({"type": "string"})),
        Just(json!({"pattern": "(["})),
        Just(json!({"pattern": "^[a-c]+$"})),
        Just(json!("string")),
        Just(json!("object")),
    ];
    let keyword = prop::sample::select(vec![
        "$ref",
        "$defs",
        "$id",
        "$schema",
        "type",
        "properties",
        "required",
        "items",
        "prefixItems",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "enum",
        "const",
        "minimum",
        "maxLength",
        "pattern",
        "format",
        "contains",
        "uniqueItems",
        "dependentSchemas",
        "unevaluatedProperties",
        "unevaluatedItems",
        "description",
        "default",
        "a",
        "b",
    ]);
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..3).prop_map(Json::from),
            4 => vec((keyword.clone(), inner), 0..5)
                .prop_map(|members| Json::from(members.into_iter().collect::<Object>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_and_back_is_the_identity(value in values()) {
        let text = value.to_text();
        let parsed = Json::parse(&text).unwrap();
        prop_assert_eq!(&parsed, &value);
        prop_assert_eq!(parsed.to_text(), text.clone());
        prop_assert_eq!(value.text_len(), text.len());
        prop_assert_eq!(serde_json::to_string(&value).is_ok(), true);
    }

    #[test]
    fn serde_and_back_is_the_identity(value in values()) {
        let theirs = value.to_serde_json().unwrap();
        prop_assert_eq!(&to_json(&theirs).unwrap().to_text(), &value.to_text());
        prop_assert_eq!(&Json::try_from(&theirs).unwrap().to_text(), &value.to_text());
        prop_assert_eq!(&serde_json::from_value::<Json>(theirs.clone()).unwrap(), &value);
        prop_assert_eq!(&from_json::<serde_json::Value>(&value).unwrap(), &theirs);
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Json>(&text).unwrap(), &value);
    }

    #[test]
    fn equal_values_have_equal_hashes(left in values(), right in values()) {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let hash = |value: &Json| {
            let mut state = DefaultHasher::new();
            value.hash(&mut state);
            state.finish()
        };
        let rebuilt = Json::parse(&left.to_text()).unwrap();
        prop_assert_eq!(hash(&left), hash(&rebuilt));
        prop_assert_eq!(left == right, left.to_serde_json().unwrap() == right.to_serde_json().unwrap());
    }

    #[test]
    fn strings_are_escaped_as_by_serde_json_but_for_nothing(text in any::<String>()) {
        let mut written = String::new();
        write_json_string(&text, &mut written);
        prop_assert_eq!(&written, &serde_json::to_string(&text).unwrap());
        prop_assert_eq!(json_string_len(&text), written.len());
    }

    #[test]
    fn every_lossy_value_is_refused_with_its_path((value, path, bad) in planted()) {
        let error = to_json(&value).unwrap_err();
        prop_assert_eq!((error.path, error.reason), (path.to_string(), bad.reason()));
    }

    #[test]
    fn parsing_agrees_with_another_parser(text in r#"[\[\]{}:,"a\\u0-9eE.+\- tn]{0,12}"#) {
        let ours = Json::parse(&text);
        match (serde_json::from_str::<serde_json::Value>(&text), &ours) {
            (Ok(theirs), Ok(ours)) => {
                prop_assert_eq!(serde_json::to_string(&ours).unwrap(), {
                    let theirs = Json::try_from(theirs);
                    match theirs {
                        Ok(theirs) => theirs.to_text(),
                        Err(_) => ours.to_text(),
                    }
                });
            }
            (Ok(_), Err(error)) => {
                prop_assert!(matches!(error.kind, code_mode_schema::ParseErrorKind::Lossy(_)), "{}", error);
            }
            (Err(_), Ok(_)) => prop_assert!(false, "{} was taken", text),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn specs_compile_to_the_subset_and_come_back(spec in specs()) {
        let schema = spec.to_json_schema().unwrap();
        prop_assert!(assert_supported_json_schema(&schema).is_ok());
        let again = ValueSchemaSpec::from_json_schema(&schema).unwrap();
        prop_assert_eq!(again.to_json_schema().unwrap().to_text(), schema.to_text());
    }

    #[test]
    fn schemas_of_the_subset_are_recognized(schema in schemas()) {
        prop_assert!(assert_supported_json_schema(&schema).is_ok());
        let full = Schema::full(schema.clone());
        prop_assert_eq!(full.warning(), None);
        let spec = ValueSchemaSpec::from_json_schema(&schema).unwrap();
        let again = spec.to_json_schema().unwrap();
        prop_assert!(assert_supported_json_schema(&again).is_ok());
    }

    #[test]
    fn validation_says_what_the_model_says((schema, value) in schemas_with_values(), label in "(value)?") {
        let mut expected = Vec::new();
        model(&schema, &value, &label, &mut expected);
        prop_assert_eq!(validate_json_schema_value(&schema, &value, &label), expected);
    }

    #[test]
    fn validation_agrees_with_another_validator((schema, value) in schemas_with_values()) {
        let is_valid = jsonschema::is_valid(&schema.to_serde_json().unwrap(), &value.to_serde_json().unwrap());
        prop_assert_eq!(validate_json_schema_value(&schema, &value, "value").is_empty(), is_valid);
    }

    #[test]
    fn any_document_is_judged(document in schema_like(), value in values()) {
        let supported = assert_supported_json_schema(&document).is_ok();
        prop_assert_eq!(Schema::subset(document.clone()).is_ok(), supported);
        let _ = validate_json_schema_value(&document, &value, "value");
        let _ = ValueSchemaSpec::from_spec(document.clone()).to_json_schema();
        let _ = ValueSchemaSpec::from_json_schema(&document);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_is_a_full_schema(document in schema_like(), value in values()) {
        let schema = Schema::full(document);
        for violation in schema.validate(&value, "value") {
            prop_assert!(violation.contains("value") || violation.starts_with("and "), "{}", violation);
        }
    }
}
