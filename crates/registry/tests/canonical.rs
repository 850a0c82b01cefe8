//! Contract 3.8 and decision 17: what a body's value must be, and what comes of it.

use std::collections::HashMap;

use code_mode_registry::{ContentBlock, ToolBuilder, ToolDefinition, ToolError, ToolRegistry, ToolResult};
use code_mode_schema::{Json, LosslessError, Lossy, json};

use crate::support::{Log, call, check_failure, code, echo, execute, run};

#[track_caller]
fn check_invalid(tool: impl Into<ToolDefinition>, violations: &str) {
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool).unwrap();
    let result = execute(&registry, "t");
    let message = format!(r#"tool "t" returned invalid output: {violations}"#);
    check_failure(&result, &message, Some("INVALID_TOOL_OUTPUT"));
    assert_eq!(result.error().unwrap().info().unwrap().name(), "ToolOutputError");
}

fn gives(value: Json) -> ToolBuilder {
    echo("t").execute(move |_, _| std::future::ready(Ok(value.clone())))
}

#[test]
fn a_value_outside_its_schema_is_invalid_with_all_violations() {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["a", "b"],
    });
    check_invalid(
        gives(json!({"b": "x", "c": 1})).output(schema),
        r#"missing required property "value.a"; "value.b" must be a number; "value.c" is not a declared property (additionalProperties: false)"#,
    );
}

#[test]
fn a_lossy_value_is_invalid_and_says_where() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {}
    let check = |tool: code_mode_registry::TypedToolBuilder<Args, _>, violation: &str| {
        check_invalid(tool, violation);
    };
    check(
        ToolDefinition::typed("t", "", |_: Args, _| async {
            Ok(HashMap::from([("ratio".to_owned(), f64::NAN)]))
        }),
        "value is not lossless JSON: value.ratio is NaN",
    );
    check_invalid(
        echo("t").execute(|_, _| async {
            Err(ToolError::lossy_output(LosslessError::new("items[0]", Lossy::NotANumber)))
        }),
        "value is not lossless JSON: value.items[0] is NaN",
    );
}

#[test]
fn an_integer_beyond_two_to_the_53_is_refused_not_rounded() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {}
    let registry = ToolRegistry::default();
    let tool = ToolDefinition::typed("t", "", |_: Args, _| async { Ok(u64::MAX) });
    let _tool = registry.register(tool).unwrap();
    let result = execute(&registry, "t");
    assert_eq!(code(&result).as_deref(), Some("INVALID_TOOL_OUTPUT"));
    assert!(result.text().contains("value is not lossless JSON: value "), "{}", result.text());
}

#[test]
fn a_failing_renderer_makes_the_output_invalid() {
    check_invalid(
        echo("t").render(|_, _| Err::<String, _>(ToolError::new("no template").into())),
        "output.render failed: no template",
    );
    check_invalid(
        echo("t").render(|_, _| Ok(String::from_utf8(vec![0xff])?)),
        "output.render failed: invalid utf-8 sequence of 1 bytes from index 0",
    );
    check_invalid(echo("t").render(|_, _| -> String { panic!("boom") }), "output.render failed: boom");
    check_invalid(
        echo("t").render(|_, _| Err::<String, _>(LosslessError::new("meta", Lossy::NotANumber).into())),
        "output.render returned non-lossless JSON: meta is NaN",
    );
}

#[test]
fn a_failing_presentation_meta_makes_the_output_invalid() {
    check_invalid(
        echo("t").presentation_meta(|_, _| Err::<Json, _>(ToolError::new("no meta").into())),
        "output.presentationMeta failed: no meta",
    );
    check_invalid(
        echo("t").presentation_meta(|_, _| -> Json { panic!("boom") }),
        "output.presentationMeta failed: boom",
    );
    check_invalid(
        echo("t").presentation_meta(|_, _| Err::<Json, _>(LosslessError::new("x", Lossy::NotANumber).into())),
        "output.presentationMeta returned non-lossless JSON: x is NaN",
    );
}

