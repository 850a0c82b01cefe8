//! The full vocabulary: any JSON Schema, validated by the `jsonschema` crate within guarded depth.

use std::thread;
use std::time::Duration;

use jsonschema::{PatternOptions, Validator};

use self::effort::{Budget, Failure, bounded};
use self::messages::{Violation, describe};
use self::node::Canonical;
use self::repair::{modernize, repair};
use crate::Json;
use crate::violations::Violations;

mod effort;
mod messages;
mod node;
mod repair;
mod spread;

/// Violations that are reported as text, the rest is counted.
pub(crate) const MAX_REPORTED: usize = 10;

/// Schemas that nest deeper are not compiled, because compiling recurses.
const MAX_SCHEMA_DEPTH: usize = 128;

/// So many parts of a schema may be ignored before the whole of it is.
const MAX_REPAIRS: usize = 64;

/// Stack for compiling, which at the permitted depth needs well under a tenth of it.
const COMPILE_STACK_BYTES: usize = 64 << 20;

/// Nested applications of subschemas that any caller's stack can hold: one takes less than 1 KiB in
/// builds without optimization.
const MAX_HOPS_INLINE: usize = 128;

/// Nested applications of subschemas for which a stack is reserved at most.
const MAX_HOPS: usize = 1 << 18;

/// What is reserved for each nested application, and for everything else.
const STACK_BYTES_PER_HOP: usize = 4 << 10;
const STACK_BYTES: usize = 256 << 10;

/// Looks at the value that telling valid from invalid may take, whatever its size, and for each of
/// its nodes.
const MAX_LOOKS: u64 = 10_000_000;
const MAX_LOOKS_PER_NODE: u64 = 200;

/// The same for nodes that are hashed, which `uniqueItems` does once for each array of such that they are in.
const MAX_HASHED: u64 = 5_000_000;
const MAX_HASHED_PER_NODE: u64 = 20;

/// Looks that finding out what exactly is wrong may take, divided by the value's depth: every error
/// holds its paths, and so their number times the depth is what memory they take.
const MAX_LOOKS_FOR_ERRORS: u64 = 2_000_000;

/// Looks at each node that finding the first error may take beyond that.
const MAX_LOOKS_FOR_FIRST_ERROR_PER_NODE: u64 = 20;

/// Schemas that may apply to one value at once. A look counts once for every so many of them, because not each of them
/// looks at the value.
const MAX_SPREAD: u64 = 1_000_000;
const SPREAD_PER_LOOK: u64 = 1_000;

/// Steps back that one pattern may take on one text.
const MAX_BACKTRACKS: usize = 250_000;

/// Where there are patterns: the time for telling valid from invalid, and for finding out what is wrong. One text that
/// is being looked at is looked at to its end.
const MAX_TIME: Duration = Duration::from_secs(2);
const MAX_TIME_FOR_ERRORS: Duration = Duration::from_millis(500);

/// Above this product of a value's size and depth only the first error is looked for.
const MAX_EXAMINED: usize = 1_000_000;

/// A compiled schema of the full vocabulary.
pub(crate) struct FullValidator {
    validator: Validator<Canonical>,
    reach: Reach,
    /// What a look counts.
    weight: u64,
}

/// What came of compiling a schema.
pub(crate) struct Compiled {
    /// Nothing if the schema could not be compiled at all.
    pub(crate) validator: Option<FullValidator>,
    /// What of the schema is not enforced, and why.
    pub(crate) warnings: Vec<String>,
}

/// Compiles `document`. Parts that cannot be compiled are left out with a warning.
pub(crate) fn compile(document: &Json) -> Compiled {
    let failed = |reason: &str| Compiled {
        validator: None,
        warnings: vec![format!("the schema cannot be compiled: {reason}")],
    };
    if document.is_deeper_than(MAX_SCHEMA_DEPTH) {
        return failed(&format!("it nests deeper than {MAX_SCHEMA_DEPTH} levels"));
    }
    let spread = spread::of(document);
    if spread > MAX_SPREAD {
        return failed(&format!(
            "more than {MAX_SPREAD} schemas apply to one value, because references multiply"
        ));
    }
    match with_stack(COMPILE_STACK_BYTES, || build(document)) {
        Ok(Ok((validator, warnings))) => {
            let weight = 1 + spread / SPREAD_PER_LOOK;
            let validator = FullValidator { validator, reach: Reach::of(document), weight };
            Compiled { validator: Some(validator), warnings }
        }
        Ok(Err(reason)) | Err(reason) => failed(&reason),
    }
}

fn build(document: &Json) -> Result<(Validator<Canonical>, Vec<String>), String> {
    let mut schema = document.to_serde_json().map_err(|error| error.to_string())?;
    let mut warnings = Vec::new();
    modernize(&mut schema);
    loop {
        let options = jsonschema::options_for::<Canonical>()
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS))
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json");
        let error = match options.build(&schema) {
            Ok(validator) => return Ok((validator, warnings)),
            Err(error) => error,
        };
        match repair(&mut schema, &error) {
            Some(warning) if warnings.len() < MAX_REPAIRS => warnings.push(warning),
            _ => return Err(messages::shortened(&error.to_string())),
        }
    }
}

impl FullValidator {
    /// Validates `value`; `label` names the root.
    pub(crate) fn validate(&self, value: &Json, label: &str) -> Vec<String> {
        let extent = Extent::of(value);
        let hops = self.reach.hops(extent.depth);
        let outcome = if hops <= MAX_HOPS_INLINE {
            self.violations(value, label, extent)
        } else if hops <= MAX_HOPS {
            let stack_bytes = STACK_BYTES + hops * STACK_BYTES_PER_HOP;
            with_stack(stack_bytes, || self.violations(value, label, extent)).and_then(|done| done)
        } else {
            Err("it is nested too deeply".to_owned())
        };
        outcome.unwrap_or_else(|reason| {
            let root = if label.is_empty() { "arguments" } else { label };
            vec![format!("\"{root}\" cannot be validated: {reason}")]
        })
    }

