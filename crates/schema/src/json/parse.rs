//! Parsing JSON text, to any depth, with errors that say where and what was expected.

use std::fmt;

use super::keys::{Keys, Naming};
use super::object::Unfinished;
use super::{Array, Json, Lossy, Number, Object, Path};

impl Json {
    /// Parses JSON text (RFC 8259), to any nesting depth.
    ///
    /// What JSON text can say but canonical JSON cannot hold is refused: escapes of lone
    /// surrogates, negative zero, and numbers that overflow to infinity. Integers beyond 2^53 are
    /// read as the nearest double, as in JavaScript. Of members with the same name the last wins.
    ///
    /// # Errors
    ///
    /// [`ParseError`] with the place, what was expected there, and for a lossy value its path.
    ///
    /// Source: contract 3.4, decision 17.
    pub fn parse(text: &str) -> Result<Json, ParseError> {
        Parser::new(text).parse()
    }
}

impl std::str::FromStr for Json {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Json, ParseError> {
        Json::parse(text)
    }
}

/// Text is not canonical JSON: what is wrong, and where.
///
/// Prints as `expected a value at line 1 column 5`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Where, in bytes from the start of the text.
    pub offset: usize,
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1 in UTF-16 code units.
    pub column: usize,
    /// The path of the value that was being read, such as `items[3]`; empty for the root.
    pub path: String,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else stood where this was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A string holds a control character that must be escaped.
    #[error("control character U+{0:04X} must be escaped")]
    ControlCharacter(u8),
    /// The value is JSON text but would lose something.
    #[error("the value {0}")]
    Lossy(Lossy),
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ParseErrorKind::Lossy(reason) => {
                let path = if self.path.is_empty() { "value" } else { &self.path };
                write!(formatter, "{path} {reason}")?;
            }
            kind => write!(formatter, "{kind}")?,
        }
        write!(formatter, " at line {} column {}", self.line, self.column)
    }
}

impl std::error::Error for ParseError {}

const VALUE: ParseErrorKind = ParseErrorKind::Expected("a value");
const DIGIT: ParseErrorKind = ParseErrorKind::Expected("a digit");

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Where the next byte is read; errors point here.
    at: usize,
    keys: Keys,
    /// Elements of all open arrays; each takes its tail when it closes.
    items: Vec<Json>,
    objects: Unfinished,
    open: Vec<Open>,
    /// Holds a string with escapes while it is decoded.
    decoded: String,
}

