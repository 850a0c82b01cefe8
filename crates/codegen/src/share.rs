//! Which types get a name of their own: those that contain themselves, those that occur more than
//! once and are long enough for a name to pay, and those that nest too deep to be written in place.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::graph::{Graph, Label};
use crate::shape::{Id, Node};

/// Types with a shorter text are always written in place.
const MIN_WIDTH: u32 = 40;

/// About how long a name is, with its `$`.
const NAME_WIDTH: u32 = 12;

/// What the place of a loop counts in the width of a node.
const LOOP_WIDTH: u32 = 8;

/// What a declaration costs besides the type: `type $Name = ` and a line break.
const DECLARATION_WIDTH: u32 = 16;

/// Types that nest deeper than this in one text get a name on the way.
const MAX_HEIGHT: u32 = 24;

/// What a type is known by across graphs; equal types have equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    hash: u64,
    width: u32,
}

/// A map by type.
pub(crate) type KeyMap<T> = HashMap<Key, T, BuildHasherDefault<KeyHasher>>;

/// Takes the hash that a key has already.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The types of a graph that may get a name, each after those within it.
pub(crate) struct Candidates {
    pub(crate) records: Vec<Record>,
    /// By node: its record, if it is a candidate.
    pub(crate) of_node: Vec<Option<u32>>,
    /// The records that the root holds outermost.
    pub(crate) roots: Vec<u32>,
}

/// One candidate.
pub(crate) struct Record {
    pub(crate) key: Key,
    /// Where [`Uses`] counts it; given when it is counted in.
    slot: u32,
    /// The node that is written in its declaration.
    pub(crate) body: Id,
    pub(crate) label: Label,
    /// Whether it contains itself and so must have a name.
    is_loop: bool,
    /// The length of its text without that of the candidates within.
    own_width: u32,
    /// The candidates directly within, as often as they occur.
    pub(crate) within: Vec<u32>,
}

impl Candidates {
    /// Finds the candidates of a graph.
    pub(crate) fn of(graph: &Graph) -> Candidates {
        let mut candidates =
            Candidates { records: Vec::new(), of_node: vec![None; graph.nodes.len()], roots: Vec::new() };
        let mut of_loop = vec![None; graph.loops.len()];
        // Every node stands after its children, but the body of a loop may stand after the places
        // where the loop is named, so loops have their records first.
        for (place, recursive) in graph.loops.iter().enumerate() {
            of_loop[place] = Some(candidates.add(Record {
                key: Key { hash: recursive.hash, width: u32::MAX },
                slot: 0,
                body: recursive.body,
                label: recursive.label.clone(),
                is_loop: true,
                own_width: 0,
                within: Vec::new(),
            }));
        }
        // By node: the candidates outermost in it, itself included.
        let mut outermost: Vec<Vec<u32>> = Vec::with_capacity(graph.nodes.len());
        let bodies: HashSet<Id> = graph.loops.iter().map(|recursive| recursive.body).collect();
        for (place, node) in graph.nodes.iter().enumerate() {
            let id = Id(u32::try_from(place).expect("nodes are numbered by u32"));
            if let Node::Recursive(recursive) = node {
                let record = of_loop[*recursive as usize];
                candidates.of_node[place] = record;
                outermost.push(record.into_iter().collect());
                continue;
            }
            let mut within = Vec::new();
            node.each_child(|child| within.extend(&outermost[child.index()]));
            let facts = graph.facts(id);
            if facts.width < MIN_WIDTH || !may_have_name(node) || bodies.contains(&id) {
                outermost.push(within);
                continue;
            }
            let widths = within.iter().map(|record| candidates.records[*record as usize].width_in_place());
            let own_width = facts.width.saturating_sub(widths.fold(0, u32::saturating_add));
            let record = candidates.add(Record {
                key: Key { hash: facts.hash, width: facts.width },
                slot: 0,
                body: id,
                label: facts.label.clone(),
                is_loop: false,
                own_width,
                within,
            });
            candidates.of_node[place] = Some(record);
            outermost.push(vec![record]);
        }
        for (record, recursive) in candidates.records.iter_mut().zip(&graph.loops) {
            record.within = outermost[recursive.body.index()].clone();
        }
        candidates.roots = outermost[graph.root.index()].clone();
        candidates
    }

    fn add(&mut self, record: Record) -> u32 {
        self.records.push(record);
        u32::try_from(self.records.len() - 1).expect("no more records than nodes and loops")
    }
}

