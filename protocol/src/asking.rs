//! Sender-controlled acknowledgement (Pupa 2.2.1).
//!
//! A receiver acknowledges in one of five ways: with every packet that goes to the sender anyway;
//! at once, when the sender asks; negatively, when a packet finds a gap before it or no buffer;
//! when the acknowledgement timer runs out; and to all senders, when it has run out many times. So
//! nobody sends acknowledgements that nobody needs, and a sender has one as soon as it does need
//! it: when its send buffers pass the low water mark.
//!
//! ```text
//!              fewer than the low mark are free, for this peer or for all
//!   silent ─────────────────────────────────────────────────────────────▶ asking, once in so many
//!     ▲                                                                      │
//!     └────────── an acknowledgement frees as many as the high mark ◀────────┘
//! ```
//! A time-out sends one packet again, not all, and asks; the answer says what the receiver has
//! accepted, and the rest follows from there.

use crate::ni::Departure;
use crate::sequence::Every;
use crate::settings::Settings;
use crate::timer::{Nanoseconds, Timer};
use crate::{Actions, Body, Deferred, Ni};
use weft_wire::{Follows, Header, Rank, Tag, TreeId};

/// Number of times that a peer that does not acknowledge is asked in the time that it may be
/// silent.
const ASKED_MEANWHILE: u64 = 8;

/// Reason why an acknowledgement goes out in a packet of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Half a window is unacknowledged (thesis 8.2.2).
    HalfWindow,
    /// The sender asked.
    Asked,
    /// The timer ran out.
    Late,
    /// The last acknowledgement may be lost.
    Again,
    /// Packets were dropped: a NACK.
    Dropped,
    /// A stopped sender may send.
    Room,
    /// So that the peer hears something.
    Heartbeat,
}

impl<B: Copy> Ni<B> {
    /// Counts a packet for `to` that has got its number, and takes so many send buffers. True if it
    /// asks for an acknowledgement.
    pub(crate) fn asks(&mut self, to: Rank, taken: usize, out: &mut impl Actions<B>) -> bool {
        self.retransmission.unacknowledged += 1;
        self.retransmission.taken += taken;
        if !self.settings.preset.is_optimistic() {
            return false;
        }
        let Ni { settings, peers, retransmission, .. } = self;
        let short = retransmission.taken >= settings.pupa.pool_marks().0;
        let sending = &mut peers.flow(to).sending;
        let Asking { from, every, .. } = Asking::of(sending.window(settings), settings);
        sending.asking |= short || sending.len() >= from;
        let asks = sending.asks(taken, every);
        if short && !std::mem::replace(&mut self.retransmission.short, true) {
            self.ask_others(to, out);
        }
        asks
    }

    /// Has the next packet to `to` ask for an acknowledgement, whatever is free: somebody waits for
    /// it. Presets whose senders do not ask have their receivers' timers.
    pub fn ask_with_next(&mut self, to: Rank) {
        if self.settings.preset.is_optimistic() {
            self.flow(to).sending.ask_with_next = true;
        }
    }

    /// Decides whether to go on asking, once `from` has acknowledged something.
    pub(crate) fn ask_less(&mut self, from: Rank) {
        let Ni { settings, peers, retransmission, .. } = self;
        let sending = &mut peers.flow(from).sending;
        if !retransmission.short && !sending.asking {
            return;
        }
        retransmission.short &= retransmission.taken > settings.pupa.pool_marks().1;
        let until = Asking::of(sending.window(settings), settings).until;
        sending.asking &= retransmission.short || sending.len() > until;
    }

    /// Send buffers that `departure` takes for itself. What goes to several takes its own once, for
    /// all of them, if buffers are counted by size.
    pub(crate) fn taken_by(&self, departure: &Departure<B>) -> usize {
        match self.settings.pupa.send_buffers {
            None => 1,
            Some(_) if departure.holders.is_some() => 0,
            Some(buffers) => buffers.taken_by(departure.size),
        }
    }

    /// Send buffers that a multicast of `size` bytes takes until all have acknowledged it.
    pub(crate) fn taken_by_multicast(&self, size: u16) -> usize {
        self.settings.pupa.send_buffers.map_or(0, |buffers| buffers.taken_by(size))
    }

    /// Send buffers are short: all who have packets to acknowledge are asked to, but `to`, who is
    /// asked by a packet on its way there.
    fn ask_others(&mut self, to: Rank, out: &mut impl Actions<B>) {
        let flows = self.peers.iter().filter_map(|(rank, peer)| Some((rank, peer.flow.as_ref()?)));
        let owing = flows.filter(|(rank, flow)| *rank != to && flow.sending.len() > 0);
        let owing: Vec<Rank> = owing.map(|(rank, _)| rank).collect();
        for peer in owing {
            self.flow(peer).sending.asking = true;
            self.request(peer, out);
        }
    }

    /// Asks for an acknowledgement in a packet of its own, which acknowledges as well.
    fn request(&mut self, to: Rank, out: &mut impl Actions<B>) {
        self.counters.requests += 1;
        let mut header = Header::new(Tag::Acknowledge, self.local, TreeId::unicast(self.local), 0);
        header.asks = true;
        self.piggyback(to, &mut header);
        header.sequence = self.flow(to).receiving.expected();
        self.flow(to).sending.has_asked();
        out.transmit(to, &header, &Body::Empty);
    }

