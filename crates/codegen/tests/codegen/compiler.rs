//! The TypeScript compiler: found or installed once, then run over many files at a time.
//!
//! Needs node and npm. Where they are missing the tests that compile print why and pass; with
//! `CODE_MODE_REQUIRE_TSC=1` in the environment (as in CI) they fail.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use code_mode_schema::Json;

/// A run takes a few seconds.
const MAX_TIME: Duration = Duration::from_secs(120);

const PACKAGE: &str = "typescript@7.0.2";

pub(crate) const JSON_VALUE: &str =
    "type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }";

/// A program to compile; each line means something to the test that made it.
#[derive(Default)]
pub(crate) struct Source {
    lines: Vec<String>,
}

impl Source {
    /// A module that declares `JsonValue`.
    pub(crate) fn new() -> Source {
        Source { lines: vec![JSON_VALUE.to_owned(), "export {}".to_owned()] }
    }

    /// Adds text that may have several lines.
    pub(crate) fn push(&mut self, text: &str) {
        // In a string literal these two do not end the line, but the compiler counts them.
        let text = text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
        self.lines.extend(text.split('\n').map(str::to_owned));
    }

    /// Adds a line that says `value` is of a type, and returns its number.
    pub(crate) fn assign(&mut self, r#type: &str, value: &Json) -> usize {
        let number = self.lines.len() + 1;
        self.lines.push(format!("const value{number}: {type} = {}", expression(value)));
        number
    }
}

/// The errors of each program, by its name and then by line.
pub(crate) type Errors = BTreeMap<String, BTreeMap<usize, String>>;

/// Compiles programs in one run; `None` if there is no compiler.
pub(crate) fn compile(folder: &str, sources: &BTreeMap<String, Source>) -> Option<Errors> {
    if sources.is_empty() {
        // The compiler refuses a project without files.
        return Some(Errors::new());
    }
    let tsc = match compiler() {
        Ok(tsc) => tsc,
        Err(reason) => {
            assert!(std::env::var_os("CODE_MODE_REQUIRE_TSC").is_none(), "{reason}");
            println!("not compiled: {reason}");
            return None;
        }
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut project = String::from(
        "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true, \"target\": \"es2022\", \"types\": []}, \"files\": [",
    );
    for (place, (name, source)) in sources.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(project, "{comma}\"{name}.ts\"").unwrap();
        std::fs::write(folder.join(format!("{name}.ts")), source.lines.join("\n")).unwrap();
    }
    project.push_str("]}");
    std::fs::write(folder.join("tsconfig.json"), project).unwrap();
    let output = run(Command::new(tsc).args(["--pretty", "false", "-p", "."]).current_dir(&folder));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = parse_errors(&text);
    let is_explained = output.status.success() || !errors.is_empty();
    assert!(is_explained, "tsc failed: {text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(errors)
}

/// Runs the compiler; a type that keeps it busy for too long is a failure like one that it refuses.
fn run(tsc: &mut Command) -> Output {
    let child = tsc.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    let group = format!("-{}", child.id());
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    match waiting.recv_timeout(MAX_TIME) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            // The compiler is a child of the script that starts it.
            Command::new("kill").args(["-KILL", "--", &group]).status().unwrap();
            panic!("{tsc:?} took longer than {MAX_TIME:?}");
        }
    }
}

/// `name.ts(line,column): error TSnnnn: text`; further lines of a message are indented.
fn parse_errors(text: &str) -> Errors {
    let mut errors = Errors::new();
    for line in text.lines().filter(|line| !line.starts_with(' ')) {
        let parsed = line.split_once(".ts(").and_then(|(name, rest)| {
            let (position, message) = rest.split_once("): ")?;
            Some((name, position.split(',').next()?.parse().ok()?, message))
        });
        let (name, number, message) = parsed.unwrap_or_else(|| panic!("tsc says: {line}"));
        errors.entry(name.to_owned()).or_default().insert(number, message.to_owned());
    }
    errors
}

fn compiler() -> &'static Result<PathBuf, String> {
    static COMPILER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    COMPILER.get_or_init(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
        let cache = cache.ok_or("neither XDG_CACHE_HOME nor HOME is set")?;
        let folder = cache.join("code-mode").join("typescript").join(PACKAGE);
        let tsc = folder.join("node_modules").join(".bin").join("tsc");
        if Command::new("node").arg("--version").output().is_err() {
            return Err("node is not installed".to_owned());
        }
        if !tsc.exists() {
            std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            let npm = Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--prefix", ".", PACKAGE])
                .current_dir(&folder)
                .output()
                .map_err(|error| format!("npm cannot be run: {error}"))?;
            if !tsc.exists() {
                return Err(format!(
                    "npm did not install {PACKAGE}: {}",
                    String::from_utf8_lossy(&npm.stderr)
                ));
            }
        }
        Ok(tsc)
    })
}

/// A value as an expression; `__proto__` is computed, as it would set the prototype otherwise.
fn expression(value: &Json) -> String {
    let text = value.to_text().replace("\"__proto__\":", "[\"__proto__\"]:");
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}
