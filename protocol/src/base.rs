//! Facts, time and counts of an NI, which all of its parts use.

use crate::counters::Counters;
use crate::planted::Bug;
use crate::settings::Settings;
use crate::timer::Nanoseconds;
use weft_wire::{Header, Rank, TreeId};

/// Facts about an NI, the time as it was told last, and counts of what it has done.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub local: Rank,
    pub settings: Settings,
    pub now: Nanoseconds,
    pub counters: Counters,
    #[cfg(feature = "planted")]
    pub planted: Option<(Bug, u32)>,
}

impl Base {
    pub fn new(local: Rank, settings: Settings) -> Self {
        Base {
            local,
            settings,
            now: 0,
            counters: Counters::default(),
            #[cfg(feature = "planted")]
            planted: None,
        }
    }

    /// True if `rank` is no peer.
    #[inline]
    pub fn is_foreign(&self, rank: Rank) -> bool {
        rank == self.local || rank.0 >= self.settings.ranks
    }

    /// True for the unicast tree of another rank, whose loss a peer may tell.
    pub fn is_told_of(&self, tree: TreeId) -> bool {
        tree.is_unicast_of(tree.root) && !self.is_foreign(tree.root)
    }

    #[inline]
    pub fn count_received(&mut self, header: &Header) {
        if header.tag.is_data() {
            self.counters.packets_received += 1;
            self.counters.bytes_received += u64::from(header.size);
        }
    }

    /// A data packet leaves for the first time.
    #[inline]
    pub fn count_sent(&mut self, size: u16) {
        self.counters.packets_sent += 1;
        self.counters.bytes_sent += u64::from(size);
    }

    /// True if a planted mistake is to be made now.
    #[cfg(feature = "planted")]
    pub fn strikes(&mut self, bug: Bug) -> bool {
        match &mut self.planted {
            Some((planted, 0)) if *planted == bug => {
                self.planted = None;
                true
            }
            Some((planted, left)) if *planted == bug => {
                *left -= 1;
                false
            }
            _ => false,
        }
    }

    /// False: nothing can be planted in this build.
    #[cfg(not(feature = "planted"))]
    #[inline(always)]
    pub fn strikes(&mut self, _: Bug) -> bool {
        false
    }
}
