//! `enum` and `const`: the values that fit, one by one.

use std::collections::HashSet;

use code_mode_schema::Json;

use super::Assertions;
use crate::shape::{Kinds, Node};

/// The values that fit.
#[derive(Clone, Copy, Default)]
pub(crate) struct LiteralFacts<'a> {
    members: Option<&'a [Json]>,
    literal: Option<&'a Json>,
}

impl LiteralFacts<'_> {
    pub(crate) fn is_present(&self) -> bool {
        self.members.is_some() || self.literal.is_some()
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read<'a>(assertions: &mut Assertions<'a>, keyword: &str, value: &'a Json) {
    let facts = &mut assertions.literals;
    match (keyword, value) {
        ("const", _) => facts.literal = Some(value),
        (_, Json::Array(members)) => facts.members = Some(members),
        _ => {}
    }
}

/// Containers nested deeper than this in a literal are shown by their kind only.
const MAX_LITERAL_DEPTH: usize = 32;

/// The values that fit all the facts and are of one of the kinds, each once, in the order of the first.
///
/// `null` fits besides where a schema with literals is nullable.
pub(crate) fn lower<'a>(facts: impl Iterator<Item = (LiteralFacts<'a>, bool)>, kinds: Kinds) -> Node {
    let mut fitting: Option<Vec<&'a Json>> = None;
    for (facts, is_nullable) in facts.filter(|(facts, _)| facts.is_present()) {
        let equals_const = |value: &Json| facts.literal.is_none_or(|literal| literal == value);
        let is_null = |value: &Json| is_nullable && value.is_null();
        match &mut fitting {
            Some(fitting) => {
                let members: Option<HashSet<&Json>> = facts.members.map(|members| members.iter().collect());
                fitting.retain(|value| {
                    let is_member = members.as_ref().is_none_or(|members| members.contains(value));
                    (is_member && equals_const(value)) || is_null(value)
                });
            }
            None => {
                let offered = facts.members.unwrap_or(facts.literal.map_or(&[], std::slice::from_ref));
                let null = is_nullable.then_some(&Json::Null);
                let mut seen = HashSet::with_capacity(offered.len());
                let own = offered.iter().filter(|value| equals_const(value)).chain(null);
                fitting = Some(own.filter(|value| seen.insert(*value)).collect());
            }
        }
    }
    let mut fitting = fitting.unwrap_or_default();
    fitting.retain(|value| kinds.has(Kinds::of(value)));
    if fitting.is_empty() {
        return Node::Never;
    }
    Node::Literals(fitting.into_iter().cloned().collect())
}

/// Whether a literal is shown by its kind because it nests too deep.
pub(crate) fn is_too_deep(literal: &Json) -> bool {
    literal.is_deeper_than(MAX_LITERAL_DEPTH)
}
