//! Validation of values against schemas of the closed subset, with one violation text per case.

use std::collections::HashSet;
use std::sync::Arc;

use crate::json::Path;
use crate::subset::{Type, assert_supported_json_schema};
use crate::violations::Violations;
use crate::{Array, Json, Object};

/// Validates `value` against a schema of the closed subset; an empty list means that it is valid.
///
/// `path` names the root in the texts: `value` for outputs, empty for arguments, whose root is
/// then called `arguments` and whose members stand without a prefix. A schema outside the subset
/// validates nothing: its own violations are returned. To validate many values against one
/// schema, compile it once with [`Schema::subset`](crate::Schema::subset).
///
/// ```
/// use code_mode_schema::{json, validate_json_schema_value};
///
/// let schema = json!({"type": "array", "items": {"type": "integer"}});
/// let violations = validate_json_schema_value(&schema, &json!([1, 2.5]), "value");
/// assert_eq!(violations, [r#""value[1]" must be an integer"#]);
/// ```
///
/// Source: contract 4.3.
pub fn validate_json_schema_value(schema: &Json, value: &Json, path: &str) -> Vec<String> {
    match assert_supported_json_schema(schema) {
        Ok(()) => Validator::new(schema).validate(value, path),
        Err(error) => error.violations,
    }
}

/// A schema of the subset, compiled: nodes that refer to each other by position.
#[derive(Debug)]
pub(crate) struct Validator {
    nodes: Vec<Node>,
}

type NodeId = usize;

#[derive(Debug)]
enum Node {
    /// Any value.
    Any,
    Scalar(Scalar),
    Array(Option<NodeId>),
    Object(ObjectNode),
    OneOf(Vec<NodeId>),
}

#[derive(Debug)]
struct Scalar {
    kind: Type,
    allowed: Option<Allowed>,
    fixed: Option<Json>,
}

#[derive(Debug)]
struct Allowed {
    values: Array,
    /// The same, where they are too many to be searched for every value.
    lookup: Option<HashSet<Json>>,
}

impl Allowed {
    fn new(values: &Array) -> Allowed {
        const MAX_SEARCHED: usize = 16;
        let is_long = values.len() > MAX_SEARCHED;
        Allowed { values: values.clone(), lookup: is_long.then(|| values.iter().cloned().collect()) }
    }

    fn contains(&self, value: &Json) -> bool {
        match &self.lookup {
            Some(lookup) => lookup.contains(value),
            None => self.values.contains(value),
        }
    }
}

#[derive(Debug)]
struct ObjectNode {
    /// In the order of `properties`.
    properties: Vec<(Arc<str>, NodeId)>,
    /// In the order of `required`.
    required: Vec<Arc<str>>,
    /// The schema's own `properties`, for looking up the names of a large value.
    declared: Object,
    is_closed: bool,
}

impl Validator {
    /// Compiles `schema`, which must be in the subset.
    pub(crate) fn new(schema: &Json) -> Validator {
        Validator::compile(schema, compile)
    }

    fn compile<'a>(
        schema: &'a Json,
        compile: fn(&'a Json, &mut dyn FnMut(&'a Json) -> NodeId) -> Node,
    ) -> Validator {
        let mut nodes = vec![Node::Any];
        let mut pending = vec![(schema, 0)];
        while let Some((schema, id)) = pending.pop() {
            let mut child = |schema| {
                nodes.push(Node::Any);
                pending.push((schema, nodes.len() - 1));
                nodes.len() - 1
            };
            let node = compile(schema, &mut child);
            nodes[id] = node;
        }
        Validator { nodes }
    }

    /// Compiles what can be told from any document: types, properties, items and literals.
    pub(crate) fn structural(document: &Json) -> Validator {
        Validator::compile(document, compile_structural)
    }

    /// Validates `value`; `label` names the root.
    pub(crate) fn validate(&self, value: &Json, label: &str) -> Vec<String> {
        self.validate_at_most(usize::MAX, value, label)
    }

    /// Validates `value` and writes at most `max_texts` violations out.
    pub(crate) fn validate_at_most(&self, max_texts: usize, value: &Json, label: &str) -> Vec<String> {
        let mut run = Run {
            nodes: &self.nodes,
            label,
            open: Vec::new(),
            probes: Vec::new(),
            violations: Violations::at_most(max_texts),
        };
        run.check(0, value);
        while run.advance() {}
        run.violations.into_texts()
    }
}

