//! A job on several hosts: an agent on each, started over a remote shell, and the launcher that
//! conducts them.
//!
//! ```text
//!             launcher                                     agent of a host
//!   remote shell ─────────────────────────────────►  starts, looks at the host's addresses
//!                                           ◄─ Ready
//!   distributes ranks, chooses addresses
//!   Begin ─►                                         finds the program, binds a socket per rank,
//!                                                    takes its interface for AF_XDP
//!                                           ◄─ Bound
//!   Meet ─►                                          asks every other host over UDP, and over
//!                                                    Ethernet; connects to it; greets all at
//!                                                    once, if the network is to copy that
//!                                           ◄─ Met
//!   Go ─►                                            makes a port per rank, if they go over
//!                                                    Ethernet; starts its ranks
//!                                           ◄─ Started, then what ranks do, say and write
//!   what the job's state asks for ─►
//!   Finish ─►                                        cleans up
//!                                           ◄─ Finished
//! ```
//!
//! From 17 hosts on, or whatever the job says (`tree`), agents start those of others, and messages
//! pass through them: launcher and agents hold connections alike (`branches`), and who is between
//! others passes on (`agent`'s relay). `docs/internals/launch.md` has the reasons.
//!
//! The state of the job ([`crate::job`]) is the launcher's alone, the same as for one host: agents
//! pass on events and carry out actions. A host is lost when its connection ends or has been silent
//! for 0.8 s, and its ranks with it; an agent whose connection ends kills its ranks.

pub(crate) mod addresses;
pub(crate) mod agent;
mod branches;
mod conduct;
pub(crate) mod ethernet;
mod inquiry;
mod layout;
pub(crate) mod list;
mod liveness;
pub(crate) mod pace;
pub(crate) mod probe;
pub(crate) mod reached;
mod remote;
mod roll_call;
mod roster;
mod snapshots;
mod sockets;
mod start;
pub(crate) mod stream;
mod tcp;
pub(crate) mod tree;
mod window;

pub use crate::messages::hosts::{Candidate, FarLink, RemoteShell};
pub use addresses::candidates;
pub use conduct::run_on_hosts;
pub use layout::{Between, Copies, HostLayout, HostsSpec, LongPackets, Multicast, RankLayout};
pub use list::{HostWish, parse_hosts};
pub(crate) use remote::HOST_AGENT;
