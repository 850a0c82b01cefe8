//! The `tools:sdk` block: every tool's types, and `tools` itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use code_mode_schema::Json;

use crate::alias::Aliases;
use crate::comments::{make_literals_safe, write_doc_line};
use crate::instructions::instructions;
use crate::names::write_safe_key;
use crate::printed::Printed;
use crate::render::UnknownNode;
use crate::shape::Kinds;
use crate::share::{Decisions, Sharing, Uses};
use crate::subset::{self, write_indent};
use crate::to_ts::Compiled;

/// One tool as the SDK shows it.
#[derive(Clone, Copy, Debug)]
pub struct SdkTool<'a> {
    /// The name a program calls it by, as it stands.
    pub name: &'a str,
    /// What it does; empty for no comment.
    pub description: &'a str,
    /// The schema of its arguments.
    pub parameters: &'a Json,
    /// The schema of its result; `{}` if nothing is known.
    pub output: &'a Json,
}

/// The TypeScript that declares `tools`, without a fence and without a newline at the end.
///
/// The tools may come in any order; `run_code` is left out. Types that several tools share are
/// declared once, before the maps. Source: contract 5.2, decisions 30 and 31.
pub fn sdk_declarations(tools: &[SdkTool<'_>]) -> String {
    let mut builder = SdkBuilder::new();
    builder.update(tools);
    builder.declarations().to_owned()
}

/// The whole `tools:sdk` section: the instructions, a blank line, the declarations in a fence tagged `ts`.
///
/// Source: contract 5.2 and 5.3.
pub fn sdk_section(tools: &[SdkTool<'_>]) -> String {
    let mut builder = SdkBuilder::new();
    builder.update(tools);
    builder.section();
    builder.text
}

/// Makes the block again and again while tools come, go and change; only what changed is rendered.
///
/// The text depends on the tools alone, not on how they got there: the same tools give the same
/// bytes as [`sdk_declarations`] does.
///
/// ```
/// use code_mode_codegen::{SdkBuilder, SdkTool};
/// use code_mode_schema::json;
///
/// let (args, output) = (json!({"type": "object"}), json!({"type": "string"}));
/// let echo = SdkTool { name: "echo", description: "", parameters: &args, output: &output };
/// let mut builder = SdkBuilder::new();
/// builder.set(&echo);
/// assert!(builder.declarations().contains("  echo: string;\n"));
/// builder.remove("echo");
/// assert!(builder.declarations().contains("interface ToolOutputMap {}"));
/// ```
#[derive(Default)]
pub struct SdkBuilder {
    /// By the name, in a form of which the order is the order of the block.
    tools: BTreeMap<Box<[u8]>, Entry>,
    uses: Uses,
    /// Counts the calls of `update`.
    updates: u64,
    /// The last section.
    text: String,
    is_current: bool,
}

/// What rendering made of a tool.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolReport<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// What it made of the schema of the arguments.
    pub parameters: SchemaReport<'a>,
    /// What it made of the schema of the result.
    pub output: SchemaReport<'a>,
}

/// What rendering made of a schema.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SchemaReport<'a> {
    /// How many places for a type it has, `unknown` ones included.
    pub nodes: usize,
    /// The places that became `unknown`.
    pub unknowns: &'a [UnknownNode],
}

struct Entry {
    name: Box<str>,
    description: Box<str>,
    parameters: Side,
    output: Side,
    /// The last update that had this tool.
    seen: u64,
}

/// One of the two types of a tool.
struct Side {
    schema: Json,
    unknowns: Vec<UnknownNode>,
    nodes: usize,
    line: Line,
}

/// What stands in a map for a tool.
enum Line {
    /// A schema of the subset, done for good.
    Fixed(String),
    /// A schema beyond it; its text depends on which types are shared.
    Printed(Box<Printed>),
}

/// The tool that runs programs; it is not one of the tools that a program calls (contract 5.2).
const TRANSPORT: &str = "run_code";

/// What stands before the declarations in the section.
const SECTION_START: &str = concat!(instructions!(), "\n\n```ts\n");

/// What stands behind them.
const SECTION_END: &str = "\n```";

const JSON_VALUE: &str =
    "type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }";

const TOOLS: &str = "

type ToolName = keyof ToolOutputMap

declare class ToolCallError extends Error {
  readonly name: \"ToolCallError\";
  readonly toolName: ToolName;
}

declare const tools: {
  [K in ToolName]: (args: ToolArgsMap[K]) => Promise<ToolOutputMap[K]>;
}";

impl SdkBuilder {
    /// A builder without tools.
    pub fn new() -> SdkBuilder {
        SdkBuilder::default()
    }

    /// Adds a tool, or replaces the one of that name. `run_code` is not taken.
    pub fn set(&mut self, tool: &SdkTool<'_>) {
        if tool.name == TRANSPORT {
            return;
        }
        let key = sort_key(tool.name);
        match self.tools.get_mut(&*key) {
            Some(entry) if entry.is(tool) => entry.seen = self.updates,
            _ => {
                let mut entry = Entry::of(tool, self.updates);
                entry.each_printed_mut(|printed| self.uses.add(&mut printed.types.candidates));
                if let Some(old) = self.tools.insert(key.into(), entry) {
                    old.each_printed(|printed| self.uses.remove(&printed.types.candidates));
                }
                self.is_current = false;
            }
        }
    }

