//! Objects: shared, immutable members in JavaScript's key order.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use triomphe::ThinArc;

use super::shape::{Shape, in_order};
use super::{Json, walk};

/// A JSON object: shared, immutable members, each name once, in JavaScript's key order.
///
/// Integer-like names (`0` to `4294967294` in canonical decimal) come first in ascending order,
/// all others follow in the order they were given. A name that is given twice keeps its first
/// place and takes the last value, as in an object literal.
///
/// ```
/// use code_mode_schema::{Json, Object};
///
/// let object: Object = [("b", 1), ("2", 2), ("a", 3), ("1", 4), ("b", 5)]
///     .into_iter()
///     .map(|(key, value)| (key, Json::from(value)))
///     .collect();
/// assert_eq!(object.keys().collect::<Vec<_>>(), ["1", "2", "b", "a"]);
/// assert_eq!(object.get("b"), Some(&Json::from(5)));
/// ```
///
/// Source: contract 9 (3), contract 5.1.
// One allocation holds the values and names their shape: a thousand objects with the same names
// hold those once.
#[derive(Clone)]
pub struct Object(ThinArc<Arc<Shape>, Json>);

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// Starts an object that is filled member by member.
    pub fn builder() -> ObjectBuilder {
        ObjectBuilder::default()
    }

    /// An object of the given shape, to which `values` must be as many as it has names.
    fn of_shape(shape: Arc<Shape>, values: impl ExactSizeIterator<Item = Json>) -> Object {
        debug_assert_eq!(shape.names.len(), values.len());
        Object(ThinArc::from_header_and_iter(shape, values))
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.0.header.header
    }

    fn items(&self) -> &[Json] {
        &self.0.slice
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.items().len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of the member called `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.position(key).map(|position| &self.items()[position])
    }

    /// Whether there is a member called `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// The members in key order.
    pub fn iter(&self) -> ObjectIter<'_> {
        ObjectIter { names: self.shape().names.iter(), values: self.items().iter() }
    }

    /// The names in key order; they can be shared without copying.
    pub fn names(&self) -> &[Arc<str>] {
        &self.shape().names
    }

    /// The names in key order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.names().iter().map(|name| &**name)
    }

    /// The values in key order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Json> + ExactSizeIterator {
        self.items().iter()
    }

    /// A copy in which `key` has the value `value`; a new name goes last.
    #[must_use]
    pub fn with(&self, key: impl Into<Arc<str>>, value: impl Into<Json>) -> Object {
        let mut members = self.to_members();
        members.push((key.into(), value.into()));
        members.into()
    }

    /// A copy that has no member called `key`.
    #[must_use]
    pub fn without(&self, key: &str) -> Object {
        let mut members = self.to_members();
        members.retain(|(name, _)| **name != *key);
        members.into()
    }

    fn to_members(&self) -> Vec<(Arc<str>, Json)> {
        self.names().iter().cloned().zip(self.values().cloned()).collect()
    }

    /// Whether both are one and the same object, not only equal.
    pub fn is_same(&self, other: &Object) -> bool {
        self.0.ptr() == other.0.ptr()
    }

    /// Where the member called `key` stands.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        self.shape().position(key)
    }

    /// The member called `key`, tried first at `hint`.
    pub(crate) fn get_near(&self, key: &str, hint: usize) -> Option<&Json> {
        match self.names().get(hint) {
            Some(name) if **name == *key => Some(&self.items()[hint]),
            _ => self.get(key),
        }
    }

    /// Whether both have the same names in the same order, told without comparing them.
    pub(super) fn has_shape_of(&self, other: &Object) -> bool {
        std::ptr::eq(self.shape(), other.shape())
    }

    /// Gives the values to `work`, if nobody else owns them.
    pub(super) fn with_own(&mut self, work: impl FnOnce(&mut [Json])) {
        self.0.with_arc_mut(|shared| {
            if let Some(own) = triomphe::Arc::get_mut(shared) {
                work(own.slice_mut());
            }
        });
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        self.with_own(walk::release);
    }
}

impl Default for Object {
    fn default() -> Object {
        static EMPTY: LazyLock<Object> =
            LazyLock::new(|| Object::of_shape(Arc::default(), std::iter::empty()));
        EMPTY.clone()
    }
}

/// The values of all objects that are being built at the same time, inner ones above outer ones:
/// each object takes its part in one piece when it is finished.
#[derive(Default)]
pub(super) struct Unfinished(Vec<Json>);

impl Unfinished {
    /// Starts an object; the returned position names it.
    pub(super) fn start(&self) -> usize {
        self.0.len()
    }

    /// Adds a value to the object that was started last.
    pub(super) fn push(&mut self, value: Json) {
        self.0.push(value);
    }

    /// Finishes the object that started at `start`, whose names are those of `shape`.
    pub(super) fn finish(&mut self, start: usize, shape: Arc<Shape>) -> Object {
        Object::of_shape(shape, self.0.drain(start..))
    }

