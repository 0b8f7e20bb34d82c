//! Datagrams between the link and its transport: places, those that wait, and those that failed.
//!
//! A place is *spare* here, or lent to the transport, or waits here with a datagram, or the link
//! has it: it is a frame of the program's, or read in. Their number is bounded (I9).

use crate::pieces::{Failure, Pieces};
use crate::transport::{DatagramTransport, TransportEvent, Unsent};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use weft_datagram::Landed;
use weft_datagram::memory::DatagramPlace;
use weft_link::memory::{self, Posted, PostedHead};
use weft_wire::Rank;

/// Time that a piece of which nobody wants to hear any more has to end.
const CANCELING_TAKES: Duration = Duration::from_millis(300);

/// Counters of an endpoint.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Datagrams that the provider took.
    pub sent: u64,
    /// Datagrams that waited first, because it took no more.
    pub waited: u64,
    /// Datagrams that may be lost.
    pub failed: u64,
    /// Places for datagrams that arrived, of which nothing was to be used.
    pub refused: u64,
}

/// A place that is lent for an arrival.
struct PostedPlace {
    index: u32,
    /// Back, while others in front of it are not.
    back: Option<(DatagramPlace, Option<Landed>)>,
}

pub(crate) struct Carrier<T> {
    transport: T,
    pub pieces: Pieces,
    spare: Vec<DatagramPlace>,
    /// Places with numbers below this one are frames of the program's.
    frames: u32,
    /// Those of them that came back.
    returned: Vec<DatagramPlace>,
    events: VecDeque<TransportEvent>,
    /// Datagrams that arrived while the link did something else.
    arrived: VecDeque<(DatagramPlace, Landed)>,
    /// By rank: datagrams that wait, each up to its end.
    waiting: Vec<VecDeque<(DatagramPlace, usize)>>,
    /// Ranks for which some wait.
    stuck: Vec<Rank>,
    /// Places lent for arrivals, in the order in which datagrams are put there.
    lent: VecDeque<PostedPlace>,
    /// Places that should be lent.
    most_posted: usize,
    /// Datagrams that have not left.
    under_way: usize,
    /// True if the provider may have something to do for what was sent.
    unpolled: bool,
    /// Ranks to which one may be lost, each with the reason.
    pub broken: Vec<(Rank, String)>,
    pub counters: Carried,
}

impl<T: DatagramTransport> Carrier<T> {
    pub fn new(transport: T, pieces: Pieces, ranks: usize, most_posted: usize) -> Self {
        Carrier {
            transport,
            pieces,
            spare: Vec::new(),
            frames: 0,
            returned: Vec::new(),
            events: VecDeque::new(),
            arrived: VecDeque::new(),
            waiting: (0..ranks).map(|_| VecDeque::new()).collect(),
            stuck: Vec::new(),
            lent: VecDeque::with_capacity(most_posted),
            most_posted,
            under_way: 0,
            unpolled: false,
            broken: Vec::new(),
            counters: Carried::default(),
        }
    }

    /// The first `count` places, by number: frames of the program's, which [come
    /// back](Self::returned) from each send. `None` if there are not as many.
    pub fn take_frames(&mut self, count: usize) -> Option<Vec<DatagramPlace>> {
        let frames: Vec<DatagramPlace> = std::iter::from_fn(|| self.place()).take(count).collect();
        let in_order = (0..).zip(&frames).all(|(index, place)| place.index() == index);
        self.frames = count as u32;
        (frames.len() == count && in_order).then_some(frames)
    }

    /// A frame's place that came back.
    #[inline]
    pub fn returned(&mut self) -> Option<DatagramPlace> {
        self.returned.pop()
    }

    #[inline]
    fn keep(&mut self, place: DatagramPlace) {
        match place.index() < self.frames {
            true => self.returned.push(place),
            false => self.spare.push(place),
        }
    }

