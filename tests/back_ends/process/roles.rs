//! The roles that this executable plays beside that of a worker, each asked for by its first argument.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use code_mode::{CodeRuntime as _, ProcessRuntime, RunRequest};

use crate::subject::Log;

use super::watch;

/// A test of its own, whose title follows.
pub(super) const ALONE: &str = "--play-alone";
/// A worker that is lost at a message: [`cut`]. Arguments: the message's number, and `before` or `after`.
pub(super) const CUT: &str = "--play-cut";
/// A worker that says something else: its argument, in hexadecimal digits.
pub(super) const BABBLE: &str = "--play-babble";
/// A program that is no worker and says nothing.
pub(super) const MUTE: &str = "--play-mute";
/// A program that is no worker and goes on as a host of its own.
pub(super) const FORGETFUL: &str = "--play-forgetful";
/// A host that prints the ids of its workers and waits.
pub(super) const HOST: &str = "--play-host";

pub(crate) fn play_if_requested() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [ALONE, title] => alone(title),
        [CUT, number, when] => cut(number.parse().unwrap(), when == "after"),
        [BABBLE, bytes] => babble(bytes),
        [MUTE] => wait(),
        [FORGETFUL] => {
            let refused = ProcessRuntime::new().is_err();
            std::process::exit(if refused { 7 } else { 0 });
        }
        [HOST] => host(),
        _ => {}
    }
}

fn alone(title: &str) -> ! {
    let (_, case) = super::cases().into_iter().find(|(known, _)| known == title).unwrap();
    case(());
    std::process::exit(0)
}

fn wait() -> ! {
    loop {
        std::thread::park();
    }
}

fn babble(bytes: &str) -> ! {
    let byte = |at: usize| u8::from_str_radix(&bytes[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..bytes.len()).step_by(2).map(byte).collect();
    File::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap()).write_all(&bytes).unwrap();
    wait()
}

/// Stands between the host and a real worker, and ends both itself and the worker with SIGKILL once it has seen so
/// many messages, the last one delivered or not.
fn cut(number: usize, after: bool) -> ! {
    let own = |fd: OwnedFd| UnixStream::from(fd);
    let host_control = own(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    let host_returns = own(std::io::stdout().as_fd().try_clone_to_owned().unwrap());
    let (control, its_control) = UnixStream::pair().unwrap();
    let (returns, its_returns) = UnixStream::pair().unwrap();
    let worker = Command::new("/proc/self/exe")
        .stdin(OwnedFd::from(its_control))
        .stdout(OwnedFd::from(its_returns))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let scissors = Arc::new(Scissors { left: Mutex::new(number), after, worker: Mutex::new(worker) });
    for (from, to) in [
        (control.try_clone().unwrap(), host_control.try_clone().unwrap()),
        (host_control, control),
        (host_returns, returns),
    ] {
        let scissors = Arc::clone(&scissors);
        std::thread::spawn(move || scissors.pass_on(from, to));
    }
    wait()
}

struct Scissors {
    /// Messages until the cut, on all streams together.
    left: Mutex<usize>,
    after: bool,
    worker: Mutex<Child>,
}

impl Scissors {
    fn pass_on(&self, mut from: UnixStream, mut to: UnixStream) {
        let mut header = [0; 4];
        while from.read_exact(&mut header).is_ok() {
            let header_value = u32::from_le_bytes(header);
            let (length, goes_on) = (header_value & !(1 << 31), header_value >> 31 == 1);
            let mut content = vec![0; length as usize];
            if from.read_exact(&mut content).is_err() {
                break;
            }
            let mut left = self.left.lock().unwrap();
            if !goes_on {
                *left -= 1;
            }
            if *left == 0 && !self.after {
                self.cut();
            }
            if to.write_all(&header).and_then(|()| to.write_all(&content)).is_err() {
                break;
            }
            if *left == 0 {
                self.cut();
            }
        }
        // One of the two has left.
        self.cut();
    }

    fn cut(&self) -> ! {
        let _ = self.worker.lock().unwrap().kill();
        watch::kill(std::process::id());
        wait()
    }
}

fn host() -> ! {
    let mut config = super::config();
    config.max_concurrent_runs = 2;
    config.spare_workers = 2;
    let runtime = ProcessRuntime::with_config(config).unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..2 {
        let said = said.clone();
        let mut request = RunRequest::new("console.log('spins'); for (;;) {}");
        request.logs = Some(Log::new(move |_| {
            let _ = said.send(());
        }));
        tokio.spawn(runtime.run(request));
    }
    tokio.block_on(async {
        heard.recv().await.unwrap();
        heard.recv().await.unwrap();
    });
    println!("{:?}", runtime.worker_ids());
    wait()
}
