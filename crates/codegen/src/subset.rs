//! The closed subset: recognised, and printed byte for byte as contract 5.1 says.

use code_mode_schema::{Array, Json, Object, write_json_string, write_number};

use crate::comments;
use crate::names::write_key;

/// How many schemas a schema consists of, if it is in the subset of contract 4.2 once `$schema`,
/// `$id` and `$comment` are dropped.
///
/// The rules are those of `code_mode_schema::assert_supported_json_schema`, asked here without
/// composing the violations (most real schemas have some) and without first copying the schema to
/// drop the three keywords. A test holds the two together.
pub(crate) fn count_nodes(schema: &Json) -> Option<usize> {
    let mut count = 0;
    let mut pending = vec![schema];
    while let Some(node) = pending.pop() {
        count += 1;
        let keywords = node.as_object().and_then(Keywords::read)?;
        if !keywords.are_consistent() {
            return None;
        }
        pending.extend(keywords.one_of.into_iter().flat_map(|branches| branches.iter()));
        pending.extend(keywords.properties.into_iter().flat_map(Object::values));
        pending.extend(keywords.items);
    }
    Some(count)
}

/// Writes the type of a schema that [`count_nodes`] accepts.
///
/// `indent` is the level of the line that the text starts on; members stand one level deeper.
pub(crate) fn print(schema: &Json, indent: usize, out: &mut String) {
    let mut printer = Printer { out, tasks: Vec::new(), scanned: 0, marks: 0, opens: Vec::new() };
    printer.tasks.push(Task::Type(schema, indent));
    while let Some(task) = printer.tasks.pop() {
        printer.step(task);
    }
    printer.insert_opening_parentheses();
}

/// The keywords of one node; only those of the subset.
#[derive(Default)]
struct Keywords<'a> {
    r#type: Option<Type>,
    one_of: Option<&'a Array>,
    properties: Option<&'a Object>,
    required: Option<&'a Array>,
    closed: Option<bool>,
    items: Option<&'a Json>,
    r#enum: Option<&'a Array>,
    r#const: Option<&'a Json>,
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Object,
    Array,
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

impl Type {
    fn from_name(name: &str) -> Option<Type> {
        Some(match name {
            "object" => Type::Object,
            "array" => Type::Array,
            "string" => Type::String,
            "number" => Type::Number,
            "integer" => Type::Integer,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            _ => return None,
        })
    }

    fn admits(self, value: &Json) -> bool {
        match self {
            Type::Object => value.is_object(),
            Type::Array => value.is_array(),
            Type::String => value.is_string(),
            Type::Number => value.is_number(),
            Type::Integer => value.is_integer(),
            Type::Boolean => value.is_bool(),
            Type::Null => value.is_null(),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Number | Type::Integer => "number",
            Type::Boolean => "boolean",
            Type::Null => "null",
            Type::Object | Type::Array => unreachable!("containers are printed by their members"),
        }
    }
}

impl<'a> Keywords<'a> {
    /// The keywords of one node; `None` if one is outside the subset or has a value of the wrong kind.
    fn read(node: &'a Object) -> Option<Keywords<'a>> {
        let mut keywords = Keywords::default();
        for (keyword, value) in node {
            match keyword {
                "type" => keywords.r#type = Some(Type::from_name(value.as_str()?)?),
                "oneOf" => keywords.one_of = Some(value.as_array()?),
                "properties" => keywords.properties = Some(value.as_object()?),
                "required" => keywords.required = Some(value.as_array()?),
                "additionalProperties" => keywords.closed = Some(!value.as_bool()?),
                "items" => keywords.items = Some(value),
                "enum" => keywords.r#enum = Some(value.as_array()?),
                "const" => keywords.r#const = Some(value),
                "description" | "title" => drop(value.as_str()?),
                "default" | "examples" | "$schema" | "$id" | "$comment" => {}
                _ => return None,
            }
        }
        Some(keywords)
    }

    /// Whether the keywords may stand beside each other (contract 4.2, rules 5 to 10).
    fn are_consistent(&self) -> bool {
        let has_object = self.properties.is_some() || self.required.is_some() || self.closed.is_some();
        let has_scalar = self.r#enum.is_some() || self.r#const.is_some();
        let has_items = self.items.is_some();
        match (self.r#type, self.one_of) {
            (Some(_), Some(_)) => false,
            (None, None) => !has_object && !has_items && !has_scalar,
            (None, Some(branches)) => branches.len() >= 2 && !has_object && !has_items && !has_scalar,
            (Some(Type::Object), None) => !has_items && !has_scalar && self.requires_only_declared(),
            (Some(Type::Array), None) => !has_object && !has_scalar,
            (Some(scalar), None) => !has_object && !has_items && self.literals_are(scalar),
        }
    }

    fn requires_only_declared(&self) -> bool {
        self.required.is_none_or(|names| {
            names.iter().all(|name| {
                let declared = |name| self.properties.is_some_and(|properties| properties.contains_key(name));
                name.as_str().is_some_and(declared)
            })
        })
    }

    fn literals_are(&self, scalar: Type) -> bool {
        let enum_fits = self
            .r#enum
            .is_none_or(|members| !members.is_empty() && members.iter().all(|member| scalar.admits(member)));
        let const_fits = self.r#const.is_none_or(|literal| {
            scalar.admits(literal) && self.r#enum.is_none_or(|members| members.contains(literal))
        });
        enum_fits && const_fits
    }
}

