//! From types to text: on one line where that fits in 100 columns, else a member a line.

use std::borrow::Cow;

use code_mode_schema::Json;

use crate::comments;
use crate::graph::Graph;
use crate::keywords::literals;
use crate::names::{write_key, write_safe_key};
use crate::printed::Types;
use crate::shape::{Id, Index, Keys, Member, Node, ObjectNode, Openness, Presence};
use crate::share::Candidates;
use crate::subset::{write_indent, write_scalar};

/// Lines are broken where they would be longer.
const MAX_COLUMNS: usize = 100;

/// Encloses the number of a record where the name of a type will stand.
///
/// The control character stands nowhere else: it is dropped from comments and escaped in literals.
pub(crate) const NAME_MARK: char = '\u{1}';

const OPEN_RECORD: &str = "Record<string, JsonValue>";
const EMPTY_RECORD: &str = "Record<string, never>";

/// Prints the types of one graph.
pub(crate) struct Printer<'g> {
    graph: &'g Graph,
    candidates: &'g Candidates,
    /// By record: whether it has a name.
    named: &'g [bool],
    /// By node: its text on one line, if that is short enough to fit anywhere.
    flat: Vec<Option<Flat>>,
}

struct Flat {
    text: Cow<'static, str>,
    /// How many columns it takes, with names in place.
    width: usize,
    binding: Binding,
}

/// How tightly the outermost operator of a type binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Atom,
}

