//! One call of a program on its way to the host: answered at once where that is
//! possible, else later.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use code_mode_schema::Json;

use crate::seam::{HostCall, HostFunctions, Namespace, Reply, Settlement};

/// Where an answer goes that comes after its call has returned.
pub(crate) type Late = Box<dyn FnOnce(String) + Send>;

/// Who answers the calls of a program.
///
/// An answer is text: `+` and JSON, or `-` and the message that the call rejects
/// with.
pub(crate) trait Calls: Send + Sync {
    /// Makes the call. The answer, if it is there at once; else `late` gets it.
    /// Called on the isolate's thread, on the host's time.
    fn call(&self, namespace: u32, function: u32, arguments: String, late: Late) -> Option<String>;
}

/// The host is in this process.
pub(crate) struct HostCalls {
    namespaces: Vec<Namespace>,
    embedder: tokio::runtime::Handle,
}

impl HostCalls {
    pub(crate) fn new(namespaces: Vec<Namespace>, embedder: tokio::runtime::Handle) -> Self {
        Self { namespaces, embedder }
    }

    /// As [`Calls::call`].
    pub(crate) fn make(
        &self,
        namespace: u32,
        function: u32,
        arguments: &str,
        late: impl FnOnce(String) + Send + 'static,
    ) -> Option<String> {
        let namespace = self.namespaces.get(namespace as usize);
        let Some(namespace) = namespace.filter(|each| (function as usize) < each.functions.len()) else {
            return Some("-unknown binding".to_owned());
        };
        // The guard has written this text, so it parses.
        match Json::parse(arguments) {
            Ok(arguments) => call_host(&*namespace.host, function as usize, arguments, &self.embedder, late),
            Err(error) => Some(format!("-binding arguments must be lossless JSON: {error}")),
        }
    }
}

impl Calls for HostCalls {
    fn call(&self, namespace: u32, function: u32, arguments: String, late: Late) -> Option<String> {
        self.make(namespace, function, &arguments, late)
    }
}

/// Calls the host with the embedder's tokio runtime entered.
fn call_host(
    host: &dyn HostFunctions,
    function: usize,
    arguments: Json,
    embedder: &tokio::runtime::Handle,
    late: impl FnOnce(String) + Send + 'static,
) -> Option<String> {
    let slot = Arc::new(Mutex::new(Slot::Calling(late)));
    let reply = Reply::new({
        let slot = Arc::clone(&slot);
        move |settlement| answered(&slot, settlement_text(settlement))
    });
    let call = || {
        let _entered = embedder.enter();
        host.call(HostCall { function, arguments, reply });
    };
    // A panic must not unwind into the engine's frames. The reply it dropped
    // fails the call.
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        tracing::error!("the host of a program's functions panicked");
    }
    returned(&slot)
}

/// The place of one answer: it goes back with the call while that has not
/// returned, and to `F` afterwards.
enum Slot<F> {
    Calling(F),
    Answered(String),
    Waiting(F),
    Done,
}

fn answered<F: FnOnce(String)>(slot: &Mutex<Slot<F>>, text: String) {
    let mut place = slot.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *place, Slot::Done) {
        Slot::Calling(_) => *place = Slot::Answered(text),
        Slot::Waiting(late) => {
            drop(place);
            late(text);
        }
        // A reply answers once.
        settled @ (Slot::Answered(_) | Slot::Done) => *place = settled,
    }
}

fn returned<F>(slot: &Mutex<Slot<F>>) -> Option<String> {
    let mut place = slot.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *place, Slot::Done) {
        Slot::Answered(text) => Some(text),
        Slot::Calling(late) | Slot::Waiting(late) => {
            *place = Slot::Waiting(late);
            None
        }
        Slot::Done => None,
    }
}

/// The longest text that an engine takes as one string, in bytes.
const MAX_TEXT_BYTES: usize = (1 << 29) - 24;

fn settlement_text(settlement: Settlement) -> String {
    match settlement {
        Ok(value) if value.text_len() >= MAX_TEXT_BYTES => {
            format!(
                "-the result has {} bytes of JSON, more than the {MAX_TEXT_BYTES} that a program can take",
                value.text_len()
            )
        }
        Ok(value) => {
            let mut text = String::with_capacity(1 + value.text_len());
            text.push('+');
            value.write_text(&mut text);
            text
        }
        Err(message) => format!("-{message}"),
    }
}
