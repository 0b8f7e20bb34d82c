//! The header of an order's messages.

use crate::Result;
use crate::message::Message;
use crate::order::view::Place;
use crate::parts::Parts;

/// Header of a message: its number, and the count of numbers that its sender has consumed. Without
/// a number it is an acknowledgement and nothing else.
pub(super) struct Envelope {
    pub number: Option<u64>,
    pub consumed: u64,
}

/// Header of a message in an order that goes on after losses: its place; the count of numbers that
/// its sender has consumed, and that of which the sender knows that all members that live have
/// consumed it. Without a place it is an acknowledgement and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placed {
    pub place: Option<Place>,
    pub consumed: u64,
    pub stable: u64,
}

/// A message in its envelope.
pub(super) struct Enveloped<'a, const SIZE: usize, P: ?Sized>(pub [u8; SIZE], pub &'a P);

impl Envelope {
    pub const SIZE: usize = 16;
    const NO_NUMBER: u64 = u64::MAX;

    /// Encodes it.
    pub fn emit(&self) -> [u8; Self::SIZE] {
        let number = self.number.unwrap_or(Self::NO_NUMBER);
        (u128::from(number) | u128::from(self.consumed) << 64).to_le_bytes()
    }

    /// Takes it off a message.
    pub fn read(message: &mut Message) -> Result<Self> {
        let mut bytes = [0; Self::SIZE];
        message.read_exact(&mut bytes)?;
        Ok(Self::parse(bytes))
    }

    /// The header in these bytes.
    pub fn parse(bytes: [u8; Self::SIZE]) -> Self {
        let both = u128::from_le_bytes(bytes);
        let number = both as u64;
        let number = (number != Self::NO_NUMBER).then_some(number);
        Envelope { number, consumed: (both >> 64) as u64 }
    }
}

impl Placed {
    pub const SIZE: usize = 24;
    /// Bits of a number, below its epoch.
    const NUMBER_BITS: u32 = 48;
    const NO_PLACE: u64 = u64::MAX;

    /// Encodes it.
    pub fn emit(&self) -> [u8; Self::SIZE] {
        let place = self.place.map_or(Self::NO_PLACE, |Place { epoch, number }| {
            u64::from(epoch) << Self::NUMBER_BITS | number
        });
        let mut bytes = [0; Self::SIZE];
        let words = [place, self.consumed, self.stable];
        for (word, place) in words.iter().zip(bytes.chunks_exact_mut(8)) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Takes it off a message.
    pub fn read(message: &mut Message) -> Result<Self> {
        let mut bytes = [0; Self::SIZE];
        message.read_exact(&mut bytes)?;
        Ok(Self::parse(bytes))
    }

    /// The header in these bytes.
    pub fn parse(bytes: [u8; Self::SIZE]) -> Self {
        let mut words = bytes
            .chunks_exact(8)
            .map(|word| word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        let mut next = || words.next().unwrap_or_default();
        let (place, consumed, stable) = (next(), next(), next());
        let epoch = (place >> Self::NUMBER_BITS) as u16;
        let number = place & ((1 << Self::NUMBER_BITS) - 1);
        let place = (place != Self::NO_PLACE).then_some(Place { epoch, number });
        Placed { place, consumed, stable }
    }
}

impl<const SIZE: usize, P: Parts + ?Sized> Parts for Enveloped<'_, SIZE, P> {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(&self.0);
        self.1.for_each(visit);
    }
}
