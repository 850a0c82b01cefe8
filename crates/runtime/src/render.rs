//! The text a model gets back from `run_code`. Contract 7.6. Pure; iterative.

use code_mode_schema::{Json, write_json_string};

use crate::seam::Failure;

/// What a successful run says when it has nothing to say.
const NO_OUTPUT: &str = "(run_code completed with no output)";
/// Containers whose children would be indented further are printed compactly.
const MAX_INDENT: usize = 10;
const INDENT: usize = 2;

/// The text of a completed run: its log, then its result.
pub(crate) fn success(logs: &[&str], result: Option<&Json>) -> String {
    let log = logs.join("\n");
    let result = result.map(value).unwrap_or_default();
    match (log.is_empty(), result.is_empty()) {
        (true, true) => NO_OUTPUT.to_owned(),
        (false, true) => log,
        (true, false) => result,
        (false, false) => format!("{log}\n{result}"),
    }
}

/// True if the text of a completed run says that there was no output.
pub(crate) fn is_silent(logs: &[String], result: Option<&Json>) -> bool {
    logs.iter().all(String::is_empty)
        && logs.len() < 2
        && result.is_none_or(|result| result.as_str() == Some(""))
}

/// The message of a failed run, with what it had printed.
pub(crate) fn failure(failure: &Failure, logs: &[String]) -> String {
    let message = format!("code run failed ({}): {}", failure.kind, failure.message);
    if logs.is_empty() { message } else { format!("{message}\nCaptured output:\n{}", logs.join("\n")) }
}

/// A result: a string raw, anything else as JSON, indented down to
/// [`MAX_INDENT`].
fn value(result: &Json) -> String {
    if let Some(text) = result.as_str() {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut open = Vec::new();
    begin(result, &mut open, &mut out);
    while let Some(container) = open.last_mut() {
        let depth = container.depth;
        match container.next() {
            None => {
                let end = container.end();
                open.pop();
                line(&mut out, INDENT * (depth - 1));
                out.push(end);
            }
            Some((first, key, child)) => {
                if !first {
                    out.push(',');
                }
                line(&mut out, INDENT * depth);
                if let Some(key) = key {
                    write_json_string(key, &mut out);
                    out.push_str(": ");
                }
                begin(child, &mut open, &mut out);
            }
        }
    }
    out
}

/// A container that is being printed. `depth` is that of its children.
struct Container<'a> {
    depth: usize,
    printed: usize,
    rest: Rest<'a>,
}

enum Rest<'a> {
    Array(std::slice::Iter<'a, Json>),
    Object(Box<dyn Iterator<Item = (&'a str, &'a Json)> + 'a>),
}

impl<'a> Container<'a> {
    /// Whether it is the first, its key, and the child.
    fn next(&mut self) -> Option<(bool, Option<&'a str>, &'a Json)> {
        let (key, child) = match &mut self.rest {
            Rest::Array(items) => (None, items.next()?),
            Rest::Object(entries) => {
                let (key, child) = entries.next()?;
                (Some(key), child)
            }
        };
        self.printed += 1;
        Some((self.printed == 1, key, child))
    }

    fn end(&self) -> char {
        match self.rest {
            Rest::Array(_) => ']',
            Rest::Object(_) => '}',
        }
    }
}

/// Prints a scalar, an empty container or a deep one whole; opens any other.
fn begin<'a>(value: &'a Json, open: &mut Vec<Container<'a>>, out: &mut String) {
    let depth = open.len() + 1;
    let rest = match value {
        Json::Array(items) if !items.is_empty() && depth * INDENT <= MAX_INDENT => {
            out.push('[');
            Rest::Array(items.iter())
        }
        Json::Object(object) if !object.is_empty() && depth * INDENT <= MAX_INDENT => {
            out.push('{');
            Rest::Object(Box::new(object.iter()))
        }
        _ => return value.write_text(out),
    };
    open.push(Container { depth, printed: 0, rest });
}

fn line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use code_mode_schema::json;

    use super::*;
    use crate::seam::FailureKind;

    #[track_caller]
    fn check(logs: &[&str], result: Option<Json>, text: &str) {
        assert_eq!(success(logs, result.as_ref()), text);
    }

    #[test]
    fn log_and_result_are_joined_and_silence_is_said() {
        check(&["a", "b"], Some(json!({"n": 1})), "a\nb\n{\n  \"n\": 1\n}");
        check(&["a"], None, "a");
        check(&[], Some(json!("raw \"text\"\n")), "raw \"text\"\n");
        check(&[], None, NO_OUTPUT);
        check(&[], Some(json!("")), NO_OUTPUT);
        check(&[""], None, NO_OUTPUT);
        check(&[], Some(json!(null)), "null");
    }

    #[test]
    fn containers_are_indented_to_depth_five_and_compact_beyond() {
        check(&[], Some(json!([])), "[]");
        check(&[], Some(json!({"a": {}, "b": []})), "{\n  \"a\": {},\n  \"b\": []\n}");
        check(
            &[],
            Some(json!({"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}})),
            "{\n  \"a\": {\n    \"b\": {\n      \"c\": {\n        \"d\": {\n          \"e\": {\"f\":{\"g\":1}}\n        }\n      }\n    }\n  }\n}",
        );
    }

    #[test]
    fn deep_result_is_printed_without_recursion() {
        let mut deep = json!(1);
        for _ in 0..20_000 {
            deep = Json::from(vec![deep]);
        }
        assert!(success(&[], Some(&deep)).ends_with(']'));
    }

    #[test]
    fn failure_keeps_what_was_printed() {
        let error = Failure::new(FailureKind::Timeout, "compute budget exhausted (5ms busy)");
        assert_eq!(
            failure(&error, &["a".to_owned(), "b".to_owned()]),
            "code run failed (timeout): compute budget exhausted (5ms busy)\nCaptured output:\na\nb"
        );
        assert_eq!(failure(&error, &[]), "code run failed (timeout): compute budget exhausted (5ms busy)");
    }
}
