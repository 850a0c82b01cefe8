//! The author DSL: what it compiles to, what it refuses, and the way back (contract 4.1).

use code_mode_schema::{Json, ParameterSchemaSpec, ValueSchemaSpec, Vocabulary, json};

fn check_value(spec: &Json, expected: &str) {
    let compiled = match ValueSchemaSpec::from_spec(spec.clone()).to_json_schema() {
        Ok(schema) => schema.to_text(),
        Err(error) => error.violations.join("; "),
    };
    assert_eq!(compiled, expected, "{spec}");
}

fn check_parameters(spec: &Json, expected: &str) {
    let compiled = match ParameterSchemaSpec::from_spec(spec.clone()).to_json_schema() {
        Ok(schema) => schema.to_text(),
        Err(error) => error.violations.join("; "),
    };
    assert_eq!(compiled, expected, "{spec}");
}

#[test]
fn keys_come_in_a_fixed_order() {
    check_value(
        &json!({"const": "a", "examples": ["a"], "enum": ["a", "b"], "default": "a", "title": "t", "type": "string", "description": "d"}),
        r#"{"type":"string","description":"d","title":"t","default":"a","examples":["a"],"enum":["a","b"],"const":"a"}"#,
    );
    check_value(
        &json!({"properties": {"b": {"type": "null", "required": true}, "a": {"type": "json"}, "c": {"required": true, "type": "number"}}, "additionalProperties": true, "description": "d", "type": "object"}),
        r#"{"type":"object","description":"d","additionalProperties":true,"properties":{"b":{"type":"null"},"a":{},"c":{"type":"number"}},"required":["b","c"]}"#,
    );
    check_value(
        &json!({"items": {"type": "integer"}, "title": "t", "type": "array"}),
        r#"{"type":"array","title":"t","items":{"type":"integer"}}"#,
    );
    check_value(
        &json!({"oneOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
        r#"{"description":"d","oneOf":[{"type":"string"},{"type":"null"}]}"#,
    );
    check_value(&json!({"type": "json", "description": "d"}), r#"{"description":"d"}"#);
    check_value(
        &json!({"type": "object", "additionalProperties": false}),
        r#"{"type":"object","additionalProperties":false}"#,
    );
}

#[test]
fn parameters_are_an_open_object_root() {
    check_parameters(&json!({}), r#"{"type":"object","properties":{}}"#);
    check_parameters(
        &json!({"b": {"type": "string"}, "a": {"type": "boolean", "required": true}}),
        r#"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"boolean"}},"required":["a"]}"#,
    );
}

#[test]
fn builders_write_the_spec() {
    let spec = ParameterSchemaSpec::new()
        .required("id", ValueSchemaSpec::string().description("Document id").title("Id"))
        .optional(
            "pages",
            ValueSchemaSpec::array(ValueSchemaSpec::one_of([
                ValueSchemaSpec::integer(),
                ValueSchemaSpec::string().enum_values(["first", "last"]),
            ])),
        )
        .optional("max-bytes", ValueSchemaSpec::number().default_value(10).examples([1, 2]))
        .required(
            "opts",
            ValueSchemaSpec::open_object()
                .required("raw", ValueSchemaSpec::boolean().const_value(true))
                .optional("any", ValueSchemaSpec::json())
                .optional("list", ValueSchemaSpec::any_array())
                .optional("none", ValueSchemaSpec::closed_object())
                .optional("nothing", ValueSchemaSpec::null()),
        );
    assert_eq!(
        spec.to_json_schema().unwrap().to_text(),
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""id":{"type":"string","description":"Document id","title":"Id"},"#,
            r#""pages":{"type":"array","items":{"oneOf":[{"type":"integer"},{"type":"string","enum":["first","last"]}]}},"#,
            r#""max-bytes":{"type":"number","default":10,"examples":[1,2]},"#,
            r#""opts":{"type":"object","additionalProperties":true,"properties":{"#,
            r#""raw":{"type":"boolean","const":true},"any":{},"list":{"type":"array"},"#,
            r#""none":{"type":"object","additionalProperties":false},"nothing":{"type":"null"}},"required":["raw"]}"#,
            r#"},"required":["id","opts"]}"#,
        )
    );
    assert_eq!(spec.compile().unwrap().vocabulary(), Vocabulary::Subset);
}

#[test]
fn every_error_has_its_text_and_path() {
    for (spec, expected) in [
        (json!(7), "schema must be a value schema object"),
        (json!({"type": "array", "items": []}), "schema.items must be a value schema object"),
        (
            json!({"type": "object", "additionalProperties": true, "properties": []}),
            "schema.properties must be an object of value schemas",
        ),
        (
            json!({"type": "object", "additionalProperties": true, "properties": {"a": {"type": "null", "required": false}}}),
            "schema.properties.a.required must be true when present",
        ),
        (
            json!({"type": "string", "required": true}),
            "schema.required is not supported by the value schema DSL",
        ),
        (
            json!({"type": "array", "items": {"type": "string", "required": true}}),
            "schema.items.required is not supported by the value schema DSL",
        ),
        (
            json!({"type": "string", "minLength": 1}),
            "schema.minLength is not supported by the value schema DSL",
        ),
        (json!({"type": "string", "items": {}}), "schema.items is not supported by the value schema DSL"),
        (json!({"type": "json", "enum": [1]}), "schema.enum is not supported by the value schema DSL"),
        (json!({"type": "string", "oneOf": []}), "schema cannot declare both type and oneOf"),
        (json!({"oneOf": [{"type": "null"}]}), "schema.oneOf must be an array of at least two value schemas"),
        (json!({"oneOf": {}}), "schema.oneOf must be an array of at least two value schemas"),
        (
            json!({"oneOf": [{"type": "null"}, {"type": "object"}]}),
            "schema.oneOf[1].additionalProperties must be explicitly true or false",
        ),
        (
            json!({"type": "object", "additionalProperties": {}}),
            "schema.additionalProperties must be explicitly true or false",
        ),
        (json!({"type": "string", "enum": []}), "schema.enum must be a non-empty array of scalar values"),
        (json!({"type": "string", "enum": [[]]}), "schema.enum must be a non-empty array of scalar values"),
        (
            json!({"type": "date"}),
            "schema.type must be string/number/integer/boolean/null/array/object/json, or use oneOf",
        ),
        (json!({}), "schema.type must be string/number/integer/boolean/null/array/object/json, or use oneOf"),
        (
            json!({"type": ["string"]}),
            "schema.type must be string/number/integer/boolean/null/array/object/json, or use oneOf",
        ),
    ] {
        check_value(&spec, expected);
    }
}

#[test]
fn parameter_errors_start_at_parameters() {
    for (spec, expected) in [
        (json!([]), "parameters must be an object of value schemas"),
        (json!({"a": null}), "parameters.a must be a value schema object"),
        (json!({"a": {"type": "null", "required": 1}}), "parameters.a.required must be true when present"),
        (
            json!({"a": {"type": "object", "additionalProperties": false, "properties": {"b": {"type": "array", "items": {"type": "x"}}}}}),
            "parameters.a.properties.b.items.type must be string/number/integer/boolean/null/array/object/json, or use oneOf",
        ),
    ] {
        check_parameters(&spec, expected);
    }
}

#[test]
fn the_first_error_in_document_order_ends_the_compilation() {
    check_parameters(
        &json!({
            "a": {"type": "array", "items": {"type": "x"}},
            "b": 1,
        }),
        "parameters.a.items.type must be string/number/integer/boolean/null/array/object/json, or use oneOf",
    );
}

#[test]
fn literals_of_the_wrong_type_are_found_by_the_subset() {
    check_value(
        &json!({"type": "string", "enum": [1], "const": 2, "description": 3}),
        "schema.description must be a string; \
         schema.enum must be a non-empty array of string values; \
         schema.const must be a string value",
    );
    check_parameters(
        &json!({"a": {"type": "integer", "const": 1.5}}),
        "schema.properties.a.const must be a integer value",
    );
}

#[test]
fn schemas_become_specs_again() {
    for schema in [
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"oneOf": [{}, {"type": "null"}]}}, "required": ["b"]}),
        json!({"type": "object", "properties": {}}),
    ] {
        let spec = ParameterSchemaSpec::from_json_schema(&schema).unwrap();
        assert_eq!(spec.to_json_schema().unwrap().to_text(), schema.to_text());
    }
    let schema = json!({
        "type": "array",
        "items": {"type": "object", "description": "d", "additionalProperties": false, "properties": {"x": {"type": "integer", "enum": [1], "const": 1}}, "required": ["x"]},
    });
    let spec = ValueSchemaSpec::from_json_schema(&schema).unwrap();
    assert_eq!(
        spec.spec().to_text(),
        r#"{"type":"array","items":{"type":"object","description":"d","additionalProperties":false,"properties":{"x":{"type":"integer","enum":[1],"const":1,"required":true}}}}"#
    );
    assert_eq!(spec.to_json_schema().unwrap().to_text(), schema.to_text());
}

#[test]
fn parameters_cannot_say_everything_a_schema_can() {
    for (schema, expected) in [
        (json!({"type": "string"}), "schema.type must be \"object\" in parameters"),
        (
            json!({"type": "object", "additionalProperties": false}),
            "schema.additionalProperties cannot be false in parameters",
        ),
        (json!({"type": "object", "description": "d"}), "schema.description cannot be said in parameters"),
        (json!({"type": "x"}), "schema.type must be one of object/array/string/number/integer/boolean/null"),
    ] {
        let error = ParameterSchemaSpec::from_json_schema(&schema).unwrap_err();
        assert_eq!(error.violations, [expected]);
    }
}
