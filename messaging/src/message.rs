//! Reading a stream message (thesis 6.3).

use crate::engine::{Engine, HEADER};
use crate::state::Part;
use crate::window::Flow;
use crate::{Error, Result};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use weft_packet::{Packets, Rank};

/// Bytes that a reader makes room for before they have arrived.
const READ_AHEAD_BYTES: usize = 1 << 20;

/// What is known of a message from its first packet.
#[derive(Clone, Copy)]
pub(crate) struct Body {
    pub from: Rank,
    pub number: u32,
    pub length: u64,
    pub port: u32,
    pub flow: Flow,
}

/// A message that nobody has taken yet: its first packet, and so many bytes of headers in it.
pub(crate) struct Announced {
    pub body: Body,
    pub first: Part,
    pub header_bytes: u8,
}

/// A message that arrives: bytes that can be read once, in order, while later ones are still on
/// their way. It may be stored and read after its handler has returned; dropping it skips the rest.
///
/// What is not read stays in link memory, or is copied out of it if it gets much, and its sender
/// stalls when the window of this port is full.
pub struct Message {
    engine: Arc<Engine>,
    body: Body,
    read: u64,
    current: Option<Part>,
    /// Bytes of headers that nobody has popped yet; they end where the first packet's bytes begin.
    headers_left: u8,
}

/// The headers of the layers above, to be popped in the reverse order of their pushing, as long as
/// the first packet of the message is not read to its end.
pub struct Headers<'a> {
    message: &'a mut Message,
}

impl Message {
    #[inline]
    pub(crate) fn new(engine: Arc<Engine>, announced: Announced) -> Self {
        let Announced { body, first, header_bytes } = announced;
        let current = Some(first.skip(HEADER + usize::from(header_bytes)));
        Message { engine, body, read: 0, current, headers_left: header_bytes }
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
    #[inline]
    pub fn headers(&mut self) -> Headers<'_> {
        Headers { message: self }
    }

    /// The group that it was multicast to; `None` for a unicast message.
    pub fn group(&self) -> Option<weft_packet::Group> {
        self.body.flow
    }

    /// The next bytes that lie together, without copying them; empty at the end. Blocks, polling,
    /// until there are any. They count as read by [`Self::consume`].
    ///
    /// # Errors
    /// A lost rank.
    #[inline]
    pub fn chunk(&mut self) -> Result<&[u8]> {
        if self.lacks_bytes() {
            self.fetch()?;
        }
        Ok(self.at_hand())
    }

    /// As [`Self::chunk`], for asynchronous handlers and tasks: waits instead of blocking.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub async fn next_chunk(&mut self) -> Result<&[u8]> {
        while self.lacks_bytes() {
            self.finish_current();
            let (engine, body) = (&self.engine, &self.body);
            let part = poll_fn(|context| match engine.take_part(body, Some(context.waker())) {
                Ok(Some(part)) => Poll::Ready(Ok(part)),
                Err(error) => Poll::Ready(Err(error)),
                Ok(None) => {
                    engine.somebody_waits();
                    Poll::Pending
                }
            });
            self.current = Some(part.await?.skip(HEADER));
        }
        Ok(self.at_hand())
    }

    /// As [`Self::read_to_vec`], for asynchronous handlers and tasks.
    ///
    /// # Errors
    /// As [`Self::read_to_vec`].
    pub async fn bytes(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.remaining().min(READ_AHEAD_BYTES));
        while self.remaining() > 0 {
            self.next_chunk().await?;
            self.append_to(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// What has arrived of the message and was not read, so far as it lies together. Never waits.
    #[inline]
    pub fn at_hand(&self) -> &[u8] {
        self.current.as_ref().map_or(&[], |part| part.bytes(self.packets()))
    }

    /// Whether more bytes are to come than those at hand, of which there are none.
    #[inline]
    fn lacks_bytes(&self) -> bool {
        self.remaining() > 0 && self.at_hand().is_empty()
    }

    /// Waits for the next bytes.
    fn fetch(&mut self) -> Result<()> {
        while self.lacks_bytes() {
            self.finish_current();
            let (engine, body) = (&self.engine, &self.body);
            let look = |engine: &Engine, waker: Option<&Waker>| engine.take_part(body, waker);
            self.current = Some(engine.wait(look)?.skip(HEADER));
        }
        Ok(())
    }

    /// Moves what is at hand to `bytes`.
    fn append_to(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let chunk = self.at_hand();
        let count = chunk.len();
        if bytes.try_reserve(count).is_err() {
            return Err(Error::NoMemory { from: self.body.from, bytes: self.body.length });
        }
        bytes.extend_from_slice(chunk);
        self.consume(count);
        Ok(())
    }

    #[inline]
    fn packets(&self) -> &Packets {
        self.engine.packets()
    }

    /// Marks the first `bytes` of [`Self::chunk`] as read.
    ///
    /// # Panics
    /// If the chunk is shorter.
    #[inline]
    pub fn consume(&mut self, bytes: usize) {
        let at_hand = self.at_hand().len();
        assert!(bytes <= at_hand, "consumed {bytes} bytes of a chunk of {at_hand}");
        self.read += bytes as u64;
        if bytes == at_hand {
            self.finish_current();
        } else if let Some(part) = self.current.take() {
            self.current = Some(part.skip(bytes));
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
            self.chunk()?;
            self.append_to(&mut bytes)?;
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

    #[inline]
    fn finish_current(&mut self) {
        self.headers_left = 0;
        if let Some(part) = self.current.take() {
            self.engine.give_back(&self.body, part);
        }
    }
}

impl Drop for Message {
    #[inline]
    fn drop(&mut self) {
        let more_to_come = self.remaining() > self.at_hand().len();
        self.finish_current();
        if more_to_come {
            self.engine.abandon(&self.body);
        }
    }
}

impl Headers<'_> {
    /// Pops the `N` bytes that were pushed last, if there are as many.
    #[inline]
    pub fn pop<const N: usize>(&mut self) -> Option<[u8; N]> {
        let header = *self.as_bytes().first_chunk::<N>()?;
        self.message.headers_left -= N as u8;
        Some(header)
    }

    /// What is left, the last pushed first.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        let left = usize::from(self.message.headers_left);
        match &self.message.current {
            Some(part) if left > 0 => part.before(self.message.packets(), left, self.message.read),
            _ => &[],
        }
    }
}

impl Part {
    #[inline]
    fn bytes<'a>(&'a self, packets: &'a Packets) -> &'a [u8] {
        match self {
            Part::Kept(packet, start) => &packets.read(packet)[*start..],
            Part::Copied(bytes, start) => &bytes[*start..],
        }
    }

    /// The `count` bytes before those of which `read` were read.
    #[inline]
    fn before<'a>(&'a self, packets: &'a Packets, count: usize, read: u64) -> &'a [u8] {
        let (bytes, start) = match self {
            Part::Kept(packet, start) => (packets.read(packet), *start),
            Part::Copied(bytes, start) => (&bytes[..], *start),
        };
        let end = start - read as usize;
        &bytes[end - count..end]
    }

    #[inline]
    fn skip(self, bytes: usize) -> Self {
        match self {
            Part::Kept(packet, start) => Part::Kept(packet, start + bytes),
            Part::Copied(copy, start) => Part::Copied(copy, start + bytes),
        }
    }
}
