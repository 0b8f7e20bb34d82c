//! Regions on the packet layer: one node's part in them.
//!
//! Handlers run in upcalls, in whatever thread polls or is interrupted, and never wait. No lock is held while
//! the packet layer is called, because an upcall may hold what that waits for. What a handler sends while all
//! packets are on their way stays in the outbox, for whoever calls or is called next.

mod error;
mod guard;
mod outbox;
mod slot;
mod together;

pub use error::{Error, Result};
pub use guard::{Mapped, Read, Write};

use crate::RegionId;
use crate::coherence::{Call, Policy, Region, Version};
use crate::format::together::Part;
use crate::format::{Header, Notice, receivers};
use bytemuck::Pod;
use outbox::Outbox;
use slot::Slot;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use together::Together;
use weft_node::biased::Biased;
use weft_packet::{Block, Packet, Packets, Rank, Step};

/// Regions that are mapped no more and kept all the same.
const MOST_UNMAPPED: usize = 64;

/// A node's part in the regions of a job, one for each job: it takes all packets of the rank. Clones are handles
/// to the same one.
#[derive(Clone)]
pub struct Regions {
    node: Arc<Node>,
}

struct Node {
    packets: Packets,
    outbox: Outbox,
    state: Biased<State>,
    /// Whether there is a breach in `state`.
    broken: AtomicBool,
    together: Biased<Together>,
}

/// How regions travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What goes to several nodes is multicast where that is less to send: when they are at least two, and half
    /// of those that a broadcast reaches. Otherwise each gets a packet of its own, as in the thesis (7.3.2).
    pub multicast: bool,
    /// How the bytes of regions get to who has asked for them.
    pub data: DataWay,
}

/// How the bytes of regions get to who has asked for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DataWay {
    /// Copied into packets and out of them.
    #[default]
    Packets,
    /// Those of regions of 1 KiB and more are put into the memory of the region there, which who asks has opened
    /// for it: by the sender itself on one host, and where they fill more than a packet between hosts.
    Puts,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { multicast: true, data: DataWay::default() }
    }
}

#[derive(Default)]
struct State {
    slots: BTreeMap<RegionId, Arc<Biased<Slot>>>,
    /// Regions that this node created so far.
    created: u32,
    /// What a home answered to who asked for the size of a region.
    answers: BTreeMap<RegionId, Notice>,
    /// The regions that were unmapped last, the latest at the end.
    unmapped: VecDeque<RegionId>,
    /// What a peer did wrong, which ends it all.
    breach: Option<Error>,
}

impl Regions {
    /// Takes part. All ranks do, before any of them maps a region of another. The upcall of `packets` is this
    /// system's from here on.
    pub fn open(packets: &Packets) -> Self {
        Self::open_with(packets, Settings::default())
    }

    /// As [`Self::open`], with other settings than the usual ones.
    pub fn open_with(packets: &Packets, settings: Settings) -> Self {
        let node = Node {
            packets: packets.clone(),
            outbox: Outbox::new(packets, settings),
            state: Biased::new(State::default()),
            broken: AtomicBool::new(false),
            together: Biased::new(Together::default()),
        };
        let regions = Regions { node: Arc::new(node) };
        let upcall = Arc::downgrade(&regions.node);
        packets.on_packet(move |packet| {
            if let Some(node) = upcall.upgrade() {
                node.arrive(&packet);
            }
        });
        regions
    }

    /// This node.
    pub fn rank(&self) -> Rank {
        self.node.packets.rank()
    }

