//! Violations of the full vocabulary in the words of the subset: `"<path>" must be …`.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

use crate::Json;
use crate::json::Path;

/// Longer lists of allowed values are cut.
const MAX_LISTED_BYTES: usize = 1_000;

/// A violation with its place in the order of the contract: of one value first what is wrong with it
/// itself, then missing members, then what is wrong inside in the order of the value, then members
/// that are not declared.
pub(super) struct Violation {
    place: Vec<(Rank, usize)>,
    pub(super) text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Itself,
    Missing,
    Inside,
    Undeclared,
}

/// Describes `errors`, which are about parts of `root`, whose name is `label`, in order.
pub(super) fn describe<'i>(
    errors: impl IntoIterator<Item = ValidationError<'i>>,
    root: &Json,
    label: &str,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for error in errors {
        describe_error(&error, root, label, &mut violations);
    }
    violations.sort_by(|left, right| left.place.cmp(&right.place));
    violations
}

/// Describes one error. Where several schemas were to choose from and all but one are of another
/// kind, what is wrong by that one is described instead of the choice.
fn describe_error(error: &ValidationError<'_>, root: &Json, label: &str, violations: &mut Vec<Violation>) {
    let mut pending: Vec<Failure<'_>> = vec![Failure::of(error)];
    while let Some(failure) = pending.pop() {
        let chosen = match failure.kind {
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                the_one_meant(context, failure.pointer)
            }
            _ => None,
        };
        match chosen {
            Some(errors) => pending.extend(errors.iter().rev().map(Failure::of)),
            None => describe_one(&failure, &Spot::of(failure.pointer, root, label), violations),
        }
    }
}

/// At most so much of a text that comes from a schema.
pub(super) fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The parts of an error that count, whatever it borrows.
struct Failure<'e> {
    kind: &'e ValidationErrorKind,
    pointer: &'e str,
    /// Where in the schema the keyword is that failed.
    keyword: &'e str,
    /// The library's own words, for kinds we have none for.
    masked: Box<dyn Fn() -> String + 'e>,
}

impl<'e> Failure<'e> {
    fn of<'i: 'e>(error: &'e ValidationError<'i>) -> Failure<'e> {
        Failure {
            kind: error.kind(),
            pointer: error.instance_path().as_str(),
            keyword: error.schema_path().as_str(),
            masked: Box::new(|| error.masked().to_string()),
        }
    }
}

fn describe_one(failure: &Failure<'_>, spot: &Spot<'_>, violations: &mut Vec<Violation>) {
    let mut push = |rank, order, text| {
        let mut place = spot.place.clone();
        place.push((rank, order));
        violations.push(Violation { place, text });
    };
    let member = |name: &str| spot.path.clone().key(name);
    // Where no property at all is declared, the library reports the object and not its members.
    let all_undeclared = match (failure.kind, spot.value) {
        (ValidationErrorKind::FalseSchema, Some(Json::Object(object)))
            if failure.keyword.ends_with("/additionalProperties") =>
        {
            Some(object)
        }
        _ => None,
    };
    for (order, name) in all_undeclared.into_iter().flat_map(crate::Object::keys).enumerate() {
        push(Rank::Undeclared, order, undeclared(&member(name), "additionalProperties: false"));
    }
    match failure.kind {
        _ if all_undeclared.is_some() => {}
        ValidationErrorKind::Required { property } => {
            let path = member(property.as_str().unwrap_or_default());
            push(Rank::Missing, 0, format!("missing required property \"{path}\""));
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            for name in unexpected {
                let text = undeclared(&member(name), "additionalProperties: false");
                push(Rank::Undeclared, spot.order_of(name), text);
            }
        }
        ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                let text = undeclared(&member(name), "unevaluatedProperties");
                push(Rank::Undeclared, spot.order_of(name), text);
            }
        }
        ValidationErrorKind::PropertyNames { error } => {
            let name = error.instance().as_str().unwrap_or_default();
            let fault = predicate(&Failure::of(error));
            let text = format!("\"{}\" is a property whose name {fault}", member(name));
            push(Rank::Inside, spot.order_of(name), text);
        }
        _ => {
            let path = spot.path.as_str();
            let root = if path.is_empty() { "arguments" } else { path };
            push(Rank::Itself, 0, format!("\"{root}\" {}", predicate(failure)));
        }
    }
}

