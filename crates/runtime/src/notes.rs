//! Notes: one last line for the model where the result alone would mislead it.
//! Decision 21.

use std::sync::Arc;

use code_mode_schema::Json;

use crate::dispatch::Tally;
use crate::media::Forwarded;
use crate::render;
use crate::seam::{Failure, FailureKind, RunOutcome};

/// What a program is told whose last value is lost (decision 21).
pub(crate) const NOT_RETURNED: &str = "its value was not returned";
/// The longest note, in characters.
const MAX_CHARS: usize = 400;

/// What was seen of the sub-calls when the program ended: names and counts.
#[derive(Default)]
pub(crate) struct Seen {
    running: Vec<(Arc<str>, usize)>,
    queued: Vec<(Arc<str>, usize)>,
    succeeded: Vec<(Arc<str>, usize)>,
}

impl Seen {
    pub(crate) fn of(tally: &Tally) -> Self {
        Self { running: tally.running(), queued: tally.queued(), succeeded: tally.succeeded() }
    }
}

/// Whether a run ended as one does whose program forgot something: it gave nothing, or an `undefined` or a promise
/// where there should be a value. Only then is the program's text worth a second look.
pub(crate) fn is_puzzling(outcome: &RunOutcome) -> bool {
    let strange = |text: &str| text.contains("undefined") || text.contains("Promise");
    match &outcome.end {
        Ok(result) => {
            render::is_silent(&outcome.logs, result.as_ref())
                || outcome.logs.iter().any(|entry| strange(entry))
                || result.as_ref().and_then(Json::as_str).is_some_and(strange)
        }
        Err(failure) => match failure.kind {
            FailureKind::Exception => failure.message.starts_with("TypeError: "),
            FailureKind::InvalidOutput => strange(&failure.message),
            _ => false,
        },
    }
}

/// The note for a run, without its leading line break. `oversight` is what a second look at a
/// [puzzling](is_puzzling) program found.
pub(crate) fn note(
    outcome: &RunOutcome,
    seen: &Seen,
    media: &Forwarded,
    oversight: Option<String>,
) -> Option<String> {
    let mut parts = Vec::new();
    // First, as the names in the others may be long.
    if media.left_out > 0 {
        parts.push(format!(
            "{} of the {} images and sounds of the tool calls are left out: a run hands back at most {} bytes of them (maxMediaBytes); ask for fewer or smaller ones",
            media.left_out,
            media.left_out + media.blocks.len(),
            media.limit_bytes,
        ));
    }
    let is_missing_told = oversight.as_ref().is_some_and(|found| found.contains(NOT_RETURNED));
    parts.extend(oversight);
    match &outcome.end {
        Ok(result) => {
            let is_silent = render::is_silent(&outcome.logs, result.as_ref());
            if is_silent && outcome.ends_with_expression && !is_missing_told {
                parts.push(format!(
                    "the last statement is an expression and {NOT_RETURNED}; write `return` before it"
                ));
            }
            if !seen.running.is_empty() {
                parts.push(format!(
                    "the program ended while these tool calls were still running; they were aborted: {}",
                    names(&seen.running)
                ));
            }
            if !seen.queued.is_empty() {
                parts.push(format!(
                    "the program ended before these tool calls had begun; they were dropped: {}",
                    names(&seen.queued)
                ));
            }
        }
        Err(failure) => {
            if failure.kind == FailureKind::InvalidOutput
                && failure.message.ends_with(": value is a function")
            {
                parts.push(
                    "call the function that is returned, or write its body alone as the program".to_owned(),
                );
            }
            if let Some(name) = missing_global(failure) {
                parts.push(format!(
                    "a program has no `{name}`: no modules, network, files or processes; everything outside is reached through `tools`"
                ));
            }
            if !seen.succeeded.is_empty() {
                parts.push(format!(
                    "these tool calls had succeeded before the failure: {}",
                    names(&seen.succeeded)
                ));
            }
        }
    }
    (!parts.is_empty()).then(|| capped(format!("Note: {}.", parts.join(". Also, "))))
}

/// Globals of other environments, which models use from habit.
const ELSEWHERE: [&str; 16] = [
    "Buffer",
    "Bun",
    "Deno",
    "XMLHttpRequest",
    "__dirname",
    "__filename",
    "axios",
    "document",
    "exports",
    "fetch",
    "fs",
    "global",
    "module",
    "process",
    "require",
    "window",
];

/// The one of these that the program failed for want of.
fn missing_global(failure: &Failure) -> Option<&str> {
    let (name, _) = failure.message.strip_prefix("ReferenceError: ")?.split_once(" is not defined")?;
    let name = name.trim_matches('\'');
    ELSEWHERE.contains(&name).then_some(name)
}

fn names(counts: &[(Arc<str>, usize)]) -> String {
    let named = counts.iter().map(|(name, count)| match count {
        1 => name.to_string(),
        count => format!("{name} ({count} times)"),
    });
    named.collect::<Vec<_>>().join(", ")
}

