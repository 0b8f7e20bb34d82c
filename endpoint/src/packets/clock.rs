//! Time of a rank, and work that takes some of it.

use crate::Packets;
use std::time::Duration;
use weft_link::clock::Work;

impl Packets {
    /// The time, counted from some point in the past: on real machines by the monotonic clock, in
    /// the simulator by this rank's virtual one.
    pub fn now(&self) -> Duration {
        self.handle.node.now()
    }

    /// Declares that this rank has computed so many operations, of a size of the program's choice.
    /// A real machine has spent the time already; in the simulator it passes here, and interrupts
    /// are taken meanwhile.
    #[inline]
    pub fn work(&self, operations: u64) {
        self.handle.node.charge(Work::Operations(operations));
    }

    /// Declares that `bytes` were copied between packets and the program's memory.
    #[inline]
    pub fn copied(&self, bytes: usize) {
        self.handle.node.charge(Work::Copy { bytes });
    }
}