fn undeclared(path: &Path, keyword: &str) -> String {
    format!("\"{path}\" is not a declared property ({keyword})")
}

/// The rest of the sentence that starts with the path.
fn predicate(failure: &Failure<'_>) -> String {
    match failure.kind {
        ValidationErrorKind::Type { kind } => format!("must be {}", types(type_set(kind))),
        ValidationErrorKind::Enum { options } => format!("must be one of {}", listed(options)),
        ValidationErrorKind::Constant { expected_value } => {
            format!("must be {}", listed(expected_value))
        }
        ValidationErrorKind::FalseSchema => "must not be present".to_owned(),
        ValidationErrorKind::Minimum { limit } => format!("must be at least {}", text(limit)),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {}", text(limit)),
        ValidationErrorKind::ExclusiveMinimum { limit } => {
            format!("must be greater than {}", text(limit))
        }
        ValidationErrorKind::ExclusiveMaximum { limit } => {
            format!("must be less than {}", text(limit))
        }
        ValidationErrorKind::MultipleOf { multiple_of } => {
            format!("must be a multiple of {}", text(&Value::from(*multiple_of)))
        }
        ValidationErrorKind::MinLength { limit } => {
            format!("must have at least {}", count(*limit, "character", "characters"))
        }
        ValidationErrorKind::MaxLength { limit } => {
            format!("must have at most {}", count(*limit, "character", "characters"))
        }
        ValidationErrorKind::MinItems { limit } => {
            format!("must have at least {}", count(*limit, "item", "items"))
        }
        ValidationErrorKind::MaxItems { limit } => {
            format!("must have at most {}", count(*limit, "item", "items"))
        }
        ValidationErrorKind::AdditionalItems { limit } => {
            format!("must have at most {}", count(*limit as u64, "item", "items"))
        }
        ValidationErrorKind::UnevaluatedItems { .. } => {
            "must not have items beyond those declared (unevaluatedItems)".to_owned()
        }
        ValidationErrorKind::MinProperties { limit } => {
            format!("must have at least {}", count(*limit, "property", "properties"))
        }
        ValidationErrorKind::MaxProperties { limit } => {
            format!("must have at most {}", count(*limit, "property", "properties"))
        }
        ValidationErrorKind::Pattern { pattern } => {
            format!("must match the pattern {}", shortened(pattern))
        }
        ValidationErrorKind::UniqueItems => "must not have equal items".to_owned(),
        ValidationErrorKind::Contains => {
            "must contain as many matching items as its schema asks for (contains)".to_owned()
        }
        ValidationErrorKind::AnyOf { context } => match common_types(context, failure.pointer) {
            Some(all) => format!("must be {}", types(all)),
            None => "must match at least one anyOf branch".to_owned(),
        },
        ValidationErrorKind::OneOfNotValid { context } => match common_types(context, failure.pointer) {
            Some(all) => format!("must be {}", types(all)),
            None => "must match exactly one oneOf branch (matched 0)".to_owned(),
        },
        ValidationErrorKind::OneOfMultipleValid { context } => {
            let matched = context.iter().filter(|errors| errors.is_empty()).count();
            format!("must match exactly one oneOf branch (matched {matched})")
        }
        ValidationErrorKind::Not { .. } => "must not match the schema under not".to_owned(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. } => {
            "cannot be checked: its pattern takes too long".to_owned()
        }
        _ => format!("is not valid: {}", shortened(&(failure.masked)())),
    }
}

/// Of the branches that all failed, the only one whose failure is not that the value is of another
/// kind altogether: another type, or another tag.
fn the_one_meant<'e>(
    branches: &'e [Vec<ValidationError<'static>>],
    here: &str,
) -> Option<&'e [ValidationError<'static>]> {
    let mut meant = branches
        .iter()
        .filter(|errors| !errors.is_empty() && !errors.iter().any(|error| is_other_kind(error, here)));
    match (meant.next(), meant.next()) {
        (Some(errors), None) => Some(errors),
        _ => None,
    }
}

