//! Wrapper that loses and duplicates outgoing frames, from one seed.

use super::delegate;
use crate::{Capabilities, Link, Payload};
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
pub struct Faults<L> {
    inner: L,
    plan: FaultPlan,
    state: u64,
    capabilities: Capabilities,
}

impl<L: Link> Faults<L> {
    /// Applies the faults of `plan` to what `inner` transmits.
    pub fn new(inner: L, plan: FaultPlan) -> Self {
        let capabilities =
            Capabilities { lossless: false, ordered: false, ..*inner.capabilities() };
        Faults { inner, plan, state: plan.seed, capabilities }
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

impl<L: Link> Link for Faults<L> {
    delegate!(surroundings, receive, words);

    const LOSSY: bool = true;

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