impl<'g> Printer<'g> {
    /// Prepares to print; `named` says of each record whether it has a name.
    pub(crate) fn new(types: &'g Types, named: &'g [bool]) -> Printer<'g> {
        let Types { graph, candidates } = types;
        let mut printer = Printer { graph, candidates, named, flat: Vec::with_capacity(graph.nodes.len()) };
        for node in &graph.nodes {
            let flat = match keyword_of(node) {
                Some(keyword) => Some(Flat::of(Cow::Borrowed(keyword), keyword.len(), Binding::Atom)),
                None => printer.flatten(node),
            };
            printer.flat.push(flat.filter(|flat| flat.width <= MAX_COLUMNS));
        }
        printer
    }

    /// Appends the text of the root, or its name.
    pub(crate) fn print_root(&self, indent: usize, column: usize, out: &mut String) {
        self.print(Task::Type(self.graph.root), indent, column, out);
    }

    /// Appends the text of a record's own type.
    pub(crate) fn print_body(&self, record: u32, out: &mut String) {
        let record = &self.candidates.records[record as usize];
        let name = record.label.hint.as_ref().map_or(6, |hint| hint.len() + 1);
        self.print(Task::Body(record.body), 0, "type  = ".len() + name, out);
    }

    fn print(&self, task: Task<'g>, indent: usize, column: usize, out: &mut String) {
        let mut run = Run { printer: self, out, tasks: vec![(task, indent)], column };
        while let Some((task, indent)) = run.tasks.pop() {
            run.step(task, indent);
        }
    }

    /// The name of a node, if it has one: the mark, and how many columns the name will take.
    fn name_of(&self, id: Id) -> Option<Flat> {
        let record = self.candidates.of_node[id.index()].filter(|record| self.named[*record as usize])?;
        let hint = self.candidates.records[record as usize].label.hint.as_ref();
        let width = hint.map_or(6, |hint| hint.len() + 1);
        Some(Flat::of(format!("{NAME_MARK}{record}{NAME_MARK}").into(), width, Binding::Atom))
    }

    fn binding_of(&self, id: Id) -> Binding {
        if self.name_of(id).is_some() { Binding::Atom } else { binding_of(self.graph.node(id)) }
    }

    /// The one-line text of a node whose children have theirs; `None` if one of them has none.
    fn flatten(&self, node: &Node) -> Option<Flat> {
        let mut flat = Flat::of(Cow::Owned(String::with_capacity(MAX_COLUMNS)), 0, binding_of(node));
        match node {
            Node::Array(item) => {
                flat.push_bound(self, *item, Binding::Atom)?;
                flat.push("[]");
            }
            Node::Tuple { items, required, rest } => {
                flat.push("[");
                for (place, item) in items.iter().enumerate() {
                    flat.push(if place == 0 { "" } else { ", " });
                    let is_optional = place >= *required;
                    flat.push_bound(self, *item, if is_optional { Binding::Atom } else { Binding::Or })?;
                    flat.push(if is_optional { "?" } else { "" });
                }
                if let Some(rest) = rest {
                    flat.push(if items.is_empty() { "..." } else { ", ..." });
                    flat.push_bound(self, *rest, Binding::Atom)?;
                    flat.push("[]");
                }
                flat.push("]");
            }
            Node::Union(members) => flat.push_joined(self, members, " | ", Binding::Or)?,
            Node::Both(members) => flat.push_joined(self, members, " & ", Binding::And)?,
            Node::Object(object) => self.flatten_object(object, &mut flat)?,
            leaf => flat.push_with(|out| write_leaf(leaf, MAX_COLUMNS, out)),
        }
        Some(flat)
    }

    fn flatten_object(&self, object: &ObjectNode, flat: &mut Flat) -> Option<()> {
        let parts = Parts::of(object);
        if let Some(text) = parts.whole {
            flat.push(text);
            return Some(());
        }
        if let Some(value) = self.record_value(object) {
            flat.push("Record<string, ");
            flat.push_bound(self, value, Binding::Or)?;
            flat.push(">");
            return Some(());
        }
        let mut separator = "";
        if parts.has_members {
            flat.push("{ ");
            for member in &object.members {
                flat.push(separator);
                separator = "; ";
                if let Some(doc) = &member.doc {
                    flat.push("/** ");
                    flat.push(doc);
                    flat.push(" */ ");
                }
                flat.push_with(|out| write_member_key(member, out));
                flat.push_bound(self, member.value, Binding::Or)?;
                flat.push(inherited_text(member));
                if flat.width > MAX_COLUMNS {
                    return None;
                }
            }
            for index in parts.indexes_beside_members(object) {
                flat.push(separator);
                separator = "; ";
                self.flatten_index(index, flat)?;
            }
            flat.push(" }");
            separator = " & ";
        }
        if parts.has_patterns {
            flat.push(separator);
            separator = "{ ";
            for index in parts.indexes_apart(object) {
                flat.push(separator);
                separator = "; ";
                self.flatten_index(index, flat)?;
            }
            flat.push(" }");
            separator = " & ";
        }
        if object.openness == Openness::Open {
            flat.push(separator);
            flat.push(OPEN_RECORD);
        }
        Some(())
    }

    fn flatten_index(&self, index: &Index, flat: &mut Flat) -> Option<()> {
        flat.push_with(|out| write_index_key(index, out));
        flat.push_bound(self, index.value, Binding::Or)?;
        flat.push(if index.with_undefined { " | undefined" } else { "" });
        Some(())
    }

    /// The type of all members, if `Record<string, …>` can be written.
    ///
    /// Not where a type contains itself: its arguments are resolved at once, so a type may not stand
    /// in its own (TS2456), while members are resolved when they are asked for.
    fn record_value(&self, object: &ObjectNode) -> Option<Id> {
        match (&object.members[..], &object.indexes[..], object.openness) {
            ([], [Index { keys: Keys::Any, value, with_undefined: false }], Openness::Closed) => {
                (!self.graph.facts(*value).is_recursive).then_some(*value)
            }
            _ => None,
        }
    }
}

impl Flat {
    fn of(text: Cow<'static, str>, width: usize, binding: Binding) -> Flat {
        Flat { text, width, binding }
    }

    fn push(&mut self, text: &str) {
        self.text.to_mut().push_str(text);
        self.width += text.len();
    }

    fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        let text = self.text.to_mut();
        let start = text.len();
        write(text);
        self.width += text.len() - start;
    }

    fn push_flat(&mut self, flat: &Flat) {
        self.text.to_mut().push_str(&flat.text);
        self.width += flat.width;
    }

    fn push_bound(&mut self, printer: &Printer<'_>, id: Id, at_least: Binding) -> Option<()> {
        if let Some(name) = printer.name_of(id) {
            self.push_flat(&name);
            return Some(());
        }
        let flat = printer.flat[id.index()].as_ref()?;
        let needs_parentheses = flat.binding < at_least;
        self.push(if needs_parentheses { "(" } else { "" });
        self.push_flat(flat);
        self.push(if needs_parentheses { ")" } else { "" });
        Some(())
    }

    fn push_joined(
        &mut self,
        printer: &Printer<'_>,
        members: &[Id],
        separator: &str,
        at_least: Binding,
    ) -> Option<()> {
        for (place, member) in members.iter().enumerate() {
            self.push(if place == 0 { "" } else { separator });
            self.push_bound(printer, *member, at_least)?;
            if self.width > MAX_COLUMNS {
                return None;
            }
        }
        Some(())
    }
}

/// What the text of an object consists of.
struct Parts {
    /// The whole text, if nothing is declared.
    whole: Option<&'static str>,
    has_members: bool,
    has_patterns: bool,
    is_open: bool,
}

impl Parts {
    fn of(object: &ObjectNode) -> Parts {
        let is_open = object.openness == Openness::Open;
        let is_bare = object.members.is_empty() && object.indexes.is_empty();
        let has_members = !object.members.is_empty();
        Parts {
            whole: is_bare.then_some(if is_open { OPEN_RECORD } else { EMPTY_RECORD }),
            has_members,
            // Without members all signatures stand in one pair of braces.
            has_patterns: object.indexes.iter().any(|index| !has_members || index.keys != Keys::Any),
            is_open,
        }
    }

    fn count(&self) -> usize {
        if self.whole.is_some() {
            return 1;
        }
        usize::from(self.has_members) + usize::from(self.has_patterns) + usize::from(self.is_open)
    }

    /// Signatures that the types of the members fit, as they must to stand in one pair of braces.
    fn indexes_beside_members<'o>(&self, object: &'o ObjectNode) -> impl Iterator<Item = &'o Index> {
        let has_members = self.has_members;
        object.indexes.iter().filter(move |index| has_members && index.keys == Keys::Any)
    }

    fn indexes_apart<'o>(&self, object: &'o ObjectNode) -> impl Iterator<Item = &'o Index> {
        let has_members = self.has_members;
        object.indexes.iter().filter(move |index| !has_members || index.keys != Keys::Any)
    }
}

