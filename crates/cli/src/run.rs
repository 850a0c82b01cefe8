//! `code-mode run`: one program over the tools of a folder.
//!
//! Exit status: 0 if the program ended with a result, 1 if it failed, 2 for a wrong command line and for what
//! cannot be read or written.

mod limits;
mod session;
mod recorder;
mod report;
mod trace;

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{error, fs};

use code_mode::Isolation;
use code_mode_folder_tools::Folder;

use self::limits::LimitFlags;
use self::recorder::{Detail, Recording};
use self::report::RunJson;
use self::session::Session;

/// Run one program over the tools of a folder: list_dir, read_file, search_text and write_file
///
/// What the model would read goes to the standard output, a failure to the standard error.
/// The exit status is 0 for a result, 1 for a program that failed, 2 for a wrong command line.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The program, the body of an async TypeScript function; `-` reads the standard input
    #[arg(value_name = "FILE.ts|-")]
    program: PathBuf,
    /// The folder that the tools see and write to
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Print one JSON object: isError, content, logs, result or error, subCalls
    #[arg(long)]
    json: bool,
    /// Write a page that shows the run: its program, tool calls, log and outcome
    #[arg(long, value_name = "FILE.html")]
    trace: Option<PathBuf>,
    /// Where the program runs: in a worker process, which is ended whatever the program does to it, or in
    /// a thread of this process
    #[arg(long, value_name = "process|thread", default_value_t = DEFAULT_ISOLATION)]
    isolation: Isolation,
    #[command(flatten)]
    limits: LimitFlags,
}

/// Workers need the system's sockets and signals.
const DEFAULT_ISOLATION: Isolation = if cfg!(unix) { Isolation::Process } else { Isolation::Thread };

/// Runs the command.
pub(crate) fn main(arguments: Arguments) -> ExitCode {
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(Refusal(message)) => {
            crate::tell(format_args!("{message}"));
            ExitCode::from(2)
        }
    }
}

/// Runs the program and reports; whether it ended with a result.
fn run(arguments: &Arguments) -> Result<bool, Refusal> {
    let program = Program::read(&arguments.program)?;
    let folder = Folder::open(&arguments.dir)
        .map_err(|error| refuse("open folder", &arguments.dir, &describe(&error)))?;
    if let Some(path) = &arguments.trace {
        require_writable(path)?;
    }
    let detail = if arguments.trace.is_some() { Detail::Everything } else { Detail::Times };
    let session = Session::new(&folder, &arguments.limits, arguments.isolation, detail)
        .map_err(|error| Refusal(error.to_string()))?;

    let tokio = tokio::runtime::Runtime::new().map_err(|error| Refusal(describe(&error)))?;
    let recording = tokio.block_on(session.run(&program.description(), &program.code));

    // The page first: it is there also if whoever reads the output has seen enough.
    if let Some(path) = &arguments.trace {
        let page = trace::page(&program.name, &program.code, &recording);
        fs::write(path, page).map_err(|error| refuse("write trace", path, &describe(&error)))?;
    }
    match report(arguments, &recording) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Refusal(format!("cannot print the outcome: {}", describe(&error))))
        }
        _ => Ok(!recording.result.is_error()),
    }
}

fn report(arguments: &Arguments, recording: &Recording) -> io::Result<()> {
    let text = if arguments.json { RunJson::text(recording)? } else { recording.result.text() };
    if recording.result.is_error() && !arguments.json {
        print(io::stderr(), &text)
    } else {
        print(io::stdout(), &text)
    }
}

/// Prints text that is not ours: as it is, but a terminal shows control characters rather than obeying them.
fn print(mut stream: impl Write + IsTerminal, text: &str) -> io::Result<()> {
    if stream.is_terminal() {
        writeln!(stream, "{}", report::visible(text))
    } else {
        writeln!(stream, "{text}")
    }
}

/// A program as it was given.
struct Program {
    /// The name of its file, or `stdin`.
    name: String,
    code: String,
}

impl Program {
    fn read(path: &Path) -> Result<Self, Refusal> {
        if path == Path::new("-") {
            let mut code = String::new();
            let read = io::stdin().read_to_string(&mut code);
            read.map_err(|error| refuse("read program", Path::new("stdin"), &describe(&error)))?;
            return Ok(Self { name: "stdin".to_owned(), code });
        }
        let code =
            fs::read_to_string(path).map_err(|error| refuse("read program", path, &describe(&error)))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { name, code })
    }

    fn description(&self) -> String {
        format!("Run {}", self.name)
    }
}

/// Refuses a path that no page can be written to before the program runs, which may have effects.
fn require_writable(path: &Path) -> Result<(), Refusal> {
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
    opened.map(drop).map_err(|error| refuse("write trace", path, &describe(&error)))
}

/// Why nothing was run, or nothing could be told of it: a line for people.
#[derive(Debug)]
struct Refusal(String);

fn refuse(action: &str, path: &Path, reason: &str) -> Refusal {
    Refusal(format!("cannot {action} {}: {reason}", path.display()))
}

/// What the operating system said, without the number.
fn describe(error: &dyn error::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
