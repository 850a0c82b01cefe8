//! From lowered units to a graph that can be printed: types that contain themselves are found and
//! numbered, unions flattened, and what adds nothing is dropped.

use std::collections::HashSet;

use code_mode_schema::Json;

use crate::bare;
use crate::graph::{Graph, Label, Loop};
use crate::lower::{Lowered, Unit};
use crate::shape::{Id, Keys, Kinds, Node, Openness};

/// Simplifies what is reachable from the root.
pub(crate) fn simplify(lowered: Lowered) -> Graph {
    let Order { children_first, loops } = Order::of(&lowered);
    let mut graph = Graph::new();
    let mut results: Vec<Id> = (0..lowered.units.len()).map(|_| Id::ANY).collect();
    for (leaf, result) in results.iter_mut().enumerate().take(graph.nodes.len()) {
        *result = Id(u32::try_from(leaf).expect("there are a handful of leaves"));
    }
    let mut units: Vec<Option<Unit>> = lowered.units.into_iter().map(Some).collect();
    for &id in &loops {
        results[id.index()] = open_loop(&mut graph, units[id.index()].as_ref());
    }
    for id in children_first {
        let Some(Unit { mut node, hint, is_definition, doc, .. }) = units[id.index()].take() else {
            continue;
        };
        node.map_children(|child| results[child.index()]);
        let result = add(&mut graph, node, Label { hint, is_definition, doc });
        match loops.binary_search(&id) {
            Ok(place) => graph.loops[place].body = result,
            Err(_) => results[id.index()] = result,
        }
    }
    graph.root = results[lowered.root.index()];
    bare::break_bare_loops(&mut graph);
    graph.settle_hashes();
    graph
}

/// The order in which units can be simplified.
struct Order {
    children_first: Vec<Id>,
    /// Units that are reached again from within themselves, sorted.
    loops: Vec<Id>,
}

impl Order {
    fn of(lowered: &Lowered) -> Order {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        enum Visit {
            Enter(Id),
            Leave(Id),
        }
        let mut states = vec![State::New; lowered.units.len()];
        let mut order = Order { children_first: Vec::with_capacity(states.len()), loops: Vec::new() };
        let mut pending = vec![Visit::Enter(lowered.root)];
        while let Some(visit) = pending.pop() {
            match visit {
                Visit::Leave(id) => {
                    states[id.index()] = State::Done;
                    order.children_first.push(id);
                }
                Visit::Enter(id) if id.is_leaf() => {}
                Visit::Enter(id) => match states[id.index()] {
                    State::Done => {}
                    State::Open => order.loops.push(id),
                    State::New => {
                        states[id.index()] = State::Open;
                        pending.push(Visit::Leave(id));
                        let first = pending.len();
                        lowered.units[id.index()].node.each_child(|child| pending.push(Visit::Enter(child)));
                        pending[first..].reverse();
                    }
                },
            }
        }
        order.loops.sort_unstable();
        order.loops.dedup();
        order
    }
}

/// Numbers a type that contains itself; the result stands for it everywhere.
fn open_loop(graph: &mut Graph, unit: Option<&Unit>) -> Id {
    let place = u32::try_from(graph.loops.len()).expect("fewer than there are nodes");
    let label = unit.map(|unit| Label {
        hint: unit.hint.clone(),
        is_definition: unit.is_definition,
        doc: unit.doc.clone(),
    });
    graph.loops.push(Loop { body: Id::ANY, label: label.unwrap_or_default(), hash: u64::from(place) });
    graph.push(Node::Recursive(place), Label::default())
}

/// Adds a node in its simplest form.
fn add(graph: &mut Graph, node: Node, label: Label) -> Id {
    match node {
        Node::Any => Id::ANY,
        Node::Never => Id::NEVER,
        Node::String => Id::STRING,
        Node::Number => Id::NUMBER,
        Node::Boolean => Id::BOOLEAN,
        Node::Null => Id::NULL,
        Node::Unknown => Id::UNKNOWN,
        Node::Union(members) => union(graph, members, label),
        Node::Both(members) => both(graph, members, label),
        Node::Object(mut object) => {
            // A signature that takes any JSON under any name is what an open object has.
            let takes_all = |index: &crate::shape::Index| index.keys == Keys::Any && index.value == Id::ANY;
            if object.indexes.iter().any(takes_all) {
                object.indexes.retain(|index| !takes_all(index));
                object.openness = Openness::Open;
            }
            graph.push(Node::Object(object), label)
        }
        other => graph.push(other, label),
    }
}

