//! The `code-mode` command.
#![forbid(unsafe_code)]

mod run;
mod sdk;

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
    match Arguments::parse().command {
        Command::Run(arguments) => run::main(arguments),
        Command::Sdk(arguments) => sdk::main(&arguments),
    }
}
