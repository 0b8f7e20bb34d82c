//! Atomic operations on shared variables (thesis 3.8), and the words of the packet that asks for
//! one: three of 64 bits, of which only a compare-and-swap sends the third.
//!
//! ```text
//! bits 0         16          24       64        128        192
//!      ┌──────────┬───────────┬────────┬─────────┬──────────┐
//!      │ variable │ operation │ zeros  │ operand │ expected │
//!      └──────────┴───────────┴────────┴─────────┴──────────┘
//! ```
//! The number of a fetch-and-add is 0, so that its first word is that of its variable. The answer
//! has the value before in its first word.

/// Words of the longest packet that asks for an operation.
pub type Words = [u64; 3];

/// Bytes of all of these.
pub const WORDS_BYTES: usize = size_of::<Words>();

/// Place of the number of the operation in the first word.
const OPERATION_AT: u32 = 16;

/// Number of variables of each rank: one for each number that fits the first word.
pub const VARIABLES: usize = 1 << OPERATION_AT;

/// Atomic operation on a variable of 64 bits. Each returns the value before.
///
/// All operations on a variable, of all ranks, take place one after the other, each between its
/// call and its return.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atomic {
    /// Addition, which goes round.
    Add(u64),
    /// Replacement by this value.
    Swap(u64),
    /// Replacement of one value by another; any other value stays.
    CompareSwap {
        /// The value to replace.
        expected: u64,
        /// The value to replace it by.
        new: u64,
    },
    /// The smaller of the value and this.
    Min(u64),
    /// The larger of the value and this.
    Max(u64),
    /// The bits that are set in both.
    And(u64),
    /// The bits that are set in either.
    Or(u64),
    /// The bits that are set in one of the two.
    Xor(u64),
}

impl Atomic {
    /// The value after the operation, if it was `old` before.
    #[inline]
    pub fn apply(self, old: u64) -> u64 {
        match self {
            Atomic::Add(amount) => old.wrapping_add(amount),
            Atomic::Swap(new) => new,
            Atomic::CompareSwap { expected, new } => {
                if old == expected {
                    new
                } else {
                    old
                }
            }
            Atomic::Min(value) => old.min(value),
            Atomic::Max(value) => old.max(value),
            Atomic::And(mask) => old & mask,
            Atomic::Or(mask) => old | mask,
            Atomic::Xor(mask) => old ^ mask,
        }
    }

    /// Size in the header of a request, in bytes: 0 stands for two words.
    #[inline]
    pub fn size(self) -> u16 {
        match self {
            Atomic::CompareSwap { .. } => WORDS_BYTES as u16,
            _ => 0,
        }
    }

    /// Words of the request for this operation on `variable`.
    #[inline]
    pub fn to_words(self, variable: u16) -> Words {
        let (operation, operand, expected) = match self {
            Atomic::Add(amount) => (0, amount, 0),
            Atomic::Swap(new) => (1, new, 0),
            Atomic::CompareSwap { expected, new } => (2, new, expected),
            Atomic::Min(value) => (3, value, 0),
            Atomic::Max(value) => (4, value, 0),
            Atomic::And(mask) => (5, mask, 0),
            Atomic::Or(mask) => (6, mask, 0),
            Atomic::Xor(mask) => (7, mask, 0),
        };
        [u64::from(variable) | operation << OPERATION_AT, operand, expected]
    }

    /// The variable and the operation that a request with these words is for.
    ///
    /// # Errors
    /// The first word, if it is that of no operation.
    #[inline]
    pub fn parse(words: Words) -> Result<(u16, Atomic), u64> {
        let [first, operand, expected] = words;
        let operation = match first >> OPERATION_AT {
            0 => Atomic::Add(operand),
            1 => Atomic::Swap(operand),
            2 => Atomic::CompareSwap { expected, new: operand },
            3 => Atomic::Min(operand),
            4 => Atomic::Max(operand),
            5 => Atomic::And(operand),
            6 => Atomic::Or(operand),
            7 => Atomic::Xor(operand),
            _ => return Err(first),
        };
        Ok((first as u16, operation))
    }
}

/// Bytes of these words, of which the body of a packet is the first
/// [`body_bytes`](crate::envelope::body_bytes).
#[inline]
pub fn to_bytes(words: Words) -> [u8; WORDS_BYTES] {
    std::array::from_fn(|at| words[at / 8].to_le_bytes()[at % 8])
}

/// Words of which the body of a packet has the first ones; the others are 0.
#[inline]
pub fn from_bytes(body: &[u8]) -> Words {
    let mut words = [0; 3];
    for (word, bytes) in words.iter_mut().zip(body.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

#[cfg(test)]
mod tests;
