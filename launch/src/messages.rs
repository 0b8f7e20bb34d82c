//! Messages between launcher and rank: layouts, and parsing that trusts nobody.
//!
//! ```text
//! every message:  mark "weft" (4) | version (2) | kind (2) | body
//! Start:          launcher's process (4) | core + 1, or 0 for any (2)          with 1 descriptor
//! Welcome:        rank (2) | ranks here (2) | window (2) | frame bytes (4) | frames (4)
//!                 | options (2) | options x { name, value }
//!                 | 0 (1), or 1 (1) | network         with a descriptor of the memory, and a socket,
//!                                                 or a socket and memory on Ethernet
//! network:        job (4) | secret (16) | protection (1) | MTU (2)
//!                 | ranks (2) | ranks x { host (2), address }
//!                 | 0 (1), or 1 (1) | hosts (2) x interface (6) | port (bytes)
//! an address:     4 (1) | IPv4 (4) | port (2), or 6 (1) | IPv6 (16) | port (2)
//! Hello, Joined, Leaving:  nothing
//! Report:         text
//! CannotStart:    errno (4)
//! a text:         length (2) | bytes, UTF-8
//! ```
//!
//! Numbers are little-endian. A message is one datagram, so it has no length of its own; bytes
//! beyond its body are refused.

use std::collections::BTreeMap;

use weft_wire::Rank;

use weft_link_shm::{MAX_RANKS, Settings};

pub(crate) mod bytes;
pub(crate) mod hosts;
mod network;
pub(crate) mod reached;

use bytes::{Body, begin, open, put_text};
pub(crate) use network::draw_job;
pub use network::{Ethernet, Network, RANKS_MAX};

/// Options of a job by name, such as `preset` or `tree`; what they mean is not the launcher's
/// concern.
pub type Options = BTreeMap<String, String>;

/// The version of these layouts, raised whenever one changes.
pub const VERSION: u16 = 13;
/// Bytes of the longest message.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of all options together, at most.
pub const OPTIONS_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the longest text; a longer report is cut.
pub const TEXT_BYTES_MAX: usize = 2048;
/// The most options that a job may have.
pub const OPTIONS_MAX: usize = 64;

/// Message of the launcher to a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToRank {
    /// To the process that is about to become the rank's program.
    Start(Start),
    /// To the program, once it has said hello.
    Welcome(Welcome),
}

/// Facts that a process must know to become a rank's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The launcher's process identifier.
    pub launcher: u32,
    /// The core to stay on; `None` for any.
    pub core: Option<u16>,
}

/// Facts that a rank must know to join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Rank of the reader.
    pub rank: Rank,
    /// The sizes of the memory that the ranks of this host share, and how many they are.
    pub settings: Settings,
    /// The job's options.
    pub options: Options,
    /// Network to ranks elsewhere; without one all ranks are here.
    pub network: Option<Network>,
}

/// Message of a rank to the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToLauncher {
    /// The program asks to join.
    Hello,
    /// The program has mapped the job's memory.
    Joined,
    /// The program ends cleanly; exiting with 0 is fine from here on.
    Leaving,
    /// Reason why the program gives up.
    Report(String),
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
    /// No message has this number, or not in this direction.
    #[error("its kind {0} is not known")]
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

const START: u16 = 1;
const WELCOME: u16 = 2;
const HELLO: u16 = 16;
const JOINED: u16 = 17;
const LEAVING: u16 = 18;
const REPORT: u16 = 19;
const CANNOT_START: u16 = 20;

impl ToRank {
    /// The message as bytes.
    ///
    /// # Panics
    /// If the options break the limits that [`check_options`] checks.
    pub fn emit(&self) -> Vec<u8> {
        match self {
            ToRank::Start(start) => {
                let mut bytes = begin(START);
                bytes.extend(start.launcher.to_le_bytes());
                bytes.extend(start.core.map_or(0, |core| core + 1).to_le_bytes());
                bytes
            }
            ToRank::Welcome(welcome) => emit_welcome(welcome),
        }
    }

    /// The message in `bytes`.
    ///
    /// # Errors
    /// [`BadMessage`] if there is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        let (kind, mut body) = open(bytes)?;
        let message = match kind {
            START => {
                let launcher = body.u32()?;
                ToRank::Start(Start { launcher, core: body.u16()?.checked_sub(1) })
            }
            WELCOME => ToRank::Welcome(parse_welcome(&mut body)?),
            other => return Err(BadMessage::Kind(other)),
        };
        body.end()?;
        Ok(message)
    }

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

