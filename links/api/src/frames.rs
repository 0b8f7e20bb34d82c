//! Frames that others read where they are.

use crate::Buffer;
use weft_wire::Rank;

/// Frames in memory that others read, or that are few, so that a receiver must not keep one for
/// long.
pub trait SharedFrames {
    /// Registers `readers`, who will get `size` bytes of `buffer`, some of them from a forwarder.
    /// Must be called before the first [`crate::Link::transmit`] of a frame that others forward.
    fn share(&mut self, buffer: Buffer, size: u16, readers: &[Rank]);

    /// Moves a received frame of `size` bytes out of the memory of its sender, so that the sender
    /// may use it again, and returns its new buffer. The frame must not be on its way to others.
    fn detach(&mut self, buffer: Buffer, size: u16) -> Buffer;

    /// Releases all that `reader` reads or was to read: it has ended, and nothing is shared with it
    /// any more.
    fn forget_reader(&mut self, reader: Rank);
}
