//! Messages between the launcher and the agent of a host.
//!
//! ```text
//! every message:  length of what follows (4) | mark "weft" (4) | version (2) | kind (2) | body
//! to the agent:
//!   Begin:        host (2) | first rank (2) | ranks (2) | settings | options
//!                 | program, directory (bytes) | arguments (2) x bytes | flags (1) | job (4)
//!                 | secret (16) | protection (1) | MTU (2) | IP address
//!                 | interface (text) | 0 udp, 1 xdp, 2 either (1) | copied multicasts (1)
//!                 | TCP (1)
//!   Meet:         limit in ms (4) | hosts (2) x address | ranks (2) x { host (2), address }
//!                 | hosts, or none (2) x interface (6)
//!   Go:           0 over UDP, 1 over Ethernet (1) | copied multicasts (1) | TCP (1)
//!   Finish, Beat, Pause:  nothing
//!   Subtree:      host (2) | hosts below (2) x { host (2), parent (2), name (text) }
//!                 | remote shell (2) x bytes | weft (bytes) | silence above, silence below,
//!                 limit for ends in ms (3 x 4)
//!   For:          host (2) | message to its agent (bytes)
//!   ForAll:       message to all agents (bytes)
//!   Welcome:      rank (2)
//!   Loss:         rank (2) | ending
//!   Signal:       rank (2) | signal (4)
//!   Taken:        bytes (4)
//!   RollCall:     number (4) | stacks are wanted (1)
//!   Look:         number (4)
//!   Input:        bytes
//! from the agent:
//!   Ready:        cores (2) | name (text)
//!                 | candidates (2) x { name (text), IP address, prefix bits (1), MTU (2) }
//!   Refused:      text
//!   Bound:        address | ranks (2) x address
//!                 | 0 (1), or 1 (1) | why not xdp (text),
//!                   or 2 (1) | interface (6) | in the driver (1) | zero-copy (1)
//!   Met:          findings over UDP (`reached`)
//!                 | hosts that were not met over Ethernet (2) x host (2)
//!                 | hosts whose copied greeting was not heard over UDP (2) x host (2)
//!                 | the same over Ethernet (2) x host (2)
//!                 | hosts to which no TCP connection was had (2) x host (2)
//!   Started:      ranks (2) x process (4)
//!   Asked, Joined, Leaving:  rank (2)
//!   Report, BadMessage:      rank (2) | text
//!   CannotStart:  rank (2) | errno (4)
//!   Ended:        ranks (2) x { rank (2), ending }
//!   Output:       rank (2) | 0 standard output, 1 standard error (1) | bytes
//!   InputTaken, Beat:        nothing
//!   Roll:         number (4) | ranks (2) x standing, as `roll.rs` has it
//!   Stacks:       number (4) | ranks (2) x { rank (2), stack (text) }
//!   Seen:         number (4) | ranks (2) x { rank (2), process (4), state (text)
//!                 | 0 (1), or 1 (1) | for how long, in s (8, floating-point)
//!                 | processor time in s (8, floating-point) | memory (8)
//!                 | 0 (1), or 1 (1) | counts (9 x 8) }
//!   Finished:     processes (2) x process (4)
//!   From:         host (2) | message of its agent (bytes)
//!   Lost:         hosts (2) x host (2) | why (text)
//! an ending:      0 exited, 1 killed (1) | status or signal (4)
//! bytes:          length (4) | bytes
//! ```

use std::net::{IpAddr, SocketAddr};

use rustix::process::Signal;
use weft_wire::Rank;
use weft_xdp::MacAddress;

use super::bytes::{Body, begin, open_long, put_address, put_bytes, put_ip, put_mtu, put_text};
use super::network::{RANKS_MAX, put_interfaces, take_interfaces};
use super::reached::Reached;
use super::{BadMessage, TEXT_BYTES_MAX, cut};
use crate::job::Event;
use crate::mtu::Mtu;
use crate::outcome::Ending;
use crate::output::Kind;
use crate::roll::Standing;
use crate::snapshot::RankNow;

mod begin;
mod events;
mod far;
mod look;
mod roll;
mod subtree;

pub use begin::{Begin, command_fits};
use events::{emit_event, put_ending, take_ending, take_event};
pub use far::{FarLink, InterfaceState};
use look::{put_look, take_look};
pub(crate) use roll::{put_roll, put_stacks, take_roll, take_stacks};
pub(crate) use subtree::FromBelow;
pub use subtree::{Below, Subtree};
use subtree::{disclose, enclose, take_host};

