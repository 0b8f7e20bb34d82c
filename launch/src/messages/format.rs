//! Form of a message: a head with mark, version and kind, then what `postcard` writes of it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bounds::MESSAGE_BYTES_MAX;

/// The version of all messages, raised whenever the type of anything in one changes.
pub const VERSION: u16 = 18;
/// First bytes of every message.
pub const MARK: [u8; 4] = *b"weft";

/// Reason why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// The first bytes are not Weft's.
    #[error("it does not begin as Weft's messages do")]
    Mark,
    /// The other side was built from another release.
    #[error(
        "it speaks version {theirs} of Weft's messages where this program speaks {VERSION}: take both from the same \
         release (`weft --version` says the number)"
    )]
    Version {
        /// The version in the message.
        theirs: u16,
    },
    /// It is of this kind, and another one was expected.
    #[error("its kind {0} is not the one that is expected")]
    Kind(u16),
    /// The bytes end before the message does.
    #[error("it ends too early")]
    Short,
    /// Bytes are left over, or the message is longer than any can be.
    #[error("it is too long")]
    Long,
    /// A text is not UTF-8.
    #[error("a text in it is not UTF-8")]
    Text,
    /// No such message has this byte, or a number or a text that ends with it.
    #[error("its byte {at} is none that such a message has there")]
    Malformed {
        /// Place of the byte in the message, the first being 1.
        at: usize,
    },
    /// A number is out of its range.
    #[error("its {0} is out of range")]
    Range(&'static str),
    /// It came with more or fewer descriptors than it needs.
    #[error("it came with {got} descriptors and needs {needed}")]
    Descriptors {
        /// Number that was received.
        got: usize,
        /// Number that the message needs.
        needed: usize,
    },
}

/// Message in a frame of its own: a head with version and kind, then what `postcard` writes.
pub trait Message: Serialize + DeserializeOwned {
    /// Number of the kind.
    const KIND: u16;
    /// Bytes of the longest.
    const BYTES_MAX: usize = MESSAGE_BYTES_MAX;

    /// Checks what its types leave open: numbers that have limits, or must fit to one another.
    ///
    /// # Errors
    /// [`BadMessage::Range`] says which does not.
    fn check(&self) -> Result<(), BadMessage>;

    /// The message as bytes; texts that have a limit are cut to it.
    fn emit(&self) -> Vec<u8> {
        let written = postcard::to_extend(self, head(Self::KIND));
        written.expect("whatever may travel can be written")
    }

    /// The message in `bytes`.
    ///
    /// # Errors
    /// [`BadMessage`] if there is none.
    fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        let (kind, body) = open(bytes, Self::BYTES_MAX)?;
        if kind != Self::KIND {
            return Err(BadMessage::Kind(kind));
        }
        let mut reader = postcard::Deserializer::from_bytes(body);
        let read = Self::deserialize(&mut reader);
        let rest = reader.finalize().unwrap_or_default();
        let message = read.map_err(|error| match error {
            postcard::Error::DeserializeUnexpectedEnd => BadMessage::Short,
            postcard::Error::DeserializeBadUtf8 => BadMessage::Text,
            _ => BadMessage::Malformed { at: bytes.len() - rest.len() },
        })?;
        if !rest.is_empty() {
            return Err(BadMessage::Long);
        }
        message.check()?;
        Ok(message)
    }
}

/// The beginning of a message.
pub fn head(kind: u16) -> Vec<u8> {
    [&MARK[..], &VERSION.to_le_bytes(), &kind.to_le_bytes()].concat()
}

/// The kind of the message in `bytes`, of at most `bytes_max`, and what is behind its head.
pub fn open(bytes: &[u8], bytes_max: usize) -> Result<(u16, &[u8]), BadMessage> {
    let (mark, rest) = bytes.split_first_chunk::<4>().ok_or(BadMessage::Short)?;
    if *mark != MARK {
        return Err(BadMessage::Mark);
    }
    let (version, rest) = rest.split_first_chunk().ok_or(BadMessage::Short)?;
    let theirs = u16::from_le_bytes(*version);
    if theirs != VERSION {
        return Err(BadMessage::Version { theirs });
    }
    if bytes.len() > bytes_max {
        return Err(BadMessage::Long);
    }
    let (kind, body) = rest.split_first_chunk().ok_or(BadMessage::Short)?;
    Ok((u16::from_le_bytes(*kind), body))
}