pub(crate) fn union(graph: &mut Graph, members: Vec<Id>, label: Label) -> Id {
    let members =
        flatten(graph, members, |node| if let Node::Union(inner) = node { Some(inner) } else { None });
    if members.contains(&Id::ANY) {
        return Id::ANY;
    }
    let mut seen: HashSet<u64> = HashSet::with_capacity(members.len());
    for &member in &members {
        // A union with a name of its own stays whole; its members are not repeated beside it.
        if let Node::Union(inner) = graph.node(member) {
            seen.extend(inner.iter().map(|inner| graph.facts(*inner).hash));
        }
    }
    let distinct = |member: &Id| *member != Id::NEVER && seen.insert(graph.facts(*member).hash);
    let members = members.into_iter().filter(distinct).collect();
    let members = merge_literals(graph, members);
    match members[..] {
        [] => Id::NEVER,
        [only] => only,
        _ => graph.push(Node::Union(members), label),
    }
}

pub(crate) fn both(graph: &mut Graph, members: Vec<Id>, label: Label) -> Id {
    let mut members =
        flatten(graph, members, |node| if let Node::Both(inner) = node { Some(inner) } else { None });
    if members.contains(&Id::NEVER) {
        return Id::NEVER;
    }
    let mut seen: HashSet<u64> = HashSet::with_capacity(members.len());
    members.retain(|member| *member != Id::ANY && seen.insert(graph.facts(*member).hash));
    if members.len() > 1 {
        members.retain(|member| *member != Id::UNKNOWN);
    }
    let mut members = intersect_scalars(graph, members);
    // The compiler writes out every combination and gives up on too many (TS2590).
    let mut combinations: u32 = 1;
    members.retain(|member| {
        let more = combinations.saturating_mul(graph.facts(*member).alternatives);
        let fits = more <= MAX_COMBINATIONS;
        combinations = if fits { more } else { combinations };
        fits
    });
    match members[..] {
        [] => Id::ANY,
        [only] => only,
        _ => graph.push(Node::Both(members), label),
    }
}

/// Members of an intersection that would make more combinations than this are dropped, which widens it.
const MAX_COMBINATIONS: u32 = 256;

/// Makes one member of all the literals and kinds of scalar of an intersection, where the first stands.
fn intersect_scalars(graph: &mut Graph, members: Vec<Id>) -> Vec<Id> {
    let kind_of = |id: Id| match id {
        Id::STRING => Some(Kinds::STRING),
        Id::NUMBER => Some(Kinds::NUMBER),
        Id::BOOLEAN => Some(Kinds::BOOLEAN),
        Id::NULL => Some(Kinds::NULL),
        _ => None,
    };
    let mut kinds = Kinds::ALL;
    let mut literals: Option<Vec<&Json>> = None;
    let mut kept = Vec::with_capacity(members.len());
    let mut place = None;
    for &member in &members {
        if let Some(kind) = kind_of(member) {
            kinds = kinds.and(kind);
        } else if let Node::Literals(own) = graph.node(member) {
            match &mut literals {
                Some(literals) => {
                    let own: HashSet<&Json> = own.iter().collect();
                    literals.retain(|literal| own.contains(literal));
                }
                None => literals = Some(own.iter().collect()),
            }
        } else {
            kept.push(member);
            continue;
        }
        place = place.or(Some(kept.len()));
    }
    let Some(place) = place else { return members };
    let scalar = match literals {
        Some(mut literals) => {
            literals.retain(|literal| kinds.has(Kinds::of(literal)));
            if literals.is_empty() {
                return vec![Id::NEVER];
            }
            let node = Node::Literals(literals.into_iter().cloned().collect());
            graph.push(node, Label::default())
        }
        None => match members.iter().copied().find(|id| kind_of(*id) == Some(kinds)) {
            Some(kind) => kind,
            None => return vec![Id::NEVER],
        },
    };
    kept.insert(place, scalar);
    kept
}

/// Replaces members of the same operation by theirs, unless they have a name that could be shared.
fn flatten(graph: &Graph, members: Vec<Id>, inner: impl Fn(&Node) -> Option<&Vec<Id>>) -> Vec<Id> {
    let mut flat = Vec::with_capacity(members.len());
    for member in members {
        match inner(graph.node(member)) {
            Some(inner) if !graph.facts(member).label.is_definition => flat.extend(inner),
            _ => flat.push(member),
        }
    }
    flat
}

/// Makes one node of all the literals of a union, where the first stands.
fn merge_literals(graph: &mut Graph, members: Vec<Id>) -> Vec<Id> {
    let literals_of = |id: &Id| match graph.node(*id) {
        Node::Literals(literals) => Some(literals),
        _ => None,
    };
    if members.iter().filter_map(literals_of).count() < 2 {
        return members;
    }
    let mut seen: HashSet<&Json> = HashSet::new();
    let literals = members.iter().filter_map(literals_of).flatten().filter(|literal| seen.insert(literal));
    let mut merged = Some(Node::Literals(literals.cloned().collect()));
    let mut kept = Vec::with_capacity(members.len());
    for member in members {
        if !matches!(graph.node(member), Node::Literals(_)) {
            kept.push(member);
        } else if let Some(node) = merged.take() {
            kept.push(graph.push(node, Label::default()));
        }
    }
    kept
}
