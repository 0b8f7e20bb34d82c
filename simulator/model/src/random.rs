//! Numbers that follow from a seed (splitmix64): the same on every machine.

/// A sequence of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Generator from a seed; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The numbers of one part of something seeded: parts do not influence each other.
    pub fn part(seed: u64, part: u64) -> Self {
        let mut random = Random(seed ^ part.wrapping_mul(0xd129_0d3d_7a5b_3e4f));
        random.next();
        random
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True `per_mille` times in 1,000.
    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of `choices`, which are not empty.
    pub fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }

    fn next(&mut self) -> u64 {
        let next = mixed(self.0);
        self.0 = self.0.wrapping_add(STEP);
        next
    }
}

/// Difference of successive numbers before they are mixed.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number in which every bit depends on all bits of `number`.
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
