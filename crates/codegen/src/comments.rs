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
    out.reserve(description.len() + 8);
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
    while at < text.len() {
        if text.get(at..=at + STRIDE).is_some_and(is_words) {
            at += STRIDE;
            continue;
        }
        let end = text.len().min(at + STRIDE);
        while at < end {
            match CLASSES[usize::from(text[at])] {
                PLAIN => {}
                CLOSING => may_close = true,
                // One space between two words can stay.
                _ if text[at] == b' ' && at + 1 < text.len() && space_length(&text[at + 1..]) == 0 => {}
                _ if space_length(&text[at..]) > 0 => return (at, may_close),
                _ => {}
            }
            at += 1;
        }
    }
    (at, may_close)
}

/// Bytes that are looked at together, without a branch for each: nearly all of a description is words.
const STRIDE: usize = 16;

/// Whether all bytes but the last belong to words with one space between them.
fn is_words(bytes: &[u8]) -> bool {
    let pairs = bytes.iter().zip(&bytes[1..]);
    pairs.fold(true, |are_words, (&byte, &next)| {
        let is_plain = CLASSES[usize::from(byte)] == PLAIN;
        let is_between = (byte == b' ') & (CLASSES[usize::from(next)] != SPACE);
        are_words & (is_plain | is_between)
    })
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
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    // Every pair is looked at, without a branch.
    pairs.fold(true, |is_safe, (&first, &second)| {
        let is_doubled = (first == second) & ((second == b'{') | (second == b'`'));
        // The line ends are e2 80 a8 and e2 80 a9.
        let may_end_line = (first == 0x80) & ((second == 0xa8) | (second == 0xa9));
        is_safe & !(is_doubled | may_end_line)
    })
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
        for length in 0..40 {
            let word = "w".repeat(length);
            let words = format!("{word} x {word}");
            check(&format!("{word}  x\n{word} "), words.trim());
            check(
                &format!("{word}\u{3000}x \u{2003}{word} \u{2014}"),
                format!("{words} \u{2014}").replace("x  ", "x ").trim_start(),
            );
        }
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
