//! Hints about packets that are launched next, for links that send several at the price of one.

use crate::Packets;
use crate::presence::coalescing::FlushHint;

impl Packets {
    /// Holds packets that are launched from here on, because more follow at once: until the first
    /// launch after `hold(false)`, and until some thread polls at the latest.
    #[inline]
    pub fn hold(&self, held: bool) {
        self.handle.node.attendance().hint.set(if held {
            FlushHint::More
        } else {
            FlushHint::Last
        });
    }

    /// Launches packets that nobody waits for: they leave with the next that `launch` did not, when
    /// some thread polls, or after 0.2 ms; after 6 ms where a timer is dear to set.
    pub fn aside<T>(&self, launch: impl FnOnce() -> T) -> T {
        let hint = &self.handle.node.attendance().hint;
        let before = hint.get();
        hint.set(FlushHint::Aside);
        let launched = launch();
        hint.set(before);
        launched
    }
}
