//! `CONTRACT.md`, the table of what holds what, is true: every row names tests, and every test that it names exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A row: where its rule stands, and its tests.
struct Row {
    place: String,
    tests: Vec<String>,
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(root().join("tests/CONTRACT.md")).unwrap();
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [rule, behaviour, tests] = cells[..] else { panic!("a row has three cells: {line}") };
        if rule.starts_with("---") || ["contract", "decision"].contains(&rule) {
            continue;
        }
        let tests = tests.split_whitespace().map(|test| test.trim_matches('`').to_owned()).collect();
        rows.push(Row { place: format!("{rule}: {behaviour}"), tests });
    }
    rows
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The names of all functions of a package's Rust files.
fn functions(package: &str) -> BTreeSet<String> {
    let folders = match package.strip_prefix("code-mode-") {
        Some(name) => vec![root().join("crates").join(name)],
        None => ["src", "tests", "examples", "benches"].iter().map(|folder| root().join(folder)).collect(),
    };
    let mut names = BTreeSet::new();
    let mut open = folders;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                names.extend(functions_of(&path));
            }
        }
    }
    names
}

fn functions_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let function = |line: &str| {
        let (_, rest) = line.trim_start().split_once("fn ")?;
        Some(rest.split(|char: char| !(char.is_alphanumeric() || char == '_')).next()?.to_owned())
    };
    text.lines().filter_map(function).collect()
}

#[test]
fn every_row_names_a_test() {
    let rows = rows();
    assert!(rows.len() > 50, "only {} rows were read", rows.len());
    let empty: Vec<String> =
        rows.into_iter().filter(|row| row.tests.is_empty()).map(|row| row.place).collect();
    assert!(empty.is_empty(), "rows without a test: {empty:#?}");
}

#[test]
fn every_test_that_is_named_exists() {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut missing = Vec::new();
    for row in rows() {
        for test in &row.tests {
            let exists = if let Some(folder) = test.strip_prefix("programs/") {
                root().join("tests/programs").join(folder).is_dir()
            } else {
                let (package, name) = (
                    test.split("::").next().unwrap_or_default(),
                    test.rsplit("::").next().unwrap_or_default(),
                );
                let functions = known.entry(package.to_owned()).or_insert_with(|| functions(package));
                functions.contains(name)
            };
            if !exists {
                missing.push(format!("{test} ({})", row.place));
            }
        }
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn every_test_of_this_binary_holds_something_of_the_contract() {
    let named: BTreeSet<String> = rows()
        .into_iter()
        .flat_map(|row| row.tests)
        .filter_map(|test| test.strip_prefix("code-mode::")?.rsplit("::").next().map(str::to_owned))
        .collect();
    let mut unnamed = Vec::new();
    for entry in fs::read_dir(root().join("tests")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let file = path.file_stem().unwrap().to_string_lossy().into_owned();
            let after_attribute = text.split("\n#[test]\n").skip(1);
            let names = after_attribute.filter_map(|rest| rest.split_once("fn ")?.1.split('(').next());
            unnamed.extend(names.filter(|name| !named.contains(*name)).map(|name| format!("{file}::{name}")));
        }
    }
    assert!(unnamed.is_empty(), "tests that no row of CONTRACT.md names: {unnamed:#?}");
}
