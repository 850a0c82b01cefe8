//! Local references: from the text of a `$ref` to the schema it means.

use std::borrow::Cow;
use std::collections::HashMap;

use code_mode_schema::{Json, Object};

/// A schema and the resource it belongs to: the nearest enclosing schema with an `$id`, else the root.
///
/// `#` and `#/…` mean places in that resource.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) schema: &'a Json,
    pub(crate) resource: &'a Json,
}

impl<'a> Place<'a> {
    /// The place of the root of a document.
    pub(crate) fn root(document: &'a Json) -> Place<'a> {
        Place { schema: document, resource: document }
    }

    /// The place of a schema directly within this one.
    pub(crate) fn child(self, schema: &'a Json) -> Place<'a> {
        Place { schema, resource: if identifies_resource(schema) { schema } else { self.resource } }
    }
}

/// Finds what references mean within one document; nothing is fetched.
pub(crate) struct Resolver<'a> {
    document: &'a Json,
    /// Made when the first reference needs it, so that no number of references walks the document twice.
    names: Option<Names<'a>>,
}

/// What the schemas of a document call themselves.
#[derive(Default)]
struct Names<'a> {
    identifiers: HashMap<&'a str, Place<'a>>,
    /// By resource (its address) and name.
    anchors: HashMap<(usize, &'a str), Place<'a>>,
    /// How often each `$dynamicAnchor` occurs.
    dynamic: HashMap<&'a str, usize>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(document: &'a Json) -> Resolver<'a> {
        Resolver { document, names: None }
    }

    /// What `reference` means at `place`; `None` if that is not within the document.
    ///
    /// Understood are JSON Pointers (`#`, `#/…`, percent-encoded or not), anchors (`#name`), and the
    /// exact `$id` of a schema of the document, with either of these behind it.
    pub(crate) fn resolve(&mut self, place: Place<'a>, reference: &str) -> Option<Place<'a>> {
        let (identifier, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match identifier {
            "" => place.resource,
            _ => self.names().identifiers.get(identifier)?.schema,
        };
        let start = Place::root(resource);
        match fragment.strip_prefix('/') {
            Some(pointer) => follow(start, pointer),
            None if fragment.is_empty() => Some(start),
            None => self.names().anchors.get(&(address(resource), fragment)).copied(),
        }
    }

    /// Whether more than one schema declares the dynamic anchor that a `$dynamicRef` ends in.
    pub(crate) fn is_ambiguous(&mut self, reference: &str) -> bool {
        let name = reference.rsplit('#').next().unwrap_or_default();
        self.names().dynamic.get(name).is_some_and(|&count| count > 1)
    }

    fn names(&mut self) -> &Names<'a> {
        let document = self.document;
        self.names.get_or_insert_with(|| Names::of(document))
    }
}

impl<'a> Names<'a> {
    /// Collects the names of all schemas; `enum`, `const`, `default` and `examples` hold data, not schemas.
    fn of(document: &'a Json) -> Names<'a> {
        let mut names = Names::default();
        let mut pending = vec![Place::root(document)];
        while let Some(place) = pending.pop() {
            match place.schema {
                Json::Object(object) => {
                    names.add(place, object);
                    let schemas = object.iter().rev().filter(|(key, _)| !is_data(key));
                    pending.extend(schemas.map(|(_, value)| place.child(value)));
                }
                Json::Array(items) => pending.extend(items.iter().rev().map(|item| place.child(item))),
                _ => {}
            }
        }
        names
    }

    fn add(&mut self, place: Place<'a>, object: &'a Object) {
        let text = |keyword| object.get(keyword).and_then(Json::as_str);
        let id = text("$id").unwrap_or_default();
        let anchors = [text("$anchor"), text("$dynamicAnchor"), id.strip_prefix('#')];
        for anchor in anchors.into_iter().flatten() {
            self.anchors.entry((address(place.resource), anchor)).or_insert(place);
        }
        if let Some(anchor) = text("$dynamicAnchor") {
            *self.dynamic.entry(anchor).or_default() += 1;
        }
        if identifies_resource(place.schema) {
            self.identifiers.entry(id.strip_suffix('#').unwrap_or(id)).or_insert(place);
        }
    }
}

/// Where a value stands in memory: its identity within one document.
pub(crate) fn address(value: &Json) -> usize {
    std::ptr::from_ref(value) as usize
}

fn identifies_resource(schema: &Json) -> bool {
    schema.get("$id").and_then(Json::as_str).is_some_and(|id| !id.starts_with('#'))
}

fn follow<'a>(start: Place<'a>, pointer: &str) -> Option<Place<'a>> {
    pointer.split('/').try_fold(start, |place, token| {
        let token = decode(token);
        let next = match place.schema {
            Json::Object(object) => object.get(&token)?,
            Json::Array(array) => array.get(array_index(&token)?)?,
            _ => return None,
        };
        Some(place.child(next))
    })
}

