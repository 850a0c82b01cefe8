//! From JSON Schema of the closed subset back to spec documents.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use super::{ANNOTATIONS, build_bottom_up};
use crate::{Json, JsonSchemaError, Object, assert_supported_json_schema};

pub(super) fn parameters(schema: &Json) -> Result<Json, JsonSchemaError> {
    assert_supported_json_schema(schema)?;
    let error = |rest: &str| Err(JsonSchemaError { violations: vec![format!("schema{rest} in parameters")] });
    if schema.get("type").is_none_or(|name| name != "object") {
        return error(".type must be \"object\"");
    }
    if schema.get("additionalProperties") == Some(&Json::Bool(false)) {
        return error(".additionalProperties cannot be false");
    }
    if let Some(key) = ANNOTATIONS.iter().find(|key| schema.get(key).is_some()) {
        return error(&format!(".{key} cannot be said"));
    }
    let spec = value(schema)?;
    Ok(spec.get("properties").cloned().unwrap_or_else(|| Object::new().into()))
}

pub(super) fn value(schema: &Json) -> Result<Json, JsonSchemaError> {
    assert_supported_json_schema(schema)?;
    let mut nodes = vec![Node::of(schema, false)];
    let mut next = 0;
    while next < nodes.len() {
        let schema = nodes[next].schema;
        let first = nodes.len();
        if let Some(items) = schema.get("items") {
            nodes.push(Node::of(items, false));
        } else if let Some(branches) = schema.get("oneOf").and_then(Json::as_array) {
            nodes.extend(branches.iter().map(|branch| Node::of(branch, false)));
        } else if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            let names: HashSet<&str> = schema
                .get("required")
                .and_then(Json::as_array)
                .map(|names| names.iter().filter_map(Json::as_str).collect())
                .unwrap_or_default();
            let properties = properties.iter();
            nodes.extend(properties.map(|(name, node)| Node::of(node, names.contains(name))));
        }
        nodes[next].children = first..nodes.len();
        next += 1;
    }
    Ok(build_bottom_up(nodes, build))
}

struct Node<'a> {
    schema: &'a Json,
    is_required: bool,
    children: std::ops::Range<usize>,
}

impl<'a> Node<'a> {
    fn of(schema: &'a Json, is_required: bool) -> Node<'a> {
        Node { schema, is_required, children: 0..0 }
    }
}

fn build(node: Node<'_>, built: &mut [Json]) -> Json {
    let schema = node.schema;
    let mut spec = Object::builder();
    let mut children = node.children.map(|id| mem::take(&mut built[id]));
    match schema.get("type") {
        Some(name) => spec.insert("type", name.clone()),
        None if schema.get("oneOf").is_none() => spec.insert("type", "json"),
        None => &mut spec,
    };
    for key in ANNOTATIONS.into_iter().chain(["enum", "const"]) {
        if let Some(value) = schema.get(key) {
            spec.insert(key, value.clone());
        }
    }
    if schema.get("type").is_some_and(|name| name == "object") {
        let openness = schema.get("additionalProperties").cloned().unwrap_or(Json::Bool(true));
        spec.insert("additionalProperties", openness);
        if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            let names = properties.names().iter().cloned();
            let members: Vec<(Arc<str>, Json)> = names.zip(children.by_ref()).collect();
            spec.insert("properties", Json::Object(members.into()));
        }
    }
    if schema.get("items").is_some() {
        spec.insert("items", children.next().unwrap_or_default());
    }
    if schema.get("oneOf").is_some() {
        spec.insert("oneOf", children.collect::<Json>());
    }
    if node.is_required {
        spec.insert("required", true);
    }
    spec.build().into()
}
