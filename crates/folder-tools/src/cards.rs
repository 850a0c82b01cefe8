//! What the cards of all four tools have in common (contract 3.13).

use code_mode_registry::{CallKind, CallView, Location, ResultView, ToolOutcomeView};
use code_mode_schema::Json;

/// The card of a call that touches one place.
pub(crate) fn call(kind: CallKind, title: String, path: &str, line: Option<u32>) -> CallView {
    CallView::Generic {
        title: title.into(),
        kind: Some(kind),
        raw_input: None,
        content: None,
        locations: Some(vec![Location { path: path.into(), line }]),
    }
}

/// The card of a finished call: the content, titled from the meta of a success.
pub(crate) fn result(
    outcome: &ToolOutcomeView<'_>,
    title: impl FnOnce(&Json) -> Option<String>,
) -> ResultView {
    let title = outcome.meta.filter(|_| !outcome.is_error).and_then(title);
    ResultView::Generic { title: title.map(Into::into), content: Some(outcome.content.to_vec()) }
}

/// `1 match`, `2 matches`.
pub(crate) fn count(number: i64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
