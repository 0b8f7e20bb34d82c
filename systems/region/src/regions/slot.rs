//! A region at a node: the protocol's machine, and the bytes.

use super::outbox::{Data, Memory, Outbox, Post};
use super::{Error, Result};
use crate::RegionId;
use crate::coherence::{Actions, Call, Directory, Message, MessageKind, Region, Version};
use crate::format::{Destination, Header, Notice};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weft_endpoint::{Awaited, Block, ClosedLanding, Landing, Rank, ReadBlock, Whom};

/// Name of the span of a call that waits for a region. Those of writers `weft report` knows.
pub(super) fn miss(call: Call, id: RegionId) -> String {
    match call {
        Call::StartRead => format!("read miss of {id}"),
        Call::StartWrite => format!("write miss of {id}"),
        _ => format!("deletion of {id}"),
    }
}

/// A node's part of a region. It begins with a cache line, wherever it is allocated: an access that
/// is a hit takes as long as the lines that it touches.
#[repr(align(64))]
pub(super) struct Slot {
    machine: Region,
    here: Here,
    /// Mappings at this node.
    pub(super) mapped: u32,
    /// Time at which the last of them ended, by the node's count; none while it is mapped, or
    /// forgotten soon.
    pub(super) unmapped_at: Option<u64>,
}

/// Bytes and transfers of a region, beside the protocol.
struct Here {
    bytes: u64,
    /// The bytes, if nobody has shared them since they were written, or came.
    alone: Option<Block>,
    /// Else these. Empty while they are written, or while what was asked for is to land in them.
    memory: Memory,
    /// This node's own memory for the bytes, while `memory` is what the home lends.
    room: Option<Block>,
    /// Another handle to it for the next reader: making one and dropping it again is most of what a
    /// hit costs.
    spare: Option<Memory>,
    /// True if the call that waited goes on, false if it is refused.
    outcome: Option<bool>,
    /// Data that has not come whole, by sender and whether it is multicast: the two have no order.
    partial: BTreeMap<(Rank, bool), Partial>,
    /// Landing of what this node has asked for.
    landing: Option<Landing>,
    /// Destinations at which others want what they have asked for.
    destinations: BTreeMap<Rank, Wanted>,
}

/// Location of the bytes of a message, all of them.
enum Received {
    /// In the region, where they belong.
    InPlace,
    Block(Block),
    /// In the memory of the home.
    Lent(ReadBlock),
}

struct Partial {
    message: Message,
    memory: Block,
    received: u64,
}

/// Destination at which another node wants a copy.
#[derive(Clone, Copy)]
struct Wanted {
    destination: Destination,
    /// Of which version, if the home has said so.
    version: Option<Version>,
    /// True if it may be lent instead.
    lent: bool,
}

impl Slot {
    pub(super) fn new(machine: Region, bytes: u64, memory: Block) -> Self {
        let here = Here {
            bytes,
            alone: Some(memory),
            memory: Memory::default(),
            room: None,
            spare: None,
            outcome: None,
            partial: BTreeMap::new(),
            landing: None,
            destinations: BTreeMap::new(),
        };
        Slot { machine, here, mapped: 0, unmapped_at: None }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.here.bytes
    }

    /// Object of a call that waits for the region. Who keeps it is known at its home.
    pub(super) fn awaited(&self, id: RegionId, call: Call) -> Awaited {
        let what = match call {
            Call::StartRead => "to read",
            Call::StartWrite => "to write",
            _ => "to delete",
        };
        match self.machine.directory().and_then(Directory::awaited) {
            Some(rank) => {
                Awaited::new(format!("rank {rank} to give {id} back, {what} it"), Whom::One(rank))
            }
            None => Awaited::of_unknown(format!("{id}, {what} it")),
        }
    }

    /// Outcome of the call that waited: true if it goes on, false if it is refused; given once.
    #[inline]
    pub(super) fn outcome(&mut self) -> Option<bool> {
        self.here.outcome.take()
    }

    /// Reason why a call is refused.
    pub(super) fn refusal(&self, region: RegionId) -> Error {
        match self.machine.replica().lost_with() {
            Some(rank) => Error::Lost { region, rank },
            None => Error::Deleted(region),
        }
    }

    /// The bytes, for a reader that was let in.
    #[inline]
    pub(super) fn lend(&mut self) -> Memory {
        self.here.spare.take().unwrap_or_else(|| self.here.shared())
    }

    /// A reader is done with [`Self::lend`]'s result.
    #[inline]
    pub(super) fn take_back(&mut self, lent: Memory) {
        self.here.spare = Some(lent);
    }

