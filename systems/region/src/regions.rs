//! Regions on the packet layer: one node's part in them.
//!
//! Handlers run in upcalls, in whatever thread polls or is interrupted, and never wait. No lock is
//! held while the packet layer is called, because an upcall may hold what that waits for. What a
//! handler sends while all packets are on their way stays in the outbox, for whoever calls or is
//! called next.

mod access;
mod collectives;
mod error;
mod guard;
mod outbox;
mod settings;
mod slot;
mod slots;

pub use error::{Error, Result};
pub use guard::{Mapped, Read, Write};
pub use settings::{DataWay, Settings};

use crate::RegionId;
use crate::coherence::{Call, Policy, Region, Version};
use crate::format::{Header, Notice, receivers};
use bytemuck::Pod;
use collectives::Collectives;
use outbox::{Outbox, Post};
use slot::Slot;
use slots::Slots;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use weft_endpoint::biased::Biased;
use weft_endpoint::{Awaited, Packet, Packets, Progress, Protocol, Rank, Whom};

/// A node's part in the regions of a job, one for each job: it takes all of their packets.
/// Clones are handles to the same one.
#[derive(Clone)]
pub struct Regions {
    node: Arc<Node>,
    open: Arc<Open>,
}

/// State that all handles to a node's part share. The last one takes the part from the upcall,
/// which would keep it for ever otherwise: a weak reference would cost two locked instructions a
/// packet.
struct Open(Arc<Biased<Option<Arc<Node>>>>);

impl Drop for Open {
    fn drop(&mut self) {
        let node = self.0.enter().take();
        drop(node);
    }
}

struct Node {
    packets: Packets,
    most_unmapped: usize,
    outbox: Outbox,
    state: Biased<NodeState>,
    /// True if there is a breach in `state`.
    broken: AtomicBool,
    collectives: Biased<Collectives>,
    /// Callback that sends what there was no packet for, whatever this rank waits for.
    progress: Arc<Progress>,
    /// Accesses until one begins with a poll; threads that count at once may miss some.
    until_poll: AtomicU32,
    /// Messages until the region of one is checked, and from one of these to the next.
    until_check: AtomicU32,
    checked_every: u32,
}

/// Accesses of which one begins with a poll. A rank that finds here what it needs would otherwise
/// keep it until it is interrupted, and others that wait for it got one access in thousands.
/// Simulated ranks are interrupted when they should be, and pay for polls.
fn accesses_per_poll(packets: &Packets) -> u32 {
    if packets.has_threads() { 64 } else { u32::MAX }
}

/// Messages between two checks of a region, if it is not after each.
const CHECKED_EVERY: u32 = 256;

#[derive(Default)]
struct NodeState {
    slots: Slots,
    /// Regions that this node created so far.
    created: u32,
    /// Regions that threads of this node have asked for.
    asked: BTreeMap<RegionId, HomeQuery>,
    /// Number of times that a region was forgotten: what its home said before is too old then.
    forgotten: u64,
    /// The regions that were unmapped last, by when ([`Slot::unmapped_at`]).
    unmapped: BTreeMap<u64, RegionId>,
    /// Number of unmappings.
    unmappings: u64,
    /// Breach of a peer, which ends it all.
    breach: Option<Error>,
    /// True if regions that are added have locks without owners.
    shared: bool,
}

/// Question to a region's home.
#[derive(Default)]
struct HomeQuery {
    /// By so many threads, which take an answer each.
    threads: usize,
    answers: VecDeque<Notice>,
}

impl Regions {
    /// Takes part. All ranks do, before any of them maps a region of another. It may be
    /// beside other systems on the same packets.
    pub fn open(packets: &Packets) -> Self {
        Self::open_with(packets, Settings::default())
    }

    /// Does what [`Self::open`] does, with other settings than the usual ones.
    pub fn open_with(packets: &Packets, settings: Settings) -> Self {
        let packets = &packets.of(Protocol::REGIONS);
        let checked_every = if packets.checks_all() { 1 } else { CHECKED_EVERY };
        let node = Arc::new_cyclic(|this: &Weak<Node>| {
            let node = this.clone();
            let progress: Arc<Progress> =
                Arc::new(move || node.upgrade().map_or(Ok(false), |node| node.outbox.pay()));
            Node {
                packets: packets.clone(),
                most_unmapped: settings.most_unmapped,
                outbox: Outbox::new(packets, settings),
                state: Biased::new(NodeState::default()),
                broken: AtomicBool::new(false),
                collectives: Biased::new(Collectives::new(packets)),
                progress,
                until_poll: AtomicU32::new(accesses_per_poll(packets)),
                until_check: AtomicU32::new(checked_every),
                checked_every,
            }
        });
        let of_upcall = Arc::new(Biased::new(Some(Arc::clone(&node))));
        let open = Arc::new(Open(Arc::clone(&of_upcall)));
        packets.on_packet(move |packet| {
            // Upcalls run one at a time, and nobody else enters but at the end.
            if let Some(node) = &*of_upcall.enter() {
                node.arrive(&packet);
            }
        });
        packets.system().progress_by(&node.progress);
        let loses = Arc::downgrade(&node);
        packets.losses().on_each(move |loss| {
            if let Some(node) = loses.upgrade() {
                node.lose(loss.rank);
            }
        });
        Regions { node, open }
    }

