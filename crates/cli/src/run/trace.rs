//! `--trace`: one page that shows a run, complete in itself.
//!
//! The page has no script and asks the network for nothing, and its policy forbids both. Whatever comes from
//! the program and its tools goes through [`markup::escaped`]; what is long is cut, and says so.

mod excerpt;
mod markup;
mod program;
mod waterfall;

use std::fmt::Write;

use code_mode::{CodeRun, CodeRunError};

use self::markup::{count, escaped, fill, millis};
use super::recorder::{LogEntry, Recording};

pub(crate) use self::excerpt::{Excerpt, Excerpts};

const PAGE: &str = include_str!("trace/page.html");

/// The most log entries that are shown.
const MAX_LOG_ENTRIES: usize = 2_000;

/// The page of one run of `code`.
pub(crate) fn page(name: &str, code: &str, recording: &Recording) -> String {
    let failure = CodeRun::of(&recording.result).error;
    let failed_line = failure.as_ref().and_then(|failure| failure.line);
    let (state, verdict) = match &failure {
        None => ("ok", "Completed".to_owned()),
        Some(failure) => ("failed", format!("Failed: {}", failure.kind)),
    };
    fill(
        PAGE,
        &[
            ("name", &escaped(name)),
            ("state", state),
            ("verdict", &escaped(&verdict)),
            ("facts", &facts(code, recording)),
            ("place", &place(failure.as_ref())),
            ("outcome", &outcome(recording)),
            ("calls", &waterfall::calls(recording)),
            ("log", &log(&recording.log)),
            ("program", &program::listing(code, failed_line)),
        ],
    )
}

/// The line under the title.
fn facts(code: &str, recording: &Recording) -> String {
    let failed = recording.calls.iter().filter(|call| call.is_error).count();
    let mut facts = vec![
        millis(recording.took),
        count(recording.calls.len(), "tool call", "tool calls"),
        count(recording.log.len(), "log entry", "log entries"),
        count(code.lines().count(), "line", "lines"),
    ];
    if failed > 0 {
        facts.insert(2, format!("{failed} failed"));
    }
    let facts: Vec<String> = facts.iter().map(|fact| format!("<li>{fact}</li>")).collect();
    facts.concat()
}

/// Where the program failed, as a link to its line.
fn place(failure: Option<&CodeRunError<'_>>) -> String {
    match failure.and_then(|failure| Some((failure.line?, failure.column))) {
        Some((line, Some(column))) => {
            format!("<a class=\"place\" href=\"#L{line}\">line {line}, column {column}</a>")
        }
        Some((line, None)) => format!("<a class=\"place\" href=\"#L{line}\">line {line}</a>"),
        None => String::new(),
    }
}

/// What the model reads.
fn outcome(recording: &Recording) -> String {
    Excerpts::default().text(&recording.result.text()).to_html()
}

fn log(entries: &[LogEntry]) -> String {
    if entries.is_empty() {
        return "<p class=\"none\">The program printed nothing.</p>".to_owned();
    }
    let mut html = String::from("<ol class=\"log\">");
    for entry in entries.iter().take(MAX_LOG_ENTRIES) {
        let _ = write!(html, "<li><time>{}</time>{}</li>", millis(entry.at), entry.text.to_html());
    }
    html.push_str("</ol>");
    if let Some(rest) = entries.len().checked_sub(MAX_LOG_ENTRIES).filter(|rest| *rest > 0) {
        let _ = write!(html, "<p class=\"cut\">{} more not shown</p>", count(rest, "entry", "entries"));
    }
    html
}
