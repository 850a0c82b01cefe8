//! `properties`, `required`, `additionalProperties`, `unevaluatedProperties`: what objects hold.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use code_mode_schema::{Json, Object};

use super::{Assertions, keys, notes};
use crate::lower::{Lowering, Role, SchemaId, Step};
use crate::shape::{Id, Index, Keys, Member, Node, ObjectNode, Openness, Presence};

/// What one schema says about members.
#[derive(Clone, Copy, Default)]
pub(crate) struct ObjectFacts<'a> {
    pub(crate) properties: Option<&'a Object>,
    required: &'a [Json],
    additional: Option<&'a Json>,
    unevaluated: Unevaluated,
}

/// What `unevaluatedProperties` or `unevaluatedItems` says.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Unevaluated {
    /// Nothing.
    #[default]
    Silent,
    /// `false`.
    Refused,
    /// `true` or a schema.
    Taken,
}

impl From<&Json> for Unevaluated {
    fn from(schema: &Json) -> Unevaluated {
        if schema.as_bool() == Some(false) { Unevaluated::Refused } else { Unevaluated::Taken }
    }
}

impl ObjectFacts<'_> {
    /// Whether this says more than that a value may be any object.
    pub(crate) fn is_present(&self) -> bool {
        self.properties.is_some_and(|properties| !properties.is_empty())
            || !self.required.is_empty()
            || self.additional.is_some_and(|schema| !admits_all(schema))
            || self.unevaluated == Unevaluated::Refused
    }

    /// Forgets what draft-07 does not have.
    pub(crate) fn forget_modern(&mut self) {
        self.unevaluated = Unevaluated::Silent;
    }

    /// Whether every member is described by this schema, whatever its name.
    pub(crate) fn evaluates_all(&self) -> bool {
        self.additional.is_some_and(|schema| schema.as_bool() != Some(false))
            || self.unevaluated == Unevaluated::Taken
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read<'a>(assertions: &mut Assertions<'a>, keyword: &str, value: &'a Json) {
    let facts = &mut assertions.object;
    match (keyword, value) {
        ("properties", Json::Object(properties)) => facts.properties = Some(properties),
        ("required", Json::Array(names)) => facts.required = names,
        ("additionalProperties", Json::Object(_) | Json::Bool(_)) => facts.additional = Some(value),
        ("unevaluatedProperties", _) => facts.unevaluated = Unevaluated::from(value),
        _ => {}
    }
}

/// The object type of schemas that all hold.
///
/// Members that one schema declares and another closes out are kept: a type that is too wide costs
/// a validation error, one that is too narrow forbids what is right.
pub(crate) fn lower<'a>(
    ctx: &mut Lowering<'a>,
    schemas: &[SchemaId],
    role: Role,
    hides_evaluation: bool,
) -> Node {
    let rest = Rest::of(ctx, schemas, hides_evaluation);
    let patterns = keys::Patterns::of(ctx, schemas);
    let names = keys::Names::of(ctx, schemas);
    if let keys::Names::None = names {
        return closed(Vec::new());
    }
    let mut members = declared(ctx, schemas, &patterns);
    let other = match &rest {
        _ if patterns.match_all() => Id::NEVER,
        Rest::Closed => Id::NEVER,
        Rest::Any => Id::ANY,
        Rest::Typed(schemas) => ctx.request(schemas),
    };
    for name in undeclared_required(ctx, schemas) {
        let value = patterns.value_of(ctx, &name).unwrap_or(other);
        members.push(Member { name, presence: Presence::Required, doc: None, value });
    }
    if let (keys::Names::Listed(listed), false) = (&names, rest.is_closed()) {
        for name in listed {
            if members.iter().all(|member| member.name != *name) {
                let value = patterns.value_of(ctx, name).unwrap_or(other);
                members.push(Member { name: name.clone(), presence: Presence::Optional, doc: None, value });
            }
        }
        return closed(members);
    }
    let (mut node, apart) = with_rest(ctx, members, &patterns, &names, other);
    if role == Role::Refinement {
        // The type that is refined says already whether other members may be there.
        if node.openness == Openness::Open && node.members.is_empty() && node.indexes.is_empty() {
            return Node::Any;
        }
        node.openness = Openness::Closed;
    }
    if apart.is_empty() {
        return Node::Object(node);
    }
    let alone = |index| ObjectNode { members: Vec::new(), indexes: vec![index], openness: Openness::Closed };
    let objects = std::iter::once(node).chain(apart.into_iter().map(alone));
    Node::Both(objects.map(|object| ctx.push(Node::Object(object))).collect())
}

/// What may stand under names that no schema declares.
enum Rest {
    Closed,
    Any,
    Typed(Vec<SchemaId>),
}

impl Rest {
    fn of(ctx: &mut Lowering<'_>, schemas: &[SchemaId], hides_evaluation: bool) -> Rest {
        let mut typed = Vec::new();
        let mut closed = false;
        for &schema in schemas {
            let facts = ctx.assertions(schema).object;
            closed |= facts.unevaluated == Unevaluated::Refused && !hides_evaluation;
            let Some(additional) = facts.additional else { continue };
            if additional.as_bool() == Some(false) {
                closed = true;
            } else if !admits_all(additional) {
                typed.push(ctx.child(schema, additional, Step::Keyword("additionalProperties")));
            }
        }
        if closed {
            Rest::Closed
        } else if typed.is_empty() {
            Rest::Any
        } else {
            Rest::Typed(typed)
        }
    }

    fn is_closed(&self) -> bool {
        matches!(self, Rest::Closed)
    }
}

fn closed(members: Vec<Member>) -> Node {
    Node::Object(ObjectNode { members, indexes: Vec::new(), openness: Openness::Closed })
}

