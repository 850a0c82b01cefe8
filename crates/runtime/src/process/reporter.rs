//! The thread of a worker that tells the host of limits: that one is reached,
//! and that the isolate did not stop within the grace period.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::mpsc;

use super::protocol::{ToHost, WireCause};
use super::worker::RunCaller;
use crate::isolate::{End, RunControl};
use crate::outcome;

/// A run to report on.
type Run = (Arc<RunControl>, Arc<RunCaller>);

/// The thread. It sleeps unless a limit is reached.
pub(super) struct Reporter(mpsc::UnboundedSender<Run>);

impl Reporter {
    pub(super) fn start() -> Self {
        let (runs, received) = mpsc::unbounded_channel();
        let thread = std::thread::Builder::new().name("code-mode-reporter".to_owned());
        thread
            .spawn(move || futures::executor::block_on(work(received)))
            // Without the thread no limit would reach the host.
            .expect("the operating system can start one more thread");
        Self(runs)
    }

    /// Reports on `run` from now on, and on no other.
    pub(super) fn report(&self, control: Arc<RunControl>, caller: Arc<RunCaller>) {
        // The thread lives as long as this.
        let _ = self.0.send((control, caller));
    }
}

async fn work(mut runs: mpsc::UnboundedReceiver<Run>) {
    let mut current: Option<Run> = None;
    let mut told = false;
    poll_fn(|context| {
        loop {
            match runs.poll_recv(context) {
                Poll::Ready(Some(run)) => (current, told) = (Some(run), false),
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        let Some((control, caller)) = &current else { return Poll::Pending };
        control.caller.register(context.waker());
        if let Some(cause) = control.cause().filter(|_| !told && !control.is_stopped()) {
            told = true;
            if let Some(cause) = WireCause::of(cause) {
                caller.to_host.say(&ToHost::Stopping { run: caller.run, cause });
            }
        }
        if control.is_overdue() && !control.is_stopped() {
            let end = End { end: Err(outcome::stopped(control)), ends_with_expression: false };
            caller.say_end(&end, true);
        }
        Poll::Pending
    })
    .await;
}