/// A container that is not closed yet, with where its values start.
enum Open {
    Array(usize),
    Object(usize, Naming),
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        Parser {
            text,
            bytes: text.as_bytes(),
            at: 0,
            keys: Keys::default(),
            items: Vec::new(),
            objects: Unfinished::default(),
            open: Vec::new(),
            decoded: String::new(),
        }
    }

    fn parse(mut self) -> Result<Json, ParseError> {
        match self.document() {
            Ok(value) => Ok(value),
            Err(kind) => Err(self.error(kind)),
        }
    }

    fn document(&mut self) -> Result<Json, ParseErrorKind> {
        loop {
            self.skip_whitespace();
            let value = match self.bytes.get(self.at) {
                Some(b'[') => {
                    self.at += 1;
                    self.skip_whitespace();
                    if !self.take(b']') {
                        self.open.push(Open::Array(self.items.len()));
                        continue;
                    }
                    Json::Array(Array::default())
                }
                Some(b'{') => {
                    self.at += 1;
                    self.skip_whitespace();
                    if !self.take(b'}') {
                        let mut naming = Naming::default();
                        self.key(&mut naming, ParseErrorKind::Expected("a property name or `}`"))?;
                        self.open.push(Open::Object(self.objects.start(), naming));
                        continue;
                    }
                    Json::Object(Object::new())
                }
                _ => self.scalar()?,
            };
            if let Some(root) = self.place(value)? {
                return Ok(root);
            }
        }
    }

    /// Puts a finished value where it belongs and closes the containers that end after it.
    fn place(&mut self, mut value: Json) -> Result<Option<Json>, ParseErrorKind> {
        loop {
            self.skip_whitespace();
            let next = self.bytes.get(self.at);
            match self.open.pop() {
                None if next.is_none() => return Ok(Some(value)),
                None => return Err(ParseErrorKind::Expected("the end of the text")),
                Some(Open::Array(start)) => {
                    self.items.push(value);
                    if next == Some(&b']') {
                        self.at += 1;
                        value = Json::Array(Array::of(self.items.drain(start..)));
                        continue;
                    }
                    self.open.push(Open::Array(start));
                    if next != Some(&b',') {
                        return Err(ParseErrorKind::Expected("`,` or `]`"));
                    }
                    self.at += 1;
                    return Ok(None);
                }
                Some(Open::Object(start, mut naming)) => {
                    self.objects.push(value);
                    if next == Some(&b'}') {
                        self.at += 1;
                        value = Json::Object(naming.finish(start, &mut self.objects, &mut self.keys));
                        continue;
                    }
                    let mut result = Err(ParseErrorKind::Expected("`,` or `}`"));
                    if next == Some(&b',') {
                        self.at += 1;
                        self.skip_whitespace();
                        result = self.key(&mut naming, ParseErrorKind::Expected("a property name"));
                    }
                    self.open.push(Open::Object(start, naming));
                    return result.map(|()| None);
                }
            }
        }
    }

    /// Reads a property name and its colon.
    fn key(&mut self, naming: &mut Naming, otherwise: ParseErrorKind) -> Result<(), ParseErrorKind> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(otherwise);
        }
        match self.string(Lossy::LoneSurrogateInKey)? {
            Decoded::AsWritten(name) => naming.push(name, &mut self.keys),
            Decoded::InBuffer => naming.push(&self.decoded, &mut self.keys),
        }
        self.skip_whitespace();
        if !self.take(b':') {
            return Err(ParseErrorKind::Expected("`:`"));
        }
        Ok(())
    }

    fn scalar(&mut self) -> Result<Json, ParseErrorKind> {
        match self.bytes.get(self.at) {
            Some(b'"') => match self.string(Lossy::LoneSurrogate)? {
                Decoded::AsWritten(text) => Ok(Json::from(text)),
                Decoded::InBuffer => Ok(Json::from(self.decoded.as_str())),
            },
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(VALUE),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, ParseErrorKind> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(VALUE);
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Number, ParseErrorKind> {
        let start = self.at;
        let negative = self.take(b'-');
        let digits = self.at;
        let mut integer: u64 = 0;
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => {
                while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
                    integer = integer.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
                    self.at += 1;
                }
            }
            _ => return Err(DIGIT),
        }
        let is_plain = !matches!(self.bytes.get(self.at), Some(b'.' | b'e' | b'E'));
        // Fifteen digits are below 2^53, hence exact.
        let value = if is_plain && self.at - digits <= 15 {
            let magnitude = integer as f64;
            if negative { -magnitude } else { magnitude }
        } else {
            self.fraction_and_exponent()?;
            self.text[start..self.at].parse().expect("JSON numbers are Rust float literals")
        };
        Number::new(value).map_err(|reason| {
            self.at = start;
            ParseErrorKind::Lossy(reason)
        })
    }

    fn fraction_and_exponent(&mut self) -> Result<(), ParseErrorKind> {
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'-') {
                self.take(b'+');
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ParseErrorKind> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        if self.at == start { Err(DIGIT) } else { Ok(()) }
    }

    /// Reads a string that starts at a quote; `lone` is the reason if it has half a pair.
    fn string(&mut self, lone: Lossy) -> Result<Decoded<'a>, ParseErrorKind> {
        self.at += 1;
        let start = self.at;
        self.skip_plain()?;
        if self.bytes[self.at] == b'"' {
            self.at += 1;
            return Ok(Decoded::AsWritten(&self.text[start..self.at - 1]));
        }
        self.decoded.clear();
        self.decoded.push_str(&self.text[start..self.at]);
        loop {
            if self.take(b'"') {
                return Ok(Decoded::InBuffer);
            }
            let character = self.escape(&lone)?;
            self.decoded.push(character);
            let start = self.at;
            self.skip_plain()?;
            self.decoded.push_str(&self.text[start..self.at]);
        }
    }

    /// Goes on to the next quote or backslash.
    fn skip_plain(&mut self) -> Result<(), ParseErrorKind> {
        let rest = &self.bytes[self.at..];
        let ends = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
        match rest.iter().position(ends) {
            Some(length) if rest[length] >= 0x20 => {
                self.at += length;
                Ok(())
            }
            Some(length) => {
                self.at += length;
                Err(ParseErrorKind::ControlCharacter(rest[length]))
            }
            None => {
                self.at = self.bytes.len();
                Err(ParseErrorKind::Expected("the end of the string"))
            }
        }
    }

    /// Reads an escape, which starts at a backslash.
    fn escape(&mut self, lone: &Lossy) -> Result<char, ParseErrorKind> {
        let start = self.at;
        let character = match self.bytes.get(start + 1) {
            Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(lone),
            _ => return Err(ParseErrorKind::Expected("an escape such as `\\n` or `\\u0041`")),
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self, lone: &Lossy) -> Result<char, ParseErrorKind> {
        let start = self.at;
        let first = self.hex_digits()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        if first < 0xDC00 && self.bytes[self.at..].starts_with(b"\\u") {
            let second = self.hex_digits()?;
            if (0xDC00..0xE000).contains(&second) {
                let scalar = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(scalar).expect("a surrogate pair is a character"));
            }
        }
        self.at = start;
        Err(ParseErrorKind::Lossy(lone.clone()))
    }

    /// Reads `\uXXXX`.
    fn hex_digits(&mut self) -> Result<u32, ParseErrorKind> {
        self.at += 2;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.bytes.get(self.at).and_then(|&byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(ParseErrorKind::Expected("four hexadecimal digits"));
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(taken);
        taken
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ParseError {
            kind,
            offset: self.at,
            line: 1 + before.bytes().filter(|&byte| byte == b'\n').count(),
            column: 1 + before[line_start..].encode_utf16().count(),
            path: self.path().into(),
        }
    }

    fn path(&self) -> Path {
        let mut path = Path::new();
        let arrays = self.open.iter().filter_map(|open| match open {
            Open::Array(start) => Some(*start),
            Open::Object(..) => None,
        });
        // What lies between an array and the next one inside are its elements.
        let mut ends = arrays.skip(1).chain([self.items.len()]);
        for open in &self.open {
            match open {
                Open::Array(start) => path.push_index(ends.next().unwrap_or(*start) - start),
                Open::Object(_, naming) => path.push_key(naming.last()),
            }
        }
        path
    }
}

