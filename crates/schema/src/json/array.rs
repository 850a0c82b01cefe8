//! Arrays: a shared, immutable list of values.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::{Json, walk};

/// A JSON array: a shared, immutable list of [`Json`], used through its slice.
#[derive(Clone, Default)]
pub struct Array(Arc<[Json]>);

impl Array {
    /// Whether both are one and the same array, not only equal.
    pub fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The elements, if nobody else owns them.
    pub(super) fn get_mut(&mut self) -> Option<&mut [Json]> {
        // A plain load settles the usual case of a value that is still shared.
        if Arc::strong_count(&self.0) > 1 {
            return None;
        }
        Arc::get_mut(&mut self.0)
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(items) = self.get_mut() {
            walk::release(items.iter_mut());
        }
    }
}

impl Deref for Array {
    type Target = [Json];

    fn deref(&self) -> &[Json] {
        &self.0
    }
}

impl From<Vec<Json>> for Array {
    fn from(items: Vec<Json>) -> Array {
        Array(items.into())
    }
}

impl FromIterator<Json> for Array {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Array {
        Array(items.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Array {
    type Item = &'a Json;
    type IntoIter = std::slice::Iter<'a, Json>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Array) -> bool {
        walk::equal_arrays(self, other)
    }
}

impl Eq for Array {}

impl Hash for Array {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Json::Array(self.clone()).hash(state);
    }
}

/// Compact JSON text.
impl fmt::Debug for Array {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_text())
    }
}
