//! `patternProperties` and `propertyNames`: which names members may have.

use std::sync::Arc;

use code_mode_schema::{Json, Object};

use super::Assertions;
use crate::lower::{Lowering, SchemaId, Step};
use crate::shape::{Id, Index, Keys};

/// What one schema says about names.
#[derive(Clone, Copy, Default)]
pub(crate) struct KeysFacts<'a> {
    patterns: Option<&'a Object>,
    names: Option<&'a Json>,
}

impl KeysFacts<'_> {
    pub(crate) fn is_present(&self) -> bool {
        self.patterns.is_some_and(|patterns| !patterns.is_empty())
            || self.names.is_some_and(|names| !matches!(names_of(names), Names::Free))
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read<'a>(assertions: &mut Assertions<'a>, keyword: &str, value: &'a Json) {
    let facts = &mut assertions.keys;
    match (keyword, value) {
        ("patternProperties", Json::Object(patterns)) => facts.patterns = Some(patterns),
        ("propertyNames", _) => facts.names = Some(value),
        _ => {}
    }
}

/// The patterns of schemas that all hold, each with the schema of the members that match it.
pub(crate) struct Patterns<'a>(Vec<(&'a str, Option<Keys>, SchemaId)>);

/// Of more patterns than this only those that match every name become signatures: the compiler compares
/// each member with each signature, and gives up at some thousands (TS2589).
const MAX_SIGNATURES: usize = 128;

impl<'a> Patterns<'a> {
    pub(crate) fn of(ctx: &mut Lowering<'a>, schemas: &[SchemaId]) -> Patterns<'a> {
        let mut patterns = Vec::new();
        for &schema in schemas {
            for (pattern, value) in ctx.assertions(schema).keys.patterns.into_iter().flatten() {
                let value = ctx.child(schema, value, Step::Member("patternProperties", pattern));
                patterns.push((pattern, keys_of(pattern), value));
            }
        }
        if patterns.len() > MAX_SIGNATURES {
            let covers_all = |keys: &Keys| *keys == Keys::Any;
            patterns.iter_mut().for_each(|(_, keys, _)| *keys = keys.take().filter(covers_all));
        }
        Patterns(patterns)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every name matches one of them.
    pub(crate) fn match_all(&self) -> bool {
        self.0.iter().any(|(_, keys, _)| *keys == Some(Keys::Any))
    }

    /// Whether index signatures can say exactly which names match.
    pub(crate) fn are_exact(&self) -> bool {
        self.0.iter().all(|(_, keys, _)| keys.is_some())
    }

    /// The index signatures of those that can be said exactly.
    pub(crate) fn exact(&self, ctx: &mut Lowering<'a>) -> Vec<Index> {
        // What several schemas say of the same names is one signature: two would be refused (TS2374).
        let mut exact: Vec<(&Keys, Vec<SchemaId>)> = Vec::new();
        for (_, keys, schema) in &self.0 {
            let Some(keys) = keys else { continue };
            match exact.iter_mut().find(|(known, _)| *known == keys) {
                Some((_, schemas)) => schemas.push(*schema),
                None => exact.push((keys, vec![*schema])),
            }
        }
        let index = |(keys, schemas): (&Keys, Vec<SchemaId>)| Index {
            keys: keys.clone(),
            value: ctx.request(&schemas),
            with_undefined: false,
        };
        exact.into_iter().map(index).collect()
    }

    /// The type of a member that is not declared, as far as the patterns say; `None` if they say nothing.
    pub(crate) fn value_of(&self, ctx: &mut Lowering<'a>, name: &Arc<str>) -> Option<Id> {
        let mut matching = Vec::new();
        self.add_matching(name, &mut matching);
        if matching.is_empty() {
            return (!self.are_exact()).then_some(Id::ANY);
        }
        Some(ctx.request_named(&matching, name))
    }

    /// The types of all.
    pub(crate) fn values(&self, ctx: &mut Lowering<'a>) -> Vec<Id> {
        self.0.iter().map(|(_, _, schema)| ctx.request(&[*schema])).collect()
    }

    /// Adds the schemas that a declared member must fit because its name matches.
    pub(crate) fn add_matching(&self, name: &str, schemas: &mut Vec<SchemaId>) {
        let matching =
            self.0.iter().filter(|(_, keys, _)| keys.as_ref().is_some_and(|keys| keys.match_name(name)));
        schemas.extend(matching.map(|(_, _, schema)| *schema));
    }
}

impl Keys {
    /// Whether all names of the other kind are also of this one.
    pub(super) fn cover(&self, other: &Keys) -> bool {
        match (self, other) {
            (Keys::Any, _) => true,
            (Keys::Prefix(short), Keys::Prefix(long)) => long.starts_with(&**short),
            (Keys::Suffix(short), Keys::Suffix(long)) => long.ends_with(&**short),
            _ => false,
        }
    }

    fn match_name(&self, name: &str) -> bool {
        match self {
            Keys::Any => true,
            Keys::Prefix(prefix) => name.starts_with(&**prefix),
            Keys::Suffix(suffix) => name.ends_with(&**suffix),
        }
    }
}

/// The names that `propertyNames` leaves.
pub(crate) enum Names {
    /// Any, as far as can be said.
    Free,
    /// No name at all.
    None,
    /// These.
    Listed(Vec<Arc<str>>),
    /// Those of a form.
    Matching(Keys),
}

/// More names than this are not listed.
const MAX_LISTED: usize = 64;

impl Names {
    pub(crate) fn of(ctx: &mut Lowering<'_>, schemas: &[SchemaId]) -> Names {
        let names = schemas.iter().filter_map(|&schema| ctx.assertions(schema).keys.names.map(names_of));
        names.fold(Names::Free, |kept, names| match (&kept, &names) {
            (Names::None, _) | (_, Names::Free) => kept,
            (Names::Listed(_), Names::Matching(_)) => kept,
            _ => names,
        })
    }
}

fn names_of(schema: &Json) -> Names {
    if schema.as_bool() == Some(false) {
        return Names::None;
    }
    let listed = schema.get("enum").and_then(|names| names.as_array().map(|names| &**names));
    let listed =
        listed.or(schema.get("const").map(std::slice::from_ref)).filter(|names| names.len() <= MAX_LISTED);
    if let Some(listed) = listed {
        let text = |name: &Json| if let Json::String(name) = name { Some(name.clone()) } else { None };
        return Names::Listed(listed.iter().filter_map(text).collect());
    }
    match schema.get("pattern").and_then(Json::as_str).and_then(keys_of) {
        Some(Keys::Any) | None => Names::Free,
        Some(keys) => Names::Matching(keys),
    }
}

/// What an index signature can say of a pattern: all names, or those with a fixed start or end.
fn keys_of(pattern: &str) -> Option<Keys> {
    if matches!(pattern, "" | "^" | "$" | ".*" | "^.*" | ".*$" | "^.*$" | ".+" | "^.+$") {
        return Some(Keys::Any);
    }
    let literal = |text: &str| {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'/' | b'@');
        (!text.is_empty() && text.bytes().all(is_plain)).then(|| Box::from(text))
    };
    let prefix = pattern.strip_prefix('^').map(|rest| rest.strip_suffix(".*").unwrap_or(rest));
    let suffix = pattern.strip_suffix('$').map(|rest| rest.strip_prefix(".*").unwrap_or(rest));
    prefix.and_then(literal).map(Keys::Prefix).or_else(|| suffix.and_then(literal).map(Keys::Suffix))
}
