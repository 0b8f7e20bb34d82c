//! Frames of regions, and the ways of the bytes that they carry.

use super::error::{Error, Result};
use super::settings::{DataWay, Settings};
use crate::RegionId;
use crate::format::{DATA_SIZE, Destination, Header, Notice, SIZE, receivers};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use weft_endpoint::biased::Biased;
use weft_endpoint::{Batch, Block, DeferredSends, Heap, HeapName, Landing, Packets};
use weft_endpoint::{Rank, ReadBlock, RemoteHeap};

/// Regions of fewer bytes travel in packets: a put has its notice in a packet of its own.
const PUT_FROM: u64 = 1024;
/// Bytes of the heap of a node whose regions others reach; what is not used takes no memory.
const HEAP_BYTES: usize = 256 << 20;

/// The bytes of a region. Readers and packets to be sent share them; who writes takes them, or a
/// copy if somebody still needs them as they are. What the home lends is only read.
pub(super) type Memory = Arc<ReadBlock>;

/// All that a node sends.
pub(super) struct Outbox {
    packets: Packets,
    multicast: bool,
    /// True if what this node asks for is put where it belongs.
    puts: AtomicBool,
    /// True if what this node asks for to read may be lent.
    loans: AtomicBool,
    /// Of those regions whose bytes may be put; made when that is first wanted.
    heap: OnceLock<Option<Arc<Heap>>>,
    frames: DeferredSends<QueuedFrame>,
    /// The heaps of other nodes, once they have said how they are called.
    heaps: Biased<BTreeMap<Rank, Far>>,
}

/// Answers that wait for packets to one rank, at most: one for each of its threads, which wait for
/// them.
const MOST_ANSWERS: usize = 4096;

/// Another node's heap.
enum Far {
    Named(HeapName),
    Reached(RemoteHeap),
}

struct QueuedFrame {
    to: To,
    what: What,
}

enum To {
    One(Rank),
    /// All ranks, of which those are meant that have a bit here.
    Several(Box<[u8]>),
}

enum What {
    Message(Header),
    /// A message with a region's bytes, of which those before the header's offset have left.
    Data(Header, Memory),
    /// A message about a region's bytes that are put in this place.
    Put(Header, Memory, Destination),
    Packet(Box<[u8]>),
}

/// A region's bytes for another node.
pub(super) struct Data {
    /// Nobody writes it any more: who does, writes another.
    pub memory: Memory,
    /// Destination at which that node wants them, if it has said so.
    pub destination: Option<Destination>,
}

impl Outbox {
    pub(super) fn new(packets: &Packets, settings: Settings) -> Self {
        let outbox = Outbox {
            packets: packets.clone(),
            // The broadcast group has no ranks that came later.
            multicast: settings.multicast && packets.room() == packets.size(),
            puts: AtomicBool::new(false),
            loans: AtomicBool::new(false),
            heap: OnceLock::new(),
            frames: packets.system().deferred(),
            heaps: Biased::default(),
        };
        outbox.set_data(settings.data);
        outbox
    }

    /// Sets how what this node asks for travels from here on.
    pub(super) fn set_data(&self, data: DataWay) {
        let puts = data != DataWay::Packets;
        if puts {
            self.heap.get_or_init(|| {
                let heap = self.packets.puts().heap(HEAP_BYTES)?;
                let others = (0..self.packets.size() as u16).map(Rank);
                let others = others.filter(|&rank| rank != self.packets.rank());
                others.for_each(|to| self.notice(to, RegionId::NONE, Notice::Heap(heap.name())));
                Some(heap)
            });
        }
        self.puts.store(puts, Ordering::Relaxed);
        self.loans.store(data == DataWay::Loans, Ordering::Relaxed);
    }

    /// Makes all threads equal ([`super::Regions::share`]).
    pub(super) fn share(&self) {
        self.frames.share();
        self.heaps.share();
    }

    /// A block of as many zeros, where others may reach it if they can land there.
    pub(super) fn zeros(&self, bytes: u64) -> Result<Block> {
        let size = usize::try_from(bytes).map_err(|_| Error::Memory(bytes))?;
        let heap = self.heap.get().and_then(Option::as_ref).filter(|_| self.lands(bytes));
        let part = heap.and_then(|heap| heap.block(size));
        part.or_else(|| Block::zeros(size)).ok_or(Error::Memory(bytes))
    }

