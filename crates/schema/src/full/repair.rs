//! Leaving out what cannot be compiled, so that the rest of a schema still counts.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use super::messages::shortened;
use crate::json::Path;

/// Says in 2020-12 what older schemas without a `$schema` say otherwise: array-valued `items`
/// become `prefixItems`, and `additionalItems` beside them `items`.
pub(super) fn modernize(schema: &mut Value) {
    let dialect = schema.get("$schema").and_then(Value::as_str);
    if dialect.is_some_and(|dialect| !dialect.contains("2020-12")) {
        return;
    }
    for_each_schema(schema, |schema| {
        if schema.get("items").is_some_and(Value::is_array) && !schema.contains_key("prefixItems") {
            if let Some(items) = schema.shift_remove("items") {
                schema.insert("prefixItems".to_owned(), items);
            }
            if let Some(rest) = schema.shift_remove("additionalItems") {
                schema.insert("items".to_owned(), rest);
            }
        }
    });
}

/// Removes the part of `schema` that `error` is about and says so; nothing if there is none.
pub(super) fn repair(schema: &mut Value, error: &ValidationError<'static>) -> Option<String> {
    let reason = shortened(&error.to_string());
    let removed = match error.kind() {
        ValidationErrorKind::Referencing(_) => remove_references(schema, &error.to_string()),
        kind => {
            let is_name = matches!(kind, ValidationErrorKind::Format { .. });
            remove_at(schema, error.instance_path().as_str(), is_name)
        }
    };
    removed.map(|what| format!("{what} is not enforced: {reason}"))
}

/// What the value under a keyword is.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Schema,
    /// An object whose members are schemas.
    SchemaMap,
    /// An array whose elements are schemas.
    SchemaList,
    /// Data that may look like a schema but is none.
    Data,
    /// Unknown to us: perhaps a place where definitions are kept.
    Unknown,
}

fn position_of(keyword: &str, value: &Value) -> Position {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => Position::SchemaMap,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Position::SchemaList,
        "items" if value.is_array() => Position::SchemaList,
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contains"
        | "propertyNames"
        | "contentSchema"
        | "not"
        | "if"
        | "then"
        | "else" => Position::Schema,
        "enum" | "const" | "default" | "examples" | "example" => Position::Data,
        "type" | "required" | "pattern" | "format" | "$id" | "$schema" | "$ref" | "$anchor"
        | "description" | "title" | "$comment" => Position::Data,
        _ => Position::Unknown,
    }
}

/// Calls `act` on every object that is or may be a schema.
fn for_each_schema(schema: &mut Value, mut act: impl FnMut(&mut Map<String, Value>)) {
    let mut pending = vec![(schema, Position::Schema)];
    while let Some((value, position)) = pending.pop() {
        match (position, value) {
            (Position::Schema | Position::Unknown, Value::Object(schema)) => {
                act(schema);
                for (keyword, value) in schema.iter_mut() {
                    let position = position_of(keyword, value);
                    pending.push((value, position));
                }
            }
            (Position::SchemaMap, Value::Object(members)) => {
                pending.extend(members.values_mut().map(|member| (member, Position::Schema)));
            }
            (Position::SchemaList | Position::Unknown, Value::Array(items)) => {
                pending.extend(items.iter_mut().map(|item| (item, Position::Schema)));
            }
            _ => {}
        }
    }
}

/// Removes every reference and identifier that `reason` names.
fn remove_references(schema: &mut Value, reason: &str) -> Option<String> {
    const KEYWORDS: [&str; 6] = ["$ref", "$dynamicRef", "$recursiveRef", "$id", "id", "$schema"];
    let mut removed = None;
    for_each_schema(schema, |schema| {
        for keyword in KEYWORDS {
            let named = schema.get(keyword).and_then(Value::as_str);
            if let Some(target) = named.filter(|target| is_named(target, reason)) {
                removed.get_or_insert_with(|| format!("{keyword} {}", shortened(target)));
                schema.shift_remove(keyword);
            }
        }
    });
    removed
}

/// Whether `reason`, which quotes a pointer, an anchor or a URI, is about `target`.
fn is_named(target: &str, reason: &str) -> bool {
    let (base, fragment) = target.split_once('#').unwrap_or((target, ""));
    let quotes = |part: &str| !part.is_empty() && reason.contains(&format!("'{part}'"));
    quotes(target)
        || quotes(fragment)
        || quotes(&percent_decoded(fragment))
        || (!base.is_empty()
            && [format!("{base}'"), format!("{base}#")].iter().any(|end| reason.contains(end)))
}

pub(super) fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Makes what is at `pointer` harmless: a member of a map or list of schemas that is none becomes
/// `true`, anything else is removed with the keyword it belongs to. `is_name` says that in a map it is the name that is
/// wrong, not the schema.
fn remove_at(schema: &mut Value, pointer: &str, is_name: bool) -> Option<String> {
    let segments: Vec<String> =
        pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect();
    let (owner, keyword) = innermost_keyword(schema, &segments)?;
    let mut path = Path::root("schema");
    segments[..=owner].iter().for_each(|segment| path.push_key(segment));
    let owner_schema = descend(schema, &segments[..owner])?.as_object_mut()?;
    let value = owner_schema.get_mut(keyword)?;
    let member = segments.get(owner + 1).filter(|_| segments.len() == owner + 2);
    match (position_of(keyword, value), member) {
        (Position::SchemaMap, Some(name)) if is_name => {
            path.push_key(name);
            value.as_object_mut()?.shift_remove(name);
            // What the pattern was meant to admit is unknown now.
            owner_schema.shift_remove("additionalProperties");
            owner_schema.shift_remove("unevaluatedProperties");
        }
        // Of `oneOf` a branch that admits everything would leave nothing for the others.
        (Position::SchemaMap | Position::SchemaList, Some(name)) if keyword != "oneOf" => {
            path.push_key(name);
            let subschema = value.pointer_mut(&pointer_of(name))?;
            if !replace_with_true(subschema) {
                owner_schema.shift_remove(keyword);
            }
        }
        _ => {
            owner_schema.shift_remove(keyword);
        }
    }
    Some(path.into())
}

/// Replaces what is no schema; `false` if it is one already.
fn replace_with_true(subschema: &mut Value) -> bool {
    let is_schema = subschema.is_boolean() || subschema.is_object();
    if !is_schema {
        *subschema = Value::Bool(true);
    }
    !is_schema
}

/// The keyword of the innermost schema on the way to the end of `segments`, and how many segments
/// lead to that schema.
fn innermost_keyword<'s>(schema: &Value, segments: &'s [String]) -> Option<(usize, &'s str)> {
    let mut innermost = None;
    let mut position = Position::Schema;
    let mut value = schema;
    for (index, segment) in segments.iter().enumerate() {
        value = value.pointer(&pointer_of(segment))?;
        position = match position {
            Position::Schema | Position::Unknown => {
                innermost = Some((index, segment.as_str()));
                position_of(segment, value)
            }
            Position::SchemaMap | Position::SchemaList => Position::Schema,
            Position::Data => Position::Data,
        };
    }
    innermost
}

fn descend<'v>(value: &'v mut Value, segments: &[String]) -> Option<&'v mut Value> {
    segments.iter().try_fold(value, |value, segment| value.pointer_mut(&pointer_of(segment)))
}

fn pointer_of(segment: &str) -> String {
    format!("/{}", segment.replace('~', "~0").replace('/', "~1"))
}
