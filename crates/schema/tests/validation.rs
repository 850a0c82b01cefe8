//! What validation says about values in the closed subset (contract 4.3).

use code_mode_schema::{Json, Schema, json, validate_json_schema_value};

/// Checks the violations of `value` with the root called `value`.
fn check(schema: &Json, value: &Json, expected: &[&str]) {
    check_labelled(schema, value, "value", expected);
}

fn check_labelled(schema: &Json, value: &Json, label: &str, expected: &[&str]) {
    assert_eq!(validate_json_schema_value(schema, value, label), expected, "{schema} {value}");
    let compiled = Schema::subset(schema.clone()).unwrap();
    assert_eq!(compiled.validate(value, label), expected, "{schema} {value}");
}

#[test]
fn a_wrong_type_is_named() {
    let one_of_each = [json!("s"), json!(1.5), json!(true), json!(null), json!({}), json!([])];
    for (kind, fits, text) in [
        ("string", 0, "a string"),
        ("number", 1, "a number"),
        ("boolean", 2, "a boolean"),
        ("null", 3, "null"),
        ("object", 4, "an object"),
        ("array", 5, "an array"),
        ("integer", 6, "an integer"),
    ] {
        for (index, value) in one_of_each.iter().enumerate() {
            let message = format!("\"value\" must be {text}");
            let expected: &[&str] = if index == fits { &[] } else { &[&message] };
            check(&json!({"type": kind}), value, expected);
        }
    }
}

#[test]
fn integers_are_those_of_ecmascript() {
    let schema = json!({"type": "integer"});
    for value in [json!(1), json!(-0.0 + 0.0), json!(1.0), json!(1e300), json!(-7)] {
        check(&schema, &value, &[]);
    }
    check(&schema, &json!(0.1), &["\"value\" must be an integer"]);
}

#[test]
fn literals_are_listed_as_json() {
    let mode = json!({"type": "string", "enum": ["a\n", "b"], "const": "b"});
    check(&mode, &json!("b"), &[]);
    check(&mode, &json!("c"), &["\"value\" must be one of [\"a\\n\",\"b\"]"]);
    check(&mode, &json!("a\n"), &["\"value\" must be \"b\""]);
    check(&mode, &json!(1), &["\"value\" must be a string"]);
    check(
        &json!({"type": "number", "enum": [1e21, -0.5]}),
        &json!(2),
        &["\"value\" must be one of [1e+21,-0.5]"],
    );
    check(&json!({"type": "null", "const": null}), &json!(null), &[]);
    check(&json!({"type": "boolean", "const": true}), &json!(false), &["\"value\" must be true"]);
}

#[test]
fn objects_report_missing_then_wrong_then_undeclared() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
            "b": {"type": "integer"},
            "c": {},
        },
        "required": ["c", "b", "a"],
        "additionalProperties": false,
    });
    check(
        &schema,
        &json!({"z": 1, "b": "no", "a": {"y": 1, "x": 2}, "1": 0}),
        &[
            "missing required property \"value.c\"",
            "\"value.a.x\" must be a string",
            "\"value.b\" must be an integer",
            "\"value.1\" is not a declared property (additionalProperties: false)",
            "\"value.z\" is not a declared property (additionalProperties: false)",
        ],
    );
    check(
        &schema,
        &json!({"a": {}, "c": null}),
        &["missing required property \"value.b\"", "missing required property \"value.a.x\""],
    );
    check(&schema, &json!({"a": {"x": ""}, "b": 1, "c": [{}]}), &[]);
}

#[test]
fn open_objects_keep_what_is_not_declared() {
    for openness in [json!({"additionalProperties": true}), json!({})] {
        let mut schema = json!({"type": "object", "properties": {"a": {"type": "null"}}});
        for (key, value) in openness.as_object().unwrap() {
            schema = schema.as_object().unwrap().with(key, value.clone()).into();
        }
        check(&schema, &json!({"b": {"c": 1}}), &[]);
    }
}

#[test]
fn names_of_object_prototype_are_ordinary() {
    let schema = json!({
        "type": "object",
        "properties": {"__proto__": {"type": "string"}, "toString": {"type": "string"}},
        "required": ["toString"],
        "additionalProperties": false,
    });
    check(
        &schema,
        &json!({"__proto__": 1, "constructor": 1}),
        &[
            "missing required property \"value.toString\"",
            "\"value.__proto__\" must be a string",
            "\"value.constructor\" is not a declared property (additionalProperties: false)",
        ],
    );
}