    /// True if what is asked for of a region of this size is to land where it belongs.
    pub(super) fn lands(&self, bytes: u64) -> bool {
        bytes >= PUT_FROM && self.puts.load(Ordering::Relaxed)
    }

    /// Opens `block` to puts, or gives it back.
    pub(super) fn land(&self, block: Block) -> std::result::Result<Landing, Block> {
        self.packets.puts().land(block)
    }

    /// True if what is for so many nodes is better broadcast.
    pub(super) fn multicasts_to(&self, nodes: usize) -> bool {
        let ranks = self.packets.size();
        let room = receivers::size(ranks) + DATA_SIZE < self.packets.multicast_payload();
        self.multicast && room && nodes >= 2 && 2 * nodes >= ranks - 1
    }

    pub(super) fn notice(&self, to: Rank, region: RegionId, notice: Notice) {
        self.packet(to, notice.emit(region));
    }

    /// Answers a question of `to`. False if too many answers to it wait for packets (I9).
    pub(super) fn answer(&self, to: Rank, region: RegionId, notice: Notice) -> bool {
        let is_answer = |frame: &QueuedFrame| matches!(frame, QueuedFrame { to: To::One(one), what: What::Packet(_) } if *one == to);
        let what = What::Packet(notice.emit(region));
        self.frames.push_within(MOST_ANSWERS, is_answer, QueuedFrame { to: To::One(to), what })
    }

    /// A packet of these bytes.
    pub(super) fn packet(&self, to: Rank, bytes: Box<[u8]>) {
        self.frames.push(QueuedFrame { to: To::One(to), what: What::Packet(bytes) });
    }

    /// The heap of another node.
    pub(super) fn heap_of(&self, rank: Rank, name: HeapName) {
        self.heaps.enter().insert(rank, Far::Named(name));
    }

    /// True if `to` has memory there that this node may reach.
    fn is_near(&self, to: Rank, destination: Destination) -> bool {
        destination.offset().is_some() && self.heaps.enter().contains_key(&to)
    }

    /// Writes a region's bytes into another node's heap; false if it cannot be reached.
    fn write(&self, to: Rank, destination: Destination, bytes: &[u8]) -> bool {
        let Some(offset) = destination.offset() else { return false };
        let written = self.reach(to, |heap| heap.write(offset, bytes)) == Some(true);
        if written {
            self.packets.copied(bytes.len());
        }
        written
    }

    /// True if this node takes loans, and reaches the memory of `from`.
    pub(super) fn borrows_from(&self, from: Rank) -> bool {
        self.loans.load(Ordering::Relaxed) && self.reach(from, |_| ()).is_some()
    }

    /// The bytes of a region that `from` lends; nothing if they cannot be there.
    pub(super) fn lent(&self, from: Rank, offset: u64, bytes: u64) -> Option<ReadBlock> {
        let (offset, bytes) = (usize::try_from(offset).ok()?, usize::try_from(bytes).ok()?);
        self.reach(from, |heap| heap.lent(offset, bytes)).flatten()
    }

    /// Uses the heap of another node, which is mapped when that is first wanted; nothing if it
    /// cannot be.
    fn reach<R>(&self, rank: Rank, using: impl FnOnce(&mut RemoteHeap) -> R) -> Option<R> {
        let mut heaps = self.heaps.enter();
        if let Far::Named(name) = heaps.get(&rank)? {
            match self.packets.puts().remote_heap(rank, name) {
                Some(heap) => heaps.insert(rank, Far::Reached(heap)),
                None => heaps.remove(&rank),
            };
        }
        match heaps.get_mut(&rank)? {
            Far::Reached(heap) => Some(using(heap)),
            Far::Named(_) => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Sends what there are packets for. Never blocks.
    #[inline]
    pub(super) fn flush(&self) -> weft_endpoint::Result<()> {
        self.frames.flush(|frame| frame.send(self))
    }

    /// Does what [`Self::flush`] does, for who waits for something else.
    pub(super) fn pay(&self) -> weft_endpoint::Result<bool> {
        self.frames.pay(|frame| frame.send(self))
    }

    /// Outcome of a frame that cannot be sent: where the job goes on, nobody needs what is for the
    /// lost.
    #[cold]
    fn refused(&self, error: weft_endpoint::Error) -> weft_endpoint::Result<bool> {
        match error {
            weft_endpoint::Error::RankLost(_) if self.packets.losses().goes_on() => Ok(true),
            error => Err(error),
        }
    }
}

/// Sends of an event at a region, in the order of the calls here: they are made while the region is
/// entered, so that nobody sends anything about it in between.
#[must_use = "what is in it has the turn to send"]
pub(super) struct Post<'a> {
    pub outbox: &'a Outbox,
    frames: Batch<'a, QueuedFrame>,
}

impl<'a> Post<'a> {
    #[inline]
    pub(super) fn new(outbox: &'a Outbox) -> Self {
        Post { outbox, frames: outbox.frames.batch() }
    }

