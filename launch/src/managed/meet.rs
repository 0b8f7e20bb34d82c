//! Connections between the ranks of one host: a socket for each pair, over which the first rank
//! gives the memory that all share.
//!
//! Each listens before it tells anybody where, and connects to all of lower rank before it waits
//! for those of higher rank, so that nobody waits for one that waits. The rank that connects
//! says hello with the job's number; the one that accepts answers with it. The system says which
//! process is at the other end; it must be the one on the card, and of this user.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with,
    bind, connect, getsockname, listen, socket_with,
};
use rustix::process::{Pid, getuid};
use serde::{Deserialize, Serialize};
use weft_link_shm::MAX_RANKS;
use weft_wire::Rank;

use super::card::Card;
use super::error::{LIMIT, MeetError};
use super::facts::Cards;
use crate::channel::{self, ReceiveError, ReceivedDatagram};
use crate::messages::{BadMessage, EthernetAccess, Message};
use crate::refused::pidfd_open;
use crate::wait::is_ready;

/// Messages between ranks of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToPeer {
    /// Number of the sender; of the first rank with the memory.
    Hello {
        /// The rank.
        rank: Rank,
        /// The job's number.
        job: u32,
    },
    /// This rank ends cleanly.
    Leaving,
    /// The reader's way to ranks of other hosts; with a port's two descriptors, and those that keep
    /// the interface.
    Port(EthernetAccess),
}

impl Message for ToPeer {
    const KIND: u16 = 10;

    fn check(&self) -> Result<(), BadMessage> {
        match self {
            ToPeer::Port(ethernet) => ethernet.check(),
            ToPeer::Hello { .. } | ToPeer::Leaving => Ok(()),
        }
    }
}

/// Socket at which a rank waits for its peers.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    name: String,
}