    /// Says how the bytes that this node asks for travel from here on. Those of regions that it has
    /// already land by packets, if at all.
    ///
    /// # Errors
    /// A lost rank.
    pub fn set_data(&self, data: DataWay) -> Result<()> {
        self.node.outbox.set_data(data);
        self.node.flush()
    }

    /// This node.
    pub fn rank(&self) -> Rank {
        self.node.packets.rank()
    }

    /// `rgn_create`: a region of `bytes` zeros, of which this node is the home. Others map it by
    /// its name, once they know it.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn create(&self, bytes: u64, policy: Policy) -> Result<RegionId> {
        let memory = self.node.outbox.zeros(bytes)?;
        let mut state = self.node.state.enter();
        let id = RegionId { home: self.rank(), index: state.created };
        state.created += 1;
        let three_party = policy.three_party && !self.node.packets.losses().goes_on();
        let machine = Region::at_home(self.rank(), Policy { three_party, ..policy });
        state.add(id, Slot::new(machine, bytes, memory));
        Ok(id)
    }

    /// `rgn_map`: makes a region one that may be accessed here, as a slice of `T`. Asks its home
    /// for its size if this node does not know it, and waits. May be done several times; dropping
    /// the result unmaps it (`rgn_unmap`), which keeps the copy for as long as there is room.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Shape`], [`Error::Memory`], a lost rank.
    pub fn map<T: Pod>(&self, id: RegionId) -> Result<Mapped<T>> {
        loop {
            // Nobody forgets it while the state is entered.
            let mut state = self.node.state.enter();
            let NodeState { slots, unmapped, .. } = &mut *state;
            if let Some(slot) = slots.get(id) {
                let mapped = Mapped::new(self.clone(), id, Arc::clone(slot))?;
                if let Some(time) = slot.enter().unmapped_at.take() {
                    unmapped.remove(&time);
                }
                return Ok(mapped);
            }
            drop(state);
            self.ask(id)?;
        }
    }

    /// Asks the home of a region for it.
    fn ask(&self, id: RegionId) -> Result<()> {
        let (me, home) = (self.rank(), id.home);
        if home == me || home.index() >= self.node.packets.room() {
            return Err(Error::Unknown(id));
        }
        let mut state = self.node.state.enter();
        state.asked.entry(id).or_default().threads += 1;
        let forgotten = state.forgotten;
        drop(state);
        self.node.outbox.notice(home, id, Notice::Map);
        let what = || Awaited::new(format!("what rank {home} says of {id}"), Whom::One(home));
        let answer = self.node.wait(&what, |node| {
            let answer = node.state.enter().answer(id);
            answer.map(Ok).or_else(|| Some(Err(node.packets.losses().check_lives(home).err()?)))
        })??;
        let Notice::Mapped { version, bytes } = answer else { return Err(Error::Unknown(id)) };
        let memory = self.node.outbox.zeros(bytes)?;
        let mut state = self.node.state.enter();
        // The region is told of what is lost from here on.
        self.node.packets.losses().check_lives(home)?;
        if state.forgotten == forgotten {
            state.add(id, Slot::new(Region::elsewhere(me, home, version), bytes, memory));
        }
        Ok(())
    }

    /// Serves one packet, if one has come, and sends what waited for packets. Says whether one had.
    /// Never blocks. For programs that compute for long and do not want to be interrupted for what
    /// others need of them.
    ///
    /// # Errors
    /// A peer's breach, a lost rank.
    pub fn poll(&self) -> Result<bool> {
        let any = self.node.packets.poll()?;
        self.node.flush()?;
        self.node.check()?;
        Ok(any)
    }

    /// Makes all threads equal, for good: until now the one that opened regions, and for each
    /// region the one that created it or mapped it first, enters for free and others pay for a
    /// barrier; from here on each pays for ordinary locks ([`Packets::share`], which this calls).
    pub fn share(&self) {
        self.node.packets.share();
        self.open.0.share();
        self.node.outbox.share();
        self.node.collectives.share();
        self.node.state.share();
        let mut state = self.node.state.enter();
        state.shared = true;
        let slots: Vec<_> = state.slots.iter().map(|(_, slot)| Arc::clone(slot)).collect();
        drop(state);
        slots.iter().for_each(|slot| slot.share());
    }

    /// The end: a barrier, after which nobody needs anything of this node any more.
    ///
    /// # Errors
    /// Those of [`Self::barrier`].
    pub fn close(self) -> Result<()> {
        // A barrier goes past what waits here, and who has left it takes nothing any more.
        self.drain()?;
        self.barrier()?;
        self.drain()
    }

    /// Waits until all that this node has to say has left.
    fn drain(&self) -> Result<()> {
        let what = || Awaited::of_unknown("what it says of regions to leave");
        self.node.wait(&what, |node| node.outbox.is_empty().then_some(()))?;
        Ok(self.node.packets.flush()?)
    }

    /// A mapping of `id` is gone.
    fn unmapped(&self, id: RegionId) {
        let mut state = self.node.state.enter();
        let oldest = state.unmapped(id, self.node.most_unmapped);
        let Some((id, slot)) = oldest else { return };
        let mut post = Post::new(&self.node.outbox);
        let mut here = slot.enter();
        // Whoever uses it again keeps it.
        let flushed = here.call(id, Call::Flush, &mut post);
        if flushed.is_ok() && here.may_be_forgotten() {
            state.slots.remove(id);
            state.forgotten += 1;
        }
        drop((here, state));
        // Who waits next is told what fails here.
        let _ = post.send();
    }
}

