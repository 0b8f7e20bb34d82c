//! Links that can be parts of others.

use crate::{Buffer, Link};
use weft_wire::{Header, Rank};

/// Link that can be a part of a link made of several. Frames are copied between its memory and that
/// of the other parts.
pub trait LinkPart: Link {
    /// True if `buffer` can be transmitted as it is to anybody on this link: it was allocated here,
    /// or its bytes go with the header.
    fn is_own(&self, buffer: Buffer) -> bool;

    /// Transmits `header.size` bytes that are not in memory of this link. False, and nothing was
    /// transmitted, while no frame is free for them.
    #[must_use]
    fn transmit_copy(&mut self, to: Rank, header: &Header, bytes: &[u8]) -> bool;

    /// User bytes of a packet at most that leaves with one call of the system: more than
    /// [`crate::Capabilities::max_payload`] where that cuts up what it is handed.
    fn most_payload_at_once(&self) -> usize {
        self.capabilities().max_payload
    }

    /// Allocates a buffer and fills it with `bytes`, to be transmitted to several, and then freed.
    /// `None` if a copy for each costs no more, or no frame is free.
    fn copy_in(&mut self, bytes: &[u8]) -> Option<Buffer> {
        let _ = bytes;
        None
    }

    /// True if packets wait until the system takes more of this link. A thread that sleeps must
    /// wake up then, too.
    fn wants_room(&self) -> bool {
        false
    }

    /// A descriptor that is readable while something waits beside what is found by a look at the
    /// link's arrivals, if there is such a thing: connections, of which each has its own.
    fn more_arrivals(&self) -> Option<std::io::Result<std::os::fd::OwnedFd>> {
        None
    }

    /// True if nothing has arrived, and what arrives from here on makes the descriptor readable for
    /// which whoever sleeps waits.
    fn may_sleep(&mut self) -> bool {
        !self.has_arrivals()
    }
}
