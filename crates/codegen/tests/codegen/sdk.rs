//! The `tools:sdk` block.

use code_mode_codegen::{INSTRUCTIONS, SdkTool, sdk_declarations, sdk_section};
use code_mode_schema::{Json, json};

const WORKED_EXAMPLE: &str = include_str!("../fixtures/worked-example.ts");

#[test]
fn block_equals_the_worked_example() {
    let read_args = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Document id"},
            "pages": {"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "string", "enum": ["first", "last"]}]}},
            "max-bytes": {"type": "number"},
            "opts": {
                "type": "object",
                "description": "Read options",
                "properties": {"raw": {"type": "boolean", "description": "No cleanup"}},
                "required": ["raw"]
            }
        },
        "required": ["id"]
    });
    let read_output = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "title": {"type": "string", "description": "Title"},
            "lines": {"type": "array", "items": {
                "type": "object",
                "additionalProperties": false,
                "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["n", "text"]
            }},
            "next": {"oneOf": [{"type": "string"}, {"type": "null"}]}
        },
        "required": ["title", "lines"]
    });
    let put_args = json!({
        "type": "object",
        "properties": {
            "key": {"type": "string"},
            "value": {},
            "mode": {"type": "string", "enum": ["create", "replace"]},
            "meta": {"type": "object", "additionalProperties": true},
            "none": {"type": "object", "additionalProperties": false}
        },
        "required": ["key", "value"]
    });
    let tags = json!({"type": "array", "items": {"type": "string"}});
    let empty = json!({"type": "object", "properties": {}});
    let done = json!({"type": "boolean", "const": true});
    let mut tools = [
        tool("read_doc", "Fetch one document.\n  Second line with */ inside.", &read_args, &read_output),
        tool("list-tags", "List tags.", &empty, &tags),
        tool("put", "", &put_args, &done),
    ];
    for _ in 0..tools.len() {
        assert_eq!(sdk_declarations(&tools), WORKED_EXAMPLE.trim_end());
        tools.rotate_left(1);
    }
}

#[test]
fn section_is_instructions_blank_line_and_fence() {
    assert_eq!(INSTRUCTIONS, include_str!("../fixtures/instructions.md").trim_end());
    let section = sdk_section(&[]);
    assert_eq!(section, format!("{INSTRUCTIONS}\n\n```ts\n{}\n```", sdk_declarations(&[])));
}

#[test]
fn empty_maps_are_on_one_line() {
    let text = sdk_declarations(&[]);
    assert!(
        text.contains("\n\ninterface ToolArgsMap {}\n\ninterface ToolOutputMap {}\n\ntype ToolName"),
        "{text}"
    );
}

#[test]
fn tools_are_sorted_by_code_units_and_quoted_when_needed() {
    let any = json!({});
    let names = [
        "b",
        "a",
        "B",
        "\u{ff5e}",
        "\u{1f600}",
        "constructor",
        "__proto__",
        "delete",
        "export",
        "a-b",
        "1",
        "10",
        "2",
        "",
    ];
    let tools: Vec<SdkTool<'_>> = names.iter().map(|name| tool(name, "", &any, &any)).collect();
    let text = sdk_declarations(&tools);
    let map = text.split("interface ToolArgsMap {\n").nth(1).unwrap().split("\n}").next().unwrap();
    let keys: Vec<&str> = map.lines().map(|line| line.trim().strip_suffix(": JsonValue;").unwrap()).collect();
    assert_eq!(
        keys,
        [
            "\"\"",
            "\"1\"",
            "\"10\"",
            "\"2\"",
            "B",
            "__proto__",
            "a",
            "\"a-b\"",
            "b",
            "constructor",
            "delete",
            "export",
            "\"\u{1f600}\"",
            "\"\u{ff5e}\""
        ]
    );
}

#[test]
fn transport_is_not_a_tool_of_the_sdk() {
    let any = json!({});
    let tools = [tool("run_code", "", &any, &any), tool("a", "", &any, &any)];
    assert_eq!(sdk_declarations(&tools), sdk_declarations(&tools[1..]));
}

#[test]
fn texts_cannot_close_comments_fences_or_templates() {
    let schema = json!({
        "type": "object",
        "properties": {
            "{{userName}}": {"type": "string", "enum": ["```", "{{{x}}}", "*/"], "description": "d */ ``` {{x}}"}
        },
        "additionalProperties": false
    });
    let section = sdk_section(&[tool("a{{b", "t */ ``` {{x}}", &schema, &json!({}))]);
    let block = section.strip_prefix(INSTRUCTIONS).unwrap();
    assert_eq!(block.matches("```").count(), 2, "{block}");
    assert!(!block.contains("{{"), "{block}");
    assert!(block.contains("  /** t *\\/ ``\\` {\\{x}} */\n  \"a{\\u007bb\": {\n"), "{block}");
    assert!(
        block.contains("    /** d *\\/ ``\\` {\\{x}} */\n    \"{\\u007buserName}}\"?: \"``\\u0060\" | \"{\\u007b\\u007bx}}}\" | \"*/\";\n"),
        "{block}"
    );
}

fn tool<'a>(name: &'a str, description: &'a str, parameters: &'a Json, output: &'a Json) -> SdkTool<'a> {
    SdkTool { name, description, parameters, output }
}
