//! Go-back-N between two ranks (thesis 8.2.2): numbers, what is unacknowledged, what is expected.
//!
//! ```text
//!   sender                                   receiver
//!   next ──▶ number, transmit                expected? ──no──▶ drop (a duplicate, or a gap)
//!   unacknowledged: kept to send again        │ yes
//!        ▲                                    ▼
//!        │                             outstanding: what must happen before it may be acknowledged
//!        │                                    │ (nothing; or forwarded: ACK-forward; or the host)
//!        └─── acknowledgement: all before ◀───┘
//!             piggybacked, at half a window, or delayed
//! ```
//! Numbers wrap around; a window is far smaller than half their range.

use crate::congestion::CongestionWindow;
use crate::departure::Departure;
use crate::hearing::Hearing;
use crate::invariants::NumbersHere;
use crate::round_trip::RoundTrip;
use crate::settings::Settings;
use crate::timer::Nanoseconds;
use std::collections::VecDeque;
use weft_wire::{Header, Rank};

/// Both directions between this NI and one peer.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Flow<B> {
    pub sending: Sending<B>,
    pub receiving: Receiving,
    /// Times at which the two heard of each other last.
    pub hearing: Hearing,
}

impl<B: Copy> Flow<B> {
    /// Verdict on what a packet acknowledges, and on its number if it `is_numbered`; as in
    /// [`Receiving::verdict`].
    ///
    /// # Errors
    /// [`Unsent`] if the peer cannot have got what it acknowledges.
    pub fn verdict(
        &self,
        header: &Header,
        is_numbered: bool,
        window: u16,
    ) -> Result<SequenceVerdict, Unsent> {
        self.sending.acknowledged(header.acknowledgement)?;
        Ok(match is_numbered {
            true => self.receiving.verdict(header.sequence, window),
            false => SequenceVerdict::Next,
        })
    }

    /// Numbers for checks.
    pub fn numbers(&self, peer: Rank) -> NumbersHere {
        let Flow { sending, receiving, .. } = self;
        NumbersHere {
            peer,
            oldest: sending.oldest(),
            accepted: later(sending.accepted, sending.oldest()),
            next: sending.next,
            acknowledged: receiving.acknowledged,
            acknowledgeable: receiving.acknowledgeable(),
            expected: receiving.expected,
        }
    }
}

impl<B> Flow<B> {
    /// True if nothing was sent and nothing came.
    pub fn is_fresh(&self) -> bool {
        (self.sending.next, self.receiving.expected) == (0, 0)
    }
}

impl<B> Default for Flow<B> {
    fn default() -> Self {
        let unacknowledged = VecDeque::new();
        let sending = Sending {
            next: 0,
            unacknowledged,
            deadline: None,
            attempts: 0,
            round_trip: RoundTrip::default(),
            ask_with_next: false,
            asking: false,
            unasked: None,
            unanswered: 0,
            accepted: 0,
            again: 0,
            resent: 0,
            probe: None,
            limit: None,
            congestion: CongestionWindow::default(),
        };
        Flow { sending, receiving: Receiving::default(), hearing: Hearing::default() }
    }
}

/// Number of packets, or of the send buffers that they take, of which one asks.
#[derive(Debug, Clone, Copy, Default, Hash)]
pub(crate) struct Every {
    pub packets: u16,
    pub buffers: usize,
}

