//! Simplified types: a tree as far as it goes, with numbered places where a type contains itself.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use code_mode_schema::Json;

use crate::shape::{Id, LEAVES, Node};

/// A type graph in which every node stands after its children.
///
/// The only ways round are [`Node::Recursive`] nodes, which stand for an entry of `loops`.
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) facts: Vec<NodeFacts>,
    pub(crate) root: Id,
    pub(crate) loops: Vec<Loop>,
}

/// What is known of a node besides itself.
#[derive(Clone, Debug)]
pub(crate) struct NodeFacts {
    /// Equal for equal types, in whatever graph.
    pub(crate) hash: u64,
    /// About how long its text is with everything written out.
    pub(crate) width: u32,
    /// How many alternatives it has when it is part of an intersection.
    pub(crate) alternatives: u32,
    /// Whether a [`Node::Recursive`] is in it.
    pub(crate) is_recursive: bool,
    /// What it may be called.
    pub(crate) label: Label,
}

/// What a type may be called, should it get a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    /// A word to make a name of.
    pub(crate) hint: Option<Arc<str>>,
    /// Whether it is one thing to a reader, and so not to be merged into what it is part of.
    pub(crate) is_definition: bool,
    /// The comment of its declaration.
    pub(crate) doc: Option<Box<str>>,
}

/// A type that contains itself.
pub(crate) struct Loop {
    pub(crate) body: Id,
    pub(crate) label: Label,
    /// What stands for the type in the hashes of those that contain it.
    pub(crate) hash: u64,
}

impl Graph {
    pub(crate) fn new() -> Graph {
        let mut graph = Graph { nodes: Vec::new(), facts: Vec::new(), root: Id::ANY, loops: Vec::new() };
        for leaf in LEAVES {
            graph.push(leaf, Label::default());
        }
        graph
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    pub(crate) fn facts(&self, id: Id) -> &NodeFacts {
        &self.facts[id.index()]
    }

    /// About how long the text is with everything but loops written out.
    pub(crate) fn width(&self) -> u32 {
        let bodies = self.loops.iter().map(|recursive| recursive.body);
        bodies.fold(self.facts(self.root).width, |width, body| width.saturating_add(self.facts(body).width))
    }

    /// Adds a node whose children are there already.
    pub(crate) fn push(&mut self, node: Node, label: Label) -> Id {
        let id = Id(u32::try_from(self.nodes.len()).expect("no larger than the graph it is made from"));
        let mut is_recursive = matches!(node, Node::Recursive(_));
        node.each_child(|child| is_recursive |= self.facts(child).is_recursive);
        let (hash, width) = (self.hash_of(&node), self.width_of(&node));
        let alternatives = self.alternatives_of(&node);
        let facts = NodeFacts { hash, width, alternatives, is_recursive, label };
        self.nodes.push(node);
        self.facts.push(facts);
        id
    }

    /// Makes the hashes of types that contain themselves tell them apart.
    ///
    /// A loop's hash is what it holds when looked at to a depth of as many loops as there are, so
    /// equal hashes mean types that unfold alike, wherever their graphs come from. Where that would
    /// take long, a loop is only equal to the one at its place in an equal graph.
    pub(crate) fn settle_hashes(&mut self) {
        const MAX_STEPS: usize = 1_000_000;
        if self.loops.is_empty() {
            return;
        }
        let mut steps: usize = 0;
        for (node, _) in self.nodes.iter().zip(&self.facts).filter(|(_, facts)| facts.is_recursive) {
            steps += 1;
            node.each_child(|_| steps += 1);
        }
        let mut rounds = self.loops.len() + 1;
        let mut salt = 0;
        if rounds.saturating_mul(steps) > MAX_STEPS {
            rounds = 1;
            salt = self.hash_of_all();
        }
        for (place, recursive) in self.loops.iter_mut().enumerate() {
            recursive.hash = if salt == 0 { 0 } else { salt.wrapping_add(place as u64) };
        }
        for _ in 0..rounds {
            for place in 0..self.nodes.len() {
                if self.facts[place].is_recursive {
                    self.facts[place].hash = self.hash_of(&self.nodes[place]);
                }
            }
            for place in 0..self.loops.len() {
                self.loops[place].hash = self.facts(self.loops[place].body).hash;
            }
        }
    }

    fn hash_of_all(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for node in &self.nodes {
            self.hash_of(node).hash(&mut hasher);
            node.each_child(|child| child.hash(&mut hasher));
        }
        hasher.finish() | 1
    }

    fn hash_of(&self, node: &Node) -> u64 {
        // `DefaultHasher::new` is not seeded, and the bytes of the output do not depend on the
        // values anyway, only on which are equal.
        let mut hasher = DefaultHasher::new();
        std::mem::discriminant(node).hash(&mut hasher);
        match node {
            Node::Literals(literals) => {
                literals.iter().for_each(|literal| hash_literal(literal, &mut hasher))
            }
            Node::Tuple { items, required, rest } => {
                (items.len(), required, rest.is_some()).hash(&mut hasher)
            }
            Node::Object(object) => {
                object.openness.hash(&mut hasher);
                for member in &object.members {
                    (&member.name, member.presence, &member.doc).hash(&mut hasher);
                }
                for index in &object.indexes {
                    (&index.keys, index.with_undefined).hash(&mut hasher);
                }
            }
            Node::Recursive(place) => {
                self.loops.get(*place as usize).map_or(0, |recursive| recursive.hash).hash(&mut hasher);
            }
            _ => {}
        }
        node.each_child(|child| self.facts(child).hash.hash(&mut hasher));
        hasher.finish()
    }

    fn alternatives_of(&self, node: &Node) -> u32 {
        /// What a type counts of which the body is not known yet.
        const OF_LOOP: u32 = 8;
        let of = |member: &Id| self.facts(*member).alternatives;
        match node {
            Node::Union(members) => members.iter().map(of).fold(0, u32::saturating_add),
            Node::Both(members) => members.iter().map(of).fold(1, u32::saturating_mul),
            Node::Literals(literals) => length(literals.len()),
            Node::Recursive(_) => OF_LOOP,
            Node::Any => 6,
            Node::Boolean => 2,
            _ => 1,
        }
    }

    fn width_of(&self, node: &Node) -> u32 {
        let mut width: u32 = match node {
            Node::Any => 9,
            Node::Never => 5,
            Node::String | Node::Number => 6,
            Node::Boolean | Node::Unknown => 7,
            Node::Null => 4,
            Node::Recursive(_) => 8,
            Node::Literals(literals) => literals.iter().map(|literal| length(literal.text_len()) + 3).sum(),
            Node::Array(_) => 2,
            Node::Tuple { items, .. } => 2 + 2 * length(items.len()),
            Node::Object(object) => {
                let members = object.members.iter().map(|member| {
                    4 + length(member.name.len()) + member.doc.as_ref().map_or(0, |doc| 8 + length(doc.len()))
                });
                4 + members.sum::<u32>() + 15 * length(object.indexes.len()) + 28
            }
            Node::Union(members) | Node::Both(members) => 3 * length(members.len()),
        };
        node.each_child(|child| width = width.saturating_add(self.facts(child).width));
        width
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX / 4).min(u32::MAX / 4)
}

fn hash_literal(literal: &Json, hasher: &mut DefaultHasher) {
    match literal {
        // The value's own hash ignores the order of members, which shows in the text.
        Json::Array(_) | Json::Object(_) => literal.to_text().hash(hasher),
        scalar => scalar.hash(hasher),
    }
}
