//! Texts made safe: descriptions that cannot end their comment, and nothing anywhere that could end
//! a code fence or start a prompt template.

use crate::subset::write_indent;

/// Writes a description as a doc comment on a line of its own, or nothing if it has no text.
pub(crate) fn write_doc_line(description: &str, indent: usize, out: &mut String) {
    let start = out.len();
    write_indent(indent, out);
    out.push_str("/** ");
    if write_description(description, out) {
        out.push_str(" */\n");
    } else {
        out.truncate(start);
    }
}

/// Writes a description as the text of a doc comment and says whether anything was written.
///
/// Every run of whitespace becomes one space, the ends are trimmed, `*/` is written as `*\/`
/// (contract 5.1); `{{` and a third backtick in a row get a backslash in between (decision 31).
pub(crate) fn write_description(description: &str, out: &mut String) -> bool {
    let start = out.len();
    let mut rest = description;
    loop {
        let mut space = space_length(rest.as_bytes());
        while space > 0 {
            rest = &rest[space..];
            space = space_length(rest.as_bytes());
        }
        if rest.is_empty() {
            return out.len() > start;
        }
        if out.len() > start {
            out.push(' ');
        }
        let (length, may_close) = run_length(rest.as_bytes());
        let (run, tail) = rest.split_at(length);
        if may_close {
            write_escaped(run, out);
        } else {
            out.push_str(run);
        }
        rest = tail;
    }
}

/// The length of the text up to where whitespace has to change, and whether it holds a character
/// that could be part of a closing.
fn run_length(text: &[u8]) -> (usize, bool) {
    let mut may_close = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let class = CLASSES[usize::from(byte)];
        if class == PLAIN {
            at += 1;
            continue;
        }
        if class == CLOSING {
            may_close = true;
        } else if byte == b' ' && at + 1 < text.len() && space_length(&text[at + 1..]) == 0 {
            // One space between two words can stay.
        } else if space_length(&text[at..]) > 0 {
            return (at, may_close);
        }
        at += 1;
    }
    (at, may_close)
}

const PLAIN: u8 = 0;
/// Could be part of a closing.
const CLOSING: u8 = 1;
/// Whitespace, or the first byte of some of what is whitespace beyond ASCII.
const SPACE: u8 = 2;

/// What each byte may mean; nearly all of a description is plain.
const CLASSES: [u8; 256] = {
    let mut classes = [PLAIN; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'/' | b'{' | b'`' => CLOSING,
            b'\t'..=b'\r' | b' ' | 0xc2 | 0xe1..=0xe3 | 0xef => SPACE,
            _ => PLAIN,
        };
        byte += 1;
    }
    classes
};

/// The length of the whitespace character that a text starts with, or 0; as JavaScript's `\s` has
/// it, which is not the same as Rust's.
fn space_length(text: &[u8]) -> usize {
    match text {
        [b'\t'..=b'\r' | b' ', ..] => 1,
        [0xc2, 0xa0, ..] => 2,
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..]
        | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

fn write_escaped(run: &str, out: &mut String) {
    let mut previous = ' ';
    let mut backticks = 0;
    for character in run.chars() {
        let would_close = match character {
            '/' => previous == '*',
            '{' => previous == '{',
            '`' => backticks == 2,
            _ => false,
        };
        if would_close {
            out.push('\\');
            backticks = 0;
        }
        backticks = if character == '`' { backticks + 1 } else { 0 };
        out.push(character);
        previous = character;
    }
}

/// Rewrites the string literals in `out[start..]` so that they hold neither `{{` nor three backticks
/// in a row, nor one of the two characters that end a line for JavaScript alone.
///
/// Outside of literals generated text never has any of them (comments are escaped when written), so
/// what is found stands in a literal, where `\u007b` means the same to TypeScript.
pub(crate) fn make_literals_safe(start: usize, out: &mut String) {
    if is_safe(&out.as_bytes()[start..]) {
        return;
    }
    let fresh = out.split_off(start);
    let mut previous = ' ';
    let mut backticks = 0;
    for character in fresh.chars() {
        backticks = if character == '`' { backticks + 1 } else { 0 };
        match character {
            '{' if previous == '{' => out.push_str("\\u007b"),
            '`' if backticks == 3 => {
                out.push_str("\\u0060");
                backticks = 0;
            }
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(character),
        }
        previous = character;
    }
}

/// Whether a text surely needs no rewriting.
fn is_safe(text: &[u8]) -> bool {
    let mut previous = b' ';
    for &byte in text {
        let is_doubled = previous == byte && matches!(byte, b'{' | b'`');
        // The line ends are e2 80 a8 and e2 80 a9.
        let may_end_line = previous == 0x80 && matches!(byte, 0xa8 | 0xa9);
        if is_doubled || may_end_line {
            return false;
        }
        previous = byte;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(description: &str, expected: &str) {
        let mut text = String::new();
        assert_eq!(write_description(description, &mut text), !expected.is_empty());
        assert_eq!(text, expected, "{description:?}");
    }

    #[test]
    fn runs_of_javascript_whitespace_become_one_space() {
        check("plain text, as it stands — ünïcode", "plain text, as it stands — ünïcode");
        check(" \t a  b\r\nc\u{2028}\u{a0} d\u{3000}\u{feff}", "a b c d");
        check("a\u{1680}b\u{2000}c\u{200a}d\u{2029}e\u{202f}f\u{205f}g", "a b c d e f g");
        check("next\u{85}line zero\u{200b}width", "next\u{85}line zero\u{200b}width");
        check("", "");
        check(" \n\u{feff}", "");
    }

    #[test]
    fn nothing_closes_a_comment_a_fence_or_opens_a_template() {
        check("**/*.ts", "**\\/*.ts");
        check("*\n/", "* /");
        check("{{{a}}}", "{\\{\\{a}}}");
        check("`a` ``b`` ```c``` ````", "`a` ``b`` ``\\`c``\\` ``\\``");
        check("``` {{ */", "``\\` {\\{ *\\/");
    }

    #[test]
    fn literals_keep_their_value_when_made_safe() {
        let mut text = String::from("{{ kept | \"{{{x\" | \"```` \" | \"\u{2028}é\u{2029}\"");
        make_literals_safe(9, &mut text);
        assert_eq!(text, "{{ kept | \"{\\u007b\\u007bx\" | \"``\\u0060` \" | \"\\u2028é\\u2029\"");
    }
}
