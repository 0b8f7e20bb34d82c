//! Words between this crate and `weft-net`, the program that has the capabilities: one request and
//! its reply, each a datagram on a socket pair that the caller has made, and the descriptors after
//! them.
//!
//! A request names an interface by its number and is otherwise numbers with limits: no path, no
//! name, no text. Only `weft-net` can check the facts about the interface.

use crate::error::XdpError;
use crate::port::{SharedPlan, XdpSizes};
use rustix::net::RecvFlags;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsFd;
use weft_datagram::channel::ReceivedDatagram;
use weft_wire::Rank;

/// First bytes of every datagram: of this release, so that others are told apart.
const MAGIC: [u8; 4] = *b"WNT\x01";
/// Bytes of the longest datagram.
const DATAGRAM_BYTES: usize = 2048;

/// Ranks of one host at most.
pub const RANKS_MAX: usize = 256;
/// Frames of a rank at most, of each kind.
const FRAMES_MAX: u32 = 8192;

/// Question to `weft-net`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ToNet {
    /// The capabilities that it needs: are they there?
    Look,
    /// An interface, and sockets on it.
    Take(SocketRequest),
}

/// Sockets that are wanted, and for whom. The protocol of the frames is Weft's, and the queue the
/// first: those are not for callers to choose.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SocketRequest {
    /// Number of the interface.
    pub interface: u32,
    /// Number of the job.
    pub job: u32,
    /// The ranks of this host, in ascending order.
    pub ranks: Vec<u16>,
    /// Frames of each of them.
    pub sizes: XdpSizes,
    /// Port by which this host meets others before there are ranks.
    pub greeter: Option<Greeter>,
    /// True if the interface is to accept what the network copies for these ranks, and for the
    /// greeter.
    pub copied: bool,
}

/// Port of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Greeter {
    /// Number under which hosts speak for themselves.
    pub job: u32,
    /// Number of the host.
    pub host: u16,
}

/// Answer of `weft-net`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FromNet {
    /// It has its capabilities.
    Able,
    /// It lacks these capabilities.
    Lacks(String),
    /// Reason why not.
    Refused(String),
    /// An interface is taken. With this come what keeps the program on it and the memory for
    /// frames; after it the sockets, as many at a time as fit.
    Taken {
        /// Numbers of the ports.
        plan: SharedPlan,
        /// True if the interface accepts what the network copies, for as long as the other end of
        /// the socket is open.
        copied: bool,
    },
}

/// A datagram that says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no such message in this release of weft: {0}")]
pub struct BadWords(&'static str);

impl ToNet {
    /// The datagram of this.
    pub fn emit(&self) -> Vec<u8> {
        emit(self)
    }

    /// Reads a datagram, and checks every number in it.
    ///
    /// # Errors
    /// [`BadWords`] says what is wrong.
    pub fn parse(datagram: &[u8]) -> Result<Self, BadWords> {
        let parsed = parse(datagram)?;
        if let ToNet::Take(request) = &parsed {
            request.check()?;
        }
        Ok(parsed)
    }
}

impl SocketRequest {
    fn check(&self) -> Result<(), BadWords> {
        let XdpSizes { frames, receive_frames } = self.sizes;
        let ascending = self.ranks.is_sorted_by(|one, next| one < next);
        let checks = [
            (self.interface > 0 && self.interface <= i32::MAX as u32, "interface"),
            ((1..=RANKS_MAX).contains(&self.ranks.len()), "number of ranks"),
            (ascending, "order of ranks"),
            ((1..=FRAMES_MAX).contains(&frames), "number of frames"),
            ((1..=FRAMES_MAX).contains(&receive_frames), "number of frames for arrivals"),
            (self.greeter.is_none_or(|greeter| greeter.job != self.job), "number of the greeter"),
        ];
        let wrong = checks.into_iter().find(|(holds, _)| !holds);
        wrong.map_or(Ok(()), |(_, what)| Err(BadWords(what)))
    }

    /// Job, rank and number among those of its job here of each port, in their order.
    pub fn seats(&self) -> impl Iterator<Item = (u32, Rank, u16)> + '_ {
        let ranks = (0..).zip(&self.ranks).map(|(place, rank)| (self.job, Rank(*rank), place));
        ranks.chain(self.greeter.map(|greeter| (greeter.job, Rank(greeter.host), 0)))
    }
}

impl FromNet {
    /// The datagram of this.
    pub fn emit(&self) -> Vec<u8> {
        emit(self)
    }

    /// Reads a datagram.
    ///
    /// # Errors
    /// [`BadWords`] says what is wrong.
    pub fn parse(datagram: &[u8]) -> Result<Self, BadWords> {
        parse(datagram)
    }
}

fn emit(message: &impl Serialize) -> Vec<u8> {
    let body = postcard::to_stdvec(message).unwrap_or_default();
    [&MAGIC[..], &body].concat()
}

fn parse<T: for<'a> Deserialize<'a>>(datagram: &[u8]) -> Result<T, BadWords> {
    let body = datagram.strip_prefix(&MAGIC).ok_or(BadWords("its first bytes"))?;
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok(_) => Err(BadWords("bytes behind it")),
        Err(_) => Err(BadWords("its bytes")),
    }
}

/// Receives one datagram. Blocks as long as the socket's time limit says.
///
/// # Errors
/// Those of [`weft_datagram::channel::receive`].
pub fn receive(socket: impl AsFd) -> io::Result<ReceivedDatagram> {
    Ok(weft_datagram::channel::receive(socket, RecvFlags::empty(), DATAGRAM_BYTES)?)
}

impl From<BadWords> for XdpError {
    fn from(error: BadWords) -> Self {
        XdpError::Refused(format!("weft-net: {error}"))
    }
}

#[cfg(test)]
mod tests;
