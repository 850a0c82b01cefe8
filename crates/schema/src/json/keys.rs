//! Shared names and shapes for objects that are built member by member.

use std::sync::Arc;

use super::Object;
use super::object::Unfinished;
use super::shape::Shape;

/// Longer names are rarely repeated and not worth the comparison.
const MAX_CACHED_BYTES: usize = 48;
const SLOTS: usize = 64;

/// Hands out one shared string for each of the last names seen, and one shared shape for each of
/// the last sequences of names.
///
/// Direct mapped: what lands on another's slot replaces it, which bounds the memory and needs no
/// eviction.
#[derive(Default)]
pub(super) struct Keys {
    names: Vec<Option<Arc<str>>>,
    /// By first name.
    shapes: Vec<Option<Arc<Shape>>>,
}

impl Keys {
    pub(super) fn share(&mut self, name: &str) -> Arc<str> {
        if name.len() > MAX_CACHED_BYTES {
            return name.into();
        }
        if self.names.is_empty() {
            self.names.resize(SLOTS, None);
        }
        let slot = &mut self.names[slot_of(name.as_bytes())];
        match slot {
            Some(known) if **known == *name => known.clone(),
            _ => {
                let shared: Arc<str> = name.into();
                *slot = Some(shared.clone());
                shared
            }
        }
    }

    fn shape_from(&self, first: &str) -> Option<Arc<Shape>> {
        let known = self.shapes.get(slot_of(first.as_bytes()))?.as_ref()?;
        known.names.first().is_some_and(|name| **name == *first).then(|| known.clone())
    }

    fn remember(&mut self, shape: &Arc<Shape>) {
        if let Some(first) = shape.names.first() {
            if self.shapes.is_empty() {
                self.shapes.resize(SLOTS, None);
            }
            self.shapes[slot_of(first.as_bytes())] = Some(shape.clone());
        }
    }
}

/// The names of an object that is being built. As long as they follow those of an earlier object,
/// no name is copied or even counted.
#[derive(Default)]
pub(super) struct Naming {
    /// The earlier object's, and how many of its names have come.
    followed: Option<(Arc<Shape>, usize)>,
    /// All names, if they follow no earlier object.
    names: Vec<Arc<str>>,
}

impl Naming {
    pub(super) fn push(&mut self, name: &str, keys: &mut Keys) {
        match &mut self.followed {
            Some((shape, matched)) => {
                if shape.names.get(*matched).is_some_and(|next| **next == *name) {
                    *matched += 1;
                    return;
                }
                self.names.extend_from_slice(&shape.names[..*matched]);
                self.followed = None;
            }
            None if self.names.is_empty() => {
                if let Some(shape) = keys.shape_from(name) {
                    self.followed = Some((shape, 1));
                    return;
                }
            }
            None => {}
        }
        self.names.push(keys.share(name));
    }

    /// The name that came last.
    pub(super) fn last(&self) -> &str {
        let last = match &self.followed {
            Some((shape, matched)) => shape.names.get(matched.wrapping_sub(1)),
            None => self.names.last(),
        };
        last.map_or("", |name| &**name)
    }

    /// Finishes the object that started at `start` and whose names came here.
    pub(super) fn finish(self, start: usize, unfinished: &mut Unfinished, keys: &mut Keys) -> Object {
        let names = match self.followed {
            Some((shape, matched)) if matched == shape.names.len() => {
                return unfinished.finish(start, shape);
            }
            Some((shape, matched)) => shape.names[..matched].to_vec(),
            None => self.names,
        };
        match Shape::new(names) {
            Ok(shape) => {
                let shape = Arc::new(shape);
                keys.remember(&shape);
                unfinished.finish(start, shape)
            }
            Err(names) => unfinished.finish_in_order(start, names),
        }
    }
}

/// Mixes length, first and last bytes: enough to tell the names of one program apart.
fn slot_of(name: &[u8]) -> usize {
    let mut first = [0; 8];
    let mut last = [0; 8];
    let taken = name.len().min(8);
    first[..taken].copy_from_slice(&name[..taken]);
    last[..taken].copy_from_slice(&name[name.len() - taken..]);
    let mixed = u64::from_le_bytes(first)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(u64::from_le_bytes(last).rotate_left(23))
        .wrapping_add(name.len() as u64)
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 58) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;

    fn build(names: &[&str], keys: &mut Keys) -> Object {
        let mut naming = Naming::default();
        let mut unfinished = Unfinished::default();
        let start = unfinished.start();
        for (name, value) in names.iter().zip(0_u32..) {
            naming.push(name, keys);
            assert_eq!(naming.last(), *name);
            unfinished.push(value.into());
        }
        naming.finish(start, &mut unfinished, keys)
    }

    fn check(sequences: &[&[&str]]) {
        let mut keys = Keys::default();
        for names in sequences {
            let expected: Object =
                names.iter().zip(0_u32..).map(|(name, value)| (*name, Json::from(value))).collect();
            assert_eq!(build(names, &mut keys).to_text(), expected.to_text());
        }
    }

    #[test]
    fn repeated_names_share_one_string() {
        let mut keys = Keys::default();
        let first = keys.share("name");
        assert!(Arc::ptr_eq(&first, &keys.share("name")));
        assert!(!Arc::ptr_eq(&first, &keys.share("names")));
        assert_eq!(&*keys.share(""), "");
    }

    #[test]
    fn colliding_names_stay_correct() {
        let mut keys = Keys::default();
        for round in 0..2 {
            for n in 0..1_000 {
                let name = format!("key{n}");
                assert_eq!(*keys.share(&name), *name, "round {round}");
            }
        }
    }

    #[test]
    fn like_objects_share_one_shape() {
        let mut keys = Keys::default();
        let first = build(&["a", "b"], &mut keys);
        assert!(first.has_shape_of(&build(&["a", "b"], &mut keys)));
        assert!(!first.has_shape_of(&build(&["a", "c"], &mut keys)));
    }

    #[test]
    fn unlike_objects_stay_correct() {
        check(&[&["a", "b", "c"], &["a", "b"], &["a", "b", "c", "d"], &["a", "c"], &["b"], &[], &["a"]]);
        check(&[&["a", "a"], &["a", "b"], &["a", "b", "a"], &["a", "1"], &["a", "b"], &["1", "0"], &["1"]]);
    }
}
