//! HTML from text that is not ours, and the template.

use std::time::Duration;

use crate::run::report::{ms, visible};

/// Text as HTML that shows it, in an element and in a quoted attribute. Control characters, and those that
/// turn the reading direction, become visible.
pub(crate) fn escaped(text: &str) -> String {
    let text = visible(text);
    let mut html = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(char),
        }
    }
    html
}

/// Puts values into the `{{name}}` places of a template. What looks like a place within a value stays text.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        filled.push_str(before);
        let value = values.iter().find(|(known, _)| *known == name);
        debug_assert!(value.is_some(), "the template has an unknown place {name}");
        filled.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// `1 call`, `2 calls`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A time as people read it: three digits or so.
pub(crate) fn millis(duration: Duration) -> String {
    let ms = ms(duration);
    match ms {
        _ if ms < 0.9995 => format!("{ms:.2} ms"),
        _ if ms < 99.95 => format!("{ms:.1} ms"),
        _ if ms < 9_999.5 => format!("{} ms", grouped(ms.round() as usize)),
        _ => format!("{:.1} s", ms / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_an_element_or_an_attribute() {
        assert_eq!(escaped("<img src=x onerror='a'>&\""), "&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;");
        assert_eq!(escaped("a\r\nb\0\u{202e}c"), "a␍\nb␀\u{fffd}c");
    }

    #[test]
    fn values_that_look_like_places_stay_text() {
        assert_eq!(fill("<{{a}}|{{b}}|{{a}}>", &[("a", "{{b}}"), ("b", "}}{{a")]), "<{{b}}|}}{{a|{{b}}>");
    }

    #[test]
    fn numbers_are_read_at_a_glance() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1_000), grouped(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        let micros = |micros| millis(Duration::from_micros(micros));
        assert_eq!(
            [micros(0), micros(999), micros(1_000), micros(12_345)],
            ["0.00 ms", "1.00 ms", "1.0 ms", "12.3 ms"]
        );
        assert_eq!([micros(99_960), micros(9_999_400), micros(12_340_000)], ["100 ms", "9,999 ms", "12.3 s"]);
    }
}
