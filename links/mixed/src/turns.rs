//! Turns of the two links at a rank for which both have packets.
//!
//! A rank near by has no advantage over one far away: in the long run each link has as many turns
//! as ranks send over it. What the far link has at hand has its turn at once; a look for more may
//! be a system call, and is made when the near link has nothing, after a look that found something,
//! or once in [`LOOKS`] receives.

/// Receives among which one begins with a look at the far link, however much the near one has.
const LOOKS: u8 = 16;

/// State of the turns.
pub(crate) struct Turns {
    /// Ranks that send over the near link.
    near: i32,
    /// Ranks that send over the far link.
    far: i32,
    /// Packets of the far link that are due, in units of a near rank's share: less than 0 if it has
    /// had more than its share.
    due: i32,
    looks: u8,
    /// The last look at the far link found something: there may be more.
    found: bool,
}

impl Turns {
    /// Turns of links over which so many ranks send.
    pub fn new(near: usize, far: usize) -> Self {
        Turns { near: near as i32, far: far as i32, due: 0, looks: 0, found: false }
    }

    /// True if anybody sends over the near link.
    #[inline]
    pub fn has_near(&self) -> bool {
        self.near > 0
    }

    /// True if the far link comes first. `at_hand` says that its next packet takes no look.
    #[inline]
    pub fn is_far(&mut self, at_hand: bool) -> bool {
        self.looks = (self.looks + 1) % LOOKS;
        self.looks == 0 || ((at_hand || self.found) && self.due > 0)
    }

    /// Counts a packet of the near link.
    #[inline]
    pub fn took_near(&mut self) {
        self.due = (self.due + self.far).min(self.far * i32::from(LOOKS));
    }

    /// Counts a packet of the far link.
    #[inline]
    pub fn took_far(&mut self) {
        self.due = (self.due - self.near).max(-self.near * i32::from(LOOKS));
        self.found = true;
    }

    /// Notes that the far link had nothing.
    #[inline]
    pub fn missed_far(&mut self) {
        self.found = false;
    }
}

#[cfg(test)]
mod tests;
