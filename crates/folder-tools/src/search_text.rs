//! `search_text`: the lines that match a pattern.

use code_mode_registry::{CallKind, Signal, ToolDefinition};
use code_mode_schema::{Json, json};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cards, cursor,
    error::FolderError,
    folder::{Folder, Place},
    list_dir::Filter,
    text,
    walk::{Depth, Kind, Walk},
    work::{self, check},
};

/// The most matches of one result.
const MAX_MATCHES: usize = 10_000;

/// How many there are unless the call asks for another number.
const DEFAULT_MATCHES: usize = 1_000;

/// The most bytes that one call reads; the file that goes over it is the last.
const MAX_READ_BYTES: usize = 256 << 20;

/// The part of a line that is searched. It bounds the time between two looks at the signal.
const MAX_LINE_BYTES: usize = 64 << 10;

/// The part of a line that is returned.
const MAX_EXCERPT_BYTES: usize = 400;

/// The memory of a compiled pattern; it bounds the time that a byte of text can take.
const MAX_PATTERN_BYTES: usize = 1 << 20;

const DESCRIPTION: &str = "Search the text files of a folder, or one file, line by line, in path order: hidden files too, but not .git and what .gitignore files leave out. Files that are not UTF-8 text or larger than 32 MiB are skipped, and of a line the first 64 KiB are searched. At most 10000 matches and 256 MiB a call; there may be more if `next` is there.";

