//! A node as the packet layer sees it: whatever its link.

use crate::link_memory::LinkMemory;
use crate::ni::arrival::Arrival;
use crate::ni::attendance::Attendance;
use crate::ni::attributes::Attributes;
use crate::ni::wait::Look;
use crate::presence::backoff::Step;
use crate::{Error, Result};
use std::ptr::NonNull;
use std::time::Duration;
use weft_link::Buffer;
use weft_link::clock::Work;
use weft_protocol::Counters;
use weft_wire::{Atomic, GroupId, Protocol, Rank};

/// The function of a system that is called for each of its packets, outside the lock and one at a
/// time. It leaves the packet to have it recycled, or takes it and releases it later.
pub(crate) type Upcall = Box<dyn FnMut(&mut Option<Arrival>) + Send>;

/// A system that looks at its packets where they are found.
pub(crate) trait Handler: Send {
    /// A look at a packet inside the lock: it may read, count, and say that it is done; it must not
    /// enter the node, wait, or call a program. After [`Verdict::Outside`] the same packet comes to
    /// [`Self::outside`] next.
    fn inside(&mut self, arrival: &Arrival) -> Verdict;
    /// An [`Upcall`].
    fn outside(&mut self, slot: &mut Option<Arrival>);
}

/// The outcome of a look at a packet inside the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The packet is done with.
    Done,
    /// It is, and a thread that sleeps is to look again.
    Wake,
    /// There is more to do than can be done inside.
    Outside,
}

/// A look at packets inside the lock.
pub trait Inspect {
    /// A look at the sender and the bytes of a packet; true if that was all there is to do with it.
    /// It must not enter the node.
    fn inspect(&mut self, from: Rank, bytes: &[u8]) -> bool;
}

impl<F: FnMut(Rank, &[u8]) -> bool> Inspect for F {
    #[inline(always)]
    fn inspect(&mut self, from: Rank, bytes: &[u8]) -> bool {
        self(from, bytes)
    }
}

/// The result of a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Polled {
    /// No packet had arrived.
    Nothing,
    /// A packet had, and went to its system.
    Packet,
    /// A packet had, and others wait for systems that take them by themselves.
    OthersWait,
    /// No packet had arrived, but some wait for such systems.
    OnlyOthersWait,
}

impl Polled {
    pub fn of(any: bool) -> Self {
        if any { Polled::Packet } else { Polled::Nothing }
    }
}

/// Outcome of taking a packet from the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// No packet.
    Nothing,
    /// One that is done with.
    AtOnce,
    /// One that the caller has now.
    Held,
}

/// Permission for a call that has to drain the network to make upcalls too (thesis 3.1.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Upcalls {
    /// Upcalls may be made.
    Allowed,
    /// Packets that arrive meanwhile wait.
    Deferred,
}

/// Receivers of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Destination {
    /// To one rank.
    Unicast(Rank),
    /// To all other members of a group.
    Multicast(GroupId),
}

/// Counters of what a node has done since it was made.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Counters of the protocol.
    pub protocol: Counters,
    /// Packets that the host has processed.
    pub packets_processed: u64,
    /// Interrupts raised because the host did not poll.
    pub interrupts: u64,
    /// Times that a thread slept.
    pub sleeps: u64,
    /// Polls that drained the network but made no upcalls.
    pub drains: u64,
}

/// A frame to fill, and the address of its bytes.
pub(crate) type Frame = (Buffer, NonNull<u8>);

/// Packets out.
pub(crate) trait Outbound {
    /// A frame to fill for a packet of `protocol`, to one rank alone if it is given. Blocks,
    /// draining, while all are on their way, or too many of that protocol wait for their receivers.
    ///
    /// # Errors
    /// [`crate::Error::PoolExhausted`] if the client holds all frames; those of [`Inbound::poll`].
    fn alloc(&self, protocol: Protocol, to: Option<Rank>, upcalls: Upcalls) -> Result<Frame>;
    /// Does what [`Self::alloc`] does, without ever blocking: `None` while all frames are on their
    /// way.
    ///
    /// # Errors
    /// [`crate::Error::PoolExhausted`].
    fn try_alloc(&self, protocol: Protocol, to: Option<Rank>) -> Result<Option<Frame>>;
    /// Gives up a frame that was not launched.
    fn discard(&self, frame: Buffer);
    /// Has the next packet to `to` ask for an acknowledgement.
    fn ask_with_next(&self, to: Rank);
    /// Sends the first `size` bytes of `frame`, which is the node's from here on, to the system
    /// `protocol` there. Never blocks.
    ///
    /// # Errors
    /// [`crate::Error::NotAMember`], [`crate::Error::NoSuchRank`]; the frame is discarded.
    fn launch(&self, frame: Buffer, protocol: Protocol, to: Destination, size: u16) -> Result<()>;
    /// Sends these bytes to `protocol` at `to`, with no frame, if they may leave at once. False if
    /// not: then nothing has happened, and a frame that is launched waits. Never blocks.
    ///
    /// # Panics
    /// If there are more than [`Attributes::short_payload`].
    fn launch_short(&self, to: Rank, protocol: Protocol, bytes: &[u8]) -> bool;
    /// True if short packets to `to` could leave at once but for a credit, which will come.
    fn awaits_credit(&self, to: Rank) -> bool;
    /// True if everything launched here has left: nothing waits for a credit.
    fn is_flushed(&self) -> bool;
    /// Creates the next multicast group.
    ///
    /// # Errors
    /// [`crate::Error::Group`].
    fn create_group(&self, members: &[Rank]) -> Result<GroupId>;
    /// Members of a group, if this rank knows it.
    fn members(&self, group: GroupId) -> Option<Vec<Rank>>;
}

