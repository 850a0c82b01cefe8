//! The subset, byte for byte: every line of contract 5.1.

use code_mode_codegen::json_schema_to_ts;
use code_mode_schema::{Json, json};

#[track_caller]
fn check(schema: &Json, expected: &str) {
    assert_eq!(json_schema_to_ts(schema, 0), expected, "for {schema}");
}

#[test]
fn scalars_are_named() {
    check(&json!({"type": "string"}), "string");
    check(&json!({"type": "boolean"}), "boolean");
    check(&json!({"type": "null"}), "null");
    check(&json!({"type": "number"}), "number");
    check(&json!({"type": "integer"}), "number");
}

#[test]
fn const_wins_over_enum() {
    check(&json!({"type": "string", "enum": ["a", "b"], "const": "b"}), "\"b\"");
    check(&json!({"type": "string", "const": "say \"hi\"\n"}), r#""say \"hi\"\n""#);
    check(&json!({"type": "boolean", "const": false}), "false");
    check(&json!({"type": "null", "const": null}), "null");
    check(&json!({"type": "integer", "const": 1e300}), "1e+300");
}

#[test]
fn enum_members_stand_in_given_order() {
    check(&json!({"type": "string", "enum": ["b", "a"]}), r#""b" | "a""#);
    check(&json!({"type": "boolean", "enum": [true, false]}), "true | false");
    check(&json!({"type": "number", "enum": [1e21, (-0.5)]}), "1e+21 | -0.5");
    check(&json!({"type": "null", "enum": [null]}), "null");
}

#[test]
fn no_type_is_any_json() {
    check(&json!({}), "JsonValue");
    check(&json!({"description": "d", "title": "t", "default": [1], "examples": {"a": 1}}), "JsonValue");
}

#[test]
fn one_of_joins_its_branches() {
    check(&json!({"oneOf": [{"type": "string"}, {"type": "null"}]}), "string | null");
    check(&json!({"oneOf": [{}, {}]}), "JsonValue | JsonValue");
    let nested = json!({"oneOf": [{"oneOf": [{"type": "string"}, {"type": "number"}]}, {"type": "null"}]});
    check(&nested, "string | number | null");
    let objects = json!({"oneOf": [
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false},
        {"type": "null"}
    ]});
    check(&objects, "{\n  a?: string;\n} | null");
}

#[test]
fn arrays_are_suffixed() {
    check(&json!({"type": "array"}), "JsonValue[]");
    check(&json!({"type": "array", "items": {"type": "string"}}), "string[]");
    check(&json!({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}), "number[][]");
    check(&json!({"type": "array", "items": {}}), "JsonValue[]");
}

#[test]
fn element_is_parenthesised_iff_its_text_has_a_bar_or_ampersand() {
    let array = |items: Json| json!({"type": "array", "items": items});
    let closed =
        |properties: Json| json!({"type": "object", "properties": properties, "additionalProperties": false});
    let nullable = json!({"oneOf": [{"type": "string"}, {"type": "null"}]});
    check(&array(nullable.clone()), "(string | null)[]");
    check(&array(array(nullable.clone())), "((string | null)[])[]");
    check(&array(closed(json!({"a": {"type": "string"}}))), "{\n  a?: string;\n}[]");
    check(&array(closed(json!({"a": nullable}))), "({\n  a?: string | null;\n})[]");
    check(&array(closed(json!({"a|b": {"type": "string"}}))), "({\n  \"a|b\"?: string;\n})[]");
    check(&array(json!({"type": "string", "enum": ["a&b"]})), "(\"a&b\")[]");
    let commented = closed(json!({"a": {"type": "string", "description": "this | that"}}));
    check(&array(commented), "({\n  /** this | that */\n  a?: string;\n})[]");
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    check(&array(open), "({\n  a?: string;\n} & Record<string, JsonValue>)[]");
    let marked_before = closed(json!({
        "a|b": array(json!({"type": "string"})),
        "c": array(array(json!({"type": "string", "enum": ["x", "y"]}))),
        "d": array(json!({"type": "string"}))
    }));
    check(&marked_before, "{\n  \"a|b\"?: string[];\n  c?: ((\"x\" | \"y\")[])[];\n  d?: string[];\n}");
}

#[test]
fn objects_without_properties_are_records() {
    check(&json!({"type": "object"}), "Record<string, JsonValue>");
    check(&json!({"type": "object", "properties": {}}), "Record<string, JsonValue>");
    check(&json!({"type": "object", "additionalProperties": true}), "Record<string, JsonValue>");
    check(&json!({"type": "object", "additionalProperties": false}), "Record<string, never>");
    check(
        &json!({"type": "object", "properties": {}, "additionalProperties": false}),
        "Record<string, never>",
    );
}

#[test]
fn members_are_required_or_optional_and_objects_open_or_closed() {
    let properties = json!({"a": {"type": "string"}, "b": {"type": "number"}});
    check(
        &json!({"type": "object", "properties": properties.clone(), "required": ["b"], "additionalProperties": false}),
        "{\n  a?: string;\n  b: number;\n}",
    );
    let open = "{\n  a?: string;\n  b?: number;\n} & Record<string, JsonValue>";
    check(&json!({"type": "object", "properties": properties.clone()}), open);
    check(&json!({"type": "object", "properties": properties, "additionalProperties": true}), open);
}

#[test]
fn keys_are_bare_if_they_are_identifiers_and_in_javascript_order() {
    let schema = json!({
        "type": "object",
        "properties": {
            "class": {"type": "null"}, "\u{e9}": {"type": "null"}, "1a": {"type": "null"}, "$a_1": {"type": "null"},
            "10": {"type": "null"}, "2": {"type": "null"}, "": {"type": "null"}, "__proto__": {"type": "null"}
        },
        "additionalProperties": false
    });
    check(
        &schema,
        "{\n  \"2\"?: null;\n  \"10\"?: null;\n  class?: null;\n  \"\u{e9}\"?: null;\n  \"1a\"?: null;\n  $a_1?: null;\n  \"\"?: null;\n  __proto__?: null;\n}",
    );
}

#[test]
fn indent_is_kept_by_items_and_branches_and_grows_by_member() {
    let inner =
        json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false});
    let schema = json!({
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": inner.clone()},
            "either": {"oneOf": [inner, {"type": "null"}]}
        },
        "additionalProperties": false
    });
    assert_eq!(
        json_schema_to_ts(&schema, 1),
        "{\n    list?: {\n      b?: string;\n    }[];\n    either?: {\n      b?: string;\n    } | null;\n  }"
    );
}