impl Listener {
    /// Listens on an abstract address that the system chooses.
    pub fn open() -> io::Result<Self> {
        let socket = new_socket()?;
        bind(&socket, &SocketAddrUnix::new_unnamed())?;
        listen(&socket, MAX_RANKS.into())?;
        let address = SocketAddrUnix::try_from(getsockname(&socket)?)?;
        let name = address.abstract_name().and_then(|name| std::str::from_utf8(name).ok());
        let name = name.ok_or(io::ErrorKind::InvalidData)?.to_owned();
        Ok(Listener { socket, name })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Another rank of this host.
#[derive(Debug)]
pub(crate) struct Peer {
    pub rank: Rank,
    pub card: Card,
    /// Over which it says that it leaves.
    pub channel: OwnedFd,
    /// Becomes readable when its process ends.
    pub exit: OwnedFd,
}

impl Peer {
    /// Says something to it; blocks only while it has not read much of what it was told before, and
    /// no longer than [`LIMIT`].
    pub fn send(&self, message: &ToPeer, descriptors: &[BorrowedFd<'_>]) -> Result<(), MeetError> {
        let sent = channel::send(&self.channel, &message.emit(), descriptors, SendFlags::empty());
        sent.map_err(|error| match error {
            Errno::PIPE | Errno::CONNRESET => self.gone(),
            Errno::AGAIN => self.late(),
            other => other.into(),
        })
    }

    /// Next message of the peer.
    pub fn receive(&self, deadline: Instant) -> Result<ReceivedDatagram, MeetError> {
        wait(&self.channel, deadline).map_err(|error| error.unwrap_or_else(|| self.late()))?;
        let received = channel::receive(&self.channel, RecvFlags::DONTWAIT);
        received.map_err(|error| match error {
            ReceiveError::Closed => self.gone(),
            ReceiveError::Bad(bad) => bad.into(),
            ReceiveError::System(error) => error.into(),
        })
    }

    fn gone(&self) -> MeetError {
        MeetError::Gone { rank: self.rank.0, process: self.card.process }
    }

    fn late(&self) -> MeetError {
        MeetError::Late { rank: self.rank.0, process: self.card.process }
    }
}

/// Meets the ranks that are `here`; gives each `memory`, if this is the first of them, and else
/// returns that of the first. `cards` are those of them and of rank 0.
pub(crate) fn meet(
    own: Rank,
    here: &[Rank],
    listener: &Listener,
    cards: &Cards,
    memory: Option<OwnedFd>,
) -> Result<(Vec<Peer>, OwnedFd), MeetError> {
    let deadline = Instant::now() + LIMIT;
    let meeting = Meeting { own, first: here[0], cards, memory: memory.as_ref(), deadline };
    let (peers, received) = meeting.meet_others(here, listener)?;
    let memory = memory.or(received);
    Ok((peers, memory.ok_or(BadMessage::Descriptors { got: 0, needed: 1 })?))
}

struct Meeting<'a> {
    own: Rank,
    /// The rank that gives the memory.
    first: Rank,
    cards: &'a Cards,
    /// Memory, at that rank.
    memory: Option<&'a OwnedFd>,
    deadline: Instant,
}

impl Meeting<'_> {
    /// The ranks that are `here` but for this one, and the memory if one of them has given it.
    fn meet_others(
        &self,
        here: &[Rank],
        listener: &Listener,
    ) -> Result<(Vec<Peer>, Option<OwnedFd>), MeetError> {
        let ranks = here.iter().map(|rank| (*rank, self.card(*rank)));
        let (lower, rest): (Vec<_>, Vec<_>) = ranks.partition(|(rank, _)| *rank < self.own);
        let higher: Vec<_> = rest.into_iter().skip(1).collect();
        let mut met = Vec::new();
        for (rank, card) in lower {
            let channel = self.connect(rank, card)?;
            let peer = self.peer(rank, channel)?;
            self.say_hello(&peer)?;
            met.push(peer);
        }
        while met.len() < here.len() - 1 {
            let missing = higher.iter().map(|(rank, _)| *rank);
            let missing =
                missing.filter(|rank| met.iter().all(|peer: &Peer| peer.rank != *rank)).collect();
            if let Some(peer) = self.accept(listener, missing)? {
                self.say_hello(&peer)?;
                met.push(peer);
            }
        }
        met.sort_by_key(|peer| peer.rank);
        let mut memory = None;
        for peer in met.iter().filter(|peer| peer.rank < self.own) {
            memory = memory.or(self.receive_hello(peer)?);
        }
        Ok((met, memory))
    }

    /// A connection to a rank, which may have strangers' connections to look at first.
    fn connect(&self, rank: Rank, card: &Card) -> Result<OwnedFd, MeetError> {
        let channel = new_socket()?;
        let address = SocketAddrUnix::new_abstract_name(card.socket.as_bytes())?;
        loop {
            self.limit_sends(&channel, rank)?;
            match connect(&channel, &address) {
                Ok(()) => return Ok(channel),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(self.late(rank)),
                Err(Errno::CONNREFUSED) => return Err(self.gone(rank)),
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// Has no call on a channel to `rank` wait for room beyond the deadline.
    fn limit_sends(&self, channel: &OwnedFd, rank: Rank) -> Result<(), MeetError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.late(rank));
        }
        // The system takes less than a microsecond for no limit.
        let left = left.max(Duration::from_micros(1));
        Ok(set_socket_timeout(channel, Timeout::Send, Some(left))?)
    }

    fn card(&self, rank: Rank) -> &Card {
        &self.cards[&rank]
    }

    fn gone(&self, rank: Rank) -> MeetError {
        MeetError::Gone { rank: rank.0, process: self.card(rank).process }
    }

    fn late(&self, rank: Rank) -> MeetError {
        MeetError::Late { rank: rank.0, process: self.card(rank).process }
    }

    /// The peer at the other end, which must be the process on the card.
    fn peer(&self, rank: Rank, channel: OwnedFd) -> Result<Peer, MeetError> {
        let card = self.card(rank);
        let process = other_end(&channel)?.filter(|pid| is(*pid, card));
        let exit = match process.map(pidfd_open) {
            Some(Err(error)) if Errno::from_io_error(&error) != Some(Errno::SRCH) => {
                return Err(error.into());
            }
            exit => exit.and_then(Result::ok).ok_or_else(|| self.gone(rank))?,
        };
        Ok(Peer { rank, card: card.clone(), channel, exit })
    }

    fn say_hello(&self, peer: &Peer) -> Result<(), MeetError> {
        let hello = ToPeer::Hello { rank: self.own, job: self.cards[&Rank(0)].job };
        let memory: Vec<_> = self.memory.into_iter().map(OwnedFd::as_fd).collect();
        peer.send(&hello, &memory)
    }

    /// The memory, which comes with the hello of the first rank only.
    fn receive_hello(&self, peer: &Peer) -> Result<Option<OwnedFd>, MeetError> {
        let received = peer.receive(self.deadline)?;
        let wanted = ToPeer::Hello { rank: peer.rank, job: self.cards[&Rank(0)].job };
        if ToPeer::parse(&received.bytes)? != wanted {
            return Err(BadMessage::Range("rank or job").into());
        }
        let needed = usize::from(peer.rank == self.first);
        let got = received.descriptors.len();
        if got != needed {
            return Err(BadMessage::Descriptors { got, needed }.into());
        }
        Ok(received.descriptors.into_iter().next())
    }

    /// One of the `missing` ranks, which has said hello; `None` if somebody else has connected, who
    /// can do so as often as he likes and gets no time for it.
    fn accept(&self, listener: &Listener, missing: Vec<Rank>) -> Result<Option<Peer>, MeetError> {
        let first = missing.first().copied().unwrap_or(self.own);
        wait(&listener.socket, self.deadline)
            .map_err(|error| error.unwrap_or_else(|| self.late(first)))?;
        let channel = retry_on_intr(|| accept_with(&listener.socket, SocketFlags::CLOEXEC))?;
        let process = other_end(&channel)?;
        let is_at_end = |rank: &Rank| process.is_some_and(|process| is(process, self.card(*rank)));
        let Some(rank) = missing.into_iter().find(is_at_end) else {
            let is_late = Instant::now() >= self.deadline;
            return if is_late { Err(self.late(first)) } else { Ok(None) };
        };
        self.limit_sends(&channel, rank)?;
        let peer = self.peer(rank, channel)?;
        self.receive_hello(&peer)?;
        Ok(Some(peer))
    }
}

/// Waits until there is something to read; `Err(None)` if it takes too long.
fn wait(socket: &OwnedFd, deadline: Instant) -> Result<(), Option<MeetError>> {
    let limit = deadline.saturating_duration_since(Instant::now());
    match is_ready(socket, PollFlags::IN, limit) {
        Ok(false) => Err(None),
        Ok(true) => Ok(()),
        Err(error) => Err(Some(error.into())),
    }
}

/// The process at the other end, if it is one of this user's, in sight.
fn other_end(channel: &OwnedFd) -> Result<Option<Pid>, Errno> {
    let other = channel::peer(channel)?;
    Ok(other.process.filter(|_| other.user == getuid()))
}

fn is(process: Pid, card: &Card) -> bool {
    process.as_raw_pid().cast_unsigned() == card.process
}

fn new_socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

#[cfg(test)]
mod tests;
