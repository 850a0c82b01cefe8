//! Judges the programs of a folder: each is run as a model's program would be, and compared with what is expected
//! of it.
//!
//! `cargo test --test corpus -- [--dir DIR] [--isolation thread|process] [--show] [FILTER…]`. DIR holds `programs/NAME.ts` beside
//! `NAME.expect.json`, and `programs/_mock_tools.json`. Without `--dir`: `$CODE_MODE_CORPUS`, else `../shared/corpus`
//! beside the workspace, else the project's own `tests/fixtures`. FILTER is a part of a program's name. `--show`
//! prints what the model would read. Exit status: 0 if nothing differs but what `known-differences.md` lists, 1 if
//! something does, 2 if the folder cannot be judged.

mod arguments;
mod case;
mod host;
mod judge;
mod known;
mod mock_tools;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use arguments::{Arguments, Command};
use case::Case;
use code_mode::Isolation;
use host::Host;
use judge::Verdict;
use known::KnownDifferences;
use mock_tools::ToolFile;

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

/// Judges every program that is asked for and prints the verdicts. The number of programs that differ.
fn judge_folder(arguments: &Arguments) -> Result<usize, String> {
    let programs = arguments.dir.join("programs");
    let tools = ToolFile::read(&programs.join("_mock_tools.json"))?;
    let cases = case::in_folder(&programs)?;
    let known = KnownDifferences::read()?;
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("no tokio runtime: {error}"))?;
    let shown = programs.canonicalize().unwrap_or_else(|_| programs.clone());
    println!("judging {} on {}, isolation {}", shown.display(), known::ENGINE, arguments.isolation);
    for warning in tools.warnings() {
        println!("note: {warning}");
    }
    let (started, mut passed, mut failed) = (Instant::now(), 0, 0);
    for case in cases.iter().filter(|case| arguments.asks_for(&case.name)) {
        // The name comes first, so that it is seen which program takes the process with it.
        print!("{}: ", case.name);
        let _ = std::io::stdout().flush();
        let (verdict, text) = tokio.block_on(judge_case(case, &tools, arguments.isolation));
        let verdict = known.apply(&case.name, verdict);
        println!("{verdict}");
        if arguments.show {
            println!("{}\n", text.as_deref().unwrap_or("(no answer)"));
        }
        if verdict.passes() {
            passed += 1;
        } else {
            failed += 1;
        }
    }
    println!("{:.1} s", started.elapsed().as_secs_f64());
    println!("{passed} passed, {failed} failed");
    Ok(failed)
}

/// One program's verdict, and what the model would have read.
async fn judge_case(case: &Case, tools: &ToolFile, isolation: Isolation) -> (Verdict, Option<String>) {
    let expectation = match &case.expectation {
        Ok(expectation) => expectation,
        Err(problem) => return (Verdict::Differs(vec![problem.clone()]), None),
    };
    let host = match Host::new(tools, &expectation.limits, isolation) {
        Ok(host) => host,
        Err(problem) => return (Verdict::Differs(vec![problem]), None),
    };
    let observed = host.run(&case.program, expectation.patience()).await;
    let mut differences = match &observed {
        Some(observed) => judge::differences(expectation, observed),
        None => vec![format!("no answer within {} ms", expectation.patience().as_millis())],
    };
    // After every program the same host must still serve.
    differences.extend(host.check_serves().await);
    (Verdict::of(differences), observed.map(|observed| observed.text))
}
