//! Why a value is not lossless JSON, and where.

use std::fmt;
use std::sync::Arc;

/// How deep serde may recurse through [`to_json`](crate::to_json),
/// [`from_json`](crate::from_json) and the serde implementations of [`Json`](crate::Json).
///
/// serde itself is recursive, so this bounds the stack it takes. A [`Json`](crate::Json) inside a
/// type is handed over whole by `to_json` and `from_json` and does not count.
pub const MAX_SERDE_DEPTH: usize = 128;

/// A value cannot be carried by JSON without loss: what is wrong, and where.
///
/// Prints as `items[3] is NaN`, after [`with_root`](LosslessError::with_root) as
/// `args.items[3] is NaN`; the root itself is called `value` unless it was given a name.
///
/// Source: contract 3.4, decision 16.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LosslessError {
    /// Where, as in `items[3]`; empty for the root.
    pub path: String,
    /// What is wrong there.
    pub reason: Lossy,
}

impl LosslessError {
    /// An error at `path`, the empty path being the root.
    pub fn new(path: impl Into<String>, reason: Lossy) -> LosslessError {
        LosslessError { path: path.into(), reason }
    }

    /// The same error with the root called `label`.
    #[must_use]
    pub fn with_root(self, label: &str) -> LosslessError {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        LosslessError { path: format!("{label}{separator}{}", self.path), reason: self.reason }
    }
}

impl fmt::Display for LosslessError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "value" } else { &self.path };
        write!(formatter, "{path} {}", self.reason)
    }
}

impl std::error::Error for LosslessError {}

/// What makes a value lossy; prints as the end of a sentence that starts with the path.
///
/// Source: contract 3.4, decision 17.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Lossy {
    /// The number is `NaN`.
    #[error("is NaN")]
    NotANumber,
    /// The number is `Infinity`.
    #[error("is Infinity")]
    PositiveInfinity,
    /// The number is `-Infinity`.
    #[error("is -Infinity")]
    NegativeInfinity,
    /// The number is negative zero.
    #[error("is -0")]
    NegativeZero,
    /// The integer, given in decimal, is beyond ±(2^53 − 1), where doubles have gaps.
    #[error("is {0}, an integer beyond 2^53 - 1")]
    UnsafeInteger(Box<str>),
    /// The string holds half of a surrogate pair.
    #[error("is a string with a lone surrogate")]
    LoneSurrogate,
    /// One of the object's keys holds half of a surrogate pair.
    #[error("has a key with a lone surrogate")]
    LoneSurrogateInKey,
    /// A map has a key that is no string.
    #[error("has a key that is not a string")]
    NonStringKey,
    /// A type nests deeper than serde may recurse.
    #[error("is nested deeper than {limit} levels")]
    TooDeep {
        /// The limit, [`MAX_SERDE_DEPTH`].
        limit: usize,
    },
    /// A type's own `Serialize` failed.
    #[error("could not be serialized: {0}")]
    Unserializable(Arc<str>),
    /// Any other reason, worded to follow the path: `is undefined`.
    #[error("{0}")]
    Other(Arc<str>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, root: Option<&str>, expected: &str) {
        let error = LosslessError::new(path, Lossy::NotANumber);
        let error = match root {
            Some(label) => error.with_root(label),
            None => error,
        };
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn errors_read_as_path_and_reason() {
        check("items[3]", None, "items[3] is NaN");
        check("items[3]", Some("args"), "args.items[3] is NaN");
        check("[0].a", Some("value"), "value[0].a is NaN");
        check("", Some("args"), "args is NaN");
        check("", None, "value is NaN");
    }
}
