//! What `run_code` hands back beside its text is bounded by the back end's limits. Decision 26, contract 7.5.

use std::sync::Arc;

use code_mode::registry::ContentBlock;
use code_mode::{
    CodeMode, Json, Mode, RegistryConfig, ToolCall, ToolDefinition, ToolRegistry, ToolResult, json,
};

use crate::subject::{BackEnd, Subject};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        images_beyond_their_limit_are_left_out_and_counted,
        flood_of_images_is_held_to_the_limit,
        images_are_no_output_of_the_program,
    ]
}

/// A picture of `bytes` bytes.
fn picture(bytes: usize) -> ContentBlock {
    ContentBlock::image("A".repeat(bytes), "image/png")
}

/// What the program does to a registry whose tool `shot` shows a picture of `bytes` bytes.
fn run(subject: &Subject, program: &str) -> Arc<ToolResult> {
    let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code)).unwrap();
    let _code_mode = CodeMode::install(&registry, Arc::clone(&subject.runtime)).unwrap();
    let shot = ToolDefinition::builder("shot")
        .description("Shows a picture")
        .parameters(json!({"type": "object"}))
        .output(json!({}))
        .render(|_, value| {
            let bytes = value.as_f64().unwrap_or_default();
            vec![ContentBlock::text("a picture"), picture(bytes as usize)]
        })
        .concurrency_safe(|_| true)
        .execute(|arguments: Json, _| async move { Ok(arguments.get("bytes").cloned().unwrap_or_default()) });
    registry.register(shot).unwrap().keep();
    let arguments = json!({"code": program, "description": "Show pictures"});
    subject.tokio.block_on(registry.execute(ToolCall::new("call_1", "run_code", arguments)))
}

fn images_beyond_their_limit_are_left_out_and_counted(back_end: BackEnd) {
    let limit = picture(100).to_json().text_len() * 2;
    let subject = Subject::with(back_end, |setup| setup.limits.max_media_bytes = limit);
    let note = |left_out: usize, all: usize| {
        format!(
            "Note: {left_out} of the {all} images and sounds of the tool calls are left out: a run hands back at \
             most {limit} bytes of them (maxMediaBytes); ask for fewer or smaller ones."
        )
    };
    let two = "for (let i = 0; i < 2; i++) await tools.shot({ bytes: 100 }); return 'seen'";
    assert_eq!(run(&subject, two).content(), [ContentBlock::text("seen"), picture(100), picture(100)]);
    let one_byte_more = "await tools.shot({ bytes: 100 }); await tools.shot({ bytes: 101 }); return 'seen'";
    let text = ContentBlock::text(format!("seen\n{}", note(1, 2)));
    assert_eq!(run(&subject, one_byte_more).content(), [text, picture(100)]);
    let failing = "await Promise.all([100, 100, 7].map((bytes) => tools.shot({ bytes }))); throw 'late'";
    let failed = run(&subject, failing);
    assert!(failed.is_error());
    let [text, images @ ..] = failed.content() else { panic!("no content") };
    assert!(text.as_text().is_some_and(|text| text.contains(note(1, 3).trim_end_matches('.'))), "{text:?}");
    assert_eq!(images, [picture(100), picture(100)]);
}

fn flood_of_images_is_held_to_the_limit(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_media_bytes = 1 << 20);
    let flood = "let n = 0;
        for (; n < 10_000; n += 100) await Promise.all(Array.from({ length: 100 }, () => tools.shot({ bytes: 10_000 })));
        return n";
    let result = run(&subject, flood);
    let bytes: usize = result.content().iter().map(ContentBlock::size_bytes).sum();
    assert!((1_000_000..1 << 20).contains(&bytes), "{bytes} bytes");
    assert!(result.text().starts_with("10000\nNote: 98"), "{}", result.text());
}

fn images_are_no_output_of_the_program(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_output_bytes = 100);
    let result = run(&subject, "await tools.shot({ bytes: 1000 }); return 1");
    assert_eq!(result.content(), [ContentBlock::text("1"), picture(1000)]);
}
