//! A region at a node: the protocol's machine, and the bytes.

use super::outbox::Outbox;
use super::{Error, Result};
use crate::RegionId;
use crate::coherence::{Actions, Call, Message, Region};
use crate::format::{Header, Notice};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_packet::Rank;

/// The bytes of a region, aligned for any element. Readers and packets to be sent share them; who writes takes
/// them, or a copy if somebody still needs them as they are.
pub(super) type Memory = Arc<Vec<u64>>;

/// As many zeros. The system gives them when they are written.
pub(super) fn zeros(bytes: u64) -> Result<Memory> {
    let too_many = || Error::Memory(bytes);
    let words = usize::try_from(bytes.div_ceil(8)).map_err(|_| too_many())?;
    let memory = bytemuck::allocation::try_zeroed_slice_box(words).map_err(|()| too_many())?;
    Ok(Arc::new(memory.into_vec()))
}

pub(super) struct Slot {
    machine: Region,
    bytes: u64,
    /// Empty while it is written.
    pub(super) memory: Memory,
    /// Mappings at this node.
    pub(super) mapped: u32,
    /// Whether the call that waited goes on or is refused.
    pub(super) outcome: Option<bool>,
    /// Data that has not come whole, by sender.
    coming: BTreeMap<Rank, Coming>,
}

struct Coming {
    message: Message,
    memory: Vec<u64>,
    came: u64,
}

impl Slot {
    pub(super) fn new(machine: Region, bytes: u64, memory: Memory) -> Self {
        Slot { machine, bytes, memory, mapped: 0, outcome: None, coming: BTreeMap::new() }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
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

    pub(super) fn call(&mut self, id: RegionId, call: Call, outbox: &Outbox) -> Result<()> {
        let (machine, mut hands) = self.hands(id, outbox);
        machine.call(call, &mut hands).map_err(|what| Error::Misuse { region: id, what })
    }

    pub(super) fn receive(
        &mut self,
        from: Rank,
        header: &Header,
        data: &[u8],
        outbox: &Outbox,
    ) -> Result<()> {
        let Header { region, message, .. } = *header;
        let came = if message.kind.carries_data() {
            let Some(whole) = self.collect(from, header, data)? else { return Ok(()) };
            Some(whole)
        } else {
            None
        };
        let (machine, mut hands) = self.hands(region, outbox);
        hands.came = came;
        machine.receive(from, message, &mut hands).map_err(|what| Error::Breach {
            from,
            region,
            what,
        })
    }

    /// Keeps what has come of a message. All of its bytes, if these were the last.
    fn collect(&mut self, from: Rank, header: &Header, data: &[u8]) -> Result<Option<Memory>> {
        let Header { message, offset, .. } = *header;
        let begins = offset == 0;
        let fresh = if begins { Some(Arc::unwrap_or_clone(zeros(self.bytes)?)) } else { None };
        if let Some(memory) = fresh {
            self.coming.insert(from, Coming { message, memory, came: 0 });
        }
        let coming = self.coming.get_mut(&from).filter(|coming| {
            let (fits, follows) = (offset + data.len() as u64 <= self.bytes, coming.came == offset);
            fits && follows && coming.message == message
        });
        let coming = coming.ok_or(Error::Packet(from))?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut coming.memory);
        bytes[offset as usize..][..data.len()].copy_from_slice(data);
        coming.came += data.len() as u64;
        if coming.came < self.bytes {
            return Ok(None);
        }
        Ok(self.coming.remove(&from).map(|coming| Arc::new(coming.memory)))
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
