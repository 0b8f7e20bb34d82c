//! Ends in good order: goodbyes, and their answers.
//!
//! A provider over connections may throw away what has arrived over one, if something was sent
//! there after the other end was closed. So whoever ends waits until all that it has met have read
//! its last datagrams and said that nothing more comes from them, for a while; and says goodbye
//! over the sockets of the meeting, too, in case that takes longer.

use super::Attachment;
use crate::transport::DatagramTransport;
use std::time::{Duration, Instant};
use weft_datagram::{Device, Queues};
use weft_link::Payload;
use weft_link::bell::Bells;
use weft_wire::Rank;

/// Time that the last datagrams have to leave and be answered when the link is dropped.
const LAST_WORDS: Duration = Duration::from_millis(300);

impl<T: DatagramTransport> Attachment<T> {
    /// Says goodbye to all that were met, and has the last datagrams leave and be read: what a
    /// provider has not sent is lost with its endpoint, and what it has sent may be.
    pub(super) fn end(&mut self, queues: &mut Queues) {
        self.take_all(queues);
        queues.outgoing.answer(&mut queues.incoming.pending_answers, || self.carrier.place());
        self.send(queues);
        let ranks = (0..self.ranks).map(Rank).filter(|rank| *rank != self.own);
        let met: Vec<Rank> = ranks.filter(|rank| self.hearing.has_met(*rank)).collect();
        for to in met.iter().copied() {
            if queues.incoming.gone.contains(&to) {
                continue;
            }
            self.say_goodbye(queues, to);
            if let Some(meeting) = &mut self.meeting {
                meeting.say_goodbye(to);
            }
        }
        // Who answers from here on was told.
        self.send(queues);
        let announced = self.announce_by.as_ref().map_or_else(|| self.bells.loss(), |by| by.loss());
        let until = Instant::now() + LAST_WORDS;
        while announced.is_none() && !self.has_ended(queues, &met) && Instant::now() < until {
            self.progress();
            self.take_all(queues);
            std::thread::yield_now();
        }
    }

    fn say_goodbye(&mut self, queues: &mut Queues, to: Rank) {
        if queues.outgoing.is_full() {
            self.hand_over(queues);
        }
        if let Some(place) = self.carrier.place() {
            queues.outgoing.put_goodbye(to, place);
        }
    }

    /// Takes in what has come, which nobody reads any more.
    fn take_all(&mut self, Queues { incoming, seals, .. }: &mut Queues) {
        while let Some(received) = incoming.next(self, seals) {
            if let Payload::Buffer(buffer) = received.payload {
                incoming.free(buffer);
            }
        }
    }

    /// True if all have left, and nobody of these has anything more to say.
    fn has_ended(&self, queues: &Queues, met: &[Rank]) -> bool {
        let is_gone = |rank: &Rank| queues.incoming.gone.contains(rank);
        let mut rest = met.iter().filter(|rank| !is_gone(rank));
        self.carrier.is_flushed() && rest.all(|rank| self.carrier.is_broken(*rank))
    }
}
