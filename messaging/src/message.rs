//! Reading a stream message (thesis 6.3).

use crate::engine::{Engine, Part};
use crate::format;
use crate::headers::HeaderStack;
use crate::{Error, Result};
use std::sync::Arc;
use weft_packet::Rank;

/// Bytes that a reader makes room for before they have arrived.
const READ_AHEAD_BYTES: usize = 1 << 20;

/// What is known of a message from its first packet.
#[derive(Clone, Copy)]
pub(crate) struct Body {
    pub from: Rank,
    pub number: u32,
    pub length: u64,
}

/// A message that nobody has taken yet: its first packet, and so many bytes of headers in it.
pub(crate) struct Announced {
    pub body: Body,
    pub first: Part,
    pub header_bytes: usize,
}

/// A message that arrives: bytes that can be read once, in order, while later ones are still on
/// their way. It may be stored and read after its handler has returned; dropping it skips the rest.
pub struct Message {
    engine: Arc<Engine>,
    body: Body,
    read: u64,
    current: Option<Part>,
    headers: HeaderStack,
}

impl Message {
    pub(crate) fn new(engine: Arc<Engine>, announced: Announced) -> Self {
        let Announced { body, first, header_bytes } = announced;
        let packet = first.bytes();
        let headers = HeaderStack::from_bytes(&packet[format::SIZE..][..header_bytes]);
        let current = Some(first.skip(format::SIZE + header_bytes));
        Message { engine, body, read: 0, current, headers }
    }

    /// The rank that sent it.
    pub fn source(&self) -> Rank {
        self.body.from
    }

    /// The rank that reads it: this one.
    pub fn to(&self) -> Rank {
        self.engine.packets().rank()
    }

    /// Its length in bytes, without headers.
    #[expect(clippy::len_without_is_empty, reason = "an empty message is a message")]
    pub fn len(&self) -> usize {
        self.body.length as usize
    }

    /// Bytes that were not read yet.
    pub fn remaining(&self) -> usize {
        (self.body.length - self.read) as usize
    }

    /// The headers of the layers above, to pop.
    pub fn headers(&mut self) -> &mut HeaderStack {
        &mut self.headers
    }

    /// The next bytes that lie together, without copying them; empty at the end. Blocks, polling,
    /// until there are any. They count as read by [`Self::consume`].
    ///
    /// # Errors
    /// A lost rank.
    pub fn chunk(&mut self) -> Result<&[u8]> {
        while self.remaining() > 0 && self.current.as_ref().is_none_or(|p| p.bytes().is_empty()) {
            self.finish_current();
            self.current = Some(self.next_part()?);
        }
        Ok(self.current.as_ref().map_or(&[], Part::bytes))
    }

    /// Marks the first `bytes` of [`Self::chunk`] as read.
    ///
    /// # Panics
    /// If the chunk is shorter.
    pub fn consume(&mut self, bytes: usize) {
        let Some(part) = self.current.take() else {
            assert!(bytes == 0, "consumed {bytes} bytes of no chunk");
            return;
        };
        let part = part.skip(bytes);
        self.read += bytes as u64;
        self.current = Some(part);
        if self.current.as_ref().is_some_and(|part| part.bytes().is_empty()) {
            self.finish_current();
        }
    }

    /// Fills `buffer` with the next bytes. Blocks, polling, until they have arrived.
    ///
    /// # Errors
    /// [`Error::Short`] if the message has fewer left (none is read then), or a lost rank.
    pub fn read_exact(&mut self, buffer: &mut [u8]) -> Result<()> {
        if buffer.len() > self.remaining() {
            let (left, wanted) = (self.remaining() as u64, buffer.len() as u64);
            return Err(Error::Short { from: self.source(), left, wanted });
        }
        let mut filled = 0;
        while filled < buffer.len() {
            let chunk = self.chunk()?;
            let count = chunk.len().min(buffer.len() - filled);
            buffer[filled..][..count].copy_from_slice(&chunk[..count]);
            self.consume(count);
            filled += count;
        }
        Ok(())
    }

    /// All bytes that are left.
    ///
    /// # Errors
    /// As [`Self::read_exact`].
    pub fn read_to_vec(&mut self) -> Result<Vec<u8>> {
        // Room for what a peer announces is made as it arrives: it may announce anything.
        let mut bytes = Vec::with_capacity(self.remaining().min(READ_AHEAD_BYTES));
        while self.remaining() > 0 {
            let chunk = self.chunk()?;
            bytes.extend_from_slice(chunk);
            let count = chunk.len();
            self.consume(count);
        }
        Ok(bytes)
    }

    /// All bytes that are left, as text.
    ///
    /// # Errors
    /// [`Error::NotText`], or as [`Self::read_exact`].
    pub fn text(&mut self) -> Result<String> {
        let from = self.source();
        String::from_utf8(self.read_to_vec()?)
            .map_err(|error| Error::NotText { from, error: error.utf8_error() })
    }

    /// Skips `bytes` without reading them.
    ///
    /// # Errors
    /// As [`Self::read_exact`].
    pub fn skip(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.remaining() {
            let (left, wanted) = (self.remaining() as u64, bytes as u64);
            return Err(Error::Short { from: self.source(), left, wanted });
        }
        let mut left = bytes;
        while left > 0 {
            let count = self.chunk()?.len().min(left);
            self.consume(count);
            left -= count;
        }
        Ok(())
    }

    fn next_part(&self) -> Result<Part> {
        let Body { from, number, .. } = self.body;
        let part = match self.engine.take_part(from, number)? {
            Some(part) => part,
            None => self.engine.wait(|engine, _| engine.take_part(from, number))?,
        };
        Ok(part.skip(format::SIZE))
    }

    fn finish_current(&mut self) {
        if let Some(part) = self.current.take() {
            self.engine.give_back(self.body.from, part);
        }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        let in_current = self.current.as_ref().map_or(0, |part| part.bytes().len());
        let more_to_come = self.remaining() > in_current;
        self.finish_current();
        if more_to_come {
            self.engine.abandon(self.body.from, self.body.number);
        }
    }
}

impl Part {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Part::Kept(packet, start) => &packet[*start..],
            Part::Copied(bytes, start) => &bytes[*start..],
        }
    }

    #[inline]
    fn skip(self, bytes: usize) -> Self {
        match self {
            Part::Kept(packet, start) => Part::Kept(packet, start + bytes),
            Part::Copied(copy, start) => Part::Copied(copy, start + bytes),
        }
    }
}
