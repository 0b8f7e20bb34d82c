//! End of a script: all that is due is done, and the NI comes to rest.

use super::Bench;
use super::ledger::Numbers;
use weft_protocol::{Adaptive, PacketBody};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Answers of peers, at most, until nothing is due any more.
const ANSWERS: usize = 2000;

impl Bench {
    /// The host releases everything, the peers answer everything: nothing is left.
    pub(super) fn come_to_rest(&mut self) {
        self.create_group();
        for _ in 0..ANSWERS {
            self.host_finishes();
            if self.over {
                return;
            }
            if self.settings.preset.is_optimistic() {
                // A peer that did not ask has its acknowledgement in time, and a place for its
                // answer.
                self.advance_to_deadline();
            }
            let Some((header, body)) = self.answer() else { break };
            self.receives(header, body);
            self.check();
        }
        assert_eq!(self.answer(), None, "peers answered, and yet: {:?}", self.ni);
        self.run_timers_out();
        assert!(self.ni.observe().is_idle(), "everything was returned, and yet: {:?}", self.ni);
        assert_eq!(self.ni.observe().shared_buffers(), 0);
        assert!(self.host.gave_everything_back());
        for peer in self.host.ledger.peers() {
            let (held, blocked) = self.ni.observe().outgoing(peer);
            assert_eq!(blocked, 0);
            match self.settings.adaptive {
                None => assert_eq!(held, self.ni.observe().window(peer)),
                Some(Adaptive { floor_packets, .. }) => assert!(held >= floor_packets),
            }
            assert_eq!(self.ni.observe().incoming(peer).0, 0);
            let &Numbers { expected, told, .. } = &self.host.ledger.pair(peer).numbers;
            assert_eq!(told, expected, "what {peer:?} sent was not acknowledged");
        }
    }

    fn host_finishes(&mut self) {
        while !self.over && !self.host.deferred.is_empty() {
            self.host_receives();
        }
        while !self.host.delivered.is_empty() {
            self.process();
        }
        while !self.host.kept.is_empty() {
            self.release_kept(0);
        }
    }

    /// Answer that some peer owes.
    fn answer(&self) -> Option<(Header, PacketBody<u64>)> {
        let from = |tag, peer| self.from(tag, peer);
        let ledger = &self.host.ledger;
        let owes = |peer: Rank| {
            let pair = ledger.pair(peer);
            if self.is_careful() {
                if pair.credits.asked.is_some() {
                    return Some(from(Tag::Return, peer));
                }
                let credits = u16::try_from(pair.credits.spent()).unwrap_or(0);
                return (credits > 0).then(|| Header { credits, ..from(Tag::Credit, peer) });
            }
            // A peer that had no room has some now.
            let stopped = self.ni.observe().outgoing(peer).0 < self.ni.observe().window(peer);
            let owes = pair.numbers.next > pair.numbers.acknowledged || stopped;
            owes.then(|| from(Tag::Acknowledge, peer))
        };
        let clear = || {
            let &(child, owner) = ledger.channels.below.first()?;
            Some(self.clear(child, owner))
        };
        let flow_control = ledger.peers().find_map(owes).or_else(clear);
        if let Some(header) = flow_control {
            return Some((header, PacketBody::Empty));
        }
        self.host.fetching.map(|home| (from(Tag::FaReply, home), PacketBody::Fetched(0)))
    }

    /// The next packet of `peer`, which has got all that was sent to it.
    fn from(&self, tag: Tag, peer: Rank) -> Header {
        let numbers = &self.host.ledger.pair(peer).numbers;
        let header = Header::new(tag, peer, TreeId::unicast(peer), 0);
        Header { sequence: numbers.expected, acknowledgement: numbers.next, ..header }
    }

    fn run_timers_out(&mut self) {
        for _ in 0..self.settings.ranks {
            self.advance_to_deadline();
            self.check();
        }
        assert_eq!(self.ni.next_deadline(), None, "a timer runs for nothing");
    }
}
