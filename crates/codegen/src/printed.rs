//! A schema beyond the subset, understood once and printed as often as the decisions on names change.

use std::collections::HashMap;

use crate::graph::Graph;
use crate::print::{NAME_MARK, Printer};
use crate::share::{Candidates, Decisions};

/// The types of a schema and their current text.
pub(crate) struct Printed {
    pub(crate) types: Types,
    /// The text of the root.
    pub(crate) text: Marked,
    /// The texts of the named types that were asked for, by record.
    pub(crate) bodies: HashMap<u32, Marked>,
    /// By record, whether it had a name when the texts were printed; `None` before that.
    named: Option<Vec<bool>>,
}

/// A text in which the names of types are still missing.
#[derive(Default)]
pub(crate) struct Marked {
    text: String,
    /// Where names belong, in order: the place in the text, and the record.
    names: Vec<(usize, u32)>,
}

impl Marked {
    /// Takes the marks out of a text, as far as it was printed: what it starts with may hold anything.
    fn of(mut text: String, start: usize) -> Marked {
        if !text[start..].contains(NAME_MARK) {
            return Marked { text, names: Vec::new() };
        }
        let marked = text.split_off(start);
        let mut result = Marked { text, names: Vec::new() };
        for (place, part) in marked.split(NAME_MARK).enumerate() {
            match part.parse() {
                Ok(record) if place % 2 == 1 => result.names.push((result.text.len(), record)),
                _ => result.text.push_str(part),
            }
        }
        result
    }

    /// The records of the named types, in order.
    pub(crate) fn records(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.names.iter().map(|(_, record)| *record)
    }

    /// Appends the text, with the name of each record.
    pub(crate) fn write<'n>(&self, name_of: impl Fn(u32) -> &'n str, out: &mut String) {
        let mut written = 0;
        for (place, record) in &self.names {
            out.push_str(&self.text[written..*place]);
            out.push_str(name_of(*record));
            written = *place;
        }
        out.push_str(&self.text[written..]);
    }
}

/// The types of a schema.
pub(crate) struct Types {
    pub(crate) graph: Graph,
    pub(crate) candidates: Candidates,
}

impl Printed {
    pub(crate) fn new(types: Types) -> Printed {
        Printed { types, text: Marked::default(), bodies: HashMap::new(), named: None }
    }

    /// Prints the root, unless its text is still right.
    ///
    /// The text continues `before`, the last line of which is `indent` levels in.
    pub(crate) fn print(
        &mut self,
        decisions: &Decisions<'_>,
        indent: usize,
        before: impl FnOnce() -> String,
    ) {
        if self.is_printed(decisions) {
            return;
        }
        let named: Vec<bool> = self.named_by(decisions).collect();
        self.bodies.clear();
        let mut text = before();
        let column = match text.rfind('\n') {
            Some(newline) => text.len() - newline - 1,
            None => (2 * indent).max(text.len()),
        };
        let start = text.len();
        Printer::new(&self.types, &named).print_root(indent, column, &mut text);
        self.text = Marked::of(text, start);
        self.named = Some(named);
    }

    /// Whether its text is right.
    pub(crate) fn is_printed(&self, decisions: &Decisions<'_>) -> bool {
        self.named.as_ref().is_some_and(|named| self.named_by(decisions).eq(named.iter().copied()))
    }

    /// By record, whether it has a name.
    fn named_by(&self, decisions: &Decisions<'_>) -> impl Iterator<Item = bool> {
        self.types.candidates.records.iter().map(|record| decisions.is_named(record))
    }

    /// Gives the texts of named types, printing those that are missing.
    pub(crate) fn bodies(&mut self) -> Bodies<'_> {
        Bodies {
            types: &self.types,
            named: self.named.as_deref().unwrap_or_default(),
            printer: None,
            bodies: &mut self.bodies,
        }
    }

    /// Whether the text may name any type.
    pub(crate) fn names_any(&self) -> bool {
        self.named.as_ref().is_some_and(|named| named.contains(&true))
    }
}

/// The texts of the named types of a schema.
pub(crate) struct Bodies<'p> {
    types: &'p Types,
    named: &'p [bool],
    /// Made when the first text is missing.
    printer: Option<Printer<'p>>,
    bodies: &'p mut HashMap<u32, Marked>,
}

impl Bodies<'_> {
    /// The text of a named type.
    pub(crate) fn get(&mut self, record: u32) -> &Marked {
        let Bodies { types, named, printer, bodies } = self;
        bodies.entry(record).or_insert_with(|| {
            let mut body = String::new();
            printer.get_or_insert_with(|| Printer::new(types, named)).print_body(record, &mut body);
            Marked::of(body, 0)
        })
    }

    /// The types it gives the texts of.
    pub(crate) fn candidates(&self) -> &Candidates {
        &self.types.candidates
    }
}
