//! NIs as values: a hash of an NI's state, for explorations of all states.
//!
//! Two NIs hash alike if they do the same from here on. Counters are left out, values that never
//! change, and places in tables.

use crate::actions::Delivery;
use crate::base::Base;
use crate::flows::Flows;
use crate::groups::Groups;
use crate::multicast::Multicast;
use crate::ni::Ni;
use crate::router::Router;
use crate::slab::{Key, Slab};
use crate::traffic::Traffic;
use std::hash::{Hash, Hasher};

// Without `..` in these, so that a new field is hashed or left out on purpose.

impl<B: Clone + Hash + Ord> Hash for Ni<B> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Ni { router: Router { traffic, multicast, told_lost }, checks: _ } = self;
        (traffic, multicast, told_lost).hash(state);
    }
}

impl<B: Clone + Hash + Ord> Hash for Traffic<B> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Traffic { flows, windows, recoveries, holders, atomics, leaving, buried } = self;
        (flows, windows, recoveries, holders, atomics, leaving, buried).hash(state);
    }
}

impl<B: Clone + Hash> Hash for Flows<B> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Flows { base, peers, receive_buffers, send_pool, timers, expirations } = self;
        (base, receive_buffers, send_pool, timers, expirations).hash(state);
        peers.hash_all(state);
    }
}

impl Hash for Base {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Base {
            local,
            settings: _,
            now,
            counters: _,
            #[cfg(feature = "planted")]
                planted: _,
        } = self;
        (local, now).hash(state);
    }
}

impl<B: Hash> Hash for Multicast<B> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Multicast { groups, early } = self;
        (groups, early).hash(state);
    }
}

/// All ranks create the same groups, so their number says which there are.
impl Hash for Groups {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
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
    /// (I4). There is no `Clone`: only explorations have a second NI to release to.
    pub fn for_cloned_ni(&self) -> Self {
        Delivery { ..*self }
    }
}
