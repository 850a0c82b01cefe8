//! Descriptions as doc comments that cannot end themselves, a code fence or a prompt template.

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
    let mut previous = ' ';
    let mut backticks = 0;
    let mut pending_space = false;
    for character in description.chars() {
        if is_space(character) {
            pending_space = true;
            continue;
        }
        if pending_space {
            pending_space = false;
            if out.len() > start {
                out.push(' ');
                previous = ' ';
                backticks = 0;
            }
        }
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
    out.len() > start
}

/// Rewrites the string literals in `out[start..]` so that they hold neither `{{` nor three backticks
/// in a row, nor one of the two characters that end a line for JavaScript alone.
///
/// Outside of literals generated text never has any of them (comments are escaped when written), so
/// what is found stands in a literal, where `\u007b` means the same to TypeScript.
pub(crate) fn make_literals_safe(start: usize, out: &mut String) {
    let fresh = &out[start..];
    if !fresh.contains("{{") && !fresh.contains("```") && !fresh.contains(['\u{2028}', '\u{2029}']) {
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

/// Whitespace as JavaScript's `\s` has it (which is not the same as Rust's).
fn is_space(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}'
            | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}'
            | '\u{3000}' | '\u{feff}'
    )
}