    /// The place with this number, if it is being sent or waits for that.
    #[cold]
    pub fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        let waiting = || self.waiting.iter().flatten().map(|(place, _)| place);
        let sending = self.transport.sending(index);
        sending.or_else(|| waiting().find(|place| place.index() == index))
    }

    /// A place for a datagram.
    #[inline]
    pub fn place(&mut self) -> Option<DatagramPlace> {
        if self.spare.is_empty() {
            self.grow();
        }
        self.spare.pop()
    }

    #[cold]
    fn grow(&mut self) {
        match self.transport.grow() {
            Ok(places) => self.spare.extend(places.into_iter().rev()),
            // As if the bound was lower.
            Err(_) => self.progress(),
        }
        if self.spare.is_empty() {
            self.progress();
        }
    }

    /// Sends a datagram after all others to `to`.
    #[inline]
    pub fn send(&mut self, to: Rank, place: DatagramPlace, end: usize) {
        if self.is_broken(to) {
            return self.keep(place);
        }
        if !self.waiting[to.index()].is_empty() {
            return self.waiting[to.index()].push_back((place, end));
        }
        if let Some(waits) = self.try_send(to, place, end) {
            self.counters.waited += 1;
            self.waiting[to.index()].push_back((waits, end));
            self.stuck.push(to);
        }
    }

    /// Returns the place if the provider takes no more.
    #[inline]
    fn try_send(&mut self, to: Rank, place: DatagramPlace, end: usize) -> Option<DatagramPlace> {
        match self.transport.send(place, 0..end, to) {
            Ok(done) => {
                self.counters.sent += 1;
                self.unpolled = true;
                self.under_way += usize::from(done.is_none());
                if let Some(place) = done {
                    self.keep(place);
                }
                None
            }
            Err((place, Unsent::Full)) => Some(place),
            Err((place, Unsent::Failed(refusal))) => {
                self.keep(place);
                self.fail(to, refusal.to_string());
                None
            }
        }
    }

    /// Sends what waits, as far as the provider takes it.
    pub fn retry(&mut self) {
        if self.pieces.is_stuck() {
            let failure = self.pieces.retry(&mut self.transport);
            self.fail_with(failure);
        }
        if self.stuck.is_empty() {
            return;
        }
        for to in std::mem::take(&mut self.stuck) {
            while let Some((place, end)) = self.waiting[to.index()].pop_front() {
                if let Some(waits) = self.try_send(to, place, end) {
                    self.waiting[to.index()].push_front((waits, end));
                    self.stuck.push(to);
                    break;
                }
            }
        }
    }

    /// Nothing more is sent to `to`: a datagram may be lost, and what follows it is of no use.
    #[cold]
    pub fn fail(&mut self, to: Rank, why: String) {
        self.counters.failed += 1;
        if !self.is_broken(to) {
            self.broken.push((to, why));
        }
        for (place, _) in std::mem::take(&mut self.waiting[to.index()]) {
            self.keep(place);
        }
    }

    fn fail_with(&mut self, failure: Option<Failure>) {
        if let Some((with, why)) = failure {
            self.fail(with, why);
        }
    }

    #[inline]
    pub fn is_broken(&self, rank: Rank) -> bool {
        !self.broken.is_empty() && self.broken.iter().any(|(broken, _)| *broken == rank)
    }

    /// Has the provider work, and takes in what has happened.
    #[inline]
    pub fn progress(&mut self) {
        self.post();
        self.unpolled = false;
        self.transport.poll(&mut self.events);
        while let Some(event) = self.events.pop_front() {
            match event {
                TransportEvent::Received(place, end) => {
                    let landed = Landed { start: 0, end, datagram_bytes: end };
                    self.landed(place, Some(landed));
                }
                TransportEvent::Sent(place) => {
                    self.under_way -= 1;
                    self.keep(place);
                }
                TransportEvent::SendFailed(place, to, refusal) => {
                    self.under_way -= 1;
                    self.keep(place);
                    self.fail(to, refusal.to_string());
                }
                TransportEvent::ReceiveFailed(place) => {
                    self.counters.refused += 1;
                    self.landed(place, None);
                }
                TransportEvent::Ended(number, outcome) => {
                    let failure = self.pieces.ended(number, outcome);
                    self.fail_with(failure);
                }
            }
        }
        self.retry();
    }

    /// Looks for datagrams: [`weft_datagram::ArrivalSource::look`].
    #[inline]
    pub fn look(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> bool {
        self.spare.append(spare);
        self.progress();
        let found = !self.arrived.is_empty();
        arrived.append(&mut self.arrived);
        found
    }

    /// Takes in a place that comes back, with a datagram or without. Providers put datagrams into
    /// places in order, and may say so in another: a long one is ready later than a short one
    /// behind it. So those behind wait.
    #[inline]
    fn landed(&mut self, place: DatagramPlace, landed: Option<Landed>) {
        let index = place.index();
        let Some(lent) = self.lent.iter_mut().find(|lent| lent.index == index) else {
            unreachable!("transports give back what they were lent")
        };
        lent.back = Some((place, landed));
        while let Some(PostedPlace { back, .. }) = self.lent.front_mut()
            && let Some((place, landed)) = back.take()
        {
            self.lent.pop_front();
            match landed {
                Some(landed) => self.arrived.push_back((place, landed)),
                None => self.spare.push(place),
            }
        }
    }

    #[inline]
    fn post(&mut self) {
        while self.lent.len() < self.most_posted {
            if self.spare.is_empty() {
                match self.transport.grow() {
                    Ok(places) => self.spare.extend(places),
                    Err(_) => return,
                }
            }
            let Some(place) = self.spare.pop() else { return };
            let index = place.index();
            match self.transport.post(place) {
                Ok(()) => self.lent.push_back(PostedPlace { index, back: None }),
                Err(place) => return self.spare.push(place),
            }
        }
    }

    /// True if datagrams to `to` wait until the provider takes more.
    pub fn waits_for(&self, to: Rank) -> bool {
        !self.waiting[to.index()].is_empty()
    }

    /// True if datagrams wait until the provider takes more.
    pub fn is_stuck(&self) -> bool {
        !self.stuck.is_empty() || self.pieces.is_stuck()
    }

    /// True if the provider may have something to do for what was sent.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.unpolled || !self.is_flushed()
    }

    /// True if all datagrams have left.
    pub fn is_flushed(&self) -> bool {
        self.stuck.is_empty() && self.under_way == 0 && !self.pieces.has_sends()
    }

    /// True if datagrams have arrived, or pieces have ended, that nobody has looked at.
    #[inline]
    pub fn has_arrived(&self) -> bool {
        !self.arrived.is_empty() || self.pieces.has_news()
    }

    /// True if whoever waits for the descriptor from here on misses nothing.
    pub fn may_sleep(&mut self) -> bool {
        !self.has_arrived() && self.transport.may_sleep()
    }
}

