//! Stripping: the types of a parsed program become blanks.

use std::sync::{Arc, Mutex, PoisonError};

use swc_common::{
    BytePos, SourceMap, Span,
    errors::{DiagnosticBuilder, Emitter, HANDLER, Handler},
    sync::Lrc,
};
use swc_ts_fast_strip::{Mode, Options, operate};

use super::{
    SourceError,
    parse::{HEAD, TAIL, position},
};

/// Overwrites the types in `text`, which parses, with blanks.
pub(super) fn strip(text: &str) -> Result<String, SourceError> {
    let map: Lrc<SourceMap> = Lrc::default();
    let complaints = Arc::new(Mutex::new(Vec::new()));
    let handler = Handler::with_emitter(false, false, Box::new(Collect(Arc::clone(&complaints))));
    let options = Options {
        module: Some(false),
        mode: Mode::StripOnly,
        parser: super::parse::typescript(),
        ..Options::default()
    };
    let wrapped = format!("{HEAD}{text}{TAIL}");
    let stripped = HANDLER.set(&handler, || operate(&map, &handler, wrapped, options));
    match stripped {
        Ok(output) => Ok(body(&output.code).to_owned()),
        Err(error) => {
            let mut complaints = complaints.lock().unwrap_or_else(PoisonError::into_inner);
            complaints.sort_by_key(|(place, _)| *place);
            // The map holds this one file, which begins where the map begins.
            let start = map.files().first().map_or(BytePos(1), |file| file.start_pos);
            let (place, message) = complaints.first().cloned().unwrap_or((start, error.message));
            let (message, advice) = worded(message);
            Err(SourceError::Syntax { message, position: position(text, start, place), advice })
        }
    }
}

/// What stands between the wrapper's lines.
fn body(code: &str) -> &str {
    let code = code.split_once('\n').map_or("", |(_, rest)| rest);
    code.strip_suffix(TAIL).unwrap_or(code)
}

/// The contract's text for a construct that cannot be erased, and what to write
/// instead. Decision 12.
fn worded(message: String) -> (String, Option<&'static str>) {
    const SUFFIX: &str = "is not supported in strip-only mode";
    let advice = [
        ("TypeScript enum", "use a const object"),
        ("TypeScript namespace declaration", "use a plain object or functions"),
        ("TypeScript parameter property", "declare the field and assign it in the constructor"),
        ("TypeScript import equals declaration", "call the functions of `tools`; nothing has to be imported"),
        ("TypeScript export assignment", "use `return` to give a result"),
    ];
    if message.contains("angle-bracket syntax") {
        return (format!("TypeScript angle-bracket type assertion {SUFFIX}"), Some("write `expr as T`"));
    }
    let advice = advice.iter().find(|(start, _)| message.starts_with(start)).map(|(_, advice)| *advice);
    (message, advice)
}

/// Keeps the place and the message of each complaint.
struct Collect(Arc<Mutex<Vec<(BytePos, String)>>>);

impl Emitter for Collect {
    fn emit(&mut self, diagnostic: &mut DiagnosticBuilder<'_>) {
        let place = diagnostic.span.primary_span().map_or(BytePos(0), Span::lo);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((place, diagnostic.message()));
    }
}
