//! Judges `mcp-tools`: the TypeScript of the tools of real servers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use code_mode::codegen::SdkBuilder;
use code_mode::{Json, SdkTool, json, sdk_section};

use crate::Tally;
use crate::arguments::Arguments;
use crate::compiler::{self, Source};
use crate::files::{self, File};
use crate::judge::Verdict;

/// Of so many types one may be `unknown`.
const TYPES_FOR_AN_UNKNOWN: usize = 50;

/// # Errors
/// If the folder cannot be read.
pub(crate) fn judge(folder: &Path, arguments: &Arguments, tally: &mut Tally) -> Result<(), String> {
    let files = files::in_folder(folder, arguments)?;
    let mut sources = BTreeMap::new();
    let mut servers = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let server = Server::of(file);
        if let Ok(server) = &server {
            let mut source = Source::default();
            source.push(&server.declarations);
            source.push("export {}");
            sources.insert(source_name(place), source);
        }
        servers.push(server);
    }
    let compiled = compiler::compile("corpus-mcp-tools", &sources);
    let (mut types, mut unknown) = (0, 0);
    for (place, (file, server)) in files.iter().zip(servers).enumerate() {
        print!("{}: ", file.name);
        let (verdict, remark) = match server {
            Err(problem) => (Verdict::Differs(vec![problem]), String::new()),
            Ok(server) => {
                types += server.types;
                unknown += server.unknown.len();
                let mut differences = server.differences;
                if let Some(errors) = compiled.as_ref().and_then(|all| all.get(&source_name(place))) {
                    differences.extend(errors.iter().map(|(line, error)| format!("line {line}: {error}")));
                }
                let mut remark = format!("{} types, {} unknown", server.types, server.unknown.len());
                server.unknown.iter().for_each(|place| remark.extend([" ", place]));
                (Verdict::of(differences), remark)
            }
        };
        tally.add(&file.name, verdict, remark);
    }
    if unknown * TYPES_FOR_AN_UNKNOWN > types {
        print!("mcp-tools: ");
        let problem =
            format!("{unknown} of {types} types are unknown, expected one in {TYPES_FOR_AN_UNKNOWN}");
        tally.add("mcp-tools", Verdict::Differs(vec![problem]), "");
    }
    Ok(())
}

/// Names of files can be anything; those of the compiler's are ours.
fn source_name(place: usize) -> String {
    format!("server{place}")
}

/// What was made of the tools of one server.
struct Server {
    declarations: String,
    types: usize,
    /// Where, and why.
    unknown: Vec<String>,
    differences: Vec<String>,
}

impl Server {
    fn of(file: &File) -> Result<Self, String> {
        let list = file.value.as_ref().map_err(Clone::clone)?;
        let list = list.as_array().ok_or("expected an array of tools")?;
        let mut tools = list.iter().map(tool_of).collect::<Result<Vec<_>, _>>()?;
        let mut builder = SdkBuilder::new();
        builder.update(&tools);
        let mut differences = Vec::new();
        for turn in 1..4 {
            let half = tools.len() / 2;
            tools.rotate_left(half.min(turn));
            tools.reverse();
            if sdk_section(&tools) != builder.section() {
                differences.push("the text depends on the order of the tools".to_owned());
            }
        }
        let (mut types, mut unknown) = (0, Vec::new());
        for report in builder.reports() {
            for schema in [report.parameters, report.output] {
                types += schema.nodes;
                let place = |node: &code_mode::codegen::UnknownNode| {
                    format!("{}#{} ({})", report.name, node.pointer, node.reason)
                };
                unknown.extend(schema.unknowns.iter().map(place));
            }
        }
        Ok(Server { declarations: builder.declarations().to_owned(), types, unknown, differences })
    }
}

fn tool_of(tool: &Json) -> Result<SdkTool<'_>, String> {
    // A tool without a schema takes an object of anything and gives anything.
    static ANY_OBJECT: LazyLock<Json> = LazyLock::new(|| json!({"type": "object"}));
    static ANY: LazyLock<Json> = LazyLock::new(|| json!({}));
    Ok(SdkTool {
        name: tool
            .get("name")
            .and_then(Json::as_str)
            .ok_or_else(|| format!("a tool without a name: {tool}"))?,
        description: tool.get("description").and_then(Json::as_str).unwrap_or_default(),
        parameters: tool.get("inputSchema").unwrap_or(&ANY_OBJECT),
        output: tool.get("outputSchema").unwrap_or(&ANY),
    })
}
