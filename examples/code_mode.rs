//! The demo: a model's programs over a real folder.
//!
//! It shows what the model sees, then programs as a model writes them for real questions about the
//! folder, each with its tool calls, the text that goes back to the model, and the tokens that
//! never entered the conversation.
//!
//! ```text
//! ./x demo [--dir DIR] [--program FILE] [--json]
//! ```
//!
//! Exit status: 0 if every program ended as it should, 1 if one did not, 2 for a wrong command
//! line and for what cannot be read.
//!
//! To embed: what an agent needs is [`session::Session`]. The rest is reporting.

#[path = "code_mode/session.rs"]
mod session;

#[path = "code_mode/report.rs"]
mod report;

use std::{
    borrow::Cow,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use code_mode_folder_tools::Folder;

use crate::{report::Report, session::Session};

/// Run programs as a model writes them over the files of a folder.
#[derive(Parser)]
#[command(name = "code_mode")]
struct Args {
    /// The folder [default: this project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Run this program, the body of an async TypeScript function, in place of the built-in ones
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Print one JSON object per program, and nothing else
    #[arg(long)]
    json: bool,
}

/// A program as the model sends it.
struct Program {
    /// What it is for.
    description: Cow<'static, str>,
    code: Cow<'static, str>,
    /// How it is meant to end.
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Result,
    Failure,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Args::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("code_mode: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the programs; whether all of them ended as they are meant to.
async fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let programs = match &args.program {
        Some(file) => vec![read_program(file)?],
        None => built_in_programs(),
    };
    let dir = args.dir.clone().unwrap_or_else(default_dir);
    let folder =
        Folder::open(&dir).map_err(|error| format!("cannot open folder {}: {error}", dir.display()))?;
    let session = Session::new(&folder)?;

    let mut report = Report::to_stdout();
    if !args.json && args.program.is_none() {
        report.what_the_model_sees(&session)?;
    }
    let mut all_as_meant = true;
    for program in &programs {
        let run = session.run(&program.description, &program.code).await;
        all_as_meant &= run.result.is_error() == (program.end == End::Failure);
        if args.json {
            report.json(&run)?;
        } else {
            report.program(program, &run)?;
        }
    }
    if !args.json && args.program.is_none() {
        report.total()?;
    }
    report.flush()?;
    Ok(all_as_meant)
}

/// Questions that can be put to any folder.
fn built_in_programs() -> Vec<Program> {
    let program = |end, description, code| Program {
        description: Cow::Borrowed(description),
        code: Cow::Borrowed(code),
        end,
    };
    vec![
        program(
            End::Result,
            "What is in this folder, and which file types take the most space?",
            include_str!("programs/overview.ts"),
        ),
        program(
            End::Result,
            "Which of the larger text files have the most lines?",
            include_str!("programs/longest.ts"),
        ),
        program(End::Result, "Which hosts do the files link to most?", include_str!("programs/links.ts")),
        program(
            End::Result,
            "Which of the usual documents are there, and how do they begin?",
            include_str!("programs/documents.ts"),
        ),
        program(
            End::Failure,
            "How large are the files at the top? (with a mistake in it)",
            include_str!("programs/mistake.ts"),
        ),
    ]
}

fn read_program(file: &Path) -> Result<Program, String> {
    let code = fs::read_to_string(file)
        .map_err(|error| format!("cannot read program {}: {error}", file.display()))?;
    let description = format!("Run {}", file.display());
    Ok(Program { description: description.into(), code: code.into(), end: End::Result })
}

/// The project, as long as it is where the demo was built.
fn default_dir() -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    if project.is_dir() { project.to_owned() } else { PathBuf::from(".") }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
