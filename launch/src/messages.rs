//! Messages between launcher, ranks and agents, and answers to whoever asks how a job stands: what
//! they say, and parsing that trusts nobody.
//!
//! ```text
//! every message:  mark "weft" (4) | version (2) | kind (2) | what `postcard` writes of it
//! ```
//!
//! The numbers of this head are little-endian, and stay as they are: by them programs of different
//! releases tell that they are. A message comes in a frame of its own, such as a datagram, so it
//! has no length of its own; bytes beyond its body are refused.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weft_link_shm::{MAX_RANKS, Settings};
use weft_wire::Rank;

pub(crate) mod hosts;
mod network;
pub(crate) mod parts;
pub(crate) mod reached;

pub use network::{Ethernet, Network, RANKS_MAX};
pub(crate) use network::{check_protection, draw_job};
use parts::{options, text};

/// Options of a job by name, such as `preset` or `tree`; what they mean is not the launcher's
/// concern.
pub type Options = BTreeMap<String, String>;

/// The version of all messages, raised whenever the type of anything in one changes.
pub const VERSION: u16 = 14;
/// First bytes of every message.
const MARK: [u8; 4] = *b"weft";
/// Bytes of the longest message.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of all options together, at most.
pub const OPTIONS_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the longest text; a longer report is cut.
pub const TEXT_BYTES_MAX: usize = 2048;
/// The most options that a job may have.
pub const OPTIONS_MAX: usize = 64;

/// Message of the launcher to a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToRank {
    /// To the process that is about to become the rank's program.
    Start(Start),
    /// To the program, once it has said hello.
    Welcome(Welcome),
}

/// Facts that a process must know to become a rank's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The launcher's process identifier.
    pub launcher: u32,
    /// The core to stay on; `None` for any.
    pub core: Option<u16>,
}

/// Facts that a rank must know to join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// Rank of the reader.
    pub rank: Rank,
    /// The sizes of the memory that the ranks of this host share, and how many they are.
    pub settings: Settings,
    /// The job's options.
    #[serde(with = "options")]
    pub options: Options,
    /// Network to ranks elsewhere; without one all ranks are here.
    pub network: Option<Network>,
}

/// Message of a rank to the launcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToLauncher {
    /// The program asks to join.
    Hello,
    /// The program has mapped the job's memory.
    Joined,
    /// The program ends cleanly; exiting with 0 is fine from here on.
    Leaving,
    /// Reason why the program gives up.
    Report(#[serde(with = "text")] String),
    /// The program could not be executed, for the reason of this `errno`.
    CannotStart(i32),
}

/// Reason why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// The first bytes are not Weft's.
    #[error("it does not begin as Weft's messages do")]
    Mark,
    /// The other side was built from another release.
    #[error(
        "it speaks version {theirs} where this program speaks {VERSION}: build both from the same release"
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
pub(crate) trait Message: Serialize + DeserializeOwned {
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
pub(crate) fn head(kind: u16) -> Vec<u8> {
    [&MARK[..], &VERSION.to_le_bytes(), &kind.to_le_bytes()].concat()
}

/// The kind of the message in `bytes`, of at most so many, and what is behind its head.
pub(crate) fn open(bytes: &[u8], bytes_max: usize) -> Result<(u16, &[u8]), BadMessage> {
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

/// An error that names what is out of range, unless it `holds`.
pub(crate) fn ensure(holds: bool, what: &'static str) -> Result<(), BadMessage> {
    if holds { Ok(()) } else { Err(BadMessage::Range(what)) }
}

/// An error if a list has more elements than it may have.
pub(crate) fn at_most<T>(list: &[T], most: usize) -> Result<(), BadMessage> {
    ensure(list.len() <= most, "count")
}

impl Message for ToRank {
    const KIND: u16 = 1;

    fn check(&self) -> Result<(), BadMessage> {
        match self {
            ToRank::Start(_) => Ok(()),
            ToRank::Welcome(welcome) => welcome.check(),
        }
    }
}

impl ToRank {
    /// Number of descriptors that belong to this message.
    pub fn descriptors(&self) -> usize {
        match self {
            ToRank::Start(_) => 1,
            ToRank::Welcome(welcome) => {
                1 + welcome.network.as_ref().map_or(0, Network::descriptors)
            }
        }
    }
}

impl Message for ToLauncher {
    const KIND: u16 = 2;

    fn check(&self) -> Result<(), BadMessage> {
        Ok(())
    }
}

impl Welcome {
    fn check(&self) -> Result<(), BadMessage> {
        let Welcome { rank, settings, options, network } = self;
        check_settings(settings)?;
        check_options(options)?;
        let Some(network) = network else { return ensure(rank.0 < settings.ranks, "rank") };
        network.check()?;
        let here = network.ranks_beside(*rank).count();
        ensure(here == usize::from(settings.ranks), "number of ranks here")
    }
}

fn check_settings(settings: &Settings) -> Result<(), BadMessage> {
    ensure((1..=MAX_RANKS).contains(&settings.ranks), "number of ranks")
}

/// Checks that these options fit into a message.
///
/// # Errors
/// [`BadMessage::Range`] if there are too many or one is too long.
pub fn check_options(options: &Options) -> Result<(), BadMessage> {
    let text_fits = |text: &String| text.len() <= TEXT_BYTES_MAX;
    let bytes: usize = options.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let fits = options.len() <= OPTIONS_MAX
        && options.iter().all(|(name, value)| text_fits(name) && text_fits(value))
        && bytes <= OPTIONS_BYTES_MAX;
    ensure(fits, "set of options")
}

/// The longest beginning of `text` that fits into a message.
pub(crate) fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
pub(crate) mod tests;
