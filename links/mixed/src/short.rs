//! Short packets between ranks of one host, in a job of several.

use crate::link::Mixed;
use std::sync::Arc;
use weft_link::wrap::gathered_head;
use weft_link::{Buffer, Gather, LinkPart, NoGlance, Plain, ReceivedPlain, ShortPackets};
use weft_trace::{PacketEvent, What};
use weft_wire::{Header, Rank};

/// Short packets of the near link.
#[derive(Clone, Copy, Debug)]
pub struct NearShort<T>(pub(crate) T);

impl<N: LinkPart, F: LinkPart<Clock = N::Clock>> ShortPackets<Mixed<N, F>> for NearShort<N::Short> {
    type Glance = NoGlance;

    fn glance(_: &Mixed<N, F>) -> Arc<NoGlance> {
        Arc::default()
    }

    #[inline]
    fn are_taken_by(self, link: &Mixed<N, F>, to: Rank) -> bool {
        link.number(to).is_some_and(|number| self.0.are_taken_by(&link.near, number))
    }

    #[inline]
    fn transmit(self, link: &mut Mixed<N, F>, to: Rank, header: &Header, bytes: &impl Gather) {
        let Some(number) = link.number(to) else {
            unreachable!("packets to other hosts are not short")
        };
        link.record(|| What::Sent(PacketEvent::new(to, header, gathered_head(bytes))));
        link.waiting.retry(&mut link.near);
        if link.waiting.is_empty() {
            self.0.transmit(&mut link.near, number, header, bytes);
        } else {
            let mut gathered = vec![0; usize::from(header.size)];
            bytes.gather(&mut gathered);
            link.waiting.push_bytes(number, header, &gathered);
        }
    }

    /// None while the far link has its turn, or each packet is written down.
    #[inline]
    fn peek(self, link: &Mixed<N, F>) -> Option<Plain> {
        if link.recorder.is_some() || !link.turns.are_near() {
            return None;
        }
        self.0.peek(&link.near).map(|short| link.of_job(short))
    }

    #[inline]
    fn take(self, link: &mut Mixed<N, F>, short: &Plain) {
        link.turns.looked_near();
        link.turns.took_near();
        let short = link.of_near(short);
        self.0.take(&mut link.near, &short);
    }

    fn receive(self, link: &mut Mixed<N, F>) -> ReceivedPlain {
        link.waiting.retry(&mut link.near);
        if link.recorder.is_some() || !link.turns.are_near() {
            return ReceivedPlain::Other;
        }
        link.turns.looked_near();
        match self.0.receive(&mut link.near) {
            ReceivedPlain::Short(short) => {
                link.turns.took_near();
                ReceivedPlain::Short(link.of_job(short))
            }
            ReceivedPlain::Framed(plain, frame) => {
                link.turns.took_near();
                ReceivedPlain::Framed(link.of_job(plain), frame)
            }
            // The far link may have something.
            ReceivedPlain::Nothing | ReceivedPlain::Other => ReceivedPlain::Other,
        }
    }

    fn store(self, link: &mut Mixed<N, F>, short: &Plain) -> Buffer {
        let short = link.of_near(short);
        self.0.store(&mut link.near, &short)
    }
}
