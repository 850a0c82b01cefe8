//! The engine of this process, and the threads that run isolates.
//!
//! V8 wants its threads to descend from the one that initialised it (memory
//! protection keys), and its flags freeze when it starts. So one thread starts
//! the engine and spawns every isolate's thread; it lives as long as the process.

use std::sync::OnceLock;

use deno_core::{JsRuntime, v8};

/// Stack of an isolate's thread. The engine limits programs to about 1 MiB of
/// it; parsing needs more, within the depth that `source` allows.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// Work for a new thread, which runs it with [`Engine::tokio`] entered.
type Work = Box<dyn FnOnce() + Send>;

/// The started engine.
pub(crate) struct Engine {
    spawn: tokio::sync::mpsc::UnboundedSender<Work>,
}

impl Engine {
    /// The engine, started by the first call.
    ///
    /// # Errors
    /// A reason why it could not be started; the same one every time.
    pub(crate) fn get() -> Result<&'static Self, String> {
        static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();
        ENGINE.get_or_init(start).as_ref().map_err(String::clone)
    }

    /// Runs `work` on a new thread.
    pub(crate) fn spawn(&self, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
        // The receiver lives as long as the process.
        self.spawn.send(Box::new(work)).map_err(|_| "the engine's thread has ended".to_owned())
    }
}

fn start() -> Result<Engine, String> {
    let (spawn, mut requests) = tokio::sync::mpsc::unbounded_channel::<Work>();
    let (started, outcome) = std::sync::mpsc::channel();
    let body = move || {
        // The engine posts delayed housekeeping to the runtime that is entered
        // when an isolate is made. This one is driven here, whatever becomes of
        // the embedder's.
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                // The receiver waits below.
                let _ = started.send(Err(error.to_string()));
                return;
            }
        };
        set_flags();
        JsRuntime::init_platform(None);
        let _ = started.send(Ok(()));
        let handle = runtime.handle().clone();
        runtime.block_on(async move {
            while let Some(work) = requests.recv().await {
                let handle = handle.clone();
                let thread =
                    std::thread::Builder::new().name("code-mode-isolate".to_owned()).stack_size(STACK_BYTES);
                let spawned = thread.spawn(move || {
                    let _entered = handle.enter();
                    work();
                });
                if let Err(error) = spawned {
                    // The work is dropped, and with it the run's outcome is
                    // reported as lost.
                    tracing::error!(%error, "no thread for an isolate");
                }
            }
        });
    };
    std::thread::Builder::new()
        .name("code-mode-engine".to_owned())
        .spawn(body)
        .map_err(|error| error.to_string())?;
    outcome.recv().map_err(|_| "the engine's thread panicked".to_owned())??;
    Ok(Engine { spawn })
}

/// Flags must be set before the engine starts.
fn set_flags() {
    #[cfg(feature = "v8")]
    v8::V8::set_flags_from_string(concat!(
        // Without it some loops over an inlined built-in lose their interrupt
        // check and cannot be stopped by anything.
        "--no-turboshaft-loop-unrolling",
        " --enable-sharedarraybuffer-per-context",
        // The snapshot is part of this very binary.
        " --no-verify-snapshot-checksum",
        // What a run used goes back to the system with its isolate, not seconds
        // later.
        " --no-memory-pool-share-memory-on-teardown",
    ));
    #[cfg(not(feature = "v8"))]
    let _ = v8::V8::get_version;
}
