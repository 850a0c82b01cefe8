//! Any document is judged as a schema; what is supported validates as `jsonschema` does.
#![no_main]

use code_mode_schema::{Json, Schema, assert_supported_json_schema, validate_json_schema_value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (schema, value) = text.split_once('\n').unwrap_or((text, "null"));
    let (Ok(schema), Ok(value)) = (Json::parse(schema), Json::parse(value)) else { return };
    let violations = validate_json_schema_value(&schema, &value, "value");
    if let Err(error) = assert_supported_json_schema(&schema) {
        assert!(!error.violations.is_empty() && violations == error.violations);
        return;
    }
    let compiled = Schema::subset(schema.clone()).expect("it is supported");
    assert!(compiled.validate(&value, "value") == violations);
    if let (Ok(schema), Ok(value)) = (schema.to_serde_json(), value.to_serde_json())
        && let Ok(theirs) = jsonschema::validator_for(&schema)
    {
        assert_eq!(theirs.is_valid(&value), violations.is_empty());
    }
});