enum Task<'a> {
    Type(&'a Json, usize),
    Member { key: &'a str, schema: &'a Json, required: bool, indent: usize },
    Text(&'static str),
    EndMembers { indent: usize, closed: bool },
    EndArray { start: usize, marks: usize },
}

struct Printer<'a, 'o> {
    out: &'o mut String,
    tasks: Vec<Task<'a>>,
    /// Up to where `out` has been searched for `|` and `&`.
    scanned: usize,
    /// How many of them it holds up to there.
    marks: usize,
    /// Where an opening parenthesis is missing: whether one is needed shows only at the end of an
    /// array's element, and inserting it at once would move the text again at every level.
    opens: Vec<usize>,
}

impl<'a> Printer<'a, '_> {
    fn step(&mut self, task: Task<'a>) {
        match task {
            Task::Type(schema, indent) => self.print_type(schema, indent),
            Task::Member { key, schema, required, indent } => {
                self.print_doc(schema, indent);
                write_indent(indent, self.out);
                write_key(key, self.out);
                self.out.push_str(if required { ": " } else { "?: " });
                self.tasks.push(Task::Text(";\n"));
                self.tasks.push(Task::Type(schema, indent));
            }
            Task::Text(text) => self.out.push_str(text),
            Task::EndMembers { indent, closed } => {
                write_indent(indent, self.out);
                self.out.push_str(if closed { "}" } else { "} & Record<string, JsonValue>" });
            }
            Task::EndArray { start, marks } => {
                if self.count_marks() > marks {
                    self.opens.push(start);
                    self.out.push(')');
                }
                self.out.push_str("[]");
            }
        }
    }

    fn print_type(&mut self, schema: &'a Json, indent: usize) {
        let keywords = schema.as_object().and_then(Keywords::read).unwrap_or_default();
        if let Some(literal) = keywords.r#const {
            return write_scalar(literal, self.out);
        }
        if let Some(members) = keywords.r#enum {
            for (place, literal) in members.iter().enumerate() {
                self.out.push_str(if place == 0 { "" } else { " | " });
                write_scalar(literal, self.out);
            }
            return;
        }
        match (keywords.r#type, keywords.one_of) {
            (Some(Type::Object), _) => self.print_object(&keywords, indent),
            (Some(Type::Array), _) => match keywords.items {
                None => self.out.push_str("JsonValue[]"),
                Some(items) => {
                    let marks = self.count_marks();
                    self.tasks.push(Task::EndArray { start: self.out.len(), marks });
                    self.tasks.push(Task::Type(items, indent));
                }
            },
            (Some(scalar), _) => self.out.push_str(scalar.text()),
            (None, Some(branches)) => {
                for (place, branch) in branches.iter().enumerate().rev() {
                    self.tasks.push(Task::Type(branch, indent));
                    self.tasks.push(Task::Text(if place == 0 { "" } else { " | " }));
                }
            }
            (None, None) => self.out.push_str("JsonValue"),
        }
    }

    fn print_object(&mut self, keywords: &Keywords<'a>, indent: usize) {
        let closed = keywords.closed.unwrap_or(false);
        let Some(properties) = keywords.properties.filter(|properties| !properties.is_empty()) else {
            return self.out.push_str(if closed {
                "Record<string, never>"
            } else {
                "Record<string, JsonValue>"
            });
        };
        let mut required: Vec<&str> =
            keywords.required.into_iter().flat_map(|names| names.iter()).filter_map(Json::as_str).collect();
        required.sort_unstable();
        self.out.push_str("{\n");
        self.tasks.push(Task::EndMembers { indent, closed });
        self.tasks.extend(properties.iter().rev().map(|(key, schema)| Task::Member {
            key,
            schema,
            required: required.binary_search(&key).is_ok(),
            indent: indent + 1,
        }));
    }

    fn print_doc(&mut self, schema: &Json, indent: usize) {
        let description = schema.get("description").and_then(Json::as_str).unwrap_or_default();
        comments::write_doc_line(description, indent, self.out);
    }

    /// How many `|` and `&` the text holds, wherever they stand.
    fn count_marks(&mut self) -> usize {
        let fresh = &self.out.as_bytes()[self.scanned..];
        self.marks += fresh.iter().filter(|byte| matches!(byte, b'|' | b'&')).count();
        self.scanned = self.out.len();
        self.marks
    }

    fn insert_opening_parentheses(mut self) {
        if self.opens.is_empty() {
            return;
        }
        self.opens.sort_unstable();
        let text = std::mem::take(self.out);
        self.out.reserve(text.len() + self.opens.len());
        let mut copied = 0;
        for &open in &self.opens {
            self.out.push_str(&text[copied..open]);
            self.out.push('(');
            copied = open;
        }
        self.out.push_str(&text[copied..]);
    }
}

/// Writes two spaces for each level.
pub(crate) fn write_indent(levels: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", levels));
}

/// Writes a scalar as a literal type, in the form of its JSON text.
pub(crate) fn write_scalar(literal: &Json, out: &mut String) {
    match literal {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => write_number(number.get(), out),
        Json::String(text) => write_json_string(text, out),
        Json::Array(_) | Json::Object(_) => literal.write_text(out),
    }
}
