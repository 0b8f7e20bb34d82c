//! A rank's packet interface.

mod clock;
mod hints;
mod interrupts_off;
mod spans;
mod waiting;

use crate::copy::Choice;
use crate::puts::{OWED_BY_PUTS, PutTarget, Puts};
use crate::receive::Packet;
use crate::send::SendPacket;
use crate::variable::Variable;
use crate::{
    Arrival, Endpoint, Error, Group, Link, Loss, Node, Polled, Rank, Result, SharedWords,
    Statistics, Step, Upcalls,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};
use weft_link::Capabilities;
use weft_protocol::VARIABLES;
use weft_wire::Protocol;

pub use interrupts_off::InterruptsOff;
pub use spans::Span;
use spans::Tracing;
pub use waiting::Said;

/// A rank's packet interface, as one protocol has it. Clones are handles to the same one; any
/// thread may use any of them.
///
/// All protocols of a rank share its network interface: groups, fetch-and-add variables, credits,
/// and waiting are one. Packets, upcalls and kept packets are each protocol's own
/// ([`Packets::of`]).
#[derive(Clone)]
pub struct Packets {
    pub(crate) node: Endpoint,
    pub(crate) protocol: Protocol,
    /// The link's sizes, asked once.
    pub(crate) max_payload: usize,
    /// By rank, where it depends on that.
    payloads: Option<Arc<[u16]>>,
    /// By rank: the stores for frames that it reads where they are, if it does.
    stores: Arc<[Option<Choice>]>,
    multicast_payload: usize,
    short_payload: usize,
    pub(crate) puts: Arc<Puts>,
    takers: Arc<Takers>,
    tracing: Option<Arc<Tracing>>,
}

/// Layers that take the packets of their protocols themselves.
#[derive(Default)]
struct Takers {
    /// Progress functions of the protocols that take their packets themselves, by number. One whose
    /// layer is gone takes nothing.
    progress: OnceLock<RwLock<[Option<Weak<Progress>>; Protocol::LIMIT]>>,
    /// True while a thread has protocols take their packets for another one.
    helping: AtomicBool,
}

/// The function of a layer that takes its packets itself: takes those that have arrived, and says
/// whether any had, or anything else came of it.
pub type Progress = dyn Fn() -> Result<bool> + Send + Sync;

impl Packets {
    /// The packet interface of `node`, for [`Protocol::PACKETS`].
    pub fn new<L: Link>(node: Arc<Node<L>>) -> Self {
        let node = Endpoint::of(node);
        let puts = Arc::new(Puts::default());
        node.set_handler(Protocol::PUTS, Box::new(PutTarget::new(&puts, &node)));
        Self::over(node, puts)
    }

    pub(crate) fn over(node: Endpoint, puts: Arc<Puts>) -> Self {
        let &Capabilities { max_payload, multicast_payload, .. } = &node.attributes().capabilities;
        let (short_payload, payloads) =
            (node.attributes().short_payload, node.attributes().payloads.clone());
        let are_near = (0..node.attributes().ranks as u16).map(|rank| node.takes_short(Rank(rank)));
        let stores = are_near.map(|is_near| is_near.then(Choice::default)).collect();
        let recorder = node.attributes().services.recorder.clone();
        let tracing = recorder.map(|recorder| Arc::new(Tracing::new(recorder)));
        Packets {
            node,
            protocol: Protocol::PACKETS,
            max_payload,
            payloads,
            stores,
            multicast_payload,
            short_payload,
            puts,
            takers: Arc::default(),
            tracing,
        }
    }

    /// The stores for a frame that `receiver` alone reads, where it is.
    pub(crate) fn stores_for(&self, receiver: Option<Rank>) -> Option<&Choice> {
        self.stores.get(receiver?.index())?.as_ref()
    }

    /// The packet interface of this rank for `protocol`: packets sent with it go to the same
    /// protocol of other ranks. Packets that arrive before the rank has anything that takes them
    /// wait.
    pub fn of(&self, protocol: Protocol) -> Self {
        Packets { protocol, ..self.clone() }
    }

