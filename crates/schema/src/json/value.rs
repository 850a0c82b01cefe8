//! The value type: six kinds, cheap to clone, safe to nest to any depth.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Array, LosslessError, Number, Object, walk};

/// A canonical JSON value: immutable, shared, cheap to clone.
///
/// Strings are Unicode without lone surrogates, numbers are finite doubles other than negative
/// zero, object keys are in the order JavaScript gives them. Containers are reference counted, so
/// a clone copies one pointer and nobody can change a value that someone else holds.
///
/// No operation recurses over the value: clone, drop, comparison, hash, text and parsing work at
/// any nesting depth on any stack. Two objects are equal when they have the same members, in
/// whatever order.
///
/// ```
/// use code_mode_schema::{Json, json};
///
/// let value = json!({"id": 7, "tags": ["a", "b"]});
/// assert_eq!(value.get("id").and_then(Json::as_i64), Some(7));
/// assert_eq!(value.to_text(), r#"{"id":7,"tags":["a","b"]}"#);
/// ```
///
/// Source: contract 3.4, decisions 16 and 17.
#[derive(Clone, Default)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite double other than negative zero.
    Number(Number),
    /// A Unicode string.
    String(Arc<str>),
    /// An ordered list of values.
    Array(Array),
    /// Named members, each name once.
    Object(Object),
}

impl Json {
    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// Whether this is a boolean.
    pub fn is_bool(&self) -> bool {
        matches!(self, Json::Bool(_))
    }

    /// Whether this is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Json::Number(_))
    }

    /// Whether this is a number without a fraction, `1.0` and `1e300` included.
    pub fn is_integer(&self) -> bool {
        matches!(self, Json::Number(number) if number.is_integer())
    }

    /// Whether this is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Json::String(_))
    }

    /// Whether this is an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Json::Array(_))
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    /// Whether this is an array or an object.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number as a double, if this is one.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::get)
    }

    /// The number, if it is an integer within ±(2^53 − 1).
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<Number> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The array, if this is one.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Json::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The object, if this is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The member called `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// The element at `index`, if this is an array that long.
    pub fn index(&self, index: usize) -> Option<&Json> {
        self.as_array().and_then(|array| array.get(index))
    }

    /// Whether containers nest more than `limit` levels deep.
    ///
    /// A scalar has depth 0, `[]` and `{}` have depth 1. The walk stops at the first place that is
    /// too deep.
    pub fn is_deeper_than(&self, limit: usize) -> bool {
        walk::is_deeper_than(self, limit)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        walk::equal(self, other)
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(walk::hash(self));
    }
}

/// Compact JSON text, the same as [`Json::to_text`].
impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_text())
    }
}

/// Compact JSON text, the same as [`Json::to_text`].
impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Json {
        Json::String(value.into())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Json {
        Json::String(value.into())
    }
}

impl From<&String> for Json {
    fn from(value: &String) -> Json {
        Json::String(value.as_str().into())
    }
}

impl From<Arc<str>> for Json {
    fn from(value: Arc<str>) -> Json {
        Json::String(value)
    }
}

impl From<Number> for Json {
    fn from(value: Number) -> Json {
        Json::Number(value)
    }
}

impl From<Array> for Json {
    fn from(value: Array) -> Json {
        Json::Array(value)
    }
}

impl From<Object> for Json {
    fn from(value: Object) -> Json {
        Json::Object(value)
    }
}

impl From<Vec<Json>> for Json {
    fn from(value: Vec<Json>) -> Json {
        Json::Array(value.into())
    }
}

/// `None` is `null`.
impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Json {
        Json::Array(items.into_iter().collect())
    }
}

macro_rules! from_small_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Json {
            fn from(value: $integer) -> Json {
                Json::Number(Number::from(value))
            }
        }
    )*};
}

from_small_integers!(i8, i16, i32, u8, u16, u32);

macro_rules! try_from_numbers {
    ($($number:ty),*) => {$(
        /// Refuses what a double cannot hold without loss.
        impl TryFrom<$number> for Json {
            type Error = LosslessError;

            fn try_from(value: $number) -> Result<Json, LosslessError> {
                Number::try_from(value).map(Json::Number).map_err(|reason| LosslessError::new("", reason))
            }
        }
    )*};
}

try_from_numbers!(i64, u64, i128, u128, isize, usize, f32, f64);

macro_rules! compare_with {
    ($($other:ty),*) => {$(
        impl PartialEq<$other> for Json {
            fn eq(&self, other: &$other) -> bool {
                self.as_str() == Some(other.as_ref())
            }
        }
    )*};
}

compare_with!(str, &str, String);