#[test]
fn validation_comes_before_rendering_and_rendering_before_meta() {
    let log = Log::default();
    let note = |what: &'static str| {
        let log = log.clone();
        move || log.add(what)
    };
    let (render, meta) = (note("render"), note("meta"));
    let tool = echo("t")
        .render(move |_, _| {
            render();
            ""
        })
        .presentation_meta(move |_, _| {
            meta();
            json!(1)
        });
    let registry = ToolRegistry::default();
    let _tool = registry.register(tool).unwrap();
    execute(&registry, "t");
    assert_eq!(log.take(), ["render", "meta"]);
}

#[test]
fn meta_is_computed_without_a_parent_only() {
    let registry = ToolRegistry::default();
    let tool = echo("t").presentation_meta(|args, value| json!([args.clone(), value.clone()]));
    let _tool = registry.register(tool).unwrap();
    let outer = execute(&registry, "t");
    assert_eq!(outer.meta(), Some(&json!([{"x": 1}, {"x": 1}])));
    let sub = run(registry.execute(call("t").with_parent(outer.token().unwrap())));
    assert!(!sub.is_error());
    assert_eq!(sub.meta(), None);
}

#[test]
fn no_meta_is_no_meta() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t").presentation_meta(|_, _| None::<Json>)).unwrap();
    assert_eq!(execute(&registry, "t").meta(), None);
}

#[test]
fn a_renderer_gives_text_blocks_or_results_of_either() {
    #[track_caller]
    fn check(tool: ToolBuilder, expected: &[ContentBlock]) {
        let registry = ToolRegistry::default();
        let _tool = registry.register(tool).unwrap();
        let result = execute(&registry, "t");
        assert_eq!(result.content(), expected);
    }
    let image = || ContentBlock::image("aGk=", "image/png");
    check(echo("t").render(|_, _| "text"), &["text".into()]);
    check(echo("t").render(|_, _| String::from("text")), &["text".into()]);
    check(echo("t").render(move |_, _| vec!["a".into(), image()]), &["a".into(), image()]);
    check(echo("t").render(move |_, _| image()), &[image()]);
    check(echo("t").render(|_, _| Ok("ok")), &["ok".into()]);
    check(echo("t").render(|args, _| args.get("x").unwrap().to_text()), &["1".into()]);
    check(echo("t").render(|_, _| Vec::<ContentBlock>::new()), &[]);
}

#[test]
fn a_full_vocabulary_schema_validates_outputs_too() {
    let schema = code_mode_schema::Schema::full(json!({"type": "string", "minLength": 3}));
    let registry = ToolRegistry::default();
    let _tool = registry.register(gives(json!("ab")).output(schema)).unwrap();
    let result = execute(&registry, "t");
    assert_eq!(code(&result).as_deref(), Some("INVALID_TOOL_OUTPUT"));
}

#[test]
fn a_value_of_any_depth_passes() {
    let mut deep = json!(1);
    for _ in 0..20_000 {
        deep = json!([deep]);
    }
    let registry = ToolRegistry::default();
    let _tool = registry.register(gives(deep.clone()).render(|_, _| "deep")).unwrap();
    let result: std::sync::Arc<ToolResult> = execute(&registry, "t");
    assert_eq!(result.value(), Some(&deep));
}

#[test]
fn content_blocks_have_the_shapes_of_mcp_and_lose_nothing() {
    let blocks = json!([
        {"type": "text", "text": "t"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}},
        {"type": "text", "text": "t", "annotations": {"priority": 1}},
        {"type": "resource_link", "uri": "file:///x", "name": "x"},
        {"type": "image", "data": 5, "mimeType": "image/png"},
        "no object",
    ]);
    let parsed: Vec<ContentBlock> = code_mode_schema::from_json(&blocks).unwrap();
    assert_eq!(code_mode_schema::to_json(&parsed).unwrap(), blocks);
    let kinds: Vec<_> = parsed.iter().map(ContentBlock::kind).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource", "text", "resource_link", "image", "unknown"]);
    let known = parsed.iter().filter(|block| !matches!(block, ContentBlock::Other(_))).count();
    assert_eq!(known, 4);
}
