//! Real schemas and hard ones: the project's corpus, which lies beside the repository.
//!
//! `CODE_MODE_CORPUS` names another folder of the same form. Where there is none, the tests say so
//! and pass.

use std::fs;
use std::path::{Path, PathBuf};

use code_mode_schema::{Json, Schema};

fn files(folder: &str) -> Vec<(String, Json)> {
    let corpus = std::env::var_os("CODE_MODE_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    let Ok(entries) = fs::read_dir(corpus.join(folder)) else {
        println!("skipped: no {folder} in {}", corpus.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, Json::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    };
    paths.iter().map(read).collect()
}

#[test]
fn hard_schemas_accept_what_is_valid_and_refuse_the_rest_with_a_path() {
    let files = files("schema-edge");
    let mut failures = Vec::new();
    for (name, file) in &files {
        let schema = Schema::full(file.get("schema").unwrap().clone());
        if let Some(warning) = schema.warning() {
            println!("{name}: {warning}");
        }
        let values = |key: &str| file.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        for value in values("valid").iter() {
            for label in ["", "value"] {
                let violations = schema.validate(value, label);
                if !violations.is_empty() {
                    failures.push(format!("{name}: {value} was refused: {violations:?}"));
                }
            }
        }
        for value in values("invalid").iter() {
            let violations = schema.validate(value, "value");
            println!("{name}: {violations:?}");
            if violations.is_empty() {
                failures.push(format!("{name}: {value} was accepted"));
            } else if !violations.iter().all(|text| text.contains("\"value") || text.starts_with("and ")) {
                failures.push(format!("{name}: {value} was refused without a path: {violations:?}"));
            }
        }
    }
    println!("{} files, {} failures", files.len(), failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn schemas_of_real_servers_compile() {
    let mut compiled = 0;
    let mut warnings = Vec::new();
    for (name, tools) in files("mcp-tools") {
        for tool in tools.as_array().unwrap().iter() {
            for key in ["inputSchema", "outputSchema"] {
                let Some(document) = tool.get(key) else { continue };
                let schema = Schema::full(document.clone());
                compiled += 1;
                if let Some(warning) = schema.warning() {
                    let tool = tool.get("name").unwrap();
                    warnings.push(format!("{name} {tool} {key}: {warning}"));
                }
            }
        }
    }
    println!("{compiled} schemas, {} with warnings", warnings.len());
    warnings.iter().for_each(|warning| println!("{warning}"));
    assert!(warnings.len() * 100 <= compiled, "more than one in a hundred is not fully enforced");
}
