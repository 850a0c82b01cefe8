//! Nothing recurses over values or schemas: 20 000 levels on a stack of 512 KiB.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::thread;

use code_mode_schema::{
    Json, ParameterSchemaSpec, Path, Schema, ValueSchemaSpec, assert_supported_json_schema, from_json, json,
    to_json, validate_args, validate_json_schema_value,
};

const LEVELS: usize = 20_000;
const STACK_BYTES: usize = 512 * 1024;

/// Runs `work` on a thread with little stack.
fn check(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work).unwrap();
    thread.join().unwrap();
}

fn deep(levels: usize, wrap: impl Fn(Json) -> Json) -> Json {
    (0..levels).fold(json!(1), |inner, _| wrap(inner))
}

fn deep_arrays() -> Json {
    deep(LEVELS, |inner| json!([inner]))
}

fn deep_objects() -> Json {
    deep(LEVELS, |inner| json!({"k": inner, "n": 1}))
}

fn hash(value: &Json) -> u64 {
    let mut state = DefaultHasher::new();
    value.hash(&mut state);
    state.finish()
}

#[test]
fn values_are_parsed_printed_and_dropped() {
    check(|| {
        for value in [deep_arrays(), deep_objects()] {
            let text = value.to_text();
            assert_eq!(text.len(), value.text_len());
            let parsed = Json::parse(&text).unwrap();
            assert_eq!(format!("{parsed:?}"), format!("{value}"));
            assert!(parsed.is_deeper_than(LEVELS - 1) && !parsed.is_deeper_than(LEVELS));
            let unfinished = &text[..text.len() - 1];
            assert!(Json::parse(unfinished).is_err());
        }
    });
}

#[test]
fn values_are_cloned_compared_and_hashed() {
    check(|| {
        for build in [deep_arrays, deep_objects] {
            let (left, right) = (build(), build());
            assert!(left == right && hash(&left) == hash(&right));
            let clone = left.clone();
            drop(left);
            assert!(clone == right);
            let different = deep(LEVELS - 1, |inner| json!([inner]));
            assert!(clone != different && hash(&clone) != hash(&different));
        }
    });
}

#[test]
fn shared_values_are_dropped_by_their_last_owner_on_any_thread() {
    check(|| {
        let value = deep_arrays();
        let inside = value.index(0).cloned().unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let value = value.clone();
                thread::Builder::new().stack_size(STACK_BYTES).spawn(move || drop(value)).unwrap()
            })
            .collect();
        drop(value);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(inside.is_array());
    });
}

#[test]
fn values_inside_rust_types_cross_serde_whole() {
    check(|| {
        let value = deep_objects();
        let wrapped = to_json(&vec![Some(&value)]).unwrap();
        let unwrapped: Vec<Json> = from_json(&wrapped).unwrap();
        assert!(unwrapped[0] == value);
        assert!(from_json::<serde_json::Value>(&value).is_err());
        assert!(value.to_serde_json().is_err());
    });
}

#[test]
fn foreign_values_are_taken_over() {
    check(|| {
        let mut theirs = serde_json::json!(1);
        for _ in 0..LEVELS {
            theirs = serde_json::Value::Array(vec![theirs]);
        }
        let ours = Json::try_from(&theirs).unwrap();
        assert!(ours == deep_arrays());
        // Their values are freed recursively, so this one cannot be.
        std::mem::forget(theirs);
    });
}

#[test]
fn subset_schemas_are_checked_compiled_and_used() {
    check(|| {
        let schema = deep(LEVELS, |inner| match inner {
            Json::Number(_) => json!({"type": "integer"}),
            inner => json!({"type": "array", "items": inner}),
        });
        let value = deep(LEVELS - 1, |inner| json!([inner]));
        assert!(assert_supported_json_schema(&schema).is_ok());
        let compiled = Schema::subset(schema.clone()).unwrap();
        assert!(compiled.validate(&value, "value").is_empty());
        let wrong = deep(LEVELS - 1, |inner| match inner {
            Json::Number(_) => json!(["no"]),
            inner => json!([inner]),
        });
        let path = "[0]".repeat(LEVELS - 1);
        assert_eq!(
            validate_json_schema_value(&schema, &wrong, "value"),
            [format!("\"value{path}\" must be an integer")]
        );
        assert!(Schema::full(schema).validate(&value, "value").is_empty());
    });
}

#[test]
fn schemas_of_nested_choices_are_checked_compiled_and_used() {
    check(|| {
        let schema = deep(LEVELS, |inner| match inner {
            Json::Number(_) => json!({"type": "integer"}),
            inner => json!({"oneOf": [{"type": "string"}, inner]}),
        });
        let compiled = Schema::subset(schema).unwrap();
        assert!(compiled.validate(&json!(1), "value").is_empty());
        assert_eq!(
            compiled.validate(&json!(null), "value"),
            ["\"value\" must match exactly one oneOf branch (matched 0)"]
        );
    });
}

#[test]
fn violations_of_deep_schemas_stay_within_memory() {
    check(|| {
        let schema = deep(LEVELS, |inner| json!({"type": "array", "items": inner, "x": 1}));
        let error = assert_supported_json_schema(&schema).unwrap_err();
        let bytes: usize = error.violations.iter().map(String::len).sum();
        assert!(bytes < 1_000_000, "{bytes}");
        assert_eq!(error.violations.last().map(|last| last.starts_with("and ")), Some(true));
    });
}

