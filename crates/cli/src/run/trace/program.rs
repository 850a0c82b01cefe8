//! The program with its lines.

use std::fmt::Write;

use super::excerpt::{beginning, cut_mark};
use super::markup::escaped;

/// The most of a program that is shown, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// Each line with its number and an anchor, `#L3`; the line that failed is marked. Lines are counted as the
/// messages of the engine count them.
pub(crate) fn listing(code: &str, failed_line: Option<u32>) -> String {
    let shown = beginning(code, MAX_BYTES);
    let mut html = String::from("<ol class=\"code\">");
    // A line break at the end begins no line.
    let lines = shown.strip_suffix('\n').unwrap_or(shown);
    for (line, number) in lines.split('\n').zip(1_u32..) {
        let class = if failed_line == Some(number) { " class=\"failed\"" } else { "" };
        let line = escaped(line.strip_suffix('\r').unwrap_or(line));
        // A line without text keeps its height.
        let line = if line.is_empty() { "\u{200b}" } else { &line };
        let _ = write!(html, "<li id=\"L{number}\"{class}><code>{line}</code></li>");
    }
    html.push_str("</ol>");
    if shown.len() < code.len() {
        html.push_str(&cut_mark(code.len()));
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_the_failed_one_is_marked() {
        assert_eq!(
            listing("a<b\r\n\nc\n", Some(3)),
            "<ol class=\"code\"><li id=\"L1\"><code>a&lt;b</code></li><li id=\"L2\"><code>\u{200b}</code></li>\
             <li id=\"L3\" class=\"failed\"><code>c</code></li></ol>"
        );
    }

    #[test]
    fn long_program_is_cut_with_a_mark() {
        let html = listing(&"x\n".repeat(MAX_BYTES), None);
        assert!(html.len() < 50 * MAX_BYTES);
        assert!(
            html.ends_with("only the beginning is shown, of 524,288 bytes</p>"),
            "{}",
            &html[html.len() - 90..]
        );
    }
}
