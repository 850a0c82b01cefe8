//! Whether generated TypeScript is well formed, as far as that shows without a parser.

/// Refuses text in which a bracket, a string or a comment is not closed, or that closes one that is not open.
#[track_caller]
pub(crate) fn check(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            let (inner, after) = comment.split_once("*/").expect("a comment is closed");
            assert!(!inner.contains('\n'), "a comment is one line: {inner}");
            rest = after;
            continue;
        }
        // Literals, and the templates of index signatures (`x-${string}`).
        if matches!(next, '"' | '`') {
            rest = after_literal(&rest[1..], next);
            continue;
        }
        rest = &rest[next.len_utf8()..];
        match next {
            '{' | '[' | '(' | '<' => open.push(next),
            // The arrow of a function.
            '>' if text[..text.len() - rest.len()].ends_with("=>") => {}
            '}' | ']' | ')' | '>' => {
                let expected = match next {
                    '}' => '{',
                    ']' => '[',
                    ')' => '(',
                    _ => '<',
                };
                assert_eq!(open.pop(), Some(expected), "brackets match: {text}");
            }
            '\'' | '\\' => panic!("{next} stands outside of a literal: {text}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "brackets are closed: {text}");
}

fn after_literal(literal: &str, quote: char) -> &str {
    let mut escaped = false;
    for (place, next) in literal.char_indices() {
        match next {
            '\n' => panic!("a literal is one line: {literal}"),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if next == quote => return &literal[place + 1..],
            _ => {}
        }
    }
    panic!("a literal is closed: {literal}");
}
