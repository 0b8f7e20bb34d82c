//! Plain packets, accepted from the link as they lie there.

use crate::Result;
use crate::ni::inner::Inner;
use crate::ni::offloaded::Side;
use std::sync::atomic::Ordering;
use weft_link::{Buffer, Link, Plain, ShortPackets};
use weft_protocol::{Delivery, Looked};
use weft_wire::{Rank, TreeId};

impl<L: Link> Inner<L> {
    /// Accepts a plain packet; true if `look` is done with it. `None` if its sender broke the
    /// protocol, for which this rank fails.
    #[inline(always)]
    pub fn accept_plain(
        &mut self,
        plain: &Plain,
        frame: Option<Buffer>,
        look: impl FnOnce() -> bool,
    ) -> Option<bool> {
        let Plain { source, size, credits, .. } = *plain;
        match self.ni.received_plain(source, size, credits, look) {
            Ok(looked) => {
                if looked.is_done
                    && let Some(frame) = frame
                {
                    self.link.free(frame);
                }
                if looked.is_unsettled {
                    self.settle(source, looked);
                }
                // A check that fails is found by the next call.
                if self.ni.count_plain()
                    && let Err(broken) = self.ni.check_invariants()
                {
                    self.fail_with(broken.into());
                }
                Some(looked.is_done)
            }
            Err(violation) => {
                self.fail_with(violation.into());
                None
            }
        }
    }

    /// Releases a short packet from `source`.
    #[inline(always)]
    pub fn release_plain(&mut self, source: Rank) {
        let looked = self.ni.released_plain(source);
        if looked.is_unsettled {
            self.settle(source, looked);
        }
    }

    #[cold]
    #[inline(never)]
    pub fn settle(&mut self, source: Rank, looked: Looked) {
        let (ni, mut out) = self.split(Side::Host);
        ni.settle(source, looked, &mut out);
    }

    /// Has a plain packet go the long way.
    #[cold]
    pub fn queue_plain(&mut self, plain: &Plain, frame: Option<Buffer>) -> Result<()> {
        if self.accept_plain(plain, frame, || false).is_none() {
            return self.check_failure();
        }
        let buffer = match (frame, L::SHORT) {
            (Some(frame), _) => frame,
            (None, Some(short)) => short.store(&mut self.link, plain),
            (None, None) => unreachable!("a link without short packets has received none"),
        };
        let tree = TreeId::unicast(plain.source).of(plain.protocol);
        self.pending.push_back(Delivery::accepted(buffer, plain.size, tree));
        self.is_busy.store(true, Ordering::Relaxed);
        Ok(())
    }
}
