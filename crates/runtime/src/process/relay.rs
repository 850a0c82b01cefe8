//! The calls of a program in a worker, on their way to the host and back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::confine;
use super::frame::Receiver;
use super::protocol::{Return, ToHost};
use super::worker::ToHostStream;
use crate::bridge::call::{Calls, Late};

/// The calls of one run.
pub(super) struct Relay {
    run: u32,
    to_host: ToHostStream,
    /// What the host says at once to each call. Only the thread of the current
    /// run's isolate reads it.
    returns: Arc<Mutex<Receiver>>,
    last: AtomicU32,
    /// Calls that are not answered, by number.
    pending: Mutex<HashMap<u32, Late>>,
}

impl Relay {
    pub(super) fn new(run: u32, to_host: ToHostStream, returns: Arc<Mutex<Receiver>>) -> Self {
        Self { run, to_host, returns, last: AtomicU32::new(0), pending: Mutex::default() }
    }

    /// Hands on an answer that came late; false if nothing waits for it.
    pub(super) fn settle(&self, call: u32, answer: &str) -> bool {
        let late = self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&call);
        late.map(|late| late(answer.to_owned())).is_some()
    }

    /// What the host says at once; nothing if it says what it may not.
    fn returned(&self, call: u32) -> Option<Option<String>> {
        let mut returns = self.returns.lock().unwrap_or_else(PoisonError::into_inner);
        match returns.receive() {
            Ok(Some(Return::Now { call: of, answer })) if of == call => Some(Some(answer.to_owned())),
            Ok(Some(Return::Later { call: of })) if of == call => Some(None),
            _ => None,
        }
    }
}

impl Calls for Relay {
    /// Waits for what the host says at once, as a call of the `thread` back end
    /// waits while the host looks at it.
    fn call(&self, namespace: u32, function: u32, arguments: String, late: Late) -> Option<String> {
        let call = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        // Before the host knows of it, as the answer comes on another thread.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(call, late);
        self.to_host.say(&ToHost::Call { run: self.run, call, namespace, function, arguments: &arguments });
        let Some(returned) = self.returned(call) else { confine::end_process(0) };
        if returned.is_some() {
            self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&call);
        }
        returned
    }
}
