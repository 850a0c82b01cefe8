//! From spec documents to JSON Schema, stopping at the first error.

use std::mem;
use std::sync::Arc;

use super::{ANNOTATIONS, build_bottom_up};
use crate::json::Path;
use crate::subset::Type;
use crate::{Json, JsonSchemaError, Object};

pub(super) fn parameters(spec: &Json) -> Result<Json, JsonSchemaError> {
    let mut compiler = Compiler::new("parameters");
    let root = compiler.reserve();
    let properties = compiler.properties(spec)?;
    compiler.nodes[root] = Node { spec: None, content: Content::Parameters(properties) };
    compiler.finish()
}

pub(super) fn value(spec: &Json) -> Result<Json, JsonSchemaError> {
    let mut compiler = Compiler::new("schema");
    let root = compiler.reserve();
    compiler.later(root, spec, Place::Here);
    compiler.finish()
}

/// A walk over the spec in document order. Nodes get their position before their children do, so
/// the schema can be built from the last node to the first.
struct Compiler<'a> {
    nodes: Vec<Node<'a>>,
    pending: Vec<Visit<'a>>,
    path: Path,
}

struct Visit<'a> {
    id: usize,
    spec: &'a Json,
    parent_len: usize,
    place: Place<'a>,
}

#[derive(Clone, Copy)]
enum Place<'a> {
    /// The root.
    Here,
    Property(&'a str),
    Items,
    Branch(usize),
}

struct Node<'a> {
    /// Where the annotations are; nothing for a list of parameters.
    spec: Option<&'a Object>,
    content: Content,
}

enum Content {
    /// Any value.
    Any,
    Scalar(Type),
    Array(Option<usize>),
    Object(Vec<Property>),
    OneOf(Vec<usize>),
    Parameters(Vec<Property>),
}

struct Property {
    name: Arc<str>,
    id: usize,
    is_required: bool,
}

impl<'a> Compiler<'a> {
    fn new(root: &str) -> Compiler<'a> {
        Compiler { nodes: Vec::new(), pending: Vec::new(), path: Path::root(root) }
    }

    fn finish(mut self) -> Result<Json, JsonSchemaError> {
        while let Some(visit) = self.pending.pop() {
            self.path.truncate(visit.parent_len);
            match visit.place {
                Place::Here => {}
                Place::Property(name) => self.path.push_key(name),
                Place::Items => self.path.push_key("items"),
                Place::Branch(index) => {
                    self.path.push_key("oneOf");
                    self.path.push_index(index);
                }
            }
            self.nodes[visit.id] = self.node(&visit)?;
        }
        Ok(build_bottom_up(self.nodes, build))
    }

    fn reserve(&mut self) -> usize {
        self.nodes.push(Node { spec: None, content: Content::Any });
        self.nodes.len() - 1
    }

    fn later(&mut self, id: usize, spec: &'a Json, place: Place<'a>) {
        self.pending.push(Visit { id, spec, parent_len: self.path.len(), place });
    }

    fn node(&mut self, visit: &Visit<'a>) -> Result<Node<'a>, JsonSchemaError> {
        let Json::Object(spec) = visit.spec else {
            return Err(self.error(" must be a value schema object"));
        };
        let is_property = matches!(visit.place, Place::Property(_));
        if is_property && spec.get("required").is_some_and(|value| *value != Json::Bool(true)) {
            return Err(self.error(".required must be true when present"));
        }
        let kind = Kind::of(spec);
        for key in spec.keys() {
            if !(kind.takes(key) || ANNOTATIONS.contains(&key) || is_property && key == "required") {
                return Err(self.error(&format!(".{key} is not supported by the value schema DSL")));
            }
        }
        let content = match kind {
            Kind::Both => return Err(self.error(" cannot declare both type and oneOf")),
            Kind::Unknown => {
                return Err(self.error(
                    ".type must be string/number/integer/boolean/null/array/object/json, \
                     or use oneOf",
                ));
            }
            Kind::OneOf(branches) => Content::OneOf(self.branches(branches)?),
            Kind::Any => Content::Any,
            Kind::Typed(Type::Array) => Content::Array(spec.get("items").map(|items| {
                let id = self.reserve();
                self.later(id, items, Place::Items);
                id
            })),
            Kind::Typed(Type::Object) => Content::Object(self.object(spec)?),
            Kind::Typed(scalar) => {
                self.check_enum(spec)?;
                Content::Scalar(scalar)
            }
        };
        Ok(Node { spec: Some(spec), content })
    }

    fn branches(&mut self, branches: &'a Json) -> Result<Vec<usize>, JsonSchemaError> {
        let Some(branches) = branches.as_array().filter(|branches| branches.len() >= 2) else {
            return Err(self.error(".oneOf must be an array of at least two value schemas"));
        };
        let ids: Vec<usize> = branches.iter().map(|_| self.reserve()).collect();
        for (index, branch) in branches.iter().enumerate().rev() {
            self.later(ids[index], branch, Place::Branch(index));
        }
        Ok(ids)
    }

    fn object(&mut self, spec: &'a Object) -> Result<Vec<Property>, JsonSchemaError> {
        if !spec.get("additionalProperties").is_some_and(Json::is_bool) {
            return Err(self.error(".additionalProperties must be explicitly true or false"));
        }
        let Some(properties) = spec.get("properties") else { return Ok(Vec::new()) };
        self.path.push_key("properties");
        self.properties(properties)
    }

    /// Reserves the nodes of a map of properties, which is at the path at hand.
    fn properties(&mut self, map: &'a Json) -> Result<Vec<Property>, JsonSchemaError> {
        let Json::Object(map) = map else {
            return Err(self.error(" must be an object of value schemas"));
        };
        let mut properties = Vec::with_capacity(map.len());
        for (name, spec) in map.names().iter().zip(map.values()) {
            let is_required = spec.get("required") == Some(&Json::Bool(true));
            properties.push(Property { name: name.clone(), id: self.reserve(), is_required });
        }
        for ((name, spec), property) in map.iter().zip(&properties).rev() {
            self.later(property.id, spec, Place::Property(name));
        }
        Ok(properties)
    }

    fn check_enum(&self, spec: &Object) -> Result<(), JsonSchemaError> {
        let Some(values) = spec.get("enum") else { return Ok(()) };
        match values.as_array() {
            Some(values) if !values.is_empty() && !values.iter().any(Json::is_container) => Ok(()),
            _ => Err(self.error(".enum must be a non-empty array of scalar values")),
        }
    }

    /// An error at the path at hand, which is followed by `rest`.
    fn error(&self, rest: &str) -> JsonSchemaError {
        JsonSchemaError { violations: vec![format!("{}{rest}", self.path)] }
    }
}

