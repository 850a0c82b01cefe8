//! One file of cases a keyword family: the exact text, what is unknown and why, and which values
//! the compiler takes.
//!
//! `invalid` values break the schema; those at the places in `taken` fit the type all the same,
//! because TypeScript cannot say what they break.

use std::collections::BTreeMap;
use std::path::Path;

use code_mode_codegen::{json_schema_to_ts, render};
use code_mode_schema::Json;

use crate::compiler::{self, Source};

const FAMILIES: [&str; 9] =
    ["kinds", "literals", "object", "keys", "array", "combine", "negate", "reference", "notes"];

#[test]
fn cases_print_as_expected() {
    each_case(|family, case| {
        let schema = case.get("schema").unwrap();
        let context = format!("{family}: {}", says(case));
        assert_eq!(Json::from(json_schema_to_ts(schema, 0)), *case.get("type").unwrap(), "{context}");
        let unknowns = render(schema, 0).unknowns;
        let unknowns: Vec<Json> =
            unknowns.iter().map(|node| format!("{}: {}", node.pointer, node.reason).into()).collect();
        assert_eq!(unknowns, case.get("unknown").map_or(&[][..], list), "{context}");
    });
}

#[test]
fn cases_take_and_refuse_values_as_expected() {
    let mut sources = BTreeMap::new();
    let mut expected = Vec::new();
    each_case(|family, case| {
        let name = format!("{family}-{}", sources.len());
        let mut source = Source::new();
        source.push(&format!("type T = {}", case.get("type").unwrap().as_str().unwrap()));
        for value in list(case.get("valid").unwrap()) {
            expected.push((
                name.clone(),
                source.assign("T", value),
                true,
                format!("{family}: {}: {value}", says(case)),
            ));
        }
        for (place, value) in list(case.get("invalid").unwrap()).iter().enumerate() {
            let taken = case.get("taken").map_or(&[][..], list);
            let is_taken = taken.iter().any(|taken| taken.as_i64() == i64::try_from(place).ok());
            let context = format!("{family}: {}: {value}", says(case));
            expected.push((name.clone(), source.assign("T", value), is_taken, context));
        }
        sources.insert(name, source);
    });
    let Some(mut errors) = compiler::compile("keywords", &sources) else { return };
    let mut problems = Vec::new();
    for (name, line, fits, context) in expected {
        match (fits, errors.get_mut(&name).and_then(|errors| errors.remove(&line))) {
            (true, Some(error)) => problems.push(format!("{context} is refused: {error}")),
            (false, None) => problems.push(format!("{context} is taken")),
            _ => {}
        }
    }
    errors.retain(|_, errors| !errors.is_empty());
    assert!(problems.is_empty() && errors.is_empty(), "{}\n{errors:#?}", problems.join("\n"));
}

fn each_case(mut judge: impl FnMut(&str, &Json)) {
    for family in FAMILIES {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/keywords/{family}.json"));
        let cases = Json::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        list(&cases).iter().for_each(|case| judge(family, case));
    }
}

fn list(value: &Json) -> &[Json] {
    value.as_array().unwrap()
}

fn says(case: &Json) -> &str {
    case.get("says").and_then(Json::as_str).unwrap()
}