#[test]
fn specs_compile_and_come_back() {
    check(|| {
        let mut spec = ValueSchemaSpec::string();
        for level in 0..LEVELS {
            spec = match level % 3 {
                0 => ValueSchemaSpec::array(spec),
                1 => ValueSchemaSpec::closed_object().required("k", spec),
                _ => ValueSchemaSpec::one_of([ValueSchemaSpec::null(), spec]),
            };
        }
        let schema = spec.to_json_schema().unwrap();
        assert!(ValueSchemaSpec::from_json_schema(&schema).unwrap().to_json_schema().unwrap() == schema);
        let parameters = ParameterSchemaSpec::new().required("p", spec);
        let args = json!({"p": null});
        assert!(!validate_args(&parameters, &args).is_empty());
    });
}

#[test]
fn full_schemas_that_are_too_deep_are_checked_by_their_structure() {
    check(|| {
        let schema = deep(LEVELS, |inner| match inner {
            Json::Number(_) => json!({"type": "integer", "minimum": 0}),
            inner => json!({"type": "array", "items": inner}),
        });
        let schema = Schema::full(schema);
        assert_eq!(schema.warning(), Some("the schema cannot be compiled: it nests deeper than 128 levels"));
        let value = deep(LEVELS - 1, |inner| json!([inner]));
        assert!(schema.validate(&value, "value").is_empty());
        assert_eq!(schema.validate(&json!([1]), "value"), ["\"value[0]\" must be an array"]);
    });
}

fn innermost_is_wrong(levels: usize) -> Json {
    deep(levels, |inner| match inner {
        Json::Number(_) => json!(["no"]),
        inner => json!([inner]),
    })
}

#[test]
fn full_schemas_of_the_greatest_depth_are_compiled_used_and_dropped() {
    check(|| {
        let levels = 127;
        let schema = Schema::full(deep(levels, |inner| match inner {
            Json::Number(_) => json!({"type": "integer", "minimum": 0}),
            inner => json!({"type": ["array"], "items": inner}),
        }));
        assert_eq!(schema.warning(), None);
        let value = |leaf: Json| (1..levels).fold(leaf, |inner, _| json!([inner]));
        assert!(schema.validate(&value(json!(1)), "").is_empty());
        let path = "[0]".repeat(levels - 1);
        assert_eq!(schema.validate(&value(json!(-1)), ""), [format!("\"{path}\" must be at least 0")]);
        drop(schema);
    });
}

#[test]
fn recursive_schemas_follow_deep_values() {
    check(|| {
        let schema = Schema::full(json!({
            "$defs": {"list": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/list"}}},
            "$ref": "#/$defs/list",
        }));
        assert_eq!(schema.warning(), None);
        for levels in [1, 10, 100, 1_000, LEVELS] {
            let value = deep(levels, |inner| json!([inner]));
            assert!(schema.validate(&value, "value").is_empty(), "{levels}");
        }
        assert_eq!(
            schema.validate(&innermost_is_wrong(LEVELS), "value"),
            ["\"value\" must match its schema"]
        );
        let path = "[0]".repeat(300);
        assert_eq!(
            schema.validate(&innermost_is_wrong(300), "value"),
            [format!("\"value{path}\" must be an integer or an array")]
        );
    });
}

#[test]
fn what_is_wrong_deep_inside_nested_choices_is_not_looked_for_forever() {
    check(|| {
        let schema = Schema::full(json!({
            "$defs": {"list": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/list"}, {"type": "integer"}]}}},
            "$ref": "#/$defs/list",
        }));
        assert!(schema.validate(&deep_arrays(), "value").is_empty());
        assert_eq!(
            schema.validate(&innermost_is_wrong(LEVELS), "value"),
            ["\"value\" must match its schema"]
        );
    });
}

#[test]
fn deep_values_pass_where_anything_is_allowed() {
    check(|| {
        let schema = Schema::full(json!({
            "type": "object",
            "properties": {"data": true, "n": {"type": "integer", "minimum": 0}},
            "required": ["data"],
        }));
        assert!(schema.validate(&json!({"data": deep_arrays(), "n": 1}), "").is_empty());
        assert_eq!(
            schema.validate(&json!({"data": deep_arrays(), "n": -1}), ""),
            ["\"n\" must be at least 0"]
        );
        let unique = Schema::full(json!({"uniqueItems": true}));
        assert_eq!(
            unique.validate(&json!([deep_arrays(), deep_arrays()]), "value"),
            ["\"value\" must not have equal items"]
        );
        let one_of_few = Schema::full(json!({"enum": [[1], [[[2]]]]}));
        assert_eq!(one_of_few.validate(&deep_arrays(), "value"), ["\"value\" must be one of [[1],[[[2]]]]"]);
    });
}

#[test]
fn long_chains_of_references_do_not_overflow() {
    check(|| {
        let length = 5_000;
        let mut definitions = code_mode_schema::Object::builder();
        for n in 0..length {
            let next = match n + 1 {
                next if next < length => json!({"$ref": (format!("#/$defs/d{next}"))}),
                _ => json!({"type": "string", "minLength": 1}),
            };
            definitions.insert(format!("d{n}"), json!({"allOf": [next]}));
        }
        let schema = Schema::full(json!({"$defs": (Json::from(definitions.build())), "$ref": "#/$defs/d0"}));
        assert_eq!(schema.warning(), None);
        assert!(schema.validate(&json!("x"), "value").is_empty());
        assert_eq!(schema.validate(&json!(""), "value"), ["\"value\" must have at least 1 character"]);
    });
}

#[test]
fn paths_of_any_length_are_written() {
    check(|| {
        let path = (0..LEVELS).fold(Path::new(), |path, _| path.key("k"));
        assert_eq!(path.as_str().len(), 2 * LEVELS - 1);
    });
}