fn capped(note: String) -> String {
    if note.chars().count() <= MAX_CHARS {
        return note;
    }
    note.chars().take(MAX_CHARS - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use code_mode_registry::ContentBlock;

    use super::*;

    fn note(outcome: &RunOutcome, seen: &Seen) -> Option<String> {
        super::note(outcome, seen, &Forwarded::default(), None)
    }

    fn outcome(end: Result<Option<Json>, Failure>) -> RunOutcome {
        RunOutcome { logs: Vec::new(), end, ends_with_expression: true }
    }

    fn seen(running: &[(&str, usize)], succeeded: &[(&str, usize)]) -> Seen {
        let own = |counts: &[(&str, usize)]| {
            counts.iter().map(|(name, count)| (Arc::from(*name), *count)).collect()
        };
        Seen { running: own(running), succeeded: own(succeeded), ..Seen::default() }
    }

    #[test]
    fn nothing_is_noted_where_nothing_misleads() {
        assert_eq!(note(&outcome(Ok(Some(1.into()))), &seen(&[], &[("a", 3)])), None);
        let failure = Failure::new(FailureKind::Exception, "x");
        assert_eq!(note(&outcome(Err(failure)), &seen(&[], &[])), None);
    }

    #[test]
    fn aborted_and_succeeded_calls_are_named_with_counts() {
        let aborted = note(&outcome(Ok(Some(1.into()))), &seen(&[("a", 1), ("b", 2)], &[])).unwrap();
        assert!(aborted.ends_with("they were aborted: a, b (2 times)."), "{aborted}");
        let failure = Failure::new(FailureKind::Exception, "x");
        let failed = note(&outcome(Err(failure)), &seen(&[], &[("write", 3)])).unwrap();
        assert_eq!(failed, "Note: these tool calls had succeeded before the failure: write (3 times).");
    }

    #[test]
    fn calls_that_had_not_begun_are_told_from_those_that_ran() {
        let seen = Seen { queued: vec![("b".into(), 3)], ..seen(&[("a", 1)], &[]) };
        let text = note(&outcome(Ok(Some(1.into()))), &seen).unwrap();
        assert!(text.contains("they were aborted: a. Also, the program ended before"), "{text}");
        assert!(text.ends_with("they were dropped: b (3 times)."), "{text}");
    }

    #[test]
    fn globals_of_other_environments_are_explained() {
        let text = |message: &str| {
            note(&outcome(Err(Failure::new(FailureKind::Exception, message))), &seen(&[], &[]))
        };
        for message in
            ["ReferenceError: fetch is not defined\n  at x", "ReferenceError: 'fetch' is not defined"]
        {
            assert!(text(message).is_some_and(|text| text.starts_with("Note: a program has no `fetch`: ")));
        }
        assert_eq!(text("ReferenceError: total is not defined"), None);
        assert_eq!(text("Error: fetch is not defined"), None);
    }

    #[test]
    fn value_that_was_not_returned_is_noted() {
        let silent = note(&outcome(Ok(None)), &seen(&[], &[])).unwrap();
        assert!(silent.contains("its value was not returned"), "{silent}");
    }

    #[test]
    fn media_left_out_is_counted_before_names_that_may_be_long() {
        let media =
            Forwarded { blocks: vec![ContentBlock::image("", "image/png")], left_out: 2, limit_bytes: 100 };
        for end in [Ok(None), Err(Failure::new(FailureKind::Exception, "x"))] {
            let long = "n".repeat(400);
            let text = super::note(&outcome(end), &seen(&[(&long, 1)], &[(&long, 1)]), &media, None).unwrap();
            let head = "Note: 2 of the 3 images and sounds of the tool calls are left out: a run hands back at most 100 bytes of them (maxMediaBytes); ask for fewer or smaller ones. Also, ";
            assert!(text.starts_with(head), "{text}");
        }
    }

    #[test]
    fn oversight_comes_first_and_may_tell_of_the_missing_value_itself() {
        let text = |end, called: &[(&str, usize)], found: &str| {
            super::note(&outcome(end), &seen(&[], called), &Forwarded::default(), Some(found.to_owned()))
        };
        let told = format!("a function, and {NOT_RETURNED}");
        assert_eq!(text(Ok(None), &[], &told), Some(format!("Note: {told}.")));
        let both = text(Ok(None), &[], "x").unwrap();
        assert!(both.starts_with("Note: x. Also, the last statement is an expression"), "{both}");
        let failure = Failure::new(FailureKind::Exception, "TypeError: y");
        assert_eq!(
            text(Err(failure), &[("f", 1)], "x").as_deref(),
            Some("Note: x. Also, these tool calls had succeeded before the failure: f.")
        );
    }

    #[test]
    fn only_what_an_oversight_could_explain_is_puzzling() {
        let printed = |entry: &str| RunOutcome { logs: vec![entry.to_owned()], ..outcome(Ok(None)) };
        let failed = |kind, message: &str| outcome(Err(Failure::new(kind, message)));
        let puzzling = [
            outcome(Ok(None)),
            outcome(Ok(Some("size: undefined".into()))),
            printed("Promise {}"),
            failed(FailureKind::Exception, "TypeError: r is not iterable"),
            failed(FailureKind::InvalidOutput, "value.a is undefined"),
        ];
        for outcome in puzzling {
            assert!(is_puzzling(&outcome), "{outcome:?}");
        }
        let plain = [
            outcome(Ok(Some(1.into()))),
            printed("done"),
            failed(FailureKind::Exception, "Error: x"),
            failed(FailureKind::InvalidOutput, "value is NaN"),
            failed(FailureKind::Timeout, "TypeError: x"),
        ];
        for outcome in plain {
            assert!(!is_puzzling(&outcome), "{outcome:?}");
        }
    }

    #[test]
    fn returned_function_is_to_be_called() {
        let failure = Failure::new(FailureKind::InvalidOutput, "x: value is a function");
        let text = note(&outcome(Err(failure)), &seen(&[], &[])).unwrap();
        assert!(text.starts_with("Note: call the function that is returned"), "{text}");
    }

    #[test]
    fn note_has_at_most_400_characters() {
        let long = "n".repeat(300);
        let text = note(&outcome(Ok(None)), &seen(&[(&long, 1), ("é", 2)], &[])).unwrap();
        assert_eq!(text.chars().count(), MAX_CHARS);
    }
}