/// Bytes of the longest message, without its length: enough for what a command line can be.
pub const HOST_MESSAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The most hosts of a job.
pub const HOSTS_MAX: usize = 256;
/// The most addresses of a host that are looked at.
pub const CANDIDATES_MAX: usize = 64;

/// An address of a host: by which interface, and how many of its bits are the network's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The interface.
    pub interface: String,
    /// The address.
    pub address: IpAddr,
    /// The leading bits that hosts of the same network share.
    pub prefix_bits: u8,
    /// Longest packets on the interface.
    pub mtu: Mtu,
}

/// Message of the launcher to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToAgent {
    /// Get ready.
    Begin(Box<Begin>),
    /// See whether the other hosts can be reached, at these addresses by host.
    Meet {
        /// Longest time to try, in ms.
        limit_ms: u32,
        /// Addresses at which the hosts are to be met.
        hosts: Vec<SocketAddr>,
        /// The host and the address of each rank.
        ranks: Vec<(u16, SocketAddr)>,
        /// The interface of each host, if hosts are to be met over Ethernet too.
        interfaces: Vec<MacAddress>,
    },
    /// Start the ranks.
    Go {
        /// They reach those of other hosts over Ethernet, not over UDP.
        over_ethernet: bool,
        /// The network copies their multicasts.
        copied: bool,
        /// Their long packets go over TCP.
        bulk: bool,
    },
    /// Give the program of this rank its place.
    Welcome(Rank),
    /// Tell the ranks that one of the job is lost.
    Loss(Rank, Ending),
    /// Send a signal to a rank.
    Signal(Rank, Signal),
    /// So many more bytes of output have been dealt with.
    Taken(u32),
    /// Input that rank 0 reads next; nothing at its end.
    Input(Vec<u8>),
    /// Say what the ranks do.
    RollCall {
        /// Number of the roll call, which the answers have, too.
        number: u32,
        /// Stacks of some of them are to follow.
        stacks: bool,
    },
    /// Say how the ranks are now, with this number.
    Look(u32),
    /// All ranks of the job have ended: clean up.
    Finish,
    /// The launcher is there.
    Beat,
    /// The launcher is about to be stopped, and silent.
    Pause,
    /// Start the agents of these hosts; comes before anything else, if it comes.
    Subtree(Box<Subtree>),
    /// Pass a message on to the agent of a host below.
    For(u16, Vec<u8>),
    /// Take in a message and pass it on to all agents below.
    ForAll(Vec<u8>),
}

/// Message of an agent to the launcher.
#[derive(Clone, Debug, PartialEq)]
pub enum FromAgent {
    /// The agent is there.
    Ready {
        /// Number of cores that the host has for it.
        cores: u16,
        /// Name that the host gives itself.
        name: String,
        /// The host's addresses.
        candidates: Vec<Candidate>,
    },
    /// The host cannot take part, and why.
    Refused(String),
    /// The sockets are bound: that for meeting other hosts, and those of the ranks here; and what
    /// there is for AF_XDP.
    Bound(SocketAddr, Vec<SocketAddr>, InterfaceState),
    /// The hosts that were not met.
    Met {
        /// Over UDP.
        udp: Reached,
        /// Over Ethernet, if they were to be met there.
        ethernet: Vec<u16>,
        /// Hosts whose greeting to all hosts at once has not been heard over UDP.
        copied: Vec<u16>,
        /// Hosts whose greeting to all hosts at once has not been heard over Ethernet.
        copied_ethernet: Vec<u16>,
        /// Hosts to which no TCP connection was had.
        tcp: Vec<u16>,
    },
    /// The processes of the ranks here.
    Started(Vec<u32>),
    /// Event of the ranks here.
    Event(Event),
    /// Output of a rank.
    Output(Rank, Kind, Vec<u8>),
    /// Rank 0 has taken what it was given to read.
    InputTaken,
    /// Standing of the ranks here, with the number of the roll call.
    Roll(u32, Vec<Standing>),
    /// Stacks of some ranks here at the roll call of this number, in words.
    Stacks(u32, Vec<(Rank, String)>),
    /// The ranks here as they are now, with the number of the look. Their host is not said.
    Seen(u32, Vec<RankNow>),
    /// The agent is there.
    Beat,
    /// Everything is cleaned up, but for these processes.
    Finished(Vec<u32>),
    /// Message of the agent of a host below.
    From(u16, Vec<u8>),
    /// Hosts that are gone, and why the first of them is, behind which the others are.
    Lost(Vec<u16>, String),
}

