//! Validation of tool arguments against their parameters (contract 4.3).

use code_mode_schema::{Json, ParameterSchemaSpec, ValueSchemaSpec, json, validate_args};

fn parameters() -> ParameterSchemaSpec {
    ParameterSchemaSpec::new()
        .required("code", ValueSchemaSpec::string())
        .required("description", ValueSchemaSpec::string())
        .optional("limits", ValueSchemaSpec::closed_object().optional("ms", ValueSchemaSpec::integer()))
}

fn check(args: &Json, expected: &[&str]) {
    assert_eq!(validate_args(&parameters(), args), expected, "{args}");
    let schema = parameters().compile().unwrap();
    assert_eq!(schema.validate(args, ""), expected, "{args}");
}

#[test]
fn arguments_are_an_open_object() {
    check(&json!({"code": "", "description": "", "more": 1}), &[]);
    check(&json!("raw text"), &["\"arguments\" must be an object"]);
    check(&json!(null), &["\"arguments\" must be an object"]);
}

#[test]
fn missing_arguments_come_in_declaration_order() {
    check(&json!({}), &["missing required property \"code\"", "missing required property \"description\""]);
}

#[test]
fn nested_arguments_carry_their_path() {
    check(
        &json!({"code": 1, "description": "", "limits": {"ms": 0.5, "x": 1}}),
        &[
            "\"code\" must be a string",
            "\"limits.ms\" must be an integer",
            "\"limits.x\" is not a declared property (additionalProperties: false)",
        ],
    );
}

#[test]
fn parameters_that_do_not_compile_accept_nothing() {
    let broken = ParameterSchemaSpec::new().required("a", ValueSchemaSpec::one_of([]));
    assert_eq!(
        validate_args(&broken, &json!({})),
        ["parameters.a.oneOf must be an array of at least two value schemas"]
    );
}
