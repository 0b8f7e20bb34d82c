//! A region at a node: the protocol's machine, and the bytes.

use super::outbox::Outbox;
use super::{Error, Result};
use crate::RegionId;
use crate::coherence::{Actions, Call, Message, Region};
use crate::format::{Header, Notice};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weft_packet::Rank;

/// The bytes of a region, aligned for any element. Readers and packets to be sent share them; who writes takes
/// them, or a copy if somebody still needs them as they are.
pub(super) type Memory = Arc<Vec<u64>>;

/// As many zeros.
pub(super) fn zeros(bytes: u64) -> Result<Memory> {
    let words = usize::try_from(bytes.div_ceil(8)).map_err(|_| Error::Memory(bytes))?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(words).map_err(|_| Error::Memory(bytes))?;
    memory.resize(words, 0);
    Ok(Arc::new(memory))
}

pub(super) struct Slot {
    machine: Region,
    bytes: u64,
    /// Empty while it is written.
    memory: Memory,
    /// Another handle to it for the next reader: making one and dropping it again is most of what a hit costs.
    spare: Option<Memory>,
    /// Mappings at this node.
    pub(super) mapped: u32,
    /// Whether the call that waited goes on or is refused.
    pub(super) outcome: Option<bool>,
    /// Data that has not come whole, by sender and whether it is multicast: the two have no order.
    coming: BTreeMap<(Rank, bool), Coming>,
}

struct Coming {
    message: Message,
    memory: Vec<u64>,
    came: u64,
}

impl Slot {
    pub(super) fn new(machine: Region, bytes: u64, memory: Memory) -> Self {
        Slot {
            machine,
            bytes,
            memory,
            spare: None,
            mapped: 0,
            outcome: None,
            coming: BTreeMap::new(),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes, for a reader that was let in.
    #[inline]
    pub(super) fn lend(&mut self) -> Memory {
        self.spare.take().unwrap_or_else(|| Arc::clone(&self.memory))
    }

    /// A reader is done with [`Self::lend`]'s result.
    #[inline]
    pub(super) fn take_back(&mut self, lent: Memory) {
        self.spare = Some(lent);
    }

    /// The bytes, for a writer that was let in.
    #[inline]
    pub(super) fn take(&mut self) -> Vec<u64> {
        self.spare = None;
        if let Some(words) = Arc::get_mut(&mut self.memory) {
            return std::mem::take(words);
        }
        // Packets are to be filled from the bytes as they are.
        Arc::unwrap_or_clone(std::mem::take(&mut self.memory))
    }

    /// What the writer has made of [`Self::take`]'s result.
    #[inline]
    pub(super) fn put_back(&mut self, words: Vec<u64>) {
        match Arc::get_mut(&mut self.memory) {
            Some(empty) => *empty = words,
            None => self.memory = Arc::new(words),
        }
    }

    /// What another node that maps it has to know; nothing if it is no more.
    pub(super) fn mapped_by_another(&self) -> Option<Notice> {
        let directory = self.machine.directory()?;
        Some(Notice::Mapped { version: directory.version(), bytes: self.bytes })
    }

    /// Whether this node may forget the region.
    pub(super) fn may_be_forgotten(&self) -> bool {
        self.mapped == 0 && self.machine.directory().is_none() && self.machine.replica().is_idle()
    }

    /// The machine is asked, and what it says goes into the outbox in the same order.
    fn hands<'a>(&'a mut self, id: RegionId, outbox: &'a Outbox) -> (&'a mut Region, Hands<'a>) {
        let bytes = self.bytes as usize;
        let hands = Hands {
            id,
            outbox,
            bytes,
            came: None,
            memory: Some(&mut self.memory),
            outcome: Some(&mut self.outcome),
        };
        (&mut self.machine, hands)
    }

    #[inline]
    pub(super) fn call(&mut self, id: RegionId, call: Call, outbox: &Outbox) -> Result<()> {
        let (machine, mut hands) = self.hands(id, outbox);
        machine.call(call, &mut hands).map_err(|what| Error::Misuse { region: id, what })
    }

    pub(super) fn receive(
        &mut self,
        (from, multicast): (Rank, bool),
        header: &Header,
        data: &[u8],
        outbox: &Outbox,
    ) -> Result<()> {
        let Header { region, message, .. } = *header;
        let came = if message.kind.carries_data() {
            let Some(whole) = self.collect((from, multicast), header, data)? else { return Ok(()) };
            Some(whole)
        } else {
            None
        };
        if came.is_some() {
            // Nobody reads what the bytes that came take the place of.
            self.spare = None;
        }
        let (machine, mut hands) = self.hands(region, outbox);
        hands.came = came;
        machine.receive(from, message, &mut hands).map_err(|what| Error::Breach {
            from,
            region,
            what,
        })
    }

    /// Keeps what has come of a message. All of its bytes, if these were the last.
    fn collect(
        &mut self,
        way: (Rank, bool),
        header: &Header,
        data: &[u8],
    ) -> Result<Option<Memory>> {
        let Header { message, offset, .. } = *header;
        let begins = offset == 0;
        let fresh = if begins { Some(Arc::unwrap_or_clone(zeros(self.bytes)?)) } else { None };
        if let Some(memory) = fresh {
            self.coming.insert(way, Coming { message, memory, came: 0 });
        }
        let coming = self.coming.get_mut(&way).filter(|coming| {
            let (fits, follows) = (offset + data.len() as u64 <= self.bytes, coming.came == offset);
            fits && follows && coming.message == message
        });
        let coming = coming.ok_or(Error::Packet(way.0))?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut coming.memory);
        bytes[offset as usize..][..data.len()].copy_from_slice(data);
        coming.came += data.len() as u64;
        if coming.came < self.bytes {
            return Ok(None);
        }
        Ok(self.coming.remove(&way).map(|coming| Arc::new(coming.memory)))
    }
}

/// Carries out what a machine says.
pub(super) struct Hands<'a> {
    id: RegionId,
    outbox: &'a Outbox,
    bytes: usize,
    came: Option<Memory>,
    memory: Option<&'a mut Memory>,
    outcome: Option<&'a mut Option<bool>>,
}

impl<'a> Hands<'a> {
    /// For a region that this node does not know.
    pub(super) fn of_nothing(id: RegionId, outbox: &'a Outbox) -> Self {
        Hands { id, outbox, bytes: 0, came: None, memory: None, outcome: None }
    }

    fn end(&mut self, granted: bool) {
        if let Some(outcome) = &mut self.outcome {
            **outcome = Some(granted);
        }
    }
}

impl Actions for Hands<'_> {
    fn send(&mut self, to: Rank, message: Message) {
        match &self.memory {
            Some(memory) if message.kind.carries_data() => {
                self.outbox.data(to, self.id, message, (Arc::clone(memory), self.bytes));
            }
            _ => self.outbox.message(to, self.id, message),
        }
    }

    fn multicast(&mut self, to: &BTreeSet<Rank>, message: Message) {
        if !self.outbox.multicasts_to(to.len()) {
            return to.iter().for_each(|&to| self.send(to, message));
        }
        let data = self.memory.as_ref().filter(|_| message.kind.carries_data());
        let data = data.map(|memory| (Arc::clone(memory), self.bytes));
        self.outbox.multicast(to, self.id, message, data);
    }

    fn place(&mut self) {
        if let (Some(memory), Some(came)) = (&mut self.memory, self.came.take()) {
            **memory = came;
        }
    }

    fn grant(&mut self, _: Call) {
        self.end(true);
    }

    fn refuse(&mut self, _: Call) {
        self.end(false);
    }
}
