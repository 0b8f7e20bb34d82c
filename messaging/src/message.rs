//! Reading a stream message (thesis 6.3).

pub use crate::arrived::Message;
use crate::poll::Poller;
use crate::wait::Polls;
use crate::{Error, Result};
use std::future::poll_fn;
use std::task::{Poll, Waker};
use weft_endpoint::{Awaited, Rank, Whom, copy_out};

/// Bytes that a reader makes room for before they have arrived.
const READ_AHEAD_BYTES: usize = 1 << 20;

/// The headers of the layers above, to be popped in the reverse order of their pushing, as long as
/// the first packet of the message is not read to its end.
pub struct Headers<'a> {
    message: &'a mut Message,
}

impl Message {
    /// The rank that sent it.
    pub fn source(&self) -> Rank {
        self.arrived().body.from
    }

    /// The rank that reads it: this one.
    pub fn to(&self) -> Rank {
        self.arrived().messages().packets.rank()
    }

    /// Its length in bytes, without headers.
    #[expect(clippy::len_without_is_empty, reason = "an empty message is a message")]
    pub fn len(&self) -> usize {
        self.arrived().body.length as usize
    }

    /// Bytes that were not read yet.
    pub fn remaining(&self) -> usize {
        self.arrived().left()
    }

    /// The headers of the layers above, to pop.
    #[inline]
    pub fn headers(&mut self) -> Headers<'_> {
        Headers { message: self }
    }

    /// The group that it was multicast to; `None` for a unicast message.
    pub fn group(&self) -> Option<weft_endpoint::Group> {
        self.arrived().body.flow
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

    /// Does what [`Self::chunk`] does, for asynchronous handlers and tasks: waits instead of
    /// blocking.
    ///
    /// # Errors
    /// Those of [`Self::chunk`].
    pub async fn next_chunk(&mut self) -> Result<&[u8]> {
        while self.lacks_bytes() {
            self.finish_part();
            let (messages, body) = (self.arrived().messages(), self.arrived().body);
            let part = poll_fn(|context| match messages.take_part(&body, Some(context.waker())) {
                Ok(Some(part)) => Poll::Ready(Ok(part)),
                Err(error) => Poll::Ready(Err(error)),
                Ok(None) => {
                    messages.somebody_waits();
                    Poll::Pending
                }
            });
            self.arrived_mut().part = part.await?;
        }
        Ok(self.at_hand())
    }

    /// Does what [`Self::read_to_vec`] does, for asynchronous handlers and tasks.
    ///
    /// # Errors
    /// Those of [`Self::read_to_vec`].
    pub async fn bytes(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.remaining().min(READ_AHEAD_BYTES));
        while self.remaining() > 0 {
            self.next_chunk().await?;
            self.append_to(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Bytes of the message that have arrived and were not read, as far as they lie together. Never
    /// waits.
    #[inline]
    pub fn at_hand(&self) -> &[u8] {
        self.arrived().at_hand()
    }

    /// True if more bytes are to come than those at hand, of which there are none.
    #[inline]
    fn lacks_bytes(&self) -> bool {
        self.remaining() > 0 && self.at_hand().is_empty()
    }

    /// Waits for the next bytes.
    fn fetch(&mut self) -> Result<()> {
        while self.lacks_bytes() {
            self.finish_part();
            let (messages, body) = (self.arrived().messages(), self.arrived().body);
            let look = |waker: Option<&Waker>| messages.take_part(&body, waker);
            let from = self.source();
            let what =
                || Awaited::new(format!("the rest of a message of rank {from}"), Whom::One(from));
            self.arrived_mut().part = Poller::new(messages).wait_for(&what, look)?;
        }
        Ok(())
    }

    /// Moves what is at hand to `bytes`. Returns its length.
    fn append_to(&mut self, bytes: &mut Vec<u8>) -> Result<usize> {
        let chunk = self.at_hand();
        let count = chunk.len();
        if bytes.try_reserve(count).is_err() {
            return Err(Error::NoMemory { from: self.source(), bytes: self.len() as u64 });
        }
        bytes.extend_from_slice(chunk);
        self.consume(count);
        Ok(count)
    }

    /// Marks the first `bytes` of [`Self::chunk`] as read.
    ///
    /// # Panics
    /// If the chunk is shorter.
    #[inline]
    pub fn consume(&mut self, bytes: usize) {
        let at_hand = self.at_hand().len();
        assert!(bytes <= at_hand, "consumed {bytes} bytes of a chunk of {at_hand}");
        self.advance(bytes, bytes == at_hand);
    }

    /// These bytes were read: all of those at hand, or not.
    #[inline]
    fn advance(&mut self, bytes: usize, is_all: bool) {
        let arrived = self.arrived_mut();
        arrived.read += bytes as u64;
        arrived.part.start += bytes;
        if is_all {
            self.finish_part();
        }
    }

    /// Fills `buffer` with the next bytes. Blocks, polling, until they have arrived.
    ///
    /// # Errors
    /// [`Error::Short`] if the message has fewer left (none is read then), or a lost rank.
    #[inline]
    pub fn read_exact(&mut self, buffer: &mut [u8]) -> Result<()> {
        let at_hand = self.at_hand();
        let Some(bytes) = at_hand.get(..buffer.len()) else {
            return self.read_in_pieces(buffer);
        };
        copy_out(buffer, bytes);
        let is_all = bytes.len() == at_hand.len();
        self.advance(buffer.len(), is_all);
        Ok(())
    }

    fn read_in_pieces(&mut self, buffer: &mut [u8]) -> Result<()> {
        if buffer.len() > self.remaining() {
            let (left, wanted) = (self.remaining() as u64, buffer.len() as u64);
            return Err(Error::Short { from: self.source(), left, wanted });
        }
        let mut filled = 0;
        while filled < buffer.len() {
            let chunk = self.chunk()?;
            let count = chunk.len().min(buffer.len() - filled);
            copy_out(&mut buffer[filled..][..count], &chunk[..count]);
            self.consume(count);
            filled += count;
        }
        Ok(())
    }

    /// All bytes that are left.
    ///
    /// # Errors
    /// Those of [`Self::read_exact`].
    pub fn read_to_vec(&mut self) -> Result<Vec<u8>> {
        self.read_pieces(|_| ())
    }

    /// Does what [`Self::read_to_vec`] does, and tells `copied` the length of each piece when it
    /// has come and is copied (thesis 6.5.2), while others are on their way: for those who declare
    /// what they copy to a simulated machine.
    ///
    /// # Errors
    /// Those of [`Self::read_exact`].
    pub fn read_pieces(&mut self, mut copied: impl FnMut(usize)) -> Result<Vec<u8>> {
        // Room for what a peer announces is made as it arrives: it may announce anything.
        let mut bytes = Vec::with_capacity(self.remaining().min(READ_AHEAD_BYTES));
        while self.remaining() > 0 {
            self.chunk()?;
            copied(self.append_to(&mut bytes)?);
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
    /// Those of [`Self::read_exact`].
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

    /// The packet at hand is not needed any more.
    #[inline]
    fn finish_part(&mut self) {
        self.arrived_mut().finish_part();
    }
}

impl Headers<'_> {
    /// Pops the `N` bytes that were pushed last, if there are as many.
    #[inline]
    pub fn pop<const N: usize>(&mut self) -> Option<[u8; N]> {
        let header = *self.as_bytes().first_chunk::<N>()?;
        self.message.arrived_mut().headers_left -= N as u8;
        Some(header)
    }

    /// The bytes that are left, the last pushed first.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        let arrived = self.message.arrived();
        arrived.headers(&arrived.messages().packets)
    }
}
