//! The tool calls as a waterfall: when each was made, started and answered.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use super::markup::{count, escaped, millis};
use crate::run::recorder::{Call, Recording};

/// The most calls that are shown one by one.
const MAX_ROWS: usize = 1_000;

/// How much of the arguments stands in a row, in characters.
const PREVIEW_CHARS: usize = 120;

/// The most steps of the time axis.
const MAX_STEPS: f64 = 5.0;

/// The axis, and a row for each call.
pub(crate) fn calls(recording: &Recording) -> String {
    let calls = &recording.calls;
    if calls.is_empty() {
        return "<p class=\"none\">The program made no tool call.</p>".to_owned();
    }
    let whole = recording.took;
    let step = step(whole);
    let mut html =
        format!("<div class=\"calls\" style=\"--step:{}\">{}", part(step, whole), axis(step, whole));
    for (call, number) in calls.iter().zip(1..).take(MAX_ROWS) {
        row(&mut html, call, number, whole);
    }
    html.push_str("</div>");
    if let Some(rest) = calls.get(MAX_ROWS..).filter(|rest| !rest.is_empty()) {
        let _ = write!(html, "<p class=\"cut\">{}</p>", escaped(&summary(rest)));
    }
    html
}

fn row(html: &mut String, call: &Call, number: usize, whole: Duration) {
    let times = Times::of(call, whole);
    let class = if call.is_error { " failed" } else { "" };
    let preview = escaped(&call.arguments.to_line(PREVIEW_CHARS));
    let _ = write!(
        html,
        "<details class=\"call{class}\" id=\"call-{number}\"><summary><span class=\"number\">{number}</span>\
         <span class=\"tool\">{tool}</span><span class=\"preview\">{preview}</span>{bar}\
         <span class=\"took\">{took}</span></summary><div class=\"values\"><p class=\"times\">{sentence}</p>\
         <h3>Arguments</h3>{arguments}<h3>{result_is}</h3>{result}</div></details>",
        tool = escaped(&call.tool),
        bar = times.bar(whole),
        took = times.took(),
        sentence = times.sentence(),
        arguments = call.arguments.to_html(),
        result_is = if call.is_error { "Error" } else { "Result" },
        result = match call.settled {
            Some(_) => call.result.to_html(),
            None => "<p class=\"none\">The run ended before it was answered.</p>".to_owned(),
        },
    );
}

/// When a call was made, started, and answered or the run over.
struct Times {
    made: Duration,
    started: Option<Duration>,
    ended: Duration,
}

impl Times {
    fn of(call: &Call, whole: Duration) -> Self {
        Self { made: call.made, started: call.started, ended: call.settled.unwrap_or(whole) }
    }

    fn queued(&self) -> Duration {
        self.started.unwrap_or(self.ended).saturating_sub(self.made)
    }

    fn ran(&self) -> Option<Duration> {
        Some(self.ended.saturating_sub(self.started?))
    }

    fn took(&self) -> String {
        self.ran().map_or_else(|| "not started".to_owned(), millis)
    }

    fn sentence(&self) -> String {
        let (made, queued) = (millis(self.made), millis(self.queued()));
        match self.ran() {
            Some(ran) => format!("Made at {made}, queued for {queued}, ran for {}.", millis(ran)),
            None => format!("Made at {made}, queued for {queued}, never started."),
        }
    }

    fn bar(&self, whole: Duration) -> String {
        let piece = |class: &str, from: Duration, length: Duration| {
            format!(
                "<i class=\"{class}\" style=\"left:{};width:{}\"></i>",
                part(from, whole),
                part(length, whole)
            )
        };
        let queued = piece("queued", self.made, self.queued());
        let ran = self.started.zip(self.ran()).map(|(from, length)| piece("ran", from, length));
        format!(
            "<span class=\"bar\" role=\"img\" aria-label=\"{}\">{queued}{}</span>",
            self.sentence(),
            ran.unwrap_or_default()
        )
    }
}

