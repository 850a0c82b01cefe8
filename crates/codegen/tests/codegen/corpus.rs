//! The corpus: tools of real servers and hard schemas.
//!
//! Its folder is `CODE_MODE_CORPUS`, by default `../shared/corpus` beside the project; without it
//! only the project's own, `tests/fixtures` of the workspace, are judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use code_mode_codegen::{SdkBuilder, SdkTool, json_schema_to_ts, sdk_declarations, sdk_section};
use code_mode_schema::{Json, json};

use crate::compiler::{self, Source};
use crate::lexer;

/// Invalid values that the generated type takes all the same, and why it cannot do better.
const BEYOND_TYPESCRIPT: &[(&str, &str, &[usize])] = &[
    (
        "additional-schema-beside-properties",
        "an index signature must take what members take; integers",
        &[1, 2],
    ),
    ("allof-merges-and-siblings", "bounds of numbers", &[1]),
    ("allof-of-unions", "a value of two branches fits a union", &[2]),
    ("big-min-max-items", "lengths of arrays", &[0, 1]),
    ("closed-root-extra-argument", "bounds of numbers", &[2]),
    ("equality-of-numbers-and-booleans", "unique items", &[4, 5]),
    ("integer-takes-1.0", "integers; bounds of numbers", &[0, 3, 4]),
    ("length-in-code-points", "lengths of strings", &[0, 1, 2, 3]),
    ("not-and-if-then-else", "conditions and negations", &[0, 1, 2, 3]),
    ("numeric-limits", "bounds of numbers; integers; multiples", &[0, 1, 2, 3]),
    ("oneof-overlap-is-invalid", "a value of two branches fits a union; bounds of numbers", &[0, 1, 2]),
    ("pattern-ecma-semantics", "patterns", &[0, 1, 2, 3]),
    ("pattern-properties", "bounds of numbers", &[0]),
    ("record-with-property-names", "lengths of names; numbers of members", &[0, 1, 3]),
    ("recursive-root-ref", "lengths of arrays", &[3]),
    ("ref-with-siblings-2020", "lengths of strings; patterns", &[0, 1]),
    (
        "temperature-range",
        "bounds of numbers; integers; lengths of strings; patterns; multiples; unique items",
        &[0, 1, 2, 3, 4, 5],
    ),
    ("type-array-with-keywords-of-many-types", "lengths of strings and arrays", &[0, 1]),
];

