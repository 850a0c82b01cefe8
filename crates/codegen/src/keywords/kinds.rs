//! `type` and `nullable`: which of the six kinds of JSON value fit.

use code_mode_schema::Json;

use super::Assertions;
use crate::shape::Kinds;

/// The kinds that fit.
#[derive(Clone, Copy)]
pub(crate) struct KindsFacts {
    /// What `type` names; all kinds without it.
    pub(crate) named: Kinds,
    /// Whether `type` is there but names nothing that exists.
    pub(crate) is_malformed: bool,
    /// Whether `null` fits besides.
    pub(crate) is_nullable: bool,
}

impl Default for KindsFacts {
    fn default() -> KindsFacts {
        KindsFacts { named: Kinds::ALL, is_malformed: false, is_nullable: false }
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read(assertions: &mut Assertions<'_>, keyword: &str, value: &Json) {
    let facts = &mut assertions.kinds;
    match (keyword, kinds_of(value)) {
        ("nullable", _) => facts.is_nullable = value.as_bool() == Some(true),
        (_, Some(kinds)) => facts.named = kinds,
        (_, None) => facts.is_malformed = true,
    }
}

/// The kinds that a value of `type` names.
pub(crate) fn kinds_of(value: &Json) -> Option<Kinds> {
    match value {
        Json::String(name) => kind_of(name),
        Json::Array(names) if !names.is_empty() => {
            names.iter().try_fold(Kinds::NONE, |kinds, name| Some(kinds.with(kind_of(name.as_str()?)?)))
        }
        _ => None,
    }
}

/// The kind that a name means; `any` is a draft-03 name that lives on in the wild.
fn kind_of(name: &str) -> Option<Kinds> {
    Some(match name {
        "string" => Kinds::STRING,
        "number" | "integer" => Kinds::NUMBER,
        "boolean" => Kinds::BOOLEAN,
        "array" => Kinds::ARRAY,
        "object" => Kinds::OBJECT,
        "null" => Kinds::NULL,
        "any" => Kinds::ALL,
        _ => return None,
    })
}