const BEGIN: u16 = 32;
const MEET: u16 = 33;
const GO: u16 = 34;
const GIVE_WELCOME: u16 = 35;
const LOSS: u16 = 36;
const SIGNAL: u16 = 37;
const TAKEN: u16 = 38;
const INPUT: u16 = 39;
const FINISH: u16 = 40;
const LAUNCHER_BEAT: u16 = 41;
const PAUSE: u16 = 42;
const SUBTREE: u16 = 43;
const FOR: u16 = 44;
const FOR_ALL: u16 = 45;
const ROLL_CALL: u16 = 46;
const LOOK: u16 = 47;
const READY: u16 = 64;
const REFUSED: u16 = 65;
const BOUND: u16 = 66;
const MET: u16 = 67;
const STARTED: u16 = 68;
const ASKED: u16 = 69;
const JOINED: u16 = 70;
const LEAVING: u16 = 71;
const REPORT: u16 = 72;
const BAD_MESSAGE: u16 = 73;
const CANNOT_START: u16 = 74;
const ENDED: u16 = 75;
const OUTPUT: u16 = 76;
const INPUT_TAKEN: u16 = 77;
const BEAT: u16 = 78;
const FINISHED: u16 = 79;
const FROM: u16 = 80;
const LOST: u16 = 81;
const ROLL: u16 = 82;
const STACKS: u16 = 83;
const SEEN: u16 = 84;

impl ToAgent {
    /// The message as bytes, without its length.
    pub fn emit(&self) -> Vec<u8> {
        match self {
            ToAgent::Begin(begin) => begin.emit(),
            ToAgent::Meet { limit_ms, hosts, ranks, interfaces } => {
                let mut bytes = begin(MEET);
                bytes.extend(limit_ms.to_le_bytes());
                put_list(&mut bytes, hosts, |bytes, address| put_address(bytes, *address));
                put_list(&mut bytes, ranks, |bytes, (host, address)| {
                    bytes.extend(host.to_le_bytes());
                    put_address(bytes, *address);
                });
                put_interfaces(&mut bytes, interfaces);
                bytes
            }
            ToAgent::Go { over_ethernet, copied, bulk } => {
                let flags = [over_ethernet, copied, bulk].map(|flag| u8::from(*flag));
                [begin(GO), flags.to_vec()].concat()
            }
            ToAgent::Welcome(rank) => of_rank(GIVE_WELCOME, *rank),
            ToAgent::Loss(rank, ending) => {
                let mut bytes = of_rank(LOSS, *rank);
                put_ending(&mut bytes, *ending);
                bytes
            }
            ToAgent::Signal(rank, signal) => {
                let mut bytes = of_rank(SIGNAL, *rank);
                bytes.extend(signal.as_raw().to_le_bytes());
                bytes
            }
            ToAgent::Taken(count) => [begin(TAKEN), count.to_le_bytes().to_vec()].concat(),
            ToAgent::Input(input) => {
                let mut bytes = begin(INPUT);
                put_bytes(&mut bytes, input);
                bytes
            }
            ToAgent::RollCall { number, stacks } => {
                let mut bytes = begin(ROLL_CALL);
                bytes.extend(number.to_le_bytes());
                bytes.push((*stacks).into());
                bytes
            }
            ToAgent::Look(number) => [begin(LOOK), number.to_le_bytes().to_vec()].concat(),
            ToAgent::Finish => begin(FINISH),
            ToAgent::Beat => begin(LAUNCHER_BEAT),
            ToAgent::Pause => begin(PAUSE),
            ToAgent::Subtree(subtree) => {
                let mut bytes = begin(SUBTREE);
                subtree.put(&mut bytes);
                bytes
            }
            ToAgent::For(host, message) => enclose(FOR, *host, message),
            ToAgent::ForAll(message) => {
                let mut bytes = begin(FOR_ALL);
                put_bytes(&mut bytes, message);
                bytes
            }
        }
    }