pub(crate) fn tool(folder: &Folder) -> ToolDefinition {
    let folder = folder.clone();
    ToolDefinition::typed("search_text", DESCRIPTION, move |args: SearchText, ctx| {
        let folder = folder.clone();
        work::blocking(ctx, move |signal| search(&folder, &args, signal))
    })
    .concurrency_safe(|_| true)
    .retry_safe()
    .render(|_, found| render(found))
    .presentation_meta(|_, found| json!({"matches": matches(found).len()}))
    .present_call(|args| {
        let title = format!("Search {} for {}", args.path, args.pattern);
        Some(cards::call(CallKind::Search, title, &args.path, None))
    })
    .present_result(|args, outcome| {
        Some(cards::result(outcome, |meta| {
            let matches = cards::count(meta.get("matches")?.as_i64()?, "match", "matches");
            Some(format!("Search {} for {} ({matches})", args.path, args.pattern))
        }))
    })
    .build()
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SearchText {
    /// Regular expression (Rust syntax: no look-around, no back references), matched within one line.
    pattern: String,
    /// Take the pattern as plain text. Default false.
    #[serde(default)]
    literal: bool,
    /// Take upper and lower case as equal. Default false.
    #[serde(default)]
    ignore_case: bool,
    /// Folder or file, relative to the root folder. Default ".".
    #[serde(default = "root")]
    path: String,
    /// Only files that match, for example "*.rs" (name, in any subfolder) or "src/**/*.rs" (path below `path`).
    #[serde(default)]
    #[schemars(with = "String")]
    glob: Option<String>,
    /// Do not leave out .git and what .gitignore files name. Default false.
    #[serde(default)]
    include_ignored: bool,
    /// Most matches to return, 1 to 10000. Default 1000.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = MAX_MATCHES))]
    max_results: Option<u32>,
    /// `next` of the previous result, to go on from there.
    #[serde(default)]
    #[schemars(with = "String")]
    cursor: Option<String>,
}

fn root() -> String {
    ".".to_owned()
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Found {
    /// One for each line that matches.
    matches: Vec<LineMatch>,
    /// Files searched in this call.
    files_searched: usize,
    /// Files of this call that are not text, too large or not readable.
    files_skipped: usize,
    /// Lines of this call that are longer than 64 KiB: only so much of them was searched.
    #[serde(default, skip_serializing_if = "is_none")]
    #[schemars(range(min = 1))]
    lines_cut: usize,
    /// The search did not come to its end: pass it as `cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    next: Option<String>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct LineMatch {
    /// Relative to the root folder.
    path: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    line: usize,
    /// The line; of a long one 400 bytes around the match, with "…" where it is cut.
    text: String,
}

fn search(folder: &Folder, args: &SearchText, signal: &Signal) -> Result<Found, FolderError> {
    let start = Place::parse(&args.path)?;
    let mut search = Search {
        folder,
        signal,
        pattern: compile(args)?,
        sealed: sealed(args, &start),
        limit: args.max_results.map_or(DEFAULT_MATCHES, |limit| limit as usize),
        read_bytes: 0,
        found: Found { matches: Vec::new(), files_searched: 0, files_skipped: 0, lines_cut: 0, next: None },
    };
    let cursor = args.cursor.as_deref().map(|text| search.open(text)).transpose()?;
    if folder.metadata(&start)?.is_dir() {
        search.folder(&start, args, cursor)?;
    } else {
        let start = Place::parse_file(&args.path)?;
        search.file(&start, cursor.map_or(1, |cursor| cursor.line), Unreadable::Fails)?;
    }
    Ok(search.found)
}

/// What must stay the same from one page to the next: all but the size of the page.
fn sealed(args: &SearchText, start: &Place) -> Vec<String> {
    let flags = format!("{} {} {}", args.literal, args.ignore_case, args.include_ignored);
    let glob = args.glob.clone().unwrap_or_default();
    vec!["search_text".to_owned(), start.to_string(), flags, glob, args.pattern.clone()]
}

struct Search<'a> {
    folder: &'a Folder,
    signal: &'a Signal,
    pattern: Regex,
    /// The arguments that its cursors belong to.
    sealed: Vec<String>,
    limit: usize,
    /// Of all files, also those that are skipped.
    read_bytes: usize,
    found: Found,
}

/// What to do about a file that cannot be read.
#[derive(Clone, Copy, PartialEq)]
enum Unreadable {
    Fails,
    IsSkipped,
}

impl Search<'_> {
    fn folder(
        &mut self,
        start: &Place,
        args: &SearchText,
        cursor: Option<Cursor>,
    ) -> Result<(), FolderError> {
        let depth = if args.include_ignored { Depth::Everything } else { Depth::Tracked };
        let filter = args.glob.as_deref().map(Filter::new).transpose()?;
        let (from, line) = cursor.map_or((None, 1), |cursor| (Some(cursor.place), cursor.line));
        let mut walk = Walk::new(self.folder, self.signal, start, depth, from.clone())?;
        while let Some(found) = walk.next()? {
            if walk.is_spent() || self.read_bytes > MAX_READ_BYTES {
                self.stop_before(&found.place, 1);
            }
            if self.found.next.is_some() {
                break;
            }
            let is_taken = filter.as_ref().is_none_or(|filter| filter.takes(&found, start));
            if found.kind == Kind::File && is_taken {
                let first_line = if from.as_ref() == Some(&found.place) { line } else { 1 };
                self.file(&found.place, first_line, Unreadable::IsSkipped)?;
            }
        }
        Ok(())
    }

    /// Searches one file from a line on.
    fn file(&mut self, place: &Place, first_line: usize, unreadable: Unreadable) -> Result<(), FolderError> {
        let text = match text::read_counted(self.folder, place, self.signal, &mut self.read_bytes) {
            Ok(text) => text,
            Err(error) if unreadable == Unreadable::Fails || matches!(error, FolderError::Aborted) => {
                return Err(error);
            }
            Err(_) => {
                self.found.files_skipped += 1;
                return Ok(());
            }
        };
        self.found.files_searched += 1;
        for (index, line) in text.lines().enumerate().skip(first_line - 1) {
            check(self.signal)?;
            let searched = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
            self.found.lines_cut += usize::from(searched.len() < line.len());
            let Some(found) = self.pattern.find(searched) else {
                continue;
            };
            if self.found.matches.len() == self.limit {
                self.stop_before(place, index + 1);
                break;
            }
            self.found.matches.push(LineMatch {
                path: place.to_string(),
                line: index + 1,
                text: excerpt(line, found.start()),
            });
        }
        Ok(())
    }

    fn stop_before(&mut self, place: &Place, line: usize) {
        self.found.next = Some(cursor::seal(&format!("{place}:{line}"), &self.sealed));
    }

    fn open(&self, cursor: &str) -> Result<Cursor, FolderError> {
        Cursor::parse(cursor::open(cursor, &self.sealed)?)
    }
}

