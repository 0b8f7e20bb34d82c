//! Turns of the two links at a rank for which both have packets.
//!
//! A rank near by has no advantage over one far away: in the long run each link has as many turns
//! as ranks send over it. What the far link has at hand has its turn at once; a look for more may
//! be a system call, and is made when the near link has nothing, after a look that found something,
//! or once in [`LOOKS`] receives.

/// Receives among which one begins with a look at the far link, however much the near one has.
const LOOKS: u8 = 16;
/// Packets of the near link since the far one's last, after which that is taken for quiet, ...
const RUN: u8 = 32;
/// ... and receives that find nothing near of which one looks at it then.
const QUIET_LOOKS: u8 = 4;

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
    /// Packets of the near link since the far one's last, or [`RUN`].
    run: u8,
    /// Receives that found nothing near since the last of them that looked further.
    near_only: u8,
}

impl Turns {
    /// Turns of links over which so many ranks send.
    pub fn new(near: usize, far: usize) -> Self {
        Turns {
            near: near as i32,
            far: far as i32,
            due: 0,
            looks: 0,
            found: false,
            run: 0,
            near_only: 0,
        }
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

    /// True if a receive that found nothing near leaves it at that.
    #[inline]
    pub fn leaves_far(&mut self) -> bool {
        if self.run < RUN {
            return false;
        }
        self.near_only = (self.near_only + 1) % QUIET_LOOKS;
        self.near_only != 0
    }

    /// True if the near link has its turn, whatever the far one has at hand, and a look at that is
    /// not due yet.
    #[inline]
    pub fn are_near(&self) -> bool {
        self.near > 0 && self.due <= 0 && self.run < RUN && self.looks + 1 < LOOKS
    }

    /// Counts a look at the near link while [it has its turn](Self::are_near).
    #[inline]
    pub fn looked_near(&mut self) {
        self.looks += 1;
    }

    /// Counts a packet of the near link.
    #[inline]
    pub fn took_near(&mut self) {
        self.run = (self.run + 1).min(RUN);
        self.due = (self.due + self.far).min(self.far * i32::from(LOOKS));
    }

    /// Counts a packet of the far link.
    #[inline]
    pub fn took_far(&mut self) {
        self.due = (self.due - self.near).max(-self.near * i32::from(LOOKS));
        self.found = true;
        self.run = 0;
    }

    /// Notes that the far link had nothing.
    #[inline]
    pub fn missed_far(&mut self) {
        self.found = false;
    }
}

#[cfg(test)]
mod tests;
