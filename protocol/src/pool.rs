//! The receive buffers that an NI shares out among all senders, where windows follow demand.
//!
//! This is only arithmetic: who has how many of them, who waits for some, whom to ask for some
//! back. What is sent because of it is in [`crate::windows`].

use crate::settings::Adaptive;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use weft_wire::Rank;

/// One in so many requests looks for credits that lie idle, though the sender has its share: what
/// was taken once is not kept for ever by those who need it no more.
const LOOKS_FOR_IDLE: u64 = 64;

/// The buffers of one NI beyond those that each sender has anyway.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    floor: u16,
    most: u16,
    buffers: u32,
    free: u32,
    /// Requests so far.
    requests: u64,
    /// Senders with credits beyond the floor, or that wait for some.
    shares: BTreeMap<Rank, Share>,
    /// Senders that wait for what others are asked for, the first to be served first.
    hungry: VecDeque<Rank>,
}

/// Part of the pool that one sender has.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    /// Credits beyond the floor.
    extra: u16,
    /// The request after which it was last known to need them.
    needed: u64,
    /// Those of them that it was asked for and has not answered about. They are not taken
    /// otherwise.
    recalled: Option<u16>,
    /// Those that are kept as they come back.
    to_keep: u16,
    /// True if it is among the hungry.
    waits: bool,
}

impl Pool {
    /// All free, in windows of `most` packets at most.
    pub fn new(adaptive: &Adaptive, most: u16) -> Self {
        let Adaptive { floor_packets: floor, pool_packets: buffers } = *adaptive;
        let (shares, hungry) = (BTreeMap::new(), VecDeque::new());
        Pool { floor, most, buffers, free: buffers, requests: 0, shares, hungry }
    }

    /// Buffers that no sender has.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Credits that `sender` has beyond the floor.
    pub fn extra(&self, sender: Rank) -> u16 {
        self.shares.get(&sender).map_or(0, |share| share.extra)
    }

    /// Senders that have credits beyond the floor, or wait for some.
    pub fn sharers(&self) -> usize {
        self.shares.len()
    }

    /// `sender` could use more. Returns the credits that it gets now: as many as it has, so that a
    /// few round trips open a whole window, if the pool has one.
    pub fn request(&mut self, sender: Rank) -> u16 {
        self.requests += 1;
        let needed = self.requests;
        if let Some(share) = self.shares.get_mut(&sender) {
            share.needed = needed;
        }
        self.grant(sender)
    }

    /// The sender to ask for credits, now that `sender` was refused some: the one that has needed
    /// them least lately, if `sender` has less than its share of the pool. It waits for them then.
    pub fn next_victim(&mut self, sender: Rank) -> Option<Rank> {
        let share = self.shares.get(&sender).copied();
        let extra = share.map_or(0, |share| share.extra);
        let fair = self.fair_share(self.shares.len() + usize::from(share.is_none()));
        let looks = self.requests.is_multiple_of(LOOKS_FOR_IDLE);
        if self.floor + extra >= self.most || !(looks || extra < fair) {
            return None;
        }
        let others = self.shares.iter().filter(|(rank, _)| **rank != sender);
        let able = others.filter(|(_, share)| share.recalled.is_none() && share.extra > 0);
        let (&victim, _) = able.min_by_key(|(rank, share)| (share.needed, **rank))?;
        let share = self.shares.entry(sender).or_default();
        if !std::mem::replace(&mut share.waits, true) {
            self.hungry.push_back(sender);
        }
        Some(victim)
    }

    /// Takes up to `most` of the credits that `sender` has beyond the floor, which are known to be
    /// free. Returns their number.
    pub fn take(&mut self, sender: Rank, most: u16) -> u16 {
        let credits = self.extra(sender).min(most);
        self.shrink(sender, credits);
        credits
    }