    /// The message in `bytes`.
    ///
    /// # Errors
    /// [`BadMessage`] if there is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        let (kind, mut body) = open_long(bytes, HOST_MESSAGE_BYTES_MAX)?;
        let message = match kind {
            BEGIN => ToAgent::Begin(Box::new(Begin::take(&mut body)?)),
            MEET => ToAgent::Meet {
                limit_ms: body.u32()?,
                hosts: body.list(HOSTS_MAX, Body::address)?,
                ranks: body.list(RANKS_MAX.into(), |body| Ok((body.u16()?, body.address()?)))?,
                interfaces: take_interfaces(&mut body)?,
            },
            GO => ToAgent::Go {
                over_ethernet: body.flag()?,
                copied: body.flag()?,
                bulk: body.flag()?,
            },
            GIVE_WELCOME => ToAgent::Welcome(take_rank(&mut body)?),
            LOSS => ToAgent::Loss(take_rank(&mut body)?, take_ending(&mut body)?),
            SIGNAL => {
                let rank = take_rank(&mut body)?;
                let signal = Signal::from_named_raw(body.u32()?.cast_signed());
                ToAgent::Signal(rank, signal.ok_or(BadMessage::Range("signal"))?)
            }
            TAKEN => ToAgent::Taken(body.u32()?),
            INPUT => ToAgent::Input(body.bytes()?.to_vec()),
            ROLL_CALL => ToAgent::RollCall { number: body.u32()?, stacks: body.flag()? },
            LOOK => ToAgent::Look(body.u32()?),
            FINISH => ToAgent::Finish,
            LAUNCHER_BEAT => ToAgent::Beat,
            PAUSE => ToAgent::Pause,
            SUBTREE => ToAgent::Subtree(Box::new(Subtree::take(&mut body)?)),
            FOR => {
                let (host, message) = disclose(&mut body)?;
                ToAgent::For(host, message)
            }
            FOR_ALL => ToAgent::ForAll(body.bytes()?.to_vec()),
            other => return Err(BadMessage::Kind(other)),
        };
        body.end()?;
        Ok(message)
    }
}

impl FromAgent {
    /// The message as bytes, without its length; texts are cut to their limit.
    pub fn emit(&self) -> Vec<u8> {
        match self {
            FromAgent::Ready { cores, name, candidates } => {
                let mut bytes = begin(READY);
                bytes.extend(cores.to_le_bytes());
                put_text(&mut bytes, cut(name));
                put_list(&mut bytes, candidates, |bytes, candidate| {
                    put_text(bytes, cut(&candidate.interface));
                    put_ip(bytes, candidate.address);
                    bytes.push(candidate.prefix_bits);
                    put_mtu(bytes, candidate.mtu);
                });
                bytes
            }
            FromAgent::Refused(why) => {
                let mut bytes = begin(REFUSED);
                put_text(&mut bytes, cut(why));
                bytes
            }
            FromAgent::Bound(meeting, ranks, state) => {
                let mut bytes = begin(BOUND);
                put_address(&mut bytes, *meeting);
                put_list(&mut bytes, ranks, |bytes, address| put_address(bytes, *address));
                state.put(&mut bytes);
                bytes
            }
            FromAgent::Met { udp, ethernet, copied, copied_ethernet, tcp } => {
                let mut bytes = begin(MET);
                udp.put(&mut bytes);
                for hosts in [ethernet, copied, copied_ethernet, tcp] {
                    put_list(&mut bytes, hosts, |bytes, host| bytes.extend(host.to_le_bytes()));
                }
                bytes
            }
            FromAgent::Started(processes) => of_processes(STARTED, processes),
            FromAgent::Event(event) => emit_event(event),
            FromAgent::Output(rank, kind, output) => {
                let mut bytes = of_rank(OUTPUT, *rank);
                bytes.push((*kind == Kind::Err).into());
                put_bytes(&mut bytes, output);
                bytes
            }
            FromAgent::Roll(number, all) => {
                let mut bytes = [begin(ROLL), number.to_le_bytes().to_vec()].concat();
                put_roll(&mut bytes, all);
                bytes
            }
            FromAgent::Stacks(number, stacks) => {
                let mut bytes = [begin(STACKS), number.to_le_bytes().to_vec()].concat();
                put_stacks(&mut bytes, stacks);
                bytes
            }
            FromAgent::Seen(number, ranks) => {
                let mut bytes = [begin(SEEN), number.to_le_bytes().to_vec()].concat();
                put_look(&mut bytes, ranks);
                bytes
            }
            FromAgent::InputTaken => begin(INPUT_TAKEN),
            FromAgent::Beat => begin(BEAT),
            FromAgent::Finished(stuck) => of_processes(FINISHED, stuck),
            FromAgent::From(host, message) => enclose(FROM, *host, message),
            FromAgent::Lost(hosts, why) => {
                let mut bytes = begin(LOST);
                put_list(&mut bytes, hosts, |bytes, host| bytes.extend(host.to_le_bytes()));
                put_text(&mut bytes, cut(why));
                bytes
            }
        }
    }

