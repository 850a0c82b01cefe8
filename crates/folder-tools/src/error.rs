//! What can go wrong, written for the model: what, where, and what to do.

use std::io;

use code_mode_registry::{ErrorInfo, ToolError};
use rustix::io::Errno;

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
    /// A file's path that ends as only a folder's does.
    #[error("{path:?} ends like a folder's path: a file's has no \"/\" or \".\" at its end")]
    FolderPath { path: String },
    /// A device, a socket, a pipe.
    #[error("{path:?} is a device, a socket or a pipe: only files and folders can be used, leave it out")]
    Special { path: String },
    /// A symlink whose target is not there, where a file was to be made.
    #[error("{path:?} is a symlink to nothing: choose another name for the new file")]
    LinkToNothing { path: String },
    /// Symlinks that lead back to themselves.
    #[error("{path:?} cannot be followed: a symlink on the way leads back to itself, leave it out")]
    LinkLoop { path: String },
    /// Mode `create` on a file that exists.
    #[error("{path:?} exists already: mode \"replace\" overwrites it, \"append\" adds to it")]
    Exists { path: String },
    /// Bytes that are no UTF-8 text, or a zero byte.
    #[error("{path:?} is not text (byte {offset} is {byte:#04x}): only UTF-8 text can be read")]
    NotText { path: String, offset: usize, byte: u8 },
    /// More bytes than are read or written.
    #[error("{path:?}: {bytes} bytes or more, but at most {limit_mib} MiB are read or written")]
    TooLarge { path: String, bytes: u64, limit_mib: u64 },
    /// Lines to skip that the file does not have.
    #[error("offset {offset} is past the end of {path:?}: it has {}", last_line(*lines))]
    PastEnd { path: String, offset: usize, lines: usize },
    /// A line that does not fit into one result.
    #[error(
        "line {line} of {path:?} has {bytes} bytes, but at most {limit_mib} MiB are returned at once: search_text finds text in its first 64 KiB"
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
    /// A cursor that no result of such a call had.
    #[error(
        "cursor {cursor:?} is not one: pass the `next` of the previous result unchanged, with the other arguments as they were"
    )]
    Cursor { cursor: String },
    /// The operating system refuses it to this process.
    #[error("no permission to {action} {path:?}: nothing a call can change, leave it out or ask the user")]
    NoPermission { action: &'static str, path: String, source: io::Error },
    /// There is no room for what was to be written.
    #[error("cannot {action} {path:?}: the disk is full, ask the user to make room")]
    NoRoom { action: &'static str, path: String, source: io::Error },
    /// What is there may not be changed by anybody.
    #[error("cannot {action} {path:?}: it is on a read-only file system, ask the user for another place")]
    ReadOnly { action: &'static str, path: String, source: io::Error },
    /// A name that the file system does not take.
    #[error(
        "{path:?} cannot be a path here: a name in it is too long (most file systems take 255 bytes) or has a character that names may not have"
    )]
    Name { path: String, source: io::Error },
    /// Anything else the operating system said. Its words go to the operator, as the error's source.
    #[error("cannot {action} {path:?}: the operating system failed, try again once or leave it out")]
    Io { action: &'static str, path: String, source: io::Error },
    /// The call was cancelled.
    #[error("tool call aborted")]
    Aborted,
    /// The call was awaited outside a tokio runtime.
    #[error("folder tools need a tokio runtime: await the call inside one")]
    NoTokio,
}

fn last_line(lines: usize) -> String {
    match lines {
        0 => "no line".to_owned(),
        1 => "1 line, which is at offset 0".to_owned(),
        _ => format!("{lines} lines, the last one at offset {}", lines - 1),
    }
}

impl FolderError {
    /// What an error of the operating system means for `path`.
    pub(crate) fn from_io(action: &'static str, path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        let errno = Errno::from_io_error(&source);
        let is = |expected| errno == Some(expected);
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::IsADirectory => Self::IsFolder { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            // The handle's own refusal has no code of the operating system.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => Self::Outside { path },
            io::ErrorKind::PermissionDenied => Self::NoPermission { action, path, source },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoRoom { action, path, source }
            }
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { action, path, source },
            // Too long; or a zero byte, which never reaches the operating system.
            io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => Self::Name { path, source },
            _ if is(Errno::LOOP) => Self::LinkLoop { path },
            // A socket, or a pipe that nobody reads.
            _ if is(Errno::NXIO) => Self::Special { path },
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The message, and what the operator is told beside it.
    #[track_caller]
    fn check(source: io::Error, message: &str) {
        let error = FolderError::from_io("write", "a/b", source);
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn words_of_the_operating_system_do_not_reach_the_model() {
        let errno = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        check(errno(Errno::NOENT), r#""a/b" does not exist: list_dir shows what does"#);
        check(
            errno(Errno::ACCESS),
            r#"no permission to write "a/b": nothing a call can change, leave it out or ask the user"#,
        );
        check(
            errno(Errno::PERM),
            r#"no permission to write "a/b": nothing a call can change, leave it out or ask the user"#,
        );
        check(errno(Errno::NOSPC), r#"cannot write "a/b": the disk is full, ask the user to make room"#);
        check(
            errno(Errno::ROFS),
            r#"cannot write "a/b": it is on a read-only file system, ask the user for another place"#,
        );
        check(
            errno(Errno::NAMETOOLONG),
            r#""a/b" cannot be a path here: a name in it is too long (most file systems take 255 bytes) or has a character that names may not have"#,
        );
        check(
            errno(Errno::LOOP),
            r#""a/b" cannot be followed: a symlink on the way leads back to itself, leave it out"#,
        );
        check(
            errno(Errno::NXIO),
            r#""a/b" is a device, a socket or a pipe: only files and folders can be used, leave it out"#,
        );
        check(
            errno(Errno::IO),
            r#"cannot write "a/b": the operating system failed, try again once or leave it out"#,
        );
        check(
            errno(Errno::MFILE),
            r#"cannot write "a/b": the operating system failed, try again once or leave it out"#,
        );
    }
}
