//! What the `process` back end promises beyond the suite: a program can take down its worker, never the host.
//! Decision 32.

mod hostile;
mod kills;
mod lifecycle;
mod protocol;
pub(crate) mod roles;
mod watch;

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use code_mode::{ProcessRuntime, ProcessRuntimeConfig};

use libtest_mimic::Failed;

use crate::subject::Subject;

/// The tests, by their titles.
pub(crate) fn cases() -> Vec<(String, fn(()))> {
    let subjects = [
        ("lifecycle", lifecycle::cases()),
        ("kills", kills::cases()),
        ("protocol", protocol::cases()),
        ("hostile", hostile::cases()),
    ];
    let titled = |(subject, cases): (&str, Vec<crate::Case<()>>)| {
        let title = move |(name, case): (&str, _)| (format!("process::{subject}::{name}"), case);
        cases.into_iter().map(title).collect::<Vec<_>>()
    };
    subjects.into_iter().flat_map(titled).collect()
}

/// Runs a test in a process of its own: these look at what the whole process holds.
pub(crate) fn alone(title: &str) -> Result<(), Failed> {
    let output = Command::new(std::env::current_exe()?).args([roles::ALONE, title]).output()?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        print!("{out}");
        Ok(())
    } else {
        Err(format!("{}\n{out}{err}", output.status).into())
    }
}

/// A runtime of one worker at a time, without limits that an ordinary program meets.
fn config() -> ProcessRuntimeConfig {
    let mut config = ProcessRuntimeConfig::default();
    config.limits.compute = Duration::from_secs(30);
    config.limits.max_wall = Duration::from_secs(120);
    config.limits.max_old_generation_size_mb = 64;
    config.max_concurrent_runs = 1;
    config.start_timeout = Duration::from_secs(60);
    config
}

fn made(config: ProcessRuntimeConfig) -> (ProcessRuntime, Subject) {
    let runtime = ProcessRuntime::with_config(config).unwrap();
    (runtime.clone(), Subject::of(Arc::new(runtime)))
}