/// The members that any of the schemas declares, in the order they come first.
fn declared<'a>(ctx: &mut Lowering<'a>, schemas: &[SchemaId], patterns: &keys::Patterns<'a>) -> Vec<Member> {
    let mut names: Vec<(&'a str, SchemaId, Vec<SchemaId>)> = Vec::new();
    let mut places: HashMap<&'a str, usize> = HashMap::new();
    let mut required: Vec<&'a str> = Vec::new();
    for &schema in schemas {
        let facts = ctx.assertions(schema).object;
        required.extend(facts.required.iter().filter_map(Json::as_str));
        for (name, property) in facts.properties.into_iter().flat_map(Object::iter) {
            let property = ctx.child(schema, property, Step::Member("properties", name));
            match places.get(name) {
                Some(&place) => names[place].2.push(property),
                None => {
                    if schemas.len() > 1 {
                        places.insert(name, names.len());
                    }
                    names.push((name, property, Vec::new()));
                }
            }
        }
    }
    required.sort_unstable();
    let mut members = Vec::with_capacity(names.len());
    for (name, first, mut properties) in names {
        patterns.add_matching(name, &mut properties);
        let properties: &[SchemaId] = if properties.is_empty() {
            std::slice::from_ref(&first)
        } else {
            properties.insert(0, first);
            &properties
        };
        let is_required = required.binary_search(&name).is_ok();
        let name = Arc::from(name);
        members.push(Member {
            presence: if is_required { Presence::Required } else { Presence::Optional },
            doc: notes::member_doc(ctx, properties),
            value: ctx.request_named(properties, &name),
            name,
        });
    }
    members
}

/// The names that must be there but are declared nowhere, each once.
fn undeclared_required(ctx: &Lowering<'_>, schemas: &[SchemaId]) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    let properties = |schema: &SchemaId| ctx.assertions(*schema).object.properties;
    if schemas.len() > 1 {
        known.extend(schemas.iter().filter_map(properties).flat_map(Object::keys));
    }
    for schema in schemas {
        let own = properties(schema);
        for name in ctx.assertions(*schema).object.required {
            let Json::String(name) = name else { continue };
            if !own.is_some_and(|own| own.contains_key(name)) && known.insert(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// Adds to declared members what may stand beside them; and the signatures that need braces of their own.
fn with_rest<'a>(
    ctx: &mut Lowering<'a>,
    members: Vec<Member>,
    patterns: &keys::Patterns<'a>,
    names: &keys::Names,
    other: Id,
) -> (ObjectNode, Vec<Index>) {
    let mut indexes = exact(ctx, patterns, &members);
    let mut widest = None;
    let openness = if other == Id::ANY {
        Openness::Open
    } else if other == Id::NEVER && patterns.are_exact() {
        Openness::Closed
    } else {
        let mut values = patterns.values(ctx);
        values.extend((other != Id::NEVER).then_some(other));
        match widened(ctx, values, &members) {
            None => Openness::Open,
            Some(mut index) => {
                if let (keys::Names::Matching(keys), true) = (names, patterns.is_empty()) {
                    index.keys = keys.clone();
                }
                // What is said of all names by one of the patterns is part of it.
                indexes.retain(|index| index.keys != Keys::Any);
                widest = Some(index);
                Openness::Closed
            }
        }
    };
    let apart = take_covered(&mut indexes);
    indexes.splice(0..0, widest);
    (ObjectNode { members, indexes, openness }, apart)
}

/// Takes out the signatures whose names another one speaks of too.
///
/// A member has to fit both; in one pair of braces TypeScript demands that the types do (TS2413).
fn take_covered(indexes: &mut Vec<Index>) -> Vec<Index> {
    let covers = |wide: &Index, narrow: &Index| {
        wide.keys != narrow.keys && wide.value != narrow.value && wide.keys.cover(&narrow.keys)
    };
    let (apart, kept) =
        indexes.iter().cloned().partition(|narrow| indexes.iter().any(|wide| covers(wide, narrow)));
    *indexes = kept;
    apart
}

/// The index signatures of patterns; declared members that match fit them already, but for `undefined`.
fn exact<'a>(ctx: &mut Lowering<'a>, patterns: &keys::Patterns<'a>, members: &[Member]) -> Vec<Index> {
    let mut indexes = patterns.exact(ctx);
    for index in indexes.iter_mut().filter(|index| index.keys == Keys::Any) {
        index.with_undefined = has_optional(members);
    }
    indexes
}

fn has_optional(members: &[Member]) -> bool {
    members.iter().any(|member| member.presence == Presence::Optional)
}

/// An index signature wide enough for the declared members as well, as TypeScript demands (TS2411).
///
/// `None` if a member is of a type that would have to be repeated for it.
fn widened(ctx: &mut Lowering<'_>, values: Vec<Id>, members: &[Member]) -> Option<Index> {
    let mut union: Vec<Id> = Vec::new();
    for value in values.into_iter().chain(members.iter().map(|member| member.value)) {
        if union.is_empty() || !union.contains(&value) {
            if !union.is_empty() && !value.is_leaf() && !members.is_empty() {
                return None;
            }
            union.push(value);
        }
    }
    if union.contains(&Id::ANY) {
        return None;
    }
    let value = if let [only] = union[..] { only } else { ctx.push(Node::Union(union)) };
    Some(Index { keys: Keys::Any, value, with_undefined: has_optional(members) })
}

/// Whether a schema is `true`, or an object of annotations only that says nothing.
fn admits_all(schema: &Json) -> bool {
    match schema {
        Json::Bool(admits) => *admits,
        Json::Object(object) => object.is_empty(),
        _ => true,
    }
}
