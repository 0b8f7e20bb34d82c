//! The header of an order's messages.

use crate::Result;
use crate::message::Message;
use crate::parts::Parts;

/// Header of a message: its number, and the count of numbers that its sender has consumed. Without
/// a number it is an acknowledgement and nothing else.
pub(super) struct Envelope {
    pub number: Option<u64>,
    pub consumed: u64,
}

/// A message in its envelope.
pub(super) struct Enveloped<'a, P: ?Sized>(pub [u8; Envelope::SIZE], pub &'a P);

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

impl<P: Parts + ?Sized> Parts for Enveloped<'_, P> {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(&self.0);
        self.1.for_each(visit);
    }
}
