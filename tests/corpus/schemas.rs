//! Judges `schema-edge`: which values a schema takes, as the validator has it and as TypeScript has it.

use std::collections::BTreeMap;
use std::path::Path;

use code_mode::{Json, Schema, json_schema_to_ts};

use crate::Tally;
use crate::arguments::Arguments;
use crate::beyond;
use crate::compiler::{self, Source};
use crate::files::{self, File};
use crate::judge::Verdict;

/// # Errors
/// If the folder cannot be read.
pub(crate) fn judge(folder: &Path, arguments: &Arguments, tally: &mut Tally) -> Result<(), String> {
    let files = files::in_folder(folder, arguments)?;
    let mut sources = BTreeMap::new();
    let mut cases = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let mut case = Case::of(file);
        if let Ok(case) = &mut case {
            sources.insert(source_name(place), case.source());
        }
        cases.push(case);
    }
    let mut compiled = compiler::compile("corpus-schema-edge", &sources);
    for (place, (file, case)) in files.iter().zip(cases).enumerate() {
        print!("{}: ", file.name);
        let (differences, beyond) = match case {
            Err(problem) => (vec![problem], Vec::new()),
            Ok(case) => {
                let refusals =
                    compiled.as_mut().map(|errors| errors.remove(&source_name(place)).unwrap_or_default());
                case.judge(refusals)
            }
        };
        let remark = match beyond.len() {
            0 => String::new(),
            count => format!("{count} invalid beyond TypeScript ({})", beyond::joined(beyond)),
        };
        tally.add(&file.name, Verdict::of(differences), remark);
        if let (true, Ok(value)) = (arguments.show, &file.value) {
            println!("{}\n", json_schema_to_ts(value.get("schema").unwrap_or(&Json::Null), 0));
        }
    }
    Ok(())
}

/// Names of files can be anything; those of the compiler's are ours.
fn source_name(place: usize) -> String {
    format!("schema{place}")
}

/// A schema, and values that it takes and refuses.
struct Case<'a> {
    schema: &'a Json,
    valid: &'a [Json],
    invalid: &'a [Json],
    /// The lines of the source that they stand on, in this order.
    lines: Vec<usize>,
}

impl<'a> Case<'a> {
    fn of(file: &'a File) -> Result<Self, String> {
        let value = file.value.as_ref().map_err(Clone::clone)?;
        let member = |key: &str| value.get(key).ok_or_else(|| format!("there is no {key:?}"));
        let list = |key: &str| {
            let list = member(key)?.as_array().ok_or_else(|| format!("{key:?} must be an array"))?;
            Ok::<&[Json], String>(list)
        };
        Ok(Case {
            schema: member("schema")?,
            valid: list("valid")?,
            invalid: list("invalid")?,
            lines: Vec::new(),
        })
    }

    /// The type, and a line for each value that says it is of the type.
    fn source(&mut self) -> Source {
        let mut source = Source::new();
        source.push(&format!("type T = {}", json_schema_to_ts(self.schema, 0)));
        let values = self.valid.iter().chain(self.invalid);
        self.lines = values.map(|value| source.assign("T", value)).collect();
        source
    }

    /// How this differs from what is expected, and why values fit the type that should not.
    ///
    /// `refusals` are what the compiler says, by line; nothing if there is no compiler.
    fn judge(&self, refusals: Option<BTreeMap<usize, String>>) -> (Vec<String>, Vec<&'static str>) {
        let mut differences = self.judge_values();
        let mut beyond = Vec::new();
        let Some(mut refusals) = refusals else { return (differences, beyond) };
        let (valid, invalid) = self.lines.split_at(self.valid.len());
        for (value, line) in self.valid.iter().zip(valid) {
            if let Some(error) = refusals.remove(line) {
                differences.push(format!("valid {value} is not of the type: {error}"));
            }
        }
        for (value, line) in self.invalid.iter().zip(invalid) {
            if refusals.remove(line).is_none() {
                match beyond::reason(self.schema, value) {
                    Some(reason) => beyond.push(reason),
                    None => differences.push(format!("invalid {value} is of the type")),
                }
            }
        }
        differences.extend(refusals.into_values().map(|error| format!("the type does not compile: {error}")));
        (differences, beyond)
    }

    /// What the validator says.
    fn judge_values(&self) -> Vec<String> {
        let validator = Schema::full(self.schema.clone());
        let mut differences = Vec::new();
        for value in self.valid {
            let violations = validator.validate(value, "value");
            if !violations.is_empty() {
                differences.push(format!("valid {value} is refused: {}", violations.join(", ")));
            }
        }
        for value in self.invalid {
            let violations = validator.validate(value, "value");
            if violations.is_empty() {
                differences.push(format!("invalid {value} is accepted"));
            } else if !violations.iter().any(|text| text.contains("\"value")) {
                let violations = violations.join(", ");
                differences.push(format!("invalid {value} is refused without a path: {violations}"));
            }
        }
        differences
    }
}
