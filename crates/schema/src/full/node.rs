//! Our values as the `jsonschema` crate sees them: it walks them in place, without a copy.

use std::borrow::Cow;
use std::collections::HashSet;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json as Representation, JsonNumber, Node, NodeIdentity, Object};
use serde_json::Value;

use super::effort::{hash_one, look, look_at_text};
use crate::json::ObjectIter;
use crate::{Json, Number};

/// Names our representation of JSON to the `jsonschema` crate.
pub(super) enum Canonical {}

impl Representation for Canonical {
    type Node<'a> = &'a Json;
    type PreparedKey = Box<str>;
    type StringBuffer = Json;

    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(buffer: &mut Json, string: &str, f: impl FnOnce(&Json) -> T) -> T {
        *buffer = Json::from(string);
        f(buffer)
    }
}

impl<'a> Node<'a, Canonical> for &'a Json {
    type Object = &'a crate::Object;
    type Array = &'a crate::Array;
    type Number = Number;

    fn as_object(&self) -> Option<&'a crate::Object> {
        look();
        Json::as_object(self)
    }

    fn as_array(&self) -> Option<&'a crate::Array> {
        look();
        Json::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        look_at_text();
        self.as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<Number> {
        look();
        Json::as_number(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        self.as_bool()
    }

    fn is_null(&self) -> bool {
        Json::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        look();
        match self {
            Json::Null => JsonType::Null,
            Json::Bool(_) => JsonType::Boolean,
            Json::Number(_) => JsonType::Number,
            Json::String(_) => JsonType::String,
            Json::Array(_) => JsonType::Array,
            Json::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        look();
        equals(self, expected)
    }

    /// Scalars as they are, containers as `null`: only reports see this, and ours name the path
    /// and not the value.
    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match self {
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Number(number.to_number().into_owned()),
            Json::String(text) => Value::String((**text).to_owned()),
            Json::Null | Json::Array(_) | Json::Object(_) => Value::Null,
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        look();
        Some(NodeIdentity::new(std::ptr::from_ref::<Json>(self) as usize))
    }
}

impl<'a> Object<'a, Canonical> for &'a crate::Object {
    type Node = &'a Json;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        crate::Object::len(self)
    }

    fn get(&self, key: &Box<str>) -> Option<&'a Json> {
        crate::Object::get(self, key)
    }

    fn members(&self) -> Members<'a> {
        Members(self.iter())
    }
}

/// The members of an object. Their names are texts that patterns are tried on.
pub(super) struct Members<'a>(ObjectIter<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.0.next()?;
        look_at_text();
        Some(member)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Array<'a, Canonical> for &'a crate::Array {
    type Node = &'a Json;
    type ElementsIter = std::slice::Iter<'a, Json>;

    fn len(&self) -> usize {
        <[Json]>::len(self)
    }

    fn elements(&self) -> std::slice::Iter<'a, Json> {
        self.iter()
    }

    fn is_unique(&self) -> bool {
        let mut seen = HashSet::with_capacity(<[Json]>::len(self));
        self.iter().all(|item| {
            hash_all(item);
            seen.insert(item)
        })
    }
}

/// Counts what is hashed of `value`: where arrays of unique items nest, the innermost is hashed once a level.
fn hash_all(value: &Json) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        hash_one();
        match value {
            Json::Array(items) => pending.extend(items.iter()),
            Json::Object(members) => pending.extend(members.values()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
}

impl JsonNumber for Number {
    fn as_u64(&self) -> Option<u64> {
        let value = self.get();
        (self.is_integer() && (0.0..18_446_744_073_709_551_616.0).contains(&value)).then_some(value as u64)
    }

    fn as_i64(&self) -> Option<i64> {
        let value = self.get();
        let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
        (self.is_integer() && range.contains(&value)).then_some(value as i64)
    }

    fn as_f64(&self) -> Option<f64> {
        Some(self.get())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        let number = match (JsonNumber::as_u64(self), JsonNumber::as_i64(self)) {
            (Some(natural), _) => natural.into(),
            (None, Some(integer)) => integer.into(),
            (None, None) => serde_json::Number::from_f64(self.get()).expect("JSON numbers are finite"),
        };
        Cow::Owned(number)
    }

    fn is_integer(&self) -> bool {
        Number::is_integer(*self)
    }

    fn is_written_as_integer(&self) -> bool {
        Number::is_integer(*self)
    }
}

fn equals(value: &Json, expected: &Value) -> bool {
    let mut pending = vec![(value, expected)];
    while let Some((value, expected)) = pending.pop() {
        let equal = match (value, expected) {
            (Json::Null, Value::Null) => true,
            (Json::Bool(value), Value::Bool(expected)) => value == expected,
            (Json::Number(value), Value::Number(expected)) => expected.as_f64() == Some(value.get()),
            (Json::String(value), Value::String(expected)) => **value == **expected,
            (Json::Array(value), Value::Array(expected)) => {
                pending.extend(value.iter().zip(expected));
                value.len() == expected.len()
            }
            (Json::Object(value), Value::Object(expected)) => {
                value.len() == expected.len()
                    && value.iter().all(|(key, value)| {
                        let expected = expected.get(key);
                        pending.extend(expected.map(|expected| (value, expected)));
                        expected.is_some()
                    })
            }
            _ => false,
        };
        if !equal {
            return false;
        }
    }
    true
}
