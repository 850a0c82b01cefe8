//! The block over time: what is shared, what is named, and that only the tools decide.

use std::collections::BTreeMap;

use code_mode_codegen::{SdkBuilder, SdkTool, UnknownReason, sdk_declarations, sdk_section};
use code_mode_schema::{Json, json};
use proptest::prelude::*;

use crate::compiler::{self, Source};

/// The declarations of named types, and the two maps.
fn parts(block: &str) -> (&str, &str, &str) {
    let (head, rest) = block.split_once("\n\ninterface ToolArgsMap ").unwrap();
    let (arguments, rest) = rest.split_once("\n\ninterface ToolOutputMap ").unwrap();
    let (outputs, _) = rest.split_once("\n\ntype ToolName").unwrap();
    let (_, aliases) = head.split_once('\n').unwrap_or((head, ""));
    (aliases.trim_start(), arguments, outputs)
}

#[track_caller]
fn compiles(name: &str, block: &str) {
    let mut source = Source::default();
    source.push(block);
    source.push("export {}");
    let sources = BTreeMap::from([(name.to_owned(), source)]);
    if let Some(errors) = compiler::compile(name, &sources) {
        assert_eq!(errors, compiler::Errors::new());
    }
}

fn tool<'a>(name: &'a str, parameters: &'a Json, output: &'a Json) -> SdkTool<'a> {
    SdkTool { name, description: "", parameters, output }
}

/// The result of an MCP tool: content blocks, and what the server says its own result is.
fn envelope(structured: Json) -> Json {
    let block = |kind: &str, member: &str| {
        json!({
            "type": "object",
            "properties": {"type": {"const": kind}, (member.to_owned()): {"type": "string"}},
            "required": ["type", member]
        })
    };
    json!({
        "type": "object",
        "properties": {
            "content": {
                "type": "array",
                "items": {"anyOf": [(block("text", "text")), (block("image", "data"))]}
            },
            "structuredContent": structured
        },
        "required": ["content"],
        "additionalProperties": false
    })
}

#[test]
fn shape_of_many_tools_is_declared_once() {
    let plain = envelope(json!({}));
    let typed =
        envelope(json!({"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}}));
    let none = json!({"type": "object"});
    let tools = [
        tool("a", &none, &plain),
        tool("b", &none, &typed),
        tool("c", &none, &plain),
        tool("d", &none, &plain),
    ];
    let block = sdk_declarations(&tools);
    let (aliases, _, outputs) = parts(&block);
    assert_eq!(
        aliases,
        "type $AOutput = { content: $Content[]; structuredContent?: JsonValue }\n\
         type $Content = { type: \"text\"; text: string } & Record<string, JsonValue> | {\n\
         \x20 type: \"image\";\n\
         \x20 data: string;\n\
         } & Record<string, JsonValue>"
    );
    assert_eq!(
        outputs,
        "{\n\
         \x20 a: $AOutput;\n\
         \x20 b: {\n\
         \x20   content: $Content[];\n\
         \x20   structuredContent?: { /** uuid */ id?: string } & Record<string, JsonValue>;\n\
         \x20 };\n\
         \x20 c: $AOutput;\n\
         \x20 d: $AOutput;\n\
         }"
    );
    compiles("shared", &block);
}

#[test]
fn shapes_of_one_name_are_told_apart_and_equal_ones_of_two_names_are_one() {
    let tree = |name: &str, leaf: &str| {
        let target = format!("#/$defs/{name}");
        let node = json!({
            "type": "object",
            "properties": {"next": {"$ref": (target.clone())}, "leaf": {"type": leaf}},
            "additionalProperties": false
        });
        json!({"$ref": target, "$defs": {(name.to_owned()): node}})
    };
    let (first, second, third) = (tree("Node", "string"), tree("Node", "number"), tree("Tree", "string"));
    let tools = [tool("a", &first, &first), tool("b", &second, &third), tool("c", &third, &second)];
    let block = sdk_declarations(&tools);
    assert_eq!(
        parts(&block),
        (
            "type $Node = { next?: $Node; leaf?: string }\n\
             type $Node2 = { next?: $Node2; leaf?: number }",
            "{\n  a: $Node;\n  b: $Node2;\n  c: $Node;\n}",
            "{\n  a: $Node;\n  b: $Node;\n  c: $Node2;\n}"
        )
    );
    compiles("names", &block);
}

#[test]
fn arguments_are_an_object_even_where_the_schema_names_no_type() {
    let open = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    let block =
        sdk_declarations(&[tool("a", &open, &json!({})), tool("b", &json!({"type": "object"}), &open)]);
    let (_, arguments, outputs) = parts(&block);
    let named = "{ a: string } & Record<string, JsonValue>";
    // Both name it, so it has a name; what matters is what stands beside it.
    assert!(block.contains(&format!("type $AArgs = {named}\n")), "{block}");
    assert!(arguments.starts_with("{\n  a: $AArgs;\n"), "{arguments}");
    assert!(outputs.contains("  b: $AArgs | string | number | boolean | JsonValue[] | null;\n"), "{outputs}");
}

#[test]
fn long_members_are_broken_at_the_indent_of_the_map() {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "What to look for, in words that a person would use",
                "minLength": 1
            },
            "filter": {
                "type": "object",
                "properties": {"from": {"type": "string", "format": "date"}},
                "additionalProperties": false
            }
        },
        "required": ["query"]
    });
    let search =
        SdkTool { name: "search-all", description: "Searches.", parameters: &schema, output: &json!({}) };
    assert_eq!(
        parts(&sdk_declarations(&[search])).1,
        "{\n\
         \x20 /** Searches. */\n\
         \x20 \"search-all\": {\n\
         \x20   /** What to look for, in words that a person would use (non-empty) */\n\
         \x20   query: string;\n\
         \x20   filter?: { /** date */ from?: string };\n\
         \x20 } & Record<string, JsonValue>;\n\
         }"
    );
}