fn is_other_kind(error: &ValidationError<'static>, here: &str) -> bool {
    let below = error.instance_path().as_str().strip_prefix(here).unwrap_or_default();
    match error.kind() {
        ValidationErrorKind::Type { .. } | ValidationErrorKind::FalseSchema => below.is_empty(),
        ValidationErrorKind::Constant { .. } => below.matches('/').count() <= 1,
        ValidationErrorKind::Enum { options } => {
            let is_tag = options.as_array().is_some_and(|options| options.len() == 1);
            below.is_empty() || is_tag && below.matches('/').count() <= 1
        }
        _ => false,
    }
}

/// The types of the branches, if no branch asks for anything but a type.
fn common_types(branches: &[Vec<ValidationError<'static>>], here: &str) -> Option<JsonTypeSet> {
    let mut all = JsonTypeSet::empty();
    for errors in branches {
        match errors.as_slice() {
            [error] if error.instance_path().as_str() == here => match error.kind() {
                ValidationErrorKind::Type { kind } => {
                    all = type_set(kind).iter().fold(all, JsonTypeSet::insert);
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(all)
}

fn type_set(kind: &TypeKind) -> JsonTypeSet {
    match kind {
        TypeKind::Single(one) => JsonTypeSet::empty().insert(*one),
        TypeKind::Multiple(several) => *several,
    }
}

fn types(set: JsonTypeSet) -> String {
    const NAMES: [(JsonType, &str); 7] = [
        (JsonType::String, "a string"),
        (JsonType::Number, "a number"),
        (JsonType::Integer, "an integer"),
        (JsonType::Boolean, "a boolean"),
        (JsonType::Object, "an object"),
        (JsonType::Array, "an array"),
        (JsonType::Null, "null"),
    ];
    let is_named =
        |one: JsonType| set.contains(one) && !(one == JsonType::Integer && set.contains(JsonType::Number));
    let names: Vec<&str> =
        NAMES.into_iter().filter(|(one, _)| is_named(*one)).map(|(_, name)| name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => "absent".to_owned(),
    }
}

fn count(limit: u64, one: &str, many: &str) -> String {
    format!("{limit} {}", if limit == 1 { one } else { many })
}

/// Values that are allowed, cut when there are very many.
fn listed(value: &Value) -> String {
    let all = text(value);
    match value.as_array() {
        Some(values) if all.len() > MAX_LISTED_BYTES => {
            let mut listed = String::from("[");
            let mut shown = 0;
            for value in values {
                let next = text(value);
                if listed.len() + next.len() > MAX_LISTED_BYTES {
                    break;
                }
                listed.push_str(&next);
                listed.push(',');
                shown += 1;
            }
            format!("{listed}… {} more]", values.len() - shown)
        }
        _ => shortened(&all),
    }
}

/// JSON text as JavaScript writes it.
fn text(value: &Value) -> String {
    match Json::try_from(value) {
        Ok(value) => value.to_text(),
        Err(_) => value.to_string(),
    }
}

/// What a pointer points to.
struct Spot<'v> {
    path: Path,
    place: Vec<(Rank, usize)>,
    value: Option<&'v Json>,
}

impl<'v> Spot<'v> {
    /// Follows `pointer` through `root`; the values on the way tell indices from names.
    fn of(pointer: &str, root: &'v Json, label: &str) -> Spot<'v> {
        let mut spot = Spot { path: Path::root(label), place: Vec::new(), value: Some(root) };
        for segment in pointer.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let index = segment.parse().ok();
            match (spot.value, index) {
                (Some(Json::Array(items)), Some(index)) => {
                    spot.path.push_index(index);
                    spot.place.push((Rank::Inside, index));
                    spot.value = items.get(index);
                }
                _ => {
                    spot.path.push_key(&segment);
                    spot.place.push((Rank::Inside, spot.order_of(&segment)));
                    spot.value = spot.value.and_then(|value| value.get(&segment));
                }
            }
        }
        spot
    }

    fn order_of(&self, name: &str) -> usize {
        let object = self.value.and_then(Json::as_object);
        object.and_then(|object| object.position(name)).unwrap_or(usize::MAX)
    }
}