    /// A message to several nodes, with its data if it carries any.
    pub(super) fn multicast(&mut self, to: &BTreeSet<Rank>, header: Header, data: Option<Memory>) {
        let what = match data {
            Some(memory) => What::Data(header, memory),
            None => What::Message(header),
        };
        let to = To::Several(receivers::emit(to, self.outbox.packets.size()));
        self.frames.add(QueuedFrame { to, what });
    }

    pub(super) fn message(&mut self, to: Rank, header: Header) {
        self.frames.add(QueuedFrame { to: To::One(to), what: What::Message(header) });
    }

    pub(super) fn data(&mut self, to: Rank, header: Header, Data { memory, destination }: Data) {
        let one_packet = memory.len() + DATA_SIZE <= self.outbox.packets.max_payload_to(to);
        let what = match destination {
            Some(destination) if !one_packet || self.outbox.is_near(to, destination) => {
                What::Put(header, memory, destination)
            }
            _ => What::Data(header, memory),
        };
        self.frames.add(QueuedFrame { to: To::One(to), what });
    }

    /// Sends it, once the region is left, as far as there are packets, and what else waits. Never
    /// blocks.
    #[inline]
    pub(super) fn send(self) -> weft_endpoint::Result<()> {
        self.frames.send(|frame| frame.send(self.outbox))
    }
}

impl QueuedFrame {
    /// Sends it; false if there was no packet for it, or for the rest.
    #[inline]
    fn send(&mut self, outbox: &Outbox) -> weft_endpoint::Result<bool> {
        loop {
            if let (What::Put(header, memory, destination), To::One(to)) = (&self.what, &self.to)
                && header.offset == 0
                && outbox.write(*to, *destination, memory)
            {
                self.what = What::Message(header.landed(0));
            }
            let packet = match self.to {
                To::One(to) => outbox.packets.try_packet_to(to),
                To::Several(_) => outbox.packets.try_packet(),
            };
            let sent = match packet {
                Ok(Some(packet)) => self.fill(packet),
                Ok(None) => return Ok(false),
                Err(error) => Err(error),
            };
            match sent {
                Ok(true) => {}
                Ok(false) => return Ok(true),
                Err(error) => return outbox.refused(error),
            }
        }
    }

    /// Sends a packet. Whether there has to be another.
    #[inline]
    fn fill(&mut self, mut packet: weft_endpoint::SendPacket<'_>) -> weft_endpoint::Result<bool> {
        if let To::Several(receivers) = &self.to {
            packet.limit_to_multicast_payload();
            packet.put(receivers)?;
        }
        let mut more = false;
        match (&mut self.what, &self.to) {
            (What::Put(header, memory, destination), &To::One(to)) => {
                let at = header.offset as usize;
                let rest = &memory[at..];
                if rest.len() + DATA_SIZE > packet.room() {
                    header.offset += packet.land(to, destination.number, at, rest)? as u64;
                    return Ok(true);
                }
                // The last bytes go with the message: one packet less, for a copy of less than a
                // packet.
                packet.put(&header.landed(header.offset).emit())?.put(rest)?;
            }
            (What::Message(header) | What::Put(header, ..), _) => {
                let encoded = header.emit();
                // Of sizes that the compiler knows.
                match header.size() {
                    SIZE => packet.put(&encoded[..SIZE])?,
                    _ => packet.put(&encoded)?,
                };
            }
            (What::Packet(bytes), _) => {
                packet.put(bytes)?;
            }
            (What::Data(header, memory), _) => {
                packet.put(&header.emit())?;
                let from = header.offset as usize;
                let to = memory.len().min(from + packet.room());
                packet.put(&memory[from..to])?;
                header.offset = to as u64;
                more = to < memory.len();
            }
        }
        match self.to {
            To::One(to) => packet.unicast(to)?,
            To::Several(_) => packet.broadcast()?,
        }
        Ok(more)
    }
}