fn compile<'a>(schema: &'a Json, child: &mut dyn FnMut(&'a Json) -> NodeId) -> Node {
    if let Some(branches) = schema.get("oneOf").and_then(Json::as_array) {
        return Node::OneOf(branches.iter().map(child).collect());
    }
    let Some(kind) = schema.get("type").and_then(Json::as_str).and_then(Type::from_name) else {
        return Node::Any;
    };
    match kind {
        Type::Array => Node::Array(schema.get("items").map(child)),
        Type::Object => {
            let declared = schema.get("properties").and_then(Json::as_object);
            let properties = declared.map(|properties| {
                properties.names().iter().cloned().zip(properties.values().map(&mut *child))
            });
            let required = schema.get("required").and_then(Json::as_array);
            let names = required.map(|names| names.iter().filter_map(Json::as_str).map(Arc::from));
            Node::Object(ObjectNode {
                properties: properties.into_iter().flatten().collect(),
                required: names.into_iter().flatten().collect(),
                declared: declared.cloned().unwrap_or_default(),
                is_closed: schema.get("additionalProperties") == Some(&Json::Bool(false)),
            })
        }
        _ => Node::Scalar(Scalar {
            kind,
            allowed: schema.get("enum").and_then(Json::as_array).map(Allowed::new),
            fixed: schema.get("const").cloned(),
        }),
    }
}

/// Compiles a schema of any vocabulary: keywords that are not understood, and what depends on them,
/// say nothing.
fn compile_structural<'a>(schema: &'a Json, child: &mut dyn FnMut(&'a Json) -> NodeId) -> Node {
    let Json::Object(keywords) = schema else { return Node::Any };
    let is_opaque = |key| keywords.contains_key(key);
    if is_opaque("$ref") || is_opaque("oneOf") {
        return Node::Any;
    }
    let Some(kind) = schema.get("type").and_then(Json::as_str).and_then(Type::from_name) else {
        return Node::Any;
    };
    match kind {
        Type::Array => {
            let items = schema.get("items").filter(|items| items.is_object());
            Node::Array(items.filter(|_| !is_opaque("prefixItems")).map(child))
        }
        Type::Object => match compile(schema, child) {
            Node::Object(node) => Node::Object(ObjectNode {
                is_closed: node.is_closed && !is_opaque("patternProperties"),
                ..node
            }),
            node => node,
        },
        _ => compile(schema, child),
    }
}

/// One validation: a stack of open containers instead of recursion.
struct Run<'a> {
    nodes: &'a [Node],
    label: &'a str,
    open: Vec<Open<'a>>,
    /// Positions in `open` of the `oneOf`s whose branches are being tried. Below one, violations
    /// only fail the branch.
    probes: Vec<usize>,
    violations: Violations,
}

enum Open<'a> {
    Object {
        node: &'a ObjectNode,
        object: &'a Object,
        /// The property that is checked next; the path goes through the one before.
        next: usize,
        /// How many properties the value has of those declared.
        present: usize,
    },
    Array {
        items: NodeId,
        array: &'a [Json],
        /// The element that is checked next; the path goes through the one before.
        next: usize,
    },
    OneOf {
        branches: &'a [NodeId],
        value: &'a Json,
        /// The branch that is tried next.
        next: usize,
        matched: usize,
        /// Whether the branch that was tried last has failed.
        has_failed: bool,
    },
}

impl<'a> Run<'a> {
    /// Checks `value` if that takes no steps, else opens it.
    fn check(&mut self, node: NodeId, value: &'a Json) {
        match &self.nodes[node] {
            Node::Any => {}
            Node::Scalar(scalar) => self.check_scalar(scalar, value),
            Node::Array(items) => match (value, items) {
                (Json::Array(array), Some(items)) => {
                    self.open.push(Open::Array { items: *items, array, next: 0 });
                }
                (Json::Array(_), None) => {}
                _ => self.report(|path| format!("\"{path}\" must be an array")),
            },
            Node::Object(node) => match value {
                Json::Object(object) => self.open_object(node, object),
                _ => self.report(|path| format!("\"{path}\" must be an object")),
            },
            Node::OneOf(branches) => {
                self.probes.push(self.open.len());
                self.open.push(Open::OneOf { branches, value, next: 0, matched: 0, has_failed: false });
            }
        }
    }

