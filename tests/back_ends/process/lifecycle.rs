//! How workers start, are used again, are replaced, and end.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use code_mode::runtime::MisuseError;
use code_mode::{FailureKind, ProcessRuntimeConfig};
use rustix::process::Signal;

use super::roles::{FORGETFUL, HOST, MUTE};
use super::watch::{self, SOON, eventually, is_alive, settled};
use super::{config, made};
use crate::subject::{Subject, Tools, request, requesting};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<()>> {
    cases![
        worker_is_started_before_it_is_needed_unless_none_shall_be,
        worker_serves_many_runs_and_is_replaced_after_its_last,
        worker_that_has_grown_is_replaced,
        dropped_runtime_leaves_nothing_behind,
        host_that_is_killed_takes_its_workers_along,
        executable_that_is_no_worker_is_a_clear_error,
        worker_that_goes_on_as_a_host_is_refused_a_runtime,
        worker_that_is_stopped_is_answered_at_the_wall_limit_and_ended,
        memory_beyond_the_limit_of_the_process_ends_the_worker_only,
        worker_knows_nothing_of_the_hosts_environment,
        idle_worker_holds_little_memory_of_its_own,
    ]
}

/// Runs a program so that the worker's id is known while it runs.
fn busy_worker(runtime: &code_mode::ProcessRuntime, subject: &Subject) -> u32 {
    subject.check_serves("nothing");
    let ids = runtime.worker_ids();
    assert_eq!(ids.len(), 1, "one worker was expected: {ids:?}");
    ids[0]
}

fn alone() -> ProcessRuntimeConfig {
    let mut config = config();
    config.spare_workers = 0;
    config
}

fn worker_is_started_before_it_is_needed_unless_none_shall_be((): ()) {
    for spare_workers in 0..3 {
        let mut config = config();
        config.spare_workers = spare_workers;
        config.max_concurrent_runs = 2;
        let (runtime, subject) = made(config);
        eventually("all are there", SOON, || runtime.worker_ids().len() == spare_workers);
        let ahead = runtime.worker_ids();
        subject.check_serves("nothing");
        // None of them was passed over.
        assert!(ahead.iter().all(|id| runtime.worker_ids().contains(id)));
        eventually("as many are to spare beside it", SOON, || {
            runtime.worker_ids().len() == spare_workers + 1
        });
    }
}

fn worker_serves_many_runs_and_is_replaced_after_its_last((): ()) {
    let mut config = alone();
    config.max_runs_per_worker = 3;
    let (runtime, subject) = made(config);
    let first = busy_worker(&runtime, &subject);
    subject.check_serves("one run");
    assert_eq!(runtime.worker_ids(), [first]);
    subject.check_serves("two runs");
    eventually("the worker has ended", SOON, || !is_alive(first));
    assert_ne!(busy_worker(&runtime, &subject), first);
}

fn worker_that_has_grown_is_replaced((): ()) {
    let mut config = alone();
    config.max_idle_worker_bytes = 1;
    let (runtime, subject) = made(config);
    for _ in 0..2 {
        subject.check_serves("a start");
        eventually("no worker is kept", SOON, || runtime.worker_ids().is_empty());
    }
}

fn dropped_runtime_leaves_nothing_behind((): ()) {
    // Whatever is started once per process is there afterwards.
    drop(made(config()).1.run("return 1"));
    let before = settled();
    for _ in 0..3 {
        let mut config = config();
        config.max_concurrent_runs = 3;
        config.spare_workers = 2;
        let (runtime, subject) = made(config);
        let (tools, mut told) = Tools::telling();
        let unfinished = subject.spawn(requesting("for (;;) await tools.hold({})", tools));
        subject.check_serves("nothing");
        subject.tokio.block_on(told.recv()).unwrap();
        unfinished.abort();
        drop((runtime, subject));
    }
    assert_eq!(settled(), before);
}

fn host_that_is_killed_takes_its_workers_along((): ()) {
    let mut host = Command::new(std::env::current_exe().unwrap())
        .arg(HOST)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ids = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut ids).unwrap();
    let ids: Vec<u32> =
        ids.trim().trim_matches(['[', ']']).split(", ").map(|id| id.parse().unwrap()).collect();
    assert!(ids.len() >= 2 && ids.iter().all(|id| is_alive(*id)), "{ids:?}");
    host.kill().unwrap();
    let took =
        eventually("its workers are gone", Duration::from_secs(1), || !ids.iter().any(|id| is_alive(*id)));
    host.wait().unwrap();
    println!("workers of a killed host were gone after {took:?}");
}

