//! What `--json` prints of a run, and text for terminals.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use code_mode::schema::to_json;
use code_mode::{CodeRun, ContentBlock};
use serde::Serialize;

use super::recorder::Recording;

/// One run, as `--json` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunJson<'a> {
    is_error: bool,
    content: &'a [ContentBlock],
    #[serde(flatten)]
    run: CodeRun<'a>,
    sub_calls: Vec<SubCallJson>,
}

/// A call that was started.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubCallJson {
    id: String,
    name: String,
    is_error: bool,
    start_ms: f64,
    duration_ms: f64,
}

impl RunJson<'_> {
    /// The line to print.
    pub(crate) fn text(recording: &Recording) -> io::Result<String> {
        let json = to_json(&RunJson::from(recording)).map_err(io::Error::other)?;
        Ok(json.to_text())
    }
}

impl<'a> From<&'a Recording> for RunJson<'a> {
    fn from(recording: &'a Recording) -> Self {
        let result = &recording.result;
        let numbered = recording.calls.iter().zip(1..);
        let sub_calls = numbered.filter_map(|(call, number)| {
            let started = call.started?;
            Some(SubCallJson {
                id: format!("call_1:code:{number}"),
                name: call.tool.to_string(),
                is_error: call.is_error,
                start_ms: ms(started),
                duration_ms: ms(call.settled.unwrap_or(recording.took).saturating_sub(started)),
            })
        });
        Self {
            is_error: result.is_error(),
            content: result.content(),
            run: CodeRun::of(result),
            sub_calls: sub_calls.collect(),
        }
    }
}

/// Milliseconds, to the microsecond.
pub(crate) fn ms(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// Makes visible what would steer a terminal or turn the reading direction of the text around it.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_steering) {
        return Cow::Borrowed(text);
    }
    let picture = |char: char| match char {
        '\0'..='\x1f' if is_steering(char) => {
            char::from_u32(0x2400 + u32::from(char)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ if is_steering(char) => char::REPLACEMENT_CHARACTER,
        _ => char,
    };
    Cow::Owned(text.chars().map(picture).collect())
}

fn is_steering(char: char) -> bool {
    let turns_direction = matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns_direction || char.is_control() && char != '\n' && char != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_characters_become_visible_and_others_stay() {
        assert!(matches!(visible("a\tb\né😀"), Cow::Borrowed(_)));
        assert_eq!(visible("\x1b[31mred\0\r\x7f\u{9b}"), "␛[31mred␀␍\u{fffd}\u{fffd}");
        assert_eq!(visible("a\u{202e}b\u{2066}c"), "a\u{fffd}b\u{fffd}c");
    }
}