    fn check_scalar(&mut self, scalar: &Scalar, value: &Json) {
        if !scalar.kind.admits(value) {
            let expected = match scalar.kind {
                Type::String => "a string",
                Type::Number => "a number",
                Type::Integer => "an integer",
                Type::Boolean => "a boolean",
                _ => "null",
            };
            self.report(|path| format!("\"{path}\" must be {expected}"));
        } else if let Some(allowed) = scalar.allowed.as_ref().filter(|all| !all.contains(value)) {
            self.report(|path| format!("\"{path}\" must be one of {}", allowed.values.to_text()));
        } else if let Some(fixed) = scalar.fixed.as_ref().filter(|fixed| *fixed != value) {
            self.report(|path| format!("\"{path}\" must be {fixed}"));
        }
    }

    fn open_object(&mut self, node: &'a ObjectNode, object: &'a Object) {
        for (hint, name) in node.required.iter().enumerate() {
            if object.get_near(name, hint).is_none() {
                let is_probe = !self.probes.is_empty();
                self.report_member(name, |path| format!("missing required property \"{path}\""));
                if is_probe {
                    return;
                }
            }
        }
        self.open.push(Open::Object { node, object, next: 0, present: 0 });
    }

    /// Does the next step of the innermost open container; `false` when nothing is open.
    fn advance(&mut self) -> bool {
        let Some(open) = self.open.last_mut() else { return false };
        match open {
            Open::Array { items, array, next } => match array.get(*next) {
                Some(item) => {
                    *next += 1;
                    let items = *items;
                    self.check(items, item);
                }
                None => {
                    self.open.pop();
                }
            },
            Open::Object { node, object, next, present } => {
                let (node, object) = (*node, *object);
                match node.properties.get(*next) {
                    Some((name, property)) => {
                        let found = object.get_near(name, *next);
                        *next += 1;
                        if let Some(value) = found {
                            *present += 1;
                            self.check(*property, value);
                        }
                    }
                    None => {
                        let all_are_declared = *present == object.len();
                        self.open.pop();
                        if node.is_closed && !all_are_declared {
                            self.report_undeclared(node, object);
                        }
                    }
                }
            }
            Open::OneOf { branches, value, next, matched, has_failed } => {
                if *next > 0 && !*has_failed {
                    *matched += 1;
                }
                *has_failed = false;
                match branches.get(*next) {
                    Some(branch) => {
                        *next += 1;
                        let (branch, value) = (*branch, *value);
                        self.check(branch, value);
                    }
                    None => {
                        let matched = *matched;
                        self.open.pop();
                        self.probes.pop();
                        if matched != 1 {
                            self.report(|path| {
                                format!("\"{path}\" must match exactly one oneOf branch (matched {matched})")
                            });
                        }
                    }
                }
            }
        }
        true
    }

    fn report_undeclared(&mut self, node: &ObjectNode, object: &Object) {
        for name in object.keys().filter(|name| !node.declared.contains_key(name)) {
            let is_probe = !self.probes.is_empty();
            self.report_member(name, |path| {
                format!("\"{path}\" is not a declared property (additionalProperties: false)")
            });
            if is_probe {
                return;
            }
        }
    }

    /// Reports a violation at the path at hand, or fails the branch that is being tried.
    fn report(&mut self, text: impl FnOnce(&str) -> String) {
        self.report_at(None, text);
    }

    /// Reports a violation at the member `name` of the object at the path at hand.
    fn report_member(&mut self, name: &str, text: impl FnOnce(&str) -> String) {
        self.report_at(Some(name), text);
    }

    fn report_at(&mut self, member: Option<&str>, text: impl FnOnce(&str) -> String) {
        if let Some(&probe) = self.probes.last() {
            self.open.truncate(probe + 1);
            if let Some(Open::OneOf { has_failed, .. }) = self.open.last_mut() {
                *has_failed = true;
            }
            return;
        }
        let (label, open) = (self.label, &self.open);
        self.violations.push(|| {
            let mut path = path_of(label, open);
            match member {
                Some(name) => path.push_key(name),
                None if path.as_str().is_empty() => path = Path::root("arguments"),
                None => {}
            }
            text(path.as_str())
        });
    }
}

fn path_of(label: &str, open: &[Open<'_>]) -> Path {
    let mut path = Path::root(label);
    for container in open {
        match container {
            Open::Object { node, next, .. } => path.push_key(&node.properties[next - 1].0),
            Open::Array { next, .. } => path.push_index(next - 1),
            Open::OneOf { .. } => {}
        }
    }
    path
}
