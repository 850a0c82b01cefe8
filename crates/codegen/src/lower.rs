//! From schemas to types: every set of schemas that hold at once, under the kinds that are still
//! possible, is one unit of work and becomes one node.

mod gather;
mod node;

use std::collections::VecDeque;
use std::sync::Arc;

use code_mode_schema::Json;

use crate::hash::NumberMap;
use crate::keywords::{Assertions, notes};
use crate::refs::{Place, Resolver, address};
use crate::render::{UnknownNode, UnknownReason};
use crate::shape::{Id, Kinds, LEAVES, Node};

use gather::Facts;

/// Units this many steps below the root become `unknown`: no compiler reads types of any depth.
const MAX_DEPTH: u32 = 512;

/// How often schemas may be read for one document, besides so many times for each of them: there can
/// be as many sets of schemas that hold at once as there are subsets.
const MAX_READINGS: usize = 50_000;
const MAX_READINGS_EACH: usize = 16;

/// The number of a schema in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SchemaId(u32);

/// Set in the number of a schema whose `nullable` is not to be read (again).
const STRICT: u32 = 1 << 31;

/// Set in the number that stands for nothing but the choice between `null` and the rest of a schema.
const OR_NULL: u32 = 1 << 30;

/// Which rules a document follows where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// Draft 2019-09, 2020-12, or nothing said.
    Modern,
    /// Draft-07 and before: nothing beside `$ref` counts, no `prefixItems`.
    Draft07,
}

/// What a type is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// A type of its own.
    Whole,
    /// One side of `A & B` where the other side says whether further members may be there.
    Refinement,
}

/// The way from a schema to one within it.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    Keyword(&'static str),
    Member(&'static str, &'a str),
    Item(&'static str, usize),
}

/// A lowered document.
pub(crate) struct Lowered {
    /// The nodes; the first are [`LEAVES`].
    pub(crate) units: Vec<Unit>,
    pub(crate) root: Id,
    pub(crate) unknowns: Vec<UnknownNode>,
    /// How many places for a type the document has.
    pub(crate) places: usize,
}

/// One node and what may name it.
pub(crate) struct Unit {
    pub(crate) node: Node,
    /// A word for its alias, should it get one.
    pub(crate) hint: Option<Arc<str>>,
    /// Whether it stands for a definition, or else for something that is one thing to a reader.
    pub(crate) is_definition: bool,
    /// The description of the definition it stands for.
    pub(crate) doc: Option<Box<str>>,
    depth: u32,
}

/// Lowers a document, as far as the values of it are of `kinds`.
///
/// `hint` is a word for the alias of the root, should it get one.
pub(crate) fn lower(document: &Json, kinds: Kinds, hint: &Arc<str>) -> Lowered {
    let mut lowering = Lowering::new(document);
    let schema = lowering.schema_at(Place::root(document), Origin::Root);
    let root = lowering.request_as(&[schema], kinds, Role::Whole, Some(hint.clone()));
    while let Some(work) = lowering.pending.pop_front() {
        let unit = &lowering.units[work.unit.index()];
        lowering.depth = unit.depth;
        lowering.hint = unit.hint.clone();
        let node = lowering.node_of(&work);
        lowering.units[work.unit.index()].node = node;
    }
    Lowered { units: lowering.units, root, unknowns: lowering.unknowns, places: lowering.places }
}

/// The state of lowering one document.
pub(crate) struct Lowering<'a> {
    resolver: Resolver<'a>,
    dialect: Dialect,
    schemas: Vec<Schema<'a>>,
    /// By the addresses of a schema and its resource.
    numbers: NumberMap<(usize, usize), SchemaId>,
    units: Vec<Unit>,
    requested: NumberMap<Request, Id>,
    known: NumberMap<Request, Id>,
    pending: VecDeque<Work<'a>>,
    unknowns: Vec<UnknownNode>,
    places: usize,
    readings: usize,
    /// The depth of the unit that is being lowered.
    depth: u32,
    /// The hint of the unit that is being lowered; what has none of its own inherits it.
    hint: Option<Arc<str>>,
}

struct Schema<'a> {
    place: Place<'a>,
    origin: Origin<'a>,
    assertions: Assertions<'a>,
}

#[derive(Clone, Copy)]
enum Origin<'a> {
    Root,
    Child(SchemaId, Step<'a>),
    Reference(&'a str),
}

/// What identifies a unit: the schemas, the kinds, the role.
#[derive(PartialEq, Eq, Hash)]
struct Request(Set, Kinds, Role);

/// Some schemas; nearly always one.
#[derive(PartialEq, Eq, Hash)]
enum Set {
    One(SchemaId),
    Many(Box<[SchemaId]>),
}

impl From<&[SchemaId]> for Set {
    fn from(schemas: &[SchemaId]) -> Set {
        if let [only] = schemas { Set::One(*only) } else { Set::Many(schemas.into()) }
    }
}

struct Work<'a> {
    unit: Id,
    facts: Facts<'a>,
    role: Role,
}

