//! The shared object that ranks give their parts of the next vector to.

use serde::{Deserialize, Serialize};

/// Vectors of two iterations at once, in parts: nobody is further ahead than one.
#[derive(Serialize, Deserialize, Debug, Clone)]
pub struct Candidate {
    ranks: usize,
    slots: [Slot; 2],
}

/// Vector of an iteration.
#[derive(Serialize, Deserialize, Debug, Clone)]
struct Slot {
    iteration: u64,
    values: Vec<f64>,
    /// Ranks whose part is there.
    parts: usize,
    /// The largest change of these.
    change: f64,
}

impl Candidate {
    /// A candidate of so many values, to which so many ranks give parts.
    pub fn new(unknowns: usize, ranks: usize) -> Self {
        let slot =
            |iteration| Slot { iteration, values: vec![0.0; unknowns], parts: 0, change: 0.0 };
        Candidate { ranks, slots: [0, 1].map(slot) }
    }

    fn slot(&self, iteration: u64) -> &Slot {
        &self.slots[(iteration % 2) as usize]
    }

    fn is_whole(&self, iteration: u64) -> bool {
        let slot = self.slot(iteration);
        slot.iteration == iteration && slot.parts == self.ranks
    }
}

#[weft_object::object]
impl Candidate {
    /// Gives a part of the vector of an iteration, which begins with the value `first`, and the
    /// largest change in it. A part that does not fit breaks the object.
    #[write]
    pub fn put(&mut self, iteration: u64, first: usize, change: f64, part: &[f64]) {
        let slot = &mut self.slots[(iteration % 2) as usize];
        if slot.iteration != iteration {
            (slot.iteration, slot.parts, slot.change) = (iteration, 0, 0.0);
        }
        slot.values[first..first + part.len()].copy_from_slice(part);
        slot.parts += 1;
        slot.change = slot.change.max(change);
    }

    /// The largest change in the vector of an iteration, once all parts are there.
    #[read(when = self.is_whole(*iteration))]
    pub fn change(&self, iteration: u64) -> f64 {
        self.slot(iteration).change
    }

    /// The vector of an iteration that is whole, until somebody gives a part of the second after.
    #[read]
    pub fn values(&self, iteration: u64) -> Vec<f64> {
        self.slot(iteration).values.clone()
    }
}
