//! The `tools:sdk` block: every tool's types, and `tools` itself.

use code_mode_schema::Json;

use crate::comments::write_doc_line;
use crate::json_schema_to_ts;
use crate::names::write_key;
use crate::subset::write_indent;
use crate::{INSTRUCTIONS, comments};

/// One tool as the SDK shows it.
#[derive(Clone, Copy, Debug)]
pub struct SdkTool<'a> {
    /// The name a program calls it by, as it stands.
    pub name: &'a str,
    /// What it does; empty for no comment.
    pub description: &'a str,
    /// The schema of its arguments.
    pub parameters: &'a Json,
    /// The schema of its result; `{}` if nothing is known.
    pub output: &'a Json,
}

/// The TypeScript that declares `tools`, without a fence and without a newline at the end.
pub fn sdk_declarations(tools: &[SdkTool<'_>]) -> String {
    let mut tools: Vec<&SdkTool<'_>> = tools.iter().filter(|tool| tool.name != TRANSPORT).collect();
    tools.sort_by(|left, right| left.name.encode_utf16().cmp(right.name.encode_utf16()));
    let mut out = String::from(JSON_VALUE);
    write_map("ToolArgsMap", &tools, &mut out, |tool, out| {
        write_doc_line(tool.description, 1, out);
        write_entry(tool.name, tool.parameters, out);
    });
    write_map("ToolOutputMap", &tools, &mut out, |tool, out| write_entry(tool.name, tool.output, out));
    out.push_str(TOOLS);
    out
}

/// The whole section: the instructions, a blank line, the declarations in a fence tagged `ts`.
pub fn sdk_section(tools: &[SdkTool<'_>]) -> String {
    format!("{INSTRUCTIONS}\n\n```ts\n{}\n```", sdk_declarations(tools))
}

/// The tool that runs programs; it is not one of the tools a program calls (contract 5.2).
const TRANSPORT: &str = "run_code";

const JSON_VALUE: &str =
    "type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }";

const TOOLS: &str = "

type ToolName = keyof ToolOutputMap

declare class ToolCallError extends Error {
  readonly name: \"ToolCallError\";
  readonly toolName: ToolName;
}

declare const tools: {
  [K in ToolName]: (args: ToolArgsMap[K]) => Promise<ToolOutputMap[K]>;
}";

fn write_map(
    name: &str,
    tools: &[&SdkTool<'_>],
    out: &mut String,
    mut write: impl FnMut(&SdkTool<'_>, &mut String),
) {
    out.push_str("\n\ninterface ");
    out.push_str(name);
    out.push_str(" {");
    if !tools.is_empty() {
        out.push('\n');
    }
    for tool in tools {
        write(tool, out);
    }
    out.push('}');
}

fn write_entry(name: &str, schema: &Json, out: &mut String) {
    write_indent(1, out);
    let start = out.len();
    write_key(name, out);
    out.push_str(": ");
    out.push_str(&json_schema_to_ts(schema, 1));
    comments::make_literals_safe(start, out);
    out.push_str(";\n");
}
