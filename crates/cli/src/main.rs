//! The `code-mode` command.
#![forbid(unsafe_code)]

mod run;
mod sdk;

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs programs a model wrote against real tools.
#[derive(Debug, Parser)]
#[command(name = "code-mode", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Sdk(sdk::Arguments),
}

fn main() -> ExitCode {
    // The workers of `run` are this executable, started again.
    #[cfg(unix)]
    code_mode::worker::run_if_requested();
    match Arguments::parse().command {
        Command::Run(arguments) => run::main(arguments),
        Command::Sdk(arguments) => sdk::main(&arguments),
    }
}

/// Writes a line to the standard error, if it can be written to: what cannot be told there cannot be told at all.
fn tell(message: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "code-mode: {message}");
}
