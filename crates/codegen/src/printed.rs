//! A schema beyond the subset, understood once and printed as often as the decisions on names change.

use std::collections::HashMap;

use crate::graph::Graph;
use crate::print::Printer;
use crate::share::{Candidates, Decisions};

/// The types of a schema and their current text.
pub(crate) struct Printed {
    pub(crate) types: Types,
    /// The text of the root, with marks where named types stand.
    pub(crate) text: String,
    /// The texts of the named types that were asked for, by record.
    pub(crate) bodies: HashMap<u32, String>,
    /// By record, whether it had a name when the texts were printed; `None` before that.
    named: Option<Vec<bool>>,
}

/// The types of a schema.
pub(crate) struct Types {
    pub(crate) graph: Graph,
    pub(crate) candidates: Candidates,
}

impl Printed {
    pub(crate) fn new(types: Types) -> Printed {
        Printed { types, text: String::new(), bodies: HashMap::new(), named: None }
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
        let named = self.types.candidates.records.iter().map(|record| decisions.is_named(record));
        if self.named.as_ref().is_some_and(|printed| named.clone().eq(printed.iter().copied())) {
            return;
        }
        let named: Vec<bool> = named.collect();
        self.bodies.clear();
        self.text = before();
        let column = match self.text.rfind('\n') {
            Some(newline) => self.text.len() - newline - 1,
            None => (2 * indent).max(self.text.len()),
        };
        Printer::new(&self.types, &named).print_root(indent, column, &mut self.text);
        self.named = Some(named);
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
    bodies: &'p mut HashMap<u32, String>,
}

impl Bodies<'_> {
    /// The text of a named type.
    pub(crate) fn get(&mut self, record: u32) -> &str {
        let Bodies { types, named, printer, bodies } = self;
        bodies.entry(record).or_insert_with(|| {
            let mut body = String::new();
            printer.get_or_insert_with(|| Printer::new(types, named)).print_body(record, &mut body);
            body
        })
    }

    /// The types it gives the texts of.
    pub(crate) fn candidates(&self) -> &Candidates {
        &self.types.candidates
    }
}