    /// Has this protocol's packets taken by `progress` when another one polls or waits, as long as
    /// that lives: a layer that [takes](Self::take) its packets says it once, because nobody may
    /// call it otherwise. A layer with an upcall may say it for what it [owes](Self::note_owing).
    ///
    /// # Panics
    /// If another layer takes packets of this protocol. One that has dropped `progress` does so no
    /// longer.
    pub fn progress_by(&self, progress: &Arc<Progress>) {
        let takers = self.takers.progress.get_or_init(RwLock::default);
        let mut takers = takers.write().unwrap_or_else(PoisonError::into_inner);
        let current = &mut takers[self.protocol.index()];
        let other = current.as_ref().and_then(Weak::upgrade);
        // A second layer would wait for packets that the first one takes.
        let is_free = other.is_none_or(|other| Arc::ptr_eq(&other, progress));
        assert!(is_free, "one layer takes the packets of a protocol");
        *current = Some(Arc::downgrade(progress));
        self.node.set_taken(self.protocol);
    }

    /// Notes whether this protocol has something to do that no packet of its own brings about: to
    /// send what there was no packet for, above all. While it has, its
    /// [progress](Self::progress_by) is made by whoever polls or waits for something else. Said
    /// inside of the lock of what there is to do, it is never wrong for long.
    #[inline]
    pub fn note_owing(&self, owes: bool) {
        let bit = self.bit();
        if (self.puts.owing.load(Ordering::Relaxed) & bit != 0) != owes {
            self.set_owing(bit, owes);
        }
    }

    #[cold]
    pub(crate) fn set_owing(&self, protocols: u32, owes: bool) {
        match owes {
            true => self.puts.owing.fetch_or(protocols, Ordering::Relaxed),
            false => self.puts.owing.fetch_and(!protocols, Ordering::Relaxed),
        };
    }

    fn bit(&self) -> u32 {
        1 << self.protocol.index()
    }

    /// True if a protocol owes something.
    #[inline(always)]
    fn owes(&self) -> bool {
        self.puts.owing.load(Ordering::Relaxed) != 0
    }

    /// Has all protocols do what they owe. True if anything came of it.
    #[inline]
    fn pay_if_owed(&self) -> bool {
        self.owes() && self.pay_all(0)
    }

    /// Does what [`Self::pay_if_owed`] does, but for this protocol, whose layer takes its packets
    /// now and does what it owes itself then.
    #[inline]
    pub(crate) fn pay_if_others_owe(&self) {
        if self.owes() {
            self.pay_all(self.bit());
        }
    }

    #[cold]
    fn pay_all(&self, own: u32) -> bool {
        let owing = self.puts.owing.load(Ordering::Relaxed);
        if owing & OWED_BY_PUTS != 0 {
            self.pay();
        }
        let others = owing & !OWED_BY_PUTS & !own;
        let is_gone = |index: &usize| others & (1 << index) != 0 && self.taker(*index).is_none();
        for index in (0..Protocol::LIMIT).filter(is_gone) {
            self.set_owing(1 << index, false);
        }
        // A rank that cannot go on hears of it where it polls.
        self.help(others).unwrap_or_default()
    }

    fn taker(&self, index: usize) -> Option<Arc<Progress>> {
        let takers = self.takers.progress.get()?.read().unwrap_or_else(PoisonError::into_inner);
        takers.get(index)?.as_ref().and_then(Weak::upgrade)
    }