    /// Finishes the object that started at `start`, whose names may repeat and be in any order.
    pub(super) fn finish_in_order(&mut self, start: usize, names: Vec<Arc<str>>) -> Object {
        names.into_iter().zip(self.0.drain(start..)).collect::<Vec<_>>().into()
    }
}

/// Puts the members in JavaScript's key order; a repeated name keeps its first place and takes the
/// last value.
impl From<Vec<(Arc<str>, Json)>> for Object {
    fn from(members: Vec<(Arc<str>, Json)>) -> Object {
        let (names, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        match Shape::new(names) {
            Ok(shape) => Object::of_shape(Arc::new(shape), values.into_iter()),
            Err(names) => {
                let (shape, values) = in_order(names.into_iter().zip(values).collect());
                Object::of_shape(Arc::new(shape), values.into_iter())
            }
        }
    }
}

impl<K: Into<Arc<str>>> FromIterator<(K, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(members: I) -> Object {
        members.into_iter().map(|(key, value)| (key.into(), value)).collect::<Vec<_>>().into()
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Json);
    type IntoIter = ObjectIter<'a>;

    fn into_iter(self) -> ObjectIter<'a> {
        self.iter()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        walk::equal_objects(self, other)
    }
}

impl Eq for Object {}

impl Hash for Object {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Json::Object(self.clone()).hash(state);
    }
}

/// Compact JSON text.
impl fmt::Debug for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_text())
    }
}

/// The members of an [`Object`] in key order.
#[derive(Clone)]
pub struct ObjectIter<'a> {
    names: std::slice::Iter<'a, Arc<str>>,
    values: std::slice::Iter<'a, Json>,
}

impl<'a> Iterator for ObjectIter<'a> {
    type Item = (&'a str, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.names.next()?;
        let value = self.values.next()?;
        Some((name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.names.size_hint()
    }
}

impl DoubleEndedIterator for ObjectIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let name = self.names.next_back()?;
        let value = self.values.next_back()?;
        Some((name, value))
    }
}

impl ExactSizeIterator for ObjectIter<'_> {}

impl fmt::Debug for ObjectIter<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.clone()).finish()
    }
}

/// Collects the members of an [`Object`] one by one.
///
/// ```
/// use code_mode_schema::{Json, Object};
///
/// let mut builder = Object::builder();
/// builder.insert("id", 7);
/// builder.insert("name", "seven");
/// assert_eq!(Json::from(builder.build()).to_text(), r#"{"id":7,"name":"seven"}"#);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ObjectBuilder {
    members: Vec<(Arc<str>, Json)>,
}

impl ObjectBuilder {
    /// An empty builder with room for `capacity` members.
    pub fn with_capacity(capacity: usize) -> ObjectBuilder {
        ObjectBuilder { members: Vec::with_capacity(capacity) }
    }

    /// Adds a member; a name that was added before keeps its place and takes this value.
    pub fn insert(&mut self, key: impl Into<Arc<str>>, value: impl Into<Json>) -> &mut ObjectBuilder {
        self.members.push((key.into(), value.into()));
        self
    }

    /// The finished object.
    pub fn build(self) -> Object {
        self.members.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn members_are_found_and_walked_in_order() {
        let object: Object =
            [("b", json!(1)), ("2", json!(2)), ("a", json!(3)), ("b", json!(4))].into_iter().collect();
        assert_eq!(Json::from(object.clone()).to_text(), r#"{"2":2,"b":4,"a":3}"#);
        assert_eq!(object.get("b"), Some(&json!(4)));
        assert_eq!(object.get("c"), None);
        assert_eq!(object.iter().rev().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "2"]);
        assert_eq!((object.len(), object.iter().len(), object.is_empty()), (3, 3, false));
        assert!(Object::new().is_empty());
    }

    #[test]
    fn large_objects_are_looked_up_the_same() {
        let object: Object = (0..100_u32).map(|n| (format!("k{n}"), Json::from(n))).collect();
        for n in 0..100_u32 {
            assert_eq!(object.get(&format!("k{n}")), Some(&Json::from(n)));
            assert_eq!(object.get_near(&format!("k{n}"), 50), Some(&Json::from(n)));
        }
        assert_eq!(object.get("k100"), None);
    }

    #[test]
    fn members_can_be_replaced_and_removed_in_a_copy() {
        let object: Object = [("a", json!(1)), ("b", json!(2))].into_iter().collect();
        assert_eq!(object.with("a", 3).to_text(), r#"{"a":3,"b":2}"#);
        assert_eq!(object.without("a").to_text(), r#"{"b":2}"#);
        assert_eq!(object.without("zz"), object);
    }

    #[test]
    fn values_stay_small() {
        assert_eq!(size_of::<Json>(), 24);
    }
}
