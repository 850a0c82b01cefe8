//! The output ledger: what a run may hand back, counted to the byte. Contract 6.6.
//!
//! Counted are the UTF-8 bytes of the log as a JSON array and of the result as
//! JSON, or of the failure's message as a JSON string.

use code_mode_schema::{Json, json_string_len};

use crate::seam::{Failure, FailureKind};

/// Counts a log while it grows.
#[derive(Debug)]
pub(crate) struct LogMeter {
    bytes: usize,
    entries: usize,
    limit_bytes: usize,
}

impl LogMeter {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self { bytes: 2, entries: 0, limit_bytes }
    }

    /// Counts one entry; false if the log is over the limit with it.
    pub(crate) fn add(&mut self, entry: &str) -> bool {
        self.bytes = self.bytes.saturating_add(entry_cost(self.entries, entry));
        self.entries += 1;
        self.bytes <= self.limit_bytes
    }
}

/// An entry and the comma before it.
fn entry_cost(before: usize, entry: &str) -> usize {
    json_string_len(entry) + usize::from(before > 0)
}

/// Applies the limit to a whole outcome: within it nothing changes; beyond it
/// the end is `output-limit` and the log its longest prefix that fits beside
/// that diagnostic. The `meter` counted the log while it grew, so that no answer
/// that is due waits for the counting.
pub(crate) fn settle(
    logs: Vec<String>,
    meter: &LogMeter,
    end: Result<Option<Json>, Failure>,
) -> (Vec<String>, Result<Option<Json>, Failure>) {
    let limit_bytes = meter.limit_bytes;
    let end_bytes = match &end {
        Ok(value) => value.as_ref().map_or(0, Json::text_len),
        Err(failure) => json_string_len(&failure.message),
    };
    if meter.bytes.saturating_add(end_bytes) <= limit_bytes {
        return (logs, end);
    }
    let mut message = format!("outer output exceeded {limit_bytes} bytes");
    // Even the diagnostic is cut for a tiny limit; the empty log costs 2 bytes.
    while 2 + json_string_len(&message) > limit_bytes && message.pop().is_some() {}
    let room = limit_bytes.saturating_sub(json_string_len(&message));
    (prefix(logs, room), Err(Failure::new(FailureKind::OutputLimit, message)))
}

/// The longest prefix of the log whose JSON array has at most `room` bytes:
/// whole entries, then a part of the next.
fn prefix(logs: Vec<String>, room: usize) -> Vec<String> {
    let mut kept = Vec::new();
    let mut bytes = 2;
    for mut entry in logs {
        let cost = entry_cost(kept.len(), &entry);
        if bytes + cost <= room {
            bytes += cost;
            kept.push(entry);
            continue;
        }
        let left = room.saturating_sub(bytes + usize::from(!kept.is_empty()));
        entry.truncate(fitting(&entry, left));
        if !entry.is_empty() {
            kept.push(entry);
        }
        break;
    }
    kept
}

/// How many bytes of `entry` fit into `left` bytes of JSON text with its quotes.
fn fitting(entry: &str, left: usize) -> usize {
    // Whole blocks first, which are counted faster than characters.
    let (mut end, mut cost) = (0, 2);
    while end < entry.len() {
        let block = &entry[end..entry.ceil_char_boundary(end + BLOCK_BYTES)];
        let more = json_string_len(block) - 2;
        if cost + more > left {
            break;
        }
        (end, cost) = (end + block.len(), cost + more);
    }
    for char in entry[end..].chars() {
        let mut text = [0; 4];
        cost += json_string_len(char.encode_utf8(&mut text)) - 2;
        if cost > left {
            break;
        }
        end += char.len_utf8();
    }
    end
}

const BLOCK_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(logs: &[String], end: &Result<Option<Json>, Failure>) -> usize {
        let logs = Json::from(logs.iter().map(|entry| Json::from(entry.as_str())).collect::<Vec<_>>());
        let end = match end {
            Ok(value) => value.as_ref().map_or(0, |value| value.to_text().len()),
            Err(failure) => Json::from(failure.message.as_str()).to_text().len(),
        };
        logs.to_text().len() + end
    }

    fn settled(
        logs: Vec<String>,
        end: Result<Option<Json>, Failure>,
        limit_bytes: usize,
    ) -> (Vec<String>, Result<Option<Json>, Failure>) {
        let mut meter = LogMeter::new(limit_bytes);
        for entry in &logs {
            meter.add(entry);
        }
        settle(logs, &meter, end)
    }

    #[test]
    fn output_at_the_limit_passes_and_one_byte_over_does_not() {
        let logs = vec!["a\n".to_owned(), "é\u{1}".to_owned()];
        let end = Ok(Some(Json::from("ü")));
        let exact = bytes(&logs, &end);
        assert_eq!(settled(logs.clone(), end.clone(), exact), (logs.clone(), end.clone()));
        let (_, over) = settled(logs, end, exact - 1);
        assert_eq!(over.unwrap_err().kind, FailureKind::OutputLimit);
    }

    #[test]
    fn cut_log_and_diagnostic_fill_the_limit_and_never_pass_it() {
        for limit in 4..200 {
            let logs = vec!["abc\"".repeat(5), "€\n".repeat(30), "x".to_owned()];
            let (kept, end) = settled(logs, Ok(Some(Json::from("y".repeat(200)))), limit);
            let used = bytes(&kept, &end);
            assert!(used <= limit, "{used} > {limit}");
            // An entry is cut between characters, so up to one may be missing.
            assert!(used + 7 > limit.min(130), "{used} of {limit}");
        }
    }

    #[test]
    fn long_entry_is_cut_where_its_characters_say() {
        let entry = "a\n€\u{1}😀".repeat(3000);
        for left in [2, 3, 10_000, 40_000, 41_999, 42_000] {
            let (mut cost, mut expected) = (2, 0);
            for char in entry.chars() {
                cost += json_string_len(&char.to_string()) - 2;
                expected += if cost <= left { char.len_utf8() } else { break };
            }
            assert_eq!(fitting(&entry, left), expected, "{left}");
        }
    }

    #[test]
    fn meter_counts_as_the_whole_does() {
        let entries = ["", "a", "\"\\\n", "😀"];
        let whole = bytes(&entries.map(str::to_owned), &Ok(None));
        let fits = |limit| {
            let mut meter = LogMeter::new(limit);
            entries.iter().all(|entry| meter.add(entry))
        };
        assert!(fits(whole));
        assert!(!fits(whole - 1));
    }
}
