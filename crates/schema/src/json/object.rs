//! Objects: shared, immutable members in JavaScript's key order.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Json, walk};

/// Up to this many members are looked up by scanning, which beats hashing and costs no memory.
const MAX_SCANNED: usize = 16;

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
#[derive(Clone, Default)]
pub struct Object(Arc<Members>);

/// One member of an object.
pub(super) type Member = (Arc<str>, Json);

/// The members; a type of its own so that dropping the last owner can be iterative.
#[derive(Default)]
pub(super) struct Members {
    pub(super) entries: Vec<Member>,
    /// Positions by name, only for objects that are too large to scan.
    index: Option<Box<HashMap<Arc<str>, usize>>>,
}

impl Drop for Members {
    fn drop(&mut self) {
        if self.entries.iter().any(|(_, value)| value.is_container()) {
            let entries = std::mem::take(&mut self.entries);
            walk::release(entries.into_iter().map(|(_, value)| value).collect());
        }
    }
}

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// Starts an object that is filled member by member.
    pub fn builder() -> ObjectBuilder {
        ObjectBuilder::default()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// The value of the member called `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.position(key).map(|position| &self.0.entries[position].1)
    }

    /// Whether there is a member called `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// The members in key order.
    pub fn iter(&self) -> ObjectIter<'_> {
        ObjectIter(self.0.entries.iter())
    }

    /// The names in key order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.0.entries.iter().map(|(key, _)| &**key)
    }

    /// The values in key order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Json> + ExactSizeIterator {
        self.0.entries.iter().map(|(_, value)| value)
    }

    /// The members in key order, with names that can be shared without copying.
    pub fn entries(&self) -> &[(Arc<str>, Json)] {
        &self.0.entries
    }

    /// A copy in which `key` has the value `value`; a new name goes last.
    #[must_use]
    pub fn with(&self, key: impl Into<Arc<str>>, value: impl Into<Json>) -> Object {
        let mut entries = self.0.entries.clone();
        entries.push((key.into(), value.into()));
        entries.into()
    }

    /// A copy that has no member called `key`.
    #[must_use]
    pub fn without(&self, key: &str) -> Object {
        match self.position(key) {
            None => self.clone(),
            Some(position) => {
                let mut entries = self.0.entries.clone();
                entries.remove(position);
                entries.into()
            }
        }
    }

    /// Where the member called `key` stands.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        match &self.0.index {
            Some(index) => index.get(key).copied(),
            None => self.0.entries.iter().position(|(name, _)| **name == *key),
        }
    }

    /// The members, if this is the last owner of them.
    pub(super) fn into_last(self) -> Option<Members> {
        Arc::into_inner(self.0)
    }

    pub(super) fn is_same(&self, other: &Object) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Puts the members in JavaScript's key order; a repeated name keeps its first place and takes the last value.
impl From<Vec<(Arc<str>, Json)>> for Object {
    fn from(mut entries: Vec<(Arc<str>, Json)>) -> Object {
        order_integer_keys_first(&mut entries);
        let index = if entries.len() <= MAX_SCANNED {
            merge_repeated_by_scanning(&mut entries);
            None
        } else {
            Some(Box::new(merge_repeated_by_hashing(&mut entries)))
        };
        Object(Arc::new(Members { entries, index }))
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
        fmt::Display::fmt(&Json::Object(self.clone()), formatter)
    }
}

/// The members of an [`Object`] in key order.
#[derive(Clone, Debug)]
pub struct ObjectIter<'a>(std::slice::Iter<'a, Member>);

impl<'a> Iterator for ObjectIter<'a> {
    type Item = (&'a str, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&**key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for ObjectIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (&**key, value))
    }
}

impl ExactSizeIterator for ObjectIter<'_> {}

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
    entries: Vec<(Arc<str>, Json)>,
}

impl ObjectBuilder {
    /// An empty builder with room for `capacity` members.
    pub fn with_capacity(capacity: usize) -> ObjectBuilder {
        ObjectBuilder { entries: Vec::with_capacity(capacity) }
    }

