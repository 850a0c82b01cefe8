//! The spine: one schema becomes one TypeScript type.

use std::sync::Arc;

use code_mode_schema::Json;

use crate::alias::Aliases;
use crate::lower::lower;
use crate::printed::{Printed, Types};
use crate::render::{Alias, Rendered, UnknownNode};
use crate::shape::Kinds;
use crate::share::{Candidates, Decisions, Sharing, Uses};
use crate::simplify::simplify;
use crate::subset;

/// The TypeScript type of a JSON Schema; never fails.
///
/// `indent` is the level (two spaces each) of the line that the text starts on. The text may name
/// `JsonValue`, which the SDK block declares. A schema of the subset prints byte for byte as
/// contract 5.1 says; any other as decision 30 says. Only a type that contains itself needs names
/// of its own: their declarations follow the type after a blank line each, so that
/// `type T = <text>` is always a valid program.
///
/// ```
/// use code_mode_codegen::json_schema_to_ts;
/// use code_mode_schema::json;
///
/// let schema = json!({"type": ["string", "null"], "minLength": 1});
/// assert_eq!(json_schema_to_ts(&schema, 0), "string | null");
/// ```
///
/// Source: contract 5.1, decision 30.
pub fn json_schema_to_ts(schema: &Json, indent: usize) -> String {
    let Rendered { mut text, aliases, .. } = render(schema, indent);
    for alias in aliases {
        text.push_str("\n\n");
        text.push_str(&alias.declaration);
    }
    text
}

/// The same as [`json_schema_to_ts`] in parts, with what could not be said.
pub fn render(schema: &Json, indent: usize) -> Rendered {
    let Compiled { types, unknowns, nodes } = Compiled::of(schema, Kinds::ALL, || Arc::from("Root"));
    let Some(mut types) = types else {
        let mut text = String::new();
        subset::print(schema, indent, &mut text);
        return Rendered { text, aliases: Vec::new(), unknowns, nodes };
    };
    let is_long = types.graph.width() > MAX_UNSHARED_WIDTH;
    let sharing = if is_long { Sharing::WhereItPays } else { Sharing::WhereNeeded };
    let mut uses = Uses::default();
    uses.add(&mut types.candidates);
    let mut decisions = Decisions::new(&uses, sharing);
    decisions.decide(&types.candidates);
    let mut printed = Printed::new(types);
    printed.print(&decisions, indent, String::new);
    let mut aliases = Aliases::default();
    aliases.collect(0, &mut printed);
    let candidates = &printed.types.candidates;
    let mut text = String::new();
    aliases.write_named(&printed.text, candidates, &mut text);
    let aliases = aliases.declared().iter().map(|declared| {
        let mut declaration = String::new();
        aliases.write_declaration(&printed, declared.record, &mut declaration);
        Alias { name: aliases.name_of(candidates, declared.record).to_owned(), declaration }
    });
    Rendered { text, aliases: aliases.collect(), unknowns, nodes }
}

/// From this length on, what occurs more than once is written once even where one schema stands alone.
const MAX_UNSHARED_WIDTH: u32 = 20_000;

/// A schema understood, ready to be printed.
pub(crate) struct Compiled {
    /// The types of a schema beyond the subset; one of the subset is printed straight from the schema.
    pub(crate) types: Option<Types>,
    pub(crate) unknowns: Vec<UnknownNode>,
    pub(crate) nodes: usize,
}

impl Compiled {
    /// Understands a schema, as far as its values are of `kinds`.
    ///
    /// `hint` gives a word for the name of the root, should it get one.
    pub(crate) fn of(schema: &Json, kinds: Kinds, hint: impl FnOnce() -> Arc<str>) -> Compiled {
        if let Some(nodes) = subset::count_nodes(schema) {
            return Compiled { types: None, unknowns: Vec::new(), nodes };
        }
        let mut lowered = lower(schema, kinds, &hint());
        let unknowns = std::mem::take(&mut lowered.unknowns);
        let nodes = lowered.places;
        let graph = simplify(lowered);
        let candidates = Candidates::of(&graph);
        Compiled { types: Some(Types { graph, candidates }), unknowns, nodes }
    }
}
