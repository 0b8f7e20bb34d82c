//! A rank's packet interface.

mod atomics;
mod clock;
mod hints;
mod interrupts_off;
mod losses;
mod presence;
mod system;
mod taking;

use crate::biased::Biased;
use crate::deferred::DeferredSends;
use crate::duties::Duties;
use crate::handle::Handle;
use crate::memory::Memory;
use crate::puts::{PutState, PutTarget, Puts};
use crate::receive::Packet;
use crate::send::SendPacket;
use crate::trace::Trace;
use crate::variable::Variable;
use crate::{
    Arrival, Atomic, Awaited, Endpoint, Gather, Group, Link, Node, Rank, Result, Statistics, Step,
    Upcalls, Whom,
};
use std::sync::Arc;
use weft_wire::Protocol;

pub use atomics::AtomicOperations;
pub use interrupts_off::InterruptsOff;
pub use losses::Losses;
pub use presence::{Presence, WaitNotice};
pub use system::System;
pub use taking::{HeldPacket, Sorting};

/// A rank's packet interface, as one protocol has it. Clones are handles to the same one; any
/// thread may use any of them.
///
/// All protocols of a rank share its network interface: groups, the variables of atomic operations,
/// credits, and waiting are one. Packets, upcalls and kept packets are each protocol's own
/// ([`Packets::of`]).
///
/// The needs of every program are here. The rest is asked for: [puts and gets](Self::puts),
/// [atomic operations](Self::atomics) that nobody blocks for, the program's
/// [memory](Self::memory) as packets leave from it and arrive in it, the
/// [presence](Self::presence) of threads, this [system](Self::system) among others, and the
/// [trace](Self::trace).
#[derive(Clone)]
pub struct Packets {
    pub(crate) handle: Handle,
}

impl Packets {
    /// The packet interface of `node`, for [`Protocol::PACKETS`].
    pub fn new<L: Link>(node: Arc<Node<L>>) -> Self {
        let node = Endpoint::of(node);
        let duties = Arc::<Duties>::default();
        let owed = DeferredSends::new(Protocol::PUTS, Arc::clone(&duties));
        let puts = Arc::new(PutState { connections: Biased::default(), owed });
        let handle = Handle::new(node, duties, puts);
        handle.node.set_handler(Protocol::PUTS, Box::new(PutTarget::new(&handle)));
        Packets { handle }
    }

    /// The packet interface of this rank for `protocol`: packets sent with it go to the same
    /// protocol of other ranks. Packets that arrive before the rank has anything that takes them
    /// wait.
    pub fn of(&self, protocol: Protocol) -> Self {
        let mut handle = self.handle.clone();
        handle.system = protocol;
        Packets { handle }
    }

