//! Shared key strings for values that are built member by member.

use std::sync::Arc;

/// Longer keys are rarely repeated and not worth the comparison.
const MAX_CACHED_BYTES: usize = 48;
const SLOTS: usize = 128;

/// Hands out one shared string for each of the last keys seen.
///
/// Arrays of like objects so carry each key once. Direct mapped: a key that lands on another's
/// slot replaces it, which bounds the memory and needs no eviction.
#[derive(Default)]
pub(super) struct KeyCache {
    slots: Vec<Option<Arc<str>>>,
}

impl KeyCache {
    pub(super) fn share(&mut self, key: &str) -> Arc<str> {
        if key.len() > MAX_CACHED_BYTES {
            return key.into();
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, None);
        }
        let slot = &mut self.slots[slot_of(key.as_bytes())];
        match slot {
            Some(known) if **known == *key => known.clone(),
            _ => {
                let shared: Arc<str> = key.into();
                *slot = Some(shared.clone());
                shared
            }
        }
    }
}

/// Mixes length, first and last bytes: enough to tell the keys of one program apart.
fn slot_of(key: &[u8]) -> usize {
    let mut first = [0; 8];
    let mut last = [0; 8];
    let taken = key.len().min(8);
    first[..taken].copy_from_slice(&key[..taken]);
    last[..taken].copy_from_slice(&key[key.len() - taken..]);
    let mixed = u64::from_le_bytes(first)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(u64::from_le_bytes(last).rotate_left(23))
        .wrapping_add(key.len() as u64)
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 57) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_share_one_string() {
        let mut keys = KeyCache::default();
        let first = keys.share("name");
        assert!(Arc::ptr_eq(&first, &keys.share("name")));
        assert!(!Arc::ptr_eq(&first, &keys.share("names")));
        assert_eq!(&*keys.share(""), "");
    }

    #[test]
    fn colliding_keys_stay_correct() {
        let mut keys = KeyCache::default();
        for round in 0..2 {
            for n in 0..1_000 {
                let key = format!("key{n}");
                assert_eq!(*keys.share(&key), *key, "round {round}");
            }
        }
    }
}