#[test]
fn description_cannot_name_a_type() {
    let tree =
        json!({"type": "object", "properties": {"inner": {"$ref": "#"}}, "additionalProperties": false});
    let any = json!({});
    let grow = SdkTool {
        name: "grow",
        description: "\u{1}0\u{1} and \u{1}99\u{1}",
        parameters: &tree,
        output: &any,
    };
    assert_eq!(
        parts(&sdk_declarations(&[grow])),
        (
            "type $GrowArgs = { inner?: $GrowArgs }",
            "{\n  /** \u{1}0\u{1} and \u{1}99\u{1} */\n  grow: $GrowArgs;\n}",
            "{\n  grow: JsonValue;\n}"
        )
    );
}

#[test]
fn reports_count_places_and_say_what_is_unknown() {
    let broken =
        json!({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}, "b": {"type": "string"}}});
    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let any = json!({});
    let mut builder = SdkBuilder::new();
    builder.update(&[tool("b", &broken, &plain), tool("a", &plain, &any)]);
    let places: Vec<_> =
        builder.reports().map(|report| (report.name, report.parameters.nodes, report.output.nodes)).collect();
    assert_eq!(places, [("a", 2, 1), ("b", 3, 2)]);
    let report = builder.reports().nth(1).unwrap();
    let unknown = &report.parameters.unknowns[0];
    assert_eq!((&*unknown.pointer, unknown.reason), ("/properties/a", UnknownReason::UnresolvedReference));
    assert_eq!(unknown.reason.code(), "unresolved-reference");
}

