//! The JSON-Schema-Test-Suite: every schema renders to a type that every valid instance fits.
//!
//! Found as by the tests of the schema crate: in `JSON_SCHEMA_TEST_SUITE`, else in `tmp` of the
//! target folder, where `crates/schema/tests/fetch-json-schema-test-suite.sh` puts it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use code_mode_codegen::json_schema_to_ts;
use code_mode_schema::Json;

use crate::compiler::{self, Source};

#[test]
fn valid_instances_of_draft_07_type_check() {
    check("draft7", "http://json-schema.org/draft-07/schema#");
}

#[test]
fn valid_instances_of_draft_2020_12_type_check() {
    check("draft2020-12", "https://json-schema.org/draft/2020-12/schema");
}

fn check(draft: &str, dialect: &str) {
    let folder = std::env::var_os("JSON_SCHEMA_TEST_SUITE").map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-schema-test-suite"));
    let Ok(files) = std::fs::read_dir(folder.join("tests").join(draft)) else {
        return println!("no JSON-Schema-Test-Suite in {}", folder.display());
    };
    let mut sources = BTreeMap::new();
    let mut instances: BTreeMap<(String, usize), (String, String, Json)> = BTreeMap::new();
    for path in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let Ok(groups) = Json::parse(&std::fs::read_to_string(&path).unwrap()) else { continue };
        for (place, group) in groups.as_array().unwrap().iter().enumerate() {
            let schema = match group.get("schema").unwrap() {
                Json::Object(schema) if !schema.contains_key("$schema") => {
                    schema.with("$schema", dialect).into()
                }
                schema => schema.clone(),
            };
            let mut source = Source::new();
            source.push(&format!("type T = {}", json_schema_to_ts(&schema, 0)));
            let text = |from: &Json| from.get("description").and_then(Json::as_str).unwrap().to_owned();
            let name = format!("{file}-{place}");
            for test in group.get("tests").unwrap().as_array().unwrap() {
                if test.get("valid").and_then(Json::as_bool) == Some(true) {
                    let line = source.assign("T", test.get("data").unwrap());
                    instances.insert((name.clone(), line), (text(group), text(test), schema.clone()));
                }
            }
            sources.insert(name, source);
        }
    }
    let Some(errors) = compiler::compile(draft, &sources) else { return };
    let mut problems = Vec::new();
    for (name, errors) in errors {
        for (line, error) in errors {
            let Some((group, test, schema)) = instances.get(&(name.clone(), line)) else {
                problems.push(format!("{name}:{line}: {error}"));
                continue;
            };
            let file = name.rsplit_once('-').unwrap().0;
            problems.push(format!("{file} / {group} / {test}: {error}\n    {schema}"));
        }
    }
    println!("{draft}: {} schemas, {} valid instances", sources.len(), instances.len());
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}
