//! Any tools become a section that nothing closes early, and only the tools decide what it says.
//!
//! A line is a tool: a schema for its arguments, its result and, as text, for its description and name.
#![no_main]

#[path = "../../tests/codegen/lexer.rs"]
mod lexer;

use code_mode_codegen::{INSTRUCTIONS, SdkBuilder, SdkTool, sdk_section};
use code_mode_schema::Json;
use libfuzzer_sys::fuzz_target;

/// So many tools at most, so that an input takes little time.
const MAX_TOOLS: usize = 6;

fuzz_target!(|text: &str| {
    let schemas: Vec<(&str, Json)> = text
        .lines()
        .take(MAX_TOOLS)
        .map(|line| (line, Json::parse(line).unwrap_or_else(|_| Json::from(line))))
        .collect();
    let mut tools: Vec<SdkTool<'_>> = Vec::new();
    for (place, (line, schema)) in schemas.iter().enumerate() {
        let name = line.get(..line.len().min(12)).unwrap_or(line);
        if tools.iter().all(|tool| tool.name != name) {
            let output = &schemas[(place + 1) % schemas.len()].1;
            tools.push(SdkTool { name, description: line, parameters: schema, output });
        }
    }
    let section = sdk_section(&tools);
    let block = section.strip_prefix(INSTRUCTIONS).expect("the instructions come first");
    let block = block.strip_prefix("\n\n```ts\n").and_then(|block| block.strip_suffix("\n```"));
    let block = block.expect("the block is fenced");
    assert!(!block.contains("```") && !block.contains("{{"), "{block}");
    assert!(!block.contains(['\u{2028}', '\u{2029}']), "{block}");
    lexer::check(block);
    tools.reverse();
    assert!(sdk_section(&tools) == section, "the order decides");
    let mut builder = SdkBuilder::new();
    for tool in &tools {
        builder.set(tool);
        builder.section();
    }
    assert!(builder.section() == section, "the history decides");
    if let Some(last) = tools.pop() {
        builder.remove(last.name);
        assert!(builder.section() == sdk_section(&tools), "what is gone decides");
    }
});