#[test]
fn tools_can_be_set_and_removed_one_by_one() {
    let plain = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}});
    let changed = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}});
    // Equal as JSON, but its members are in another order, which is the order of the text.
    let two = json!({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}});
    let turned = json!({"type": "object", "properties": {"b": {"type": "null"}, "a": {"type": "null"}}});
    let mut builder = SdkBuilder::new();
    builder.update(&[tool("a", &plain, &two), tool("b", &plain, &two)]);
    let before = builder.section().to_owned();
    assert_eq!(builder.section(), before);
    builder.set(&tool("b", &changed, &turned));
    let expected = sdk_section(&[tool("a", &plain, &two), tool("b", &changed, &turned)]);
    assert_eq!(builder.section(), expected);
    assert_ne!(before, expected);
    builder.set(&tool("b", &plain, &two));
    assert_eq!(builder.section(), before);
    builder.remove("b");
    builder.remove("none");
    builder.set(&tool("run_code", &plain, &two));
    assert_eq!(builder.section(), sdk_section(&[tool("a", &plain, &two)]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn text_depends_on_the_tools_alone(
        steps in prop::collection::vec(
            (0..6_usize, prop::option::weighted(0.8, (0..8_usize, 0..8_usize))),
            1..24,
        )
    ) {
        let schemas = shared_schemas();
        let names = ["b", "a", "c", "\u{ff5e}", "\u{1f600}", "a-b"];
        let mut builder = SdkBuilder::new();
        let mut now: BTreeMap<&str, SdkTool<'_>> = BTreeMap::new();
        for (name, change) in steps {
            let name = names[name];
            match change {
                Some((parameters, output)) => {
                    let tool = tool(name, &schemas[parameters], &schemas[output]);
                    builder.set(&tool);
                    now.insert(name, tool);
                }
                None => {
                    builder.remove(name);
                    now.remove(name);
                }
            }
            let tools: Vec<SdkTool<'_>> = now.values().rev().copied().collect();
            prop_assert_eq!(builder.section(), sdk_section(&tools));
        }
    }
}

/// What happens to the tools of a builder; a tool is the place of its name, of its two schemas, and whether it
/// is described.
#[derive(Clone, Debug)]
enum Step {
    Set(Tool),
    Remove(usize),
    /// All tools as they now are, in any order, perhaps several of one name.
    Update(Vec<Tool>),
    /// The same tools again, made of equal schemas that are other objects, the last first.
    Again,
}

type Tool = (usize, usize, usize, bool);

/// So many that they are rendered on several threads.
const MANY: usize = 160;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let tool = || (0..MANY, 0..9_usize, 0..9_usize, any::<bool>());
    let step = prop_oneof![
        2 => tool().prop_map(Step::Set),
        1 => (0..MANY).prop_map(Step::Remove),
        2 => prop::collection::vec(tool(), 0..2 * MANY).prop_map(Step::Update),
        1 => Just(Step::Again),
    ];
    prop::collection::vec(step, 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_way_to_a_set_of_many_tools_gives_the_same_text(steps in steps()) {
        let turned = json!({
            "properties": {
                "longitude": {"type": "number", "minimum": -180},
                "latitude": {"type": "number", "minimum": -90}
            },
            "type": "object"
        });
        let schemas = || -> Vec<Json> { shared_schemas().into_iter().chain([turned.clone()]).collect() };
        let schemas = [schemas(), schemas()];
        let names: Vec<String> = (0..MANY)
            .map(|place| match place {
                0 => "run_code".to_owned(),
                1 => "\u{ff5e}".to_owned(),
                2 => "\u{1f600}".to_owned(),
                3 => String::new(),
                _ => format!("tool{}", place * 7 % MANY),
            })
            .collect();
        let made = |(name, parameters, output, is_described): Tool, copy: usize| SdkTool {
            name: &names[name],
            description: if is_described { "Does it." } else { "" },
            parameters: &schemas[copy][parameters],
            output: &schemas[copy][output],
        };
        let mut builder = SdkBuilder::new();
        let mut now: BTreeMap<usize, Tool> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Set(tool) => {
                    builder.set(&made(tool, 0));
                    now.insert(tool.0, tool);
                }
                Step::Remove(name) => {
                    builder.remove(&names[name]);
                    now.remove(&name);
                }
                Step::Update(tools) => {
                    builder.update(&tools.iter().map(|tool| made(*tool, 0)).collect::<Vec<_>>());
                    now = tools.into_iter().map(|tool| (tool.0, tool)).collect();
                }
                Step::Again => {
                    let before = builder.section().to_owned();
                    builder.update(&now.values().rev().map(|tool| made(*tool, 1)).collect::<Vec<_>>());
                    prop_assert_eq!(builder.section(), before);
                }
            }
            let tools: Vec<SdkTool<'_>> = now.values().map(|tool| made(*tool, 0)).collect();
            prop_assert_eq!(builder.declarations(), sdk_declarations(&tools));
        }
        // One by one, which no other thread has a part in.
        let mut single = SdkBuilder::new();
        now.values().rev().for_each(|tool| single.set(&made(*tool, 1)));
        prop_assert_eq!(builder.section(), single.section());
    }
}

/// Schemas that have much in common, so that names come and go with the tools.
fn shared_schemas() -> [Json; 8] {
    let point = json!({
        "type": "object",
        "properties": {
            "latitude": {"type": "number", "minimum": -90},
            "longitude": {"type": "number", "minimum": -180}
        }
    });
    let list = |items: &Json| json!({"type": "array", "minItems": 1, "items": (items.clone())});
    let pair = json!({"type": "object", "properties": {"from": (point.clone()), "to": (point.clone())}});
    let tree = json!({
        "$defs": {"Point": {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Point"}}}},
        "type": "object",
        "properties": {"from": {"$ref": "#/$defs/Point"}}
    });
    [
        json!({"type": "object"}),
        list(&point),
        list(&pair),
        json!({"anyOf": [(pair.clone()), (tree.clone()), (list(&point))]}),
        json!({"enum": ["a rather long literal", "another rather long literal", "a third one"]}),
        point,
        pair,
        tree,
    ]
}
