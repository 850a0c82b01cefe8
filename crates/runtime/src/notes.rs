//! Notes: one last line for the model where the result alone would mislead it.
//! Decision 21.

use std::sync::Arc;

use crate::dispatch::Tally;
use crate::media::Forwarded;
use crate::render;
use crate::seam::{Failure, RunOutcome};

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

/// The note for a run, without its leading line break.
pub(crate) fn note(outcome: &RunOutcome, seen: &Seen, media: &Forwarded) -> Option<String> {
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
    match &outcome.end {
        Ok(result) => {
            if render::is_silent(&outcome.logs, result.as_ref()) && outcome.ends_with_expression {
                parts.push(
                    "the last statement is an expression and its value was not returned; write `return` before it"
                        .to_owned(),
                );
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
    use crate::seam::FailureKind;

    fn outcome(end: Result<Option<code_mode_schema::Json>, Failure>) -> RunOutcome {
        RunOutcome { logs: Vec::new(), end, ends_with_expression: true }
    }

    fn note(outcome: &RunOutcome, seen: &Seen) -> Option<String> {
        super::note(outcome, seen, &Forwarded::default())
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
            let text = super::note(&outcome(end), &seen(&[(&long, 1)], &[(&long, 1)]), &media).unwrap();
            let head = "Note: 2 of the 3 images and sounds of the tool calls are left out: a run hands back at most 100 bytes of them (maxMediaBytes); ask for fewer or smaller ones. Also, ";
            assert!(text.starts_with(head), "{text}");
        }
    }

    #[test]
    fn note_has_at_most_400_characters() {
        let long = "n".repeat(300);
        let text = note(&outcome(Ok(None)), &seen(&[(&long, 1), ("é", 2)], &[])).unwrap();
        assert_eq!(text.chars().count(), MAX_CHARS);
    }
}