impl NodeState {
    /// An answer to who asked for a region.
    fn answer(&mut self, id: RegionId) -> Option<Notice> {
        let asked = self.asked.get_mut(&id)?;
        let answer = asked.answers.pop_front()?;
        asked.threads -= 1;
        if asked.threads == 0 {
            self.asked.remove(&id);
        }
        Some(answer)
    }

    /// A region is mapped no more. If more than `most` are, the one that was unmapped first is not
    /// among them from here on, and is returned.
    fn unmapped(&mut self, id: RegionId, most: usize) -> Option<(RegionId, Arc<Biased<Slot>>)> {
        let time = self.unmappings;
        self.unmappings += 1;
        if let Some(before) = self.slots.get(id)?.enter().unmapped_at.replace(time) {
            self.unmapped.remove(&before);
        }
        self.unmapped.insert(time, id);
        if self.unmapped.len() <= most {
            return None;
        }
        let (_, oldest) = self.unmapped.pop_first()?;
        let slot = self.slots.get(oldest)?;
        slot.enter().unmapped_at = None;
        Some((oldest, Arc::clone(slot)))
    }

    /// Has a region of this name, which is this one if there was none.
    fn add(&mut self, id: RegionId, slot: Slot) {
        let lock = if self.shared { Biased::shared } else { Biased::new };
        self.slots.add(id, || lock(slot));
    }
}

impl Node {
    fn slot(&self, id: RegionId) -> Option<Arc<Biased<Slot>>> {
        self.state.enter().slots.get(id).cloned()
    }

    fn flush(&self) -> Result<()> {
        Ok(self.outbox.flush()?)
    }

    /// Polls once in [`accesses_per_poll`] calls.
    #[inline]
    fn poll_now_and_then(&self) -> Result<()> {
        let left = self.until_poll.load(Ordering::Relaxed).wrapping_sub(1);
        self.until_poll.store(left, Ordering::Relaxed);
        if left == 0 { self.poll_now() } else { Ok(()) }
    }

    #[cold]
    fn poll_now(&self) -> Result<()> {
        self.until_poll.store(accesses_per_poll(&self.packets), Ordering::Relaxed);
        self.packets.poll()?;
        Ok(())
    }

    /// A rank is lost: no region waits for it any more, and some are lost with it.
    #[cold]
    fn lose(&self, rank: Rank) {
        let mut post = Post::new(&self.outbox);
        let state = self.state.enter();
        state.slots.iter().for_each(|(id, slot)| slot.enter().lose(id, rank, &mut post));
        drop(state);
        // Whoever waits next is told what fails here.
        let _ = post.send();
    }

    /// Polls until `find` finds something, and lets others know `what` this rank waits for. A loss
    /// ends it only where the job does not go on; else `find` knows what is lost.
    fn wait<T>(
        &self,
        what: &dyn Fn() -> Awaited,
        mut find: impl FnMut(&Node) -> Option<T>,
    ) -> Result<T> {
        let found = self.packets.presence().wait_past_losses(what, None, || {
            self.outbox.flush()?;
            let found = find(self).map(Ok);
            Ok(found.or_else(|| self.check().err().map(Err)))
        })?;
        let found = found.unwrap_or_else(|| unreachable!("a wait ends with what it waits for"))?;
        self.flush()?;
        Ok(found)
    }

