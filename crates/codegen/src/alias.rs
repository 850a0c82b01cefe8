//! Declarations of named types: which a block needs, in what order, under what names.

use crate::names::TypeNames;
use crate::printed::{Marked, Printed};
use crate::share::{Candidates, KeyMap};

/// The named types of a block.
#[derive(Default)]
pub(crate) struct Aliases {
    names: KeyMap<String>,
    taken: TypeNames,
    declared: Vec<Declared>,
}

/// One declaration, and where its text is found.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    /// The place of the printed schema among those of the block.
    pub(crate) place: usize,
    pub(crate) record: u32,
}

impl Aliases {
    /// Names what the text of a schema names, and what the declarations of that name, in order of occurrence.
    pub(crate) fn collect(&mut self, place: usize, printed: &mut Printed) {
        if !printed.names_any() {
            return;
        }
        let mut pending: Vec<u32> = printed.text.records().rev().collect();
        let mut bodies = printed.bodies();
        while let Some(record) = pending.pop() {
            let candidate = &bodies.candidates().records[record as usize];
            if self.names.contains_key(&candidate.key) {
                continue;
            }
            let name = self.taken.take(candidate.label.hint.as_deref());
            self.names.insert(candidate.key, name);
            self.declared.push(Declared { place, record });
            pending.extend(bodies.get(record).records().rev());
        }
    }

    /// The declarations, in the order they were named.
    pub(crate) fn declared(&self) -> &[Declared] {
        &self.declared
    }

    /// The name of a declared type.
    pub(crate) fn name_of(&self, candidates: &Candidates, record: u32) -> &str {
        // Every mark in a text was collected before the text is written.
        self.names.get(&candidates.records[record as usize].key).map_or("unknown", String::as_str)
    }

    /// Appends the declaration of a type.
    pub(crate) fn write_declaration(&self, printed: &Printed, record: u32, out: &mut String) {
        let candidates = &printed.types.candidates;
        if let Some(doc) = &candidates.records[record as usize].label.doc {
            out.push_str("/** ");
            out.push_str(doc);
            out.push_str(" */\n");
        }
        out.push_str("type ");
        out.push_str(self.name_of(candidates, record));
        out.push_str(" = ");
        match printed.bodies.get(&record) {
            Some(body) => self.write_named(body, candidates, out),
            // The text of every declared type was asked for.
            None => out.push_str("unknown"),
        }
    }

    /// Appends a text with its names.
    pub(crate) fn write_named(&self, marked: &Marked, candidates: &Candidates, out: &mut String) {
        marked.write(|record| self.name_of(candidates, record), out);
    }
}
