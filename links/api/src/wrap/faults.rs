//! Wrapper that loses and duplicates outgoing frames, from one seed.

use super::{delegate, wrapper};
use crate::{Capabilities, Link, Network, Payload};
use std::ops::RangeInclusive;
use std::time::Duration;
use weft_wire::{Header, Rank};

/// Probabilities of faults, and their seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaultPlan {
    /// Seed of the faults: equal seeds and equal frames have equal faults.
    pub seed: u64,
    /// Probability that a frame is lost, 0 to 1.
    pub loss: f64,
    /// Probability that a frame is sent twice, 0 to 1.
    pub duplication: f64,
}

/// Inner link, with faults. It guarantees neither delivery nor order any more.
pub struct FaultyLink<L> {
    inner: L,
    plan: FaultPlan,
    state: u64,
    capabilities: Capabilities,
}

impl<L: Link> FaultyLink<L> {
    /// Applies the faults of `plan` to what `inner` transmits.
    pub fn new(inner: L, plan: FaultPlan) -> Self {
        let capabilities =
            Capabilities { lossless: false, ordered: false, ..*inner.capabilities() };
        FaultyLink { inner, plan, state: plan.seed, capabilities }
    }

    /// Random number, uniform in 0..1 (splitmix64).
    fn chance(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

wrapper!(FaultyLink);

/// Flushes and timers of a link that loses packets, whether the one inside has any or not.
#[derive(Clone, Copy, Debug)]
pub struct Lossy<T>(Option<T>);

impl<L: Link> Network<FaultyLink<L>> for Lossy<L::Network> {
    fn has_unflushed(self, link: &FaultyLink<L>) -> bool {
        self.0.is_some_and(|network| network.has_unflushed(&link.inner))
    }

    fn has_buffered(self, link: &FaultyLink<L>) -> bool {
        self.0.is_some_and(|network| network.has_buffered(&link.inner))
    }

    fn ring_upcall_within(
        self,
        link: &mut FaultyLink<L>,
        after: RangeInclusive<Duration>,
    ) -> Option<Duration> {
        self.0?.ring_upcall_within(&mut link.inner, after)
    }
}

impl<L: Link> Link for FaultyLink<L> {
    delegate!(no_short, host, frames, receive, services, no_memory);

    type Network = Lossy<L::Network>;

    const NETWORK: Option<Lossy<L::Network>> = Some(Lossy(L::NETWORK));

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        if self.chance() < self.plan.loss {
            return;
        }
        self.inner.transmit(to, header, payload);
        // A frame that readers share cannot be sent twice: each reader gives it back once.
        let shared = matches!(payload, Payload::Buffer(_))
            && usize::from(header.size) > self.capabilities.inline_payload;
        if !shared && self.chance() < self.plan.duplication {
            self.inner.transmit(to, header, payload);
        }
    }
}
