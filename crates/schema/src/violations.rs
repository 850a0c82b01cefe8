//! Collecting violations within a bound.

/// Texts beyond this are only counted, so that a deep value cannot cost memory quadratic in its
/// depth through its paths.
const MAX_COLLECTED_BYTES: usize = 256 * 1024;

/// Violations in the order they were found: up to a limit as text, the rest as a count.
#[derive(Debug)]
pub(crate) struct Violations {
    texts: Vec<String>,
    bytes: usize,
    max_texts: usize,
    uncollected: usize,
}

impl Violations {
    /// Collects everything up to the byte bound.
    pub(crate) fn new() -> Violations {
        Violations::at_most(usize::MAX)
    }

    /// Collects at most `max_texts` texts.
    pub(crate) fn at_most(max_texts: usize) -> Violations {
        Violations { texts: Vec::new(), bytes: 0, max_texts, uncollected: 0 }
    }

    /// Adds a violation; its text is made only if it is collected.
    pub(crate) fn push(&mut self, text: impl FnOnce() -> String) {
        if self.bytes > MAX_COLLECTED_BYTES || self.texts.len() >= self.max_texts {
            self.uncollected += 1;
            return;
        }
        let text = text();
        self.bytes += text.len();
        self.texts.push(text);
    }

    /// The texts, and if some were only counted, a last one that says how many.
    pub(crate) fn into_texts(mut self) -> Vec<String> {
        if self.uncollected > 0 {
            self.texts.push(format!("and {} more", self.uncollected));
        }
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut violations: Violations, given: &[&str], expected: &[&str]) {
        for text in given {
            violations.push(|| (*text).to_owned());
        }
        assert_eq!(violations.into_texts(), expected);
    }

    #[test]
    fn texts_beyond_the_limit_are_counted() {
        check(Violations::new(), &["a", "b"], &["a", "b"]);
        check(Violations::at_most(2), &["a", "b"], &["a", "b"]);
        check(Violations::at_most(1), &["a", "b", "c"], &["a", "and 2 more"]);
    }

    #[test]
    fn bytes_are_bounded() {
        let long = "x".repeat(MAX_COLLECTED_BYTES + 1);
        check(Violations::new(), &[&long, "b", "c"], &[&long, "and 2 more"]);
    }
}
