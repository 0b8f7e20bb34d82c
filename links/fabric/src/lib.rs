//! The link between hosts over any provider of libfabric with reliable datagrams in order: the way
//! onto InfiniBand, RoCE, Slingshot, EFA and Omni-Path.
//!
//! | module | what |
//! |---|---|
//! | [`abi`] | layouts of libfabric's structures, which Weft's provider has, too |
//! | `library` | libfabric, found when the program runs, and what it offers |
//! | `provider` | which provider is taken, and why others are not |
//! | `objects`, `endpoint` | an endpoint, and operations under way on it |
//! | `memory` | memory of the program that travels in one piece |
//! | `transport` | the interface to these, which tests put faults behind |
//! | `faults` | faults around any of these |
//! | `carrier` | datagrams that wait, complete or fail |
//! | `pieces` | memory of the program that travels in one piece |
//! | `hearing` | heartbeats, and peers that are not heard of |
//! | `attachment` | [`Fabric`], and how it is attached |
//! | `meeting` | telling all others the address of one's endpoint |
//! | [`fuzzing`] | fuzz target for that |
//!
//! May use `links/api`, `links/datagram` and `wire`. Keeps: a place that the provider
//! has is nobody else's until its completion (I4); frames arrive, and in order, or the job is told
//! to which rank they did not; what waits is bounded by the protocol's credits (I9); nothing of a
//! datagram is used before it was opened.

#![deny(unsafe_code)]

pub mod abi;
mod attachment;
mod carrier;
mod endpoint;
mod error;
mod faults;
pub mod fuzzing;
mod hearing;
mod library;
mod meeting;
mod memory;
mod objects;
mod pieces;
mod provider;
mod transport;

pub use attachment::{Attachment, Fabric, FabricSettings, attach};
pub use carrier::Carried;
pub use endpoint::Endpoint;
pub use error::{FabricError, LibfabricError};
pub use faults::{Faulty, TransportFaults};
pub use hearing::Heartbeats;
pub use meeting::{Card, Meeting, meet};
pub use memory::ProgramMemory;
pub use provider::{Chosen, FoundProvider, Standing, library_version, providers, with_hardware};
pub use transport::{DatagramTransport, PIECES, TransportEvent, Unsent};
