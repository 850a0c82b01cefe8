//! `not`, `if`, `then`, `else` and the dependencies: what TypeScript cannot say, and is widened.

use code_mode_schema::Json;

use super::{Assertions, kinds};
use crate::shape::Kinds;

/// What is left of them.
#[derive(Clone, Copy)]
pub(crate) struct NegateFacts {
    /// The kinds that `not` leaves: only `{"not": {"type": …}}` and `{"not": {}}` take any away.
    pub(crate) remaining: Kinds,
    /// Whether a branch that is not shown may describe further members or elements.
    pub(crate) hides_branches: bool,
}

impl Default for NegateFacts {
    fn default() -> NegateFacts {
        NegateFacts { remaining: Kinds::ALL, hides_branches: false }
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read(assertions: &mut Assertions<'_>, keyword: &str, value: &Json) {
    let facts = &mut assertions.negate;
    match keyword {
        "not" => facts.remaining = Kinds::ALL.without(refused_kinds(value)),
        _ => facts.hides_branches = true,
    }
}

/// The kinds of which no value fits `{"not": schema}`, as far as `type` alone tells.
fn refused_kinds(schema: &Json) -> Kinds {
    match schema {
        Json::Bool(true) => Kinds::ALL,
        Json::Object(object) if object.is_empty() => Kinds::ALL,
        Json::Object(object) if object.len() == 1 => {
            // Not every number is an integer, so refusing integers leaves numbers.
            object
                .get("type")
                .filter(|names| !names_integer(names))
                .and_then(kinds::kinds_of)
                .unwrap_or(Kinds::NONE)
        }
        _ => Kinds::NONE,
    }
}

fn names_integer(names: &Json) -> bool {
    let is_integer = |name: &Json| name.as_str() == Some("integer");
    is_integer(names) || names.as_array().is_some_and(|names| names.iter().any(is_integer))
}
