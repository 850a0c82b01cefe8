//! From what a set of schemas says to a node: kinds are told apart, choices become unions, and what is
//! described of objects and arrays comes from the families of keywords.

use std::sync::Arc;

use super::gather::{Choice, Facts};
use super::{Lowering, Role, SchemaId, Step, Work};
use crate::keywords::{Assertions, array, literals, object};
use crate::shape::{Id, Kinds, Node, ObjectNode, Openness};

impl<'a> Lowering<'a> {
    /// The node of a unit.
    pub(super) fn node_of(&mut self, work: &Work<'a>) -> Node {
        let Work { facts, role, .. } = work;
        let Facts { kinds, schemas, choices, hides_evaluation, .. } = facts;
        let schemas: Vec<SchemaId> = schemas.iter().copied().filter(|schema| !schema.is_or_null()).collect();
        let literals = schemas.iter().map(|schema| {
            let assertions = self.assertions(*schema);
            (assertions.literals, assertions.kinds.is_nullable && !schema.is_strict())
        });
        if literals.clone().any(|(literals, _)| literals.is_present()) {
            return literals::lower(literals, *kinds);
        }
        let any =
            |test: fn(&Assertions<'a>) -> bool| schemas.iter().any(|schema| test(self.assertions(*schema)));
        let has_objects = kinds.has(Kinds::OBJECT) && any(Assertions::describe_objects);
        let has_arrays = kinds.has(Kinds::ARRAY) && any(|assertions| assertions.array.is_present());
        if choices.len() + usize::from(has_objects || has_arrays) > 1 && kinds.count() > 1 {
            return self.split_kinds(facts, *role, has_objects, has_arrays);
        }
        if !has_objects && !has_arrays {
            if choices.is_empty() {
                let plain = self.kinds_node(*kinds, None);
                return Node::Union(vec![plain]);
            }
            return self.choose(choices, *kinds, *role, Vec::new());
        }
        let object = has_objects.then(|| object::lower(self, &schemas, *role, *hides_evaluation));
        let array = has_arrays.then(|| array::lower(self, &schemas, *hides_evaluation));
        let base = self.join_kinds(*kinds, object, array);
        if choices.is_empty() {
            return base;
        }
        let openness = match &base {
            Node::Object(object) if object.members.is_empty() && object.indexes.is_empty() => {
                Some(object.openness)
            }
            _ => None,
        };
        match openness {
            // Any object: the branches say it all.
            Some(Openness::Open) => self.choose(choices, *kinds, *role, Vec::new()),
            // Whatever the branches describe, and nothing else.
            Some(Openness::Closed) => self.choose(choices, *kinds, Role::Refinement, vec![Id::ANY]),
            None => {
                let base = self.push(base);
                self.choose(choices, *kinds, Role::Refinement, vec![base])
            }
        }
    }

    /// The union of what each kind allows by itself.
    ///
    /// Where several things hold at once, what they say of one kind combines to little, while unions
    /// over all kinds would combine each member of one with each of the other.
    fn split_kinds(&mut self, facts: &Facts<'a>, role: Role, has_objects: bool, has_arrays: bool) -> Node {
        let mut kinds = Kinds::EACH;
        if facts.kinds == Kinds::ALL {
            // Without `type`, what is described comes first.
            kinds.sort_by_key(|kind| match *kind {
                Kinds::OBJECT if has_objects => 0,
                Kinds::ARRAY if has_arrays => 1,
                _ => 2,
            });
        }
        let kinds = kinds.into_iter().filter(|kind| facts.kinds.has(*kind));
        let union = kinds.map(|kinds| {
            let facts = Facts {
                kinds,
                schemas: facts.schemas.clone(),
                choices: facts.choices.clone(),
                hides_evaluation: facts.hides_evaluation,
                problem: None,
                definition: None,
            };
            self.unit_of(facts, role, self.hint.clone())
        });
        Node::Union(union.collect())
    }

    /// The type of values that fit a branch of every choice, and all the types given.
    fn choose(&mut self, choices: &[Choice<'a>], kinds: Kinds, role: Role, mut all: Vec<Id>) -> Node {
        for choice in choices {
            let branches = match choice {
                Choice::Branches(schema, keyword, branches) => {
                    let branches = branches.iter().enumerate();
                    let branches = branches.map(|(place, branch)| {
                        let branch = self.child(*schema, branch, Step::Item(keyword, place));
                        self.request_as(&[branch], kinds, role, self.hint.clone())
                    });
                    branches.collect()
                }
                Choice::OrNull(schema) => {
                    let null = if kinds.has(Kinds::NULL) { Id::NULL } else { Id::NEVER };
                    vec![self.request_as(&[*schema], kinds, role, self.hint.clone()), null]
                }
            };
            if choices.len() == 1 && all.is_empty() {
                return Node::Union(branches);
            }
            all.push(self.push(Node::Union(branches)));
        }
        Node::Both(all)
    }

    /// A type of several kinds of which objects and arrays may be described.
    fn join_kinds(&mut self, kinds: Kinds, object: Option<Node>, array: Option<Node>) -> Node {
        let mut plain = kinds;
        let (mut first, mut last) = (Vec::new(), Vec::new());
        if kinds == Kinds::ALL {
            // A schema without `type`: what it describes comes first, all else is one type by itself.
            for (described, kind) in [(object, Kinds::OBJECT), (array, Kinds::ARRAY)] {
                if let Some(node) = described {
                    first.push(self.push(node));
                    plain = plain.without(kind);
                }
            }
            let hint = match (plain.has(Kinds::OBJECT), plain.has(Kinds::ARRAY)) {
                (false, false) => "Scalar",
                (false, true) => "NotObject",
                _ => "NotArray",
            };
            first.push(self.kinds_node(plain, Some(hint)));
            return Node::Union(first);
        }
        for (described, kind) in [(array, Kinds::ARRAY), (object, Kinds::OBJECT)] {
            let Some(node) = described else { continue };
            if kinds == kind {
                return node;
            }
            last.push(self.push(node));
            plain = plain.without(kind);
        }
        if plain.without(Kinds::NULL) != Kinds::NONE {
            first.push(self.kinds_node(plain.without(Kinds::NULL), None));
        }
        first.append(&mut last);
        first.extend(plain.has(Kinds::NULL).then_some(Id::NULL));
        Node::Union(first)
    }

    /// The type of all values of some kinds.
    pub(super) fn kinds_node(&mut self, kinds: Kinds, hint: Option<&str>) -> Id {
        if kinds == Kinds::ALL {
            return Id::ANY;
        }
        let leaves = [
            (Kinds::STRING, Id::STRING),
            (Kinds::NUMBER, Id::NUMBER),
            (Kinds::BOOLEAN, Id::BOOLEAN),
            (Kinds::ARRAY, Id::ANY),
            (Kinds::OBJECT, Id::ANY),
            (Kinds::NULL, Id::NULL),
        ];
        let mut union = Vec::new();
        for (kind, leaf) in leaves {
            if !kinds.has(kind) {
                continue;
            }
            union.push(match kind {
                Kinds::ARRAY => self.push(Node::Array(Id::ANY)),
                Kinds::OBJECT => {
                    let any =
                        ObjectNode { members: Vec::new(), indexes: Vec::new(), openness: Openness::Open };
                    self.push(Node::Object(any))
                }
                _ => leaf,
            });
        }
        match union[..] {
            [only] => only,
            _ => {
                let id = self.push_unit(Node::Union(union), hint.map(Arc::from));
                self.units[id.index()].is_definition = hint.is_some();
                id
            }
        }
    }
}