    /// Puts and gets, and memory that is open to them.
    pub fn puts(&self) -> Puts<'_> {
        Puts::new(&self.handle)
    }

    /// Memory of programs, as packets leave from it and arrive in it.
    #[inline]
    pub fn memory(&self) -> Memory<'_> {
        Memory::new(&self.handle)
    }

    /// Presence of this rank's threads.
    #[inline]
    pub fn presence(&self) -> Presence<'_> {
        Presence::new(&self.handle)
    }

    /// This protocol among the others of this rank.
    #[inline]
    pub fn system(&self) -> System<'_> {
        System::new(&self.handle)
    }

    /// Trace of this rank.
    #[inline]
    pub fn trace(&self) -> &Trace {
        &self.handle.trace
    }

    /// This rank.
    #[inline]
    pub fn rank(&self) -> Rank {
        self.handle.node.attributes().local
    }

    /// Ranks that the job began with, numbered from 0 on: all of them, unless it grows. They alone
    /// are the broadcast group.
    #[inline]
    pub fn size(&self) -> usize {
        self.handle.node.attributes().founders
    }

    /// Ranks that the job has at most: packets may come from all of them, and those from
    /// [`Self::size`] on are there once they have come.
    #[inline]
    pub fn room(&self) -> usize {
        self.handle.node.attributes().ranks
    }

    /// Checks that the job began with this rank: for a system of all ranks, which takes no others.
    ///
    /// # Errors
    /// [`Error::CameLater`](crate::Error::CameLater) with `what` that is.
    pub fn check_founder(&self, what: &'static str) -> Result<()> {
        match self.rank().index() < self.size() {
            true => Ok(()),
            false => Err(crate::Error::CameLater { rank: self.rank(), what }),
        }
    }

    /// Largest payload of a packet to any rank, in bytes.
    #[inline]
    pub fn max_payload(&self) -> usize {
        self.handle.max_payload
    }

    /// Largest payload of a [packet to rank `to`](Self::packet_to), in bytes: no less than of one
    /// to any rank, and more where the way to `to` carries more than others.
    #[inline]
    pub fn max_payload_to(&self, to: Rank) -> usize {
        self.handle.max_payload_to(to)
    }

    /// Largest payload, in bytes, for which the network copies a multicast for several receivers,
    /// if it does that. Longer packets reach all receivers too, each in a frame of its own.
    #[inline]
    pub fn multicast_payload(&self) -> usize {
        self.handle.multicast_payload
    }

    /// Largest payload of a [short](Self::send_short) packet to `to`, in bytes; 0 where there are
    /// none, as to other hosts.
    #[inline(always)]
    pub fn short_payload(&self, to: Rank) -> usize {
        if self.handle.node.takes_short(to) { self.handle.short_payload } else { 0 }
    }

    /// True if a look at what has arrived may be a system call, as on networks.
    pub fn looks_are_calls(&self) -> bool {
        self.handle.node.looks_are_calls()
    }

    /// Packets that this rank can have in flight to one other rank: as many as it has credits, or
    /// frames to fill, whichever is less. Where windows follow demand there may be more.
    pub fn in_flight(&self) -> usize {
        self.handle.in_flight()
    }

    /// Sets the upcall, which is called once for each arriving packet, and replaces the one before.
    /// One that panics is called no more; its packet is recycled, and later ones wait for another.
    /// One that has a clone of these packets keeps them until it is replaced.
    ///
    /// Upcalls run one at a time: in whatever thread polls, or on the upcall thread if none does.
    /// They may send, but must not wait for other packets: those arrive after they return. Nor may
    /// more packets than a window be on the way in each direction between two ranks whose upcalls
    /// both send, or each could wait for credits that only the other's next upcall returns (thesis
    /// 3.1.4: a client that puts upcalls off needs flow control).
    pub fn on_packet(&self, mut upcall: impl FnMut(Packet<'_>) + Send + 'static) {
        let node = Arc::downgrade(&self.handle.node.any());
        let upcall = Box::new(move |arrival: &mut Option<Arrival>| {
            upcall(Packet::new(arrival, &node));
        });
        self.handle.node.set_upcall(self.handle.system, upcall);
    }

    /// A packet to fill. Blocks, draining and making upcalls, while all are on their way.
    ///
    /// # Errors
    /// [`crate::Error::PoolExhausted`] if this program holds all of them;
    /// [`crate::Error::RankLost`].
    #[inline]
    pub fn packet(&self) -> Result<SendPacket<'_>> {
        self.packet_with(Upcalls::Allowed)
    }

    /// Does what [`Self::packet`] does; `upcalls` says if upcalls may be made meanwhile (thesis
    /// 3.1.4).
    ///
    /// # Errors
    /// Those of [`Self::packet`].
    #[inline]
    pub fn packet_with(&self, upcalls: Upcalls) -> Result<SendPacket<'_>> {
        SendPacket::alloc(&self.handle, None, upcalls)
    }

    /// A packet to rank `to` alone: does what [`Self::packet`] does, but for its length, and it is
    /// in memory of the way to that rank, so that it leaves without a copy.
    ///
    /// # Errors
    /// Those of [`Self::packet`].
    #[inline]
    pub fn packet_to(&self, to: Rank) -> Result<SendPacket<'_>> {
        SendPacket::alloc(&self.handle, Some(to), Upcalls::Allowed)
    }

    /// Does what [`Self::packet`] does, without ever blocking: `None` while all are on their way.
    ///
    /// # Errors
    /// [`crate::Error::PoolExhausted`].
    #[inline]
    pub fn try_packet(&self) -> Result<Option<SendPacket<'_>>> {
        SendPacket::try_alloc(&self.handle, None)
    }

    /// Does what [`Self::packet_to`] does, without ever blocking: `None` while all are on their
    /// way.
    ///
    /// # Errors
    /// [`crate::Error::PoolExhausted`].
    #[inline]
    pub fn try_packet_to(&self, to: Rank) -> Result<Option<SendPacket<'_>>> {
        SendPacket::try_alloc(&self.handle, Some(to))
    }

    /// Sends a short packet of these bytes to rank `to`, if it may leave at once: there is a
    /// credit, and the packet need not be kept until it has arrived. The bytes are gathered in the
    /// slot that it leaves from. False if not: then nothing has happened, and the same bytes in a
    /// [packet](Self::try_packet) are sent as soon as they may. Never blocks.
    ///
    /// # Panics
    /// If there are more than [short packets](Self::short_payload) hold here.
    #[inline(always)]
    pub fn send_short(&self, to: Rank, bytes: &(impl Gather + Copy)) -> bool {
        self.handle.node.launch_short(to, self.handle.system, bytes)
    }

    /// True if short packets to `to` could leave at once but for a credit, which comes when the
    /// receiver has taken some. A sender that can try again later has no need of a frame then.
    pub fn awaits_credit(&self, to: Rank) -> bool {
        self.handle.node.awaits_credit(to)
    }

    /// Makes the upcall for one packet, if one has arrived, whatever its protocol. True if one had.
    /// Never blocks.
    ///
    /// # Errors
    /// [`crate::Error::RankLost`], or what a peer did wrong.
    #[inline(always)]
    pub fn poll(&self) -> Result<bool> {
        self.handle.poll()
    }

    /// Takes the packets that have arrived for any protocol, each in its own way: for a rank that
    /// waits for something other than its own packets, or is interrupted. True if any had arrived.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    pub fn progress(&self) -> Result<bool> {
        self.handle.progress()
    }

    /// Polls until `done` returns true: spins, yields, then sleeps in between.
    ///
    /// # Errors
    /// Those of [`Self::poll`]. In a job that goes on after a loss each loss ends the waits that
    /// are under way, or else the next: they may be for the lost.
    pub fn poll_until(&self, done: impl FnMut() -> bool) -> Result<()> {
        poll_for(self, &|| Awaited::new("what an upcall is to do", Whom::Anyone), done)
    }

    /// The end of a program: on links that lose packets, stays until all of its own are
    /// acknowledged, and a little longer for peers that have missed an acknowledgement. Elsewhere
    /// returns at once.
    pub fn linger(&self) {
        self.handle.node.linger();
    }

    /// Makes all threads equal, for good: until now the one that joined enters for free and the
    /// others pay for a barrier; from here on each pays for one ordinary lock (thesis 6.2.1).
    pub fn share(&self) {
        self.handle.node.share();
        self.handle.puts.connections.share();
        self.handle.puts.owed.share();
    }

    /// True if the job checks its invariants after each operation
    /// ([`Settings::checks_all`](crate::Settings::checks_all)), and systems are to check theirs.
    pub fn checks_all(&self) -> bool {
        self.handle.node.attributes().checks_all
    }

    /// True if threads of a rank run at once, and do not take turns ([`Self::spawn`]).
    pub fn has_threads(&self) -> bool {
        self.handle.node.attributes().capabilities.threads
    }

    /// The ranks of a group, if this rank has created it.
    pub fn members(&self, group: Group) -> Option<Vec<Rank>> {
        self.handle.node.members(group.0)
    }

    /// True if every packet launched here has left.
    pub fn is_flushed(&self) -> bool {
        self.handle.puts.owed.is_empty() && self.handle.node.is_flushed()
    }

    /// Polls until every packet launched here has left, for which receivers have to release their
    /// packets. A rank that ends with packets unsent takes them with it.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    pub fn flush(&self) -> Result<()> {
        let what = || Awaited::of_unknown("what it has sent to leave");
        poll_for(self, &what, || self.is_flushed())
    }

    /// Keeps interrupts off until the guard is dropped. Costs a write to memory, and the rest of an
    /// upcall if an interrupt is making one: when this returns, none runs and none begins behind
    /// the caller's back. The caller must hold nothing that an upcall waits for.
    pub fn interrupts_off(&self) -> InterruptsOff<'_> {
        InterruptsOff::new(&self.handle.node.attendance().interrupts)
    }

    /// Body of an interrupt: calls `step`, which takes a packet, as long as it finds something and
    /// interrupts are on. So a thread that turns interrupts off waits for one step at most.
    pub fn interrupted(&self, mut step: impl FnMut() -> bool) {
        let attendance = self.handle.node.attendance();
        while !attendance.interrupts.are_off() && !attendance.is_closed() && step() {}
    }

    /// Creates a multicast group. All ranks must create the same groups in the same order, each
    /// when it gets there: packets for groups that a rank has not created yet wait. A window of
    /// them of one sender can wait, and then nothing else that it sends may come after; so a rank
    /// that sends much to a group should know that all have created it, by a barrier, if they may
    /// wait for this rank until then. Members that overlap with another group's can deadlock
    /// (Appendix A.2).
    ///
    /// # Errors
    /// [`crate::Error::Group`] if `members` is empty, has a rank twice, or one that does not exist;
    /// [`crate::Error::Violation`] if packets that arrived for it contradict it, because another
    /// rank created another group under its number.
    pub fn group(&self, members: &[Rank]) -> Result<Group> {
        self.handle.node.create_group(members).map(Group)
    }

    /// Adds `amount` to `variable` and returns what it held before. Atomic across the job; blocks
    /// for a round trip at most, without its home's program taking part.
    ///
    /// # Errors
    /// [`crate::Error::NoSuchRank`], [`crate::Error::RankLost`].
    #[inline(always)]
    pub fn fetch_and_add(&self, variable: Variable, amount: u64) -> Result<u64> {
        self.handle.check_rank(variable.home)?;
        self.handle.node.fetch_and_add(variable.home, variable.index, amount)
    }

    /// Does `operation` on `variable` and returns what it held before, as [`Self::fetch_and_add`]
    /// does for additions. All operations on a variable take place one after the other.
    ///
    /// # Errors
    /// Those of [`Self::fetch_and_add`].
    pub fn atomic(&self, variable: Variable, operation: Atomic) -> Result<u64> {
        self.handle.check_rank(variable.home)?;
        self.handle.node.atomic(variable.home, variable.index, operation)
    }

    /// Atomic operations that no thread blocks for, and their variables in shared memory.
    pub fn atomics(&self) -> AtomicOperations<'_> {
        AtomicOperations::new(&self.handle)
    }

    /// Losses of ranks.
    #[inline]
    pub fn losses(&self) -> Losses<'_> {
        Losses::new(self.handle.node.attendance())
    }

    /// True if a rank has left the job, and the network says farewell: what is sent there reaches
    /// nobody. Of ranks that share memory it is never true.
    pub fn has_left(&self, rank: Rank) -> bool {
        self.handle.node.is_gone(rank)
    }

    /// Counters of what this rank has done so far.
    pub fn statistics(&self) -> Statistics {
        self.handle.node.statistics()
    }
}

/// Polls until `done` returns true; others get to know `what` this rank waits for.
fn poll_for(
    packets: &Packets,
    what: &dyn Fn() -> Awaited,
    mut done: impl FnMut() -> bool,
) -> Result<()> {
    let told = packets.losses().told();
    packets.handle.node.wait_for(what, None, &mut || {
        let progress = packets.poll()?;
        Ok(match (done(), progress) {
            (true, _) => Step::Done,
            (false, true) => Step::Progress,
            (false, false) => {
                packets.losses().check_since(told)?;
                Step::Idle
            }
        })
    })
}
