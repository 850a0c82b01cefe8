//! Starting a worker: the process, and the first words on both sides.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::config::ProcessRuntimeConfig;
use super::frame::{FrameError, Receiver, encode};
use super::outbox::Outbox;
use super::protocol::{GREETING, ToHost, ToWorker, VERSION};
use super::{BUILD, WORKER_ENV};

/// A worker that is ready.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) from_worker: Receiver,
    pub(super) outbox: Arc<Outbox>,
    pub(super) returns: UnixStream,
}

/// Why there is no worker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum StartError {
    #[error("{} cannot be started: {reason}", .executable.display())]
    Spawn { executable: PathBuf, reason: String },
    #[error(
        "{} does not answer as a worker ({reason}): its `main` must begin with code_mode::worker::run_if_requested()",
        .executable.display()
    )]
    NoWorker { executable: PathBuf, reason: String },
    #[error("the worker is of another build ({worker}) than this program ({host})")]
    Build { host: &'static str, worker: String },
    #[error("its JavaScript engine cannot be started: {reason}")]
    Engine { reason: String },
}

/// Starts a worker and waits until it is ready. To be called on the thread that
/// keeps it: the system ends the worker with this thread.
pub(super) fn start(config: &ProcessRuntimeConfig) -> Result<Started, StartError> {
    let executable = executable(config);
    let spawned = spawn(&executable, config);
    let (child, control, returns) = spawned
        .map_err(|error| StartError::Spawn { executable: executable.clone(), reason: error.to_string() })?;
    let mut child = Reaped(Some(child));
    let no_worker = |reason: String| StartError::NoWorker { executable: executable.clone(), reason };
    let streams = control.try_clone().map(|to_worker| (Receiver::new(control), Outbox::new(to_worker)));
    let (mut from_worker, outbox) = streams.map_err(|error| no_worker(error.to_string()))?;
    match greet(config, &mut from_worker, &outbox) {
        Ok(()) => {}
        Err(Unready::Start(error)) => return Err(error),
        Err(Unready::Silent(within)) => return Err(no_worker(format!("silent for {within:?}"))),
        Err(Unready::Frame(error)) => return Err(no_worker(error.to_string())),
        Err(Unready::Ended) => {
            return Err(no_worker(match child.status() {
                Ok(status) => format!("it ended with {status}"),
                Err(error) => format!("it ended: {error}"),
            }));
        }
    }
    let child = child.0.take().expect("only a status or a drop takes it");
    Ok(Started { child, from_worker, outbox, returns })
}

/// The executable that is running, even if another file has taken its path.
fn executable(config: &ProcessRuntimeConfig) -> PathBuf {
    if let Some(executable) = &config.executable {
        return executable.clone();
    }
    let running = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return running.to_owned();
    }
    std::env::current_exe().unwrap_or_else(|_| running.to_owned())
}

/// What a worker may know of the environment: how the system finds its libraries,
/// and what the engine's dates and languages depend on. No secrets.
const KEPT: &[&str] =
    &["TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_TIME", "LC_MESSAGES", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

fn spawn(executable: &Path, config: &ProcessRuntimeConfig) -> io::Result<(Child, UnixStream, UnixStream)> {
    let (control, its_control) = UnixStream::pair()?;
    let (returns, its_returns) = UnixStream::pair()?;
    let kept = KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let child = Command::new(executable)
        .args(&config.arguments)
        .env_clear()
        .envs(kept)
        .env(WORKER_ENV, VERSION.to_string())
        .stdin(OwnedFd::from(its_control))
        .stdout(OwnedFd::from(its_returns))
        .stderr(Stdio::null())
        // A signal from the host's terminal is the host's to act on.
        .process_group(0)
        .spawn()?;
    Ok((child, control, returns))
}

/// Why a worker is not ready.
enum Unready {
    Start(StartError),
    Silent(Duration),
    Frame(FrameError),
    Ended,
}

fn greet(
    config: &ProcessRuntimeConfig,
    from_worker: &mut Receiver,
    outbox: &Arc<Outbox>,
) -> Result<(), Unready> {
    let timeout = config.start_timeout.max(Duration::from_millis(1));
    let set = |receiver: &Receiver, timeout| {
        receiver.stream().set_read_timeout(timeout).map_err(|error| Unready::Frame(error.into()))
    };
    set(from_worker, Some(timeout))?;
    match hear(from_worker, timeout)? {
        ToHost::Hello { greeting: GREETING, version: VERSION, build: BUILD } => {}
        ToHost::Hello { greeting: GREETING, version, build } => {
            let worker = format!("{build}, protocol {version}");
            return Err(Unready::Start(StartError::Build { host: BUILD, worker }));
        }
        _ => return Err(unexpected()),
    }
    let limits = config.limits.clone();
    outbox.post(encode(&ToWorker::Configure { limits, max_data_bytes: config.worker_bytes() }));
    match hear(from_worker, timeout)? {
        ToHost::Ready => set(from_worker, None),
        ToHost::Broken { reason } => Err(Unready::Start(StartError::Engine { reason: reason.to_owned() })),
        _ => Err(unexpected()),
    }
}

fn hear<'a>(from_worker: &'a mut Receiver, timeout: Duration) -> Result<ToHost<'a>, Unready> {
    match from_worker.receive() {
        Ok(Some(message)) => Ok(message),
        Ok(None) => Err(Unready::Ended),
        Err(FrameError::Io(error))
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            Err(Unready::Silent(timeout))
        }
        Err(error) => Err(Unready::Frame(error)),
    }
}

fn unexpected() -> Unready {
    Unready::Frame(FrameError::Shape(postcard::Error::SerdeDeCustom))
}

/// A process that is ended and waited for if it is dropped.
struct Reaped(Option<Child>);

impl Reaped {
    /// How a process that has closed its streams ended.
    fn status(&mut self) -> io::Result<std::process::ExitStatus> {
        let Some(mut child) = self.0.take() else { return Err(io::ErrorKind::NotFound.into()) };
        // It may have closed them and go on.
        child.kill()?;
        child.wait()
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