    /// The bytes, for a writer that was let in.
    ///
    /// # Errors
    /// [`Error::Memory`], if it takes a copy.
    #[inline]
    pub(super) fn take(&mut self, outbox: &Outbox) -> Result<Block> {
        if let Some(block) = self.here.take_alone() {
            return Ok(block);
        }
        // Packets are to be filled from the bytes as they are.
        let mut copy = outbox.zeros(self.here.bytes)?;
        copy.copy_from_slice(&self.here.memory);
        self.here.memory = Memory::default();
        Ok(copy)
    }

    /// Takes back the block of [`Self::take`], as the writer has changed it.
    #[inline]
    pub(super) fn put_back(&mut self, block: Block) {
        self.here.alone = Some(block);
    }

    /// Answer to another node that maps the region; nothing if it is no more.
    pub(super) fn mapped_by_another(&self) -> Option<Notice> {
        let directory = self.machine.directory()?;
        Some(Notice::Mapped { version: directory.version(), bytes: self.here.bytes })
    }

    /// True if this node may forget the region.
    pub(super) fn may_be_forgotten(&self) -> bool {
        self.mapped == 0 && self.machine.directory().is_none() && self.machine.replica().is_idle()
    }

    /// Makes a call, if it takes no message and does not wait.
    #[inline]
    pub(super) fn hit(&mut self, call: Call) -> bool {
        self.machine.hit(call)
    }

    pub(super) fn call(&mut self, id: RegionId, call: Call, post: &mut Post<'_>) -> Result<()> {
        let here = Some(&mut self.here);
        let mut actions = MachineActions { id, post, here, received: None };
        self.machine.call(call, &mut actions).map_err(|what| Error::Misuse { region: id, what })
    }

    /// A message of `from`, which has come by multicast or for this node alone.
    pub(super) fn receive(
        &mut self,
        (from, multicast): (Rank, bool),
        header: &Header,
        data: &[u8],
        post: &mut Post<'_>,
    ) -> Result<()> {
        let Header { region: id, message, .. } = *header;
        let mut received = None;
        if message.kind.carries_data() {
            // What was here before is worth nothing then, and has room for what comes.
            let awaited =
                message.kind != MessageKind::Update && self.machine.expects(from, message.kind);
            received = if header.lent {
                Some(Received::Lent(self.here.lent(from, header, post.outbox)?))
            } else if header.lands {
                Some(Received::Block(self.here.landed(from, header, data)?))
            } else if awaited && header.offset == 0 && self.here.takes_all(data) {
                Some(Received::InPlace)
            } else {
                let way = (from, multicast);
                self.here.collect(way, header, data, (awaited, post.outbox))?.map(Received::Block)
            };
            if received.is_none() {
                return Ok(());
            }
        } else {
            self.here.note_destination(from, header);
        }
        let mut actions = MachineActions { id, post, here: Some(&mut self.here), received };
        let told = self.machine.receive(from, message, &mut actions);
        told.map_err(|what| Error::Breach { from, region: id, what })
    }

    /// A rank is lost, and nothing comes from there any more.
    pub(super) fn lose(&mut self, id: RegionId, rank: Rank, post: &mut Post<'_>) {
        self.here.partial.retain(|(from, _), _| *from != rank);
        self.here.destinations.remove(&rank);
        let here = Some(&mut self.here);
        self.machine.lose(rank, &mut MachineActions { id, post, here, received: None });
        if self.machine.replica().lost_with().is_some() {
            self.here.landing = None;
        }
    }

    /// Checks what must hold of the region between two messages.
    pub fn check(&self, region: RegionId) -> Result<()> {
        let checked = self.machine.check_invariants();
        checked.map_err(|broken| Error::Invariant { region, broken: Box::new(broken) })
    }
}

impl Here {
    /// The bytes, if nobody shares them.
    #[inline]
    fn take_alone(&mut self) -> Option<Block> {
        if let Some(block) = self.alone.take() {
            return Some(block);
        }
        self.spare = None;
        Arc::get_mut(&mut self.memory).and_then(ReadBlock::take)
    }

    /// Memory of this node, if nobody shares it; what is in it is worth nothing.
    fn take_room(&mut self) -> Option<Block> {
        let room = self.take_alone().filter(|block| block.len() as u64 == self.bytes);
        room.or_else(|| self.room.take())
    }

    /// Copies what the home lends: a node that asks to write has bytes of its own.
    fn own(&mut self) {
        if let Some(mut block) = self.room.take() {
            block.copy_from_slice(&self.memory);
            self.spare = None;
            self.alone = Some(block);
        }
    }

    /// Offset in the heap of this node at which others may read the bytes.
    fn offset_in_heap(&self) -> Option<usize> {
        match &self.alone {
            Some(block) => block.offset_in_heap(),
            None => self.memory.offset_in_heap(),
        }
    }

