//! Names of frames.

use std::fmt;

/// Bits of a number: those above are the kind, and the mark of a layer.
const NUMBER_BITS: u32 = 56;
/// Bits of a kind.
const KIND_BITS: u32 = 2;

/// Frame in link memory, outgoing or received. It is valid until [`crate::Link::free`].
///
/// A link tells its frames apart by a number and one of four kinds, both of its own choice. A layer
/// around a link marks the frames that are not that link's own ([`Layer`]), and takes its mark off
/// before it hands a frame down.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Buffer(u64);

/// Layer around a link that has frames of its own, or hands out those of several links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Layer {
    /// Link of several: the frame is the far link's.
    Far,
    /// Link for long packets: the frame is its own.
    Bulk,
    /// Link for long packets: the frame is that of its link for runs of datagrams.
    Runs,
    /// Endpoint: the packet was copied out of link memory.
    Endpoint,
}

impl Layer {
    const fn bit(self) -> u64 {
        1 << (NUMBER_BITS + KIND_BITS + self as u32)
    }
}

impl Buffer {
    /// No frame: of a packet whose user bytes are in none.
    pub const NONE: Buffer = Buffer(u64::MAX);

    /// Kinds of frames that a link can have.
    pub const KINDS: u8 = 1 << KIND_BITS;

    /// Numbers of a kind that a link can have.
    pub const NUMBERS: u64 = 1 << NUMBER_BITS;

    /// Names a frame of the link that calls this.
    ///
    /// # Panics
    /// If `kind` is not below [`Self::KINDS`], or `number` not below [`Self::NUMBERS`].
    #[inline(always)]
    pub const fn new(kind: u8, number: u64) -> Buffer {
        assert!(kind < Self::KINDS && number < Self::NUMBERS, "a frame has one name");
        Buffer((kind as u64) << NUMBER_BITS | number)
    }

    /// Kind of a frame, as the link that named it chose.
    #[inline(always)]
    pub const fn kind(self) -> u8 {
        (self.0 >> NUMBER_BITS) as u8 & (Self::KINDS - 1)
    }

    /// Number of a frame among those of its kind.
    #[inline(always)]
    pub const fn number(self) -> u64 {
        self.0 & (Self::NUMBERS - 1)
    }

    /// Marks a frame as that of `layer`.
    ///
    /// # Panics
    /// If it is marked so already: two layers of one kind cannot be around one another.
    #[inline(always)]
    pub const fn marked(self, layer: Layer) -> Buffer {
        assert!(self.0 & layer.bit() == 0, "a frame is marked once");
        Buffer(self.0 | layer.bit())
    }

    /// Takes the mark of `layer` off; `None` if the frame has none.
    #[inline(always)]
    pub const fn unmarked(self, layer: Layer) -> Option<Buffer> {
        match self.0 & layer.bit() {
            0 => None,
            bit => Some(Buffer(self.0 & !bit)),
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Buffer::NONE {
            return f.write_str("no frame");
        }
        write!(f, "frame {} of kind {}", self.number(), self.kind())?;
        [Layer::Far, Layer::Bulk, Layer::Runs, Layer::Endpoint]
            .into_iter()
            .filter(|layer| self.unmarked(*layer).is_some())
            .try_for_each(|layer| write!(f, ", {layer:?}"))
    }
}

#[cfg(test)]
mod tests;
