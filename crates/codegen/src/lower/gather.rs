//! What a set of schemas that hold at once says, with references and `allOf` followed.

use std::collections::HashSet;

use code_mode_schema::Json;

use super::{Dialect, Lowering, OR_NULL, SchemaId, Step};
use crate::keywords::Assertions;
use crate::render::UnknownReason;
use crate::shape::Kinds;

/// What a set of schemas says, references and `allOf` followed.
pub(super) struct Facts<'a> {
    pub(super) kinds: Kinds,
    /// Those that say something beyond kinds.
    pub(super) schemas: Vec<SchemaId>,
    pub(super) choices: Vec<Choice<'a>>,
    /// Whether something besides what is shown may describe members or elements, so that
    /// `unevaluatedProperties` and `unevaluatedItems` refuse less than they seem to.
    pub(super) hides_evaluation: bool,
    pub(super) problem: Option<(SchemaId, UnknownReason)>,
    /// The definition that all of it comes from.
    pub(super) definition: Option<SchemaId>,
}

/// A list of schemas of which at least one holds.
#[derive(Clone, Copy)]
pub(super) enum Choice<'a> {
    Branches(SchemaId, &'static str, &'a [Json]),
    OrNull(SchemaId),
}

impl<'a> Lowering<'a> {
    /// Follows references and `allOf` and sorts out what each schema adds.
    pub(super) fn gather(&mut self, schemas: &[SchemaId], kinds: Kinds) -> Facts<'a> {
        let mut facts = Facts {
            kinds,
            schemas: Vec::new(),
            choices: Vec::new(),
            hides_evaluation: false,
            problem: None,
            definition: None,
        };
        let mut pending: Vec<SchemaId> = schemas.iter().rev().copied().collect();
        let mut seen = Seen::default();
        // The schemas on the way to the next one, each with how many were pending besides what it leads to.
        let mut way: Vec<(SchemaId, usize)> = Vec::new();
        while let Some(schema) = pending.pop() {
            self.readings += 1;
            while way.last().is_some_and(|(_, outside)| *outside > pending.len()) {
                way.pop();
            }
            if !seen.insert(schema) {
                // What holds twice says no more than what holds once; what leads back to itself says nothing.
                if way.iter().any(|(passed, _)| *passed == schema) {
                    let reason = UnknownReason::CyclicReference;
                    facts.problem = facts.problem.or(Some((schema, reason)));
                    facts.hides_evaluation = true;
                }
                continue;
            }
            way.push((schema, pending.len()));
            match self.schema(schema) {
                Json::Bool(true) => {}
                Json::Bool(false) => facts.kinds = Kinds::NONE,
                Json::Object(_) => self.gather_one(schema, &mut facts, &mut pending),
                _ => facts.problem = facts.problem.or(Some((schema, UnknownReason::NotASchema))),
            }
        }
        facts
    }

    fn gather_one(&mut self, schema: SchemaId, facts: &mut Facts<'a>, pending: &mut Vec<SchemaId>) {
        let Assertions { kinds, reference, combine, negate, .. } = *self.assertions(schema);
        if reference.plain.is_some() && self.dialect == Dialect::Draft07 {
            return self.follow(schema, reference.plain, facts, pending);
        }
        let is_composed = reference.is_present() || combine.is_present();
        if kinds.is_nullable && !schema.is_strict() && is_composed {
            facts.choices.push(Choice::OrNull(schema.strict()));
            facts.schemas.push(SchemaId(schema.0 | OR_NULL));
            return;
        }
        facts.kinds = facts.kinds.and(self.own_kinds(schema));
        if kinds.is_malformed {
            facts.problem = facts.problem.or(Some((schema, UnknownReason::InvalidType)));
        }
        self.follow(schema, reference.plain, facts, pending);
        if let Some(dynamic) = reference.dynamic {
            if self.resolver.is_ambiguous(dynamic) {
                facts.hides_evaluation = true;
                facts.problem = facts.problem.or(Some((schema, UnknownReason::DynamicReference)));
            } else {
                self.follow(schema, Some(dynamic), facts, pending);
            }
        }
        let all_of = combine.all_of.iter().enumerate();
        let all_of: Vec<SchemaId> =
            all_of.map(|(place, branch)| self.child(schema, branch, Step::Item("allOf", place))).collect();
        pending.extend(all_of.into_iter().rev());
        let assertions = self.assertions(schema);
        facts.hides_evaluation |= negate.hides_branches
            || !combine.any_of.is_empty()
            || !combine.one_of.is_empty()
            || assertions.object.evaluates_all()
            || assertions.array.evaluates_all();
        let mut adds = self.assertions(schema).literals.is_present()
            || self.assertions(schema).describe_objects()
            || self.assertions(schema).array.is_present()
            || self.assertions(schema).array.has_bounds();
        for (keyword, branches) in [("anyOf", combine.any_of), ("oneOf", combine.one_of)] {
            match branches {
                [] => {}
                [only] => pending.push(self.child(schema, only, Step::Item(keyword, 0))),
                _ => {
                    facts.choices.push(Choice::Branches(schema, keyword, branches));
                    adds = true;
                }
            }
        }
        if adds {
            facts.schemas.push(schema);
        }
    }

    fn follow(
        &mut self,
        schema: SchemaId,
        reference: Option<&'a str>,
        facts: &mut Facts<'a>,
        pending: &mut Vec<SchemaId>,
    ) {
        let Some(reference) = reference else { return };
        match self.referenced(schema, reference) {
            Some(target) => {
                facts.definition = facts.definition.or(Some(target));
                pending.push(target);
            }
            None => {
                facts.hides_evaluation = true;
                facts.problem = facts.problem.or(Some((schema, UnknownReason::UnresolvedReference)));
            }
        }
    }

    /// The kinds that a schema's own keywords leave.
    pub(super) fn own_kinds(&self, schema: SchemaId) -> Kinds {
        let Assertions { kinds, negate, .. } = self.assertions(schema);
        let null = if kinds.is_nullable && !schema.is_strict() { Kinds::NULL } else { Kinds::NONE };
        kinds.named.with(null).and(negate.remaining)
    }
}

/// The schemas seen while gathering: few, as a rule.
#[derive(Default)]
struct Seen {
    few: Vec<SchemaId>,
    many: HashSet<SchemaId>,
}

impl Seen {
    const FEW: usize = 16;

    fn insert(&mut self, schema: SchemaId) -> bool {
        if self.few.contains(&schema) {
            return false;
        }
        if self.few.len() < Self::FEW {
            self.few.push(schema);
            return true;
        }
        self.many.insert(schema)
    }
}
