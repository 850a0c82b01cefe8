//! What rendering gives besides the text: named types, and what could not be said.

/// The TypeScript of one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// A type expression. It may name `JsonValue` and the [`aliases`](Rendered::aliases).
    pub text: String,
    /// The declarations it needs, in the order they are first named.
    pub aliases: Vec<Alias>,
    /// The places that became `unknown`.
    pub unknowns: Vec<UnknownNode>,
    /// How many places for a type the schema has, `unknown` ones included.
    pub nodes: usize,
}

/// A type with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// The name: `$` and a word, so that no global type and no keyword is called the same.
    pub name: String,
    /// The declaration, with a doc line before it if the definition is described.
    pub declaration: String,
}

/// A place of a schema that became `unknown`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownNode {
    /// Where in the document, as a JSON Pointer.
    pub pointer: String,
    /// Why.
    pub reason: UnknownReason,
}

/// Why a place of a schema became `unknown` (decision 30).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UnknownReason {
    /// A reference to something that is not in the document; nothing is fetched.
    UnresolvedReference,
    /// A reference that leads back to itself and says nothing on the way.
    CyclicReference,
    /// A dynamic reference that means different schemas depending on where it is reached from.
    DynamicReference,
    /// A `type` that is none of JSON Schema's.
    InvalidType,
    /// Something that is neither an object nor a boolean where a schema belongs.
    NotASchema,
    /// More than 512 schemas within each other.
    TooDeep,
    /// A schema that unfolds into more types than anybody would read.
    TooLarge,
}

impl UnknownReason {
    /// The reason as a word for machines, such as `unresolved-reference`.
    pub fn code(self) -> &'static str {
        match self {
            UnknownReason::UnresolvedReference => "unresolved-reference",
            UnknownReason::CyclicReference => "cyclic-reference",
            UnknownReason::DynamicReference => "dynamic-reference",
            UnknownReason::InvalidType => "invalid-type",
            UnknownReason::NotASchema => "not-a-schema",
            UnknownReason::TooDeep => "too-deep",
            UnknownReason::TooLarge => "too-large",
        }
    }
}

impl std::fmt::Display for UnknownReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.code())
    }
}
