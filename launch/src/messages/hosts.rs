//! Messages between the launcher and the agent of a host, each behind its length (4 bytes).

use std::net::{IpAddr, SocketAddr};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use weft_wire::Rank;
use weft_xdp::MacAddress;

use super::bounds::{CANDIDATES_MAX, HOST_MESSAGE_BYTES_MAX, HOSTS_MAX, RANKS_MAX, STACKS_MAX};
use super::checks::{at_most, check_host, check_rank, ensure};
use super::ending::Ending;
use super::event::Event;
use super::format::{BadMessage, Message};
use super::parts::{self, check_stack, text};
use super::reached::Reached;
use super::snapshot::{RankNow, check_ranks};
use super::standing::{Standing, check_roll};
use crate::mtu::Mtu;

mod begin;
mod far;
mod remote_shell;
mod subtree;

pub use begin::{Begin, commands_fit};
pub use far::{FarLink, InterfaceState};
pub use remote_shell::RemoteShell;
pub use subtree::{Below, Subtree, is_host_name};

/// Standard stream that a rank writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StandardStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// An address of a host: by which interface, and how many of its bits are the network's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The interface.
    #[serde(with = "text")]
    pub interface: String,
    /// The address.
    pub address: IpAddr,
    /// The leading bits that hosts of the same network share.
    pub prefix_bits: u8,
    /// Longest packets on the interface.
    pub mtu: Mtu,
}

