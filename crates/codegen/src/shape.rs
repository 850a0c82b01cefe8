//! Types between schema and text: a graph of nodes that own what they show.

use std::sync::Arc;

use code_mode_schema::Json;

/// Where a node stands in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) u32);

impl Id {
    pub(crate) const ANY: Id = Id(0);
    pub(crate) const NEVER: Id = Id(1);
    pub(crate) const STRING: Id = Id(2);
    pub(crate) const NUMBER: Id = Id(3);
    pub(crate) const BOOLEAN: Id = Id(4);
    pub(crate) const NULL: Id = Id(5);
    pub(crate) const UNKNOWN: Id = Id(6);

    /// Whether this is a node without children that every graph has.
    pub(crate) fn is_leaf(self) -> bool {
        self.index() < LEAVES.len()
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The nodes that every graph starts with, at the places that the constants of [`Id`] name.
pub(crate) const LEAVES: [Node; 7] =
    [Node::Any, Node::Never, Node::String, Node::Number, Node::Boolean, Node::Null, Node::Unknown];

/// One type; children are other nodes of the same graph.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// `JsonValue`.
    Any,
    /// `never`.
    Never,
    /// `string`.
    String,
    /// `number`.
    Number,
    /// `boolean`.
    Boolean,
    /// `null`.
    Null,
    /// `unknown`: the schema says something that TypeScript cannot, or nothing that makes sense.
    Unknown,
    /// One or more literal values; containers become closed objects and tuples.
    Literals(Vec<Json>),
    /// `T[]`.
    Array(Id),
    /// `[A, B?, ...C[]]`.
    Tuple {
        /// The elements that have a place.
        items: Vec<Id>,
        /// How many of them must be there.
        required: usize,
        /// The elements after them; `None` for none.
        rest: Option<Id>,
    },
    /// An object with members, index signatures or neither.
    Object(ObjectNode),
    /// `A | B`.
    Union(Vec<Id>),
    /// `A & B`.
    Both(Vec<Id>),
    /// A type that contains itself, by the number of its alias; only after simplification.
    Recursive(u32),
}

/// What an object holds.
#[derive(Clone, Debug)]
pub(crate) struct ObjectNode {
    pub(crate) members: Vec<Member>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) openness: Openness,
}

/// Whether an object may hold members that it does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Openness {
    /// Only what is declared.
    Closed,
    /// Any JSON under any other name: `& Record<string, JsonValue>`.
    Open,
}

/// One declared member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: Arc<str>,
    pub(crate) presence: Presence,
    /// The text of its doc comment, already safe.
    pub(crate) doc: Option<Box<str>>,
    pub(crate) value: Id,
}

/// Whether a member must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Presence {
    Required,
    Optional,
}

/// One index signature.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) keys: Keys,
    pub(crate) value: Id,
    /// Whether `undefined` is added, which an optional member beside the signature asks for.
    pub(crate) with_undefined: bool,
}

/// The names that an index signature covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Keys {
    /// All.
    Any,
    /// Those that start so.
    Prefix(Box<str>),
    /// Those that end so.
    Suffix(Box<str>),
}

impl Node {
    /// Calls `visit` with every child, in the order they are printed.
    pub(crate) fn each_child(&self, mut visit: impl FnMut(Id)) {
        match self {
            Node::Any
            | Node::Never
            | Node::String
            | Node::Number
            | Node::Boolean
            | Node::Null
            | Node::Unknown
            | Node::Literals(_)
            | Node::Recursive(_) => {}
            Node::Array(item) => visit(*item),
            Node::Tuple { items, rest, .. } => items.iter().chain(rest).copied().for_each(visit),
            Node::Object(object) => {
                object.members.iter().for_each(|member| visit(member.value));
                object.indexes.iter().for_each(|index| visit(index.value));
            }
            Node::Union(members) | Node::Both(members) => members.iter().copied().for_each(visit),
        }
    }

    /// Replaces every child by what `map` makes of it.
    pub(crate) fn map_children(&mut self, mut map: impl FnMut(Id) -> Id) {
        match self {
            Node::Array(item) => *item = map(*item),
            Node::Tuple { items, rest, .. } => {
                items.iter_mut().chain(rest).for_each(|item| *item = map(*item))
            }
            Node::Object(object) => {
                object.members.iter_mut().for_each(|member| member.value = map(member.value));
                object.indexes.iter_mut().for_each(|index| index.value = map(index.value));
            }
            Node::Union(members) | Node::Both(members) => {
                members.iter_mut().for_each(|member| *member = map(*member));
            }
            _ => {}
        }
    }
}

/// A set of the six kinds of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const STRING: Kinds = Kinds(1);
    pub(crate) const NUMBER: Kinds = Kinds(2);
    pub(crate) const BOOLEAN: Kinds = Kinds(4);
    pub(crate) const ARRAY: Kinds = Kinds(8);
    pub(crate) const OBJECT: Kinds = Kinds(16);
    pub(crate) const NULL: Kinds = Kinds(32);
    pub(crate) const ALL: Kinds = Kinds(63);

    /// Each kind by itself, in the order in which unions name them.
    pub(crate) const EACH: [Kinds; 6] =
        [Kinds::STRING, Kinds::NUMBER, Kinds::BOOLEAN, Kinds::ARRAY, Kinds::OBJECT, Kinds::NULL];

    /// How many kinds there are.
    pub(crate) fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) fn with(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    pub(crate) fn has(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// The kind of a value.
    pub(crate) fn of(value: &Json) -> Kinds {
        match value {
            Json::Null => Kinds::NULL,
            Json::Bool(_) => Kinds::BOOLEAN,
            Json::Number(_) => Kinds::NUMBER,
            Json::String(_) => Kinds::STRING,
            Json::Array(_) => Kinds::ARRAY,
            Json::Object(_) => Kinds::OBJECT,
        }
    }
}
