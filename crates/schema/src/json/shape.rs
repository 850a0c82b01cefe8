//! Shapes: the names of an object's members, shared by all objects that have the same ones.

use std::collections::HashMap;
use std::sync::Arc;

use super::text::is_plain;

/// Up to this many names are looked up by scanning, which beats hashing and costs no memory.
const MAX_SCANNED: usize = 16;

/// The names of an object's members in order, each once, integer-like ones first.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) names: Vec<Arc<str>>,
    /// Whether no name needs an escape in JSON text.
    pub(super) is_plain: bool,
    /// Positions by name, only where there are too many to scan.
    index: Option<HashMap<Arc<str>, usize>>,
}

impl Shape {
    /// The shape of `names` if they are in order already, else the names.
    pub(super) fn new(names: Vec<Arc<str>>) -> Result<Shape, Vec<Arc<str>>> {
        if !is_ordered(&names) {
            return Err(names);
        }
        if names.len() <= MAX_SCANNED {
            let is_repeated = |(place, name)| names[..place].contains(name);
            if names.iter().enumerate().any(is_repeated) {
                return Err(names);
            }
            return Ok(Shape::with_index(names, None));
        }
        let positions = names.iter().enumerate().map(|(place, name)| (name.clone(), place));
        let index: HashMap<Arc<str>, usize> = positions.collect();
        if index.len() < names.len() {
            return Err(names);
        }
        Ok(Shape::with_index(names, Some(index)))
    }

    fn with_index(names: Vec<Arc<str>>, index: Option<HashMap<Arc<str>, usize>>) -> Shape {
        let is_plain = names.iter().all(|name| is_plain(name));
        Shape { names, is_plain, index }
    }

    /// Where `name` stands.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.names.iter().position(|known| **known == *name),
        }
    }
}

impl Default for Shape {
    fn default() -> Shape {
        Shape::with_index(Vec::new(), None)
    }
}

/// Puts members in order: integer-like names first and ascending, a repeated name once, in its
/// first place and with its last value.
pub(super) fn in_order<V>(mut members: Vec<(Arc<str>, V)>) -> (Shape, Vec<V>) {
    members.sort_by_key(|(name, _)| integer(name).map_or(u64::MAX, u64::from));
    let mut places: HashMap<Arc<str>, usize> = HashMap::with_capacity(members.len());
    let mut names = Vec::with_capacity(members.len());
    let mut values = Vec::with_capacity(members.len());
    for (name, value) in members {
        match places.get(&name) {
            Some(&place) => values[place] = value,
            None => {
                places.insert(name.clone(), names.len());
                names.push(name);
                values.push(value);
            }
        }
    }
    let index = Some(places).filter(|places| places.len() > MAX_SCANNED);
    (Shape::with_index(names, index), values)
}

fn is_ordered(names: &[Arc<str>]) -> bool {
    let leading = names.iter().take_while(|name| integer(name).is_some()).count();
    let (integers, others) = names.split_at(leading);
    integers.is_sorted_by(|left, right| integer(left) < integer(right))
        && others.iter().all(|name| integer(name).is_none())
}

/// The value of an integer-like name: canonical decimal, at most 2^32 − 2.
fn integer(name: &str) -> Option<u32> {
    let canonical = match name.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !canonical {
        return None;
    }
    name.parse().ok().filter(|&value| value != u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &[&str], expected: &[&str]) {
        let names: Vec<Arc<str>> = given.iter().map(|name| Arc::from(*name)).collect();
        let is_in_order = given == expected;
        assert_eq!(Shape::new(names.clone()).is_ok(), is_in_order, "{given:?}");
        let (shape, values) = in_order(names.into_iter().zip(0..).collect());
        assert_eq!(shape.names.iter().map(|name| &**name).collect::<Vec<_>>(), expected);
        for (place, name) in expected.iter().enumerate() {
            assert_eq!(shape.position(name), Some(place));
            assert_eq!(given.iter().rposition(|given| given == name), Some(values[place]));
        }
        assert_eq!(shape.position("absent"), None);
    }

    #[test]
    fn names_keep_their_order() {
        check(&[], &[]);
        check(&["b", "a", ""], &["b", "a", ""]);
        check(&["0", "7", "b"], &["0", "7", "b"]);
    }

    #[test]
    fn integer_like_names_come_first_in_ascending_order() {
        check(&["b", "10", "a", "2", "0"], &["0", "2", "10", "b", "a"]);
        check(&["2", "1"], &["1", "2"]);
        check(&["a", "1"], &["1", "a"]);
    }

    #[test]
    fn only_canonical_indices_below_the_limit_count_as_integers() {
        check(
            &["01", "-1", "1.5", "4294967295", "+1", "", "4294967294", "99999999999"],
            &["4294967294", "01", "-1", "1.5", "4294967295", "+1", "", "99999999999"],
        );
    }

    #[test]
    fn repeated_names_keep_their_first_place_and_take_the_last_value() {
        check(&["a", "b", "a", "1", "b", "a"], &["1", "a", "b"]);
        check(&["1", "1"], &["1"]);
    }

    #[test]
    fn many_names_follow_the_same_rules() {
        let names: Vec<String> = (0..100).map(|n| format!("k{}", n % 60)).collect();
        let given: Vec<&str> = names.iter().map(String::as_str).chain(["7", "3"]).collect();
        let unique = names[..60].iter().map(String::as_str);
        check(&given, &["3", "7"].into_iter().chain(unique.clone()).collect::<Vec<_>>());
        check(&unique.clone().collect::<Vec<_>>(), &unique.collect::<Vec<_>>());
    }
}
