//! Messages of a search. The checks are beside the parsers; the game is one whose positions are any
//! four bytes but those with the highest bit set.

pub use weft_search::fuzzing::jobs_and_counters;
use weft_search::{Game, fuzzing};

/// Requests, answers and cuts of a search for values.
pub fn items(data: &[u8]) {
    fuzzing::items::<Four>(data);
}

/// A position of four bytes.
#[derive(Clone, Copy)]
struct Four([u8; 4]);

impl Game for Four {
    type Moves = std::iter::Empty<u8>;

    const BYTES: usize = 4;
    const GRAIN: u16 = 0;
    const MOST: i16 = 300;

    fn moves(&self) -> Self::Moves {
        std::iter::empty()
    }

    fn play(&self, _by: u8) -> Self {
        *self
    }

    fn value(&self) -> i16 {
        0
    }

    fn hash(&self) -> u64 {
        u64::from(u32::from_le_bytes(self.0))
    }

    fn encode(&self, into: &mut [u8]) {
        into.copy_from_slice(&self.0);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; 4] = bytes.try_into().ok()?;
        (bytes[3] < 0x80).then_some(Four(bytes))
    }
}
