//! Walks over whole values with a heap stack: drop, equality, hash, depth.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::{Array, Json, Object, ObjectIter};

/// Empties what is about to be dropped of everything deep, and drops that step by step.
///
/// What is left then is at most a container of scalars, which its own destructor may free. Should
/// two owners let go at the same moment, neither sees itself as the last; the destructor of the
/// content then comes here once more, one call deeper and no further.
pub(super) fn release(values: &mut [Json]) {
    let mut pending = Vec::new();
    take_deep(values, &mut pending);
    while let Some(mut value) = pending.pop() {
        match &mut value {
            Json::Array(array) => array.with_own(|items| take_deep(items, &mut pending)),
            Json::Object(object) => object.with_own(|values| take_deep(values, &mut pending)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
}

fn take_deep(values: &mut [Json], taken: &mut Vec<Json>) {
    taken.extend(values.iter_mut().filter(|value| is_deep(value)).map(std::mem::take));
}

/// Whether `value` is a container that holds containers.
fn is_deep(value: &Json) -> bool {
    match value {
        Json::Array(array) => array.iter().any(Json::is_container),
        Json::Object(object) => object.values().any(Json::is_container),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

pub(super) fn equal(left: &Json, right: &Json) -> bool {
    let mut pending = Vec::new();
    equal_here(left, right, &mut pending) && equal_pending(pending)
}

pub(super) fn equal_arrays(left: &Array, right: &Array) -> bool {
    let mut pending = Vec::new();
    equal_items(left, right, &mut pending) && equal_pending(pending)
}

pub(super) fn equal_objects(left: &Object, right: &Object) -> bool {
    let mut pending = Vec::new();
    equal_members(left, right, &mut pending) && equal_pending(pending)
}

type Pairs<'a> = Vec<(&'a Json, &'a Json)>;

fn equal_pending(mut pending: Pairs<'_>) -> bool {
    while let Some((left, right)) = pending.pop() {
        let equal = match (left, right) {
            (Json::Array(left), Json::Array(right)) => equal_items(left, right, &mut pending),
            (Json::Object(left), Json::Object(right)) => equal_members(left, right, &mut pending),
            _ => equal_here(left, right, &mut pending),
        };
        if !equal {
            return false;
        }
    }
    true
}

/// Compares scalars at once and leaves containers for later.
fn equal_here<'a>(left: &'a Json, right: &'a Json, pending: &mut Pairs<'a>) -> bool {
    match (left, right) {
        (Json::Null, Json::Null) => true,
        (Json::Bool(left), Json::Bool(right)) => left == right,
        (Json::Number(left), Json::Number(right)) => left == right,
        (Json::String(left), Json::String(right)) => left == right,
        (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Object(_)) => {
            pending.push((left, right));
            true
        }
        _ => false,
    }
}

fn equal_items<'a>(left: &'a Array, right: &'a Array, pending: &mut Pairs<'a>) -> bool {
    left.is_same(right)
        || (left.len() == right.len()
            && left.iter().zip(right.iter()).all(|(left, right)| equal_here(left, right, pending)))
}

fn equal_members<'a>(left: &'a Object, right: &'a Object, pending: &mut Pairs<'a>) -> bool {
    if left.is_same(right) {
        return true;
    }
    if left.len() != right.len() {
        return false;
    }
    if left.has_shape_of(right) {
        let mut values = left.values().zip(right.values());
        return values.all(|(left, right)| equal_here(left, right, pending));
    }
    left.iter().enumerate().all(|(place, (name, value))| {
        right.get_near(name, place).is_some_and(|other| equal_here(value, other, pending))
    })
}

/// A hash that agrees with [`equal`]: it does not depend on the order of an object's members.
pub(super) fn hash(value: &Json) -> u64 {
    let mut open: Vec<Hashing<'_>> = Vec::new();
    let mut current = Some(value);
    let mut done = 0;
    loop {
        if let Some(value) = current.take() {
            match value {
                Json::Array(array) => open.push(Hashing::Array(array.iter(), DefaultHasher::new())),
                Json::Object(object) => {
                    open.push(Hashing::Object(object.iter(), None, object.len() as u64));
                }
                scalar => done = hash_scalar(scalar),
            }
            if value.is_container() {
                current = open.last_mut().and_then(Hashing::next);
                if current.is_some() {
                    continue;
                }
                done = open.pop().map_or(0, Hashing::finish);
            }
        }
        let Some(parent) = open.last_mut() else { return done };
        parent.take(done);
        current = parent.next();
        if current.is_none() {
            done = open.pop().map_or(0, Hashing::finish);
        }
    }
}

/// A container whose elements are being hashed.
enum Hashing<'a> {
    Array(std::slice::Iter<'a, Json>, DefaultHasher),
    /// The rest, the key of the element at hand, and the sum of what is done.
    Object(ObjectIter<'a>, Option<&'a str>, u64),
}

impl<'a> Hashing<'a> {
    fn next(&mut self) -> Option<&'a Json> {
        match self {
            Hashing::Array(rest, _) => rest.next(),
            Hashing::Object(rest, current, _) => {
                let (key, value) = rest.next()?;
                *current = Some(key);
                Some(value)
            }
        }
    }

    fn take(&mut self, element: u64) {
        match self {
            Hashing::Array(_, state) => state.write_u64(element),
            Hashing::Object(_, key, sum) => {
                *sum = sum.wrapping_add(hash_of(&(*key, element)));
            }
        }
    }

    fn finish(self) -> u64 {
        match self {
            Hashing::Array(_, state) => hash_of(&(4_u8, state.finish())),
            Hashing::Object(_, _, sum) => hash_of(&(5_u8, sum)),
        }
    }
}

fn hash_scalar(value: &Json) -> u64 {
    match value {
        Json::Bool(value) => hash_of(&(1_u8, value)),
        Json::Number(value) => hash_of(&(2_u8, value)),
        Json::String(value) => hash_of(&(3_u8, value)),
        Json::Null | Json::Array(_) | Json::Object(_) => hash_of(&0_u8),
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut state = DefaultHasher::new();
    value.hash(&mut state);
    state.finish()
}

pub(super) fn is_deeper_than(value: &Json, limit: usize) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        if !value.is_container() {
            continue;
        }
        if depth == limit {
            return true;
        }
        let inside = |child| (child, depth + 1);
        match value {
            Json::Array(array) => {
                pending.extend(array.iter().filter(|item| item.is_container()).map(inside));
            }
            Json::Object(object) => {
                pending.extend(object.values().filter(|item| item.is_container()).map(inside));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::{Json, json};

    fn hash(value: &Json) -> u64 {
        super::hash(value)
    }

    #[test]
    fn objects_are_equal_whatever_the_order_of_their_members() {
        let left = json!({"a": 1, "b": {"c": [1, 2], "d": null}});
        let right = json!({"b": {"d": null, "c": [1, 2]}, "a": 1});
        assert_eq!(left, right);
        assert_eq!(hash(&left), hash(&right));
    }

    #[test]
    fn any_difference_makes_values_unequal() {
        let base = json!({"a": [1, {"b": "x"}]});
        for other in [
            json!({"a": [1, {"b": "y"}]}),
            json!({"a": [1, {"c": "x"}]}),
            json!({"a": [{"b": "x"}, 1]}),
            json!({"a": [1, {"b": "x"}], "z": 1}),
            json!({"a": [1, {"b": ["x"]}]}),
            json!([1]),
            json!(null),
        ] {
            assert_ne!(base, other);
            assert_ne!(hash(&base), hash(&other), "{other}");
        }
        assert_ne!(hash(&json!([])), hash(&json!({})));
        assert_ne!(hash(&json!([[], 1])), hash(&json!([[1]])));
    }

    #[test]
    fn depth_counts_containers() {
        for (value, depth) in
            [(json!(1), 0), (json!([]), 1), (json!({"a": [1]}), 2), (json!([[], [[{}]]]), 4)]
        {
            assert!(!value.is_deeper_than(depth), "{value}");
            assert!(depth == 0 || value.is_deeper_than(depth - 1), "{value}");
        }
    }
}
