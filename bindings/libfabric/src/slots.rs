//! Objects of a job by numbers that are used again, and never name two of them.

use crate::refusal::{Refusal, Result};
use std::num::NonZero;

/// Number of an object: its place, and above that the place's generation, which begins at 1. In
/// one word, because every operation carries some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Id(NonZero<u32>);

/// A completion queue of the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QueueId(pub Id);

/// A counter of the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CounterId(pub Id);

/// An address vector of the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VectorId(pub Id);

/// Difference between a place's numbers.
const GENERATION: u32 = 1 << 16;
/// Number that no object has: those of places begin at generation 1.
const NOBODY: Id = Id(NonZero::<u32>::MIN);

/// Objects of one type. Where none is there is the type's default.
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// Places that are free.
    free: Vec<u16>,
}

struct Slot<T> {
    /// Number of the object, or of the next one here: nobody has that yet.
    id: Id,
    object: T,
}

impl Id {
    /// Number of the first object in a place.
    fn first(place: u16) -> Self {
        Id(NonZero::<u32>::MIN.saturating_add(GENERATION - 1) | u32::from(place))
    }

    /// Number of the next object in the same place, if it has any further generation.
    fn next(self) -> Option<Self> {
        Some(Id(self.0.checked_add(GENERATION)?))
    }

    #[inline(always)]
    fn place(self) -> usize {
        self.0.get() as usize & 0xffff
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Default> Slots<T> {
    /// Keeps an object, and returns its number.
    ///
    /// # Errors
    /// [`Refusal::TOO_MANY`] beside 65,536 others.
    pub fn insert(&mut self, object: T) -> Result<Id> {
        if let Some(place) = self.free.pop() {
            let slot = &mut self.slots[usize::from(place)];
            slot.object = object;
            return Ok(slot.id);
        }
        let place = u16::try_from(self.slots.len()).map_err(|_| Refusal::TOO_MANY)?;
        let id = Id::first(place);
        self.slots.push(Slot { id, object });
        Ok(id)
    }

    /// The object with this number, if it is still there.
    #[inline(always)]
    pub fn get(&self, id: Id) -> Option<&T> {
        let slot = self.slots.get(id.place())?;
        (slot.id == id).then_some(&slot.object)
    }

    /// Object in the place of the one with this number: that one, if it is still there.
    #[inline(always)]
    pub fn at(&self, id: Id) -> &T {
        &self.slots[id.place()].object
    }

    /// Does what [`Self::get`] does, to change the object.
    #[inline(always)]
    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.place())?;
        (slot.id == id).then_some(&mut slot.object)
    }

    /// Takes an object out: its number names nothing from here on.
    pub fn remove(&mut self, id: Id) -> Option<T> {
        let object = std::mem::take(self.get_mut(id)?);
        let slot = &mut self.slots[id.place()];
        // A place without further generations is not used again.
        match id.next() {
            Some(next) => {
                slot.id = next;
                self.free.push(id.place() as u16);
            }
            None => slot.id = NOBODY,
        }
        Some(object)
    }

    /// All of them, and defaults where none is.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().map(|slot| &slot.object)
    }
}

#[cfg(test)]
mod tests;