/// The numbers above the bars.
fn axis(step: Duration, whole: Duration) -> String {
    let mut html = String::from("<div class=\"axis\" aria-hidden=\"true\"><span class=\"scale\">");
    let mut at = Duration::ZERO;
    // No number where it would not have room.
    while at.as_secs_f64() <= whole.as_secs_f64() * 0.94 {
        let _ = write!(html, "<span style=\"left:{}\">{}</span>", part(at, whole), tick(at));
        at += step;
    }
    html.push_str("</span></div>");
    html
}

fn tick(at: Duration) -> String {
    let micros = at.as_micros();
    match micros {
        0 => "0".to_owned(),
        _ if micros < 1_000 => format!("{micros} µs"),
        _ if micros < 1_000_000 => format!("{} ms", micros as f64 / 1e3),
        _ => format!("{} s", micros as f64 / 1e6),
    }
}

/// The round length, 1, 2 or 5 times a power of ten, that divides the whole into a few steps.
fn step(whole: Duration) -> Duration {
    let mut step = Duration::from_micros(1);
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        if step.as_secs_f64() * MAX_STEPS >= whole.as_secs_f64() {
            break;
        }
        step = step.mul_f64(factor);
    }
    step
}

/// A length as a share of the whole: `12.3%`.
fn part(length: Duration, whole: Duration) -> String {
    let share = 100.0 * length.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE);
    format!("{:.3}%", share.min(100.0))
}

/// `18 more calls not shown: 17 read_file, 1 list_dir; 2 failed`.
fn summary(calls: &[Call]) -> String {
    let mut order: Vec<&str> = Vec::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for call in calls {
        let count = counts.entry(&call.tool).or_insert_with(|| {
            order.push(&call.tool);
            0
        });
        *count += 1;
    }
    let by_tool: Vec<String> = order.iter().map(|tool| format!("{} {tool}", counts[tool])).collect();
    let failed = calls.iter().filter(|call| call.is_error).count();
    format!(
        "{} not shown: {}; {failed} failed",
        count(calls.len(), "more call", "more calls"),
        by_tool.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::trace::Excerpt;

    fn call(tool: &str, made: u64, started: Option<u64>, settled: Option<u64>) -> Call {
        let millis = Duration::from_millis;
        Call {
            tool: tool.into(),
            made: millis(made),
            started: started.map(millis),
            settled: settled.map(millis),
            is_error: false,
            arguments: Excerpt::default(),
            result: Excerpt::default(),
        }
    }

    #[test]
    fn axis_has_a_few_round_steps() {
        let steps = |micros| {
            let whole = Duration::from_micros(micros);
            (tick(step(whole)), axis(step(whole), whole).matches("style").count())
        };
        assert_eq!(steps(0), ("1 µs".to_owned(), 1));
        assert_eq!(steps(480), ("100 µs".to_owned(), 5));
        assert_eq!(steps(10_100), ("5 ms".to_owned(), 2));
        assert_eq!(steps(9_900), ("2 ms".to_owned(), 5));
        assert_eq!(steps(600_000_000), ("200 s".to_owned(), 3));
    }

    #[test]
    fn bars_say_when_a_call_waited_and_ran() {
        let whole = Duration::from_millis(100);
        let ran = Times::of(&call("a", 10, Some(20), Some(60)), whole);
        assert_eq!(ran.sentence(), "Made at 10.0 ms, queued for 10.0 ms, ran for 40.0 ms.");
        assert!(ran.bar(whole).contains("left:10.000%;width:10.000%"));
        assert!(ran.bar(whole).contains("left:20.000%;width:40.000%"));
        let waited = Times::of(&call("a", 10, None, Some(60)), whole);
        assert_eq!(waited.sentence(), "Made at 10.0 ms, queued for 50.0 ms, never started.");
        assert_eq!(waited.took(), "not started");
        let open = Times::of(&call("a", 10, Some(10), None), whole);
        assert_eq!(open.took(), "90.0 ms");
    }

    #[test]
    fn calls_that_are_not_shown_are_counted() {
        let calls: Vec<Call> = ["b", "a", "b"].map(|tool| call(tool, 0, None, None)).into();
        assert_eq!(summary(&calls), "3 more calls not shown: 2 b, 1 a; 0 failed");
    }
}
