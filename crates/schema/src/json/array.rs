//! Arrays: a shared, immutable list of values.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::LazyLock;

use triomphe::ThinArc;

use super::{Json, walk};

/// A JSON array: a shared, immutable list of [`Json`], used through its slice.
#[derive(Clone)]
pub struct Array(ThinArc<(), Json>);

impl Array {
    /// An array of `items`, which are moved once.
    pub(super) fn of(items: impl ExactSizeIterator<Item = Json>) -> Array {
        Array(ThinArc::from_header_and_iter((), items))
    }

    /// Whether both are one and the same array, not only equal.
    pub fn is_same(&self, other: &Array) -> bool {
        self.0.ptr() == other.0.ptr()
    }

    /// Gives the elements to `work`, if nobody else owns them.
    pub(super) fn with_own(&mut self, work: impl FnOnce(&mut [Json])) {
        self.0.with_arc_mut(|shared| {
            if let Some(own) = triomphe::Arc::get_mut(shared) {
                work(own.slice_mut());
            }
        });
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        self.with_own(walk::release);
    }
}

impl Default for Array {
    fn default() -> Array {
        static EMPTY: LazyLock<Array> = LazyLock::new(|| Array::of(std::iter::empty()));
        EMPTY.clone()
    }
}

impl Deref for Array {
    type Target = [Json];

    fn deref(&self) -> &[Json] {
        &self.0.slice
    }
}

impl From<Vec<Json>> for Array {
    fn from(items: Vec<Json>) -> Array {
        Array::of(items.into_iter())
    }
}

impl FromIterator<Json> for Array {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Array {
        items.into_iter().collect::<Vec<_>>().into()
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
