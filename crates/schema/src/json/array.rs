//! Arrays: a shared, immutable list of values.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::{Json, walk};

/// A JSON array: a shared, immutable list of [`Json`], used through its slice.
#[derive(Clone, Default)]
pub struct Array(Arc<Items>);

/// The elements; a type of its own so that dropping the last owner can be iterative.
#[derive(Default)]
pub(super) struct Items(pub(super) Vec<Json>);

impl Drop for Items {
    fn drop(&mut self) {
        if self.0.iter().any(Json::is_container) {
            walk::release(std::mem::take(&mut self.0));
        }
    }
}

impl Array {
    /// The elements, if this is the last owner of them.
    pub(super) fn into_last(self) -> Option<Items> {
        Arc::into_inner(self.0)
    }

    pub(super) fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Array {
    type Target = [Json];

    fn deref(&self) -> &[Json] {
        &self.0.0
    }
}

impl From<Vec<Json>> for Array {
    fn from(items: Vec<Json>) -> Array {
        Array(Arc::new(Items(items)))
    }
}

impl FromIterator<Json> for Array {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Array {
        items.into_iter().collect::<Vec<Json>>().into()
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
        fmt::Display::fmt(&Json::Array(self.clone()), formatter)
    }
}
