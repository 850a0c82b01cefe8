//! Text of values: compact, as `JSON.stringify` writes it.

use super::{Array, Json, Object, ObjectIter};

impl Json {
    /// The value as compact JSON text, byte for byte what `JSON.stringify` gives.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text);
        text
    }

    /// Appends the value as compact JSON text.
    pub fn write_text(&self, text: &mut String) {
        write(self, text);
    }

    /// How many bytes [`to_text`](Json::to_text) has, without making the text.
    ///
    /// Source: contract 6.6.
    pub fn text_len(&self) -> usize {
        let mut length = Length(0);
        write(self, &mut length);
        length.0
    }
}

/// Appends `value` as a JSON string with the escapes of `JSON.stringify`.
///
/// Source: contract 6.6.
pub fn write_json_string(value: &str, text: &mut String) {
    text.push('"');
    if is_plain(value) {
        text.push_str(value);
    } else {
        write_escaped(value, text);
    }
    text.push('"');
}

/// Whether nothing in `value` needs an escape; written so that the compiler takes many bytes at once.
pub(super) fn is_plain(value: &str) -> bool {
    let needs_escape = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let chunks = value.as_bytes().chunks_exact(16);
    let rest = chunks.remainder();
    let mut chunks = chunks;
    chunks.all(|chunk| !chunk.iter().fold(false, |found, byte| found | needs_escape(byte)))
        && !rest.iter().any(needs_escape)
}

fn write_escaped(value: &str, text: &mut String) {
    let mut written = 0;
    for (position, byte) in value.bytes().enumerate() {
        if ESCAPED_LEN[usize::from(byte)] == 1 {
            continue;
        }
        text.push_str(&value[written..position]);
        written = position + 1;
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            0x08 => text.push_str("\\b"),
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            0x0C => text.push_str("\\f"),
            b'\r' => text.push_str("\\r"),
            _ => {
                text.push_str("\\u00");
                text.push(char::from(HEX[usize::from(byte >> 4)]));
                text.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    text.push_str(&value[written..]);
}

/// How many bytes [`write_json_string`] appends, quotes included.
pub fn json_string_len(value: &str) -> usize {
    if is_plain(value) {
        return 2 + value.len();
    }
    2 + value.bytes().map(|byte| usize::from(ESCAPED_LEN[usize::from(byte)])).sum::<usize>()
}

/// Appends `value` as ECMAScript number text: `1e+21`, `1e-7`, `123456789012345680000`.
///
/// Numbers that JSON cannot carry are written as ECMAScript names them: `NaN`, `Infinity`.
pub fn write_number(value: f64, text: &mut String) {
    with_number_text(value, |number| text.push_str(number));
}

const HEX: [u8; 16] = *b"0123456789abcdef";

/// Bytes that each byte of a string takes in JSON text.
const ESCAPED_LEN: [u8; 256] = {
    let mut table = [1; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = 6;
        byte += 1;
    }
    table[0x08] = 2;
    table[b'\t' as usize] = 2;
    table[b'\n' as usize] = 2;
    table[0x0C] = 2;
    table[b'\r' as usize] = 2;
    table[b'"' as usize] = 2;
    table[b'\\' as usize] = 2;
    table
};

fn with_number_text<R>(value: f64, use_text: impl FnOnce(&str) -> R) -> R {
    let integer = value as i32;
    if f64::from(integer) == value {
        let mut digits = [0; 11];
        return use_text(small_integer_text(integer, &mut digits));
    }
    use_text(ryu_js::Buffer::new().format(value))
}

/// Decimal text of an integer; most numbers are small integers, which need no float printing.
fn small_integer_text(integer: i32, digits: &mut [u8; 11]) -> &str {
    let mut start = digits.len();
    let mut rest = integer.unsigned_abs();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        start -= 1;
        digits[start] = b'-';
    }
    std::str::from_utf8(&digits[start..]).expect("digits are ASCII")
}

/// What text is written to: a string, or a count of its bytes.
trait Sink {
    fn mark(&mut self, mark: char);
    fn word(&mut self, word: &str);
    fn string(&mut self, value: &str);
    /// A name and its colon; `is_plain` says that it needs no escape.
    fn name(&mut self, name: &str, is_plain: bool);
    fn number(&mut self, value: f64);
}

impl Sink for String {
    fn mark(&mut self, mark: char) {
        self.push(mark);
    }

    fn word(&mut self, word: &str) {
        self.push_str(word);
    }

    fn string(&mut self, value: &str) {
        write_json_string(value, self);
    }

    fn name(&mut self, name: &str, is_plain: bool) {
        if is_plain {
            self.push('"');
            self.push_str(name);
            self.push_str("\":");
        } else {
            write_json_string(name, self);
            self.push(':');
        }
    }

    fn number(&mut self, value: f64) {
        write_number(value, self);
    }
}

struct Length(usize);

impl Sink for Length {
    fn mark(&mut self, _: char) {
        self.0 += 1;
    }

    fn word(&mut self, word: &str) {
        self.0 += word.len();
    }

    fn string(&mut self, value: &str) {
        self.0 += json_string_len(value);
    }

    fn name(&mut self, name: &str, is_plain: bool) {
        self.0 += 1 + if is_plain { name.len() + 2 } else { json_string_len(name) };
    }

    fn number(&mut self, value: f64) {
        self.0 += with_number_text(value, str::len);
    }
}

/// A container whose elements are being written.
enum Open<'a> {
    Array(std::slice::Iter<'a, Json>),
    /// With whether its names need no escape.
    Object(ObjectIter<'a>, bool),
}

fn write(value: &Json, sink: &mut impl Sink) {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            open.extend(write_start(value, sink));
        }
        // Goes on with the innermost container until it ends or another one starts inside.
        match open.last_mut() {
            None => return,
            Some(Open::Array(rest)) => {
                while let Some(item) = rest.next() {
                    if !write_scalar(item, sink) {
                        next = Some(item);
                        break;
                    }
                    if rest.len() > 0 {
                        sink.mark(',');
                    }
                }
                if next.is_none() {
                    sink.mark(']');
                }
            }
            Some(Open::Object(rest, is_plain)) => {
                while let Some((name, item)) = rest.next() {
                    sink.name(name, *is_plain);
                    if !write_scalar(item, sink) {
                        next = Some(item);
                        break;
                    }
                    if rest.len() > 0 {
                        sink.mark(',');
                    }
                }
                if next.is_none() {
                    sink.mark('}');
                }
            }
        }
        if next.is_none() {
            open.pop();
            let more = match open.last() {
                Some(Open::Array(rest)) => rest.len(),
                Some(Open::Object(rest, _)) => rest.len(),
                None => 0,
            };
            if more > 0 {
                sink.mark(',');
            }
        }
    }
}

