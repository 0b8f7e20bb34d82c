//! Objects of a job by numbers that are used again, and never name two of them.

use crate::refusal::{Refusal, Result};
use std::num::NonZero;

/// Number of an object: its place, and above that the place's generation, which begins at 1. In
/// one word, because every operation carries some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Id(NonZero<u32>);

/// Objects of one type.
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// Places that are free.
    free: Vec<u16>,
}

struct Slot<T> {
    generation: u16,
    object: Option<T>,
}

impl Id {
    fn new(place: u16, generation: u16) -> Option<Self> {
        NonZero::new(u32::from(generation) << 16 | u32::from(place)).map(Id)
    }

    #[inline(always)]
    fn place(self) -> usize {
        self.0.get() as usize & 0xffff
    }

    #[inline(always)]
    fn generation(self) -> u16 {
        (self.0.get() >> 16) as u16
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Keeps an object, and returns its number.
    ///
    /// # Errors
    /// [`Refusal::TOO_MANY`] beside 65,536 others.
    pub fn insert(&mut self, object: T) -> Result<Id> {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                let place = u16::try_from(self.slots.len()).map_err(|_| Refusal::TOO_MANY)?;
                self.slots.push(Slot { generation: 1, object: None });
                place
            }
        };
        let slot = &mut self.slots[usize::from(place)];
        slot.object = Some(object);
        Id::new(place, slot.generation).ok_or(Refusal::TOO_MANY)
    }

    /// The object with this number, if it is still there.
    #[inline(always)]
    pub fn get(&self, id: Id) -> Option<&T> {
        let slot = self.slots.get(id.place())?;
        slot.object.as_ref().filter(|_| slot.generation == id.generation())
    }

    /// Does what [`Self::get`] does, to change the object.
    #[inline(always)]
    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.place())?;
        slot.object.as_mut().filter(|_| slot.generation == id.generation())
    }

    /// Takes an object out: its number names nothing from here on.
    pub fn remove(&mut self, id: Id) -> Option<T> {
        self.get(id)?;
        let slot = &mut self.slots[id.place()];
        // A place without further generations is not used again.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.free.push(id.place() as u16);
        }
        slot.object.take()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.object.as_ref())
    }
}

#[cfg(test)]
mod tests;