/// The first line that was not searched, or whose match was not returned: `src/main.rs:12`.
struct Cursor {
    place: Place,
    line: usize,
}

impl Cursor {
    fn parse(cursor: &str) -> Result<Self, FolderError> {
        let refused = || FolderError::Cursor { cursor: cursor.to_owned() };
        let (place, line) = cursor.rsplit_once(':').ok_or_else(refused)?;
        let line = line.parse().ok().filter(|line| *line > 0).ok_or_else(refused)?;
        let place = Place::parse(place).map_err(|_| refused())?;
        Ok(Self { place, line })
    }
}

fn compile(args: &SearchText) -> Result<Regex, FolderError> {
    let pattern = if args.literal { regex::escape(&args.pattern) } else { args.pattern.clone() };
    RegexBuilder::new(&pattern)
        .case_insensitive(args.ignore_case)
        .size_limit(MAX_PATTERN_BYTES)
        .build()
        .map_err(|error| FolderError::Pattern { reason: reason(&error) })
}

/// The last line of the crate's message, which draws the pattern above it.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// The line, or the part around a match.
fn excerpt(line: &str, match_start: usize) -> String {
    if line.len() <= MAX_EXCERPT_BYTES {
        return line.to_owned();
    }
    // A quarter of it before the match, but no less than is there.
    let from = match_start.saturating_sub(MAX_EXCERPT_BYTES / 4);
    let from = line.floor_char_boundary(from.min(line.len() - MAX_EXCERPT_BYTES));
    let to = line.floor_char_boundary(from + MAX_EXCERPT_BYTES);
    let before = if from > 0 { "…" } else { "" };
    let after = if to < line.len() { "…" } else { "" };
    format!("{before}{}{after}", &line[from..to])
}

fn matches(found: &Json) -> &[Json] {
    found.get("matches").and_then(Json::as_array).map_or(&[][..], |matches| matches)
}

/// For a model that called the tool itself: `path:line: text`.
fn render(found: &Json) -> String {
    let mut lines: Vec<String> = matches(found)
        .iter()
        .map(|found| {
            let text = |key| found.get(key).and_then(Json::as_str).unwrap_or_default();
            let line = found.get("line").and_then(Json::as_i64).unwrap_or_default();
            format!("{}:{line}: {}", text("path"), text("text"))
        })
        .collect();
    if lines.is_empty() {
        lines.push("(no matches)".to_owned());
    }
    if let Some(cut) = found.get("linesCut").and_then(Json::as_i64) {
        lines.push(format!("({} searched in part)", cards::count(cut, "long line", "long lines")));
    }
    if let Some(next) = found.get("next").and_then(Json::as_str) {
        lines.push(format!("(more: cursor {next:?})"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_of_a_long_line_shows_the_match() {
        assert_eq!(excerpt("short", 0), "short");
        let line = format!("{}needle{}", "é".repeat(500), "x".repeat(500));
        let shown = excerpt(&line, 1000);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"));
        assert!(shown.len() <= MAX_EXCERPT_BYTES + 2 * "…".len());
        assert!(excerpt(&line, 0).starts_with('é'));
        assert!(excerpt(&line, 1499).ends_with('x'));
    }

    #[test]
    fn cursor_is_a_place_and_a_line() {
        let cursor = Cursor::parse("a:b/c.rs:12").unwrap();
        assert_eq!((cursor.place.as_str(), cursor.line), ("a:b/c.rs", 12));
        for wrong in ["", "a", "a:", "a:0", "a:-1", ":3", "/a:1"] {
            assert!(Cursor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
