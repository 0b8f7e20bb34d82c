//! Rendezvous for large messages: the sender asks, and sends when its reader reads.
//!
//! careful-protocols 3 describes NX/2: messages of up to a hundred bytes are sent at once; of a
//! longer one the receiver hears first, and its bytes come once it has made room. Section 7
//! proposes the same, so that receive memory need not grow with senders. Here the question is a
//! first packet without bytes ([`PacketKind::Request`]), which takes the message's place at its
//! port and in its flow; the answer is a control packet, which needs no window: `Grant` when a
//! reader wants bytes, `Unwanted` when it drops the message.
//!
//! A sender waits for one answer to each request, even if it gives the message up meanwhile. Two
//! ranks that ask each other before they read would wait for ever. So who waits for the answer of
//! another and is asked by it says yes at once, and memory takes the place of the rendezvous; and
//! who is stalled otherwise says yes to who has waited for long, as for windows.
//!
//! Sans-IO: what was asked and answered, here; what receivers know is in
//! [`arrivals`](super::arrivals).

use super::arrivals::UNFINISHED_LIMIT;
use super::by_rank::ByRank;
use crate::format::{PacketHeader, PacketKind};
use std::collections::BTreeMap;
use weft_endpoint::Rank;

/// A receiver's answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RequestAnswer {
    /// Send.
    Granted,
    /// Nobody will read it.
    Unwanted,
}

impl RequestAnswer {
    /// The control packet that says so of message `number` to a port.
    pub fn header(self, port: u32, number: u32) -> PacketHeader {
        let kind = match self {
            RequestAnswer::Granted => PacketKind::Grant,
            RequestAnswer::Unwanted => PacketKind::Unwanted,
        };
        PacketHeader::of_message(port, kind, number, 0)
    }
}

/// The requests of one rank that are under way, by receiver and number.
#[derive(Clone, Hash)]
pub struct Requests<W> {
    asked: BTreeMap<(Rank, u32), Request<W>>,
    /// Number of them, by receiver.
    under_way: ByRank<usize>,
}

#[derive(Clone, Hash)]
enum Request<W> {
    /// Not answered; its waiters.
    Asked(Option<W>),
    Answered(RequestAnswer),
    /// Its sender has given it up; the answer is to come all the same.
    Withdrawn,
}

impl<W> Default for Requests<W> {
    fn default() -> Self {
        Requests { asked: BTreeMap::new(), under_way: ByRank::default() }
    }
}

impl<W: Clone> Requests<W> {
    /// True if `to` may be asked about one more message. That is half of what a receiver takes,
    /// since threads may look at the same time.
    pub fn may_ask(&self, to: Rank) -> bool {
        self.under_way.get(to).is_none_or(|count| *count < UNFINISHED_LIMIT / 2)
    }

    /// The request for message `number` is about to be sent.
    pub fn ask(&mut self, to: Rank, number: u32) {
        self.asked.insert((to, number), Request::Asked(None));
        *self.under_way.entry(to) += 1;
    }

    /// It was not sent, or needs no answer any more.
    pub fn forget(&mut self, to: Rank, number: u32) {
        if self.asked.remove(&(to, number)).is_some() {
            *self.under_way.entry(to) -= 1;
        }
    }

    /// Notes an answer. Returns the waker of who waited for it; `None` if nobody had asked.
    pub fn answered(
        &mut self,
        from: Rank,
        number: u32,
        answer: RequestAnswer,
    ) -> Option<Option<W>> {
        let request = self.asked.get_mut(&(from, number))?;
        match request {
            Request::Asked(waker) => {
                let waker = waker.take();
                *request = Request::Answered(answer);
                Some(waker)
            }
            Request::Withdrawn => {
                self.forget(from, number);
                Some(None)
            }
            Request::Answered(_) => None,
        }
    }

    /// The answer to a request, if it has come; else leaves `waker` for it. Each is taken once.
    pub fn take(&mut self, to: Rank, number: u32, waker: Option<&W>) -> Option<RequestAnswer> {
        let request = self.asked.get_mut(&(to, number))?;
        if let Request::Asked(waiting) = request {
            *waiting = waker.cloned();
        }
        let Request::Answered(answer) = *request else { return None };
        self.forget(to, number);
        Some(answer)
    }

    /// The sender of a request gives it up. True if its receiver may still have it.
    pub fn withdraw(&mut self, to: Rank, number: u32) -> bool {
        if let Some(answer) = self.take(to, number, None) {
            return answer == RequestAnswer::Granted;
        }
        if let Some(request) = self.asked.get_mut(&(to, number)) {
            *request = Request::Withdrawn;
        }
        true
    }

    /// True if this rank waits for an answer of `rank`.
    pub fn wait_for(&self, rank: Rank) -> bool {
        let mut of_rank = self.asked.range((rank, 0)..=(rank, u32::MAX));
        of_rank.any(|(_, request)| matches!(request, Request::Asked(_)))
    }

    /// True if no request is under way.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Those who wait for answers.
    pub fn drain_waiters(&mut self) -> impl Iterator<Item = W> {
        self.asked.values_mut().filter_map(|request| match request {
            Request::Asked(waker) => waker.take(),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
