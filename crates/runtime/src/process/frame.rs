//! Messages on a stream of bytes: each in one or more chunks, so that no length
//! that the other side claims is believed before its bytes are there.
//!
//! A chunk is four bytes, little-endian, and its content: the content's length,
//! at most [`CHUNK_BYTES`], and the top bit set if the message goes on.

use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};

/// The longest content of one chunk.
const CHUNK_BYTES: usize = 256 << 10;
const _: () = assert!(CHUNK_BYTES < GOES_ON as usize);
/// The longest message. An engine's longest string is half of it.
const MAX_MESSAGE_BYTES: usize = 1 << 30;
/// What is kept of a buffer between two messages.
const KEPT_BYTES: usize = 1 << 20;

const HEADER_BYTES: usize = 4;
const GOES_ON: u32 = 1 << 31;

/// What a stream carried that is no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error("the stream failed: {0}")]
    Io(#[from] io::Error),
    #[error("a chunk of {0} bytes, where at most {CHUNK_BYTES} are allowed")]
    Chunk(usize),
    #[error("a message of more than {MAX_MESSAGE_BYTES} bytes")]
    Message,
    #[error("no message of this protocol: {0}")]
    Shape(#[from] postcard::Error),
    #[error("{0} bytes after the end of a message")]
    Trailing(usize),
}

/// The bytes of `message`, chunked.
pub(super) fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    send(message, &mut bytes)
        .expect("a vector takes every write, and a message has no part of unknown length");
    bytes
}

/// Writes `message`, chunk by chunk, so that a long text is not copied as a whole.
///
/// # Errors
/// That the stream failed; it is of no use afterwards.
pub(super) fn send(message: &impl Serialize, stream: &mut impl Write) -> Result<(), FrameError> {
    let chunks = Chunks { stream, chunk: vec![0; HEADER_BYTES] };
    Ok(postcard::serialize_with_flavor(message, chunks)?)
}

/// Cuts what is serialized into chunks.
struct Chunks<'a, W> {
    stream: &'a mut W,
    /// A header that is not known yet, and the content so far.
    chunk: Vec<u8>,
}

impl<W: Write> Chunks<'_, W> {
    fn room(&self) -> usize {
        HEADER_BYTES + CHUNK_BYTES - self.chunk.len()
    }

    fn flush(&mut self, goes_on: bool) -> postcard::Result<()> {
        let header = header(self.chunk.len() - HEADER_BYTES, goes_on);
        self.chunk[..HEADER_BYTES].copy_from_slice(&header);
        // The kind of error that a serializer has for its output.
        self.stream.write_all(&self.chunk).map_err(|_| postcard::Error::SerializeBufferFull)?;
        self.chunk.truncate(HEADER_BYTES);
        Ok(())
    }
}

impl<W: Write> postcard::ser_flavors::Flavor for Chunks<'_, W> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, mut bytes: &[u8]) -> postcard::Result<()> {
        while bytes.len() > self.room() {
            let (now, later) = bytes.split_at(self.room());
            self.chunk.extend_from_slice(now);
            self.flush(true)?;
            bytes = later;
        }
        self.chunk.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(mut self) -> postcard::Result<()> {
        self.flush(false)
    }
}

fn header(content: usize, goes_on: bool) -> [u8; HEADER_BYTES] {
    let length = u32::try_from(content).expect("CHUNK_BYTES fits, and no chunk is longer");
    (length | if goes_on { GOES_ON } else { 0 }).to_le_bytes()
}

/// The receiving end of a stream.
pub(super) struct Receiver<R = UnixStream> {
    stream: BufReader<R>,
    message: Vec<u8>,
}

