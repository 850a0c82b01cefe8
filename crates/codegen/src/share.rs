//! Which types get a name of their own: those that contain themselves, those that occur more than
//! once and are long enough for a name to pay, and those that nest too deep to be written in place.

use std::collections::HashMap;

use crate::graph::Graph;
use crate::shape::{Id, Node};

/// Types with a shorter text are always written in place.
const MIN_WIDTH: u32 = 40;

/// About how long a name is, with its `$`.
const NAME_WIDTH: u32 = 12;

/// What a declaration costs besides the type: `type $Name = ` and a line break.
const DECLARATION_WIDTH: u32 = 16;

/// Types that nest deeper than this in one text get a name on the way.
const MAX_HEIGHT: u32 = 24;

/// What a type is known by across graphs; equal types have equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    hash: u64,
    width: u32,
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
    /// The node that is written in its declaration.
    pub(crate) body: Id,
    pub(crate) hint: Option<Box<str>>,
    pub(crate) doc: Option<Box<str>>,
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
                body: recursive.body,
                hint: recursive.hint.clone(),
                doc: recursive.doc.clone(),
                is_loop: true,
                own_width: 0,
                within: Vec::new(),
            }));
        }
        // By node: the candidates outermost in it, itself included.
        let mut outermost: Vec<Vec<u32>> = Vec::with_capacity(graph.nodes.len());
        let bodies: Vec<Id> = graph.loops.iter().map(|recursive| recursive.body).collect();
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
            let widths = within.iter().map(|record| candidates.records[*record as usize].written_width());
            let own_width = facts.width.saturating_sub(widths.fold(0, u32::saturating_add));
            let record = candidates.add(Record {
                key: Key { hash: facts.hash, width: facts.width },
                body: id,
                hint: facts.hint.clone(),
                doc: facts.doc.clone(),
                is_loop: false,
                own_width,
                within,
            });
            candidates.of_node[place] = Some(record);
            outermost.push(vec![record]);
        }
        for (place, body) in bodies.iter().enumerate() {
            if let Some(record) = of_loop[place] {
                candidates.records[record as usize].within = outermost[body.index()].clone();
            }
        }
        candidates.roots = outermost[graph.root.index()].clone();
        candidates
    }

    fn add(&mut self, record: Record) -> u32 {
        self.records.push(record);
        u32::try_from(self.records.len() - 1).expect("no more records than nodes and loops")
    }
}
