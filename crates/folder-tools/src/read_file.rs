//! `read_file`: a text file, by lines.

use code_mode_registry::{CallKind, Signal, ToolDefinition};
use code_mode_schema::{Json, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cards,
    error::FolderError,
    folder::{Folder, Place},
    text, work,
};

/// The most text of one result, in MiB: whole lines, as many as fit.
const MAX_TEXT_MIB: usize = 1;

const DESCRIPTION: &str = "Read a UTF-8 text file of at most 32 MiB: all of it, or `limit` lines from `offset` on. At most 1 MiB of text a call; more is there if `next` is. The pages of a file, joined, are the file.";

pub(crate) fn tool(folder: &Folder) -> ToolDefinition {
    let folder = folder.clone();
    ToolDefinition::typed("read_file", DESCRIPTION, move |args: ReadFile, ctx| {
        let folder = folder.clone();
        work::blocking(ctx, move |signal| read(&folder, &args, signal))
    })
    .concurrency_safe(|_| true)
    .retry_safe()
    .render(|_, page| render(page))
    .presentation_meta(
        |_, page| json!({"firstLine": number(page, "firstLine"), "lines": number(page, "lines")}),
    )
    .present_call(|args| {
        let title = format!("Read {}", args.path);
        let line = args.offset.saturating_add(1);
        Some(cards::call(CallKind::Read, title, &args.path, Some(line)))
    })
    .present_result(|args, outcome| {
        Some(cards::result(outcome, |meta| {
            let lines = cards::count(number(meta, "lines"), "line", "lines");
            Some(format!("Read {} ({lines} from {})", args.path, number(meta, "firstLine")))
        }))
    })
    .build()
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadFile {
    /// File, relative to the root folder.
    path: String,
    /// How many lines to skip. Default 0.
    #[serde(default)]
    offset: u32,
    /// Most lines to return.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1))]
    limit: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Page {
    /// The lines with their line ends.
    text: String,
    /// Number of the first line in `text`, counted from 1.
    #[schemars(range(min = 1))]
    first_line: usize,
    /// How many lines `text` has.
    lines: usize,
    /// How many lines the file has.
    total_lines: usize,
    /// There are more lines: pass it as `offset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize", range(min = 1))]
    next: Option<usize>,
}

fn read(folder: &Folder, args: &ReadFile, signal: &Signal) -> Result<Page, FolderError> {
    let place = Place::parse_file(&args.path)?;
    let text = text::read(folder, &place, signal)?;
    let limit = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let offset = args.offset as usize;
    let page = page(&text, offset, limit, MAX_TEXT_MIB << 20).map_err(|line| FolderError::LongLine {
        path: place.to_string(),
        line: line.number,
        bytes: line.bytes,
        limit_mib: MAX_TEXT_MIB,
    })?;
    // Who reads on from there has counted wrong. An empty file has no lines, and reading it is no mistake.
    if offset > 0 && offset >= page.total_lines {
        return Err(FolderError::PastEnd { path: place.to_string(), offset, lines: page.total_lines });
    }
    Ok(page)
}

/// A line that is too long to be returned.
#[derive(Debug, PartialEq)]
struct LongLine {
    number: usize,
    bytes: usize,
}

/// At most `limit` lines of `text` and `max_bytes` bytes, `offset` lines in.
fn page(text: &str, offset: usize, limit: usize, max_bytes: usize) -> Result<Page, LongLine> {
    let mut page = Page { text: String::new(), first_line: offset + 1, lines: 0, total_lines: 0, next: None };
    for line in text.split_inclusive('\n') {
        page.total_lines += 1;
        if page.total_lines <= offset || page.next.is_some() {
            continue;
        }
        if page.lines == 0 && line.len() > max_bytes {
            return Err(LongLine { number: page.total_lines, bytes: line.len() });
        }
        if page.lines == limit || page.text.len() + line.len() > max_bytes {
            page.next = Some(page.total_lines - 1);
            continue;
        }
        page.text.push_str(line);
        page.lines += 1;
    }
    Ok(page)
}

/// For a model that called the tool itself: the text, and where to go on.
fn render(page: &Json) -> String {
    let text = page.get("text").and_then(Json::as_str).unwrap_or_default();
    let (first, lines) = (number(page, "firstLine"), number(page, "lines"));
    match page.get("next").and_then(Json::as_i64) {
        Some(next) => {
            let total = number(page, "totalLines");
            let last = first + lines - 1;
            format!("{text}(lines {first} to {last} of {total}; more: offset {next})")
        }
        None if text.is_empty() => "(no text)".to_owned(),
        None => text.to_owned(),
    }
}

fn number(page: &Json, key: &str) -> i64 {
    page.get(key).and_then(Json::as_i64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn page_says_where_it_is() {
        let three = page("a\nb\nc\nd\ne", 1, 3, 100).unwrap();
        assert_eq!(three.text, "b\nc\nd\n");
        assert_eq!((three.first_line, three.lines, three.total_lines), (2, 3, 5));
        assert_eq!(three.next, Some(4));
        let last = page("a\nb\nc\nd\ne", 4, 3, 100).unwrap();
        assert_eq!((&*last.text, last.lines, last.next), ("e", 1, None));
        let beyond = page("a\n", 7, 3, 100).unwrap();
        assert_eq!((&*beyond.text, beyond.lines, beyond.total_lines, beyond.next), ("", 0, 1, None));
        let empty = page("", 0, 3, 100).unwrap();
        assert_eq!((empty.lines, empty.total_lines, empty.next), (0, 0, None));
    }

    #[test]
    fn line_beyond_the_limit_is_refused_only_where_it_comes_first() {
        let text = "ab\nabcdef\nab\n";
        let first = page(text, 0, 9, 5).unwrap();
        assert_eq!((&*first.text, first.next), ("ab\n", Some(1)));
        let refused = page(text, 1, 9, 5).map(|page| page.text);
        assert_eq!(refused, Err(LongLine { number: 2, bytes: 7 }));
        assert_eq!(page(text, 2, 9, 5).unwrap().text, "ab\n");
    }

    proptest! {
        #[test]
        fn pages_joined_are_the_file(
            text in "[a\\né\\r]{0,80}",
            limit in 1_usize..6,
            max_bytes in 200_usize..300,
        ) {
            let mut joined = String::new();
            let mut offset = Some(0);
            while let Some(at) = offset {
                let page = page(&text, at, limit, max_bytes).unwrap();
                prop_assert!(page.next.is_none_or(|next| next == at + page.lines && page.lines > 0));
                joined.push_str(&page.text);
                offset = page.next;
            }
            prop_assert_eq!(joined, text);
        }
    }
}