/// Packets that were sent to the peer and may have to be sent again.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Sending<B> {
    /// The number of the next packet.
    next: u32,
    /// Numbered up to `next`, the oldest first.
    unacknowledged: VecDeque<Departure<B>>,
    /// The time at which the oldest has waited for too long.
    pub deadline: Option<Nanoseconds>,
    /// Times that the timer ran out since the last acknowledgement of anything.
    pub attempts: u8,
    /// Estimate of the time that an acknowledgement takes.
    pub round_trip: RoundTrip,
    /// Packets ask for an acknowledgement, one in so many (Pupa 2.2.1).
    pub asking: bool,
    /// The next packet asks, whatever else is so.
    pub ask_with_next: bool,
    /// Those that have not, since the last that did; `None` as long as none needs to.
    unasked: Option<Every>,
    /// Answers to come: what was asked since the last time-out, less what was answered.
    unanswered: u16,
    /// The peer is known to have accepted all before this number, whether or not it acknowledges
    /// them.
    accepted: u32,
    /// The first number that has to be sent again; the last is before `next` (the paper's *next*
    /// pointer, 2.1.1).
    again: u32,
    /// Packets before this number were sent more than once: that one of them is acknowledged says
    /// nothing of how long that takes now (Karn's rule), so that a wait that was doubled stays so.
    resent: u32,
    /// This packet was sent again to see what the peer has; the others wait for the answer.
    probe: Option<u32>,
    /// The first number that the peer has no room for, if it runs out of room (Pupa 2.2.2).
    pub limit: Option<u32>,
    /// Packets that the network has room for.
    congestion: CongestionWindow,
}

/// The wait for an acknowledgement doubles this many times at most while none comes.
const MOST_DOUBLINGS: u8 = 6;

