//! What models wrap around a program by mistake: a Markdown fence, a byte order mark.

/// The text with its wrapping overwritten by nothing on the same line, so that
/// the lines of the program keep their numbers.
pub(super) fn unwrap(text: &str) -> String {
    let text = match text.strip_prefix('\u{feff}') {
        // A blank in its place keeps the columns of the first line.
        Some(rest) => format!(" {rest}"),
        None => text.to_owned(),
    };
    fenced(&text).unwrap_or(text)
}

/// The text without its fence, if its first and last lines that are not blank
/// are one.
fn fenced(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let filled = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(&filled)?;
    let last = lines.iter().rposition(filled)?;
    let (open, close) = (lines[first].trim(), lines[last].trim());
    let fence = &open[..open.len() - open.trim_start_matches(['`', '~']).len()];
    let tag = &open[fence.len()..];
    if first == last || fence.len() < 3 || close != fence || tag.contains(['`', ' ']) {
        return None;
    }
    let end = |line: &str| line[line.trim_end_matches(['\r', '\n']).len()..].to_owned();
    let mut out = String::with_capacity(text.len());
    for (index, line) in lines.iter().enumerate() {
        if index == first || index == last {
            out.push_str(&end(line));
        } else {
            out.push_str(line);
        }
    }
    Some(out)
}
