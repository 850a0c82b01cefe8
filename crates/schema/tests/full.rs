//! The full vocabulary: any JSON Schema, in the contract's message style (decision 29).

use code_mode_schema::{Json, Object, Schema, Vocabulary, json};

fn check(schema: &Json, value: &Json, expected: &[&str]) {
    let compiled = Schema::full(schema.clone());
    assert_eq!(compiled.warning(), None, "{schema}");
    assert_eq!(compiled.validate(value, "value"), expected, "{schema} {value}");
}

fn check_arguments(schema: &Json, value: &Json, expected: &[&str]) {
    assert_eq!(Schema::full(schema.clone()).validate(value, ""), expected, "{schema} {value}");
}

/// Checks what of `schema` is said not to be enforced.
fn check_warning(schema: &Json, expected: &str) -> Schema {
    let compiled = Schema::full(schema.clone());
    let warning = compiled.warning().unwrap_or_default();
    assert!(warning.starts_with(expected), "{schema}: {warning}");
    compiled
}

#[test]
fn every_keyword_has_its_text() {
    for (schema, value, expected) in [
        (json!({"type": ["string", "null"]}), json!(1), "\"value\" must be a string or null"),
        (
            json!({"type": ["array", "object", "boolean"]}),
            json!(1),
            "\"value\" must be a boolean, an object or an array",
        ),
        (json!({"type": "integer", "minimum": 0}), json!(1.5), "\"value\" must be an integer"),
        (
            json!({"enum": [1, "a", null, [1e21]]}),
            json!(2),
            "\"value\" must be one of [1,\"a\",null,[1e+21]]",
        ),
        (json!({"const": {"a": [1]}}), json!({"a": [2]}), "\"value\" must be {\"a\":[1]}"),
        (json!({"minimum": 0.5}), json!(0), "\"value\" must be at least 0.5"),
        (json!({"maximum": 1e21}), json!(1e22), "\"value\" must be at most 1e+21"),
        (json!({"exclusiveMinimum": 0}), json!(0), "\"value\" must be greater than 0"),
        (json!({"exclusiveMaximum": 0}), json!(0), "\"value\" must be less than 0"),
        (json!({"multipleOf": 5}), json!(7), "\"value\" must be a multiple of 5"),
        (json!({"multipleOf": 0.01}), json!(0.075), "\"value\" must be a multiple of 0.01"),
        (json!({"minLength": 1}), json!(""), "\"value\" must have at least 1 character"),
        (json!({"maxLength": 2}), json!("abc"), "\"value\" must have at most 2 characters"),
        (json!({"pattern": "^a+$"}), json!("b"), "\"value\" must match the pattern ^a+$"),
        (json!({"minItems": 2}), json!([1]), "\"value\" must have at least 2 items"),
        (json!({"maxItems": 1}), json!([1, 2]), "\"value\" must have at most 1 item"),
        (
            json!({"uniqueItems": true}),
            json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
            "\"value\" must not have equal items",
        ),
        (
            json!({"contains": {"type": "string"}}),
            json!([1]),
            "\"value\" must contain as many matching items as its schema asks for (contains)",
        ),
        (
            json!({"contains": {"type": "string"}, "maxContains": 1}),
            json!(["a", "b"]),
            "\"value\" must contain as many matching items as its schema asks for (contains)",
        ),
        (
            json!({"items": {"type": "string"}, "minItems": 1}),
            json!(["a", 1]),
            "\"value[1]\" must be a string",
        ),
        (json!({"prefixItems": [true], "items": false}), json!([1, 2]), "\"value[1]\" must not be present"),
        (json!({"prefixItems": [{"type": "null"}]}), json!([1]), "\"value[0]\" must be null"),
        (
            json!({"prefixItems": [true], "unevaluatedItems": false}),
            json!([1, 2]),
            "\"value\" must not have items beyond those declared (unevaluatedItems)",
        ),
        (json!({"minProperties": 1}), json!({}), "\"value\" must have at least 1 property"),
        (json!({"maxProperties": 0}), json!({"a": 1}), "\"value\" must have at most 0 properties"),
        (json!({"required": ["a"]}), json!({}), "missing required property \"value.a\""),
        (
            json!({"dependentRequired": {"a": ["b"]}}),
            json!({"a": 1}),
            "missing required property \"value.b\"",
        ),
        (json!({"properties": {"a": false}}), json!({"a": 1}), "\"value.a\" must not be present"),
        (
            json!({"additionalProperties": false}),
            json!({"a": 1}),
            "\"value.a\" is not a declared property (additionalProperties: false)",
        ),
        (
            json!({"properties": {"b": true}, "additionalProperties": false}),
            json!({"a": 1, "b": 1}),
            "\"value.a\" is not a declared property (additionalProperties: false)",
        ),
        (json!({"additionalProperties": {"type": "null"}}), json!({"a": 1}), "\"value.a\" must be null"),
        (
            json!({"patternProperties": {"^x": {"type": "null"}}}),
            json!({"x1": 1}),
            "\"value.x1\" must be null",
        ),
        (
            json!({"unevaluatedProperties": false}),
            json!({"a": 1}),
            "\"value.a\" is not a declared property (unevaluatedProperties)",
        ),
        (
            json!({"propertyNames": {"pattern": "^a"}}),
            json!({"b": 1}),
            "\"value.b\" is a property whose name must match the pattern ^a",
        ),
        (json!({"not": {"type": "string"}}), json!("x"), "\"value\" must not match the schema under not"),
        (
            json!({"anyOf": [{"minimum": 5}, {"multipleOf": 2}]}),
            json!(3),
            "\"value\" must match at least one anyOf branch",
        ),
        (
            json!({"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}),
            json!(3),
            "\"value\" must match exactly one oneOf branch (matched 0)",
        ),
        (
            json!({"oneOf": [{"minimum": 5}, {"multipleOf": 2}, {"maximum": 3}]}),
            json!(6),
            "\"value\" must match exactly one oneOf branch (matched 2)",
        ),
        (
            json!({"if": {"type": "string"}, "then": {"minLength": 2}}),
            json!("a"),
            "\"value\" must have at least 2 characters",
        ),
        (json!({"allOf": [{"type": "number"}, {"minimum": 1}]}), json!(0), "\"value\" must be at least 1"),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"minimum": 1}}}),
            json!(0),
            "\"value\" must be at least 1",
        ),
    ] {
        check(&schema, &value, &[expected]);
    }
    check(&json!(false), &json!(1), &["\"value\" must not be present"]);
    check(&json!(true), &json!([1]), &[]);
}

