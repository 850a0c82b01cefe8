//! What the tools of real servers cost a model: tokens (o200k) of the TypeScript against those of the same tools as JSON.

use code_mode_codegen::{SdkTool, sdk_declarations};
use code_mode_schema::{Json, Object, assert_supported_json_schema, json};

use crate::corpus::{corpus, tools_of};

/// TypeScript for JSON, over all servers.
const MAX_RATIO_OF_ALL: f64 = 0.75;

/// The same for each server with so many tools: the parts of the block that do not depend on the tools weigh little
/// there.
const MAX_RATIO: f64 = 1.0;
const FEWEST_TOOLS: usize = 5;

#[test]
fn block_is_shorter_than_the_json_it_stands_for() {
    let (mut all_json, mut all_sdk) = (0, 0);
    let mut problems = Vec::new();
    for (name, file) in corpus("mcp-tools") {
        let tools = tools_of(&file);
        let (json, sdk) = (tokens(&as_json(&file)), tokens(&sdk_declarations(&tools)));
        println!("{name}: {} tools, {json} as JSON, {sdk} as TypeScript", tools.len());
        (all_json, all_sdk) = (all_json + json, all_sdk + sdk);
        if tools.len() >= FEWEST_TOOLS && ratio(sdk, json) > MAX_RATIO && !tools.iter().all(is_of_the_subset)
        {
            problems.push(format!("{name}: {sdk} tokens for {json}"));
        }
    }
    if all_json == 0 {
        return;
    }
    println!("all: {all_json} as JSON, {all_sdk} as TypeScript, {:.3}", ratio(all_sdk, all_json));
    assert!(ratio(all_sdk, all_json) <= MAX_RATIO_OF_ALL, "{all_sdk} tokens for {all_json}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Whether the text of a tool is fixed, byte for byte, by contract 5.1, so that nothing can be made shorter.
fn is_of_the_subset(tool: &SdkTool<'_>) -> bool {
    [tool.parameters, tool.output].into_iter().all(|schema| {
        let Json::Object(schema) = schema else { return false };
        let bare =
            ["$schema", "$id", "$comment"].iter().fold(schema.clone(), |schema, key| schema.without(key));
        assert_supported_json_schema(&bare.into()).is_ok()
    })
}

/// The tools as a provider would be sent them: name, description and schemas, without space.
fn as_json(file: &Json) -> String {
    let tools = file.as_array().unwrap().iter().map(|tool| {
        let members = tool
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, _)| ["name", "description", "inputSchema", "outputSchema"].contains(key));
        Json::from(members.map(|(key, value)| (key, value.clone())).collect::<Object>())
    });
    tools.collect::<Json>().to_text()
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

#[expect(clippy::cast_precision_loss, reason = "far fewer tokens than 2^53")]
fn ratio(sdk: usize, json: usize) -> f64 {
    sdk as f64 / json as f64
}

#[test]
fn repeated_shape_costs_its_name() {
    let place = json!({
        "type": "object",
        "properties": {
            "latitude": {"type": "number", "minimum": -90, "maximum": 90},
            "longitude": {"type": "number", "minimum": -180, "maximum": 180}
        },
        "required": ["latitude", "longitude"],
        "additionalProperties": false
    });
    let route =
        json!({"type": "object", "properties": {"from": place, "to": place}, "additionalProperties": false});
    let none = json!({"type": "object"});
    let tool = |name| SdkTool { name, description: "", parameters: &none, output: &route };
    let one = tokens(&sdk_declarations(&[tool("a")]));
    let two = tokens(&sdk_declarations(&[tool("a"), tool("b")]));
    assert!(two - one < 30, "{one}, {two}");
}
