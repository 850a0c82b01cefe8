//! Looks at processes from outside, as only the system can tell what is left of one.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// When at the latest something must have happened that happens at once, on a machine that is busy.
pub(super) const SOON: Duration = Duration::from_secs(20);

/// Ends a process with SIGKILL, if it is still there.
pub(super) fn kill(id: u32) {
    signal(id, Signal::KILL);
}

pub(super) fn signal(id: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // It may be gone already.
        let _ = kill_process(pid, signal);
    }
}

/// True if the process runs, or could; one that ended and nobody has asked for does not.
pub(super) fn is_alive(id: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits until `is_so`. The system announces none of what is asked here, so it is asked again and again.
#[track_caller]
pub(super) fn eventually(what: &str, within: Duration, mut is_so: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    started.elapsed()
}

/// What this process holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holdings {
    pub(super) descriptors: usize,
    pub(super) threads: usize,
    pub(super) children: BTreeSet<u32>,
}

impl Holdings {
    pub(super) fn now() -> Self {
        let entries = |path: &str| fs::read_dir(path).unwrap().count();
        let children = fs::read_dir("/proc/self/task")
            .unwrap()
            .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
            .flat_map(|ids| ids.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>())
            .collect();
        Self { descriptors: entries("/proc/self/fd"), threads: entries("/proc/self/task"), children }
    }
}

/// What this process holds when nothing is on its way out any more.
pub(super) fn settled() -> Holdings {
    eventually("no worker is left", SOON, || Holdings::now().children.is_empty());
    let mut last = Holdings::now();
    eventually("nothing changes", SOON, || {
        std::thread::sleep(Duration::from_millis(50));
        std::mem::replace(&mut last, Holdings::now()) == last
    });
    last
}

/// Resident memory of a process, in bytes.
pub(super) fn resident_bytes(process: &str) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).unwrap();
    let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}

/// Memory that a process has written and shares with none, in KiB.
pub(super) fn private_kib(process: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Private_Dirty:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
