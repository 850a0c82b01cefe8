//! Refuses a text that nests so deeply that parsing it could exhaust a stack.
//!
//! The parser recurses, and a stack that overflows ends the process. So before
//! it runs, one pass over the characters bounds the depth of the tree it could
//! build. The measure is never too small: for every open bracket it counts the
//! tokens since the last separator inside it. Where the text alone does not tell
//! a regular expression from a division, everything that the rest of the line
//! could hide is counted too.

use super::{Position, SourceError};

/// The most that [`Scan::depth`] may reach. Ordinary programs stay below 100.
const MAX_DEPTH: usize = 2_000;

/// Checks the depth of `text`.
///
/// # Errors
/// [`SourceError::TooDeep`] at the place where the limit is passed.
pub(super) fn check(text: &str) -> Result<(), SourceError> {
    let mut scan = Scan::new(text);
    while scan.step() {
        if scan.depth + scan.hidden > MAX_DEPTH {
            return Err(SourceError::TooDeep { position: Position::at(text, scan.offset) });
        }
    }
    Ok(())
}

/// The byte offset of the first `}` that closes nothing that the text opened.
pub(super) fn unopened_brace(text: &str) -> Option<usize> {
    let mut scan = Scan::new(text);
    while scan.step() {
        if scan.unopened.is_some() {
            break;
        }
    }
    scan.unopened
}

/// Words after which a slash begins a regular expression.
const BEFORE_OPERAND: &[&str] =
    &["return", "typeof", "instanceof", "in", "new", "delete", "void", "throw", "case", "do", "else"];
/// Words that are an operator in one place and a name in another.
const EITHER: &[&str] = &["await", "yield", "of"];
/// Words whose parentheses are a head that a statement follows.
const HEADS: &[&str] = &["if", "for", "while", "with"];
/// Words that cannot end a statement, so that a line break after them is none.
const NOT_AN_END: &[&str] = &[
    "as",
    "await",
    "case",
    "class",
    "const",
    "delete",
    "do",
    "else",
    "extends",
    "finally",
    "function",
    "implements",
    "in",
    "infer",
    "instanceof",
    "keyof",
    "let",
    "new",
    "of",
    "readonly",
    "satisfies",
    "throw",
    "try",
    "typeof",
    "unique",
    "var",
    "void",
];
/// Words that go on with the statement before them, also on a new line.
const CONTINUES: &[&str] = &["catch", "else", "extends", "finally", "in", "instanceof", "is", "of"];

/// What the last token was, as far as the next one depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last<'a> {
    Word(&'a str),
    /// A name after a dot: never a keyword.
    Member,
    /// A literal or a closing bracket: an operand has ended.
    Operand,
    /// `}`: an operand or a block has ended.
    Brace,
    /// `)` of a statement's head.
    Head,
    /// `++` or `--`.
    Step,
    /// Any other punctuation.
    Operator,
}

#[derive(Default)]
struct Level {
    tokens: usize,
    /// The parentheses of a statement's head.
    head: bool,
    /// A `<` was seen since the last statement: commas may stand in type arguments.
    angled: bool,
    /// The `${ }` of a template, whose text goes on after it.
    template: bool,
}

