//! Any document is compiled as a spec or refused; what compiles is in the subset and comes back.
#![no_main]

use code_mode_schema::{
    Json, ParameterSchemaSpec, ValueSchemaSpec, assert_supported_json_schema, validate_args,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(document) = Json::parse(text) else { return };
    if let Ok(schema) = ValueSchemaSpec::from_spec(document.clone()).to_json_schema() {
        assert!(assert_supported_json_schema(&schema).is_ok());
        let spec = ValueSchemaSpec::from_json_schema(&schema).expect("the subset can be said");
        assert!(spec.to_json_schema().expect("it compiled before") == schema);
    }
    let parameters = ParameterSchemaSpec::from_spec(document.clone());
    let _ = validate_args(&parameters, &document);
    if let Ok(schema) = parameters.to_json_schema() {
        let spec = ParameterSchemaSpec::from_json_schema(&schema).expect("parameters can be said");
        assert!(spec.to_json_schema().expect("it compiled before") == schema);
    }
});