impl<R: Read> Receiver<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream: BufReader::with_capacity(64 << 10, stream), message: Vec::new() }
    }

    /// Waits for the next message; nothing where the stream ends before one.
    ///
    /// # Errors
    /// [`FrameError`] for whatever else comes; the stream is of no use afterwards.
    pub(super) fn receive<'a, M: Deserialize<'a>>(&'a mut self) -> Result<Option<M>, FrameError> {
        self.message.clear();
        self.message.shrink_to(KEPT_BYTES);
        loop {
            let Some(header) = self.header()? else { return Ok(None) };
            let content = (header & !GOES_ON) as usize;
            if content > CHUNK_BYTES {
                return Err(FrameError::Chunk(content));
            }
            let before = self.message.len();
            if before + content > MAX_MESSAGE_BYTES {
                return Err(FrameError::Message);
            }
            self.message.resize(before + content, 0);
            self.stream.read_exact(&mut self.message[before..])?;
            if header & GOES_ON == 0 {
                break;
            }
        }
        let (message, rest) = postcard::take_from_bytes(&self.message)?;
        if rest.is_empty() { Ok(Some(message)) } else { Err(FrameError::Trailing(rest.len())) }
    }

    /// The header of the next chunk; nothing where the stream ends before a message.
    fn header(&mut self) -> Result<Option<u32>, FrameError> {
        let mut header = [0; HEADER_BYTES];
        let mut read = 0;
        while read < HEADER_BYTES {
            match self.stream.read(&mut header[read..]) {
                Ok(0) if read == 0 && self.message.is_empty() => return Ok(None),
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(u32::from_le_bytes(header)))
    }

    /// The stream itself.
    pub(super) fn stream(&self) -> &R {
        self.stream.get_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Return, ToHost};
    use super::*;

    fn received<'a>(receiver: &'a mut Receiver<&[u8]>) -> Result<Option<Return<'a>>, FrameError> {
        receiver.receive()
    }

    #[test]
    fn messages_of_any_length_come_back_as_they_were() {
        for length in [0, 1, CHUNK_BYTES - 7, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES] {
            let answer = "é".repeat(length / 2);
            let sent = Return::Now { call: 7, answer: &answer };
            let mut bytes = encode(&sent);
            bytes.extend(encode(&Return::Later { call: 8 }));
            let mut receiver = Receiver::new(&bytes[..]);
            assert_eq!(received(&mut receiver).unwrap(), Some(sent));
            assert_eq!(received(&mut receiver).unwrap(), Some(Return::Later { call: 8 }));
            assert_eq!(received(&mut receiver).unwrap(), None);
        }
    }

    #[test]
    fn stream_that_ends_within_a_message_is_an_error_wherever_it_ends() {
        let answer = "x".repeat(CHUNK_BYTES + 10);
        let bytes = encode(&Return::Now { call: 7, answer: &answer });
        for end in [1, 3, 4, 5, CHUNK_BYTES, CHUNK_BYTES + 4, CHUNK_BYTES + 6, bytes.len() - 1] {
            assert!(received(&mut Receiver::new(&bytes[..end])).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn claimed_length_is_not_believed() {
        let claim = (!GOES_ON).to_le_bytes();
        let error = received(&mut Receiver::new(&claim[..])).unwrap_err();
        assert!(matches!(error, FrameError::Chunk(_)), "{error}");
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        for content in
            [&b""[..], b"\xff\xff", b"\x00\x01\xff\xff\xff\xff\x0f", b"\x00\x01\x02\xff\xff", b"\x01\x01\x00"]
        {
            let mut bytes = header(content.len(), false).to_vec();
            bytes.extend(content);
            assert!(received(&mut Receiver::new(&bytes[..])).is_err(), "{content:?}");
        }
    }

    #[test]
    fn every_cut_of_a_message_of_a_worker_is_refused() {
        let whole =
            encode(&ToHost::Call { run: 1, call: 300, namespace: 0, function: 9, arguments: "{\"a\":1}" });
        for length in 0..whole.len() - HEADER_BYTES {
            let mut bytes = header(length, false).to_vec();
            bytes.extend(&whole[HEADER_BYTES..HEADER_BYTES + length]);
            assert!(Receiver::new(&bytes[..]).receive::<ToHost<'_>>().is_err(), "{length} bytes");
        }
    }
}