    /// `victim` is asked for all that it has beyond the floor. Returns how many these are, if any.
    pub fn recall(&mut self, victim: Rank) -> Option<u16> {
        let needed = self.requests;
        let share = self.shares.get_mut(&victim)?;
        debug_assert!(share.recalled.is_none(), "a sender is asked once at a time");
        *share = Share { needed, recalled: Some(share.extra), to_keep: 0, ..*share };
        share.recalled
    }

    /// `sender` hands `credits` back; true if it was asked for that number. If it keeps more than
    /// its share while others wait, it loses the rest as packets come.
    pub fn returned(&mut self, sender: Rank, credits: u16) -> bool {
        let Some(share) = self.shares.get_mut(&sender) else { return false };
        if share.recalled.is_none_or(|recalled| credits > recalled) {
            return false;
        }
        share.recalled = None;
        self.shrink(sender, credits);
        let fair = self.fair_share(self.shares.len());
        let starved = self.free == 0 && !self.hungry.is_empty();
        if let Some(share) = self.shares.get_mut(&sender).filter(|_| starved) {
            share.to_keep = share.extra.saturating_sub(fair);
        }
        true
    }

    /// Notes that a packet of `sender` has left its buffer. True if the pool keeps that.
    pub fn keeps(&mut self, sender: Rank) -> bool {
        match self.shares.get_mut(&sender) {
            Some(share) if share.to_keep > 0 => {
                self.shrink(sender, 1);
                true
            }
            _ => false,
        }
    }

    /// A sender that has waited, and the credits that it gets.
    pub fn serve(&mut self) -> Option<(Rank, u16)> {
        while self.free > 0 {
            let sender = self.hungry.pop_front()?;
            if let Some(share) = self.shares.get_mut(&sender) {
                share.waits = false;
            }
            let credits = self.grant(sender);
            self.shrink(sender, 0);
            if credits > 0 {
                return Some((sender, credits));
            }
        }
        None
    }

    /// True if `sender` was asked for credits and has not answered.
    pub fn is_recalled(&self, sender: Rank) -> bool {
        self.shares.get(&sender).is_some_and(|share| share.recalled.is_some())
    }

    fn grant(&mut self, sender: Rank) -> u16 {
        let share = self.shares.get(&sender).copied().unwrap_or_default();
        let has = self.floor + share.extra;
        let free = u16::try_from(self.free).unwrap_or(u16::MAX);
        let credits = has.min(self.most - has).min(free);
        if credits == 0 || share.to_keep > 0 {
            return 0;
        }
        self.free -= u32::from(credits);
        let (extra, needed) = (share.extra + credits, self.requests);
        self.shares.insert(sender, Share { extra, needed, ..share });
        credits
    }

    fn shrink(&mut self, sender: Rank, credits: u16) {
        let Some(share) = self.shares.get_mut(&sender) else { return };
        share.extra -= credits;
        share.to_keep = share.to_keep.saturating_sub(credits);
        debug_assert!(share.recalled.is_none_or(|recalled| recalled <= share.extra));
        self.free += u32::from(credits);
        if share.extra == 0 && share.recalled.is_none() && !share.waits {
            self.shares.remove(&sender);
        }
    }

    /// Part of the pool that each sender would have if all `sharers` had the same.
    fn fair_share(&self, sharers: usize) -> u16 {
        u16::try_from(self.buffers as usize / sharers.max(1)).unwrap_or(u16::MAX)
    }
}

/// By what it does from here on: of requests, only their order matters, and when one looks for idle
/// credits next.
impl Hash for Pool {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Pool { floor: _, most: _, buffers: _, free, requests, shares, hungry } = self;
        (free, requests % LOOKS_FOR_IDLE, hungry).hash(state);
        let mut by_need: Vec<_> = shares.iter().collect();
        by_need.sort_by_key(|(rank, share)| (share.needed, **rank));
        for (rank, Share { extra, needed: _, recalled, to_keep, waits }) in by_need {
            (rank, extra, recalled, to_keep, waits).hash(state);
        }
    }
}

#[cfg(test)]
mod tests;
