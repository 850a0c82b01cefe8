//! What the command line asks for. Arguments of the standard test harness are taken too, since `cargo test` hands
//! them to every test binary.

use std::path::{Path, PathBuf};

use code_mode::Isolation;

/// What to do.
pub(crate) enum Command {
    /// Judge a folder.
    Judge(Arguments),
    /// The harness was asked for something that does not run tests.
    Nothing,
}

/// What to judge, and how to print.
pub(crate) struct Arguments {
    pub(crate) dir: PathBuf,
    /// The back end that runs the programs.
    pub(crate) isolation: Isolation,
    pub(crate) show: bool,
    filters: Vec<String>,
    skipped: Vec<String>,
    exact: bool,
}

/// What a folder can hold, each in a folder of its own; what is not there is not judged.
pub(crate) const KINDS: [&str; 3] = ["programs", "schema-edge", "mcp-tools"];

/// Options of the standard harness that take a value.
const HARNESS_WITH_VALUE: &[&str] =
    &["--test-threads", "--format", "--color", "--logfile", "--shuffle-seed", "-Z"];
/// Options of the standard harness without one.
const HARNESS_PLAIN: &[&str] = &[
    "--nocapture",
    "--no-capture",
    "--quiet",
    "-q",
    "--show-output",
    "--report-time",
    "--include-ignored",
    "--force-run-in-process",
    "--exclude-should-panic",
    "--shuffle",
    "--test",
    "--ensure-time",
];
/// Options that ask for something else than running the tests.
const HARNESS_OTHER: &[&str] = &["--list", "--ignored", "--bench", "--help", "-h"];

impl Arguments {
    /// # Errors
    /// An option that is none, or a folder that is not there.
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Command, String> {
        let mut arguments = arguments.peekable();
        let (mut dir, mut isolation) = (None, Isolation::default());
        let (mut show, mut exact) = (false, false);
        let (mut filters, mut skipped, mut other) = (Vec::new(), Vec::new(), false);
        while let Some(argument) = arguments.next() {
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with('-') => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let mut value =
                || inline.clone().or_else(|| arguments.next()).ok_or_else(|| format!("{name} needs a value"));
            match name {
                "--dir" => dir = Some(PathBuf::from(value()?)),
                "--isolation" => isolation = value()?.parse().map_err(|error| format!("{error}"))?,
                "--skip" => skipped.push(value()?),
                "--show" => show = true,
                "--exact" => exact = true,
                _ if HARNESS_WITH_VALUE.contains(&name) => drop(value()?),
                _ if HARNESS_PLAIN.contains(&name) => {}
                _ if HARNESS_OTHER.contains(&name) => other = true,
                _ if name.starts_with('-') => {
                    return Err(format!(
                        "unknown option {name}: expected [--dir DIR] [--isolation thread|process] [--show] [FILTER…]"
                    ));
                }
                _ => filters.push(argument),
            }
        }
        if other {
            return Ok(Command::Nothing);
        }
        let dir = dir.map_or_else(default_dir, Ok)?;
        if !KINDS.iter().any(|kind| dir.join(kind).is_dir()) {
            return Err(format!(
                "{}: there is none of the folders {} in it",
                dir.display(),
                KINDS.join(", ")
            ));
        }
        Ok(Command::Judge(Self { dir, isolation, show, filters, skipped, exact }))
    }

    /// Whether what has this name is to be judged.
    pub(crate) fn asks_for(&self, name: &str) -> bool {
        let matches =
            |filter: &String| if self.exact { name == filter } else { name.contains(filter.as_str()) };
        (self.filters.is_empty() || self.filters.iter().any(matches)) && !self.skipped.iter().any(matches)
    }
}

/// The folder that is judged when none is named.
fn default_dir() -> Result<PathBuf, String> {
    if let Some(dir) = std::env::var_os("CODE_MODE_CORPUS").filter(|dir| !dir.is_empty()) {
        return Ok(PathBuf::from(dir));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = root.join("../shared/corpus");
    Ok(if beside.is_dir() { beside } else { root.join("tests/fixtures") })
}