#[test]
fn arguments_have_no_prefix() {
    let schema = json!({
        "type": "object",
        "properties": {
            "config": {"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]},
            "servers": {"type": "array", "items": {"type": "object", "properties": {"host": {"type": "string"}}}},
        },
    });
    check_labelled(
        &schema,
        &json!({"config": {}, "servers": [{}, {"host": 1}, 2]}),
        "",
        &[
            "missing required property \"config.host\"",
            "\"servers[1].host\" must be a string",
            "\"servers[2]\" must be an object",
        ],
    );
    check_labelled(&schema, &json!("text"), "", &["\"arguments\" must be an object"]);
    check_labelled(
        &json!({"type": "array", "items": {"type": "null"}}),
        &json!([1]),
        "",
        &["\"[0]\" must be null"],
    );
    check_labelled(
        &json!({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false}),
        &json!({"b.c d": 1}),
        "",
        &[
            "missing required property \"a\"",
            "\"b.c d\" is not a declared property (additionalProperties: false)",
        ],
    );
}

#[test]
fn one_of_counts_its_matches_without_detail() {
    let schema = json!({"oneOf": [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false},
    ]});
    check(&schema, &json!("s"), &[]);
    check(&schema, &json!(1.5), &[]);
    check(&schema, &json!({"a": "b"}), &[]);
    check(&schema, &json!(1), &["\"value\" must match exactly one oneOf branch (matched 2)"]);
    for value in [json!(null), json!({}), json!({"a": 1}), json!({"a": "b", "c": 1})] {
        check(&schema, &value, &["\"value\" must match exactly one oneOf branch (matched 0)"]);
    }
}

#[test]
fn one_of_nests_and_goes_on_with_what_follows() {
    let leaf = json!({"oneOf": [{"type": "string"}, {"type": "null"}]});
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"oneOf": [{"type": "array", "items": leaf.clone()}, {"oneOf": [leaf.clone(), {"type": "integer"}]}]},
            "b": {"type": "array", "items": leaf},
            "c": {"type": "string"},
        },
        "required": ["d"],
    });
    let schema = Json::from(
        schema
            .as_object()
            .unwrap()
            .with("properties", schema.get("properties").unwrap().as_object().unwrap().with("d", json!({}))),
    );
    check(
        &schema,
        &json!({"a": [null, "x", 1], "b": [1, "x", {}], "c": 2}),
        &[
            "missing required property \"value.d\"",
            "\"value.a\" must match exactly one oneOf branch (matched 0)",
            "\"value.b[0]\" must match exactly one oneOf branch (matched 0)",
            "\"value.b[2]\" must match exactly one oneOf branch (matched 0)",
            "\"value.c\" must be a string",
        ],
    );
    check(&schema, &json!({"a": [null, "x"], "d": 1}), &[]);
    check(&schema, &json!({"a": 3, "d": 1}), &[]);
    check(&schema, &json!({"a": null, "d": 1}), &[]);
}

#[test]
fn any_value_passes_where_there_is_no_type() {
    let schema = json!({"description": "anything"});
    for value in [json!(null), json!([1, {"a": [[]]}]), json!("x")] {
        check(&schema, &value, &[]);
    }
    check(&json!({"type": "array"}), &json!([null, {}]), &[]);
}

#[test]
fn defaults_are_not_applied() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string", "default": "x"}},
        "required": ["a"],
    });
    check(&schema, &json!({}), &["missing required property \"value.a\""]);
}

#[test]
fn a_schema_outside_the_subset_validates_nothing() {
    assert_eq!(
        validate_json_schema_value(&json!({"type": "forged"}), &json!(1), "value"),
        ["schema.type must be one of object/array/string/number/integer/boolean/null"]
    );
}

#[test]
fn large_objects_are_validated_the_same() {
    let names: Vec<String> = (0..100).map(|n| format!("p{n}")).collect();
    let properties: code_mode_schema::Object =
        names.iter().map(|name| (name.as_str(), json!({"type": "integer"}))).collect();
    let schema = json!({
        "type": "object",
        "properties": Json::from(properties),
        "required": ["p99", "p0"],
        "additionalProperties": false,
    });
    let members = names.iter().rev().skip(1).map(|name| (name.as_str(), Json::from(1)));
    let value: code_mode_schema::Object =
        members.chain([("x", Json::from(1)), ("p50", Json::from("no"))]).collect();
    check(
        &schema,
        &value.into(),
        &[
            "missing required property \"value.p99\"",
            "\"value.p50\" must be an integer",
            "\"value.x\" is not a declared property (additionalProperties: false)",
        ],
    );
}

#[test]
fn text_of_violations_is_bounded() {
    let schema = json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "null"}}}});
    let items: Vec<Json> = (0..100_000).map(|n| json!({"n": n})).collect();
    let violations = validate_json_schema_value(&schema, &items.into(), "value");
    let bytes: usize = violations.iter().map(String::len).sum();
    assert!(bytes < 300_000, "{bytes}");
    let last = violations.last().unwrap();
    let counted: usize = last.strip_prefix("and ").unwrap().strip_suffix(" more").unwrap().parse().unwrap();
    assert_eq!(counted + violations.len() - 1, 100_000);
}

#[test]
fn long_enums_are_not_searched_for_every_value() {
    let names =
        |from: u32| (from..from + 10_000).map(|n| Json::from(format!("a name that is not short {n}")));
    let allowed: Json = names(0).collect();
    let schema =
        Schema::subset(json!({"type": "array", "items": {"type": "string", "enum": allowed}})).unwrap();
    assert_eq!(schema.validate(&names(0).collect(), "value"), [""; 0]);
    let violations = schema.validate(&names(10_000).collect(), "value");
    assert_eq!(violations.len(), 2);
    assert!(violations[0].starts_with(r#""value[0]" must be one of ["a name that is not short 0","#));
    assert_eq!(violations[1], "and 9999 more");
}