struct Scan<'a> {
    text: &'a str,
    /// Start of the current token.
    offset: usize,
    /// End of the current token.
    at: usize,
    levels: Vec<Level>,
    /// Sum of the open levels and their tokens.
    depth: usize,
    /// What regular expressions may hide, which is never taken back.
    hidden: usize,
    last: Last<'a>,
    unopened: Option<usize>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            offset: 0,
            at: 0,
            levels: vec![Level::default()],
            depth: 0,
            hidden: 0,
            last: Last::Operator,
            unopened: None,
        }
    }

    /// Takes one token; false at the end of the text.
    fn step(&mut self) -> bool {
        let new_line = self.skip_blanks();
        self.offset = self.at;
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return false };
        if (new_line || self.last == Last::Brace) && self.ends() && starts(rest, first) {
            self.separate();
        }
        match first {
            '(' | '[' | '{' => self.open(first, false),
            ')' | ']' | '}' => self.close(first),
            ';' => {
                self.at += 1;
                self.separate();
                self.last = Last::Operator;
            }
            ',' => {
                self.at += 1;
                if !self.level().angled {
                    self.separate();
                }
                self.last = Last::Operator;
            }
            '"' | '\'' => self.string(first),
            '`' => {
                self.at += 1;
                self.token(Last::Operand);
                self.template();
            }
            '/' => self.slash(rest),
            _ if is_word(first) => self.word(rest),
            _ => self.punctuation(rest, first),
        }
        true
    }

    /// Skips white space and comments; true if a line ended in them.
    fn skip_blanks(&mut self) -> bool {
        let mut new_line = self.at == 0;
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let length = comment.find("*/").map_or(rest.len(), |end| end + 4);
                new_line |= rest[..length].contains('\n');
                self.at += length;
            } else {
                match rest.chars().next() {
                    Some(blank) if blank.is_whitespace() || blank == '\u{feff}' => {
                        new_line |= matches!(blank, '\n' | '\r' | '\u{2028}' | '\u{2029}');
                        self.at += blank.len_utf8();
                    }
                    _ => return new_line,
                }
            }
        }
    }

    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn token(&mut self, last: Last<'a>) {
        self.level().tokens += 1;
        self.depth += 1;
        self.last = last;
    }

    /// A statement or an element has ended: what follows is its sibling.
    fn separate(&mut self) {
        let level = self.level();
        level.angled = false;
        let tokens = std::mem::take(&mut level.tokens);
        self.depth -= tokens;
    }

    fn open(&mut self, bracket: char, template: bool) {
        let head = bracket == '(' && matches!(self.last, Last::Word(word) if HEADS.contains(&word));
        self.at += if template { 2 } else { 1 };
        self.levels.push(Level { head, template, ..Level::default() });
        self.depth += 1;
        self.last = Last::Operator;
    }

    fn close(&mut self, bracket: char) {
        self.at += 1;
        if self.levels.len() == 1 {
            if bracket == '}' {
                self.unopened.get_or_insert(self.offset);
            }
            self.last = Last::Operator;
            return;
        }
        let Some(level) = self.levels.pop() else { return };
        self.depth -= level.tokens + 1;
        self.last = match bracket {
            '}' => Last::Brace,
            _ if level.head => Last::Head,
            _ => Last::Operand,
        };
        // The bracketed whole is one operand of what holds it.
        self.level().tokens += 1;
        self.depth += 1;
        if level.template {
            self.last = Last::Operand;
            self.template();
        }
    }

    /// True if a statement may end after the last token.
    fn ends(&self) -> bool {
        match self.last {
            Last::Word(word) => !NOT_AN_END.contains(&word) && !HEADS.contains(&word),
            Last::Member | Last::Operand | Last::Brace | Last::Step => true,
            Last::Head | Last::Operator => false,
        }
    }

    fn string(&mut self, quote: char) {
        let mut escaped = false;
        let rest = &self.text[self.at + 1..];
        let length = rest.char_indices().find_map(|(index, char)| {
            if escaped {
                escaped = false;
                return None;
            }
            match char {
                '\\' => escaped = true,
                '\n' => return Some(index),
                _ if char == quote => return Some(index + 1),
                _ => {}
            }
            None
        });
        self.at += 1 + length.unwrap_or(rest.len());
        self.token(Last::Operand);
    }

    /// The text of a template up to its end or its next `${`.
    fn template(&mut self) {
        let mut escaped = false;
        let rest = &self.text[self.at..];
        for (index, char) in rest.char_indices() {
            if escaped {
                escaped = false;
                continue;
            }
            match char {
                '\\' => escaped = true,
                '`' => {
                    self.at += index + 1;
                    return;
                }
                '$' if rest[index + 1..].starts_with('{') => {
                    self.at += index;
                    self.open('{', true);
                    return;
                }
                _ => {}
            }
        }
        self.at = self.text.len();
    }

    fn slash(&mut self, rest: &str) {
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        // A regular expression ends on its own line.
        let may_close = line[1..].contains('/');
        let regex = match self.last {
            Last::Operator | Last::Head => true,
            Last::Word(word) => BEFORE_OPERAND.contains(&word),
            Last::Member | Last::Operand | Last::Brace | Last::Step => false,
        };
        let unclear = match self.last {
            Last::Brace | Last::Step => true,
            Last::Word(word) => EITHER.contains(&word),
            _ => false,
        };
        if unclear && may_close {
            self.hidden += line.chars().filter(|char| !char.is_whitespace()).count();
        }
        if regex && may_close {
            self.at += regex_length(line);
            self.token(Last::Operand);
        } else {
            self.at += 1;
            self.token(Last::Operator);
        }
    }

    fn word(&mut self, rest: &'a str) {
        let number = rest.starts_with(|first: char| first.is_ascii_digit());
        let length =
            rest.find(|char: char| !(is_word(char) || (number && char == '.'))).unwrap_or(rest.len());
        let word = &rest[..length];
        let member = self.text[..self.at].trim_end().ends_with('.') && !number;
        self.at += length;
        self.token(match (number, member) {
            (true, _) => Last::Operand,
            (_, true) => Last::Member,
            _ => Last::Word(word),
        });
    }

    fn punctuation(&mut self, rest: &str, first: char) {
        if rest.starts_with("++") || rest.starts_with("--") {
            self.at += 2;
            self.token(Last::Step);
            return;
        }
        self.level().angled |= first == '<';
        self.at += first.len_utf8();
        self.token(Last::Operator);
    }
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric()
        || matches!(char, '_' | '$' | '#' | '\\')
        || !(char.is_ascii() || char.is_whitespace())
}