    /// Takes the packets that have arrived for any protocol, each in its own way: for a rank that
    /// waits for something other than its own packets, or is interrupted. True if any had arrived.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    pub fn progress(&self) -> Result<bool> {
        let paid = self.pay_if_owed();
        let polled = self.node.poll();
        // The layers may have other work, too, for which they had this rank interrupted; and each
        // has to be told that this rank cannot go on.
        let helped = self.help(u32::MAX)?;
        match polled {
            None => Err(self.node.trouble()),
            polled => {
                Ok(paid | helped | matches!(polled, Some(Polled::Packet | Polled::OthersWait)))
            }
        }
    }

    /// Has the protocols whose packets wait take them, all but `own`. One protocol's work may leave
    /// packets waiting for others; a thread that helps already does not help again.
    #[inline]
    fn help_others(&self, own: Option<Protocol>) -> Result<bool> {
        match self.node.waiting_protocols() {
            0 => Ok(false),
            waiting => self.help(waiting & !own.map_or(0, |own| 1 << own.index())),
        }
    }

    /// Has other protocols take their waiting packets, before this one waits.
    #[inline]
    pub(crate) fn help_others_than_own(&self) -> Result<()> {
        self.help_others(Some(self.protocol)).map(drop)
    }

    /// Has these protocols, a bit each, take their packets and do what they owe. One that fails
    /// does not keep the others from it.
    #[cold]
    fn help(&self, protocols: u32) -> Result<bool> {
        if protocols == 0 || self.takers.helping.swap(true, Ordering::Acquire) {
            return Ok(false);
        }
        let mut any = Ok(false);
        for index in (0..Protocol::LIMIT).filter(|index| protocols & (1 << index) != 0) {
            if let Some(progress) = self.taker(index) {
                let made = progress();
                any = any.and_then(|before| made.map(|more| before | more));
            }
        }
        self.takers.helping.store(false, Ordering::Release);
        any
    }

    /// Makes [progress](Self::progress) until `done` returns true.
    pub(crate) fn progress_until(&self, mut done: impl FnMut() -> Result<bool>) -> Result<()> {
        if done()? {
            return Ok(());
        }
        self.wait(&mut || {
            let any = self.progress()?;
            Ok(match (done()?, any) {
                (true, _) => Step::Done,
                (false, true) => Step::Progress,
                (false, false) => Step::Idle,
            })
        })
    }

    /// This rank.
    #[inline]
    pub fn rank(&self) -> Rank {
        self.node.attributes().local
    }

    /// Ranks in the job.
    #[inline]
    pub fn size(&self) -> usize {
        self.node.attributes().ranks
    }

    /// Largest payload of a packet to any rank, in bytes.
    #[inline]
    pub fn max_payload(&self) -> usize {
        self.max_payload
    }

    /// Largest payload of a [packet to rank `to`](Self::packet_to), in bytes: no less than of one
    /// to any rank, and more where the way to `to` carries more than others.
    #[inline]
    pub fn max_payload_to(&self, to: Rank) -> usize {
        let of_way = self.payloads.as_ref().and_then(|payloads| payloads.get(to.index()));
        of_way.map_or(self.max_payload, |most| usize::from(*most))
    }

    /// Largest payload, in bytes, for which the network copies a multicast for several receivers,
    /// if it does that. Longer packets reach all receivers too, each in a frame of its own.
    #[inline]
    pub fn multicast_payload(&self) -> usize {
        self.multicast_payload
    }

    /// Largest payload of a [short](Self::send_short) packet to `to`, in bytes; 0 where there are
    /// none, as to other hosts.
    #[inline(always)]
    pub fn short_payload(&self, to: Rank) -> usize {
        if self.node.takes_short(to) { self.short_payload } else { 0 }
    }

    /// True if a look at what has arrived may be a system call, as on networks.
    pub fn looks_are_calls(&self) -> bool {
        self.node.looks_are_calls()
    }

    /// Packets that this rank can have in flight to one other rank: as many as it has credits, or
    /// frames to fill, whichever is less. Where windows follow demand there may be more.
    pub fn in_flight(&self) -> usize {
        self.node.attributes().window_packets.min(self.node.attributes().capabilities.frames)
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
        let node = Arc::downgrade(&self.node.any());
        let upcall = Box::new(move |arrival: &mut Option<Arrival>| {
            upcall(Packet::new(arrival, &node));
        });
        self.node.set_upcall(self.protocol, upcall);
    }

    /// A packet to fill. Blocks, draining and making upcalls, while all are on their way.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`] if this program holds all of them; [`Error::RankLost`].
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
        let (frame, bytes) = self.node.alloc(self.protocol, None, upcalls)?;
        Ok(SendPacket::new(self, None, frame, bytes))
    }

    /// A packet to rank `to` alone: does what [`Self::packet`] does, but for its length, and it is
    /// in memory of the way to that rank, so that it leaves without a copy.
    ///
    /// # Errors
    /// Those of [`Self::packet`].
    #[inline]
    pub fn packet_to(&self, to: Rank) -> Result<SendPacket<'_>> {
        let (frame, bytes) = self.node.alloc(self.protocol, Some(to), Upcalls::Allowed)?;
        Ok(SendPacket::new(self, Some(to), frame, bytes))
    }

    /// Does what [`Self::packet`] does, without ever blocking: `None` while all are on their way.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`].
    #[inline]
    pub fn try_packet(&self) -> Result<Option<SendPacket<'_>>> {
        let found = self.node.try_alloc(self.protocol, None)?;
        Ok(found.map(|(frame, bytes)| SendPacket::new(self, None, frame, bytes)))
    }

    /// Does what [`Self::packet_to`] does, without ever blocking: `None` while all are on their
    /// way.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`].
    #[inline]
    pub fn try_packet_to(&self, to: Rank) -> Result<Option<SendPacket<'_>>> {
        let found = self.node.try_alloc(self.protocol, Some(to))?;
        Ok(found.map(|(frame, bytes)| SendPacket::new(self, Some(to), frame, bytes)))
    }

    /// Makes the upcall for one packet, if one has arrived, whatever its protocol. True if one had.
    /// Never blocks.
    ///
    /// # Errors
    /// [`Error::RankLost`], or what a peer did wrong.
    #[inline(always)]
    pub fn poll(&self) -> Result<bool> {
        // Most polls end here, with no register saved.
        if self.node.is_idle() && !self.owes() { Ok(false) } else { self.poll_systems() }
    }

    #[inline(never)]
    fn poll_systems(&self) -> Result<bool> {
        let paid = self.pay_if_owed();
        match self.node.poll() {
            Some(Polled::Nothing) => Ok(paid),
            Some(Polled::Packet) => Ok(true),
            other => self.polled(other),
        }
    }

    #[cold]
    fn polled(&self, polled: Option<Polled>) -> Result<bool> {
        match polled {
            None => Err(self.node.trouble()),
            Some(Polled::OnlyOthersWait) => self.help_others(None),
            _ => self.help_others(None).map(|_| true),
        }
    }

    /// Polls until `done` returns true: spins, yields, then sleeps in between.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    pub fn poll_until(&self, mut done: impl FnMut() -> bool) -> Result<()> {
        self.wait(&mut || {
            let progress = self.poll()?;
            Ok(match (done(), progress) {
                (true, _) => Step::Done,
                (false, true) => Step::Progress,
                (false, false) => Step::Idle,
            })
        })
    }

    /// The end of a program: on links that lose packets, stays until all of its own are
    /// acknowledged, and a little longer for peers that have missed an acknowledgement. Elsewhere
    /// returns at once.
    pub fn linger(&self) {
        self.node.linger();
    }

    /// Makes all threads equal, for good: until now the one that joined enters for free and the
    /// others pay for a barrier; from here on each pays for one ordinary lock (thesis 6.2.1).
    pub fn share(&self) {
        self.node.share();
        self.puts.state.share();
    }

    /// True if the job checks its invariants after each operation
    /// ([`Settings::checks_all`](crate::Settings::checks_all)), and systems are to check theirs.
    pub fn checks_all(&self) -> bool {
        self.node.attributes().checks_all
    }

    /// True if threads of a rank run at once, and do not take turns ([`Self::spawn`]).
    pub fn has_threads(&self) -> bool {
        self.node.attributes().capabilities.threads
    }

    /// The ranks of a group, if this rank has created it.
    pub fn members(&self, group: Group) -> Option<Vec<Rank>> {
        self.node.members(group.0)
    }

    /// True if every packet launched here has left.
    pub fn is_flushed(&self) -> bool {
        let owing = self.puts.owing.load(Ordering::Relaxed);
        owing & OWED_BY_PUTS == 0 && self.node.is_flushed()
    }

    /// Polls until every packet launched here has left, for which receivers have to release their
    /// packets. A rank that ends with packets unsent takes them with it.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    pub fn flush(&self) -> Result<()> {
        self.poll_until(|| self.is_flushed())
    }

    /// Keeps interrupts off until the guard is dropped. Costs a write to memory, and the rest of an
    /// upcall if an interrupt is making one: when this returns, none runs and none begins behind
    /// the caller's back. The caller must hold nothing that an upcall waits for.
    pub fn interrupts_off(&self) -> InterruptsOff<'_> {
        InterruptsOff::new(&self.node.attendance().interrupts)
    }

    /// Body of an interrupt: calls `step`, which takes a packet, as long as it finds something and
    /// interrupts are on. So a thread that turns interrupts off waits for one step at most.
    pub fn interrupted(&self, mut step: impl FnMut() -> bool) {
        let attendance = self.node.attendance();
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
    /// [`Error::Group`] if `members` is empty, has a rank twice, or one that does not exist;
    /// [`Error::Violation`] if packets that arrived for it contradict it, because another rank
    /// created another group under its number.
    pub fn group(&self, members: &[Rank]) -> Result<Group> {
        self.node.create_group(members).map(Group)
    }

    /// Adds `amount` to `variable` and returns what it held before. Atomic across the job; blocks
    /// for a round trip at most, without its home's program taking part.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`], [`Error::NoSuchRank`], [`Error::RankLost`].
    #[inline]
    pub fn fetch_and_add(&self, variable: Variable, amount: u64) -> Result<u64> {
        self.check_variable(variable)?;
        self.node.fetch_and_add(variable.home, variable.index, amount)
    }

    /// Begins to do what [`Self::fetch_and_add`] does; [`Self::take_fetched`] gives the answer,
    /// once it has come and somebody has polled since. False, and nothing is done, if another that
    /// was begun has not been taken, or a thread blocks for one. Never blocks.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`], [`Error::NoSuchRank`].
    pub fn begin_fetch_and_add(&self, variable: Variable, amount: u64) -> Result<bool> {
        self.check_variable(variable)?;
        Ok(self.node.begin_fetch_and_add(variable.home, variable.index, amount))
    }

    /// The answer to [`Self::begin_fetch_and_add`], once, if it has come. Neither blocks nor polls.
    pub fn take_fetched(&self) -> Option<u64> {
        self.node.take_fetched()
    }

    #[inline]
    fn check_variable(&self, variable: Variable) -> Result<()> {
        let Variable { home, index } = variable;
        if index >= VARIABLES {
            return Err(Error::NoSuchVariable(index));
        }
        if home.index() >= self.size() {
            return Err(Error::NoSuchRank { rank: home, ranks: self.size() });
        }
        Ok(())
    }

    /// The fetch-and-add variables as shared memory, if the link has them there.
    pub fn shared_words(&self) -> Option<&Arc<dyn SharedWords>> {
        self.node.attributes().services.words.as_ref()
    }

    /// Copies bytes at `address` of the process of `rank` into `into`, without that rank taking
    /// part. False if this process may not, or nothing lies there: then `into` may have been
    /// written in part. With no bytes it says if this process may.
    pub fn fetch(&self, rank: Rank, address: u64, into: &mut [u8]) -> bool {
        let memory = self.node.attributes().services.cross_memory.as_ref();
        let is_fetched = memory.is_some_and(|memory| memory.fetch(rank, address, into));
        if is_fetched && !into.is_empty() {
            self.record_got(rank, into.len());
        }
        is_fetched
    }

    /// True if `by` has [fetched](Self::fetch) from this process.
    #[inline]
    pub fn is_reached(&self, by: Rank) -> bool {
        self.node
            .attributes()
            .services
            .cross_memory
            .as_ref()
            .is_some_and(|memory| memory.is_read_by(by))
    }

    /// True if the process of `rank` is of this host, and this one may [fetch](Self::fetch) from
    /// it as far as is known.
    pub fn is_near(&self, rank: Rank) -> bool {
        self.node
            .attributes()
            .services
            .cross_memory
            .as_ref()
            .is_some_and(|memory| memory.is_near(rank))
    }

    /// The rank that the job has lost, if it has.
    pub fn loss(&self) -> Option<Loss> {
        self.node.attributes().bells.loss()
    }

    /// True if a rank has left the job, and the network says farewell: what is sent there reaches
    /// nobody. Of ranks that share memory it is never true.
    pub fn has_left(&self, rank: Rank) -> bool {
        self.node.is_gone(rank)
    }

    /// Counters of what this rank has done so far.
    pub fn statistics(&self) -> Statistics {
        self.node.statistics()
    }
}
