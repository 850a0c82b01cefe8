//! Any text is parsed or refused; what is parsed survives the way to text and back.
#![no_main]

use code_mode_schema::{Json, ParseErrorKind, from_json, to_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    let value = match Json::parse(text) {
        Ok(value) => value,
        Err(error) => {
            assert!(error.offset <= text.len() && error.line > 0 && error.column > 0);
            let is_lossy = matches!(error.kind, ParseErrorKind::Lossy(_));
            assert!(is_lossy || theirs.is_err(), "{error}");
            return;
        }
    };
    let written = value.to_text();
    assert_eq!(value.text_len(), written.len());
    let again = Json::parse(&written).expect("our own text parses");
    assert!(again == value && again.to_text() == written);
    if let Ok(theirs) = theirs
        && let Ok(theirs) = Json::try_from(&theirs)
    {
        assert!(theirs == value);
    }
    if let Ok(theirs) = value.to_serde_json() {
        assert!(to_json(&theirs).expect("values are lossless") == value);
        assert!(from_json::<Json>(&value).expect("values are values") == value);
    }
});