    fn violations(&self, value: &Json, label: &str, extent: Extent) -> Result<Vec<String>, String> {
        let looks = MAX_LOOKS + MAX_LOOKS_PER_NODE * extent.nodes as u64;
        match bounded(self.budget(looks, MAX_TIME, extent), || self.validator.is_valid(value)) {
            Ok(true) => Ok(Vec::new()),
            Ok(false) => Ok(self.explain(value, label, extent)),
            Err(Failure::TooLong) => Err("it takes too long".to_owned()),
            Err(Failure::Panicked) => Err(PANICKED.to_owned()),
        }
    }

    fn budget(&self, looks: u64, time: Duration, extent: Extent) -> Budget {
        let hashed = MAX_HASHED + MAX_HASHED_PER_NODE * extent.nodes as u64;
        Budget { looks, weight: self.weight, hashed, time: self.reach.has_patterns.then_some(time) }
    }

    /// Says what is wrong with `value`, which is not valid, as exactly as the effort permits.
    fn explain(&self, value: &Json, label: &str, extent: Extent) -> Vec<String> {
        let levels = extent.depth as u64 + 1;
        let looks_for_all = MAX_LOOKS_FOR_ERRORS / levels;
        let looks_for_first =
            looks_for_all + MAX_LOOKS_FOR_FIRST_ERROR_PER_NODE * extent.nodes as u64 / levels;
        let all = || texts(describe(self.validator.iter_errors(value), value, label));
        let first = || texts(describe(self.validator.validate(value).err(), value, label));
        let mut found = Vec::new();
        if extent.nodes.saturating_mul(extent.depth + 1) <= MAX_EXAMINED {
            found = bounded(self.budget(looks_for_all, MAX_TIME_FOR_ERRORS, extent), all).unwrap_or_default();
        }
        if found.is_empty() {
            found =
                bounded(self.budget(looks_for_first, MAX_TIME_FOR_ERRORS, extent), first).unwrap_or_default();
        }
        if found.is_empty() {
            let root = if label.is_empty() { "arguments" } else { label };
            found.push(format!("\"{root}\" must match its schema"));
        }
        found
    }
}

fn texts(described: Vec<Violation>) -> Vec<String> {
    let mut violations = Violations::at_most(MAX_REPORTED);
    for violation in described {
        violations.push(|| violation.text);
    }
    violations.into_texts()
}

const PANICKED: &str = "the validator failed";

/// Runs `work` on a thread of its own with so much stack, of which the system commits only what is
/// used.
fn with_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| format!("no thread with enough stack: {error}"))?;
        thread.join().map_err(|_| PANICKED.to_owned())
    })
}

/// How far validation can recurse through a schema.
#[derive(Clone, Copy, Debug)]
struct Reach {
    depth: usize,
    references: usize,
    /// Subschemas that apply to the same value as the schema they are in, references included.
    in_place: usize,
    has_patterns: bool,
}

impl Reach {
    fn of(schema: &Json) -> Reach {
        let mut reach = Reach { depth: 0, references: 0, in_place: 0, has_patterns: false };
        let mut pending = vec![(schema, 1)];
        while let Some((schema, depth)) = pending.pop() {
            reach.depth = reach.depth.max(depth);
            match schema {
                Json::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
                Json::Object(members) => {
                    for (key, member) in members {
                        reach.count(key, member);
                        pending.push((member, depth + 1));
                    }
                }
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
            }
        }
        reach
    }

    fn count(&mut self, key: &str, member: &Json) {
        match key {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                self.references += 1;
                self.in_place += 1;
            }
            "allOf" | "anyOf" | "oneOf" => {
                self.in_place += member.as_array().map_or(1, |branches| branches.len());
            }
            "dependentSchemas" | "dependencies" => {
                self.in_place += member.as_object().map_or(1, crate::Object::len);
            }
            "not" | "if" | "then" | "else" => self.in_place += 1,
            "pattern" | "patternProperties" => self.has_patterns = true,
            _ => {}
        }
    }

    /// How many subschemas can be open at once when validating a value of this depth.
    ///
    /// Without references each is inside the one before. With references, each can occur once at
    /// every level of the value, since the validator cuts cycles that stay on one value.
    fn hops(self, value_depth: usize) -> usize {
        if self.references == 0 {
            return self.depth;
        }
        (value_depth + 1).saturating_mul(self.in_place + 1)
    }
}

/// How large and how deep a value is.
#[derive(Clone, Copy, Debug)]
struct Extent {
    nodes: usize,
    depth: usize,
}

impl Extent {
    fn of(value: &Json) -> Extent {
        let mut extent = Extent { nodes: 1, depth: 0 };
        let mut pending = vec![(value, 0)];
        while let Some((value, depth)) = pending.pop() {
            let length = match value {
                Json::Array(items) => {
                    let inside = items.iter().filter(|item| item.is_container());
                    pending.extend(inside.map(|item| (item, depth + 1)));
                    items.len()
                }
                Json::Object(members) => {
                    let inside = members.values().filter(|member| member.is_container());
                    pending.extend(inside.map(|member| (member, depth + 1)));
                    members.len()
                }
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => continue,
            };
            extent.nodes += length;
            extent.depth = extent.depth.max(depth + 1);
        }
        extent
    }
}