#[test]
fn only_descriptions_of_properties_become_doc_lines() {
    let schema = json!({
        "type": "object",
        "description": "root",
        "title": "Root",
        "properties": {
            "a": {"type": "string", "description": "  one\n\ttwo \u{2028} three\u{feff}four */ end ", "title": "A"},
            "b": {"type": "array", "items": {"type": "string", "description": "an item"}},
            "c": {"oneOf": [{"type": "string", "description": "a branch"}, {"type": "null"}], "description": ""},
            "d": {"type": "string", "default": "x", "examples": ["y"]}
        },
        "additionalProperties": false
    });
    check(
        &schema,
        "{\n  /** one two three four *\\/ end */\n  a?: string;\n  b?: string[];\n  c?: string | null;\n  d?: string;\n}",
    );
}

#[test]
fn descriptions_cannot_close_comments_fences_or_templates() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string", "description": "a **/ b ```` c {{{x}} d */*/"}},
        "additionalProperties": false
    });
    check(&schema, "{\n  /** a **\\/ b ``\\`` c {\\{\\{x}} d *\\/*\\/ */\n  a?: string;\n}");
}

#[test]
fn identifying_keywords_are_dropped_before_the_subset_is_asked() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/a",
        "$comment": "note",
        "type": "object",
        "properties": {"$id": {"type": "string", "$comment": "inner"}, "$ref": {"type": "string"}}
    });
    check(&schema, "{\n  $id?: string;\n  $ref?: string;\n} & Record<string, JsonValue>");
}

#[test]
fn any_depth_prints_on_a_small_stack() {
    let work = || {
        let mut arrays = json!({"type": "string"});
        let mut unions = json!({"type": "string"});
        let mut objects = json!({"type": "string"});
        for level in 0..20_000 {
            arrays = json!({"type": "array", "items": arrays});
            unions = json!({"oneOf": [unions, {"type": "null"}]});
            if level < 2_000 {
                objects =
                    json!({"type": "object", "properties": {"a": objects}, "additionalProperties": false});
            }
        }
        assert_eq!(json_schema_to_ts(&arrays, 0), format!("string{}", "[]".repeat(20_000)));
        assert_eq!(json_schema_to_ts(&unions, 0), format!("string{}", " | null".repeat(20_000)));
        let text = json_schema_to_ts(&objects, 0);
        assert!(text.starts_with("{\n  a?: {\n    a?: {\n") && text.ends_with("\n  };\n}"));
        let parenthesised =
            json_schema_to_ts(&json!({"type": "array", "items": {"type": "array", "items": unions}}), 0);
        assert!(parenthesised.starts_with("((string | null") && parenthesised.ends_with("| null)[])[]"));
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(work).unwrap().join().unwrap();
}
