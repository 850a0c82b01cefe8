//! What can go wrong, written for the model: what, where, and what to do.

use std::io;

use code_mode_registry::{ErrorInfo, ToolError};

/// Why a call of a folder tool failed. Paths are as the call gave them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are what the message says")]
pub enum FolderError {
    /// No path at all.
    #[error("path is empty: \".\" is the folder itself")]
    EmptyPath,
    /// A path that starts at the root of the file system.
    #[error("{path:?} is absolute: give a path relative to the folder, which is \".\"")]
    Absolute { path: String },
    /// `..` or a symlink leads out of the folder.
    #[error("{path:?} leads out of the folder: only what is inside can be reached")]
    Outside { path: String },
    /// Nothing of that name.
    #[error("{path:?} does not exist: list_dir shows what does")]
    NotFound { path: String },
    /// A folder where a file was expected.
    #[error("{path:?} is a folder, not a file: list_dir shows what is in it")]
    IsFolder { path: String },
    /// A file where a folder was expected, at the end of the path or on the way.
    #[error("{path:?} is not a folder, or something on the way to it is not")]
    NotAFolder { path: String },
    /// A device, a socket, a pipe.
    #[error("{path:?} is neither a file nor a folder")]
    Special { path: String },
    /// Mode `create` on a file that exists.
    #[error("{path:?} exists already: mode \"replace\" overwrites it, \"append\" adds to it")]
    Exists { path: String },
    /// Bytes that are no UTF-8 text, or a zero byte.
    #[error("{path:?} is not text (byte {offset} is {byte:#04x}): only UTF-8 text can be read")]
    NotText { path: String, offset: usize, byte: u8 },
    /// More bytes than are read or written.
    #[error("{path:?}: {bytes} bytes or more, but at most {limit_mib} MiB are read or written")]
    TooLarge { path: String, bytes: u64, limit_mib: u64 },
    /// A line that does not fit into one result.
    #[error(
        "line {line} of {path:?} has {bytes} bytes, but at most {limit_mib} MiB are returned at once: search_text finds text in it"
    )]
    LongLine { path: String, line: usize, bytes: usize, limit_mib: usize },
    /// More entries than are listed.
    #[error("{path:?} has more than {limit} entries of its own, too many to list")]
    TooManyEntries { path: String, limit: usize },
    /// A pattern that is no regular expression.
    #[error("pattern is not a regular expression: {reason}; pass literal: true to search for it as it is")]
    Pattern { reason: String },
    /// A glob that is none.
    #[error("glob {glob:?} is not one: {reason}")]
    Glob { glob: String, reason: String },
    /// A cursor that no result had.
    #[error("cursor {cursor:?} is not one: pass the `next` of the previous result unchanged")]
    Cursor { cursor: String },
    /// Anything else the operating system said.
    #[error("cannot {action} {path:?}: {source}")]
    Io { action: &'static str, path: String, source: io::Error },
    /// The call was cancelled.
    #[error("tool call aborted")]
    Aborted,
    /// The call was awaited outside a tokio runtime.
    #[error("folder tools need a tokio runtime: await the call inside one")]
    NoTokio,
}

impl FolderError {
    /// What an error of the operating system means for `path`.
    pub(crate) fn from_io(action: &'static str, path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::IsADirectory => Self::IsFolder { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            // The handle's own refusal has no code of the operating system.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => Self::Outside { path },
            _ => Self::Io { action, path, source },
        }
    }

    /// The failure of the call. A cancelled call ends as contract 3.10 says.
    pub(crate) fn into_tool_error(self) -> ToolError {
        match self {
            Self::Aborted => ToolError::from(self).with_info(ErrorInfo::new("AbortError", "ABORTED")),
            other => other.into(),
        }
    }
}