/// Packets in.
pub(crate) trait Inbound {
    /// Installs the function of `protocol` for arriving packets.
    fn set_upcall(&self, protocol: Protocol, upcall: Upcall);
    /// Installs a system that looks at its packets where they are found: in whatever call takes
    /// packets from the network.
    fn set_handler(&self, protocol: Protocol, handler: Box<dyn Handler>);
    /// From here on packets of `protocol` that wait are taken by [`Self::take_unless`].
    fn set_taken(&self, protocol: Protocol);
    /// Takes one packet from the network and has its system look at it, or make its upcall, if no
    /// other upcall is running (one, so that polling and computing share the host fairly: thesis
    /// 3.7). A packet of a system that takes its packets itself waits for it. `None` if a rank was
    /// lost, or a peer broke the protocol: [`Self::trouble`] says.
    fn poll(&self) -> Option<Polled>;
    /// Takes the next packet of `protocol` from the network, for a system that sorts packets by
    /// itself: no other packet is taken, and no upcall made, until it calls [`Self::taken`]. First
    /// `inspector` is shown the packet inside the lock, where it must not enter the node: if that
    /// is done with it, the packet is given back, and [`Self::taken`] need not be called. Packets
    /// of other systems that come before it go to these. What was in `into` must have been
    /// released. `None` as of [`Self::poll`].
    fn take_unless(
        &self,
        protocol: Protocol,
        inspector: &mut dyn Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken>;
    /// The error for which a poll found that this rank cannot go on.
    fn trouble(&self) -> Error;
    /// The systems, a bit each, whose packets wait for them to be taken.
    fn waiting_protocols(&self) -> u32;
    /// Marks the packet that was taken last as sorted.
    fn taken(&self);
    /// Gives a packet back.
    fn release(&self, arrival: Arrival);
}

/// Atomic operations on variables.
pub(crate) trait Atomics {
    /// Does `operation` on a variable and returns what it held before. Blocks, draining.
    ///
    /// # Errors
    /// Those of [`Inbound::poll`].
    fn atomic(&self, home: Rank, variable: u16, operation: Atomic) -> Result<u64>;
    /// Does what [`Self::atomic`] does to add `amount`, as most do.
    ///
    /// # Errors
    /// Those of [`Inbound::poll`].
    fn fetch_and_add(&self, home: Rank, variable: u16, amount: u64) -> Result<u64>;
    /// Does what [`Self::atomic`] does, for [`Self::take_fetched`] to give the answer. False, and
    /// nothing is done, if another one is under way.
    fn begin_atomic(&self, home: Rank, variable: u16, operation: Atomic) -> bool;
    /// The answer to [`Self::begin_atomic`], once. Does not poll.
    fn take_fetched(&self) -> Option<u64>;
}

/// A [`Node`](crate::Node) over whatever link, as the packet layer holds it.
pub(crate) trait AnyNode: Outbound + Inbound + Atomics + Send + Sync {
    /// Its attributes.
    fn attributes(&self) -> &Attributes;
    /// Presence of its threads, apart from the link.
    fn attendance(&self) -> &Attendance;
    /// Makes all threads equal: from here on none enters for free, and all enter at the cost of one
    /// ordinary lock.
    fn share(&self);
    /// Ends a program: where packets may be lost, waits until all of its own are acknowledged, and
    /// then for peers that have missed an acknowledgement. Gives up after a second without any
    /// progress.
    fn linger(&self);
    /// Sleeps until something arrives, or `limit` has passed, unless `step` finds something when
    /// all is armed.
    ///
    /// # Errors
    /// The first error of `step`.
    fn sleep(&self, step: &mut Look<'_>, limit: Duration) -> Result<Step>;
    /// True if a rank has said farewell, where the network has such.
    fn is_gone(&self, rank: Rank) -> bool;
    /// Counters of what this node has done.
    fn statistics(&self) -> Statistics;
    /// The time by this rank's clock.
    fn now(&self) -> Duration;
    /// Has `uses` use the program's memory by the link.
    fn with_memory(&self, uses: &mut dyn FnMut(&mut dyn LinkMemory));
    /// Charges work to the host's clock: nothing to a real machine, virtual time to a simulated
    /// one, which may take an interrupt meanwhile.
    fn charge(&self, work: Work);
}
