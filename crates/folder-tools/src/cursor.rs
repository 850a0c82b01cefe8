//! Where a page ended, as text that the next call passes back.
//!
//! A cursor is a place, and a seal over it and the arguments that it belongs to: `src/main.rs#5b6bd3a1`. So a
//! cursor that was made up, or is passed along with other arguments, is refused, while one whose file is gone
//! meanwhile still says where to go on. The seal is against mistakes; it keeps nobody from anything.

use crate::error::FolderError;

/// The cursor for `place` among the results of a call with these arguments.
pub(crate) fn seal(place: &str, arguments: &[impl AsRef<str>]) -> String {
    format!("{place}#{:08x}", checksum(place, arguments))
}

/// The place that a cursor stands for.
pub(crate) fn open<'a>(cursor: &'a str, arguments: &[impl AsRef<str>]) -> Result<&'a str, FolderError> {
    cursor
        .rsplit_once('#')
        .map(|(place, _)| place)
        .filter(|place| seal(place, arguments) == cursor)
        .ok_or_else(|| FolderError::Cursor { cursor: cursor.to_owned() })
}

/// FNV-1a, which is the same in every version of everything.
fn checksum(place: &str, arguments: &[impl AsRef<str>]) -> u32 {
    let parts = std::iter::once(place).chain(arguments.iter().map(AsRef::as_ref));
    // A zero byte ends each part, as none has one of its own that matters.
    let bytes = parts.flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_opens_with_its_own_arguments_only() {
        let cursor = seal("a#b/c.rs", &["src", "*.rs"]);
        assert_eq!(open(&cursor, &["src", "*.rs"]).unwrap(), "a#b/c.rs");
        for arguments in [&["src", "*.ts"][..], &["src"], &["src*.rs", ""], &["", ""]] {
            assert!(open(&cursor, arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for cursor in ["", "#", "a", "a#", "a#00000000", "a/b.rs:12", "#811c9dc5"] {
            assert!(open(cursor, &["src"]).is_err(), "{cursor}");
        }
    }
}
