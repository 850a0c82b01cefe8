//! How many schemas apply to one value at once.
//!
//! References multiply: forty definitions, each of which refers to the next one twice, are 2^40 applications. The
//! `jsonschema` crate makes them all, and those that do not look at the value escape the bound of
//! [`effort`](super::effort). So they are counted here, each definition once.

use std::collections::HashMap;

use super::repair::percent_decoded;
use crate::Json;

/// The largest number of schemas that apply to a value because one schema does, itself included.
///
/// Where references lead back to a schema that is being counted they add nothing: the validator cuts such a cycle, and
/// looks at the value to do so.
pub(super) fn of(document: &Json) -> u64 {
    let names = Names::of(document);
    let mut largest = 1;
    // Nothing: it is being counted.
    let mut counts: HashMap<*const Json, Option<u64>> = HashMap::new();
    for schema in all_objects(document) {
        let mut open = Vec::new();
        if !counts.contains_key(&std::ptr::from_ref(schema)) {
            counts.insert(schema, None);
            open.push(Open::new(schema, &names));
        }
        while let Some(top) = open.last_mut() {
            if let Some(inner) = top.pending.pop() {
                match counts.get(&std::ptr::from_ref(inner)) {
                    Some(count) => top.count = top.count.saturating_add(count.unwrap_or(0)),
                    None => {
                        counts.insert(inner, None);
                        open.push(Open::new(inner, &names));
                    }
                }
            } else if let Some(done) = open.pop() {
                counts.insert(done.schema, Some(done.count));
                largest = largest.max(done.count);
                if let Some(outer) = open.last_mut() {
                    outer.count = outer.count.saturating_add(done.count);
                }
            }
        }
    }
    largest
}

/// A schema that is being counted.
struct Open<'a> {
    schema: &'a Json,
    count: u64,
    /// What applies with it and is not counted yet.
    pending: Vec<&'a Json>,
}

impl<'a> Open<'a> {
    fn new(schema: &'a Json, names: &Names<'a>) -> Open<'a> {
        let mut pending = Vec::new();
        for (keyword, member) in schema.as_object().into_iter().flatten() {
            match (keyword, member) {
                ("allOf" | "anyOf" | "oneOf", Json::Array(branches)) => pending.extend(branches.iter()),
                ("dependentSchemas" | "dependencies", Json::Object(schemas)) => {
                    pending.extend(schemas.values())
                }
                ("not" | "if" | "then" | "else", schema) => pending.push(schema),
                ("$ref" | "$dynamicRef" | "$recursiveRef", Json::String(target)) => {
                    pending.extend(names.resolve(target));
                }
                _ => {}
            }
        }
        Open { schema, count: 1, pending }
    }
}

/// What references may refer to.
struct Names<'a> {
    root: &'a Json,
    /// Schemas with an identifier or an anchor.
    named: Vec<(&'a str, &'a Json)>,
}

impl<'a> Names<'a> {
    fn of(root: &'a Json) -> Names<'a> {
        let mut named = Vec::new();
        for schema in all_objects(root) {
            for keyword in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                named.extend(schema.get(keyword).and_then(Json::as_str).map(|name| (name, schema)));
            }
        }
        Names { root, named }
    }

    /// All that `target` may mean; what it does mean is among them.
    fn resolve(&self, target: &str) -> Vec<&'a Json> {
        let (base, fragment) = target.split_once('#').unwrap_or((target, ""));
        let fragment = percent_decoded(fragment);
        let mut bases = Vec::from_iter(base.is_empty().then_some(self.root));
        let is_base = |name: &str| name.trim_end_matches('#').ends_with(base);
        bases.extend(self.named.iter().filter(|(name, _)| is_base(name)).map(|(_, schema)| *schema));
        match fragment.strip_prefix('/') {
            Some(pointer) => bases.iter().filter_map(|base| follow(base, pointer)).collect(),
            None if fragment.is_empty() => bases,
            None => {
                self.named.iter().filter(|(name, _)| *name == fragment).map(|(_, schema)| *schema).collect()
            }
        }
    }
}

fn follow<'a>(base: &'a Json, pointer: &str) -> Option<&'a Json> {
    pointer.split('/').try_fold(base, |value, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        value.get(&step).or_else(|| value.index(step.parse().ok()?))
    })
}

fn all_objects(document: &Json) -> Vec<&Json> {
    let mut objects = Vec::new();
    let mut pending = vec![document];
    while let Some(value) = pending.pop() {
        match value {
            Json::Array(items) => pending.extend(items.iter()),
            Json::Object(members) => {
                objects.push(value);
                pending.extend(members.values());
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn check(document: &Json, expected: u64) {
        assert_eq!(of(document), expected, "{document}");
    }

    #[test]
    fn schemas_that_apply_to_one_value_are_counted() {
        check(&json!(true), 1);
        check(&json!({"type": "object", "properties": {"a": {"allOf": [{}, {}]}}}), 3);
        check(&json!({"not": {"anyOf": [true, {}]}, "if": {}, "then": {}}), 6);
    }

    #[test]
    fn references_count_as_what_they_refer_to() {
        let twice = |target: &str| json!({"allOf": [{"$ref": target}, {"$ref": target}]});
        check(&json!({"$ref": "#/$defs/a%7E1b", "$defs": {"a/b": {"allOf": [{}, {}]}}}), 4);
        check(&json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "not": {}}}}), 3);
        check(
            &json!({"$ref": "other.json#/not", "$defs": {"x": {"$id": "http://x/other.json", "not": {}}}}),
            2,
        );
        check(
            &json!({"$defs": {"a": (twice("#/$defs/b")), "b": (twice("#/$defs/c")), "c": (twice("#/$defs/d")), "d": {}}}),
            29,
        );
    }

    #[test]
    fn cycles_end_the_count() {
        check(&json!({"$ref": "#"}), 1);
        check(&json!({"anyOf": [{"$ref": "#"}, {"properties": {"a": {"$ref": "#"}}}]}), 4);
    }
}
