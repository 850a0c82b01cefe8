//! Any schema is taken, any value is judged, and each violation says where.
#![no_main]

use code_mode_schema::{Json, Schema};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (schema, value) = text.split_once('\n').unwrap_or((text, "null"));
    let (Ok(schema), Ok(value)) = (Json::parse(schema), Json::parse(value)) else { return };
    let schema = Schema::full(schema);
    for label in ["", "value"] {
        for violation in schema.validate(&value, label) {
            assert!(violation.contains('"') || violation.starts_with("and "), "{violation}");
        }
    }
});
