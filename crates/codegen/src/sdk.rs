//! The `tools:sdk` block: every tool's types, and `tools` itself.

mod entry;

use code_mode_schema::Json;

use self::entry::{Entry, Line, sort_key};
use crate::alias::Aliases;
use crate::instructions::instructions;
use crate::parallel::for_each;
use crate::render::UnknownNode;
use crate::share::{Decisions, Sharing, Uses};

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
    /// In the order of the block.
    entries: Vec<Entry>,
    /// Where the tools of the last update stand in `entries`, in the order in which they were given.
    given: Vec<usize>,
    uses: Uses,
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
        match self.place(tool.name, None) {
            Ok(place) if self.entries[place].is(tool) => {}
            Ok(place) => self.replace(place, Entry::of(tool)),
            Err(place) => {
                let entry = self.counted(Entry::of(tool));
                self.entries.insert(place, entry);
            }
        }
    }

    /// Removes a tool, if there is one of that name.
    pub fn remove(&mut self, name: &str) {
        if let Ok(place) = self.place(name, None) {
            let entry = self.entries.remove(place);
            self.discount(&entry);
        }
    }

    /// Takes the tools as they now are: new ones are added, changed ones replaced, all others removed.
    ///
    /// Of several tools of one name the last counts. Where there is much to render, all cores help.
    pub fn update(&mut self, tools: &[SdkTool<'_>]) {
        let hints = std::mem::take(&mut self.given);
        let mut new: Vec<&SdkTool<'_>> = Vec::new();
        // For each entry the tool that it is to show.
        let mut shown: Vec<Option<&SdkTool<'_>>> = vec![None; self.entries.len()];
        for (index, tool) in tools.iter().enumerate() {
            let place = self.place(tool.name, hints.get(index).copied());
            self.given.push(place.unwrap_or(usize::MAX));
            match place {
                Ok(place) => shown[place] = Some(tool),
                Err(_) if tool.name == TRANSPORT => {}
                Err(_) => new.push(tool),
            }
        }

        let places = self.entries.iter().zip(&shown).enumerate();
        let changed = places.filter_map(|(place, (entry, shown))| {
            shown.filter(|tool| !entry.is(tool)).map(|tool| Rendered {
                tool,
                place: Some(place),
                entry: None,
            })
        });
        let mut rendered: Vec<Rendered<'_>> = changed.collect();
        rendered.extend(last_of_each(new).into_iter().map(|tool| Rendered {
            tool,
            place: None,
            entry: None,
        }));
        for_each(&mut rendered, |rendered| rendered.entry = Some(Entry::of(rendered.tool)));

        let mut added = Vec::new();
        for Rendered { place, entry, .. } in rendered {
            match (place, entry) {
                (Some(place), Some(entry)) => self.replace(place, entry),
                (None, Some(entry)) => added.push(self.counted(entry)),
                (_, None) => {}
            }
        }
        if shown.iter().any(Option::is_none) {
            let entries = std::mem::take(&mut self.entries);
            for (entry, shown) in entries.into_iter().zip(shown) {
                match shown {
                    Some(_) => self.entries.push(entry),
                    None => self.discount(&entry),
                }
            }
        }
        if !added.is_empty() {
            self.entries.append(&mut added);
            self.entries.sort_by(|left, right| left.key.cmp(&right.key));
        }
    }

    /// The place of a tool in the block, tried first at `hint`; or the place where it would go.
    fn place(&self, name: &str, hint: Option<usize>) -> Result<usize, usize> {
        match hint {
            Some(hint) if self.entries.get(hint).is_some_and(|entry| *entry.name == *name) => Ok(hint),
            _ => {
                let key = sort_key(name);
                self.entries.binary_search_by(|entry| (*entry.key).cmp(&key))
            }
        }
    }

    fn replace(&mut self, place: usize, entry: Entry) {
        let entry = self.counted(entry);
        let old = std::mem::replace(&mut self.entries[place], entry);
        self.discount(&old);
    }

    /// Counts the types that an entry uses, which is about to be one of the block.
    fn counted(&mut self, mut entry: Entry) -> Entry {
        entry.each_printed_mut(|printed| self.uses.add(&mut printed.types.candidates));
        self.is_current = false;
        entry
    }

    /// Takes the types out that an entry used which the block no longer has.
    fn discount(&mut self, entry: &Entry) {
        entry.each_printed(|printed| self.uses.remove(&printed.types.candidates));
        self.is_current = false;
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
        self.entries.iter().map(Entry::report)
    }

    /// Brings the section up to date.
    fn write(&mut self) {
        if self.is_current {
            return;
        }
        let aliases = self.print();
        let lines: Vec<&Line> = self.entries.iter().flat_map(Entry::lines).collect();
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
        for entry in &self.entries {
            entry.each_printed(|printed| decisions.decide(&printed.types.candidates));
        }
        let stale = self.entries.iter_mut().filter(|entry| entry.is_stale(&decisions));
        for_each(&mut stale.collect::<Vec<_>>(), |entry| entry.print(&decisions));
        let mut aliases = Aliases::default();
        for (place, line) in self.entries.iter_mut().flat_map(Entry::lines_mut).enumerate() {
            if let Line::Printed(printed) = line {
                aliases.collect(place, printed);
            }
        }
        aliases
    }
}

/// A tool that an update has to render.
struct Rendered<'a> {
    tool: &'a SdkTool<'a>,
    /// That of the entry which it replaces.
    place: Option<usize>,
    entry: Option<Entry>,
}

/// Of several tools of one name the last.
fn last_of_each<'a>(mut tools: Vec<&'a SdkTool<'a>>) -> Vec<&'a SdkTool<'a>> {
    tools.reverse();
    tools.sort_by_key(|tool| tool.name);
    tools.dedup_by_key(|tool| tool.name);
    tools
}
