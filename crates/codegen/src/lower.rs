//! From schemas to types: every set of schemas that hold at once, under the kinds that are still
//! possible, is one unit of work and becomes one node.

use std::collections::VecDeque;
use std::sync::Arc;

use code_mode_schema::Json;

use crate::hash::NumberMap;
use crate::keywords::{Assertions, array, literals, notes, object};
use crate::refs::{Place, Resolver, address};
use crate::render::{UnknownNode, UnknownReason};
use crate::shape::{Id, Kinds, LEAVES, Node, ObjectNode, Openness};

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

/// What a set of schemas says, references and `allOf` followed.
struct Facts<'a> {
    kinds: Kinds,
    /// Those that say something beyond kinds.
    schemas: Vec<SchemaId>,
    choices: Vec<Choice<'a>>,
    /// Whether something besides what is shown may describe members or elements, so that
    /// `unevaluatedProperties` and `unevaluatedItems` refuse less than they seem to.
    hides_evaluation: bool,
    problem: Option<(SchemaId, UnknownReason)>,
    /// The definition that all of it comes from.
    definition: Option<SchemaId>,
}

/// A list of schemas of which at least one holds.
#[derive(Clone, Copy)]
enum Choice<'a> {
    Branches(SchemaId, &'static str, &'a [Json]),
    OrNull(SchemaId),
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

    /// The kinds that a schema's own keywords leave.
    fn own_kinds(&self, schema: SchemaId) -> Kinds {
        let Assertions { kinds, negate, .. } = self.assertions(schema);
        let null = if kinds.is_nullable && !schema.is_strict() { Kinds::NULL } else { Kinds::NONE };
        kinds.named.with(null).and(negate.remaining)
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

    /// Follows references and `allOf` and sorts out what each schema adds.
    fn gather(&mut self, schemas: &[SchemaId], kinds: Kinds) -> Facts<'a> {
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
        while let Some(schema) = pending.pop() {
            self.readings += 1;
            if !seen.insert(schema) {
                let reason = UnknownReason::CyclicReference;
                facts.problem = facts.problem.or(Some((schema, reason)));
                facts.hides_evaluation = true;
                continue;
            }
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

    /// The node of a unit.
    fn node_of(&mut self, work: &Work<'a>) -> Node {
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
    fn kinds_node(&mut self, kinds: Kinds, hint: Option<&str>) -> Id {
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

/// The schemas seen while gathering: few, as a rule.
#[derive(Default)]
struct Seen {
    few: Vec<SchemaId>,
    many: std::collections::HashSet<SchemaId>,
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

fn dialect_of(document: &Json) -> Dialect {
    let named = document.get("$schema").and_then(Json::as_str).unwrap_or_default();
    let is_old = ["draft-07", "draft-06", "draft-04", "draft-03"].iter().any(|draft| named.contains(draft));
    if is_old { Dialect::Draft07 } else { Dialect::Modern }
}