/// A token of a pointer in a fragment: percent-encoding first, then `~1`, then `~0` (RFC 6901, 6).
fn decode(token: &str) -> Cow<'_, str> {
    if !token.contains(['%', '~']) {
        return Cow::Borrowed(token);
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).filter(|_| *first == b'%').and_then(hex_byte);
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).replace("~1", "/").replace("~0", "~"))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}

fn array_index(token: &str) -> Option<usize> {
    let canonical =
        token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    canonical.then(|| token.parse().ok()).flatten()
}

fn is_data(keyword: &str) -> bool {
    matches!(keyword, "enum" | "const" | "default" | "examples")
}

#[cfg(test)]
mod tests {
    use super::*;
    use code_mode_schema::json;

    #[track_caller]
    fn check(document: &Json, reference: &str, expected: Option<&Json>) {
        let found =
            Resolver::new(document).resolve(Place::root(document), reference).map(|place| place.schema);
        assert_eq!(found, expected, "{reference}");
    }

    #[test]
    fn pointers_reach_any_place_with_escapes() {
        let document = json!({
            "$defs": {"a/b": 1, "c~d": 2, "with space": 3, "100%": 4, "~1": 5, "": {"": 6}},
            "anyOf": [{"x": 7}, 8]
        });
        check(&document, "#", Some(&document));
        check(&document, "", Some(&document));
        check(&document, "#/$defs/a~1b", Some(&json!(1)));
        check(&document, "#/%24defs/c~0d", Some(&json!(2)));
        check(&document, "#/$defs/with%20space", Some(&json!(3)));
        check(&document, "#/$defs/with space", Some(&json!(3)));
        check(&document, "#/$defs/100%25", Some(&json!(4)));
        check(&document, "#/$defs/~01", Some(&json!(5)));
        check(&document, "#/$defs//", Some(&json!(6)));
        check(&document, "#/anyOf/0/x", Some(&json!(7)));
        check(&document, "#/anyOf/01", None);
        check(&document, "#/anyOf/2", None);
        check(&document, "#/$defs/none", None);
        check(&document, "#/$defs/a~1b/deeper", None);
        check(&document, "other.json", None);
    }

    #[test]
    fn anchors_and_identifiers_of_the_document_resolve() {
        let document = json!({
            "$id": "https://example.com/root.json",
            "const": {"$anchor": "data"},
            "$defs": {
                "a": {"$anchor": "here", "n": 1},
                "old": {"$id": "#draft6", "n": 2},
                "inner": {"$id": "inner.json", "$defs": {"x": {"n": 3}}}
            }
        });
        check(&document, "#here", document.get("$defs").unwrap().get("a"));
        check(&document, "#draft6", document.get("$defs").unwrap().get("old"));
        check(&document, "#data", None);
        check(&document, "inner.json#/$defs/x", Some(&json!({"n": 3})));
        check(&document, "https://example.com/root.json#", Some(&document));
    }

    #[test]
    fn pointer_within_an_embedded_resource_starts_there() {
        let document = json!({
            "$defs": {"x": 1},
            "properties": {"out": {"$id": "out", "$defs": {"x": 2}, "items": {"$ref": "#/$defs/x"}}}
        });
        let mut resolver = Resolver::new(&document);
        let inside = resolver.resolve(Place::root(&document), "#/properties/out/items").unwrap();
        assert_eq!(resolver.resolve(inside, "#/$defs/x").unwrap().schema, &json!(2));
    }
}
