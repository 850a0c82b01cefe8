//! What the `process` back end promises beyond the suite: a program can take down its worker, never the host.
//! Decision 32.

mod hostile;
mod kills;
mod lifecycle;
mod protocol;
pub(crate) mod roles;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use code_mode::{ProcessRuntime, ProcessRuntimeConfig};

use crate::Case;
use crate::subject::Subject;

pub(crate) fn cases() -> Vec<(&'static str, Vec<Case<()>>)> {
    vec![
        ("lifecycle", lifecycle::cases()),
        ("kills", kills::cases()),
        ("protocol", protocol::cases()),
        ("hostile", hostile::cases()),
    ]
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
