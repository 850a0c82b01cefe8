//! File work: on a blocking thread, looking at the call's signal.

use code_mode_registry::{Signal, ToolError, ToolRunContext};
use tokio::runtime::Handle;

use crate::error::FolderError;

/// Runs `work` on one of tokio's blocking threads and waits for it. `work` is handed the call's
/// signal and must [`check`] it between steps that are short.
pub(crate) async fn blocking<T: Send + 'static>(
    ctx: ToolRunContext,
    work: impl FnOnce(&Signal) -> Result<T, FolderError> + Send + 'static,
) -> Result<T, ToolError> {
    let Ok(tokio) = Handle::try_current() else {
        return Err(FolderError::NoTokio.into_tool_error());
    };
    let signal = ctx.signal().clone();
    match tokio.spawn_blocking(move || work(&signal)).await {
        Ok(outcome) => outcome.map_err(FolderError::into_tool_error),
        // The pipeline makes a panic of a body a failure of its call.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime is shutting down.
        Err(_) => Err(FolderError::Aborted.into_tool_error()),
    }
}

/// Ends the work of a call that nobody wants any more.
pub(crate) fn check(signal: &Signal) -> Result<(), FolderError> {
    if signal.is_cancelled() {
        return Err(FolderError::Aborted);
    }
    Ok(())
}