    /// Adds a member; a name that was added before keeps its place and takes this value.
    pub fn insert(&mut self, key: impl Into<Arc<str>>, value: impl Into<Json>) -> &mut ObjectBuilder {
        self.entries.push((key.into(), value.into()));
        self
    }

    /// The finished object.
    pub fn build(self) -> Object {
        self.entries.into()
    }
}

fn order_integer_keys_first(entries: &mut [Member]) {
    if entries.iter().any(|(key, _)| integer_key(key).is_some()) {
        entries.sort_by_key(|(key, _)| integer_key(key).map_or(u64::MAX, u64::from));
    }
}

/// The value of an integer-like name: canonical decimal, at most 2^32 − 2.
fn integer_key(key: &str) -> Option<u32> {
    let digits = key.as_bytes();
    let canonical = match digits {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !canonical {
        return None;
    }
    key.parse().ok().filter(|&value| value != u32::MAX)
}

fn merge_repeated_by_scanning(entries: &mut Vec<Member>) {
    let mut position = 1;
    while position < entries.len() {
        let (before, rest) = entries.split_at_mut(position);
        let key = &rest[0].0;
        match before.iter_mut().find(|(name, _)| name == key) {
            None => position += 1,
            Some(first) => {
                std::mem::swap(&mut first.1, &mut rest[0].1);
                entries.remove(position);
            }
        }
    }
}

fn merge_repeated_by_hashing(entries: &mut Vec<Member>) -> HashMap<Arc<str>, usize> {
    let mut index: HashMap<Arc<str>, usize> = HashMap::with_capacity(entries.len());
    let mut merged: Vec<Member> = Vec::with_capacity(entries.len());
    for (key, value) in entries.drain(..) {
        match index.entry(key) {
            MapEntry::Occupied(first) => merged[*first.get()].1 = value,
            MapEntry::Vacant(slot) => {
                merged.push((slot.key().clone(), value));
                slot.insert(merged.len() - 1);
            }
        }
    }
    *entries = merged;
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[&str], expected: &[&str]) {
        let object: Object =
            given.iter().enumerate().map(|(place, key)| (*key, Json::from(place as u32))).collect();
        assert_eq!(object.keys().collect::<Vec<_>>(), expected);
        for key in expected {
            let last = given.iter().rposition(|name| name == key).map(|place| place as i64);
            assert_eq!(object.get(key).and_then(Json::as_i64), last, "{key}");
        }
        assert_eq!(object.get("absent"), None);
    }

    #[test]
    fn integer_like_keys_come_first_in_ascending_order() {
        check(&["b", "10", "a", "2", "0"], &["0", "2", "10", "b", "a"]);
    }

    #[test]
    fn only_canonical_indices_below_the_limit_count_as_integers() {
        check(
            &["01", "-1", "1.5", "4294967295", "+1", "", "4294967294", "99999999999"],
            &["4294967294", "01", "-1", "1.5", "4294967295", "+1", "", "99999999999"],
        );
    }

    #[test]
    fn repeated_key_keeps_its_first_place_and_takes_the_last_value() {
        check(&["a", "b", "a", "1", "b", "a"], &["1", "a", "b"]);
    }

    #[test]
    fn large_objects_follow_the_same_rules() {
        let names: Vec<String> = (0..100).map(|n| format!("k{}", n % 60)).collect();
        let given: Vec<&str> = names.iter().map(String::as_str).chain(["7", "3"]).collect();
        let expected: Vec<&str> =
            ["3", "7"].into_iter().chain(names[..60].iter().map(String::as_str)).collect();
        check(&given, &expected);
    }

    #[test]
    fn members_can_be_replaced_and_removed_in_a_copy() {
        let object: Object = [("a", Json::from(1)), ("b", Json::from(2))].into_iter().collect();
        assert_eq!(Json::from(object.with("a", 3)).to_text(), r#"{"a":3,"b":2}"#);
        assert_eq!(Json::from(object.without("a")).to_text(), r#"{"b":2}"#);
        assert_eq!(object.without("zz"), object);
    }
}
