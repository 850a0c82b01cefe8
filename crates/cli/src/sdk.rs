//! `code-mode sdk`: what a model would read about the tools of some files.
//!
//! Exit status: 0 if it was printed, 1 if the files do not hold tools, 2 for a wrong command line and for what
//! cannot be read or written.

mod stats;
mod tools;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use code_mode::Json;
use code_mode::codegen::SdkBuilder;
use code_mode::json;

use self::stats::Stats;
use self::tools::{ToolFile, ToolFileError};

/// Print the TypeScript that a model would read about the tools of a file
///
/// A file holds an array of tools as an MCP server lists them (name, description, inputSchema, outputSchema), bare or
/// in the answer to `tools/list`. Names stay as they are; a tool without inputSchema takes any object, one without
/// outputSchema results in a `JsonValue`. The exit status is 0 if it was printed, 1 if a file does not hold tools,
/// 2 for a wrong command line and a file that cannot be read.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A file of tools; may be given several times
    #[arg(long = "tools", value_name = "FILE.json", required = true)]
    files: Vec<PathBuf>,
    /// Print the TypeScript only, without the instructions and the code fence around it
    #[arg(long, conflicts_with = "stats")]
    declarations: bool,
    /// Print a line for each file instead: its tokens (o200k) as JSON and as TypeScript, and what became `unknown`
    #[arg(long)]
    stats: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let text = match output(arguments) {
        Ok(text) => text,
        Err(error) => {
            crate::tell(format_args!("{error}"));
            return ExitCode::from(if matches!(error, ToolFileError::Unreadable { .. }) { 2 } else { 1 });
        }
    };
    match writeln!(io::stdout(), "{text}") {
        // Whoever reads has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            crate::tell(format_args!("cannot write to the standard output: {error}"));
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn output(arguments: &Arguments) -> Result<String, ToolFileError> {
    let files: Vec<ToolFile> =
        arguments.files.iter().map(|path| ToolFile::read(path)).collect::<Result<_, _>>()?;
    for (file, place) in files.iter().flat_map(|file| file.left_out.map(|place| (file, place))) {
        crate::tell(format_args!(
            "{}[{place}]: left out: `run_code` is the tool that runs programs",
            file.path
        ));
    }
    if arguments.stats {
        let stats = Stats::of(&files);
        return Ok(if arguments.json { stats.json().to_text() } else { stats.table() });
    }
    let all = tools::all_of(&files)?;
    let mut builder = SdkBuilder::new();
    builder.update(&all);
    let (key, text) = if arguments.declarations {
        ("declarations", builder.declarations())
    } else {
        ("section", builder.section())
    };
    if !arguments.json {
        return Ok(text.to_owned());
    }
    let text = text.to_owned();
    let unknown: Json = stats::unknowns(&builder).iter().map(stats::Unknown::json).collect();
    Ok(json!({(key): text, "unknown": unknown}).to_text())
}