    /// `rgn_create`: a region of `bytes` zeros, of which this node is the home. Others map it by its
    /// name, once they know it.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn create(&self, bytes: u64, policy: Policy) -> Result<RegionId> {
        let memory = self.node.outbox.zeros(bytes)?;
        let mut state = self.node.state.enter();
        let id = RegionId { home: self.rank(), index: state.created };
        state.created += 1;
        let machine = Region::at_home(self.rank(), policy);
        state.slots.insert(id, Arc::new(Biased::new(Slot::new(machine, bytes, memory))));
        Ok(id)
    }

    /// `rgn_map`: makes a region one that may be accessed here, as a slice of `T`. Asks its home for its size if
    /// this node does not know it, and waits. May be done several times; dropping the result unmaps it
    /// (`rgn_unmap`), which keeps the copy for as long as there is room.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Shape`], [`Error::Memory`], a lost rank.
    pub fn map<T: Pod>(&self, id: RegionId) -> Result<Mapped<T>> {
        let slot = match self.node.slot(id) {
            Some(slot) => slot,
            None => self.ask(id)?,
        };
        let mapped = Mapped::new(self.clone(), id, slot)?;
        self.node.state.enter().unmapped.retain(|&other| other != id);
        Ok(mapped)
    }

    /// Asks the home of a region for it.
    fn ask(&self, id: RegionId) -> Result<Arc<Biased<Slot>>> {
        let (me, home) = (self.rank(), id.home);
        if home == me || home.index() >= self.node.packets.size() {
            return Err(Error::Unknown(id));
        }
        self.node.outbox.notice(home, id, Notice::Map);
        let answer = self.node.wait(|node| node.state.enter().answers.remove(&id))?;
        let Notice::Mapped { version, bytes } = answer else { return Err(Error::Unknown(id)) };
        let memory = self.node.outbox.zeros(bytes)?;
        let machine = Region::elsewhere(me, home, version);
        let slot = Arc::new(Biased::new(Slot::new(machine, bytes, memory)));
        Ok(Arc::clone(self.node.state.enter().slots.entry(id).or_insert(slot)))
    }

    /// The end: a barrier, after which nobody needs anything of this node any more.
    ///
    /// # Errors
    /// As [`Self::barrier`].
    pub fn close(self) -> Result<()> {
        self.barrier()?;
        self.node.wait(|node| node.outbox.is_empty().then_some(()))?;
        Ok(self.node.packets.flush()?)
    }

    /// Calls, and waits until the call goes on; then `take` has what it is made for.
    #[inline]
    fn call<R>(
        &self,
        id: RegionId,
        slot: &Biased<Slot>,
        call: Call,
        mut take: impl FnMut(&mut Slot) -> R,
    ) -> Result<R> {
        let mut here = slot.enter();
        here.call(id, call, &self.node.outbox)?;
        let waits = matches!(call, Call::StartRead | Call::StartWrite | Call::Delete);
        let granted = here.outcome();
        if granted == Some(true) || !waits {
            let taken = take(&mut here);
            drop(here);
            self.node.flush()?;
            return Ok(taken);
        }
        drop(here);
        let taken = match granted {
            Some(_) => None,
            None => self.node.wait(|_| {
                let mut here = slot.enter();
                let granted = here.outcome()?;
                Some(granted.then(|| take(&mut here)))
            })?,
        };
        taken.ok_or(Error::Deleted(id))
    }

    /// The bytes of a region, for a writer that was let in.
    #[inline]
    fn writable(&self, slot: &mut Slot) -> Result<Block> {
        slot.take(&self.node.outbox)
    }

    /// Ends an access, once `give_back` has given back what it was made for.
    #[inline]
    fn end(
        &self,
        id: RegionId,
        slot: &Biased<Slot>,
        call: Call,
        give_back: impl FnOnce(&mut Slot),
    ) -> Result<()> {
        let mut here = slot.enter();
        give_back(&mut here);
        here.call(id, call, &self.node.outbox)?;
        drop(here);
        self.node.flush()
    }

    /// A mapping of `id` is gone.
    fn unmapped(&self, id: RegionId) {
        let mut state = self.node.state.enter();
        state.unmapped.push_back(id);
        if state.unmapped.len() <= MOST_UNMAPPED {
            return;
        }
        let oldest = state.unmapped.pop_front();
        let Some((id, slot)) = oldest.and_then(|id| Some((id, state.slots.get(&id)?.clone())))
        else {
            return;
        };
        drop(state);
        let mut here = slot.enter();
        // Nobody here uses it, so that nothing can be wrong with this.
        let flushed = here.call(id, Call::Flush, &self.node.outbox);
        let forgets = flushed.is_ok() && here.may_be_forgotten();
        drop(here);
        if forgets {
            self.node.state.enter().slots.remove(&id);
        }
        // Who waits next is told what fails here.
        let _ = self.node.flush();
    }
}

