//! Whatever the schema: the text compiles, and every value that the validator takes fits the type.

use std::collections::BTreeMap;

use code_mode_codegen::{SdkTool, json_schema_to_ts, sdk_declarations};
use code_mode_schema::{Json, Object, Schema, assert_supported_json_schema, json};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::compiler::{self, Source};
use crate::lexer;

const VALUES_EACH: usize = 40;

/// How many schemas are tried: `CODE_MODE_SCHEMAS`, by default 400. The same ones every time.
fn schema_count() -> usize {
    std::env::var("CODE_MODE_SCHEMAS").map_or(400, |count| count.parse().unwrap())
}

#[test]
fn values_that_validate_fit_the_type() {
    let mut runner = TestRunner::deterministic();
    let mut sources = BTreeMap::new();
    let mut contexts = BTreeMap::new();
    let mut schemas = Vec::new();
    for place in 0..schema_count() {
        let schema = sample(&documents(), &mut runner);
        let name = format!("schema{place}");
        let mut source = Source::new();
        let text = json_schema_to_ts(&schema, 0);
        lexer::check(&text);
        source.push(&format!("type T = {text}"));
        let validator = Schema::full(schema.clone());
        let is_defined = !applies_itself(&schema) && validator.warning().is_none();
        for _ in 0..VALUES_EACH {
            let value = sample(&values(), &mut runner);
            if is_defined && validator.validate(&value, "value").is_empty() {
                let line = source.assign("T", &value);
                contexts.insert((name.clone(), line), format!("{value} in {schema}"));
            }
        }
        sources.insert(name, source);
        schemas.push(schema);
    }
    let names: Vec<String> = (0..schemas.len()).map(|place| format!("tool{place}")).collect();
    let any = json!({});
    let tool = |(name, schema)| SdkTool { name, description: "a tool", parameters: schema, output: &any };
    let tools: Vec<SdkTool<'_>> = names.iter().map(String::as_str).zip(&schemas).map(tool).collect();
    let mut block = Source::default();
    let text = sdk_declarations(&tools);
    lexer::check(&text);
    block.push(&text);
    block.push("export {}");
    sources.insert("block".to_owned(), block);
    println!("{} schemas, {} values that validate", schemas.len(), contexts.len());
    assert!(contexts.len() > schemas.len(), "the values hardly ever fit: {}", contexts.len());
    let Some(errors) = compiler::compile("random", &sources) else { return };
    let mut problems = Vec::new();
    for (name, errors) in errors {
        let (line, error) = errors.into_iter().next().unwrap();
        let context = contexts.get(&(name.clone(), line));
        problems
            .push(format!("{name}:{line}: {error}\n    {}", context.map_or("(declaration)", |text| text)));
    }
    assert!(problems.is_empty(), "{} schemas with problems\n{}", problems.len(), problems.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn subset_is_what_the_schema_crate_says_it_is(schema in schemas()) {
        let Json::Object(members) = &schema else { return Ok(()) };
        let supported = assert_supported_json_schema(&schema).is_ok();
        let identified = Json::from(members.with("$id", "x").with("$comment", "y"));
        prop_assert_eq!(is_printed_as_subset(&schema), supported, "{}", schema);
        prop_assert_eq!(is_printed_as_subset(&identified), supported, "{}", identified);
    }
}

/// Whether a schema is taken for one of the subset.
///
/// Beside it stands a closed object with a member, which the subset breaks into lines and nothing
/// beyond the subset does.
fn is_printed_as_subset(schema: &Json) -> bool {
    let probe =
        json!({"type": "object", "properties": {"p": {"type": "null"}}, "additionalProperties": false});
    json_schema_to_ts(&json!({"oneOf": [probe, (schema.clone())]}), 0).starts_with("{\n  p?: null;\n}")
}

/// Whether a schema applies itself to the value it is applied to, which has no meaning
/// (JSON Schema 2020-12, 9.4.1).
fn applies_itself(document: &Json) -> bool {
    let schema_at = |target: &str| match target.strip_prefix("#/$defs/") {
        Some(name) => document.get("$defs").and_then(|all| all.get(name)).cloned().unwrap_or_default(),
        None => document.clone(),
    };
    let applied = |target: &str| {
        let mut found = Vec::new();
        let mut pending = vec![schema_at(target)];
        while let Some(schema) = pending.pop() {
            for (keyword, value) in schema.as_object().into_iter().flatten() {
                match (keyword, value) {
                    ("$ref", Json::String(target)) => found.push(target.to_string()),
                    ("allOf" | "anyOf" | "oneOf", Json::Array(branches)) => {
                        pending.extend(branches.iter().cloned());
                    }
                    ("not" | "if" | "then", _) => pending.push(value.clone()),
                    _ => {}
                }
            }
        }
        found
    };
    TARGETS.iter().any(|start| {
        let mut seen = Vec::new();
        let mut pending = applied(start);
        while let Some(target) = pending.pop() {
            if target == *start {
                return true;
            }
            if !seen.contains(&target) {
                pending.extend(applied(&target));
                seen.push(target);
            }
        }
        false
    })
}

fn sample<T: Strategy>(strategy: &T, runner: &mut TestRunner) -> T::Value {
    strategy.new_tree(runner).unwrap().current()
}

const TARGETS: [&str; 3] = ["#", "#/$defs/a", "#/$defs/b"];

/// A schema with definitions that it may refer to.
fn documents() -> impl Strategy<Value = Json> {
    (schemas(), schemas(), schemas(), any::<bool>()).prop_map(|(root, first, second, is_draft_07)| {
        let definitions = json!({"a": first, "b": second});
        match root {
            Json::Object(root) if is_draft_07 => root
                .with("$schema", "http://json-schema.org/draft-07/schema#")
                .with("$defs", definitions)
                .into(),
            Json::Object(root) => root.with("$defs", definitions).into(),
            other => other,
        }
    })
}

fn schemas() -> impl Strategy<Value = Json> {
    let kind = select(vec!["string", "number", "integer", "boolean", "null", "array", "object"]);
    let kinds = prop::collection::vec(kind.clone(), 1..3);
    let target = || select(TARGETS.to_vec());
    let leaf = prop_oneof![
        6 => kind.prop_map(|kind| json!({"type": kind})),
        1 => kinds.prop_map(|kinds| json!({"type": (kinds.into_iter().map(Json::from).collect::<Json>())})),
        1 => prop::collection::vec(scalars(), 1..4).prop_map(|members| json!({"enum": members})),
        1 => scalars().prop_map(|literal| json!({"const": literal})),
        1 => any::<bool>().prop_map(Json::from),
        1 => Just(json!({})),
        2 => target().prop_map(|target| json!({"$ref": target})),
        1 => (0..3i32, 0..4i32)
            .prop_map(|(low, high)| json!({"type": "string", "minLength": low, "maxLength": high})),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        let members = prop::collection::vec((names(), inner.clone()), 0..4)
            .prop_map(|members| Json::from(members.into_iter().collect::<Object>()));
        let required = prop::collection::vec(names(), 0..3)
            .prop_map(|names| names.into_iter().map(Json::from).collect::<Json>());
        let keyword = prop_oneof![
            4 => members.prop_map(|members| ("properties", members)),
            2 => required.prop_map(|names| ("required", names)),
            2 => inner.clone().prop_map(|schema| ("additionalProperties", schema)),
            2 => Just(("additionalProperties", json!(false))),
            1 => inner.clone().prop_map(|schema| ("patternProperties", json!({"^a": schema}))),
            1 => inner.clone().prop_map(|schema| ("patternProperties", json!({"b$": schema}))),
            1 => inner.clone().prop_map(|schema| ("patternProperties", json!({"[ab]+": schema}))),
            1 => select(vec![json!({"enum": ["a", "b"]}), json!({"pattern": "^a"}), json!(false)])
                .prop_map(|names| ("propertyNames", names)),
            3 => inner.clone().prop_map(|schema| ("items", schema)),
            1 => list.clone().prop_map(|schemas| ("prefixItems", schemas.into())),
            1 => (0..3i32).prop_map(|count| ("minItems", json!(count))),
            1 => (0..4i32).prop_map(|count| ("maxItems", json!(count))),
            3 => list.clone().prop_map(|schemas| ("anyOf", schemas.into())),
            3 => list.clone().prop_map(|schemas| ("oneOf", schemas.into())),
            3 => list.prop_map(|schemas| ("allOf", schemas.into())),
            1 => inner.clone().prop_map(|schema| ("not", schema)),
            1 => inner.clone().prop_map(|schema| ("if", schema)),
            1 => inner.prop_map(|schema| ("then", schema)),
            1 => Just(("unevaluatedProperties", json!(false))),
            1 => Just(("unevaluatedItems", json!(false))),
            2 => select(vec!["object", "array"]).prop_map(|kind| ("type", kind.into())),
            1 => Just(("type", json!(["array", "object", "null"]))),
            1 => Just(("nullable", json!(true))),
            1 => target().prop_map(|target| ("$ref", target.into())),
        ];
        prop::collection::vec(keyword, 1..5)
            .prop_map(|keywords| keywords.into_iter().collect::<Object>().into())
    })
}

/// No name that every object inherits: an open type refuses those, whatever it says.
fn names() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "ab", "a-b", "1", "c d"])
}

fn scalars() -> impl Strategy<Value = Json> {
    select(vec![
        json!("a"),
        json!("ab"),
        json!(1),
        json!(1.5),
        json!(true),
        json!(null),
        json!([]),
        json!({"a": 1}),
    ])
}

fn values() -> impl Strategy<Value = Json> {
    scalars().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            2 => prop::collection::vec((names(), inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Object>().into()),
        ]
    })
}
