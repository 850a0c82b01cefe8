//! Schemas of Rust types (decision 29).

use std::collections::BTreeMap;

use code_mode_schema::{Json, Schema, Vocabulary, from_json, json, to_json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fn check<T: JsonSchema>(expected: &Json) {
    let schema = Schema::of::<T>();
    assert_eq!(schema.document().to_text(), expected.to_text());
    assert_eq!((schema.warning(), schema.vocabulary()), (None, Vocabulary::Full));
}

/// Search for something.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Search {
    /// What to look for
    query: String,
    /// How many results
    #[serde(default = "ten")]
    limit: u32,
    mode: Option<Mode>,
    weights: BTreeMap<String, f32>,
    anything: Json,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    FullText,
    Exact,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    id: u64,
    children: Vec<Tree>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Bounds {
    #[schemars(range(max = 18_446_744_073_709_551_615_u64))]
    big: u64,
    #[schemars(extend("format" = "uri"))]
    link: String,
    small: i8,
}

#[test]
fn small_types_are_written_out_without_noise() {
    check::<Search>(&json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for"},
            "limit": {"type": "integer", "default": 10, "minimum": 0, "description": "How many results"},
            "mode": {"type": ["string", "null"], "enum": ["full-text", "exact", null]},
            "weights": {"type": "object", "additionalProperties": {"type": "number"}},
            "anything": true,
        },
        "required": ["query", "weights", "anything"],
        "description": "Search for something.",
    }));
    check::<Bounds>(&json!({
        "type": "object",
        "properties": {
            "big": {"type": "integer", "maximum": 18_446_744_073_709_552_000.0, "minimum": 0},
            "link": {"type": "string", "format": "uri"},
            "small": {"type": "integer", "maximum": 127, "minimum": -128},
        },
        "required": ["big", "link", "small"],
    }));
    check::<Vec<(u8, bool)>>(&json!({
        "type": "array",
        "items": {
            "type": "array",
            "prefixItems": [{"type": "integer", "maximum": 255, "minimum": 0}, {"type": "boolean"}],
            "minItems": 2,
            "maxItems": 2,
        },
    }));
}

#[test]
fn recursive_types_refer_to_themselves() {
    check::<Tree>(&json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 0},
            "children": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["id", "children"],
    }));
    let schema = Schema::of::<Tree>();
    let tree = json!({"id": 1, "children": [{"id": 2, "children": [{"id": "x", "children": []}]}]});
    assert_eq!(schema.validate(&tree, ""), ["\"children[0].children[0].id\" must be an integer"]);
}

#[test]
fn types_that_repeat_are_referred_to_when_that_is_shorter() {
    macro_rules! wide {
        ($name:ident { $($field:ident),* }, $of:ty) => {
            #[derive(JsonSchema)]
            #[expect(dead_code, reason = "only its schema counts")]
            struct $name { $($field: $of),* }
        };
    }
    wide!(Leaf { aaaaaaaa, bbbbbbbb, cccccccc, dddddddd, eeeeeeee, ffffffff }, String);
    wide!(Middle { a, b, c, d, e, f }, Leaf);
    wide!(Root { a, b, c, d, e, f }, Middle);
    let schema = Schema::of::<Root>();
    assert!(schema.document().get("$defs").is_some(), "{}", schema.document());
    assert!(schema.document().text_len() < 4_096);
    assert_eq!(schema.warning(), None);
    let violations = schema.validate(&json!({"a": 1}), "");
    assert!(violations.contains(&"\"a\" must be an object".to_owned()), "{violations:?}");
}

#[test]
fn output_is_described_as_it_is_written() {
    let read = Schema::of::<Search>();
    let written = Schema::of_output::<Search>();
    let required = |schema: &Schema| schema.document().get("required").unwrap().to_text();
    assert_eq!(required(&read), r#"["query","weights","anything"]"#);
    assert_eq!(required(&written), r#"["query","limit","mode","weights","anything"]"#);
}

#[test]
fn what_a_type_writes_follows_its_schema_and_comes_back() {
    let search = Search {
        query: "q".into(),
        limit: 3,
        mode: Some(Mode::FullText),
        weights: BTreeMap::from([("w".into(), 0.5)]),
        anything: json!([{"x": null}]),
    };
    let value = to_json(&search).unwrap();
    assert!(Schema::of_output::<Search>().validate(&value, "value").is_empty());
    assert!(Schema::of::<Search>().validate(&value, "").is_empty());
    assert_eq!(from_json::<Search>(&value), Ok(search));
}

#[test]
fn integers_beyond_the_safe_range_do_not_leave() {
    let tree = Tree { id: 1, children: vec![Tree { id: u64::MAX, children: vec![] }] };
    let error = to_json(&tree).unwrap_err();
    assert_eq!(
        error.with_root("value").to_string(),
        "value.children[0].id is 18446744073709551615, an integer beyond 2^53 - 1"
    );
}

#[test]
fn arguments_that_do_not_follow_the_type_are_named() {
    let schema = Schema::of::<Search>();
    assert_eq!(
        schema.validate(&json!({"query": 1, "limit": -1, "mode": "fuzzy", "weights": {"w": "x"}}), ""),
        [
            "missing required property \"anything\"",
            "\"query\" must be a string",
            "\"limit\" must be at least 0",
            "\"mode\" must be one of [\"full-text\",\"exact\",null]",
            "\"weights.w\" must be a number",
        ]
    );
}

#[test]
fn long_values_are_not_quoted_whole() {
    let error = from_json::<Vec<u8>>(&json!(["é".repeat(100_000)])).unwrap_err();
    assert_eq!(error.path, "[0]");
    assert!(error.message.starts_with("invalid type: string \"éé") && error.message.ends_with("é…"));
    assert_eq!(error.message.chars().count(), 1_001);
}
