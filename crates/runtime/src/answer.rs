//! The caller's side of a run: it hands on the log, waits for the end, and
//! answers without it where the limits' grace has passed. Decision 27.

use std::future::{Future as _, poll_fn};
use std::task::Poll;

use code_mode_registry::Signal;
use code_mode_schema::Json;
use tokio::sync::mpsc;

use crate::isolate::{Caller, End, Limits, RunControl};
use crate::ledger::{self, LogMeter};
use crate::outcome;
use crate::seam::{Failure, FailureKind, LogSink, RunOutcome};

/// What a caller is told. The entries are bounded by the output limit; the end
/// comes once, last.
pub(crate) enum Told {
    /// One entry of the log.
    Log(String),
    /// How the program ended, before the output limit is applied.
    End { end: Result<Option<Json>, Failure>, ends_with_expression: bool },
    /// What should run it was gone before it began: another may try.
    NotBegun,
}

/// Waits for the end of a run and answers; nothing if it never began. `abort` is
/// asked to stop it, with a reason, when the signal is cancelled.
pub(crate) async fn answer(
    control: &RunControl,
    mut told: mpsc::UnboundedReceiver<Told>,
    signal: &Signal,
    sink: Option<&dyn LogSink>,
    abort: impl Fn(String),
) -> Option<RunOutcome> {
    let _forgotten = ForgetCaller(control);
    let mut logs = Vec::new();
    let mut meter = LogMeter::new(control.limits.max_output_bytes);
    let mut cancelled = std::pin::pin!(signal.cancelled());
    let mut listening = true;
    let end = poll_fn(|context| {
        control.caller.register(context.waker());
        if listening && cancelled.as_mut().poll(context).is_ready() {
            listening = false;
            abort(reason(signal));
        }
        loop {
            match told.poll_recv(context) {
                Poll::Ready(Some(Told::Log(entry))) => {
                    if let Some(sink) = sink {
                        sink.entry(&entry);
                    }
                    // Who prints has been stopped if it is too much.
                    let _ = meter.add(&entry);
                    logs.push(entry);
                }
                Poll::Ready(Some(Told::End { mut end, ends_with_expression })) => {
                    // A cancellation that reaches a call of the program first makes it fail with that.
                    if signal.is_cancelled() && is_exception(&end) {
                        end = Err(Failure::new(FailureKind::Abort, reason(signal)));
                    }
                    return Poll::Ready(Some((end, ends_with_expression)));
                }
                Poll::Ready(Some(Told::NotBegun)) => return Poll::Ready(None),
                Poll::Ready(None) => {
                    let end = Err(outcome::lost("its thread ended before the program did"));
                    return Poll::Ready(Some((end, false)));
                }
                Poll::Pending if control.is_overdue() => {
                    return Poll::Ready(Some((Err(outcome::stopped(control)), false)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await;
    end.map(|(end, ends_with_expression)| {
        let (logs, end) = ledger::settle(logs, &meter, end);
        RunOutcome { logs, end, ends_with_expression }
    })
}

/// Forgets the caller's task when it has its answer, or is dropped: the watchdog
/// may know the run for some time yet, and a task keeps its tokio runtime.
struct ForgetCaller<'a>(&'a RunControl);

impl Drop for ForgetCaller<'_> {
    fn drop(&mut self) {
        drop(self.0.caller.take());
    }
}

/// The outcome of a run that failed before it began.
pub(crate) fn not_begun(failure: Failure, limits: &Limits) -> RunOutcome {
    let (logs, end) = ledger::settle(Vec::new(), &LogMeter::new(limits.max_output_bytes), Err(failure));
    RunOutcome { logs, end, ends_with_expression: false }
}

/// The outcome of a run that was cancelled before it began.
pub(crate) fn never_begun(signal: &Signal, limits: &Limits) -> RunOutcome {
    not_begun(Failure::new(FailureKind::Abort, reason(signal)), limits)
}

fn is_exception(end: &Result<Option<Json>, Failure>) -> bool {
    end.as_ref().is_err_and(|failure| failure.kind == FailureKind::Exception)
}

fn reason(signal: &Signal) -> String {
    signal.reason().map_or_else(
        || "AbortError: This operation was aborted".to_owned(),
        |reason| reason.as_str().to_owned(),
    )
}

/// Tells the caller from a thread of this process. The caller is gone only if
/// its run was dropped; then nobody is told.
impl Caller for mpsc::UnboundedSender<Told> {
    fn log(&self, entry: String) {
        let _ = self.send(Told::Log(entry));
    }

    fn end(&self, End { end, ends_with_expression }: End) {
        // Parsed here, on the isolate's thread, and not on the caller's.
        let end = end.and_then(|text| outcome::completed(text.as_deref()));
        let _ = self.send(Told::End { end, ends_with_expression });
    }
}

#[cfg(test)]
mod tests {
    use code_mode_registry::SignalSource;

    use super::*;

    /// How a run is told that was cancelled and had ended with `failure` before anybody noticed.
    #[track_caller]
    fn check(failure: FailureKind, told_as: FailureKind, message: &str) {
        let stop = SignalSource::new();
        stop.cancel("the user left");
        let (caller, told) = mpsc::unbounded_channel();
        let end = Err(Failure::new(failure, "its own"));
        caller.send(Told::End { end, ends_with_expression: false }).unwrap();
        let control = RunControl::new(Limits::default());
        let signal = stop.signal();
        let answer = answer(&control, told, &signal, None, |_| {});
        let failure = futures::executor::block_on(answer).unwrap().end.unwrap_err();
        assert_eq!((failure.kind, &*failure.message), (told_as, message));
    }

    #[test]
    fn cancellation_that_a_program_met_first_is_told_as_such() {
        check(FailureKind::Exception, FailureKind::Abort, "the user left");
    }

    #[test]
    fn limit_that_was_reached_before_a_cancellation_stays() {
        check(FailureKind::Timeout, FailureKind::Timeout, "its own");
    }
}
