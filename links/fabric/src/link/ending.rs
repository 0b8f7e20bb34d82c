//! Ends in good order: goodbyes, and their answers.
//!
//! A provider over connections may throw away what has arrived over one, if something was sent
//! there after the other end was closed. So whoever ends waits until all that it has met have read
//! its last datagrams and said that nothing more comes from them, for a while; and says goodbye
//! over the sockets of the meeting, too, in case that takes longer.

use super::Fabric;
use crate::transport::Transport;
use std::time::{Duration, Instant};
use weft_link::bell::Bells;
use weft_link::{Link, Payload};
use weft_wire::Rank;

/// Time that the last datagrams have to leave and be answered when the link is dropped.
const LAST_WORDS: Duration = Duration::from_millis(300);

impl<T: Transport> Fabric<T> {
    /// Says goodbye to those who did.
    #[cold]
    pub(super) fn answer_goodbyes(&mut self) {
        let first = std::mem::replace(&mut self.answered, self.incoming.gone.len());
        for number in first..self.answered {
            self.say_goodbye(self.incoming.gone[number]);
        }
    }

    fn say_goodbye(&mut self, to: Rank) {
        if self.outgoing.is_full() {
            self.hand_over();
        }
        if let Some(place) = self.carrier.place() {
            self.outgoing.put_goodbye(to, place);
        }
    }

    /// Takes in what has come, which nobody reads any more.
    fn take_all(&mut self) {
        while let Some(received) = self.incoming.next(&mut self.carrier, &mut self.seals) {
            if let Payload::Buffer(buffer) = received.payload {
                self.free(buffer);
            }
        }
    }

    /// True if all have left, and nobody of these has anything more to say.
    fn has_ended(&self, met: &[Rank]) -> bool {
        let is_gone = |rank: &Rank| self.incoming.gone.contains(rank);
        let mut rest = met.iter().filter(|rank| !is_gone(rank));
        self.carrier.is_flushed() && rest.all(|rank| self.carrier.is_broken(*rank))
    }
}

impl<T: Transport> Drop for Fabric<T> {
    /// Says goodbye to all that were met, and has the last datagrams leave and be read: what a
    /// provider has not sent is lost with its endpoint, and what it has sent may be.
    fn drop(&mut self) {
        self.take_all();
        self.send_waiting();
        let ranks = (0..self.ranks).map(Rank).filter(|rank| *rank != self.own);
        let met: Vec<Rank> = ranks.filter(|rank| self.hearing.has_met(*rank)).collect();
        for to in met.iter().copied() {
            if self.incoming.gone.contains(&to) {
                continue;
            }
            self.say_goodbye(to);
            if let Some(meeting) = &mut self.meeting {
                meeting.say_goodbye(to);
            }
        }
        // Who answers from here on was told.
        self.answered = usize::MAX;
        self.send_waiting();
        let announced = self.announce_by.as_ref().map_or_else(|| self.bells.loss(), |by| by.loss());
        let until = Instant::now() + LAST_WORDS;
        while announced.is_none() && !self.has_ended(&met) && Instant::now() < until {
            self.progress();
            self.take_all();
            std::thread::yield_now();
        }
    }
}
