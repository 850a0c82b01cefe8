//! Reading a whole file as text.

use std::io::Read;

use code_mode_registry::Signal;

use crate::{
    error::FolderError,
    folder::{Folder, Place},
    work::check,
};

/// The largest file that is read or written, in MiB. Enforced while reading, whatever the file
/// system says the size is.
pub(crate) const MAX_FILE_MIB: u64 = 32;
pub(crate) const MAX_FILE_BYTES: u64 = MAX_FILE_MIB << 20;

/// Bytes between two looks at the signal, and the part that tells a binary file.
const CHUNK_BYTES: u64 = 64 << 10;

/// The text of a file.
pub(crate) fn read(folder: &Folder, place: &Place, signal: &Signal) -> Result<String, FolderError> {
    read_counted(folder, place, signal, &mut 0)
}

/// The same; adds to `read_bytes` how much was read, also if it is no text.
pub(crate) fn read_counted(
    folder: &Folder,
    place: &Place,
    signal: &Signal,
    read_bytes: &mut usize,
) -> Result<String, FolderError> {
    read_from(folder.open_file(place)?, place, signal, read_bytes)
}

fn read_from(
    mut file: impl Read,
    place: &Place,
    signal: &Signal,
    read_bytes: &mut usize,
) -> Result<String, FolderError> {
    let mut bytes = Vec::new();
    loop {
        check(signal)?;
        let before = bytes.len();
        file.by_ref()
            .take(CHUNK_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|source| FolderError::from_io("read", place.as_str(), source))?;
        *read_bytes += bytes.len() - before;
        // A zero byte is valid UTF-8 and no text.
        if let Some(offset) = bytes[before..].iter().position(|byte| *byte == 0) {
            return Err(not_text(place, before + offset, 0));
        }
        if bytes.len() == before {
            break;
        }
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(FolderError::TooLarge {
                path: place.to_string(),
                bytes: bytes.len() as u64,
                limit_mib: MAX_FILE_MIB,
            });
        }
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        not_text(place, offset, error.as_bytes()[offset])
    })
}

fn not_text(place: &Place, offset: usize, byte: u8) -> FolderError {
    FolderError::NotText { path: place.to_string(), offset, byte }
}

#[cfg(test)]
mod tests {
    use std::io;

    use code_mode_registry::SignalSource;

    use super::*;

    fn read_bytes(reader: impl Read) -> Result<String, String> {
        let place = Place::parse("f").unwrap();
        read_from(reader, &place, &Signal::never(), &mut 0).map_err(|error| error.to_string())
    }

    #[test]
    fn text_is_kept_as_it_is() {
        let text = "\u{feff}a\r\nb\n\n é😀";
        assert_eq!(read_bytes(text.as_bytes()), Ok(text.to_owned()));
        assert_eq!(read_bytes(io::empty()), Ok(String::new()));
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        let refused = |offset, byte| {
            Err(format!("\"f\" is not text (byte {offset} is {byte}): only UTF-8 text can be read"))
        };
        assert_eq!(read_bytes(&b"ab\0c"[..]), refused(2, "0x00"));
        assert_eq!(read_bytes(&b"caf\xe9 au lait"[..]), refused(3, "0xe9"));
        assert_eq!(read_bytes(&b"cut \xf0\x9f"[..]), refused(4, "0xf0"));
    }

    #[test]
    fn endless_file_is_refused_at_the_limit() {
        let error = read_bytes(io::repeat(b'x')).unwrap_err();
        assert!(error.ends_with("at most 32 MiB are read or written"), "{error}");
    }

    #[test]
    fn cancellation_stops_between_chunks() {
        struct Cancels(SignalSource);
        impl Read for Cancels {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.cancel("enough");
                buffer.fill(b'x');
                Ok(buffer.len())
            }
        }
        let source = SignalSource::new();
        let signal = source.signal();
        let place = Place::parse("f").unwrap();
        let outcome = read_from(Cancels(source), &place, &signal, &mut 0);
        assert!(matches!(outcome, Err(FolderError::Aborted)));
    }
}