/// Writes a scalar whole or the start of a container, whose elements come next.
fn write_start<'a>(value: &'a Json, sink: &mut impl Sink) -> Option<Open<'a>> {
    match value {
        Json::Array(array) => {
            sink.mark('[');
            Some(Open::Array(array.iter()))
        }
        Json::Object(object) => {
            sink.mark('{');
            Some(Open::Object(object.iter(), object.shape().is_plain))
        }
        scalar => {
            write_scalar(scalar, sink);
            None
        }
    }
}

/// Writes `value` if it is a scalar; `false` means that it is a container.
fn write_scalar(value: &Json, sink: &mut impl Sink) -> bool {
    match value {
        Json::Null => sink.word("null"),
        Json::Bool(true) => sink.word("true"),
        Json::Bool(false) => sink.word("false"),
        Json::Number(number) => sink.number(number.get()),
        Json::String(text) => sink.string(text),
        Json::Array(_) | Json::Object(_) => return false,
    }
    true
}

impl Array {
    /// The array as compact JSON text.
    pub fn to_text(&self) -> String {
        Json::Array(self.clone()).to_text()
    }
}

impl Object {
    /// The object as compact JSON text.
    pub fn to_text(&self) -> String {
        Json::Object(self.clone()).to_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn check(value: &Json, expected: &str) {
        assert_eq!(value.to_text(), expected);
        assert_eq!(value.text_len(), expected.len(), "{expected}");
        assert_eq!(format!("{value} {value:?}"), format!("{expected} {expected}"));
    }

    fn check_number(value: f64, expected: &str) {
        let mut text = String::new();
        write_number(value, &mut text);
        assert_eq!(text, expected);
    }

    #[test]
    fn values_are_written_without_spaces() {
        check(&json!(null), "null");
        check(
            &json!([true, false, null, [], {}, [[]], {"a": {}}]),
            r#"[true,false,null,[],{},[[]],{"a":{}}]"#,
        );
        check(&json!({"a": [1, {"b": 2}, 3], "c": "d"}), r#"{"a":[1,{"b":2},3],"c":"d"}"#);
    }

    #[test]
    fn strings_are_escaped_as_json_stringify_does() {
        check(
            &json!("\u{0}\u{1f}\u{8}\t\n\u{c}\r\"\\/\u{7f}\u{2028}é😀"),
            "\"\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\/\u{7f}\u{2028}é😀\"",
        );
        check(&json!({"a\"b": 1}), r#"{"a\"b":1}"#);
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        for (value, expected) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (0.1, "0.1"),
            (-0.5, "-0.5"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (1e-7, "1e-7"),
            (1e-6, "0.000001"),
            (5e-324, "5e-324"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (2_147_483_647.0, "2147483647"),
            (-2_147_483_648.0, "-2147483648"),
            (2_147_483_648.0, "2147483648"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (-0.0, "0"),
        ] {
            check_number(value, expected);
        }
    }
}
