//! The host's end of a worker's control stream: never makes its caller wait.

use std::collections::VecDeque;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// Sends what the stream takes at once and leaves the rest to a thread, which
/// lives as long as there is any. What waits is bounded by the run: its program
/// and one answer for each of its pending calls.
pub(super) struct Outbox {
    stream: UnixStream,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    frames: VecDeque<Vec<u8>>,
    /// A thread is sending, so that nothing may overtake it.
    sending: bool,
}

impl Outbox {
    pub(super) fn new(stream: UnixStream) -> Arc<Self> {
        Arc::new(Self { stream, waiting: Mutex::default() })
    }

    /// Sends a message. To a worker that is gone nothing is sent: the end of its
    /// other stream says so.
    pub(super) fn post(self: &Arc<Self>, mut frame: Vec<u8>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.sending {
            waiting.frames.push_back(frame);
            return;
        }
        let Some(sent) = self.send_now(&frame) else { return };
        if sent == frame.len() {
            return;
        }
        waiting.frames.push_back(frame.split_off(sent));
        let outbox = Arc::clone(self);
        let thread = std::thread::Builder::new().name("code-mode-outbox".to_owned());
        match thread.spawn(move || outbox.send_rest()) {
            Ok(_) => waiting.sending = true,
            // Half a message was sent, so the stream is of no use any more.
            Err(error) => {
                tracing::error!(%error, "no thread to send to a worker");
                waiting.frames.clear();
                let _ = self.stream.shutdown(std::net::Shutdown::Both);
            }
        }
    }

    /// How much was taken at once; nothing if the worker is gone.
    fn send_now(&self, frame: &[u8]) -> Option<usize> {
        let mut sent = 0;
        while sent < frame.len() {
            match send(&self.stream, &frame[sent..], NOW) {
                Ok(bytes) => sent += bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => return None,
            }
        }
        Some(sent)
    }

    fn send_rest(&self) {
        loop {
            let frame = {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(frame) = waiting.frames.pop_front() else {
                    waiting.sending = false;
                    return;
                };
                frame
            };
            if (&self.stream).write_all(&frame).is_err() {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.frames.clear();
                waiting.sending = false;
                return;
            }
        }
    }
}

/// A worker that is gone is no reason for a signal. Apple's systems have no flag
/// for that; there the standard library has set the stream itself so.
#[cfg(not(target_vendor = "apple"))]
const NOW: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
#[cfg(target_vendor = "apple")]
const NOW: SendFlags = SendFlags::DONTWAIT;