/// What is still to be written, the next last; each with the indent of the line it starts on.
#[derive(Clone, Copy)]
enum Task<'g> {
    /// A type where it is used.
    Type(Id),
    /// A type itself, even if it has a name.
    Body(Id),
    /// A type in parentheses if it binds less tightly.
    Bound(Id, Binding),
    Text(&'static str),
    Line,
    Member(&'g Member),
    Index(&'g Index),
}

/// One text being written.
struct Run<'p, 'g, 'o> {
    printer: &'p Printer<'g>,
    out: &'o mut String,
    tasks: Vec<(Task<'g>, usize)>,
    column: usize,
}

impl<'g> Run<'_, 'g, '_> {
    fn step(&mut self, task: Task<'g>, indent: usize) {
        let printer = self.printer;
        match task {
            Task::Text(text) => self.write(text),
            Task::Line => {
                self.out.push('\n');
                write_indent(indent, self.out);
                self.column = 2 * indent;
            }
            Task::Member(member) => {
                if let Some(doc) = &member.doc {
                    self.write("/** ");
                    self.write(doc);
                    self.write(" */");
                    self.step(Task::Line, indent);
                }
                self.write_with(|out| write_member_key(member, out));
                self.tasks.push((Task::Text(";"), indent));
                self.tasks.push((Task::Text(inherited_text(member)), indent));
                self.tasks.push((Task::Type(member.value), indent));
            }
            Task::Index(index) => {
                self.write_with(|out| write_index_key(index, out));
                self.tasks
                    .push((Task::Text(if index.with_undefined { " | undefined;" } else { ";" }), indent));
                self.tasks.push((Task::Type(index.value), indent));
            }
            Task::Bound(id, at_least) => {
                let needs_parentheses = printer.binding_of(id) < at_least;
                self.write(if needs_parentheses { "(" } else { "" });
                self.tasks.push((Task::Text(if needs_parentheses { ")" } else { "" }), indent));
                self.tasks.push((Task::Type(id), indent));
            }
            Task::Type(id) => match printer.name_of(id) {
                Some(name) => self.write_flat(&name),
                None => self.step(Task::Body(id), indent),
            },
            Task::Body(id) => match &printer.flat[id.index()] {
                Some(flat) if self.column + flat.width < MAX_COLUMNS => self.write_flat(flat),
                _ => self.write_broken(printer.graph.node(id), indent),
            },
        }
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.len();
    }

    fn write_with(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.out.len();
        write(self.out);
        self.column += self.out.len() - start;
    }

    fn write_flat(&mut self, flat: &Flat) {
        self.out.push_str(&flat.text);
        self.column += flat.width;
    }

    fn write_broken(&mut self, node: &'g Node, indent: usize) {
        let first = self.tasks.len();
        let mut then = |task| self.tasks.push((task, indent));
        match node {
            Node::Array(item) => {
                then(Task::Bound(*item, Binding::Atom));
                then(Task::Text("[]"));
            }
            Node::Tuple { items, required, rest } => {
                then(Task::Text("["));
                for (place, item) in items.iter().enumerate() {
                    let is_optional = place >= *required;
                    then(Task::Text(if place == 0 { "" } else { ", " }));
                    then(Task::Bound(*item, if is_optional { Binding::Atom } else { Binding::Or }));
                    then(Task::Text(if is_optional { "?" } else { "" }));
                }
                if let Some(rest) = rest {
                    then(Task::Text(if items.is_empty() { "..." } else { ", ..." }));
                    then(Task::Bound(*rest, Binding::Atom));
                    then(Task::Text("[]"));
                }
                then(Task::Text("]"));
            }
            Node::Union(members) | Node::Both(members) => {
                let (separator, at_least) =
                    if let Node::Union(_) = node { (" | ", Binding::Or) } else { (" & ", Binding::And) };
                for (place, member) in members.iter().enumerate() {
                    then(Task::Text(if place == 0 { "" } else { separator }));
                    then(Task::Bound(*member, at_least));
                }
            }
            Node::Object(object) => self.break_object(object, indent),
            leaf => self.write_with(|out| write_leaf(leaf, usize::MAX, out)),
        }
        self.tasks[first..].reverse();
    }

    fn break_object(&mut self, object: &'g ObjectNode, indent: usize) {
        let parts = Parts::of(object);
        if let Some(text) = parts.whole {
            return self.tasks.push((Task::Text(text), indent));
        }
        if let Some(value) = self.printer.record_value(object) {
            let tasks = [Task::Text("Record<string, "), Task::Type(value), Task::Text(">")];
            return self.tasks.extend(tasks.map(|task| (task, indent)));
        }
        let mut separator = "";
        if parts.has_members {
            self.tasks.push((Task::Text("{"), indent));
            let indexes = parts.indexes_beside_members(object).map(Task::Index);
            for task in object.members.iter().map(Task::Member).chain(indexes) {
                self.tasks.extend([(Task::Line, indent + 1), (task, indent + 1)]);
            }
            self.tasks.extend([(Task::Line, indent), (Task::Text("}"), indent)]);
            separator = " & ";
        }
        if parts.has_patterns {
            self.tasks.extend([(Task::Text(separator), indent), (Task::Text("{"), indent)]);
            for index in parts.indexes_apart(object) {
                self.tasks.extend([(Task::Line, indent + 1), (Task::Index(index), indent + 1)]);
            }
            self.tasks.extend([(Task::Line, indent), (Task::Text("}"), indent)]);
            separator = " & ";
        }
        if parts.is_open {
            self.tasks.extend([(Task::Text(separator), indent), (Task::Text(OPEN_RECORD), indent)]);
        }
    }
}

/// Writes `key: ` or `key?: `.
fn write_member_key(member: &Member, out: &mut String) {
    write_safe_key(&member.name, out);
    out.push_str(if member.presence == Presence::Required { ": " } else { "?: " });
}

/// What an optional member must admit besides, if objects inherit one of its name.
///
/// TypeScript compares an absent `constructor` as the inherited function, and would refuse any
/// object without one of its own.
fn inherited_text(member: &Member) -> &'static str {
    let is_inherited = matches!(
        &*member.name,
        "constructor"
            | "toString"
            | "toLocaleString"
            | "valueOf"
            | "hasOwnProperty"
            | "isPrototypeOf"
            | "propertyIsEnumerable"
    );
    if is_inherited && member.presence == Presence::Optional { " | Function" } else { "" }
}

/// Writes `[k: string]: `, or with the form that names have in a template.
fn write_index_key(index: &Index, out: &mut String) {
    let (before, form, after) = match &index.keys {
        Keys::Any => ("string", "", ""),
        Keys::Prefix(prefix) => ("`", &**prefix, "${string}`"),
        Keys::Suffix(suffix) => ("`${string}", &**suffix, "`"),
    };
    for part in ["[k: ", before, form, after, "]: "] {
        out.push_str(part);
    }
}

fn binding_of(node: &Node) -> Binding {
    match node {
        Node::Union(_) => Binding::Or,
        Node::Literals(literals) if literals.len() > 1 => Binding::Or,
        Node::Both(_) => Binding::And,
        Node::Object(object) if Parts::of(object).count() > 1 => Binding::And,
        _ => Binding::Atom,
    }
}

/// The text of a node that is one word.
fn keyword_of(node: &Node) -> Option<&'static str> {
    Some(match node {
        Node::Any => "JsonValue",
        Node::Never => "never",
        Node::String => "string",
        Node::Number => "number",
        Node::Boolean => "boolean",
        Node::Null => "null",
        Node::Unknown => "unknown",
        _ => return None,
    })
}

