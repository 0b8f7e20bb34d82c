//! Capabilities beside frames: for each rank those of the link that packets to it go over.

use crate::link::{Mixed, Side, far_buffer};
use std::ops::RangeInclusive;
use std::time::Duration;
use weft_link::clock::Nanoseconds;
use weft_link::memory::{Lending, LentMemory, Posted, PostedHead, Posting, ZeroCopy};
use weft_link::wrap::Through;
use weft_link::{Buffer, LinkPart, Network, PathMtu, Paths, SharedFrames};
use weft_wire::Rank;

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> Network<Mixed<N, F>> for Through<F::Network> {
    #[inline]
    fn has_unflushed(self, link: &Mixed<N, F>) -> bool {
        !link.waiting.is_empty() || self.0.has_unflushed(&link.far)
    }

    #[inline]
    fn has_buffered(self, link: &Mixed<N, F>) -> bool {
        self.0.has_buffered(&link.far)
    }

    fn ring_upcall_within(
        self,
        link: &mut Mixed<N, F>,
        after: RangeInclusive<Duration>,
    ) -> Option<Duration> {
        Some(link.bridge.ring_upcall_within(after))
    }
}

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> SharedFrames for Mixed<N, F> {
    /// A rank that forwards a packet to others of its host copies it.
    fn share(&mut self, _: Buffer, _: u16, _: &[Rank]) {}

    fn detach(&mut self, buffer: Buffer, size: u16) -> Buffer {
        let detach = |frames: Option<&mut dyn SharedFrames>, buffer| match frames {
            Some(frames) => frames.detach(buffer, size),
            None => buffer,
        };
        match Side::of(buffer) {
            Side::Near(buffer) => detach(self.near.shared_frames(), buffer),
            Side::Far(buffer) => far_buffer(detach(self.far.shared_frames(), buffer)),
        }
    }

    fn forget_reader(&mut self, reader: Rank) {
        match (self.number(reader), self.near.shared_frames(), self.far.shared_frames()) {
            (Some(number), Some(near), _) => near.forget_reader(number),
            (None, _, Some(far)) => far.forget_reader(reader),
            _ => {}
        }
    }
}

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> Lending for Mixed<N, F> {
    fn lend(&mut self, buffer: Buffer, head: usize, lent: LentMemory) -> bool {
        let (lending, buffer) = match Side::of(buffer) {
            Side::Near(buffer) => (self.near.lending(), buffer),
            Side::Far(buffer) => (self.far.lending(), buffer),
        };
        lending.is_some_and(|lending| lending.lend(buffer, head, lent))
    }

    fn has_lent(&mut self, lent: LentMemory) -> bool {
        let has = |lending: Option<&mut dyn Lending>| lending.is_some_and(|l| l.has_lent(lent));
        has(self.near.lending()) || has(self.far.lending())
    }

    fn take_back(&mut self, lent: LentMemory) {
        let both = [self.near.lending(), self.far.lending()];
        both.into_iter().flatten().for_each(|lending| lending.take_back(lent));
    }
}

/// Packets of near ranks stay in these ranks' memory.
impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> Posting for Mixed<N, F> {
    fn post(&mut self, from: Rank, posted: Posted) -> bool {
        self.goes_far(from) && self.far.posting().is_some_and(|far| far.post(from, posted))
    }

    fn posted(&mut self, from: Rank, head: &PostedHead) -> usize {
        self.far.posting().map_or(0, |far| far.posted(from, head))
    }

    fn unpost(&mut self, from: Rank, head: &PostedHead) -> usize {
        self.far.posting().map_or(0, |far| far.unpost(from, head))
    }
}

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> ZeroCopy for Mixed<N, F> {
    fn reaches(&mut self, to: Rank) -> bool {
        self.goes_far(to) && self.far.zero_copy().is_some_and(|far| far.reaches(to))
    }

    fn post(&mut self, from: Rank, posted: Posted) -> bool {
        self.goes_far(from) && self.far.zero_copy().is_some_and(|far| far.post(from, posted))
    }

    fn send(&mut self, to: Rank, head: &PostedHead, lent: LentMemory) -> bool {
        self.goes_far(to) && self.far.zero_copy().is_some_and(|far| far.send(to, head, lent))
    }

    fn is_under_way(&mut self) -> bool {
        self.far.zero_copy().is_some_and(|far| far.is_under_way())
    }
}

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> Paths for Mixed<N, F> {
    fn payload_to(&self, to: Rank) -> Option<usize> {
        self.goes_far(to).then(|| self.far.capabilities().max_payload)
    }

    fn is_under_way(&mut self, to: Rank) -> bool {
        self.goes_far(to) && self.far.paths().is_some_and(|far| far.is_under_way(to))
    }

    fn tend(&mut self, now: Nanoseconds) -> Option<PathMtu> {
        self.far.paths()?.tend(now)
    }
}