#[test]
fn arguments_have_no_prefix() {
    let schema = json!({
        "type": "object",
        "properties": {"a b": {"type": "array", "items": {"minimum": 1}}, "0": {"type": "null"}, "": {"type": "null"}, "x/y~z": {"type": "null"}},
        "required": ["c"],
        "additionalProperties": false,
        "minProperties": 9,
    });
    check_arguments(
        &schema,
        &json!({"a b": [1, 0], "0": 1, "": 1, "x/y~z": 1, "d": 1}),
        &[
            "\"arguments\" must have at least 9 properties",
            "missing required property \"c\"",
            "\"0\" must be null",
            "\"a b[1]\" must be at least 1",
            "\"arguments\" must be null",
            "\"x/y~z\" must be null",
            "\"d\" is not a declared property (additionalProperties: false)",
        ],
    );
    check_arguments(
        &json!({"type": "object", "minProperties": 0}),
        &json!(1),
        &["\"arguments\" must be an object"],
    );
}

#[test]
fn violations_come_in_the_contracts_order() {
    check(
        &json!({
            "unevaluatedProperties": false,
            "properties": {"b": {"maximum": 0, "items": {"type": "null"}, "required": ["x"]}, "a": {"minItems": 3, "items": {"required": ["x"]}}},
            "required": ["z", "y"],
            "maxProperties": 1,
        }),
        &json!({"u": 1, "a": [{}, {}], "b": 1, "t": 2}),
        &[
            "\"value\" must have at most 1 property",
            "missing required property \"value.z\"",
            "missing required property \"value.y\"",
            "\"value.a\" must have at least 3 items",
            "missing required property \"value.a[0].x\"",
            "missing required property \"value.a[1].x\"",
            "\"value.b\" must be at most 0",
            "\"value.u\" is not a declared property (unevaluatedProperties)",
            "\"value.t\" is not a declared property (unevaluatedProperties)",
        ],
    );
}

#[test]
fn at_most_ten_violations_are_written_out() {
    let items: Vec<Json> = (0..25).map(Json::from).collect();
    let schema = Schema::full(json!({"items": {"type": "string", "minLength": 1}}));
    let violations = schema.validate(&items.into(), "value");
    assert_eq!(violations.len(), 11);
    assert_eq!(
        (violations[9].as_str(), violations[10].as_str()),
        ("\"value[9]\" must be a string", "and 15 more")
    );
    let subset = Schema::full(json!({"type": "array", "items": {"type": "string"}}));
    let items: Vec<Json> = (0..12).map(Json::from).collect();
    assert_eq!(subset.validate(&items.into(), "value").last().unwrap(), "and 2 more");
}