/// Writes a node without children; literals may stop once the text is longer than `enough`.
fn write_leaf(leaf: &Node, enough: usize, out: &mut String) {
    match leaf {
        Node::Literals(literals) => {
            let start = out.len();
            for (place, literal) in literals.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { " | " });
                write_literal(literal, out);
                if out.len() - start > enough {
                    return;
                }
            }
        }
        other => out.push_str(keyword_of(other).unwrap_or("unknown")),
    }
}

/// Writes a value as the type that only it has.
fn write_literal(literal: &Json, out: &mut String) {
    enum Part<'a> {
        Value(&'a Json),
        Key(&'a str),
        Text(&'static str),
    }
    let start = out.len();
    let is_too_deep = literals::is_too_deep(literal);
    let mut parts = vec![Part::Value(literal)];
    while let Some(part) = parts.pop() {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Key(key) => write_key(key, out),
            Part::Value(Json::Array(_)) if is_too_deep => out.push_str("JsonValue[]"),
            Part::Value(Json::Object(_)) if is_too_deep => out.push_str(OPEN_RECORD),
            Part::Value(Json::Array(items)) => {
                out.push('[');
                parts.push(Part::Text("]"));
                for (place, item) in items.iter().enumerate().rev() {
                    parts.push(Part::Value(item));
                    parts.push(Part::Text(if place == 0 { "" } else { ", " }));
                }
            }
            Part::Value(Json::Object(members)) if members.is_empty() => out.push_str(EMPTY_RECORD),
            Part::Value(Json::Object(members)) => {
                out.push_str("{ ");
                parts.push(Part::Text(" }"));
                for (place, (key, value)) in members.iter().enumerate().rev() {
                    parts.extend([Part::Value(value), Part::Text(": "), Part::Key(key)]);
                    parts.push(Part::Text(if place == 0 { "" } else { "; " }));
                }
            }
            Part::Value(scalar) => write_scalar(scalar, out),
        }
    }
    comments::make_literals_safe(start, out);
}