    /// The bytes, to be shared.
    fn shared(&mut self) -> Memory {
        if let Some(block) = self.alone.take() {
            match Arc::get_mut(&mut self.memory) {
                Some(empty) => *empty = block.into(),
                None => self.memory = Arc::new(block.into()),
            }
        }
        Arc::clone(&self.memory)
    }

    /// Takes all bytes of the region, where what was here is worth nothing; false if there is no
    /// room here, or they are not all.
    #[inline]
    fn takes_all(&mut self, data: &[u8]) -> bool {
        self.spare = None;
        let room = match &mut self.alone {
            Some(block) => Some(&mut **block),
            None => Arc::get_mut(&mut self.memory).and_then(ReadBlock::bytes_mut),
        };
        let room = room.filter(|room| room.len() == data.len() && data.len() as u64 == self.bytes);
        room.map(|room| room.copy_from_slice(data)).is_some()
    }

    /// Memory for bytes that come in packets: what was here, if that is worth nothing.
    fn room(&mut self, awaited: bool, outbox: &Outbox) -> Result<Block> {
        let landing = self.landing.take_if(|_| awaited).map(|landing| landing.close().block);
        let room = landing.or_else(|| if awaited { self.take_room() } else { None });
        match room.filter(|block| block.len() as u64 == self.bytes) {
            Some(block) => Ok(block),
            None => outbox.zeros(self.bytes),
        }
    }

    /// Keeps what has come of a message. All of its bytes, if these were the last.
    fn collect(
        &mut self,
        way: (Rank, bool),
        header: &Header,
        data: &[u8],
        (awaited, outbox): (bool, &Outbox),
    ) -> Result<Option<Block>> {
        let Header { message, offset, .. } = *header;
        if offset == 0 {
            let mut memory = self.room(awaited, outbox)?;
            if data.len() == memory.len() {
                memory.copy_from_slice(data);
                return Ok(Some(memory));
            }
            self.partial.insert(way, Partial { message, memory, received: 0 });
        }
        let partial = self.partial.get_mut(&way).filter(|partial| {
            let (fits, follows) =
                (offset + data.len() as u64 <= self.bytes, partial.received == offset);
            fits && follows && partial.message == message
        });
        let partial = partial.ok_or(Error::Packet(way.0))?;
        partial.memory[offset as usize..][..data.len()].copy_from_slice(data);
        partial.received += data.len() as u64;
        if partial.received < self.bytes {
            return Ok(None);
        }
        Ok(self.partial.remove(&way).map(|partial| partial.memory))
    }

    /// The bytes that were put where this node has asked for them, and the last, which came with
    /// the message about them.
    fn landed(&mut self, from: Rank, header: &Header, last: &[u8]) -> Result<Block> {
        let landed = self.landing.take().ok_or(Error::Packet(from))?.close();
        let ClosedLanding { mut block, received, from: by } = landed;
        let whole = last.is_empty() || received + last.len() as u64 == self.bytes;
        let sound = whole && received == header.offset && by.is_none_or(|by| by == from);
        // An unasked put is blamed on the rank that put, not on the one that answers.
        let breach = Error::Packet(by.unwrap_or(from));
        let at = block.len().checked_sub(last.len()).filter(|_| sound).ok_or(breach)?;
        block[at..].copy_from_slice(last);
        Ok(block)
    }

    /// The bytes that the home lends, in place of those that were to land here.
    fn lent(&mut self, from: Rank, header: &Header, outbox: &Outbox) -> Result<ReadBlock> {
        let breach = || Error::Packet(from);
        let landing = self.landing.take().filter(|_| from == header.region.home);
        self.room = Some(landing.ok_or_else(breach)?.close().block);
        outbox.lent(from, header.offset, self.bytes).ok_or_else(breach)
    }

    /// Remembers where the node that a request or a demand is about wants its copy.
    fn note_destination(&mut self, from: Rank, header: &Header) {
        let Header { message, .. } = *header;
        let (who, version) = match message.kind {
            MessageKind::FetchShared | MessageKind::FetchExclusive => {
                (message.party, Some(message.version))
            }
            MessageKind::Read | MessageKind::Write | MessageKind::Upgrade | MessageKind::Delete => {
                (from, None)
            }
            _ => return,
        };
        match header.destination() {
            Some(destination) => {
                let lent = header.lent;
                self.destinations.insert(who, Wanted { destination, version, lent });
            }
            None => {
                self.destinations.remove(&who);
            }
        }
    }

