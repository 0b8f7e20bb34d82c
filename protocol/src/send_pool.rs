//! Send buffers of packets that nobody has acknowledged (Pupa 2.1.2, 2.2.1).

use crate::settings::Settings;

/// Send buffers of all peers together.
#[derive(Debug, Clone, Copy, Default, Hash)]
pub(crate) struct SendPool {
    /// Packets that nobody has acknowledged, to all peers.
    unacknowledged: usize,
    /// Send buffers that these take.
    taken: usize,
    /// Buffers are short: everybody is asked to acknowledge.
    short: bool,
}

impl SendPool {
    /// Packets, to whomever, that nobody has acknowledged.
    pub fn unacknowledged(&self) -> usize {
        self.unacknowledged
    }

    /// A packet leaves for the first time, and takes `buffers` of the pool.
    #[inline]
    pub fn take(&mut self, buffers: usize) {
        self.unacknowledged += 1;
        self.taken += buffers;
    }

    /// That many packets more are acknowledged; [`Self::give_back`] says what they took.
    #[inline]
    pub fn note_acknowledged(&mut self, packets: u16) {
        self.unacknowledged -= usize::from(packets);
    }

    /// A multicast packet takes so many buffers for all of its destinations.
    pub fn take_for_all(&mut self, buffers: usize) {
        self.taken += buffers;
    }

    /// That many buffers are free again.
    #[inline]
    pub fn give_back(&mut self, buffers: usize) {
        self.taken -= buffers;
    }

    /// True if more buffers are taken than the upper mark says.
    #[inline]
    pub fn are_scarce(&self, settings: &Settings) -> bool {
        self.taken >= settings.pupa.pool_marks().0
    }

    /// True while everybody is asked.
    pub fn are_short(&self) -> bool {
        self.short
    }

    /// Everybody is asked from here on. True if that is news.
    pub fn run_short(&mut self) -> bool {
        !std::mem::replace(&mut self.short, true)
    }

    /// Buffers have become free: nobody needs to be asked once they are as many as the lower mark
    /// says.
    pub fn recover(&mut self, settings: &Settings) {
        self.short &= self.taken > settings.pupa.pool_marks().1;
    }
}

#[cfg(test)]
mod tests;