impl<B: Copy> Sending<B> {
    /// A packet leaves for the first time: its number.
    pub fn number(&mut self, departure: Departure<B>) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        if self.again == number {
            self.again = self.next;
        }
        self.unacknowledged.push_back(departure);
        number
    }

    /// The peer expects `next`: how many packets that acknowledges. 0 if it is old news.
    ///
    /// # Errors
    /// [`Unsent`] if the peer cannot have got what it acknowledges.
    pub fn acknowledged(&self, next: u32) -> Result<u16, Unsent> {
        let ahead = next.wrapping_sub(self.oldest());
        if ahead as usize <= self.unacknowledged.len() {
            return Ok(ahead as u16);
        }
        if (ahead as i32) < 0 { Ok(0) } else { Err(Unsent) }
    }

    /// The first `news` packets are acknowledged, and are still here.
    pub fn note_acknowledged(&mut self, news: u16, settings: &Settings) {
        let (window, most) = (self.window(settings), settings.unacknowledged());
        self.congestion.acknowledged(news, self.len(), window, most);
    }

    /// The network has dropped the first packet that the peer has not accepted.
    pub fn note_lost(&mut self, settings: &Settings) {
        let missing = later(self.oldest(), self.accepted);
        let under_way = self.next.wrapping_sub(missing) as usize;
        let window = self.window(settings);
        self.congestion.lost(missing, self.next, under_way, window);
    }

    /// Packets that may be under way at once, as far as the network is concerned.
    pub fn window(&self, settings: &Settings) -> u16 {
        self.congestion.packets(settings.congestion, settings.unacknowledged())
    }

    /// Number of packets that may be sent again now: the rest of the window, but for those under
    /// way.
    pub fn room_again(&self, settings: &Settings) -> usize {
        let under_way = self.again.wrapping_sub(later(self.oldest(), self.accepted)) as usize;
        match settings.congestion {
            None => usize::MAX,
            Some(_) => usize::from(self.window(settings)).saturating_sub(under_way),
        }
    }

    /// Does what [`Self::acknowledged`] does; `None` if more is to be done than to let the packets
    /// go: the peer has no room, some are to be sent again, or nobody can have said so.
    #[inline]
    pub fn acknowledged_in_order(&self, next: u32) -> Option<u16> {
        let nothing_again = self.again == self.next && self.probe.is_none();
        if self.limit.is_some() || !nothing_again {
            return None;
        }
        self.acknowledged(next).ok()
    }

    /// The oldest packet is acknowledged. After the last of these, [`Self::note_popped`].
    #[inline]
    pub fn pop(&mut self) -> Option<Departure<B>> {
        self.unacknowledged.pop_front()
    }

    /// Packets were acknowledged: whatever else was known of these is over.
    #[inline]
    pub fn note_popped(&mut self) {
        let oldest = self.oldest();
        self.again = later(self.again, oldest);
        self.accepted = later(self.accepted, oldest);
        self.resent = later(self.resent, oldest.wrapping_sub(1));
    }

    /// The unacknowledged packets, with their numbers, from `expected` on if that is among them.
    pub fn again(&self, expected: Option<u32>) -> impl Iterator<Item = (u32, Departure<B>)> + '_ {
        self.again_from(expected.unwrap_or(self.oldest()))
    }

    fn again_from(&self, number: u32) -> impl Iterator<Item = (u32, Departure<B>)> + '_ {
        let known = number.wrapping_sub(self.oldest()) as usize;
        let skipped = if known <= self.unacknowledged.len() { known } else { 0 };
        let numbers = (0..).map(|i| self.oldest().wrapping_add(i));
        numbers.zip(self.unacknowledged.iter().cloned()).skip(skipped)
    }

    /// Packets that are unacknowledged.
    pub fn len(&self) -> usize {
        self.unacknowledged.len()
    }

    /// The time for which the oldest packet may wait now.
    pub fn timeout(&self, settings: &Settings) -> Nanoseconds {
        self.round_trip.timeout(settings, self.asking || self.limit.is_some())
    }

    /// Something was acknowledged: the wait need not be doubled any more, or once only if that may
    /// have been the answer to an earlier copy.
    pub fn hurry(&mut self) {
        if (self.oldest().wrapping_sub(self.resent) as i32) > 0 || self.len() == 0 {
            self.attempts = 0;
        } else {
            self.attempts = self.attempts.min(1);
        }
    }

    /// The time for which the oldest packet may wait now, doubled each time that it did so in vain.
    /// It is bounded by what a wait of which nothing was measured comes to: where a network loses
    /// much, long round trips are measured, too.
    pub fn doubled_timeout(&self, settings: &Settings) -> Nanoseconds {
        let once = self.timeout(settings);
        let most = settings.retransmit_after << MOST_DOUBLINGS;
        (once << self.attempts.min(MOST_DOUBLINGS)).min(most.max(once))
    }

    /// The peer has accepted all before `number`: they need not be sent again. True if that is
    /// news.
    pub fn has_accepted(&mut self, number: u32, now: Nanoseconds) -> bool {
        let before = self.accepted;
        if self.is_underway(number) {
            self.round_trip.acknowledged(number, now);
            self.accepted = later(self.accepted, number);
            self.again = later(self.again, self.accepted);
        }
        self.accepted != before
    }

    /// The peer misses `number`, and has nothing after it.
    pub fn misses(&mut self, number: u32) {
        if self.is_underway(number) {
            self.again = number;
            self.probe = None;
        }
    }

    /// True if what is to be sent again waits for the answer to a probe. False if the probe
    /// filled the gap, and nothing needs to be sent again if the peer has more than that: what was
    /// under way arrived after all. If it has not, all of that was lost.
    pub fn is_probing(&mut self, settings: &Settings) -> bool {
        let Some(probe) = self.probe else { return false };
        match later(self.oldest(), self.accepted).wrapping_sub(probe) as i32 {
            ..1 => return true,
            1 if self.again != self.next => self.note_lost(settings),
            1 => {}
            _ => self.again = self.next,
        }
        self.probe = None;
        false
    }

    /// Nothing is known of what the peer may not have accepted: it is to be sent again, the first
    /// of it now, to see.
    pub fn suspect(&mut self) {
        self.unanswered = 0;
        self.again = later(self.oldest(), self.accepted);
        self.round_trip.void();
        self.probe = (self.again != self.next).then_some(self.again);
    }

    /// The number and the user bytes of the first packet that has to be sent again.
    pub fn due(&self) -> Option<(u32, u16)> {
        let first = self.again_from(self.again).next();
        first.map(|(number, departure)| (number, departure.size))
    }

    /// Takes the packets that have to be sent again and have room, with their numbers, `most` at
    /// most; they are under way again.
    pub fn take_due(&mut self, most: usize) -> Vec<(u32, Departure<B>)> {
        let begin = self.again;
        let end = self.limit.map_or(self.next, |limit| earlier(limit, self.next));
        let due = usize::try_from(end.wrapping_sub(begin) as i32).unwrap_or(0).min(most);
        self.again = begin.wrapping_add(due as u32);
        if due > 0 {
            self.round_trip.void();
            self.resent = later(self.resent, self.again);
        }
        self.again_from(begin).take(due).collect()
    }

    /// Number of new packets that may leave, of a FIFO of `window`.
    pub fn places(&self, window: u16) -> u16 {
        let places = window.saturating_sub(self.unacknowledged.len() as u16);
        let room = self.limit.map(|limit| (limit.wrapping_sub(self.next) as i32).max(0) as u32);
        room.map_or(places, |room| places.min(u16::try_from(room).unwrap_or(u16::MAX)))
    }

    /// True if the packet that got its number last, and takes so many send buffers, asks for an
    /// acknowledgement. One in `every` packets does, and one in as many buffers, and the last for
    /// which there is room.
    pub fn asks(&mut self, buffers: usize, every: Every) -> bool {
        let must = std::mem::take(&mut self.ask_with_next);
        if !self.asking && self.limit.is_none() {
            self.unasked = None;
            if must {
                self.has_asked();
            }
            return must;
        }
        let is_due = must
            || match &mut self.unasked {
                None => true,
                Some(unasked) => {
                    unasked.packets = unasked.packets.saturating_add(1);
                    unasked.buffers = unasked.buffers.saturating_add(buffers);
                    unasked.packets >= every.packets || unasked.buffers >= every.buffers
                }
            };
        let asks = is_due || self.limit == Some(self.next);
        if asks {
            self.unasked = Some(Every::default());
            self.has_asked();
        }
        asks
    }

    /// The peer was asked for an acknowledgement.
    pub fn has_asked(&mut self) {
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// An acknowledgement has come by itself. True if that may be the answer to what was asked.
    pub fn was_answered(&mut self) -> bool {
        let was_due = self.unanswered > 0;
        self.unanswered = self.unanswered.saturating_sub(1);
        was_due
    }

    /// The number of the next packet.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// The oldest unacknowledged number, or the next if there is none.
    pub fn oldest(&self) -> u32 {
        self.next.wrapping_sub(self.unacknowledged.len() as u32)
    }
}

