//! The beginnings of values and texts: what a page shows of what may be huge.

use code_mode::{Json, schema};

use super::markup::{escaped, grouped};

/// The most that is kept of one value, in bytes.
const MAX_EXCERPT_BYTES: usize = 64 << 10;

/// The most that is kept of all values of a run.
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// The longest container that stands on one line, in bytes.
const MAX_LINE_BYTES: usize = 96;

/// The deepest level that is indented by its depth.
const MAX_INDENTED_DEPTH: usize = 16;

/// The beginning of a value's or a text's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// How many bytes the whole has, if this is not all of it.
    pub(crate) cut_from: Option<usize>,
}

/// Takes excerpts of one run, within the bytes that are left.
#[derive(Debug)]
pub(crate) struct Excerpts {
    left: usize,
}

impl Default for Excerpts {
    fn default() -> Self {
        Self { left: MAX_TOTAL_BYTES }
    }
}

impl Excerpts {
    /// Of a text, as it is.
    pub(crate) fn text(&mut self, text: &str) -> Excerpt {
        let shown = beginning(text, self.room());
        self.left -= shown.len();
        Excerpt { text: shown.to_owned(), cut_from: (shown.len() < text.len()).then_some(text.len()) }
    }

    /// Of a value: its JSON, with what is short on one line.
    pub(crate) fn json(&mut self, value: &Json) -> Excerpt {
        let mut printer = Printer { text: String::new(), room: self.room() };
        let is_whole = printer.print(value);
        self.left -= printer.text.len();
        Excerpt { text: printer.text, cut_from: (!is_whole).then(|| value.text_len()) }
    }

    fn room(&self) -> usize {
        self.left.min(MAX_EXCERPT_BYTES)
    }
}

impl Excerpt {
    pub(crate) fn to_html(&self) -> String {
        let text = escaped(&self.text);
        let mark = self.cut_from.map(cut_mark).unwrap_or_default();
        match (self.text.is_empty(), &self.cut_from) {
            (true, Some(_)) => mark,
            (true, None) => "<p class=\"none\">(empty)</p>".to_owned(),
            // The parser takes away a line break right after the tag; this one is for it.
            (false, _) => format!("<pre>\n{text}</pre>{mark}"),
        }
    }

    /// The first `max_chars` characters on one line.
    pub(crate) fn to_line(&self, max_chars: usize) -> String {
        let words = self.text.split_whitespace().flat_map(|word| [" ", word]).skip(1);
        let mut line = String::new();
        for (position, char) in words.flat_map(str::chars).enumerate() {
            if position == max_chars {
                line.push('…');
                return line;
            }
            line.push(char);
        }
        if self.cut_from.is_some() {
            line.push('…');
        }
        line
    }
}

/// What is said where something is cut.
pub(crate) fn cut_mark(whole_bytes: usize) -> String {
    format!("<p class=\"cut\">only the beginning is shown, of {} bytes</p>", grouped(whole_bytes))
}

/// The first `max_bytes` bytes of a text, or a few less where they would cut a character.
pub(crate) fn beginning(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Prints JSON until there is no more room. Iterative, as values may be deep.
struct Printer {
    text: String,
    room: usize,
}

/// A container that is being printed.
struct Open<'a> {
    items: Items<'a>,
    close: char,
    on_one_line: bool,
    is_first: bool,
}

enum Items<'a> {
    Array(std::slice::Iter<'a, Json>),
    Object(schema::ObjectIter<'a>),
}

impl<'a> Iterator for Items<'a> {
    type Item = (Option<&'a str>, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Array(items) => items.next().map(|value| (None, value)),
            Self::Object(items) => items.next().map(|(name, value)| (Some(name), value)),
        }
    }
}

impl Printer {
    /// Whether all of the value had room.
    fn print(&mut self, value: &Json) -> bool {
        let mut open: Vec<Open<'_>> = Vec::new();
        open.extend(self.begin(value, false));
        while let Some(container) = open.last_mut() {
            if self.text.len() > self.room {
                break;
            }
            let on_one_line = container.on_one_line;
            let Some((name, value)) = container.items.next() else {
                let (close, is_empty) = (container.close, container.is_first);
                open.pop();
                if !on_one_line && !is_empty {
                    self.break_line(open.len());
                }
                self.text.push(close);
                continue;
            };
            let is_first = std::mem::replace(&mut container.is_first, false);
            if !is_first {
                self.text.push(',');
            }
            match (on_one_line, is_first) {
                (false, _) => self.break_line(open.len()),
                (true, false) => self.text.push(' '),
                (true, true) => {}
            }
            if let Some(name) = name {
                self.string(name);
                self.text.push_str(": ");
            }
            let inner = self.begin(value, on_one_line);
            open.extend(inner);
        }
        let is_whole = self.text.len() <= self.room;
        self.text.truncate(self.text.floor_char_boundary(self.room));
        is_whole
    }

