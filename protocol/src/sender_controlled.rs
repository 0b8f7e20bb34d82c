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

use crate::acknowledge::Why;
use crate::actions::{Actions, Deferred, PacketBody};
use crate::flows::Flows;
use crate::sequence::Every;
use crate::settings::{Settings, Silence};
use crate::timer::{Nanoseconds, Timer};
use weft_wire::{Follows, Header, Rank, Tag, TreeId};

/// Number of times that a peer that does not acknowledge is asked in the time that it may be
/// silent.
const ASKED_MEANWHILE: u64 = 8;

impl<B: Copy> Flows<B> {
    /// Counts a packet for `to` that has got its number, and takes so many send buffers. True if it
    /// asks for an acknowledgement.
    pub(crate) fn asks(&mut self, to: Rank, taken: usize, out: &mut impl Actions<B>) -> bool {
        self.send_pool.take(taken);
        if !self.base.settings.preset.is_optimistic() {
            return false;
        }
        let Flows { base, peers, send_pool, .. } = self;
        let (settings, short) = (&base.settings, send_pool.are_scarce(&base.settings));
        let sending = &mut peers.flow(to).sending;
        let WaterMarks { from, every, .. } = WaterMarks::of(sending.window(settings), settings);
        sending.asking |= short || sending.len() >= from;
        let asks = sending.asks(taken, every);
        if short && self.send_pool.run_short() {
            self.ask_others(to, out);
        }
        asks
    }

    /// Decides whether to go on asking, once `from` has acknowledged something.
    pub(crate) fn ask_less(&mut self, from: Rank) {
        let Flows { base, peers, send_pool, .. } = self;
        let (settings, sending) = (&base.settings, &mut peers.flow(from).sending);
        if !send_pool.are_short() && !sending.asking {
            return;
        }
        send_pool.recover(settings);
        let until = WaterMarks::of(sending.window(settings), settings).until;
        sending.asking &= send_pool.are_short() || sending.len() > until;
    }

    /// Send buffers are short: all who have packets to acknowledge are asked to, but `to`, who is
    /// asked by a packet on its way there.
    fn ask_others(&mut self, to: Rank, out: &mut impl Actions<B>) {
        let owing = self.peers.flows().filter(|(rank, flow)| *rank != to && flow.sending.len() > 0);
        let owing: Vec<Rank> = owing.map(|(rank, _)| rank).collect();
        for peer in owing {
            self.flow(peer).sending.asking = true;
            self.request(peer, out);
        }
    }

    /// Asks for an acknowledgement in a packet of its own, which acknowledges as well.
    fn request(&mut self, to: Rank, out: &mut impl Actions<B>) {
        self.base.counters.requests += 1;
        let mut header =
            Header::new(Tag::Acknowledge, self.base.local, TreeId::unicast(self.base.local), 0);
        header.asks = true;
        self.piggyback(to, &mut header);
        header.sequence = self.flow(to).receiving.expected();
        self.flow(to).sending.has_asked();
        out.transmit(to, &header, &PacketBody::Empty);
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
        if self.send_again(peer, 1, out) == 0 {
            self.request(peer, out);
            self.wait_again(peer);
        } else if let (Some(missing), Some(Silence { lost_after, .. })) =
            (missing, self.base.settings.silence)
        {
            let now = self.base.now;
            if self.flow(peer).hearing.is_in_vain(missing, now, lost_after) {
                self.base.counters.peers_lost += 1;
                out.mtu_exceeded(peer, missing.1);
            }
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
        let settings = self.base.settings;
        let sending = &mut self.flow(peer).sending;
        let again = sending.take_due(most);
        let Some(last) = again.len().checked_sub(1) else { return 0 };
        let asks = sending.asking || sending.limit.is_some();
        let every = WaterMarks::of(sending.window(&settings), &settings).every.packets;
        self.base.counters.retransmissions += again.len() as u64;
        self.wait_again(peer);
        for (i, (number, departure)) in again.into_iter().enumerate() {
            let mut header =
                Header::new(departure.tag, self.base.local, departure.tree, departure.size);
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
        if !self.base.settings.preset.is_optimistic() {
            return;
        }
        self.expirations += 1;
        if self.expirations < self.base.settings.pupa.refresh_every {
            return;
        }
        self.expirations = 0;
        let heard = self.peers.flows().filter(|(_, flow)| flow.receiving.has_news_for_all());
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
        let (now, settings) = (self.base.now, self.base.settings);
        let sending = &mut self.flow(peer).sending;
        let once = sending.timeout(&settings);
        let most = settings
            .silence
            .map_or(Nanoseconds::MAX, |silence| silence.lost_after / ASKED_MEANWHILE);
        let deadline = now + sending.doubled_timeout(&settings).min(most.max(once));
        sending.deadline = Some(deadline);
        self.timers.wake_by(deadline, Timer::Retransmit);
    }
}

/// Packets to one peer from which on it is asked, down to which, and one in how many asks.
struct WaterMarks {
    from: usize,
    until: usize,
    every: Every,
}

impl WaterMarks {
    /// By the water marks; where the network has room for fewer packets, half of these and a
    /// quarter, so that the window moves before it is full.
    fn of(window: u16, settings: &Settings) -> Self {
        let (from, until) = settings.pupa.marks();
        let packets = settings.pupa.ask_every;
        let every = Every { packets, buffers: packets.into() };
        if settings.congestion.is_none() {
            return WaterMarks { from, until, every };
        }
        let (half, quarter) = (usize::from(window / 2), usize::from(window / 4));
        WaterMarks {
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
    out.defer(Deferred::raw(tells, PacketBody::Empty));
}
