//! One tool of the block: its two lines, and whether they are still those of the tool.

use std::borrow::Cow;
use std::sync::Arc;

use code_mode_schema::Json;

use super::{SchemaReport, SdkTool, ToolReport};
use crate::alias::Aliases;
use crate::comments::{make_literals_safe, write_doc_line};
use crate::names::write_safe_key;
use crate::printed::Printed;
use crate::render::UnknownNode;
use crate::shape::Kinds;
use crate::share::Decisions;
use crate::subset::{self, write_indent};
use crate::to_ts::Compiled;

/// A tool and what was made of it.
pub(super) struct Entry {
    /// The bytes of the name, in a form whose order is the order of the block.
    pub(super) key: Box<[u8]>,
    pub(super) name: Box<str>,
    description: Box<str>,
    parameters: Side,
    output: Side,
}

/// One of the two types of a tool.
struct Side {
    schema: Json,
    unknowns: Vec<UnknownNode>,
    nodes: usize,
    line: Line,
}

/// What stands in a map for a tool.
pub(super) enum Line {
    /// A schema of the subset, done for good.
    Fixed(String),
    /// A schema beyond it; its text depends on which types are shared.
    Printed(Box<Printed>),
}

impl Entry {
    pub(super) fn of(tool: &SdkTool<'_>) -> Entry {
        Entry {
            key: sort_key(tool.name).into(),
            name: tool.name.into(),
            description: tool.description.into(),
            // A tool is called with an object, whatever else its schema would admit.
            parameters: Side::of(tool, tool.parameters, tool.description, Kinds::OBJECT, "args"),
            output: Side::of(tool, tool.output, "", Kinds::ALL, "output"),
        }
    }

    /// Whether it was made of this very tool.
    pub(super) fn is(&self, tool: &SdkTool<'_>) -> bool {
        *self.description == *tool.description
            && is_same(&self.parameters.schema, tool.parameters)
            && is_same(&self.output.schema, tool.output)
    }

    /// Its lines in the two maps.
    pub(super) fn lines(&self) -> [&Line; 2] {
        [&self.parameters.line, &self.output.line]
    }

    pub(super) fn each_printed(&self, mut each: impl FnMut(&Printed)) {
        for line in self.lines() {
            if let Line::Printed(printed) = line {
                each(printed);
            }
        }
    }

    pub(super) fn lines_mut(&mut self) -> [&mut Line; 2] {
        [&mut self.parameters.line, &mut self.output.line]
    }

    /// Whether its texts were printed with other decisions than these.
    pub(super) fn is_stale(&self, decisions: &Decisions<'_>) -> bool {
        self.lines().into_iter().any(|line| match line {
            Line::Printed(printed) => !printed.is_printed(decisions),
            Line::Fixed(_) => false,
        })
    }

    /// Brings its texts up to date with what is shared now.
    pub(super) fn print(&mut self, decisions: &Decisions<'_>) {
        self.parameters.print(decisions, &self.name, &self.description);
        self.output.print(decisions, &self.name, "");
    }

    pub(super) fn report(&self) -> ToolReport<'_> {
        ToolReport { name: &self.name, parameters: self.parameters.report(), output: self.output.report() }
    }

    pub(super) fn each_printed_mut(&mut self, mut each: impl FnMut(&mut Printed)) {
        for line in self.lines_mut() {
            if let Line::Printed(printed) = line {
                each(printed);
            }
        }
    }
}

impl Side {
    fn of(tool: &SdkTool<'_>, schema: &Json, description: &str, kinds: Kinds, hint: &str) -> Side {
        let hint = || Arc::from(format!("{} {hint}", tool.name));
        let Compiled { types, unknowns, nodes } = Compiled::of(schema, kinds, hint);
        let line = match types {
            Some(types) => Line::Printed(Box::new(Printed::new(types))),
            None => {
                let mut text = line_start(tool.name, description);
                let start = text.len();
                subset::print(schema, 1, &mut text);
                make_literals_safe(start, &mut text);
                text.push_str(";\n");
                text.shrink_to_fit();
                Line::Fixed(text)
            }
        };
        Side { schema: schema.clone(), unknowns, nodes, line }
    }

    fn print(&mut self, decisions: &Decisions<'_>, name: &str, description: &str) {
        if let Line::Printed(printed) = &mut self.line {
            printed.print(decisions, 1, || line_start(name, description));
        }
    }

    fn report(&self) -> SchemaReport<'_> {
        SchemaReport { nodes: self.nodes, unknowns: &self.unknowns }
    }
}

impl Line {
    pub(super) fn write(&self, aliases: &Aliases, out: &mut String) {
        match self {
            Line::Printed(printed) => {
                aliases.write_named(&printed.text, &printed.types.candidates, out);
                out.push_str(";\n");
            }
            Line::Fixed(text) => out.push_str(text),
        }
    }
}

/// The bytes of a name, changed so that their order is that of the name's UTF-16 code units.
///
/// The two orders differ in one place: characters beyond U+FFFF are surrogates in UTF-16, which
/// stand before U+E000, while in UTF-8 they stand behind U+FFFF.
pub(super) fn sort_key(name: &str) -> Cow<'_, [u8]> {
    if name.bytes().all(|byte| byte < 0xee) {
        return Cow::Borrowed(name.as_bytes());
    }
    let moved = name.bytes().map(|byte| match byte {
        0xee | 0xef => byte + 5,
        0xf0..=0xf4 => byte - 2,
        _ => byte,
    });
    Cow::Owned(moved.collect())
}

/// Whether two schemas are equal down to the order of their members, which shows in the text.
fn is_same(left: &Json, right: &Json) -> bool {
    // As a rule it is the schema that was given before; then nothing is allocated.
    if are_shared(left, right) {
        return true;
    }
    let mut pending = vec![(left, right)];
    while let Some((left, right)) = pending.pop() {
        match (left, right) {
            _ if are_shared(left, right) => {}
            (Json::Array(left), Json::Array(right)) if left.len() == right.len() => {
                pending.extend(left.iter().zip(right.iter()));
            }
            (Json::Object(left), Json::Object(right)) if left.keys().eq(right.keys()) => {
                pending.extend(left.values().zip(right.values()));
            }
            (Json::Array(_) | Json::Object(_), _) => return false,
            _ if left == right => {}
            _ => return false,
        }
    }
    true
}

/// Whether two values are one and the same in memory.
fn are_shared(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Array(left), Json::Array(right)) => left.is_same(right),
        (Json::Object(left), Json::Object(right)) => left.is_same(right),
        _ => false,
    }
}

/// The doc line of a tool, if it is described, and its key.
fn line_start(name: &str, description: &str) -> String {
    let mut text = String::with_capacity(name.len() + description.len() + 256);
    write_doc_line(description, 1, &mut text);
    write_indent(1, &mut text);
    write_safe_key(name, &mut text);
    text.push_str(": ");
    text
}
