//! Judges a folder of programs, schemas and tools against what is expected of them.
//!
//! `cargo test --test corpus -- [--dir DIR] [--isolation thread|process] [--show] [FILTER…]`. DIR holds any of
//!
//! - `programs/NAME.ts` beside `NAME.expect.json`, and `programs/_mock_tools.json`: each is run as a model's program
//!   would be, and compared with what is expected of it;
//! - `schema-edge/NAME.json`, `{"schema": …, "valid": [values], "invalid": [values]}`: the validator accepts the one
//!   and refuses the other with a path, and so does the compiler with the generated type, as far as TypeScript goes;
//! - `mcp-tools/NAME.json`, arrays of tools as an MCP server lists them: the generated TypeScript compiles, is the
//!   same bytes in any order of registration, and hardly any type in it is `unknown`.
//!
//! Without `--dir`: `$CODE_MODE_CORPUS`, else `../shared/corpus` beside the workspace, else the project's own
//! `tests/fixtures`. FILTER is a part of a name. `--show` prints what the model would read. The compiler needs node
//! and npm; where they are missing its part is skipped, and said to be. Exit status: 0 if nothing differs but what
//! `known-differences.md` lists, 1 if something does, 2 if the folder cannot be judged.

mod arguments;
mod beyond;
mod case;
#[path = "../../crates/codegen/tests/codegen/compiler.rs"]
mod compiler;
mod files;
mod host;
mod judge;
mod known;
mod mock_tools;
mod programs;
mod schemas;
mod servers;

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Instant;

use arguments::{Arguments, Command, KINDS};
use judge::Verdict;
use known::KnownDifferences;

fn main() -> ExitCode {
    // With `--isolation process` this executable is its own worker.
    #[cfg(unix)]
    code_mode::worker::run_if_requested();
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(Command::Judge(arguments)) => arguments,
        Ok(Command::Nothing) => return ExitCode::SUCCESS,
        Err(problem) => return cannot(&problem),
    };
    match judge_folder(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => cannot(&problem),
    }
}

fn cannot(problem: &str) -> ExitCode {
    eprintln!("corpus: {problem}");
    ExitCode::from(2)
}

/// Judges all that is asked for and prints the verdicts. The number of those that differ.
fn judge_folder(arguments: &Arguments) -> Result<usize, String> {
    let mut tally = Tally::new(KnownDifferences::read()?);
    let shown = arguments.dir.canonicalize().unwrap_or_else(|_| arguments.dir.clone());
    println!("judging {} on {}, isolation {}", shown.display(), known::ENGINE, arguments.isolation);
    for kind in KINDS {
        let folder = arguments.dir.join(kind);
        if !folder.is_dir() {
            println!("note: no {kind} in it");
            continue;
        }
        match kind {
            "programs" => programs::judge(&folder, arguments, &mut tally)?,
            "schema-edge" => schemas::judge(&folder, arguments, &mut tally)?,
            _ => servers::judge(&folder, arguments, &mut tally)?,
        }
    }
    println!("{:.1} s", tally.started.elapsed().as_secs_f64());
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(tally.failed)
}

/// The verdicts so far.
struct Tally {
    known: KnownDifferences,
    started: Instant,
    passed: usize,
    failed: usize,
}

impl Tally {
    fn new(known: KnownDifferences) -> Self {
        Self { known, started: Instant::now(), passed: 0, failed: 0 }
    }

    /// Counts a verdict and prints it, with a remark if it is not empty.
    fn add(&mut self, name: &str, verdict: Verdict, remark: impl Display) {
        let verdict = self.known.apply(name, verdict);
        let remark = remark.to_string();
        println!("{verdict}{}{remark}", if remark.is_empty() { "" } else { ": " });
        if verdict.passes() {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}