    /// Destination at which `to` wants the copy that `message` brings, if it has asked for that
    /// one. Once: what it asks for next, it wants elsewhere.
    fn wanted_by(&mut self, to: Rank, message: Message) -> Option<Wanted> {
        let of = |version: Version| match message.kind {
            MessageKind::DataExclusive => version.next() == message.version,
            _ => version == message.version,
        };
        let wanted = *self.destinations.get(&to).filter(|wanted| wanted.version.is_none_or(of))?;
        if !message.kind.may_land() {
            return None;
        }
        self.destinations.remove(&to);
        Some(wanted)
    }

    /// Opens the memory, in which nothing of worth is left, to who will answer.
    fn open(&mut self, outbox: &Outbox) -> Option<Destination> {
        if !outbox.lands(self.bytes) || self.landing.is_some() {
            return None;
        }
        let block = match self.take_room() {
            Some(block) => block,
            None => outbox.zeros(self.bytes).ok()?,
        };
        let offset = block.offset_in_heap();
        match outbox.land(block) {
            Ok(landing) => {
                let destination = Destination::new(landing.number(), offset);
                self.landing = Some(landing);
                Some(destination)
            }
            Err(block) => {
                self.alone = Some(block);
                None
            }
        }
    }
}

/// Carries out what a machine says.
pub(super) struct MachineActions<'a, 'o> {
    id: RegionId,
    post: &'a mut Post<'o>,
    here: Option<&'a mut Here>,
    received: Option<Received>,
}

impl<'a, 'o> MachineActions<'a, 'o> {
    /// For a region that this node does not know.
    pub(super) fn of_nothing(id: RegionId, post: &'a mut Post<'o>) -> Self {
        MachineActions { id, post, here: None, received: None }
    }

    #[inline]
    fn end(&mut self, granted: bool) {
        if let Some(here) = &mut self.here {
            here.outcome = Some(granted);
        }
    }

    /// The header of `message`, which says where its answer is to land, if it has one.
    fn header(&mut self, message: Message) -> Header {
        let header = Header::new(self.id, message);
        let Some(here) = &mut self.here else { return header };
        let destination = match message.kind {
            MessageKind::Read | MessageKind::Write => here.open(self.post.outbox),
            MessageKind::FetchShared | MessageKind::FetchExclusive
                if message.party == self.id.home =>
            {
                here.open(self.post.outbox)
            }
            MessageKind::FetchShared | MessageKind::FetchExclusive => {
                here.destinations.get(&message.party).map(|wanted| wanted.destination)
            }
            _ => None,
        };
        let Some(destination) = destination else { return header };
        let header = header.with_destination(destination);
        let borrows =
            message.kind == MessageKind::Read && self.post.outbox.borrows_from(self.id.home);
        if borrows { header.with_loan() } else { header }
    }
}

impl Actions for MachineActions<'_, '_> {
    fn send(&mut self, to: Rank, message: Message) {
        match &mut self.here {
            Some(here) if message.kind.carries_data() => {
                let header = Header::new(self.id, message);
                let wanted = here.wanted_by(to, message);
                let lends =
                    wanted.is_some_and(|wanted| wanted.lent) && message.kind.may_be_lent(false);
                if let Some(offset) = here.offset_in_heap().filter(|_| lends) {
                    return self.post.message(to, header.lent(offset as u64));
                }
                let destination = wanted.map(|wanted| wanted.destination);
                let data = Data { memory: here.shared(), destination };
                self.post.data(to, header, data);
            }
            _ => {
                if let Some(here) =
                    self.here.as_mut().filter(|_| message.kind == MessageKind::Upgrade)
                {
                    here.own();
                }
                let header = self.header(message);
                self.post.message(to, header);
            }
        }
    }

    fn multicast(&mut self, to: &BTreeSet<Rank>, message: Message) {
        if !self.post.outbox.multicasts_to(to.len()) {
            return to.iter().for_each(|&to| self.send(to, message));
        }
        let here = self.here.as_mut().filter(|_| message.kind.carries_data());
        let memory = here.map(|here| here.shared());
        self.post.multicast(to, Header::new(self.id, message), memory);
    }

    fn place(&mut self) {
        let Some(here) = &mut self.here else { return };
        // Nobody reads what these bytes take the place of.
        match self.received.take() {
            Some(Received::Block(block)) => {
                (here.spare, here.room, here.alone) = (None, None, Some(block));
            }
            Some(Received::Lent(lent)) => (here.spare, here.memory) = (None, Arc::new(lent)),
            Some(Received::InPlace) | None => {}
        }
    }

    #[inline]
    fn grant(&mut self, _: Call) {
        self.end(true);
    }

    fn refuse(&mut self, _: Call) {
        self.end(false);
    }
}