    /// Checks that no peer has broken the protocol.
    fn check(&self) -> Result<()> {
        if !self.broken.load(Ordering::Acquire) {
            return Ok(());
        }
        self.state.enter().breach.clone().map_or(Ok(()), Err)
    }

    /// The upcall.
    fn arrive(&self, packet: &Packet<'_>) {
        let (from, ranks) = (packet.source(), self.packets.room());
        let outcome = if packet.group().is_some() {
            self.handle_multicast(from, packet)
        } else if let Some((header, data)) = Header::parse(packet, ranks) {
            self.handle(from, &header, data, false)
        } else if let Some((region, notice)) = Notice::parse(packet, ranks) {
            self.noticed(from, region, notice)
        } else {
            self.take_part(from, packet)
        };
        match outcome {
            Ok(()) => {}
            Err(Error::Packets(error)) if error.is_exhausted() => {}
            Err(error) => self.break_off(error),
        }
        // Whoever waits meets the same error.
        let _ = self.outbox.flush();
        self.packets.presence().nudge();
    }

    /// Ends it all: who waits is told.
    fn break_off(&self, error: Error) {
        self.state.enter().breach.get_or_insert(error);
        self.broken.store(true, Ordering::Release);
    }

    /// Handles a multicast: a message that is for some only, or a part of a collective operation.
    fn handle_multicast(&self, from: Rank, packet: &[u8]) -> Result<()> {
        let (me, ranks) = (self.packets.rank(), self.packets.room());
        let Some((for_me, rest)) = receivers::split(packet, ranks, me) else {
            return self.take_part(from, packet);
        };
        match Header::parse(rest, ranks) {
            Some((header, data)) if header.message.kind.may_be_multicast() => {
                if for_me {
                    self.handle(from, &header, data, true)
                } else {
                    Ok(())
                }
            }
            _ => Err(Error::Packet(from)),
        }
    }

    fn handle(&self, from: Rank, header: &Header, data: &[u8], multicast: bool) -> Result<()> {
        self.packets.copied(data.len());
        let Header { region, message, .. } = *header;
        let breach = |what| Error::Breach { from, region, what };
        let mut post = Post::new(&self.outbox);
        let state = self.state.enter();
        let handled = match state.slots.get(region) {
            Some(slot) => slot.enter().receive((from, multicast), header, data, &mut post),
            None if message.kind.is_for_home() => Err(Error::Packet(from)),
            None => {
                // A region that this node has forgotten: a demand on the copy that it had.
                let mut forgotten =
                    Region::elsewhere(self.packets.rank(), region.home, Version::default());
                let mut actions = slot::MachineActions::of_nothing(region, &mut post);
                forgotten.receive(from, message, &mut actions).map_err(breach)
            }
        };
        drop(state);
        // Whoever waits meets the same error.
        let _ = post.send();
        // Messages are handled one at a time.
        let left = self.until_check.load(Ordering::Relaxed) - 1;
        self.until_check.store(left, Ordering::Relaxed);
        if left > 0 {
            return handled;
        }
        self.until_check.store(self.checked_every, Ordering::Relaxed);
        handled.and_then(|()| self.check_invariants(region))
    }

    /// Checks what must hold of a region between two messages.
    #[cold]
    #[inline(never)]
    fn check_invariants(&self, region: RegionId) -> Result<()> {
        let state = self.state.enter();
        state.slots.get(region).map_or(Ok(()), |slot| slot.enter().check(region))
    }

    fn noticed(&self, from: Rank, region: RegionId, notice: Notice) -> Result<()> {
        match notice {
            Notice::Map => {
                let slot = self.slot(region).filter(|_| region.home == self.packets.rank());
                let known = slot.and_then(|slot| slot.enter().mapped_by_another());
                if !self.outbox.answer(from, region, known.unwrap_or(Notice::Unknown)) {
                    return Err(Error::Packet(from));
                }
            }
            Notice::Mapped { .. } | Notice::Unknown => {
                let mut state = self.state.enter();
                let asked = state
                    .asked
                    .get_mut(&region)
                    .filter(|asked| from == region.home && asked.answers.len() < asked.threads);
                asked.ok_or(Error::Packet(from))?.answers.push_back(notice);
            }
            Notice::Heap(name) => self.outbox.heap_of(from, name),
        }
        Ok(())
    }
}