/// Memory in one piece.
impl<T: DatagramTransport> Carrier<T> {
    /// Bytes of the longest piece; 0 if none travels.
    pub fn longest_piece(&self) -> usize {
        self.transport.longest_piece()
    }

    /// Posts memory for a piece of `from`; false if that cannot be now.
    pub fn post_piece(&mut self, from: Rank, posted: Posted) -> bool {
        self.pieces.post(&mut self.transport, from, posted)
    }

    /// Sends a piece to where `to` has posted memory for it.
    pub fn send_piece(&mut self, to: Rank, head: &PostedHead, lent: memory::LentMemory) {
        let failure = self.pieces.send(&mut self.transport, to, head, lent);
        self.fail_with(failure);
    }

    /// Gives up what was posted; how many bytes are there. Nobody writes there any more.
    pub fn unpost_piece(&mut self, from: Rank, head: &PostedHead) -> usize {
        let mut there = self.pieces.unpost(from, head);
        if let Err(number) = there {
            self.transport.cancel_piece(number);
            self.wait_until(|pieces| {
                there = pieces.unpost(from, head);
                there.is_ok()
            });
        }
        there.unwrap_or_default()
    }

    /// Has nobody read this memory any more.
    pub fn take_back(&mut self, lent: memory::LentMemory) {
        self.wait_until(|pieces| !pieces.has_lent(lent));
    }

    /// Waits until the pieces are as `done` wants them. What is not over in time is ended with all
    /// else: a provider has no other way to take memory from an operation under way.
    fn wait_until(&mut self, mut done: impl FnMut(&mut Pieces) -> bool) {
        let until = Instant::now() + CANCELING_TAKES;
        while !done(&mut self.pieces) {
            self.progress();
            if Instant::now() >= until {
                self.transport.shut_down();
                self.pieces.end_all();
            }
        }
    }
}

#[cfg(test)]
mod tests;