#[test]
fn choices_are_explained_where_one_branch_is_meant() {
    let optional = json!({"properties": {"config": {"anyOf": [
        {"type": "object", "properties": {"host": {"type": "string", "minLength": 1}}, "required": ["host"]},
        {"type": "null"},
    ]}}});
    check_arguments(&optional, &json!({"config": {"host": 1}}), &["\"config.host\" must be a string"]);
    check_arguments(&optional, &json!({"config": {}}), &["missing required property \"config.host\""]);
    check_arguments(&optional, &json!({"config": 1}), &["\"config\" must be an object or null"]);
    let tagged = json!({"oneOf": [
        {"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
        {"properties": {"kind": {"enum": ["b"]}, "y": {"type": "integer"}}, "required": ["kind", "y"]},
        {"properties": {"kind": {"const": "c"}, "z": {"type": "integer"}}, "required": ["kind", "z"]},
    ]});
    check(&tagged, &json!({"kind": "b", "y": "1"}), &["\"value.y\" must be an integer"]);
    check(&tagged, &json!({"kind": "c"}), &["missing required property \"value.z\""]);
    check(&tagged, &json!({"kind": "d"}), &["\"value\" must match exactly one oneOf branch (matched 0)"]);
    let nested = json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"anyOf": [{"type": "boolean"}, {"type": "integer"}]}}]});
    check(&nested, &json!([true, "x"]), &["\"value[1]\" must be an integer or a boolean"]);
}

#[test]
fn schemas_of_the_subset_take_the_subsets_validator() {
    let schema = Schema::full(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example.com/a",
        "$comment": "c",
        "type": "object",
        "properties": {"b": {"type": "string"}, "a": {"oneOf": [{"type": "object"}, {"type": "null"}]}},
        "required": ["b"],
    }));
    assert_eq!((schema.vocabulary(), schema.warning()), (Vocabulary::Full, None));
    assert_eq!(
        schema.validate(&json!({"a": 1}), ""),
        ["missing required property \"b\"", "\"a\" must match exactly one oneOf branch (matched 0)",]
    );
}

#[test]
fn drafts_are_told_by_their_schema_keyword() {
    let seven =
        |schema: Object| Json::from(schema.with("$schema", "http://json-schema.org/draft-07/schema#"));
    let sibling = json!({"$ref": "#/definitions/a", "minimum": 5, "definitions": {"a": {"type": "integer"}}});
    check(&sibling, &json!(1), &["\"value\" must be at least 5"]);
    check(&seven(sibling.as_object().unwrap().clone()), &json!(1), &[]);
    let tuple = json!({"items": [{"type": "string"}], "additionalItems": false});
    check(
        &seven(tuple.as_object().unwrap().clone()),
        &json!(["a", 1]),
        &["\"value\" must have at most 1 item"],
    );
}