    /// Removes a tool, if there is one of that name.
    pub fn remove(&mut self, name: &str) {
        if let Some(entry) = self.tools.remove(&*sort_key(name)) {
            entry.each_printed(|printed| self.uses.remove(&printed.types.candidates));
            self.is_current = false;
        }
    }

    /// Takes the tools as they now are: new ones are added, changed ones replaced, all others removed.
    ///
    /// Of several tools of one name the last counts.
    pub fn update(&mut self, tools: &[SdkTool<'_>]) {
        self.updates += 1;
        tools.iter().for_each(|tool| self.set(tool));
        let Self { tools, uses, updates, is_current, .. } = self;
        tools.retain(|_, entry| {
            let stays = entry.seen == *updates;
            if !stays {
                entry.each_printed(|printed| uses.remove(&printed.types.candidates));
                *is_current = false;
            }
            stays
        });
    }

    /// The TypeScript that declares `tools`; see [`sdk_declarations`].
    pub fn declarations(&mut self) -> &str {
        self.write();
        &self.text[SECTION_START.len()..self.text.len() - SECTION_END.len()]
    }

    /// The whole section; see [`sdk_section`].
    pub fn section(&mut self) -> &str {
        self.write();
        &self.text
    }

    /// What rendering made of each tool, in the order of the block.
    pub fn reports(&self) -> impl Iterator<Item = ToolReport<'_>> {
        self.tools.values().map(|entry| ToolReport {
            name: &entry.name,
            parameters: entry.parameters.report(),
            output: entry.output.report(),
        })
    }

    /// Brings the section up to date.
    fn write(&mut self) {
        if self.is_current {
            return;
        }
        let aliases = self.print();
        let lines: Vec<&Line> = self.tools.values().flat_map(Entry::lines).collect();
        let out = &mut self.text;
        out.clear();
        out.push_str(SECTION_START);
        out.push_str(JSON_VALUE);
        for (place, declared) in aliases.declared().iter().enumerate() {
            out.push_str(if place == 0 { "\n\n" } else { "\n" });
            if let Line::Printed(printed) = lines[declared.place] {
                aliases.write_declaration(printed, declared.record, out);
            }
        }
        for (name, first) in [("ToolArgsMap", 0), ("ToolOutputMap", 1)] {
            out.push_str("\n\ninterface ");
            out.push_str(name);
            out.push_str(if lines.is_empty() { " {" } else { " {\n" });
            for line in lines.iter().skip(first).step_by(2) {
                line.write(&aliases, out);
            }
            out.push('}');
        }
        out.push_str(TOOLS);
        out.push_str(SECTION_END);
        self.is_current = true;
    }

    /// Brings all texts up to date with what is shared now, and names what they name.
    fn print(&mut self) -> Aliases {
        let mut decisions = Decisions::new(&self.uses, Sharing::WhereItPays);
        for entry in self.tools.values() {
            entry.each_printed(|printed| decisions.decide(&printed.types.candidates));
        }
        let mut aliases = Aliases::default();
        for (place, entry) in self.tools.values_mut().enumerate() {
            let Entry { name, description, parameters, output, .. } = entry;
            parameters.print(&decisions, name, description);
            output.print(&decisions, name, "");
            for (side, line) in [(0, &mut parameters.line), (1, &mut output.line)] {
                if let Line::Printed(printed) = line {
                    aliases.collect(2 * place + side, printed);
                }
            }
        }
        aliases
    }
}

impl Entry {
    fn of(tool: &SdkTool<'_>, seen: u64) -> Entry {
        Entry {
            name: tool.name.into(),
            description: tool.description.into(),
            // A tool is called with an object, whatever else its schema would admit.
            parameters: Side::of(tool, tool.parameters, tool.description, Kinds::OBJECT, "args"),
            output: Side::of(tool, tool.output, "", Kinds::ALL, "output"),
            seen,
        }
    }

    fn is(&self, tool: &SdkTool<'_>) -> bool {
        *self.description == *tool.description
            && is_same(&self.parameters.schema, tool.parameters)
            && is_same(&self.output.schema, tool.output)
    }

    fn lines(&self) -> [&Line; 2] {
        [&self.parameters.line, &self.output.line]
    }

    fn each_printed(&self, mut each: impl FnMut(&Printed)) {
        for line in self.lines() {
            if let Line::Printed(printed) = line {
                each(printed);
            }
        }
    }

    fn each_printed_mut(&mut self, mut each: impl FnMut(&mut Printed)) {
        for line in [&mut self.parameters.line, &mut self.output.line] {
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
    fn write(&self, aliases: &Aliases, out: &mut String) {
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
fn sort_key(name: &str) -> Cow<'_, [u8]> {
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
