//! Paths to a place inside a value, as models read them: `servers[1].host`.

use std::fmt;

/// A path to a place inside a value, such as `servers[1].host`.
///
/// The empty path is the root. Keys are written as they are, without quotes or escapes, and the
/// first key of an empty path has no leading dot.
///
/// ```
/// use code_mode_schema::Path;
///
/// let path = Path::new().key("servers").index(1).key("host");
/// assert_eq!(path.as_str(), "servers[1].host");
/// ```
///
/// Source: contract 4.3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    text: String,
}

impl Path {
    /// The root.
    pub fn new() -> Path {
        Path::default()
    }

    /// A path that starts with `label`, such as `args`.
    pub fn root(label: impl Into<String>) -> Path {
        Path { text: label.into() }
    }

    /// The path of the member called `key`.
    #[must_use]
    pub fn key(mut self, key: &str) -> Path {
        self.push_key(key);
        self
    }

    /// The path of the element at `index`.
    #[must_use]
    pub fn index(mut self, index: usize) -> Path {
        self.push_index(index);
        self
    }

    /// Goes down to the member called `key`.
    pub fn push_key(&mut self, key: &str) {
        if !self.text.is_empty() {
            self.text.push('.');
        }
        self.text.push_str(key);
    }

    /// Goes down to the element at `index`.
    pub fn push_index(&mut self, index: usize) {
        use fmt::Write as _;
        let _ = write!(self.text, "[{index}]");
    }

    /// The path as text; empty at the root.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How long the text is, for a later [`truncate`](Path::truncate).
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Goes back up to where the text was `len` bytes long.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.text.truncate(len);
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl From<Path> for String {
    fn from(path: Path) -> String {
        path.text
    }
}

/// One step of a path that is put together from its end, while an error travels up.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    Key(Box<str>),
    Index(usize),
}

impl Path {
    /// The path whose steps are `segments`, innermost first.
    pub(crate) fn from_innermost(segments: &[Segment]) -> Path {
        let mut path = Path::new();
        for segment in segments.iter().rev() {
            match segment {
                Segment::Key(key) => path.push_key(key),
                Segment::Index(index) => path.push_index(*index),
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_with_dots_and_brackets() {
        assert_eq!(Path::new().as_str(), "");
        assert_eq!(Path::new().index(0).key("a").as_str(), "[0].a");
        assert_eq!(Path::root("value").key("a b").key("").index(12).as_str(), "value.a b.[12]");
    }

    #[test]
    fn a_path_can_go_back_up() {
        let mut path = Path::root("args").key("a");
        let len = path.len();
        path.push_index(3);
        path.truncate(len);
        assert_eq!(path.to_string(), "args.a");
    }
}