fn start_error(change: impl FnOnce(&mut ProcessRuntimeConfig)) -> String {
    let mut config = alone();
    change(&mut config);
    let (_, subject) = made(config);
    match subject.request(request("return 1")) {
        Err(MisuseError::Worker { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

fn executable_that_is_no_worker_is_a_clear_error((): ()) {
    let advice = "its `main` must begin with code_mode::worker::run_if_requested()";
    let ended = start_error(|config| config.executable = Some("/bin/true".into()));
    assert_eq!(
        ended,
        format!("/bin/true does not answer as a worker (it ended with exit status: 0): {advice}")
    );
    let silent = start_error(|config| {
        config.arguments = vec![MUTE.into()];
        config.start_timeout = Duration::from_millis(300);
    });
    assert!(
        silent.ends_with(&format!("does not answer as a worker (silent for 300ms): {advice}")),
        "{silent}"
    );
    let missing = start_error(|config| config.executable = Some("/no/such/program".into()));
    assert!(missing.starts_with("/no/such/program cannot be started: "), "{missing}");
}

fn worker_that_goes_on_as_a_host_is_refused_a_runtime((): ()) {
    let ended = start_error(|config| config.arguments = vec![FORGETFUL.into()]);
    assert!(ended.contains("(it ended with exit status: 7)"), "{ended}");
}

fn worker_that_is_stopped_is_answered_at_the_wall_limit_and_ended((): ()) {
    let mut config = alone();
    config.limits.max_wall = Duration::from_secs(3);
    let (runtime, subject) = made(config);
    let worker = busy_worker(&runtime, &subject);
    watch::signal(worker, Signal::STOP);
    let failure = subject.failure("return 1");
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Timeout, "wall-clock ceiling reached (3000ms)")
    );
    eventually("the worker has ended", SOON, || !is_alive(worker));
    subject.check_serves("a worker that was stopped");
}

fn memory_beyond_the_limit_of_the_process_ends_the_worker_only((): ()) {
    let mut config = alone();
    config.limits.max_old_generation_size_mb = 2048;
    config.max_worker_bytes = Some(1 << 30);
    let (_, subject) = made(config);
    let failure = subject.failure("const all = []; for (;;) all.push(new Array(1e5).fill(1.5))");
    // V8 ends its process, QuickJS throws.
    let kind = if cfg!(feature = "quickjs") { FailureKind::Exception } else { FailureKind::WorkerExit };
    assert_eq!(failure.kind, kind, "{}", failure.message);
    subject.check_serves("a worker without memory");
}

fn worker_knows_nothing_of_the_hosts_environment((): ()) {
    let (runtime, subject) = made(alone());
    let worker = busy_worker(&runtime, &subject);
    let environment = std::fs::read(format!("/proc/{worker}/environ")).unwrap();
    let names: Vec<String> = environment
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
        .map(|entry| String::from_utf8_lossy(entry).split('=').next().unwrap().to_owned())
        .collect();
    let kept =
        ["CODE_MODE_WORKER", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_TIME", "LC_MESSAGES", "LD_LIBRARY_PATH"];
    assert!(names.iter().all(|name| kept.contains(&name.as_str())), "{names:?}");
    // Of the host's files it has none open but its streams.
    let open: Vec<String> = std::fs::read_dir(format!("/proc/{worker}/fd"))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .map(|target| target.display().to_string())
        .filter(|target| target.starts_with('/') && !target.starts_with("/dev/"))
        .collect();
    assert!(open.is_empty(), "{open:?}");
}

fn idle_worker_holds_little_memory_of_its_own((): ()) {
    let (runtime, subject) = made(alone());
    let worker = busy_worker(&runtime, &subject);
    // The isolate is taken apart after the answer.
    let most = 12 << 10;
    let mut kib = u64::MAX;
    eventually("the worker is small", SOON, || {
        kib = watch::private_kib(worker);
        kib <= most
    });
    println!("an idle worker has {kib} KiB of its own");
}