    /// Something of `from` was accepted, or asked for: acknowledges it now if it may be.
    pub(crate) fn answer(&mut self, from: Rank, out: &mut impl Actions<B>) {
        let receiving = &mut self.flow(from).receiving;
        receiving.asked = receiving.unacknowledged() > 0 || receiving.waiting() > 0;
        self.acknowledge_soon(from, out);
    }

    /// Packets to `peer`, or room there, have been waited for in vain: sends one again, if any is
    /// missing there and it has room, and asks in any case.
    pub(crate) fn time_out(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        let blocked = self.peers[peer].outgoing.blocked() > 0;
        let sending = &mut self.flow(peer).sending;
        if sending.len() == 0 && !blocked {
            sending.deadline = None;
            return;
        }
        sending.suspect();
        let missing = sending.due();
        match self.send_again(peer, 1, out) {
            0 => {
                self.request(peer, out);
                self.wait_again(peer);
            }
            _ => missing.into_iter().for_each(|missing| self.sent_in_vain(peer, missing, out)),
        }
        let sending = &mut self.flow(peer).sending;
        sending.attempts = sending.attempts.saturating_add(1);
    }

    /// Sends again what the peer misses and has room for, `most` packets at most. Says how many.
    pub(crate) fn send_again(
        &mut self,
        peer: Rank,
        most: usize,
        out: &mut impl Actions<B>,
    ) -> usize {
        let settings = self.settings;
        let sending = &mut self.flow(peer).sending;
        let again = sending.take_due(most);
        let Some(last) = again.len().checked_sub(1) else { return 0 };
        let asks = sending.asking || sending.limit.is_some();
        let every = Asking::of(sending.window(&settings), &settings).every.packets;
        self.counters.retransmissions += again.len() as u64;
        self.wait_again(peer);
        for (i, (number, departure)) in again.into_iter().enumerate() {
            let mut header = Header::new(departure.tag, self.local, departure.tree, departure.size);
            self.piggyback(peer, &mut header);
            (header.sequence, header.follows) = (number, Follows::Lost);
            header.asks = i == last || asks && i.is_multiple_of(usize::from(every));
            if header.asks {
                self.flow(peer).sending.has_asked();
            }
            out.transmit(peer, &header, &departure.body);
        }
        last + 1
    }

    /// The acknowledgement timer has run out, once more.
    pub(crate) fn count_expiration(&mut self, out: &mut impl Actions<B>) {
        if !self.settings.preset.is_optimistic() {
            return;
        }
        self.retransmission.expirations += 1;
        if self.retransmission.expirations < self.settings.pupa.refresh_every {
            return;
        }
        self.retransmission.expirations = 0;
        let flows = self.peers.iter().filter_map(|(rank, peer)| Some((rank, peer.flow.as_ref()?)));
        let heard = flows.filter(|(_, flow)| flow.receiving.has_news_for_all());
        let heard: Vec<Rank> = heard.map(|(rank, _)| rank).collect();
        for peer in heard {
            self.flow(peer).receiving.acknowledge_to_all();
            self.acknowledge(peer, Tag::Acknowledge, Why::Again, out);
        }
    }

    /// Starts the timer of `peer` anew; longer each time that it ran out in vain. A peer that may
    /// be silent for only so long is asked some times meanwhile, so that it is known soon whether
    /// packets get there.
    pub(crate) fn wait_again(&mut self, peer: Rank) {
        let (now, settings) = (self.now, self.settings);
        let sending = &mut self.flow(peer).sending;
        let once = sending.timeout(&settings);
        let most = settings
            .silence
            .map_or(Nanoseconds::MAX, |silence| silence.lost_after / ASKED_MEANWHILE);
        let deadline = now + sending.doubled_timeout(&settings).min(most.max(once));
        sending.deadline = Some(deadline);
        self.wake_by(deadline, Timer::Retransmit);
    }
}

/// Packets to one peer from which on it is asked, down to which, and one in how many asks.
struct Asking {
    from: usize,
    until: usize,
    every: Every,
}

impl Asking {
    /// By the water marks; where the network has room for fewer packets, half of these and a
    /// quarter, so that the window moves before it is full.
    fn of(window: u16, settings: &Settings) -> Self {
        let (from, until) = settings.pupa.marks();
        let packets = settings.pupa.ask_every;
        let every = Every { packets, buffers: packets.into() };
        if settings.congestion.is_none() {
            return Asking { from, until, every };
        }
        let (half, quarter) = (usize::from(window / 2), usize::from(window / 4));
        Asking {
            from: from.min(half),
            until: until.min(quarter),
            every: Every { packets: packets.min(window / 4).max(1), ..every },
        }
    }
}

/// The host, which retransmits, hears what a packet acknowledges that its NI drops or keeps.
pub(crate) fn tell_acknowledgement<B>(header: &Header, out: &mut impl Actions<B>) {
    let tells = Header::new(Tag::Acknowledge, header.source, TreeId::unicast(header.source), 0);
    let tells = Header { acknowledgement: header.acknowledgement, ..tells };
    out.defer(Deferred::raw(tells, Body::Empty));
}