/// What a node says it is.
enum Kind<'a> {
    Any,
    Typed(Type),
    OneOf(&'a Json),
    /// Both a `type` and a `oneOf`.
    Both,
    /// No known `type` and no `oneOf`.
    Unknown,
}

impl<'a> Kind<'a> {
    fn of(spec: &'a Object) -> Kind<'a> {
        match (spec.get("type"), spec.get("oneOf")) {
            (Some(_), Some(_)) => Kind::Both,
            (None, Some(branches)) => Kind::OneOf(branches),
            (name, None) => match name.and_then(Json::as_str) {
                Some("json") => Kind::Any,
                name => name.and_then(Type::from_name).map_or(Kind::Unknown, Kind::Typed),
            },
        }
    }

    fn takes(&self, key: &str) -> bool {
        match self {
            Kind::Any => key == "type",
            Kind::OneOf(_) => key == "oneOf",
            Kind::Typed(Type::Array) => matches!(key, "type" | "items"),
            Kind::Typed(Type::Object) => {
                matches!(key, "type" | "additionalProperties" | "properties")
            }
            Kind::Typed(_) => matches!(key, "type" | "enum" | "const"),
            Kind::Both | Kind::Unknown => matches!(
                key,
                "type" | "oneOf" | "items" | "additionalProperties" | "properties" | "enum" | "const"
            ),
        }
    }
}

fn build(node: Node<'_>, built: &mut [Json]) -> Json {
    let mut schema = Object::builder();
    let name = match node.content {
        Content::Any | Content::OneOf(_) => None,
        Content::Scalar(kind) => Some(kind.name()),
        Content::Array(_) => Some("array"),
        Content::Object(_) | Content::Parameters(_) => Some("object"),
    };
    if let Some(name) = name {
        schema.insert("type", name);
    }
    let mut copy = |keys: &[&str]| {
        for &key in keys {
            if let Some(value) = node.spec.and_then(|spec| spec.get(key)) {
                schema.insert(key, value.clone());
            }
        }
    };
    copy(&ANNOTATIONS);
    match node.content {
        Content::Any => {}
        Content::Scalar(_) => copy(&["enum", "const"]),
        Content::Array(None) => {}
        Content::Array(Some(items)) => {
            schema.insert("items", mem::take(&mut built[items]));
        }
        Content::OneOf(branches) => {
            let branches = branches.into_iter().map(|id| mem::take(&mut built[id]));
            schema.insert("oneOf", branches.collect::<Json>());
        }
        Content::Object(properties) => {
            copy(&["additionalProperties"]);
            let is_declared = node.spec.is_some_and(|spec| spec.contains_key("properties"));
            insert_properties(&mut schema, properties, is_declared, built);
        }
        Content::Parameters(properties) => insert_properties(&mut schema, properties, true, built),
    }
    schema.build().into()
}

fn insert_properties(
    schema: &mut crate::ObjectBuilder,
    properties: Vec<Property>,
    is_declared: bool,
    built: &mut [Json],
) {
    let required: Vec<Json> = properties
        .iter()
        .filter(|property| property.is_required)
        .map(|property| Json::String(property.name.clone()))
        .collect();
    if is_declared {
        let members = properties.into_iter();
        let members = members.map(|property| (property.name, mem::take(&mut built[property.id])));
        schema.insert("properties", Json::Object(members.collect()));
    }
    if !required.is_empty() {
        schema.insert("required", required);
    }
}