impl<B> Sending<B> {
    fn is_underway(&self, number: u32) -> bool {
        let oldest = self.next.wrapping_sub(self.unacknowledged.len() as u32);
        number.wrapping_sub(oldest) as usize <= self.unacknowledged.len()
    }
}

/// The later of two numbers.
fn later(a: u32, b: u32) -> u32 {
    if (a.wrapping_sub(b) as i32) < 0 { b } else { a }
}

/// The earlier of two numbers.
fn earlier(a: u32, b: u32) -> u32 {
    if (a.wrapping_sub(b) as i32) < 0 { a } else { b }
}

/// A peer acknowledged what was never sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unsent;

/// In place of what must happen to a packet: it may be acknowledged with those before it, and what
/// happens to it later does not count.
pub(crate) const EARLY: u16 = u16::MAX;

/// Packets that came from the peer.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct Receiving {
    /// The number that is accepted next.
    expected: u32,
    /// For each packet accepted and not to be acknowledged yet, the oldest first: how many things
    /// must still happen to it.
    outstanding: VecDeque<u16>,
    /// Number in the last acknowledgement.
    acknowledged: u32,
    /// Packets that wait for their groups.
    pub early: u16,
    /// The time at which an acknowledgement has to be sent at the latest.
    pub deadline: Option<Nanoseconds>,
    /// The number that was missing when the peer was last told of a gap.
    gap: Option<u32>,
    /// A packet of the peer was dropped for want of a buffer, and it has not been told.
    pub refused: bool,
    /// Buffers that its packets fill.
    pub buffered: usize,
    /// It asked for an acknowledgement that it has not got in full.
    pub asked: bool,
    /// The receiver has limited it to the receive buffers that are free.
    pub limited: bool,
    /// The receiver's last report said that no receive buffer is free.
    pub starved: bool,
    /// The number in the last acknowledgement to all.
    acknowledged_to_all: u32,
}

