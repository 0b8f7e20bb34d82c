//! Which receive buffers a rank has, and what may be done to them: the decisions, without any memory.
//!
//! A connection's number is the place of its buffer in a table, so that finding it is an index and one comparison
//! (sender-based-protocols 4), and how often the place was used before, so that a packet for a connection that was
//! closed finds no other.

use super::Rights;
use weft_wire::Rank;
use weft_wire::place::{Kind, PlaceHeader, Refusal};

/// Receive buffers that a rank can have at once.
const LIMIT: usize = 1 << 16;

/// The receive buffers of a rank; `B` is what a buffer is to whoever holds the memory.
pub(crate) struct Table<B> {
    places: Vec<Place<B>>,
    free: Vec<u16>,
}

struct Place<B> {
    /// How many buffers were here before.
    generation: u16,
    buffer: Option<Admitted<B>>,
}

/// A buffer that its rank has offered.
pub(crate) struct Admitted<B> {
    /// Who may use it: this rank, or whoever knows the number.
    pub peer: Option<Rank>,
    pub bytes: usize,
    pub rights: Rights,
    /// Whether the peer has taken the offer, and not closed the connection since.
    pub open: bool,
    pub buffer: B,
}

impl<B> Default for Table<B> {
    fn default() -> Self {
        Table { places: Vec::new(), free: Vec::new() }
    }
}

impl<B> Table<B> {
    /// Offers a buffer to `peer`; the connection's number, or `None` if the table is full.
    pub fn offer(&mut self, peer: Rank, bytes: usize, rights: Rights, buffer: B) -> Option<u32> {
        self.add(Admitted { peer: Some(peer), bytes, rights, open: false, buffer })
    }

    /// Opens a buffer to puts of whoever knows the number, as above.
    pub fn open(&mut self, bytes: usize, buffer: B) -> Option<u32> {
        self.add(Admitted { peer: None, bytes, rights: Rights::PUT, open: true, buffer })
    }

    /// Whether there is no place left.
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.places.len() == LIMIT
    }

    fn add(&mut self, admitted: Admitted<B>) -> Option<u32> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.places.len() < LIMIT => {
                self.places.push(Place { generation: 0, buffer: None });
                (self.places.len() - 1) as u16
            }
            None => return None,
        };
        let place = &mut self.places[usize::from(index)];
        place.buffer = Some(admitted);
        Some(u32::from(place.generation) << 16 | u32::from(index))
    }

    /// Takes a buffer back, if it is still there. From here on nothing finds it.
    pub fn withdraw(&mut self, connection: u32) -> Option<Admitted<B>> {
        let place = self.places.get_mut(usize::from(connection as u16))?;
        if place.generation != (connection >> 16) as u16 {
            return None;
        }
        let buffer = place.buffer.take()?;
        // A place whose numbers are used up stays empty: a late packet must not find another buffer.
        if let Some(next) = place.generation.checked_add(1) {
            place.generation = next;
            self.free.push(connection as u16);
        }
        Some(buffer)
    }

    /// The buffer of `connection`, if it is one that `from` may use.
    pub fn find(&mut self, from: Rank, connection: u32) -> Result<&mut Admitted<B>, Refusal> {
        let place = self.places.get_mut(usize::from(connection as u16));
        let place = place.ok_or(Refusal::NoConnection)?;
        let generation = (connection >> 16) as u16;
        match &mut place.buffer {
            Some(admitted)
                if place.generation == generation
                    && admitted.peer.is_none_or(|peer| peer == from) =>
            {
                Ok(admitted)
            }
            None if place.generation == generation => Err(Refusal::Closed),
            _ if place.generation > generation => Err(Refusal::Closed),
            _ => Err(Refusal::NoConnection),
        }
    }

    /// The buffer that a packet of `from` with `size` bytes behind its header may be placed in, or is to be
    /// read from, and the range. Everything is checked before the first byte is placed.
    #[inline]
    pub fn admit(
        &mut self,
        from: Rank,
        header: &PlaceHeader,
        size: usize,
    ) -> Result<(&mut Admitted<B>, usize), Refusal> {
        let admitted = self.find(from, header.connection)?;
        let (length, right) = match header.kind {
            // Nothing is asked for but that all before it is done.
            Kind::Get if header.length == 0 => (0, true),
            Kind::Get => (header.length as usize, admitted.rights.get),
            _ => (size, admitted.rights.put),
        };
        let at = usize::try_from(header.offset).map_err(|_| Refusal::Bounds)?;
        let inside = at.checked_add(length).is_some_and(|end| end <= admitted.bytes);
        // The bytes that the notification names were all put before, or with it.
        let whole = header.kind != Kind::PutNotify
            || (header.length as usize >= size && at + size >= header.length as usize);
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