#[test]
fn tuples_of_older_drafts_are_understood_without_a_schema_keyword() {
    let schema = json!({"properties": {"t": {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": {"type": "null"}}}});
    check_arguments(&schema, &json!({"t": ["a", 1, null]}), &[]);
    check_arguments(
        &schema,
        &json!({"t": [1, "a", 2]}),
        &["\"t[0]\" must be a string", "\"t[1]\" must be an integer", "\"t[2]\" must be null"],
    );
}

#[test]
fn annotations_assert_nothing() {
    for schema in [
        json!({"format": "email", "type": ["string"]}),
        json!({"contentEncoding": "base64", "contentMediaType": "application/json", "type": ["string"]}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "contentEncoding": "base64", "contentMediaType": "application/json"}),
        json!({"nullable": false, "x-anything": {"$ref": 7}, "type": ["string"]}),
    ] {
        check(&schema, &json!("no such thing!"), &[]);
    }
}

#[test]
fn parts_that_do_not_compile_are_not_enforced_and_named() {
    for (bad, expected) in [
        (json!({"$ref": "#/$defs/nope"}), "$ref #/$defs/nope is not enforced: "),
        (json!({"$ref": "#nope"}), "$ref #nope is not enforced: "),
        (json!({"$dynamicRef": "#nope"}), "$dynamicRef #nope is not enforced: "),
        (
            json!({"$ref": "https://example.com/x.json#/a"}),
            "$ref https://example.com/x.json#/a is not enforced: ",
        ),
        (json!({"$ref": "file:///etc/passwd"}), "$ref file:///etc/passwd is not enforced: "),
        (json!({"$ref": "other.json#/a"}), "$ref other.json#/a is not enforced: "),
        (json!({"$ref": "::: no uri"}), "$ref ::: no uri is not enforced: "),
        (json!({"$ref": 7}), "schema.properties.bad.$ref is not enforced: "),
        (json!({"$id": "%%%"}), "$id %%% is not enforced: "),
        (json!({"pattern": "(["}), "schema.properties.bad.pattern is not enforced: "),
        (
            json!({"minimum": 1, "exclusiveMinimum": true}),
            "schema.properties.bad.exclusiveMinimum is not enforced: ",
        ),
        (json!({"required": true}), "schema.properties.bad.required is not enforced: "),
        (json!({"type": "any"}), "schema.properties.bad.type is not enforced: "),
        (json!({"minLength": 1.5}), "schema.properties.bad.minLength is not enforced: "),
        (json!({"enum": "a"}), "schema.properties.bad.enum is not enforced: "),
        (json!({"properties": []}), "schema.properties.bad.properties is not enforced: "),
        (json!({"anyOf": [7, {"type": "string"}]}), "schema.properties.bad.anyOf.0 is not enforced: "),
        (json!({"oneOf": [7, {"type": "boolean"}]}), "schema.properties.bad.oneOf is not enforced: "),
        (json!({"allOf": {}}), "schema.properties.bad.allOf is not enforced: "),
        (json!({"not": "x"}), "schema.properties.bad.not is not enforced: "),
        (json!({"description": 7}), "schema.properties.bad.description is not enforced: "),
        (
            json!({"patternProperties": {"([": {}}, "additionalProperties": false}),
            "schema.properties.bad.patternProperties.([ is not enforced: ",
        ),
        (json!(null), "schema.properties.bad is not enforced: "),
    ] {
        let schema = json!({"properties": {"bad": bad, "good": {"type": "string", "minLength": 1}}, "required": ["good"]});
        let compiled = check_warning(&schema, expected);
        for value in [json!({"good": "x", "bad": 7}), json!({"good": "x", "bad": {"p": "q"}})] {
            assert_eq!(compiled.validate(&value, ""), [""; 0], "{schema}");
        }
        assert_eq!(compiled.validate(&json!({"good": ""}), ""), ["\"good\" must have at least 1 character"]);
    }
}

#[test]
fn several_parts_can_fail() {
    let compiled = check_warning(
        &json!({"type": "x", "minimum": "y", "properties": {"a": {"$ref": "#/no"}, "b": {"$ref": "#/no"}, "c": {"type": "string"}}}),
        "",
    );
    let warning = compiled.warning().unwrap();
    assert_eq!(warning.matches(" is not enforced: ").count(), 3, "{warning}");
    assert_eq!(compiled.validate(&json!({"c": 1}), ""), ["\"c\" must be a string"]);
}

#[test]
fn data_that_looks_like_a_reference_stays() {
    let schema = json!({
        "properties": {"a": {"const": {"$ref": "#/no"}}, "b": {"$ref": "#/no"}, "$ref": {"type": "string"}, "default": {"$ref": "#/no"}},
    });
    let compiled = check_warning(&schema, "$ref #/no is not enforced: ");
    assert_eq!(
        compiled.validate(&json!({"a": {"$ref": "#/no"}, "b": 1, "$ref": "s", "default": 1}), ""),
        [""; 0]
    );
    assert_eq!(compiled.validate(&json!({"a": {}}), ""), ["\"a\" must be {\"$ref\":\"#/no\"}"]);
}

#[test]
fn unknown_dialects_are_read_as_2020_12() {
    for dialect in ["http://example.com/mine", "http://json-schema.org/draft-03/schema#"] {
        let compiled = check_warning(
            &json!({"$schema": dialect, "type": "object", "properties": {"a": {"minimum": 1}}}),
            &format!("$schema {dialect} is not enforced: "),
        );
        assert_eq!(compiled.validate(&json!({"a": 0}), ""), ["\"a\" must be at least 1"]);
    }
}

#[test]
fn references_that_only_refer_to_each_other_admit_everything() {
    let schema = Schema::full(json!({
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"type": "string"}},
    }));
    assert_eq!(schema.validate(&json!({"x": [1], "y": "s"}), ""), [""; 0]);
    assert_eq!(schema.validate(&json!({"y": 1}), ""), ["\"y\" must be a string"]);
}

#[test]
fn documents_that_are_no_schema_are_said_to_be_none() {
    for document in [json!(7), json!("x"), json!(null), json!([])] {
        let schema = check_warning(&document, "the schema cannot be compiled: ");
        assert_eq!(schema.validate(&json!(1), "value"), [""; 0]);
    }
}

#[test]
fn choices_that_nest_in_choices_do_not_take_forever() {
    let names = ["add", "mul", "sub", "div", "min", "max"];
    let branches: Vec<Json> = names
        .iter()
        .map(|name| json!({
            "type": "object",
            "properties": {(name): {"$ref": "#/$defs/e"}, "left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"}},
        }))
        .collect();
    let schema =
        Schema::full(json!({"$defs": {"e": {"anyOf": (Json::from(branches))}}, "$ref": "#/$defs/e"}));
    assert_eq!(schema.warning(), None);
    let mut value = json!(1);
    for _ in 0..14 {
        value = json!({"left": value.clone(), "right": value});
    }
    let violations = schema.validate(&value, "");
    assert_eq!(violations.len(), 1);
}