#[test]
fn edge_values_type_check_exactly_as_far_as_typescript_can_say() {
    let mut files = json_files(&fixtures().join("schema-edge"));
    files.extend(corpus("schema-edge"));
    let mut sources = BTreeMap::new();
    let mut expected: BTreeMap<String, Vec<(usize, bool, Json)>> = BTreeMap::new();
    for (name, file) in &files {
        let mut source = Source::new();
        source.push(&format!("type T = {}", json_schema_to_ts(file.get("schema").unwrap(), 0)));
        for (key, is_valid) in [("valid", true), ("invalid", false)] {
            for value in file.get(key).unwrap().as_array().unwrap() {
                let line = source.assign("T", value);
                expected.entry(name.clone()).or_default().push((line, is_valid, value.clone()));
            }
        }
        sources.insert(name.clone(), source);
    }
    let Some(errors) = compiler::compile("schema-edge", &sources) else { return };
    let mut problems = Vec::new();
    for (name, values) in &expected {
        let errors = errors.get(name).cloned().unwrap_or_default();
        let mut taken = Vec::new();
        let mut place = 0;
        for (line, is_valid, value) in values {
            match (is_valid, errors.get(line)) {
                (true, Some(error)) => problems.push(format!("{name}: valid {value} is refused: {error}")),
                (false, None) => taken.push(place),
                _ => {}
            }
            place += usize::from(!is_valid);
        }
        let lines: Vec<usize> = values.iter().map(|(line, ..)| *line).collect();
        let other = errors.iter().filter(|(line, _)| !lines.contains(line));
        problems.extend(other.map(|(line, error)| format!("{name}:{line}: {error}")));
        let listed =
            BEYOND_TYPESCRIPT.iter().find(|(file, ..)| file == name).map_or(&[][..], |(.., places)| *places);
        if taken != listed {
            let values: Vec<String> = file_values(&files[name], "invalid", &taken);
            problems.push(format!(
                "{name}: invalid values taken: {taken:?}, listed: {listed:?}: {}",
                values.join(" ")
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn tools_of_real_servers_compile_and_hardly_any_place_is_unknown() {
    let mut sources = BTreeMap::new();
    let (mut nodes, mut unknowns) = (0, Vec::new());
    for (name, file) in real_servers() {
        let tools = tools_of(&file);
        let mut builder = SdkBuilder::new();
        builder.update(&tools);
        for report in builder.reports() {
            for schema in [report.parameters, report.output] {
                nodes += schema.nodes;
                unknowns
                    .extend(schema.unknowns.iter().map(|node| format!("{name}:{} {node:?}", report.name)));
            }
        }
        let mut source = Source::default();
        lexer::check(builder.declarations());
        source.push(builder.declarations());
        source.push("export {}");
        sources.insert(name, source);
    }
    println!("{} servers, {nodes} places for a type, {} unknown", sources.len(), unknowns.len());
    assert!(unknowns.len() * 50 <= nodes, "{unknowns:#?}");
    let Some(errors) = compiler::compile("mcp-tools", &sources) else { return };
    assert_eq!(errors, compiler::Errors::new());
}

#[test]
fn text_is_the_same_for_any_order_of_registration_and_any_history() {
    let servers = real_servers();
    let mut builder = SdkBuilder::new();
    for (name, file) in &servers {
        let mut tools = tools_of(file);
        let expected = sdk_section(&tools);
        shuffle(&mut tools);
        assert_eq!(sdk_section(&tools), expected, "{name}: shuffled");
        builder.update(&tools[tools.len() / 2..]);
        builder.section();
        builder.update(&tools);
        assert_eq!(builder.section(), expected, "{name}: after half of the tools");
    }
    let mut all: Vec<SdkTool<'_>> = servers.values().flat_map(tools_of).collect();
    all.sort_by_key(|tool| tool.name);
    all.dedup_by_key(|tool| tool.name);
    builder.update(&all);
    let expected = builder.declarations();
    shuffle(&mut all);
    assert_eq!(sdk_declarations(&all), expected);
}

/// The `mcp-tools` files of the corpus and those of our own.
fn real_servers() -> BTreeMap<String, Json> {
    let mut files = json_files(&fixtures().join("mcp-tools"));
    files.extend(corpus("mcp-tools"));
    files
}

pub(crate) fn tools_of(file: &Json) -> Vec<SdkTool<'_>> {
    static ANY: std::sync::LazyLock<Json> = std::sync::LazyLock::new(|| json!({}));
    file.as_array()
        .unwrap()
        .iter()
        .map(|tool| SdkTool {
            name: tool.get("name").and_then(Json::as_str).unwrap(),
            description: tool.get("description").and_then(Json::as_str).unwrap_or_default(),
            parameters: tool.get("inputSchema").unwrap_or(&ANY),
            output: tool.get("outputSchema").unwrap_or(&ANY),
        })
        .collect()
}

/// The same disorder every time.
fn shuffle<T>(items: &mut [T]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for place in (1..items.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(place, (state >> 33) as usize % (place + 1));
    }
}

fn file_values(file: &Json, key: &str, places: &[usize]) -> Vec<String> {
    places.iter().map(|place| file.get(key).unwrap().index(*place).unwrap().to_text()).collect()
}

/// The files of a folder of the corpus, by name; none, with a printed line, if it is not there.
pub(crate) fn corpus(folder: &str) -> BTreeMap<String, Json> {
    let root = std::env::var_os("CODE_MODE_CORPUS").map(PathBuf::from);
    let root = root.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"));
    let folder = root.join(folder);
    if !folder.is_dir() {
        println!("no corpus: {} is not there (set CODE_MODE_CORPUS)", folder.display());
        return BTreeMap::new();
    }
    json_files(&folder)
}

/// The project's own files of the same form.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn json_files(folder: &Path) -> BTreeMap<String, Json> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            files.insert(name, Json::parse(&text).unwrap());
        }
    }
    files
}
