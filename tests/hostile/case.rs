//! A hostile program, what comes of it, and how that is checked: each group of them in a process of its own, so that a
//! program that ends its process fails one test.

use std::borrow::Cow;
use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use code_mode::{FailureKind, Json};

use crate::support::{Host, HostConfig, Run, alone};

/// The time that a program has, computing or waiting, if that is what ends it.
const LIMIT: Duration = Duration::from_secs(2);
/// The time that a program has which something else ends. It is answered much earlier; only on a machine that is busy
/// the limit must not come first.
const ROOM: Duration = Duration::from_secs(20);
/// How long after its limit the answer may come.
const LATENESS: Duration = Duration::from_millis(250);
/// How many programs run after it. Without a snapshot, in a debug build, each takes QuickJS a quarter of a second.
const FOLLOWING: usize = if cfg!(feature = "v8") { 10 } else { 3 };
/// How much more memory than before may be in use afterwards.
const MORE_KIB: u64 = 64 << 10;

/// A program, and what comes of it.
pub(super) struct Case {
    name: &'static str,
    program: Cow<'static, str>,
    end: End,
    heap_mb: usize,
    output_bytes: usize,
    within: Duration,
    trimmed: bool,
}

/// How a program ends.
pub(super) enum End {
    /// It returns what this text is as JSON.
    Returns(&'static str),
    /// It returns a text of this many bytes.
    ReturnsLong(usize),
    /// It returns nothing.
    Silent,
    /// It fails, with a message that begins so.
    Fails(FailureKind, &'static str),
}

/// Its time or its budget ends it.
pub(super) const TIMEOUT: End = End::Fails(FailureKind::Timeout, "");
/// Its heap limit ends it.
pub(super) const HEAP: End = End::Fails(FailureKind::WorkerExit, "heap limit of ");

pub(super) const fn throws(message: &'static str) -> End {
    End::Fails(FailureKind::Exception, message)
}

pub(super) const fn lossy(message: &'static str) -> End {
    End::Fails(FailureKind::InvalidOutput, message)
}

/// A program under a heap of 32 MiB that is answered within 2.25 s, the time of one that nothing but its limit ends.
pub(super) fn case(name: &'static str, program: impl Into<Cow<'static, str>>, end: End) -> Case {
    Case {
        name,
        program: program.into(),
        end,
        heap_mb: 32,
        output_bytes: 64 << 20,
        within: LIMIT + LATENESS,
        trimmed: false,
    }
}

impl Case {
    /// The same with another heap, where 32 MiB would be met first.
    pub(super) fn with_heap_mb(self, heap_mb: usize) -> Self {
        Self { heap_mb, ..self }
    }

    /// The same with less room for its output.
    pub(super) fn with_output_bytes(self, output_bytes: usize) -> Self {
        Self { output_bytes, ..self }
    }

    /// The same with more time for its answer, and why.
    pub(super) fn answered_within(self, seconds: u64, why: &'static str) -> Self {
        assert!(why.len() > 20 && seconds < 60, "{}", self.name);
        Self { within: Duration::from_secs(seconds), ..self }
    }

    /// The same, where the host's allocator keeps much of what was given back to it: it is asked for that first.
    pub(super) fn trimmed(self, why: &'static str) -> Self {
        assert!(why.len() > 20, "{}", self.name);
        Self { trimmed: true, ..self }
    }

    /// Runs it. What is wrong with it, if anything.
    fn problem(&self) -> Option<String> {
        let mut config = HostConfig::default();
        let limit = match self.end {
            End::Fails(FailureKind::Timeout, _) => LIMIT,
            _ => ROOM.max(self.within * 6),
        };
        config.runtime.limits.compute = limit;
        config.runtime.limits.max_wall = limit;
        config.runtime.limits.max_old_generation_size_mb = self.heap_mb;
        config.runtime.limits.max_output_bytes = self.output_bytes;
        // The next run begins when the isolate before it is gone.
        config.runtime.max_concurrent_runs = 1;
        config.runtime.max_abandoned_isolates = 0;
        let host = Host::made(config);
        // What the first run of a process brings in is not the program's.
        host.value("return 1");
        let before = resident_kib();
        let stalls = Stalls::watch();
        let run = host.run(&self.program);
        let stalled = stalls.total();
        println!("{:>9.1?} (stalled {stalled:.1?}) {}", run.elapsed, self.name);
        if run.elapsed > self.within + stalled {
            return Some(format!("answered after {:?}, not within {:?}", run.elapsed, self.within + stalled));
        }
        if !self.is_end_of(&run) {
            return Some(run.text().chars().take(500).collect());
        }
        for _ in 0..FOLLOWING {
            let next = host.run("return 1");
            if next.result.is_error() {
                return Some(format!("the next run ended so: {}", next.text()));
            }
        }
        // What the host was told belongs to this test.
        drop(run);
        host.take_events();
        if self.trimmed {
            trim();
        }
        let after = resident_kib();
        (after > before + MORE_KIB).then(|| format!("{before} KiB were resident before, {after} after"))
    }

    fn is_end_of(&self, run: &Run) -> bool {
        let value = run.result.value().map(|value| value.get("result").cloned());
        match (&self.end, value) {
            (End::Returns(json), Some(Some(value))) => Json::parse(json).unwrap() == value,
            (End::ReturnsLong(bytes), Some(Some(value))) => value.as_str().map(str::len) == Some(*bytes),
            (End::Silent, Some(None)) => true,
            (End::Fails(kind, message), None) => {
                let failure = run.failure();
                failure.kind == *kind && failure.message.starts_with(message)
            }
            _ => false,
        }
    }
}

/// Checks all cases of a group, in a process of its own, and names all that fail. `test` is the path of the test below
/// `hostile`.
#[track_caller]
pub(super) fn check(test: &str, cases: impl IntoIterator<Item = Case>) {
    in_own_process(test, || {
        let problems: Vec<String> = cases
            .into_iter()
            .filter_map(|case| Some(format!("{}: {}\n{}", case.name, case.problem()?, case.program)))
            .collect();
        assert!(problems.is_empty(), "\n{}", problems.join("\n\n"));
    });
}

/// Runs `body` in a process that runs this very test and no other.
#[track_caller]
fn in_own_process(test: &str, body: impl FnOnce()) {
    const MARK: &str = "CODE_MODE_TEST_OF_ITS_OWN";
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let _alone = alone();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&format!("hostile::{test}"), "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = output.status.success() && told.contains("1 passed");
    assert!(passed, "{}\n{told}{errors}", output.status);
}

/// How long the threads of this process were ready to run and did not: the machine had others.
struct Stalls {
    over: Arc<AtomicBool>,
    watcher: std::thread::JoinHandle<Duration>,
}

impl Stalls {
    const LOOK_EVERY: Duration = Duration::from_millis(5);

    fn watch() -> Self {
        let over = Arc::<AtomicBool>::default();
        let watcher = std::thread::spawn({
            let over = Arc::clone(&over);
            let first = run_delays();
            move || {
                // A thread that has ended is remembered as it was last seen.
                let mut last = first.clone();
                while !over.load(Ordering::Acquire) {
                    std::thread::park_timeout(Self::LOOK_EVERY);
                    last.extend(run_delays());
                }
                let before = |thread| first.get(thread).copied().unwrap_or_default();
                last.iter().map(|(thread, delay)| delay.saturating_sub(before(thread))).sum()
            }
        });
        Self { over, watcher }
    }

    fn total(self) -> Duration {
        self.over.store(true, Ordering::Release);
        self.watcher.thread().unpark();
        self.watcher.join().unwrap()
    }
}

/// By thread of this process, how long it has waited for a processor; nothing where nobody says.
fn run_delays() -> HashMap<String, Duration> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let delay = |thread: std::fs::DirEntry| {
        let name = thread.file_name().into_string().ok()?;
        let figures = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanos = figures.split_whitespace().nth(1)?.parse().ok()?;
        Some((name, Duration::from_nanos(nanos)))
    };
    threads.filter_map(delay).collect()
}

/// The memory of this process that is in use, in KiB; 0 where nobody says.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}

/// Makes `malloc` give back what nobody has allocated.
fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // SAFETY: it touches only what nobody has allocated, and may be called at any time.
        unsafe { malloc_trim(0) };
    }
}
