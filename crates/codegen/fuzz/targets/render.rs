//! Any document becomes a type, the same each time, well formed, with places for what is unknown.
#![no_main]

#[path = "../../tests/codegen/lexer.rs"]
mod lexer;

use code_mode_codegen::{json_schema_to_ts, render};
use code_mode_schema::{Json, assert_supported_json_schema};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(schema) = Json::parse(text) else { return };
    let rendered = render(&schema, 0);
    let whole = json_schema_to_ts(&schema, 0);
    assert!(!rendered.text.is_empty() && whole.starts_with(&rendered.text));
    lexer::check(&whole);
    for alias in &rendered.aliases {
        assert!(whole.contains(&alias.declaration) && alias.declaration.contains(&alias.name));
        lexer::check(&alias.declaration);
    }
    assert!(rendered.unknowns.len() <= rendered.nodes);
    for unknown in &rendered.unknowns {
        assert!(unknown.pointer.is_empty() || unknown.pointer.starts_with('/'), "{unknown:?}");
    }
    if assert_supported_json_schema(&schema).is_ok() {
        assert!(rendered.unknowns.is_empty() && rendered.aliases.is_empty());
    }
    // From a document with other addresses.
    let again = Json::parse(text).expect("it was parsed before");
    assert!(render(&again, 0) == rendered);
    lexer::check(&json_schema_to_ts(&schema, 3));
});