impl<'a> Lowering<'a> {
    fn new(document: &'a Json) -> Lowering<'a> {
        let leaves = LEAVES.into_iter().map(|node| Unit {
            node,
            hint: None,
            is_definition: false,
            doc: None,
            depth: 0,
        });
        Lowering {
            resolver: Resolver::new(document),
            dialect: dialect_of(document),
            schemas: Vec::new(),
            numbers: NumberMap::default(),
            units: leaves.collect(),
            requested: NumberMap::default(),
            known: NumberMap::default(),
            pending: VecDeque::new(),
            unknowns: Vec::new(),
            places: 0,
            readings: 0,
            depth: 0,
            hint: None,
        }
    }

    /// What a schema says.
    pub(crate) fn assertions(&self, schema: SchemaId) -> &Assertions<'a> {
        &self.schemas[schema.index()].assertions
    }

    /// The schema itself.
    pub(crate) fn schema(&self, schema: SchemaId) -> &'a Json {
        self.schemas[schema.index()].place.schema
    }

    /// The branch of `anyOf`, `oneOf` or `allOf` that is not `null`, if there is exactly one.
    pub(crate) fn only_branch(&mut self, schema: SchemaId) -> Option<SchemaId> {
        let combine = self.assertions(schema).combine;
        let branches = [("allOf", combine.all_of), ("anyOf", combine.any_of), ("oneOf", combine.one_of)];
        let is_null = |branch: &Json| branch.get("type").and_then(Json::as_str) == Some("null");
        let mut branches = branches.into_iter().flat_map(|(keyword, branches)| {
            branches.iter().enumerate().map(move |(place, branch)| (keyword, place, branch))
        });
        let mut telling = branches.by_ref().filter(|(_, _, branch)| !is_null(branch));
        let (keyword, place, branch) = telling.next()?;
        let is_only = telling.next().is_none();
        is_only.then(|| self.child(schema, branch, Step::Item(keyword, place)))
    }

    /// The number of a schema within another.
    pub(crate) fn child(&mut self, parent: SchemaId, schema: &'a Json, step: Step<'a>) -> SchemaId {
        let place = self.schemas[parent.index()].place.child(schema);
        self.schema_at(place, Origin::Child(parent.lenient(), step))
    }

    /// The schema that a reference means.
    pub(crate) fn referenced(&mut self, from: SchemaId, reference: &'a str) -> Option<SchemaId> {
        let place = self.resolver.resolve(self.schemas[from.index()].place, reference)?;
        Some(self.schema_at(place, Origin::Reference(reference)))
    }

    /// The type of values that fit all of the schemas.
    pub(crate) fn request(&mut self, schemas: &[SchemaId]) -> Id {
        self.request_as(schemas, Kinds::ALL, Role::Whole, self.hint.clone())
    }

    /// The same for a member of that name.
    pub(crate) fn request_named(&mut self, schemas: &[SchemaId], name: &Arc<str>) -> Id {
        self.request_as(schemas, Kinds::ALL, Role::Whole, Some(name.clone()))
    }

    /// Adds a node that belongs to the unit that is being lowered.
    pub(crate) fn push(&mut self, node: Node) -> Id {
        self.push_unit(node, self.hint.clone())
    }

    fn push_unit(&mut self, node: Node, hint: Option<Arc<str>>) -> Id {
        let id = Id(u32::try_from(self.units.len()).expect("the number of readings is bounded"));
        self.units.push(Unit { node, hint, is_definition: false, doc: None, depth: self.depth + 1 });
        id
    }

    fn schema_at(&mut self, place: Place<'a>, origin: Origin<'a>) -> SchemaId {
        let next =
            SchemaId(u32::try_from(self.schemas.len()).expect("a document in memory has fewer schemas"));
        let number = *self.numbers.entry((address(place.schema), address(place.resource))).or_insert(next);
        if number == next {
            let mut assertions = Assertions::read(place.schema);
            if self.dialect == Dialect::Draft07 {
                assertions.forget_modern();
            }
            self.schemas.push(Schema { place, origin, assertions });
        }
        number
    }

    fn request_as(&mut self, schemas: &[SchemaId], kinds: Kinds, role: Role, hint: Option<Arc<str>>) -> Id {
        self.places += 1;
        if let [schema] = schemas
            && let Some(leaf) = self.leaf_of(*schema, kinds)
        {
            return leaf;
        }
        let request = Request(Set::from(schemas), kinds, role);
        if let Some(&known) = self.requested.get(&request) {
            return known;
        }
        let mut facts = self.gather(schemas, kinds);
        let is_only_a_reference = schemas.len() == 1
            && !facts.schemas.contains(&schemas[0])
            && !self.assertions(schemas[0]).combine.is_present();
        facts.definition = facts.definition.filter(|_| is_only_a_reference);
        let id = self.unit_of(facts, role, hint);
        self.requested.insert(request, id);
        id
    }

    /// The node of a schema that only names kinds, in short: most places are such.
    fn leaf_of(&mut self, schema: SchemaId, kinds: Kinds) -> Option<Id> {
        let assertions = self.assertions(schema);
        if !assertions.are_only_kinds() || !self.schema(schema).is_object() {
            return None;
        }
        let own = self.own_kinds(schema).and(kinds);
        Some(if own == Kinds::NONE { Id::NEVER } else { self.kinds_node(own, None) })
    }

    /// The unit for a set of facts: a leaf, one that is known, or a new one with its work still to do.
    fn unit_of(&mut self, mut facts: Facts<'a>, role: Role, hint: Option<Arc<str>>) -> Id {
        if facts.kinds == Kinds::NONE {
            return Id::NEVER;
        }
        if facts.schemas.is_empty() {
            return match facts.problem {
                Some((schema, reason)) if facts.kinds == Kinds::ALL => self.unknown(schema, reason),
                _ => self.kinds_node(facts.kinds, None),
            };
        }
        facts.schemas.sort_unstable();
        facts.schemas.dedup();
        let request = Request(Set::from(&facts.schemas[..]), facts.kinds, role);
        if let Some(&known) = self.known.get(&request) {
            return known;
        }
        if self.depth >= MAX_DEPTH {
            return self.unknown(facts.schemas[0], UnknownReason::TooDeep);
        }
        if self.readings > MAX_READINGS + MAX_READINGS_EACH * self.schemas.len() {
            return self.unknown(facts.schemas[0], UnknownReason::TooLarge);
        }
        let name = facts.definition.and_then(|schema| self.definition_name(schema));
        let is_definition = name.is_some();
        let unit = self.push_unit(Node::Any, name.or(hint));
        self.units[unit.index()].is_definition = is_definition;
        self.units[unit.index()].doc =
            facts.definition.and_then(|schema| notes::definition_doc(self.schema(schema)));
        self.known.insert(request, unit);
        self.pending.push_back(Work { unit, facts, role });
        unit
    }

    fn unknown(&mut self, schema: SchemaId, reason: UnknownReason) -> Id {
        let pointer = self.pointer(schema);
        self.unknowns.push(UnknownNode { pointer, reason });
        Id::UNKNOWN
    }

    /// The last word of the pointer to a definition.
    fn definition_name(&self, schema: SchemaId) -> Option<Arc<str>> {
        let pointer = self.pointer(schema);
        let word = pointer.rsplit('/').find(|token| !token.is_empty() && token.parse::<usize>().is_err())?;
        Some(word.into())
    }

    /// Where a schema stands, as a JSON Pointer; for what a reference led to, the text of the reference.
    fn pointer(&self, schema: SchemaId) -> String {
        let mut steps = Vec::new();
        let mut current = schema;
        let mut pointer = loop {
            match self.schemas[current.index()].origin {
                Origin::Root => break String::new(),
                Origin::Reference(reference) => break reference.trim_start_matches('#').to_owned(),
                Origin::Child(parent, step) => {
                    steps.push(step);
                    current = parent;
                }
            }
        };
        for step in steps.into_iter().rev() {
            pointer.push('/');
            match step {
                Step::Keyword(keyword) => pointer.push_str(keyword),
                Step::Member(keyword, name) => {
                    pointer.push_str(keyword);
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                Step::Item(keyword, place) => pointer.push_str(&format!("{keyword}/{place}")),
            }
        }
        pointer
    }
}

impl SchemaId {
    fn index(self) -> usize {
        self.lenient().0 as usize
    }

    fn strict(self) -> SchemaId {
        SchemaId(self.0 | STRICT)
    }

    fn lenient(self) -> SchemaId {
        SchemaId(self.0 & !(STRICT | OR_NULL))
    }

    fn is_strict(self) -> bool {
        self.0 & STRICT != 0
    }

    fn is_or_null(self) -> bool {
        self.0 & OR_NULL != 0
    }
}

fn dialect_of(document: &Json) -> Dialect {
    let named = document.get("$schema").and_then(Json::as_str).unwrap_or_default();
    let is_old = ["draft-07", "draft-06", "draft-04", "draft-03"].iter().any(|draft| named.contains(draft));
    if is_old { Dialect::Draft07 } else { Dialect::Modern }
}
