//! Places in the text a model sent: 1-based line, 1-based column in UTF-16 units.

use std::fmt;

/// A place in the program's text. Decision 11.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// 1-based.
    pub(crate) line: u32,
    /// 1-based, in UTF-16 units; 0 where only the line is known.
    pub(crate) column: u32,
}

impl Position {
    /// The place of byte `offset` of `text`.
    pub(crate) fn at(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].encode_utf16().count() + 1;
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program:{}", self.line)?;
        if self.column > 0 { write!(f, ":{}", self.column) } else { Ok(()) }
    }
}

/// How much of a long line is shown on each side of the column, in characters.
const SIDE_CHARS: usize = 80;

/// The line at `position` and a caret below its column, two lines without a
/// final line break. None if the text has no such line or the line is blank.
pub(crate) fn code_frame(text: &str, position: Position) -> Option<String> {
    let line = text.lines().nth(usize::try_from(position.line).ok()?.checked_sub(1)?)?;
    if line.trim().is_empty() {
        return None;
    }
    let mut column = 0;
    let mut units = 1;
    for (index, char) in line.chars().enumerate() {
        if units >= position.column {
            column = index;
            break;
        }
        units += u32::try_from(char.len_utf16()).unwrap_or(1);
        column = index + 1;
    }
    let indent = line.chars().take_while(|char| char.is_whitespace()).count();
    // A place in the indentation, or an unknown column, points at the first word.
    let column = column.max(indent);
    let start = column.saturating_sub(SIDE_CHARS).max(indent);
    let shown: String = line.chars().skip(start).take(2 * SIDE_CHARS).collect();
    let (head, tail) = (
        if start > indent { "..." } else { "" },
        if line.chars().count() > start + 2 * SIDE_CHARS { "..." } else { "" },
    );
    let number = position.line.to_string();
    let blank = " ".repeat(number.len());
    let gap = " ".repeat(head.len() + column - start);
    Some(format!("  {number} | {head}{}{tail}\n  {blank} | {gap}^", shown.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        assert_eq!(Position::at("a\n😀b", 6), Position { line: 2, column: 3 });
        assert_eq!(Position::at("a", 1), Position { line: 1, column: 2 });
    }

    #[test]
    fn frame_drops_the_indent_and_points_at_the_column() {
        let frame = code_frame("x\n    return a.b;", Position { line: 2, column: 14 });
        assert_eq!(frame.as_deref(), Some("  2 | return a.b;\n    |          ^"));
    }

    #[test]
    fn frame_of_a_long_line_is_a_window() {
        let line = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let frame = code_frame(&line, Position { line: 1, column: 501 }).unwrap();
        assert!(frame.len() < 400, "{frame}");
        let (code, caret) = frame.split_once('\n').unwrap();
        assert_eq!(&code[caret.len() - 1..][..4], "HERE");
    }

    #[test]
    fn unknown_column_points_at_the_first_word() {
        let frame = code_frame("  a()", Position { line: 1, column: 0 });
        assert_eq!(frame.as_deref(), Some("  1 | a()\n    | ^"));
    }
}
