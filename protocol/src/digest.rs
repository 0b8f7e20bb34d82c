//! NIs as values: what tells one state of an NI from another, for those who explore them all.
//!
//! Two NIs hash alike if they do the same from here on. What was counted is left out, what never
//! changes, and where in a table something lies.

use crate::slab::{Key, Slab};
use crate::{Delivery, Ni};
use std::hash::{Hash, Hasher};

impl<B: Clone + Hash + Ord> Hash for Ni<B> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Without `..`, so that a new field is hashed or left out on purpose.
        let Ni {
            local,
            settings: _,
            peers,
            groups,
            early,
            host_of: _,
            holders,
            variables,
            fetching,
            recoveries,
            retransmission,
            now,
            pool,
            counters: _,
            checks: _,
            #[cfg(feature = "planted")]
                planted: _,
        } = self;
        (local, groups.len(), early, holders, fetching).hash(state);
        (recoveries, retransmission, now, pool).hash(state);
        peers.hash_all(state);
        for variable in variables.iter().enumerate().filter(|(_, value)| **value != 0) {
            variable.hash(state);
        }
    }
}

/// Whoever holds a key names the buffer beside it, and a buffer has one entry.
impl Hash for Key {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl<T: Hash + Ord> Hash for Slab<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut entries: Vec<&T> = self.iter().collect();
        entries.sort_unstable();
        entries.hash(state);
    }
}

impl<B: Copy> Delivery<B> {
    /// This delivery for a clone of the NI that made it: each of the two NIs is owed one release
    /// (I4). There is no `Clone`, because nobody else has a second NI to release to.
    pub fn for_cloned_ni(&self) -> Self {
        Delivery { ..*self }
    }
}
