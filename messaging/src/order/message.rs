//! A message of an order, as its handler gets it.

use crate::message::Message;
use crate::{Error, Result};
use weft_endpoint::Rank;

/// A message of an [`crate::Order`], with its place in it. Like a [`Message`] it can be read while
/// the rest arrives, stored and read later, and dropped half-read.
pub struct OrderedMessage {
    number: u64,
    source: Rank,
    length: usize,
    content: Content,
}

/// An event of an order whose handler is told of losses.
pub enum OrderEvent {
    /// A message.
    Message(OrderedMessage),
    /// A member is lost; all that live are told between the same two messages.
    Loss(Rank),
}

/// Source of its bytes.
pub(super) enum Content {
    /// Another rank.
    Arriving(Message),
    /// This one: a copy, and how much of it was read.
    Own(Box<[u8]>, usize),
}

impl OrderedMessage {
    pub(super) fn new(number: u64, source: Rank, length: usize, content: Content) -> Self {
        OrderedMessage { number, source, length, content }
    }

    /// Its number: how many messages of the order came before it, on every rank.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The rank that sent it, which may be this one.
    pub fn source(&self) -> Rank {
        self.source
    }

    /// Its length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "an empty message is a message")]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Bytes that were not read yet.
    pub fn remaining(&self) -> usize {
        match &self.content {
            Content::Arriving(message) => message.remaining(),
            Content::Own(bytes, read) => bytes.len() - read,
        }
    }

    /// The next bytes that lie together: see [`Message::chunk`].
    ///
    /// # Errors
    /// A lost rank.
    pub fn chunk(&mut self) -> Result<&[u8]> {
        match &mut self.content {
            Content::Arriving(message) => message.chunk(),
            Content::Own(bytes, read) => Ok(&bytes[*read..]),
        }
    }

    /// Marks the first `bytes` of [`Self::chunk`] as read.
    ///
    /// # Panics
    /// If the chunk is shorter.
    pub fn consume(&mut self, bytes: usize) {
        match &mut self.content {
            Content::Arriving(message) => message.consume(bytes),
            Content::Own(own, read) => {
                assert!(bytes <= own.len() - *read, "consumed more than there is");
                *read += bytes;
            }
        }
    }

    /// Fills `buffer` with the next bytes. Blocks, polling, until they have arrived.
    ///
    /// # Errors
    /// [`Error::Short`] if the message has fewer left (none is read then), or a lost rank.
    pub fn read_exact(&mut self, buffer: &mut [u8]) -> Result<()> {
        let (source, left, wanted) = (self.source, self.remaining(), buffer.len());
        match &mut self.content {
            Content::Arriving(message) => message.read_exact(buffer),
            Content::Own(..) if wanted > left => {
                Err(Error::Short { from: source, left: left as u64, wanted: wanted as u64 })
            }
            Content::Own(bytes, read) => {
                buffer.copy_from_slice(&bytes[*read..][..wanted]);
                *read += wanted;
                Ok(())
            }
        }
    }

    /// All bytes that are left.
    ///
    /// # Errors
    /// A lost rank.
    pub fn read_to_vec(&mut self) -> Result<Vec<u8>> {
        self.read_pieces(|_| ())
    }

    /// Does what [`Self::read_to_vec`] does, and tells `copied` of each piece that is copied when
    /// it has come: see [`Message::read_pieces`].
    ///
    /// # Errors
    /// A lost rank.
    pub fn read_pieces(&mut self, mut copied: impl FnMut(usize)) -> Result<Vec<u8>> {
        match &mut self.content {
            Content::Arriving(message) => message.read_pieces(copied),
            Content::Own(bytes, read) => {
                let left = bytes[std::mem::replace(read, bytes.len())..].to_vec();
                copied(left.len());
                Ok(left)
            }
        }
    }

    /// Does what [`Self::read_to_vec`] does, for asynchronous handlers and tasks: waits instead of
    /// blocking.
    ///
    /// # Errors
    /// A lost rank.
    pub async fn bytes(&mut self) -> Result<Vec<u8>> {
        match &mut self.content {
            Content::Arriving(message) => message.bytes().await,
            Content::Own(..) => self.read_to_vec(),
        }
    }

    /// All bytes that are left, as text.
    ///
    /// # Errors
    /// [`Error::NotText`], or a lost rank.
    pub fn text(&mut self) -> Result<String> {
        let from = self.source;
        String::from_utf8(self.read_to_vec()?)
            .map_err(|error| Error::NotText { from, error: error.utf8_error() })
    }
}
