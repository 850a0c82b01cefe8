//! Descriptions and constraints: what a doc comment says of a member. It adds nothing to the type.

use code_mode_schema::{Json, Object, write_number};

use crate::comments;
use crate::lower::{Lowering, SchemaId};
use crate::print::NAME_MARK;

/// Patterns longer than this are left out.
const MAX_PATTERN_BYTES: usize = 60;

/// Defaults and examples whose JSON is longer than this are left out.
const MAX_VALUE_BYTES: usize = 40;

/// So many schemas are looked through for a description: the member's, what it refers to, and so on.
const MAX_HOPS: usize = 4;

/// The doc comment of a member: its description, then its constraints in parentheses.
///
/// `None` if there is neither. A description is taken from the member's own schema, else from the
/// one branch that is not `null`; constraints also from the definition it refers to.
pub(crate) fn member_doc(ctx: &mut Lowering<'_>, schemas: &[SchemaId]) -> Option<Box<str>> {
    let mut notes = Notes::default();
    let mut pending: Vec<(SchemaId, bool)> = schemas.iter().rev().map(|schema| (*schema, true)).collect();
    let mut hops = schemas.len() + MAX_HOPS;
    while let Some((schema, is_own)) = pending.pop() {
        let Some(keywords) = ctx.schema(schema).as_object() else { continue };
        notes.read(keywords, is_own);
        if hops == 0 {
            break;
        }
        hops -= 1;
        if let Some(target) =
            ctx.assertions(schema).reference.plain.and_then(|text| ctx.referenced(schema, text))
        {
            pending.push((target, false));
        }
        if let Some(branch) = ctx.only_branch(schema) {
            pending.push((branch, is_own));
        }
    }
    notes.into_doc()
}

/// The doc comment of a definition.
pub(crate) fn definition_doc(schema: &Json) -> Option<Box<str>> {
    let description = schema.get("description").and_then(Json::as_str)?;
    let mut doc = String::new();
    write_unmarked(description, &mut doc);
    (!doc.is_empty()).then(|| doc.into())
}

/// Writes a description without the character that encloses the numbers of types.
///
/// It goes first: what stood around it could close the comment once it is gone.
fn write_unmarked(description: &str, doc: &mut String) -> bool {
    if description.contains(NAME_MARK) {
        comments::write_description(&description.replace(NAME_MARK, ""), doc)
    } else {
        comments::write_description(description, doc)
    }
}

#[derive(Default)]
struct Notes<'a> {
    description: Option<&'a str>,
    constraints: Vec<String>,
    example: Option<&'a Json>,
}

impl<'a> Notes<'a> {
    fn read(&mut self, keywords: &'a Object, is_own: bool) {
        let (mut numbers, mut lengths, mut items, mut keys) = <(Bounds, Bounds, Bounds, Bounds)>::default();
        let (mut format, mut step, mut pattern, mut default) = (None, None, None, None);
        let (mut is_unsigned, mut is_unique, mut is_deprecated) = (false, false, false);
        for (keyword, value) in keywords {
            match keyword {
                "description" if is_own && self.description.is_none() => {
                    self.description = value.as_str().filter(|text| !text.is_empty());
                }
                "examples" if is_own && self.example.is_none() => self.example = value.index(0),
                "format" => {
                    let name = value.as_str();
                    is_unsigned = name.is_some_and(|name| name.starts_with("uint"));
                    format = name.filter(|name| is_telling(name));
                }
                "minimum" => numbers.min = value.as_f64(),
                "exclusiveMinimum" => numbers.above = value.as_f64(),
                "maximum" => numbers.max = value.as_f64(),
                "exclusiveMaximum" => numbers.below = value.as_f64(),
                "multipleOf" => step = value.as_f64(),
                "minLength" => lengths.min = value.as_f64(),
                "maxLength" => lengths.max = value.as_f64(),
                "pattern" => {
                    pattern = value.as_str().filter(|text| (1..=MAX_PATTERN_BYTES).contains(&text.len()));
                }
                "minItems" => items.min = value.as_f64(),
                "maxItems" => items.max = value.as_f64(),
                "minProperties" => keys.min = value.as_f64(),
                "maxProperties" => keys.max = value.as_f64(),
                "uniqueItems" => is_unique = value.as_bool() == Some(true),
                "deprecated" => is_deprecated = value.as_bool() == Some(true),
                "default" => default = value_text(value),
                _ => {}
            }
        }
        if is_unsigned && (numbers.min, numbers.max, numbers.below) == (Some(0.0), None, None) {
            // Every unsigned type of a typed tool says so; of a count, a size or a place it goes without saying.
            numbers.min = None;
        }
        self.add(format.map(str::to_owned));
        self.add(range(numbers));
        self.add(step.map(|step| format!("multiple of {}", number_text(step))));
        self.add(length(lengths, "chars"));
        self.add(pattern.map(|text| format!("/{text}/")));
        self.add(length(items, "items"));
        self.add(length(keys, "keys"));
        self.add(is_unique.then(|| "unique".to_owned()));
        self.add(is_deprecated.then(|| "deprecated".to_owned()));
        self.add(default.map(|value| format!("default {value}")));
    }