impl Record {
    fn width_in_place(&self) -> u32 {
        if self.is_loop { LOOP_WIDTH } else { self.key.width }
    }
}

fn may_have_name(node: &Node) -> bool {
    match node {
        Node::Object(object) => !object.members.is_empty() || !object.indexes.is_empty(),
        Node::Union(_) | Node::Both(_) | Node::Tuple { .. } | Node::Literals(_) => true,
        _ => false,
    }
}

/// How often types are used, over all the graphs of a block.
#[derive(Default)]
pub(crate) struct Uses {
    slots: KeyMap<u32>,
    table: Vec<Use>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Use {
    /// In how many places of how many graphs it stands.
    instances: u32,
    /// In how many different types it is directly used; a type used by several tools counts once.
    uses: u32,
}

impl Uses {
    /// Counts in the types of a graph, and gives each its slot.
    pub(crate) fn add(&mut self, candidates: &mut Candidates) {
        for record in &mut candidates.records {
            record.slot = self.slot_of(record.key);
        }
        for record in &candidates.records {
            let entry = &mut self.table[record.slot as usize];
            entry.instances += 1;
            if entry.instances == 1 {
                self.count(candidates, &record.within, 1);
            }
        }
        self.count(candidates, &candidates.roots, 1);
    }

    /// Takes the types of a graph out again.
    pub(crate) fn remove(&mut self, candidates: &Candidates) {
        for record in &candidates.records {
            let entry = &mut self.table[record.slot as usize];
            entry.instances -= 1;
            if entry.instances == 0 {
                self.count(candidates, &record.within, -1);
                self.slots.remove(&record.key);
                self.free.push(record.slot);
            }
        }
        self.count(candidates, &candidates.roots, -1);
    }

    fn slot_of(&mut self, key: Key) -> u32 {
        *self.slots.entry(key).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.table.push(Use::default());
                u32::try_from(self.table.len() - 1).expect("no more types than nodes in memory")
            })
        })
    }

    fn count(&mut self, candidates: &Candidates, records: &[u32], change: i32) {
        for record in records {
            let slot = candidates.records[*record as usize].slot;
            let entry = &mut self.table[slot as usize];
            entry.uses = entry.uses.saturating_add_signed(change);
        }
    }
}

/// Whether types get a name only because they must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Where it makes the text shorter.
    WhereItPays,
    /// Where nothing else will do.
    WhereNeeded,
}

/// Which types of a block have a name, by slot.
pub(crate) struct Decisions<'u> {
    uses: &'u Uses,
    sharing: Sharing,
    made: Vec<Decision>,
}

#[derive(Clone, Copy, Default)]
struct Decision {
    is_made: bool,
    is_named: bool,
    /// The length of the text at a place where it is used.
    width: u32,
    /// How deep that text nests.
    height: u32,
}

impl<'u> Decisions<'u> {
    /// No decisions yet; those to come go by these uses.
    pub(crate) fn new(uses: &'u Uses, sharing: Sharing) -> Decisions<'u> {
        Decisions { uses, sharing, made: vec![Decision::default(); uses.table.len()] }
    }

    /// Decides on the types of a graph, the inner ones first.
    pub(crate) fn decide(&mut self, candidates: &Candidates) {
        for record in &candidates.records {
            if !self.made[record.slot as usize].is_made {
                self.made[record.slot as usize] = self.decision(candidates, record);
            }
        }
    }

    /// Whether a type has a name.
    pub(crate) fn is_named(&self, record: &Record) -> bool {
        self.made[record.slot as usize].is_named
    }

    fn decision(&self, candidates: &Candidates, record: &Record) -> Decision {
        let within =
            record.within.iter().map(|inner| self.made[candidates.records[*inner as usize].slot as usize]);
        let height = 1 + within.clone().map(|inner| inner.height).max().unwrap_or(0);
        let width = within.fold(record.own_width, |width, inner| width.saturating_add(inner.width));
        let uses = self.uses.table[record.slot as usize].uses;
        let saved = width.saturating_mul(uses.saturating_sub(1));
        let cost = uses.saturating_mul(NAME_WIDTH).saturating_add(DECLARATION_WIDTH);
        let pays = self.sharing == Sharing::WhereItPays && uses > 1 && saved > cost;
        if record.is_loop || height > MAX_HEIGHT || pays {
            Decision { is_made: true, is_named: true, width: NAME_WIDTH, height: 0 }
        } else {
            Decision { is_made: true, is_named: false, width, height }
        }
    }
}