/// True if what stands at `rest` can begin a statement, so that a line break
/// before it ends the one before.
fn starts(rest: &str, first: char) -> bool {
    if !is_word(first) {
        return matches!(first, '{' | '"' | '\'' | '@' | '!' | '~') && !rest.starts_with("!=")
            || rest.starts_with("++")
            || rest.starts_with("--");
    }
    let word = &rest[..rest.find(|char| !is_word(char)).unwrap_or(rest.len())];
    !CONTINUES.contains(&word)
}

/// The length of the regular expression that `line` begins with.
fn regex_length(line: &str) -> usize {
    let (mut escaped, mut class) = (false, false);
    for (index, char) in line.char_indices().skip(1) {
        if escaped {
            escaped = false;
            continue;
        }
        match char {
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return index + 1,
            _ => {}
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fits(text: &str) {
        assert_eq!(check(text), Ok(()), "{}", &text[..text.len().min(80)]);
    }

    #[track_caller]
    fn refused(text: &str) {
        assert!(matches!(check(text), Err(SourceError::TooDeep { .. })), "{}", &text[..text.len().min(80)]);
    }

    #[test]
    fn flat_texts_of_any_length_fit() {
        for line in [
            "const a = 1;",
            "a()\n",
            "{ a }",
            "function a() {}",
            "x = [1, 2]\n",
            "if (a) b()\n",
            "x = `${a} ${b}`\n",
            "a = /[/'\"`(]+/.test('(') ? 1 : 2\n",
            "s = \"((((\"\n",
            "// ((((\n",
            "/* (((( */",
            "a = b / c / d\n",
            "i++\n",
            "interface A { b: Map<string, number>; }",
            "type A =\n  | 'b'\n  | 'c'\n",
        ] {
            fits(&line.repeat(5_000));
        }
        fits(&format!("[{}]", "1, ".repeat(100_000)));
    }

    #[test]
    fn whatever_nests_is_refused() {
        for unit in [
            "(",
            "[",
            "{",
            "a=>",
            "a=>\n",
            "!",
            "!\n",
            "1+",
            "1\n+",
            "a.",
            "a\n.b()",
            "a?b:",
            "if(a)",
            "if(a)\n",
            "for(;;)\n",
            "if(a){}else ",
            "if(a){}\nelse ",
            "a:\n",
            "`${",
            "f(",
            "A<B,",
            "new ",
            "await\n",
            "a\n(",
            "do\n",
            "} (",
            "(')'+",
            "(\")\",",
            "(/)/,",
        ] {
            refused(&unit.repeat(10_000));
        }
    }

    #[test]
    fn unclear_slashes_cannot_hide_brackets() {
        let deep = "(".repeat(5_000);
        refused(&format!("{{}}/'/;{deep}'"));
        refused(&format!("await /'/;{deep}'"));
        refused(&format!("a\n++/'/;{deep}'"));
    }

    #[test]
    fn first_brace_that_closes_nothing_is_found() {
        assert_eq!(unopened_brace("a {}\n}"), Some(5));
        assert_eq!(unopened_brace("'}' + `${a}}` // }\n + /}/"), None);
    }
}