    fn add(&mut self, constraint: Option<String>) {
        if let Some(constraint) = constraint.filter(|constraint| !self.constraints.contains(constraint)) {
            self.constraints.push(constraint);
        }
    }

    fn into_doc(mut self) -> Option<Box<str>> {
        let mut doc = String::new();
        let is_described = write_unmarked(self.description.unwrap_or_default(), &mut doc);
        if !is_described {
            let example = self.example.and_then(value_text);
            self.add(example.map(|example| format!("e.g. {example}")));
        } else if !self.constraints.is_empty() {
            let lower_case = doc.to_ascii_lowercase();
            self.constraints.retain(|constraint| !is_said_already(&lower_case, constraint));
        }
        if !self.constraints.is_empty() {
            doc.push_str(if is_described { " (" } else { "" });
            write_unmarked(&self.constraints.join(", "), &mut doc);
            doc.push_str(if is_described { ")" } else { "" });
        }
        (!doc.is_empty()).then(|| doc.into())
    }
}

/// The bounds of a number or of a count.
#[derive(Clone, Copy, Default)]
struct Bounds {
    min: Option<f64>,
    above: Option<f64>,
    max: Option<f64>,
    below: Option<f64>,
}

/// Whether a description (in lower case) speaks of the same thing, so that the constraint would only repeat it.
fn is_said_already(description: &str, constraint: &str) -> bool {
    if constraint.starts_with("default ") {
        return description.contains("default");
    }
    let is_bound =
        constraint.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '<' | '>' | '-'));
    if is_bound {
        return numbers(constraint).all(|bound| numbers(description).any(|number| number == bound));
    }
    description.contains(&constraint.to_ascii_lowercase())
}

/// The runs of digits in a text.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_digit()).filter(|run| !run.is_empty())
}

/// Whether a format says something to a reader: those that only name a machine type do not.
fn is_telling(format: &str) -> bool {
    !matches!(
        format,
        "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "float" | "double" | "string"
    ) && format.len() <= 24
}

/// `1..10`, `>= 1`, `< 10`. Bounds that every safe integer fits are left out.
fn range(Bounds { min, above, max, below }: Bounds) -> Option<String> {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    let lower = match (min.filter(|min| *min > -SAFE), above) {
        (_, Some(above)) => Some((">", above)),
        (min, None) => min.map(|min| (">=", min)),
    };
    let upper = match (max.filter(|max| *max < SAFE), below) {
        (_, Some(below)) => Some(("<", below)),
        (max, None) => max.map(|max| ("<=", max)),
    };
    match (lower, upper) {
        (None, None) => None,
        (Some((">=", min)), Some(("<=", max))) => Some(format!("{}..{}", number_text(min), number_text(max))),
        (lower, upper) => {
            let sides = lower.into_iter().chain(upper);
            let sides: Vec<String> =
                sides.map(|(sign, bound)| format!("{sign} {}", number_text(bound))).collect();
            Some(sides.join(", "))
        }
    }
}

/// `1..50 chars`, `<= 50 chars`, `non-empty`.
fn length(bounds: Bounds, unit: &str) -> Option<String> {
    let min = bounds.min.filter(|min| *min > 0.0);
    match (min, bounds.max) {
        (None, None) => None,
        (Some(1.0), None) => Some("non-empty".to_owned()),
        (Some(min), Some(max)) if min == max => Some(format!(
            "{} {}",
            number_text(min),
            if min == 1.0 { unit.trim_end_matches('s') } else { unit }
        )),
        _ => range(Bounds { min, ..bounds }).map(|range| format!("{range} {unit}")),
    }
}

fn number_text(number: f64) -> String {
    let mut text = String::new();
    write_number(number, &mut text);
    text
}

/// A value short enough for a comment; empty ones and `null` say nothing.
fn value_text(value: &Json) -> Option<String> {
    let is_telling = match value {
        Json::Null => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
        Json::Bool(_) | Json::Number(_) => true,
    };
    (is_telling && value.text_len() <= MAX_VALUE_BYTES).then(|| value.to_text())
}
