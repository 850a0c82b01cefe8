//! What a worker does to itself, so that it can take nothing else along.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Makes the system end this process when the thread that started it ends,
/// which is one that the host keeps for as long as it wants the worker. Where a
/// system cannot do that, the end of the control stream says the same, later.
pub(super) fn die_with_host() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // If the system refuses, the end of the stream remains.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        // Should memory run out, a worker goes first.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    }
}

/// Closes what the host had open without meaning to hand it on. To be called
/// first thing in `main`.
pub(super) fn close_inherited() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: at the beginning of `main` nothing in this process has opened a
    // descriptor beyond the standard ones, so nobody's is closed. An old system
    // that does not know the call changes nothing.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0);
    }
}

/// Limits the memory of this process, and that it leaves no image of it behind.
/// `RLIMIT_DATA` and not the address space, of which V8 reserves far more than
/// it uses.
pub(super) fn limit_data(bytes: u64) {
    lower(Resource::Data, bytes);
    lower(Resource::Core, 0);
}

fn lower(resource: Resource, to: u64) {
    let Rlimit { current, maximum } = getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    // A limit is never raised, so the system has no reason to refuse.
    let _ = setrlimit(resource, Rlimit { current: lower(current), maximum: lower(maximum) });
}

/// Ends this process at once, whatever its threads do.
pub(super) fn end_process(status: i32) -> ! {
    // SAFETY: no memory of this process is used afterwards; nothing that should
    // be flushed is held by a worker.
    unsafe { libc::_exit(status) }
}