/// Verdict on a packet by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SequenceVerdict {
    /// It is the next one.
    Next,
    /// It was accepted before: its acknowledgement may be lost.
    Duplicate,
    /// One before it is missing.
    Gap,
    /// No sender that keeps to its window sends it.
    Impossible,
}

impl Receiving {
    /// True if no more packets may wait for their groups.
    pub fn has_all_early(&self, settings: &Settings) -> bool {
        self.early >= settings.window_packets
    }

    /// The verdict on `number`, from a sender with a window of `window` packets. The window begins
    /// at the last acknowledgement, not at what is expected: the sender knows of no later one, and
    /// what has to be kept in mind of packets that are not acknowledged is bounded by it (invariant
    /// I9).
    pub fn verdict(&self, number: u32, window: u16) -> SequenceVerdict {
        if number.wrapping_sub(self.acknowledged) as i32 >= i32::from(window) {
            return SequenceVerdict::Impossible;
        }
        match number.wrapping_sub(self.expected) as i32 {
            0 => SequenceVerdict::Next,
            behind if behind < 0 => SequenceVerdict::Duplicate,
            _ => SequenceVerdict::Gap,
        }
    }

    /// True if `number` is the next one of a sender with a window of `window` packets, and nothing
    /// else is to be done than to accept it: it finds one of the `primary` buffers that are its
    /// sender's, nothing was asked, and nothing waits to be acknowledged.
    #[inline]
    pub fn is_next_alone(&self, number: u32, window: u16, primary: usize) -> bool {
        number == self.expected
            && self.expected.wrapping_sub(self.acknowledged) < u32::from(window)
            && self.outstanding.is_empty()
            && self.buffered < primary
            && !self.asked
            && !self.limited
            && !self.refused
    }

    /// Accepts such a packet, which may be acknowledged; whoever calls this fills a buffer.
    #[inline]
    pub fn accept_alone(&mut self) {
        self.expected = self.expected.wrapping_add(1);
    }

    /// The number that is accepted next.
    pub fn expected(&self) -> u32 {
        self.expected
    }

    /// A packet came after a gap. True for the first one: each gap is reported to the peer once.
    pub fn finds_gap(&mut self) -> bool {
        self.gap.replace(self.expected) != Some(self.expected)
    }

    /// The next packet is accepted; `outstanding` things must happen before it is acknowledged.
    pub fn accept(&mut self, outstanding: u16) {
        self.expected = self.expected.wrapping_add(1);
        self.outstanding.push_back(outstanding);
        self.settle();
    }

    /// One of the things that packet `number` waits for has happened. Nothing is waited for by
    /// those that came [`EARLY`], whatever happens to them later.
    pub fn satisfy(&mut self, number: u32) {
        let place = number.wrapping_sub(self.acknowledgeable()) as usize;
        if let Some(left) = self.outstanding.get_mut(place).filter(|left| **left != EARLY) {
            *left -= 1;
            self.settle();
        }
    }

    /// All packets before this number may be acknowledged.
    pub fn acknowledgeable(&self) -> u32 {
        self.expected.wrapping_sub(self.outstanding.len() as u32)
    }

    /// Packets that may be acknowledged and are not.
    pub fn unacknowledged(&self) -> u16 {
        self.acknowledgeable().wrapping_sub(self.acknowledged) as u16
    }

    /// Acknowledges packets: returns the number for an acknowledgement that goes out now.
    pub fn acknowledge(&mut self) -> u32 {
        self.acknowledged = self.acknowledgeable();
        self.deadline = None;
        self.asked &= !self.outstanding.is_empty();
        self.acknowledged
    }

    /// True if anything came since the last acknowledgement to all.
    pub fn has_news_for_all(&self) -> bool {
        self.acknowledged_to_all != self.expected
    }

    /// Notes that an acknowledgement to all goes out.
    pub fn acknowledge_to_all(&mut self) {
        self.acknowledged_to_all = self.expected;
    }

    /// Packets accepted that may not be acknowledged yet.
    pub fn waiting(&self) -> u16 {
        self.outstanding.len() as u16
    }

    fn settle(&mut self) {
        while matches!(self.outstanding.front(), Some(&(0 | EARLY))) {
            self.outstanding.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