    /// The message in `bytes`.
    ///
    /// # Errors
    /// [`BadMessage`] if there is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        let (kind, mut body) = open_long(bytes, HOST_MESSAGE_BYTES_MAX)?;
        let processes = |body: &mut Body<'_>| body.list(RANKS_MAX.into(), Body::u32);
        let message = match kind {
            READY => FromAgent::Ready {
                cores: body.u16()?,
                name: body.text()?,
                candidates: body.list(CANDIDATES_MAX, take_candidate)?,
            },
            REFUSED => FromAgent::Refused(body.text()?),
            BOUND => {
                let (meeting, ranks) =
                    (body.address()?, body.list(RANKS_MAX.into(), Body::address)?);
                FromAgent::Bound(meeting, ranks, InterfaceState::take(&mut body)?)
            }
            MET => {
                let udp = Reached::take(&mut body)?;
                let mut hosts = || body.list(HOSTS_MAX, Body::u16);
                let (ethernet, copied, copied_ethernet) = (hosts()?, hosts()?, hosts()?);
                FromAgent::Met { udp, ethernet, copied, copied_ethernet, tcp: hosts()? }
            }
            STARTED => FromAgent::Started(processes(&mut body)?),
            ASKED..=ENDED => FromAgent::Event(take_event(kind, &mut body)?),
            OUTPUT => {
                let rank = take_rank(&mut body)?;
                let kind = if body.flag()? { Kind::Err } else { Kind::Out };
                FromAgent::Output(rank, kind, body.bytes()?.to_vec())
            }
            ROLL => FromAgent::Roll(body.u32()?, take_roll(&mut body)?),
            STACKS => FromAgent::Stacks(body.u32()?, take_stacks(&mut body)?),
            SEEN => FromAgent::Seen(body.u32()?, take_look(&mut body)?),
            INPUT_TAKEN => FromAgent::InputTaken,
            BEAT => FromAgent::Beat,
            FINISHED => FromAgent::Finished(processes(&mut body)?),
            FROM => {
                let (host, message) = disclose(&mut body)?;
                FromAgent::From(host, message)
            }
            LOST => FromAgent::Lost(body.list(HOSTS_MAX, take_host)?, body.text()?),
            other => return Err(BadMessage::Kind(other)),
        };
        body.end()?;
        Ok(message)
    }
}

fn of_rank(kind: u16, rank: Rank) -> Vec<u8> {
    let mut bytes = begin(kind);
    bytes.extend(rank.0.to_le_bytes());
    bytes
}

fn of_processes(kind: u16, processes: &[u32]) -> Vec<u8> {
    let mut bytes = begin(kind);
    put_list(&mut bytes, processes, |bytes, process| bytes.extend(process.to_le_bytes()));
    bytes
}

pub(crate) fn put_list<T>(bytes: &mut Vec<u8>, list: &[T], mut one: impl FnMut(&mut Vec<u8>, &T)) {
    bytes.extend((list.len() as u16).to_le_bytes());
    list.iter().for_each(|item| one(bytes, item));
}

pub(crate) fn take_rank(body: &mut Body<'_>) -> Result<Rank, BadMessage> {
    let rank = body.u16()?;
    if rank < RANKS_MAX { Ok(Rank(rank)) } else { Err(BadMessage::Range("rank")) }
}

fn take_candidate(body: &mut Body<'_>) -> Result<Candidate, BadMessage> {
    let (interface, address) = (body.text()?, body.ip()?);
    let prefix_bits = body.u8()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    if prefix_bits > most {
        return Err(BadMessage::Range("prefix"));
    }
    Ok(Candidate { interface, address, prefix_bits, mtu: body.mtu()? })
}

const _: () = assert!(TEXT_BYTES_MAX <= u16::MAX as usize);

#[cfg(test)]
mod tests;
