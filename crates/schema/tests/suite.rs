//! The JSON-Schema-Test-Suite: required tests of draft-07 and 2020-12.
//!
//! `fetch-json-schema-test-suite.sh` beside this file gets it; `JSON_SCHEMA_TEST_SUITE` names another
//! copy. Without one the tests say so and pass.

use std::fs;
use std::path::{Path, PathBuf};

use code_mode_schema::{Json, Schema, json};

/// Schemas that refer to documents elsewhere, which are never fetched: their references are not
/// enforced and a warning says so.
fn refers_elsewhere(schema: &Json) -> bool {
    schema.to_text().contains("http://localhost:1234")
}

fn suite() -> Option<PathBuf> {
    let folder = std::env::var_os("JSON_SCHEMA_TEST_SUITE")
        .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-schema-test-suite"), PathBuf::from);
    let found = folder.join("tests").is_dir();
    if !found {
        println!("skipped: no JSON-Schema-Test-Suite in {}", folder.display());
    }
    found.then_some(folder)
}

/// Runs the required tests of one draft. Those in `exceptions` may fail.
fn check(draft: &str, dialect: &str, exceptions: &[&str]) {
    let Some(suite) = suite() else { return };
    let mut paths: Vec<PathBuf> = fs::read_dir(suite.join("tests").join(draft))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    let (mut passed, mut total, mut elsewhere) = (0, 0, 0);
    let mut failures = Vec::new();
    for path in paths {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let groups = Json::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let schema = match group.get("schema").unwrap() {
                Json::Object(schema) if !schema.contains_key("$schema") => {
                    Json::from(schema.with("$schema", dialect))
                }
                schema => schema.clone(),
            };
            let compiled = Schema::full(schema.clone());
            for test in group.get("tests").unwrap().as_array().unwrap() {
                let violations = compiled.validate(test.get("data").unwrap(), "value");
                let is_right = Some(violations.is_empty()) == test.get("valid").unwrap().as_bool();
                total += 1;
                passed += usize::from(is_right);
                if is_right {
                    continue;
                }
                if refers_elsewhere(&schema) {
                    elsewhere += 1;
                    assert!(compiled.warning().is_some(), "{file}: no warning for {schema}");
                    continue;
                }
                let text = |json: &Json| json.get("description").unwrap().as_str().unwrap().to_owned();
                failures.push(format!("{file}: {}: {}", text(group), text(test)));
            }
        }
    }
    let rate = 100.0 * f64::from(passed as u32) / f64::from(total as u32);
    println!(
        "{draft}: {passed} of {total} required tests pass ({rate:.1} %); \
         {elsewhere} of the rest need documents from elsewhere, {} do not:",
        failures.len()
    );
    failures.iter().for_each(|failure| println!("  {failure}"));
    failures.retain(|failure| !exceptions.contains(&failure.as_str()));
    assert!(failures.is_empty());
}

#[test]
fn draft_07() {
    check("draft7", "http://json-schema.org/draft-07/schema#", &[]);
}

#[test]
fn draft_2020_12() {
    check("draft2020-12", "https://json-schema.org/draft/2020-12/schema", &[]);
}

#[test]
fn references_elsewhere_are_not_enforced_and_said_to_be_so() {
    let schema = Schema::full(json!({"$ref": "http://localhost:1234/integer.json", "type": "number"}));
    let warning = schema.warning().unwrap();
    assert!(warning.starts_with("$ref http://localhost:1234/integer.json is not enforced: "), "{warning}");
    assert!(schema.validate(&json!(1.5), "value").is_empty());
    assert_eq!(schema.validate(&json!("x"), "value"), ["\"value\" must be a number"]);
}