/// A string that has been read.
enum Decoded<'a> {
    /// Without escapes: a slice of the text.
    AsWritten(&'a str),
    /// In the parser's buffer.
    InBuffer,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Json::parse(text).map(|value| value.to_text()), Ok(expected.to_owned()), "{text}");
    }

    fn check_error(text: &str, offset: usize, expected: &str) {
        let error = Json::parse(text).expect_err(text);
        assert_eq!((error.offset, error.to_string().as_str()), (offset, expected), "{text}");
    }

    #[test]
    fn every_kind_of_value_is_read() {
        check(" null ", "null");
        check("[true,false]", "[true,false]");
        check("\t{ \"a\" : [ 1 , { } , [ ] ] ,\r\n\"b\":\"c\" }", r#"{"a":[1,{},[]],"b":"c"}"#);
        check(r#""\"\\\/\b\f\n\r\té\ud83d\uDE00\u0000é""#, "\"\\\"\\\\/\\b\\f\\n\\r\\té😀\\u0000é\"");
    }

    #[test]
    fn numbers_become_the_nearest_double() {
        for (text, expected) in [
            ("0", "0"),
            ("-1", "-1"),
            ("1.0", "1"),
            ("0.10", "0.1"),
            ("1e2", "100"),
            ("1E+2", "100"),
            ("25e-1", "2.5"),
            ("123456789012345", "123456789012345"),
            ("9007199254740993", "9007199254740992"),
            ("-123456789012345678901234567890", "-1.2345678901234568e+29"),
            ("5e-324", "5e-324"),
            ("1e-400", "0"),
            ("0e99", "0"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn last_of_repeated_members_wins_in_the_first_place() {
        check(r#"{"b":1,"a":2,"b":3,"1":4}"#, r#"{"1":4,"b":3,"a":2}"#);
    }

    #[test]
    fn like_objects_share_their_keys() {
        let value = Json::parse(r#"[{"name":1},{"name":2}]"#).unwrap();
        let object = |at| value.index(at).and_then(Json::as_object).unwrap();
        assert!(object(0).has_shape_of(object(1)));
    }

    #[test]
    fn errors_say_what_was_expected_and_where() {
        for (text, offset, expected) in [
            ("", 0, "expected a value at line 1 column 1"),
            ("  ", 2, "expected a value at line 1 column 3"),
            ("[1,]", 3, "expected a value at line 1 column 4"),
            ("[1 2]", 3, "expected `,` or `]` at line 1 column 4"),
            ("[1", 2, "expected `,` or `]` at line 1 column 3"),
            ("[", 1, "expected a value at line 1 column 2"),
            ("{", 1, "expected a property name or `}` at line 1 column 2"),
            ("{a:1}", 1, "expected a property name or `}` at line 1 column 2"),
            ("{\"a\":1,}", 7, "expected a property name at line 1 column 8"),
            ("{\"a\" 1}", 5, "expected `:` at line 1 column 6"),
            ("{\"a\":1 \"b\"}", 7, "expected `,` or `}` at line 1 column 8"),
            ("1 2", 2, "expected the end of the text at line 1 column 3"),
            ("tru", 0, "expected a value at line 1 column 1"),
            ("nulll", 4, "expected the end of the text at line 1 column 5"),
            ("NaN", 0, "expected a value at line 1 column 1"),
            ("'a'", 0, "expected a value at line 1 column 1"),
            ("\u{feff}1", 0, "expected a value at line 1 column 1"),
            ("-", 1, "expected a digit at line 1 column 2"),
            ("+1", 0, "expected a value at line 1 column 1"),
            ("01", 1, "expected the end of the text at line 1 column 2"),
            ("1.", 2, "expected a digit at line 1 column 3"),
            (".5", 0, "expected a value at line 1 column 1"),
            ("1e", 2, "expected a digit at line 1 column 3"),
            ("1e+", 3, "expected a digit at line 1 column 4"),
            ("\"abc", 4, "expected the end of the string at line 1 column 5"),
            ("\"a\nb\"", 2, "control character U+000A must be escaped at line 1 column 3"),
            ("\"\\x\"", 1, "expected an escape such as `\\n` or `\\u0041` at line 1 column 2"),
            ("\"\\u12g4\"", 5, "expected four hexadecimal digits at line 1 column 6"),
            ("\"\\u", 3, "expected four hexadecimal digits at line 1 column 4"),
            ("[\n  \"é😀\", x]", 14, "expected a value at line 2 column 10"),
        ] {
            check_error(text, offset, expected);
        }
    }

    #[test]
    fn lossy_values_are_refused_with_their_path() {
        for (text, offset, expected) in [
            ("-0", 0, "value is -0 at line 1 column 1"),
            ("[1, -0.0]", 4, "[1] is -0 at line 1 column 5"),
            ("{\"a\":[[],[0,-0e5]]}", 12, "a[1][1] is -0 at line 1 column 13"),
            ("{\"a\":-1e-400}", 5, "a is -0 at line 1 column 6"),
            ("[{}, {\"b\":1e999}]", 10, "[1].b is Infinity at line 1 column 11"),
            ("-1e999", 0, "value is -Infinity at line 1 column 1"),
            ("[\"\\ud800\"]", 2, "[0] is a string with a lone surrogate at line 1 column 3"),
            ("\"\\udc00\\ud800\"", 1, "value is a string with a lone surrogate at line 1 column 2"),
            ("\"\\ud800\\u0041\"", 1, "value is a string with a lone surrogate at line 1 column 2"),
            ("{\"\\udfff\":1}", 2, "value has a key with a lone surrogate at line 1 column 3"),
        ] {
            check_error(text, offset, expected);
        }
    }
}