    /// Prints a plain value, or the beginning of a container.
    fn begin<'a>(&mut self, value: &'a Json, on_one_line: bool) -> Option<Open<'a>> {
        let (items, open, close) = match value {
            Json::String(text) => {
                self.string(text);
                return None;
            }
            Json::Array(items) => (Items::Array(items.iter()), '[', ']'),
            Json::Object(members) => (Items::Object(members.iter()), '{', '}'),
            _ => {
                value.write_text(&mut self.text);
                return None;
            }
        };
        self.text.push(open);
        Some(Open { items, close, on_one_line: on_one_line || is_short(value), is_first: true })
    }

    /// A string, no more of it than there is room for.
    fn string(&mut self, text: &str) {
        let room = self.room.saturating_sub(self.text.len());
        // A character more, of up to four bytes, so that what is cut is seen to be.
        schema::write_json_string(beginning(text, room + 4), &mut self.text);
    }

    fn break_line(&mut self, depth: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", depth.min(MAX_INDENTED_DEPTH)));
    }
}

/// Whether a container's text fits on a line; looks at no more of it than that.
fn is_short(value: &Json) -> bool {
    let mut left = MAX_LINE_BYTES;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let bytes = match value {
            Json::String(text) if text.len() > left => return false,
            Json::String(text) => schema::json_string_len(text),
            Json::Array(items) if items.len() > left => return false,
            Json::Array(items) => {
                open.extend(items.iter());
                2 * items.len() + 2
            }
            Json::Object(members) if members.len() > left => return false,
            Json::Object(members) => {
                open.extend(members.values());
                members.keys().map(|name| name.len() + 6).sum::<usize>() + 2
            }
            plain => plain.text_len(),
        };
        let Some(rest) = left.checked_sub(bytes) else { return false };
        left = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use code_mode::json;

    use super::*;

    #[track_caller]
    fn check(value: &Json, text: &str) {
        let excerpt = Excerpts::default().json(value);
        assert_eq!((excerpt.text.as_str(), excerpt.cut_from), (text, None));
    }

    #[test]
    fn short_containers_stand_on_one_line_and_long_ones_do_not() {
        check(&json!(null), "null");
        check(&json!("a\n\"b"), r#""a\n\"b""#);
        check(&json!({"a": [1, {"b": []}], "c": {}}), r#"{"a": [1, {"b": []}], "c": {}}"#);
        let long = "x".repeat(60);
        check(
            &json!([{"a": long.as_str(), "b": 1}, {"a": long.as_str(), "b": 2}]),
            &format!("[\n  {{\"a\": \"{long}\", \"b\": 1}},\n  {{\"a\": \"{long}\", \"b\": 2}}\n]"),
        );
    }

    #[test]
    fn huge_values_are_cut_with_their_size() {
        let value = json!({"text": "é".repeat(1 << 20)});
        let excerpt = Excerpts::default().json(&value);
        assert!(excerpt.text.len() <= MAX_EXCERPT_BYTES && excerpt.text.starts_with("{\n  \"text\": \"éé"));
        assert_eq!(excerpt.cut_from, Some(value.text_len()));
        assert!(excerpt.to_html().ends_with("only the beginning is shown, of 2,097,163 bytes</p>"));
        let many: Json = (0..1_000_000).map(Json::from).collect::<Vec<_>>().into();
        assert!(Excerpts::default().json(&many).cut_from.is_some());
    }

    #[test]
    fn deep_values_are_printed() {
        let mut value = json!(1);
        for _ in 0..20_000 {
            value = Json::from(vec![value]);
        }
        let excerpt = Excerpts::default().json(&value);
        assert_eq!(excerpt.cut_from, Some(40_001));
        assert!(excerpt.text.starts_with("[\n  [\n    ["));
    }

    #[test]
    fn all_excerpts_together_are_bounded() {
        let mut excerpts = Excerpts::default();
        let text = "x".repeat(MAX_EXCERPT_BYTES);
        for _ in 0..MAX_TOTAL_BYTES / MAX_EXCERPT_BYTES {
            assert_eq!(excerpts.text(&text).cut_from, None);
        }
        assert_eq!(excerpts.text("more"), Excerpt { text: String::new(), cut_from: Some(4) });
        assert_eq!(excerpts.json(&json!({"a": 1})), Excerpt { text: String::new(), cut_from: Some(7) });
    }

    #[test]
    fn line_is_the_beginning_without_its_breaks() {
        let line = |text: &str| Excerpts::default().text(text).to_line(5);
        assert_eq!(line("a\n  b\t"), "a b");
        assert_eq!(line("abcdef"), "abcde…");
        assert_eq!(line("é é é"), "é é é");
    }
}
