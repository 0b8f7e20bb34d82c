//! Table of a rank's receive buffers, and of what may be done to them: the decisions, without any
//! memory.
//!
//! A connection's number is the slot of its buffer in a table, so that finding it is an index and
//! one comparison (sender-based-protocols 4), and how often the slot was used before, so that a
//! packet for a connection that was closed finds no other.

use weft_wire::Rank;
use weft_wire::place::{PlaceHeader, PlaceKind, Refusal};

/// Receive buffers that a rank can have at once.
const LIMIT: usize = 1 << 16;

/// Rights that a receiver gives to the other side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rights {
    /// Put bytes into the buffer.
    pub put: bool,
    /// Get bytes from it.
    pub get: bool,
}

impl Rights {
    /// Puts only.
    pub const PUT: Rights = Rights { put: true, get: false };
    /// Gets only.
    pub const GET: Rights = Rights { put: false, get: true };
    /// Both.
    pub const BOTH: Rights = Rights { put: true, get: true };

    pub(super) fn to_word(self) -> u32 {
        u32::from(self.put) | u32::from(self.get) << 1
    }

    pub(super) fn from_word(word: u32) -> Option<Self> {
        (word < 4).then_some(Rights { put: word & 1 != 0, get: word & 2 != 0 })
    }
}

/// The receive buffers of a rank; `B` is the state of one.
pub(crate) struct Table<B> {
    slots: Vec<Slot<B>>,
    free: Vec<u16>,
}

struct Slot<B> {
    /// Number of buffers that were here before.
    generation: u16,
    buffer: Option<Admitted<B>>,
}

/// A buffer that its rank has offered.
pub(crate) struct Admitted<B> {
    /// The rank that may use it; `None` for any that knows the number.
    pub peer: Option<Rank>,
    pub bytes: usize,
    pub rights: Rights,
    /// True if the peer has taken the offer, and not closed the connection since.
    pub open: bool,
    pub buffer: B,
}

impl<B> Default for Table<B> {
    fn default() -> Self {
        Table { slots: Vec::new(), free: Vec::new() }
    }
}

impl<B> Table<B> {
    /// Offers a buffer to `peer`; the connection's number, or `None` if the table is full.
    pub fn offer(&mut self, peer: Rank, bytes: usize, rights: Rights, buffer: B) -> Option<u32> {
        self.add(Admitted { peer: Some(peer), bytes, rights, open: false, buffer })
    }

    /// Opens a buffer to puts of any rank that knows the number; the number, or `None` if the table
    /// is full.
    pub fn open(&mut self, bytes: usize, buffer: B) -> Option<u32> {
        self.add(Admitted { peer: None, bytes, rights: Rights::PUT, open: true, buffer })
    }

    /// True if there is no slot left.
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() == LIMIT
    }

    fn add(&mut self, admitted: Admitted<B>) -> Option<u32> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < LIMIT => {
                self.slots.push(Slot { generation: 0, buffer: None });
                (self.slots.len() - 1) as u16
            }
            None => return None,
        };
        let slot = &mut self.slots[usize::from(index)];
        slot.buffer = Some(admitted);
        Some(u32::from(slot.generation) << 16 | u32::from(index))
    }

    /// Takes a buffer back, if it is still there. From here on nothing finds it.
    pub fn withdraw(&mut self, connection: u32) -> Option<Admitted<B>> {
        let slot = self.slots.get_mut(usize::from(connection as u16))?;
        if slot.generation != (connection >> 16) as u16 {
            return None;
        }
        let buffer = slot.buffer.take()?;
        // A slot whose numbers are used up stays empty: a late packet must not find another buffer.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.free.push(connection as u16);
        }
        Some(buffer)
    }

    /// The buffer of `connection`, if it is one that `from` may use.
    pub fn find(&mut self, from: Rank, connection: u32) -> Result<&mut Admitted<B>, Refusal> {
        let slot = self.slots.get_mut(usize::from(connection as u16));
        let slot = slot.ok_or(Refusal::NoConnection)?;
        let generation = (connection >> 16) as u16;
        match &mut slot.buffer {
            Some(admitted)
                if slot.generation == generation
                    && admitted.peer.is_none_or(|peer| peer == from) =>
            {
                Ok(admitted)
            }
            None if slot.generation == generation => Err(Refusal::Closed),
            _ if slot.generation > generation => Err(Refusal::Closed),
            _ => Err(Refusal::NoConnection),
        }
    }

    /// Admits a packet of `from` with `size` bytes behind its header: the buffer that it puts into,
    /// or gets from, and the offset. Everything is checked before the first byte is copied.
    #[inline]
    pub fn admit(
        &mut self,
        from: Rank,
        header: &PlaceHeader,
        size: usize,
    ) -> Result<(&mut Admitted<B>, usize), Refusal> {
        let admitted = self.find(from, header.connection)?;
        let (length, right) = match header.kind {
            // An empty get only asks if all before it is done.
            PlaceKind::Get if header.length == 0 => (0, true),
            PlaceKind::Get => (header.length as usize, admitted.rights.get),
            _ => (size, admitted.rights.put),
        };
        let at = usize::try_from(header.offset).map_err(|_| Refusal::Bounds)?;
        let inside = at.checked_add(length).is_some_and(|end| end <= admitted.bytes);
        // The bytes that the notification names were all put before it, or with it.
        let whole = header.kind != PlaceKind::PutNotify
            || (size..=at.saturating_add(size)).contains(&(header.length as usize));
        match () {
            () if !admitted.open => Err(Refusal::NoConnection),
            () if !right => Err(Refusal::Rights),
            () if !inside => Err(Refusal::Bounds),
            () if !whole => Err(Refusal::Malformed),
            () => Ok((admitted, at)),
        }
    }
}

#[cfg(test)]
mod tests;
