//! Order of the packets of one pair, where a link has several ways between the two: what a protocol
//! says of a packet, and the number by which a link keeps to it.
//!
//! A protocol says of each packet which others it [follows](Follows). A link that has one way does
//! with that nothing. One that has several chooses the way by it, and gives the packets that must
//! come in turn a [serial number](Serial) of its own, by which its other end tells whether one that
//! has come by one way is behind another that is still to come by another. So no link knows what a
//! protocol numbers, acknowledges or sends again.

/// Packets to the same rank that a packet must come after. Said where a link may lose packets or
/// change their order; where it is ordered, they come in the order in which they were transmitted
/// whatever is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Follows {
    /// None: it may overtake others, and others it (control, I5).
    #[default]
    Nothing,
    /// All transmitted before it that follow something, of which some may be on their way.
    Earlier,
    /// Those, all of which their receiver has taken: nothing is on its way.
    Taken,
    /// Those of [`Follows::Earlier`], and a copy of this packet that is taken for lost.
    Lost,
}

/// Number that a link gives a packet among those to one rank that must come in turn; none where it
/// has one way. It goes round (RFC 1982).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Serial(u16);

impl Serial {
    /// No number.
    pub const NONE: Serial = Serial(0);
    /// The first number.
    pub const FIRST: Serial = Serial(1);
    /// Number of numbers: what fits beside a flag.
    const COUNT: u16 = 0x7fff;

    /// The number in these bits, of which the uppermost is none of its.
    #[inline]
    pub(crate) const fn from_bits(bits: u16) -> Self {
        Serial(bits & Self::COUNT)
    }

    /// The number as 15 bits.
    #[inline]
    pub(crate) const fn to_bits(self) -> u16 {
        self.0
    }

    /// True if it is a number.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// The number after this one.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        if self.0 == Self::COUNT { Serial::FIRST } else { Serial(self.0 + 1) }
    }

    /// True if this number is after `other`, less than half of all numbers away.
    #[inline]
    pub const fn is_after(self, other: Self) -> bool {
        let ahead = (self.0 + Self::COUNT - other.0) % Self::COUNT;
        ahead > 0 && ahead <= Self::COUNT / 2
    }
}

#[cfg(test)]
mod tests;