impl ToLauncher {
    /// The message as bytes; a report is cut to [`TEXT_BYTES_MAX`].
    pub fn emit(&self) -> Vec<u8> {
        match self {
            ToLauncher::Hello => begin(HELLO),
            ToLauncher::Joined => begin(JOINED),
            ToLauncher::Leaving => begin(LEAVING),
            ToLauncher::Report(text) => {
                let mut bytes = begin(REPORT);
                put_text(&mut bytes, cut(text));
                bytes
            }
            ToLauncher::CannotStart(errno) => {
                let mut bytes = begin(CANNOT_START);
                bytes.extend(errno.to_le_bytes());
                bytes
            }
        }
    }

    /// The message in `bytes`.
    ///
    /// # Errors
    /// [`BadMessage`] if there is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        let (kind, mut body) = open(bytes)?;
        let message = match kind {
            HELLO => ToLauncher::Hello,
            JOINED => ToLauncher::Joined,
            LEAVING => ToLauncher::Leaving,
            REPORT => ToLauncher::Report(body.text()?),
            CANNOT_START => ToLauncher::CannotStart(body.u32()?.cast_signed()),
            other => return Err(BadMessage::Kind(other)),
        };
        body.end()?;
        Ok(message)
    }
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
    if fits { Ok(()) } else { Err(BadMessage::Range("set of options")) }
}

fn emit_welcome(welcome: &Welcome) -> Vec<u8> {
    let mut bytes = begin(WELCOME);
    bytes.extend(welcome.rank.0.to_le_bytes());
    put_settings(&mut bytes, &welcome.settings);
    put_options(&mut bytes, &welcome.options);
    bytes.push(welcome.network.is_some().into());
    if let Some(network) = &welcome.network {
        network.put(&mut bytes);
    }
    bytes
}

fn parse_welcome(body: &mut Body<'_>) -> Result<Welcome, BadMessage> {
    let rank = Rank(body.u16()?);
    let settings = take_settings(body)?;
    let options = take_options(body)?;
    let network = match body.u8()? {
        0 => None,
        1 => Some(Network::take(body)?),
        _ => return Err(BadMessage::Range("network")),
    };
    match &network {
        None if rank.0 >= settings.ranks => return Err(BadMessage::Range("rank")),
        Some(network) if network.ranks_beside(rank).count() != usize::from(settings.ranks) => {
            return Err(BadMessage::Range("number of ranks here"));
        }
        _ => {}
    }
    Ok(Welcome { rank, settings, options, network })
}

fn put_settings(bytes: &mut Vec<u8>, settings: &Settings) {
    let Settings { ranks, window_packets, frame_bytes, frames, trace_events } = settings;
    bytes.extend(ranks.to_le_bytes());
    bytes.extend(window_packets.to_le_bytes());
    bytes.extend(frame_bytes.to_le_bytes());
    bytes.extend(frames.to_le_bytes());
    bytes.extend(trace_events.to_le_bytes());
}

fn take_settings(body: &mut Body<'_>) -> Result<Settings, BadMessage> {
    let ranks = body.u16()?;
    if !(1..=MAX_RANKS).contains(&ranks) {
        return Err(BadMessage::Range("number of ranks"));
    }
    let window_packets = body.u16()?;
    let frame_bytes = body.u32()?;
    let frames = body.u32()?;
    let trace_events = body.u32()?;
    Ok(Settings { ranks, window_packets, frame_bytes, frames, trace_events })
}

fn put_options(bytes: &mut Vec<u8>, options: &Options) {
    assert_eq!(check_options(options), Ok(()), "options are checked before a job starts");
    bytes.extend((options.len() as u16).to_le_bytes());
    for (name, value) in options {
        put_text(bytes, name);
        put_text(bytes, value);
    }
}

fn take_options(body: &mut Body<'_>) -> Result<Options, BadMessage> {
    let count = usize::from(body.u16()?);
    if count > OPTIONS_MAX {
        return Err(BadMessage::Range("number of options"));
    }
    let mut options = Options::new();
    for _ in 0..count {
        let name = body.text()?;
        if options.insert(name, body.text()?).is_some() {
            return Err(BadMessage::Range("set of options"));
        }
    }
    check_options(&options)?;
    Ok(options)
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
mod tests;