#[test]
fn patterns_that_backtrack_do_not_take_forever() {
    let schema = Schema::full(json!({"pattern": "^(?=(a+)+$)(a+)+$"}));
    let value = Json::from("a".repeat(40) + "b");
    assert_eq!(schema.validate(&value, "value").len(), 1);
}

#[test]
fn patterns_that_backtrack_on_every_item_do_not_take_forever() {
    let schema = Schema::full(json!({"items": {"pattern": "(?:(?=a)a|a)*c"}}));
    let value: Json = (0..2_000).map(|n| Json::from(format!("{}!{n}", "a".repeat(60)))).collect();
    assert_eq!(schema.validate(&value, "value").len(), 1);
    let schema = Schema::full(json!({"items": {"not": {"pattern": "(?:(?=a)a|a)*c"}}}));
    check(schema.document(), &value, &[r#""value" cannot be validated: it takes too long"#]);
    let names: Json =
        Object::from_iter((0..2_000).map(|n| (format!("{}!{n}", "a".repeat(60)), json!(1)))).into();
    let schema = Schema::full(json!({"patternProperties": {"(?:(?=a)a|a)*c": true}}));
    check(schema.document(), &names, &[r#""value" cannot be validated: it takes too long"#]);
}

/// Definitions each of which refers to the next one twice.
fn doubling(levels: usize, choice: &str, innermost: Json) -> Json {
    let mut definitions = Object::builder();
    for level in 0..levels {
        let next = json!({"$ref": (format!("#/$defs/{}", level + 1))});
        definitions.insert(level.to_string(), json!({(choice): [next.clone(), next]}));
    }
    definitions.insert(levels.to_string(), innermost);
    json!({"type": "object", "allOf": [{"$ref": "#/$defs/0"}], "$defs": (Json::from(definitions.build()))})
}

#[test]
fn references_that_multiply_do_not_take_forever() {
    for choice in ["allOf", "anyOf", "oneOf"] {
        for innermost in [json!(true), json!({}), json!({"type": "object"})] {
            let schema = check_warning(
                &doubling(40, choice, innermost),
                "the schema cannot be compiled: more than 1000000 schemas apply to one value, because references multiply",
            );
            assert_eq!(schema.validate(&json!(1), "value"), [r#""value" must be an object"#]);
        }
    }
    check(&doubling(7, "allOf", json!({"required": ["a"]})), &json!({"a": 1}), &[]);
}

#[test]
fn unique_items_inside_unique_items_do_not_take_forever() {
    let schema = json!({"uniqueItems": true, "items": {"$ref": "#"}});
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner, 1, 2]));
    check(
        &schema,
        &nested(20),
        &[r#""value[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]" must not have equal items"#],
    );
    check(&schema, &nested(2_000), &[r#""value" cannot be validated: it takes too long"#]);
}

#[test]
fn long_lists_of_values_are_cut() {
    let values: Vec<Json> = (0..1_000).map(|n| Json::from(format!("value number {n}"))).collect();
    let schema = Schema::full(json!({"enum": (Json::from(values)), "type": ["string"]}));
    let violations = schema.validate(&json!("x"), "value");
    assert_eq!(violations.len(), 1);
    assert!(violations[0].len() < 1_200 && violations[0].ends_with(" more]"), "{}", violations[0]);
}
