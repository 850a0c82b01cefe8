//! Which schemas are in the closed subset, and what is said about the others (contract 4.2).

use code_mode_schema::{Json, Schema, assert_object_json_schema, assert_supported_json_schema, json};

/// Checks all violations of `schema`, in order.
fn check(schema: &Json, expected: &[&str]) {
    let violations = match assert_supported_json_schema(schema) {
        Ok(()) => Vec::new(),
        Err(error) => error.violations,
    };
    assert_eq!(violations, expected, "{schema}");
    assert_eq!(Schema::subset(schema.clone()).is_ok(), expected.is_empty());
}

const KEYWORDS: &str = "is not a supported keyword (subset: \
    type/oneOf/properties/required/additionalProperties/items/enum/const + annotations)";

#[test]
fn every_supported_form_passes() {
    for schema in [
        json!({}),
        json!({"description": "any", "title": "t", "default": {"x": [1]}, "examples": [null]}),
        json!({"type": "string", "enum": ["a", "b"], "const": "a"}),
        json!({"type": "number", "enum": [1, 2.5]}),
        json!({"type": "integer", "const": 1e300}),
        json!({"type": "boolean", "enum": [true, false]}),
        json!({"type": "null", "enum": [null], "const": null}),
        json!({"type": "array"}),
        json!({"type": "array", "items": {}}),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": true}),
        json!({"oneOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
        json!({"type": "object", "properties": {"type": {"type": "string"}, "oneOf": {}, "enum": {}}}),
    ] {
        check(&schema, &[]);
    }
}

#[test]
fn a_schema_is_an_object() {
    check(&json!(true), &["schema must be a schema object"]);
    check(&json!([]), &["schema must be a schema object"]);
    check(&json!({"type": "array", "items": [{}]}), &["schema.items must be a schema object"]);
    check(
        &json!({"type": "object", "properties": {"a": null, "b": 1}}),
        &["schema.properties.a must be a schema object", "schema.properties.b must be a schema object"],
    );
    check(&json!({"oneOf": [{}, false]}), &["schema.oneOf[1] must be a schema object"]);
}

#[test]
fn unsupported_keywords_are_named_in_key_order() {
    check(
        &json!({"$schema": "x", "type": "string", "pattern": "a", "minLength": 1}),
        &[
            &format!("schema.$schema {KEYWORDS}"),
            &format!("schema.pattern {KEYWORDS}"),
            &format!("schema.minLength {KEYWORDS}"),
        ],
    );
    for keyword in ["anyOf", "allOf", "not", "$ref", "format", "minimum", "maxLength", "__proto__"] {
        check(&json!({keyword: 1}), &[&format!("schema.{keyword} {KEYWORDS}")]);
    }
}

#[test]
fn description_and_title_are_strings() {
    check(
        &json!({"title": 1, "description": null, "x": 0}),
        &[
            &format!("schema.x {KEYWORDS}"),
            "schema.description must be a string",
            "schema.title must be a string",
        ],
    );
}

#[test]
fn type_and_one_of_exclude_each_other_and_end_the_node() {
    check(
        &json!({"type": "nope", "oneOf": 1, "items": 2, "x": 0}),
        &[&format!("schema.x {KEYWORDS}"), "schema cannot declare both type and oneOf"],
    );
}

#[test]
fn typed_keywords_need_a_type() {
    check(
        &json!({"const": 1, "enum": [1], "items": {}, "additionalProperties": true, "required": [], "properties": 3}),
        &[
            "schema.properties requires type or oneOf",
            "schema.required requires type or oneOf",
            "schema.additionalProperties requires type or oneOf",
            "schema.items requires type or oneOf",
            "schema.enum requires type or oneOf",
            "schema.const requires type or oneOf",
        ],
    );
}

#[test]
fn one_of_has_at_least_two_branches_and_nothing_beside_it() {
    for branches in [json!([]), json!([{}]), json!({}), json!(null)] {
        check(&json!({"oneOf": branches}), &["schema.oneOf must be an array of at least two schemas"]);
    }
    check(
        &json!({"const": 1, "properties": {}, "oneOf": [{"type": "x"}, {"oneOf": [{}]}]}),
        &[
            "schema.oneOf[0].type must be one of object/array/string/number/integer/boolean/null",
            "schema.oneOf[1].oneOf must be an array of at least two schemas",
            "schema.properties is not supported beside oneOf",
            "schema.const is not supported beside oneOf",
        ],
    );
    check(
        &json!({"oneOf": [], "required": [], "additionalProperties": false, "items": {}, "enum": []}),
        &[
            "schema.oneOf must be an array of at least two schemas",
            "schema.required is not supported beside oneOf",
            "schema.additionalProperties is not supported beside oneOf",
            "schema.items is not supported beside oneOf",
            "schema.enum is not supported beside oneOf",
        ],
    );
}

#[test]
fn type_is_one_known_name_and_ends_the_node_otherwise() {
    check(
        &json!({"type": ["string", "null"], "items": 1}),
        &["schema.type must be a single type string (type arrays are not supported)"],
    );
    check(
        &json!({"type": null}),
        &["schema.type must be a single type string (type arrays are not supported)"],
    );
    check(
        &json!({"type": "json", "enum": []}),
        &["schema.type must be one of object/array/string/number/integer/boolean/null"],
    );
}

#[test]
fn misplaced_keywords_come_before_the_types_own_checks() {
    check(
        &json!({"const": 1, "type": "array", "items": 7, "enum": [], "required": 1}),
        &[
            "schema.required is not supported on type \"array\"",
            "schema.enum is not supported on type \"array\"",
            "schema.const is not supported on type \"array\"",
            "schema.items must be a schema object",
        ],
    );
    check(
        &json!({"type": "string", "properties": {}, "additionalProperties": true, "items": {}}),
        &[
            "schema.properties is not supported on type \"string\"",
            "schema.additionalProperties is not supported on type \"string\"",
            "schema.items is not supported on type \"string\"",
        ],
    );
    check(
        &json!({"type": "object", "items": {}, "enum": [], "const": {}}),
        &[
            "schema.items is not supported on type \"object\"",
            "schema.enum is not supported on type \"object\"",
            "schema.const is not supported on type \"object\"",
        ],
    );
}

#[test]
fn objects_check_properties_then_children_then_the_rest() {
    check(
        &json!({
            "type": "object",
            "additionalProperties": {"type": "string"},
            "required": ["b", "a", "c"],
            "properties": {"a": {"type": 1}, "2": {"enum": [1]}},
        }),
        &[
            "schema.properties.2.enum requires type or oneOf",
            "schema.properties.a.type must be a single type string (type arrays are not supported)",
            "schema.required names \"b\" which is not in properties",
            "schema.required names \"c\" which is not in properties",
            "schema.additionalProperties must be a boolean",
        ],
    );
    check(
        &json!({"type": "object", "properties": [], "required": "a", "additionalProperties": null}),
        &[
            "schema.properties must be an object of schemas",
            "schema.required must be an array of strings",
            "schema.additionalProperties must be a boolean",
        ],
    );
    check(&json!({"type": "object", "required": ["a", 1]}), &["schema.required must be an array of strings"]);
    check(
        &json!({"type": "object", "required": ["toString"]}),
        &["schema.required names \"toString\" which is not in properties"],
    );
}

#[test]
fn literals_are_of_the_type() {
    for (kind, wrong) in [
        ("string", json!(1)),
        ("number", json!("1")),
        ("integer", json!(1.5)),
        ("boolean", json!(0)),
        ("null", json!(false)),
    ] {
        let bad_enum = format!("schema.enum must be a non-empty array of {kind} values");
        for values in [json!([]), json!("x"), json!([wrong.clone()])] {
            check(&json!({"type": kind, "enum": values}), &[&bad_enum]);
        }
        check(
            &json!({"type": kind, "const": wrong.clone(), "enum": [wrong]}),
            &[&bad_enum, &format!("schema.const must be a {kind} value")],
        );
    }
    check(
        &json!({"type": "string", "enum": ["a"], "const": "b"}),
        &["schema.const must be one of schema.enum when both are declared"],
    );
    check(
        &json!({"type": "array", "items": {"type": "number", "enum": [1], "const": 2}}),
        &["schema.items.const must be one of schema.items.enum when both are declared"],
    );
}

#[test]
fn paths_name_every_step() {
    check(
        &json!({
            "type": "object",
            "properties": {
                "a.b": {"type": "array", "items": {"oneOf": [{}, {"type": "object", "properties": {"": {"type": "x"}}}]}},
            },
        }),
        &["schema.properties.a.b.items.oneOf[1].properties..type must be one of \
           object/array/string/number/integer/boolean/null"],
    );
}

#[test]
fn violations_come_in_the_order_of_the_walk() {
    check(
        &json!({
            "type": "object",
            "properties": {
                "first": {"type": "array", "items": {"type": "object", "properties": {"deep": {"x": 1}}}},
                "second": {"y": 1},
            },
            "z": 1,
        }),
        &[
            &format!("schema.z {KEYWORDS}"),
            &format!("schema.properties.first.items.properties.deep.x {KEYWORDS}"),
            &format!("schema.properties.second.y {KEYWORDS}"),
        ],
    );
}

#[test]
fn the_error_has_a_code_and_joins_its_violations() {
    let error = Schema::subset(json!({"type": "string", "enum": [], "x": 1})).unwrap_err();
    assert_eq!(error.code(), "UNSUPPORTED_SCHEMA");
    assert_eq!(
        error.to_string(),
        format!(
            "unsupported JSON schema: schema.x {KEYWORDS}; \
             schema.enum must be a non-empty array of string values"
        )
    );
}

#[test]
fn structured_output_is_object_rooted() {
    assert!(assert_object_json_schema(&json!({"type": "object"})).is_ok());
    for schema in [json!({"type": "string"}), json!({}), json!({"oneOf": [{}, {}]})] {
        let error = assert_object_json_schema(&schema).unwrap_err();
        assert_eq!(error.violations, ["schema.type must be \"object\" (structured output is object-rooted)"]);
    }
    let error = assert_object_json_schema(&json!({"type": "string", "enum": []})).unwrap_err();
    assert_eq!(error.violations, ["schema.enum must be a non-empty array of string values"]);
}