/// Message of the launcher to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Start these ranks here, which the first one has asked for.
    Spawn(Rank, Vec<Rank>),
    /// Tell a rank, which has asked for more, that these come.
    Spawned(Rank, Vec<Rank>),
    /// Tell a rank, which has asked for more, that there is room for this number, which is less.
    NoRoom(Rank, u16),
    /// Let in these visitors, for this rank, each as a rank.
    Admit(Rank, Vec<(Rank, u32)>),
    /// Forget a visitor that has gone.
    Forget(u32),
    /// Send a signal to a rank.
    Signal(Rank, #[serde(with = "parts::signal")] Signal),
    /// So many more bytes of output have been dealt with.
    Taken(u32),
    /// Input that rank 0 reads next; nothing at its end.
    Input(#[serde(with = "parts::bytes")] Vec<u8>),
    /// Say what the ranks do.
    RollCall {
        /// Number of the roll call, which the answers have, too.
        number: u32,
        /// Stacks of some of them are to follow.
        stacks: bool,
    },
    /// Say how the ranks are now, with this number.
    Snapshot(u32),
    /// All ranks of the job have ended: clean up.
    Finish,
    /// The launcher is there.
    Heartbeat,
    /// The launcher is about to be stopped, and silent.
    Pause,
    /// Start the agents of these hosts; comes before anything else, if it comes.
    Subtree(Box<Subtree>),
    /// Pass a message on to the agent of a host below.
    For(u16, #[serde(with = "parts::bytes")] Vec<u8>),
    /// Take in a message and pass it on to all agents below.
    ForAll(#[serde(with = "parts::bytes")] Vec<u8>),
}

/// Message of an agent to the launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromAgent {
    /// The agent is there.
    Ready {
        /// Number of cores that the host has for it.
        cores: u16,
        /// Name that the host gives itself.
        #[serde(with = "text")]
        name: String,
        /// The host's addresses.
        candidates: Vec<Candidate>,
    },
    /// The host cannot take part, and why.
    Refused(#[serde(with = "text")] String),
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
    /// The processes of the ranks here that have been started, or been started now.
    Started(Vec<u32>),
    /// Event of the ranks here.
    Event(Event),
    /// Output of a rank.
    Output(Rank, StandardStream, #[serde(with = "parts::bytes")] Vec<u8>),
    /// Rank 0 has taken what it was given to read.
    InputTaken,
    /// Standing of the ranks here, with the number of the roll call.
    Roll(u32, Vec<Standing>),
    /// Stacks of some ranks here at the roll call of this number, in words.
    Stacks(u32, #[serde(serialize_with = "parts::cut_stacks")] Vec<(Rank, String)>),
    /// The ranks here as they are now, with the number of the look. Their host is not said.
    Snapshot(u32, Vec<RankNow>),
    /// A visitor of this number waits at the door here.
    Knocked(u32),
    /// It has gone, and is to be [forgotten](ToAgent::Forget).
    WentAway(u32),
    /// The agent is there.
    Heartbeat,
    /// Everything is cleaned up, but for these processes.
    Finished(Vec<u32>),
    /// Message of the agent of a host below.
    From(u16, #[serde(with = "parts::bytes")] Vec<u8>),
    /// Hosts that are gone, and why the first of them is, behind which the others are.
    Lost(Vec<u16>, #[serde(with = "text")] String),
}

impl Message for ToAgent {
    const KIND: u16 = 3;
    const BYTES_MAX: usize = HOST_MESSAGE_BYTES_MAX;

    fn check(&self) -> Result<(), BadMessage> {
        match self {
            ToAgent::Begin(begin) => begin.check(),
            ToAgent::Meet { hosts, ranks, interfaces, .. } => {
                at_most(hosts, HOSTS_MAX)?;
                at_most(ranks, RANKS_MAX.into())?;
                at_most(interfaces, HOSTS_MAX)
            }
            ToAgent::Welcome(rank) | ToAgent::Signal(rank, _) => check_rank(*rank),
            ToAgent::NoRoom(rank, _) => check_rank(*rank),
            ToAgent::Admit(by, admitted) => {
                check_rank(*by)?;
                at_most(admitted, RANKS_MAX.into())?;
                admitted.iter().try_for_each(|(rank, _)| check_rank(*rank))
            }
            ToAgent::Spawn(by, ranks) | ToAgent::Spawned(by, ranks) => {
                check_rank(*by)?;
                at_most(ranks, RANKS_MAX.into())?;
                ranks.iter().try_for_each(|rank| check_rank(*rank))
            }
            ToAgent::Loss(rank, ending) => {
                check_rank(*rank)?;
                ending.check()
            }
            ToAgent::Subtree(subtree) => subtree.check(),
            ToAgent::For(host, _) => check_host(*host),
            ToAgent::Go { .. } | ToAgent::Taken(_) | ToAgent::Input(_) => Ok(()),
            ToAgent::Forget(_) => Ok(()),
            ToAgent::RollCall { .. } | ToAgent::Snapshot(_) | ToAgent::Finish => Ok(()),
            ToAgent::Heartbeat | ToAgent::Pause | ToAgent::ForAll(_) => Ok(()),
        }
    }
}

impl Message for FromAgent {
    const KIND: u16 = 4;
    const BYTES_MAX: usize = HOST_MESSAGE_BYTES_MAX;

    fn check(&self) -> Result<(), BadMessage> {
        match self {
            FromAgent::Ready { candidates, .. } => {
                at_most(candidates, CANDIDATES_MAX)?;
                candidates.iter().try_for_each(Candidate::check)
            }
            FromAgent::Bound(_, ranks, _) => at_most(ranks, RANKS_MAX.into()),
            FromAgent::Met { udp, ethernet, copied, copied_ethernet, tcp } => {
                udp.check()?;
                let all = [ethernet, copied, copied_ethernet, tcp];
                all.into_iter().try_for_each(|hosts| at_most(hosts, HOSTS_MAX))
            }
            FromAgent::Started(processes) | FromAgent::Finished(processes) => {
                at_most(processes, RANKS_MAX.into())
            }
            FromAgent::Event(Event::Ended(endings)) => {
                at_most(endings, RANKS_MAX.into())?;
                endings.iter().try_for_each(|(rank, ending)| {
                    check_rank(*rank)?;
                    ending.check()
                })
            }
            FromAgent::Event(event) => event.ranks().into_iter().try_for_each(check_rank),
            FromAgent::Output(rank, ..) => check_rank(*rank),
            FromAgent::Roll(_, all) => check_roll(all),
            FromAgent::Stacks(_, stacks) => {
                at_most(stacks, STACKS_MAX)?;
                stacks.iter().try_for_each(|(rank, stack)| {
                    check_rank(*rank)?;
                    check_stack(stack)
                })
            }
            FromAgent::Snapshot(_, ranks) => check_ranks(ranks),
            FromAgent::From(host, _) => check_host(*host),
            FromAgent::Lost(hosts, _) => {
                at_most(hosts, HOSTS_MAX)?;
                hosts.iter().try_for_each(|host| check_host(*host))
            }
            FromAgent::Refused(_) | FromAgent::InputTaken | FromAgent::Heartbeat => Ok(()),
            FromAgent::Knocked(_) | FromAgent::WentAway(_) => Ok(()),
        }
    }
}

impl Candidate {
    fn check(&self) -> Result<(), BadMessage> {
        let most = if self.address.is_ipv4() { 32 } else { 128 };
        ensure(self.prefix_bits <= most, "prefix")
    }
}

#[cfg(test)]
mod tests;
