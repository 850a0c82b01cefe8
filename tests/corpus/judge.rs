//! Comparing what a run gave with what is expected of it.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use code_mode::Json;

use crate::case::Expectation;
use crate::host::Observed;

/// What came of one program.
pub(crate) enum Verdict {
    AsExpected,
    /// How it differs.
    Differs(Vec<String>),
    /// How it differs, and the rule by which that is right.
    Known(Vec<String>, String),
    /// It is on the list of known differences and does not differ.
    Stale,
}

impl Verdict {
    pub(crate) fn of(differences: Vec<String>) -> Self {
        if differences.is_empty() { Self::AsExpected } else { Self::Differs(differences) }
    }

    pub(crate) fn passes(&self) -> bool {
        !matches!(self, Self::Differs(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsExpected => f.write_str("as expected"),
            Self::Differs(how) => write!(f, "differs: {}", how.join("; ")),
            Self::Known(how, rule) => write!(f, "differs, as known ({rule}): {}", how.join("; ")),
            Self::Stale => f.write_str("as expected (it can be taken off the list of known differences)"),
        }
    }
}

/// How `observed` differs from what is expected; empty if it does not.
pub(crate) fn differences(expected: &Expectation, observed: &Observed) -> Vec<String> {
    let mut out = Vec::new();
    let kind = kind(&observed.text);
    let is_refused = observed.is_error && is_untouched(observed);
    let fits = |outcome: &String| match outcome.as_str() {
        "ok" => !observed.is_error,
        "fail" => observed.is_error,
        _ => is_refused,
    };
    let fitting: Vec<&String> = expected.outcome.iter().filter(|outcome| fits(outcome)).collect();
    if fitting.is_empty() {
        let came = match (observed.is_error, is_untouched(observed)) {
            (false, _) => "ok",
            (true, true) => "a failure",
            (true, false) => "a failure after something ran",
        };
        out.push(format!("outcome {came}, expected {}", expected.outcome.join(" or ")));
    }
    if observed.is_error {
        failed(expected, observed, kind, &mut out);
    } else {
        completed(expected, observed, &mut out);
    }
    // A program that was refused, and may be, has left nothing to look at.
    if !(fitting.len() == 1 && fitting[0] == "refuse") {
        effects(expected, observed, &mut out);
    }
    content(expected, observed, &mut out);
    let (elapsed, max_ms) = (observed.elapsed.as_millis(), expected.max_ms());
    if elapsed > u128::from(max_ms) {
        out.push(format!("answered after {elapsed} ms, expected within {max_ms}"));
    }
    out
}

/// The kind that the text names.
fn kind(text: &str) -> Option<&str> {
    Some(text.strip_prefix("Error: code run failed (")?.split_once("): ")?.0)
}

fn is_untouched(observed: &Observed) -> bool {
    observed.calls.is_empty() && observed.logs.is_empty() && observed.written.is_empty()
}

fn failed(expected: &Expectation, observed: &Observed, kind: Option<&str>, out: &mut Vec<String>) {
    if !expected.kind.is_empty()
        && !kind.is_some_and(|kind| expected.kind.iter().any(|wanted| wanted == kind))
    {
        out.push(format!("kind {}, expected {}", kind.unwrap_or("none"), expected.kind.join(" or ")));
    }
    if kind == Some("exception")
        && !expected.line.is_empty()
        && !expected.line.iter().any(|line| names_line(&observed.text, *line))
    {
        out.push(format!("no place program:{:?} in {}", expected.line, short(&observed.text)));
    }
}

/// Whether the text names a place on this line.
fn names_line(text: &str, line: u64) -> bool {
    let place = format!("program:{line}");
    text.match_indices(&place).any(|(start, _)| match text[start + place.len()..].chars().next() {
        Some(':') => true,
        // QuickJS may know the line only (decision 11).
        next => cfg!(feature = "quickjs") && !next.is_some_and(|next| next.is_ascii_digit()),
    })
}

fn completed(expected: &Expectation, observed: &Observed, out: &mut Vec<String>) {
    let came = || observed.result.as_ref().map_or_else(|| "nothing".to_owned(), shortened);
    if let Some(result) = &expected.result
        && observed.result.as_ref() != Some(result)
    {
        out.push(format!("result {}, expected {}", came(), shortened(result)));
    }
    if let Some(part) = &expected.result_has
        && !observed.result.as_ref().is_some_and(|result| has(result, part))
    {
        out.push(format!("result {}, expected to have {}", came(), shortened(part)));
    }
    if let Some(any) = &expected.result_one_of
        && !observed.result.as_ref().is_some_and(|result| any.contains(result))
    {
        out.push(format!("result {}, expected one of {}", came(), shortened(&Json::from(any.clone()))));
    }
}

/// Whether each key of `part` is in `value` with that value, recursively.
fn has(value: &Json, part: &Json) -> bool {
    match (value, part) {
        (Json::Object(value), Json::Object(part)) => {
            part.iter().all(|(key, part)| value.get(key).is_some_and(|value| has(value, part)))
        }
        (Json::Array(value), Json::Array(part)) => {
            value.len() == part.len() && value.iter().zip(part.iter()).all(|(value, part)| has(value, part))
        }
        _ => value == part,
    }
}

/// What is left of the run besides its text.
fn effects(expected: &Expectation, observed: &Observed, out: &mut Vec<String>) {
    for text in &expected.logs_has {
        if !observed.logs.iter().any(|entry| entry.contains(text)) {
            out.push(format!(
                "no log entry has {}, they are {}",
                short(text),
                short(&format!("{:?}", observed.logs))
            ));
        }
    }
    compare("calls", &observed.calls, expected.calls.as_ref(), out);
    compare("written", &observed.written, expected.written.as_ref(), out);
}

fn compare<T: Debug + PartialEq>(
    what: &str,
    came: &BTreeMap<String, T>,
    expected: Option<&BTreeMap<String, T>>,
    out: &mut Vec<String>,
) {
    if let Some(expected) = expected
        && came != expected
    {
        out.push(format!("{what} {}, expected {}", cut(&format!("{came:?}")), cut(&format!("{expected:?}"))));
    }
}

fn content(expected: &Expectation, observed: &Observed, out: &mut Vec<String>) {
    let text = &observed.text;
    for part in expected.content_has.iter().filter(|part| !text.contains(part.as_str())) {
        out.push(format!("the text lacks {}: {}", short(part), short(text)));
    }
    let first_line = text.lines().next().unwrap_or_default();
    for part in expected.first_line_has.iter().filter(|part| !first_line.contains(part.as_str())) {
        out.push(format!("the first line lacks {}: {}", short(part), short(first_line)));
    }
    for part in expected.content_lacks.iter().filter(|part| text.contains(part.as_str())) {
        out.push(format!("the text has {}: {}", short(part), short(text)));
    }
    if let Some(max) = expected.content_max_bytes
        && text.len() > max
    {
        out.push(format!("the text has {} bytes, expected at most {max}", text.len()));
    }
}

fn short(text: &str) -> String {
    cut(&format!("{text:?}"))
}

fn shortened(value: &Json) -> String {
    cut(&value.to_text())
}

/// The beginning of a text that is for people.
fn cut(text: &str) -> String {
    const MAX_CHARS: usize = 600;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
