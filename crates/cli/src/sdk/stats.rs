//! What the tools of a file cost a model as JSON and as TypeScript, and what the TypeScript could not say.

use std::collections::HashSet;
use std::fmt::Write as _;

use code_mode::codegen::{SchemaReport, SdkBuilder, UnknownReason};
use code_mode::schema::Number;
use code_mode::{Json, SdkTool, json};

use super::tools::ToolFile;

/// The figures of some files.
pub(crate) struct Stats {
    rows: Vec<Row>,
}

/// The figures of one file, or of all.
#[derive(Default)]
struct Row {
    file: String,
    tools: usize,
    json_tokens: usize,
    sdk_tokens: usize,
    /// Places for a type, `unknown` ones included.
    nodes: usize,
    unknown: Vec<Unknown>,
}

/// A place that became `unknown`.
#[derive(Clone)]
pub(crate) struct Unknown {
    tool: String,
    schema: &'static str,
    pointer: String,
    reason: UnknownReason,
}

impl Stats {
    /// Measures each file by itself, as if its tools were all there are.
    pub(crate) fn of(files: &[ToolFile]) -> Self {
        Self { rows: files.iter().map(Row::of).collect() }
    }

    /// A line for each file, one for all, and one for each place that is unknown.
    pub(crate) fn table(&self) -> String {
        let total = self.total();
        let width = self.rows.iter().map(|row| row.file.chars().count()).max().unwrap_or(0).max(5);
        let mut text = format!(
            "{:width$} {:>6} {:>8} {:>8} {:>6} {:>7} {:>8}",
            "file", "tools", "json", "sdk", "ratio", "nodes", "unknown"
        );
        for row in self.rows.iter().chain([&total]) {
            let Row { file, tools, json_tokens, sdk_tokens, nodes, unknown } = row;
            let (ratio, unknown) = (row.ratio(), unknown.len());
            write!(
                text,
                "\n{file:width$} {tools:>6} {json_tokens:>8} {sdk_tokens:>8} {ratio:>6.2} {nodes:>7} {unknown:>8}"
            )
            .expect("writing to a string");
        }
        for row in &self.rows {
            for Unknown { tool, schema, pointer, reason } in &row.unknown {
                write!(text, "\nunknown: {}: {tool}: {schema}#{pointer}: {reason}", row.file)
                    .expect("writing to a string");
            }
        }
        text
    }

    pub(crate) fn json(&self) -> Json {
        json!({"files": (self.rows.iter().map(Row::json).collect::<Json>()), "total": (self.total().json())})
    }

    fn total(&self) -> Row {
        let mut total = Row { file: "total".to_owned(), ..Row::default() };
        for row in &self.rows {
            total.tools += row.tools;
            total.json_tokens += row.json_tokens;
            total.sdk_tokens += row.sdk_tokens;
            total.nodes += row.nodes;
            total.unknown.extend(row.unknown.iter().cloned());
        }
        total
    }
}

impl Row {
    fn of(file: &ToolFile) -> Self {
        let tools: Vec<SdkTool<'_>> = file.sdk_tools().collect();
        let mut builder = SdkBuilder::new();
        builder.update(&tools);
        Self {
            file: file.path.clone(),
            tools: tools.len(),
            json_tokens: tokens(&file.json().to_text()),
            sdk_tokens: tokens(builder.declarations()),
            nodes: builder.reports().map(|report| report.parameters.nodes + report.output.nodes).sum(),
            unknown: unknowns(&builder),
        }
    }

    /// Tokens of TypeScript for one of JSON.
    #[expect(clippy::cast_precision_loss, reason = "far fewer tokens than 2^53")]
    fn ratio(&self) -> f64 {
        self.sdk_tokens as f64 / self.json_tokens.max(1) as f64
    }

    fn json(&self) -> Json {
        let rounded = Number::new((self.ratio() * 1e4).round() / 1e4).map_or(Json::Null, Json::from);
        json!({
            "file": (&self.file),
            "tools": (self.tools),
            "jsonTokens": (self.json_tokens),
            "sdkTokens": (self.sdk_tokens),
            "ratio": rounded,
            "nodes": (self.nodes),
            "unknown": (self.unknown.iter().map(Unknown::json).collect::<Json>())
        })
    }
}

/// The places that became `unknown`, in the order of the SDK.
pub(crate) fn unknowns(builder: &SdkBuilder) -> Vec<Unknown> {
    let of = |tool: &str, schema, report: SchemaReport<'_>| {
        let unknown = |node: &code_mode::codegen::UnknownNode| Unknown {
            tool: tool.to_owned(),
            schema,
            pointer: node.pointer.clone(),
            reason: node.reason,
        };
        report.unknowns.iter().map(unknown).collect::<Vec<_>>()
    };
    builder
        .reports()
        .flat_map(|report| {
            let mut both = of(report.name, "inputSchema", report.parameters);
            both.extend(of(report.name, "outputSchema", report.output));
            both
        })
        .collect()
}

impl Unknown {
    pub(crate) fn json(&self) -> Json {
        json!({
            "tool": (&self.tool),
            "schema": (self.schema),
            "pointer": (&self.pointer),
            "reason": (self.reason.code())
        })
    }
}

/// How many tokens a text is to a model (o200k).
///
/// The encoder gives up on runs of white space of about a million characters. Such a text is counted in halves,
/// which costs no more than a token for each cut.
fn tokens(text: &str) -> usize {
    let encoder = tiktoken_rs::o200k_base_singleton();
    count_in_parts(text, |part| encoder.encode(part, &HashSet::new()).ok().map(|(tokens, _)| tokens.len()))
}

/// The sum over the largest halves, quarters and so on that can be counted.
fn count_in_parts(text: &str, count: impl Fn(&str) -> Option<usize>) -> usize {
    let mut sum = 0;
    let mut pending = vec![text];
    while let Some(part) = pending.pop() {
        match count(part) {
            Some(tokens) => sum += tokens,
            None if part.len() < MIN_HALVED_BYTES => sum += part.len(),
            None => {
                let (first, second) = part.split_at(part.floor_char_boundary(part.len() / 2));
                pending.extend([second, first]);
            }
        }
    }
    sum
}

/// No shorter text is too much for the encoder.
const MIN_HALVED_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_the_encoder_gives_up_on_is_counted_in_parts() {
        let text = "é".repeat(5_000);
        assert_eq!(count_in_parts(&text, |part| (part.len() < 3_000).then_some(part.chars().count())), 5_000);
        assert_eq!(count_in_parts(&text, |_| None), 10_000);
    }

    #[test]
    fn tokens_of_the_encoder_are_text_to_it() {
        let text = "two words <|endoftext|>";
        assert_eq!(tokens(text), tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len());
    }
}