impl Node {
    fn slot(&self, id: RegionId) -> Option<Arc<Biased<Slot>>> {
        self.state.enter().slots.get(&id).cloned()
    }

    fn flush(&self) -> Result<()> {
        Ok(self.outbox.flush()?)
    }

    /// Polls until `find` finds something.
    fn wait<T>(&self, mut find: impl FnMut(&Node) -> Option<T>) -> Result<T> {
        let mut found = None;
        self.packets.wait(&mut || {
            self.outbox.flush()?;
            found = find(self);
            if found.is_some() || self.broken.load(Ordering::Acquire) {
                return Ok(Step::Done);
            }
            Ok(if self.packets.poll()? { Step::Progress } else { Step::Idle })
        })?;
        if let Some(found) = found {
            self.flush()?;
            return Ok(found);
        }
        let breach = self.state.enter().breach.clone();
        Err(breach
            .unwrap_or_else(|| unreachable!("a wait ends with what it waits for, or a breach")))
    }

    /// The upcall.
    fn arrive(&self, packet: &Packet<'_>) {
        let (from, ranks) = (packet.source(), self.packets.size());
        let outcome = if packet.group().is_some() {
            self.told_with_others(from, packet)
        } else if let Some((header, data)) = Header::parse(packet, ranks) {
            self.told(from, &header, data, false)
        } else if let Some((region, notice)) = Notice::parse(packet, ranks) {
            self.noticed(from, region, notice)
        } else if let Some((part, values)) = Part::parse(packet, ranks) {
            self.take_part(from, &part, values)
        } else {
            Err(Error::Packet(from))
        };
        if let Err(error) = outcome {
            self.break_off(error);
        }
        // Whoever waits meets the same error.
        let _ = self.outbox.flush();
        self.packets.nudge();
    }

    /// Ends it all: who waits is told.
    fn break_off(&self, error: Error) {
        self.state.enter().breach.get_or_insert(error);
        self.broken.store(true, Ordering::Release);
    }

    /// What came by multicast: a message that is for some only, or what all ranks do together.
    fn told_with_others(&self, from: Rank, packet: &[u8]) -> Result<()> {
        let (me, ranks) = (self.packets.rank(), self.packets.size());
        if let Some((part, values)) = Part::parse(packet, ranks) {
            return self.take_part(from, &part, values);
        }
        let (for_me, rest) = receivers::split(packet, ranks, me).ok_or(Error::Packet(from))?;
        match Header::parse(rest, ranks) {
            Some((header, data)) if header.message.kind.may_be_multicast() => {
                if for_me {
                    self.told(from, &header, data, true)
                } else {
                    Ok(())
                }
            }
            _ => Err(Error::Packet(from)),
        }
    }

    fn told(&self, from: Rank, header: &Header, data: &[u8], multicast: bool) -> Result<()> {
        self.packets.copied(data.len());
        let Header { region, message, .. } = *header;
        let breach = |what| Error::Breach { from, region, what };
        let state = self.state.enter();
        let slot = state.slots.get(&region);
        match slot {
            Some(slot) => slot.enter().receive((from, multicast), header, data, &self.outbox),
            None if message.kind.is_for_home() => Err(Error::Packet(from)),
            None => {
                // A region that this node has forgotten: a demand on the copy that it had.
                let mut forgotten =
                    Region::elsewhere(self.packets.rank(), region.home, Version::default());
                let mut hands = slot::Hands::of_nothing(region, &self.outbox);
                forgotten.receive(from, message, &mut hands).map_err(breach)
            }
        }
    }

    fn noticed(&self, from: Rank, region: RegionId, notice: Notice) -> Result<()> {
        match notice {
            Notice::Map => {
                let slot = self.slot(region).filter(|_| region.home == self.packets.rank());
                let known = slot.and_then(|slot| slot.enter().mapped_by_another());
                self.outbox.notice(from, region, known.unwrap_or(Notice::Unknown));
            }
            Notice::Mapped { .. } | Notice::Unknown => {
                self.state.enter().answers.insert(region, notice);
            }
            Notice::Heap(name) => self.outbox.heap_of(from, name),
        }
        Ok(())
    }
}
