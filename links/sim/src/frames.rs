//! Frames: bytes that several ranks may refer to, and what each rank calls them.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use weft_link::{Buffer, Payload};
use weft_trace::TEXT_BYTES;
use weft_wire::atomic::Words;
use weft_wire::{Header, envelope};

/// User bytes. Written by the rank that allocated them, read by all to whom they were sent: no byte
/// is copied between ranks. Atomic, so that a pointer into them may write without more ado.
#[derive(Clone)]
pub(crate) struct Bytes(Arc<[AtomicU8]>);

impl Bytes {
    fn new(size: usize) -> Self {
        Bytes((0..size).map(|_| AtomicU8::new(0)).collect())
    }

    /// These.
    pub fn copy_of(bytes: &[u8]) -> Self {
        Bytes(bytes.iter().map(|&byte| AtomicU8::new(byte)).collect())
    }

    fn start(&self) -> NonNull<u8> {
        NonNull::from(&*self.0).cast()
    }

    /// The first of them, and zeros behind the last one.
    fn head(&self) -> [u8; TEXT_BYTES] {
        let mut head = [0; TEXT_BYTES];
        for (to, byte) in head.iter_mut().zip(self.0.iter()) {
            *to = byte.load(Ordering::Relaxed);
        }
        head
    }

    /// A copy of the first `size`.
    pub fn to_vec(&self, size: usize) -> Vec<u8> {
        self.0.iter().take(size).map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

/// Contents of a frame besides its header.
#[derive(Clone)]
pub(crate) enum Carried {
    Empty,
    Words(Words),
    Bytes(Bytes),
}

/// A frame on the wire.
#[derive(Clone)]
pub(crate) struct Frame {
    pub header: Header,
    pub carried: Carried,
}

impl Frame {
    /// True if it takes a receive buffer at its receiver.
    pub fn fills_a_buffer(&self) -> bool {
        matches!(self.carried, Carried::Bytes(_))
    }

    /// First user bytes, and zeros behind the last one.
    pub fn head(&self) -> [u8; TEXT_BYTES] {
        let mut head = match &self.carried {
            Carried::Empty => [0; TEXT_BYTES],
            Carried::Words(words) => {
                std::array::from_fn(|byte| words[byte / 8].to_le_bytes()[byte % 8])
            }
            Carried::Bytes(bytes) => bytes.head(),
        };
        head.iter_mut().skip(self.user_bytes()).for_each(|byte| *byte = 0);
        head
    }

    /// Bytes beside the header's.
    pub fn user_bytes(&self) -> usize {
        match &self.carried {
            Carried::Words(_) => envelope::body_bytes(&self.header),
            _ => self.header.size.into(),
        }
    }
}

/// Owner of a frame that a rank has a name for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A send buffer.
    Send,
    /// A receive buffer of the NI.
    Ni,
    /// A receive buffer of the host.
    Host,
    /// Memory of the host's own.
    Kept,
}

struct Slot {
    bytes: Bytes,
    owner: Owner,
    /// The header that it came with, if it did.
    header: Option<Header>,
    /// Time at which the link is done with it.
    busy_until: u64,
}

/// The frames of one rank.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    counts: [usize; 4],
}

impl Slots {
    pub fn insert(&mut self, bytes: Bytes, owner: Owner, header: Option<Header>) -> Buffer {
        self.counts[owner as usize] += 1;
        let slot = Some(Slot { bytes, owner, header, busy_until: 0 });
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.slots.push(None);
                (self.slots.len() - 1) as u32
            }
        };
        self.slots[index as usize] = slot;
        Buffer::new(0, index.into())
    }

    /// Number of frames in `owner`.
    pub fn count(&self, owner: Owner) -> usize {
        self.counts[owner as usize]
    }

    pub fn remove(&mut self, buffer: Buffer) -> (Bytes, Owner) {
        let slot = self.slots.get_mut(buffer.number() as usize).and_then(Option::take);
        let Slot { bytes, owner, .. } = slot.unwrap_or_else(|| panic!("{buffer:?} freed twice"));
        self.counts[owner as usize] -= 1;
        self.free.push(buffer.number() as u32);
        (bytes, owner)
    }

    /// The host takes a packet out of its receive buffer.
    pub fn keep(&mut self, buffer: Buffer) {
        let slot = self.slots.get_mut(buffer.number() as usize).and_then(Option::as_mut);
        if let Some(slot) = slot.filter(|slot| slot.owner == Owner::Host) {
            slot.owner = Owner::Kept;
            self.counts[Owner::Host as usize] -= 1;
            self.counts[Owner::Kept as usize] += 1;
        }
    }

    pub fn start(&self, buffer: Buffer) -> NonNull<u8> {
        self.slot(buffer).bytes.start()
    }

    pub fn bytes(&self, buffer: Buffer) -> Bytes {
        self.slot(buffer).bytes.clone()
    }

    pub fn header(&self, buffer: Buffer) -> Option<Header> {
        self.slot(buffer).header
    }

    /// Contents that `payload` puts on the wire.
    pub fn carried(&self, payload: Payload) -> Carried {
        match payload {
            Payload::Empty => Carried::Empty,
            Payload::Words(words) => Carried::Words(words),
            Payload::Buffer(buffer) => Carried::Bytes(self.bytes(buffer)),
        }
    }

    /// The link works on a send buffer until `time`.
    pub fn occupy(&mut self, buffer: Buffer, time: u64) {
        if let Some(Some(slot)) = self.slots.get_mut(buffer.number() as usize) {
            slot.busy_until = slot.busy_until.max(time);
        }
    }

    pub fn busy_until(&self, buffer: Buffer) -> u64 {
        self.slot(buffer).busy_until
    }

    fn slot(&self, buffer: Buffer) -> &Slot {
        let slot = self.slots.get(buffer.number() as usize).and_then(Option::as_ref);
        slot.unwrap_or_else(|| panic!("{buffer:?} is used after it was freed"))
    }
}

/// Bytes that nobody refers to any more, to be used again.
#[derive(Default)]
pub(crate) struct Spare(Vec<Bytes>);

impl Spare {
    const MOST: usize = 4096;

    pub fn take(&mut self, size: usize) -> Bytes {
        self.0.pop().unwrap_or_else(|| Bytes::new(size))
    }

    pub fn give(&mut self, bytes: Bytes) {
        if self.0.len() < Self::MOST && Arc::strong_count(&bytes.0) == 1 {
            self.0.push(bytes);
        }
    }
}
