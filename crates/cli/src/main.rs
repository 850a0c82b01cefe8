//! The `code-mode` command.
#![forbid(unsafe_code)]

use clap::Parser;

/// Runs programs a model wrote against real tools.
///
/// No subcommand exists yet; the library and its demo (`./x demo`) do.
#[derive(Debug, Parser)]
#[command(name = "code-mode", version, about, arg_required_else_help = true)]
struct Arguments {}

fn main() {
    let Arguments {} = Arguments::parse();
}
