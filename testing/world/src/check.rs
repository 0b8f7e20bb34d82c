//! The invariants, checked after every step from what the world saw.
//!
//! # Bounds (I9)
//!
//! With `N` ranks, windows of `W` packets and `S` send buffers a host:
//!
//! - The *blocked-sends queue* from `A` to `B` holds a packet for a destination once. Its packets
//!   are in send buffers of `A`'s host, at most `S`; or are the one fetch-and-add that `A` may ask;
//!   or are being forwarded, and then fill one of `W` receive buffers for one of the `N - 2` others
//!   (not `B`: who is a parent in a tree is no child there). So `S + 1 + W (N - 2)`.
//! - The *wire* from `A` to `B` carries at most `W` data packets (I2). Its control packets return
//!   credits that `B` has for `A`: an explicit update half a window or more, the answer to the one
//!   fetch-and-add that `B` may ask at least the request's. So there are at most two, and one if
//!   the window is one packet.
//! - What is *delivered or kept* at a host fills its receive buffers, `W (N - 1)`, or came from
//!   itself, in at most `S` send buffers.
//! - Under ACK-receive only the number of packets there are bounds what waits to be forwarded.
//!
//! Where windows follow demand, `W` is the largest. Grants are told at once, so that each of `W`
//! credits may travel by itself; and on a wire there may be a request for credits, and the answer
//! to one the other way.
//!
//! With recovery (thesis 4.3.2) each NI has `N - 1` buffers more, one for the recovery channel of
//! each other rank, and no credit is spent on what goes there. So there are as many packets more to
//! forward, and at a host; and on a wire, as many data packets, and as many that clear channels.

use crate::sink::gives_credits;
use crate::world::World;
use std::collections::BTreeMap;
use weft_protocol::invariants::{
    PairCredits, i1_credit_conservation, i2_careful, i2_promised, i5_control_never_blocks,
    i7_recovery, i9_bounded,
};
use weft_protocol::{Acknowledging, Recovery};
use weft_wire::{Channel, Rank, Tag, TreeId};

impl World {
    /// Checks every pair, buffer and host.
    pub(crate) fn check(&self) {
        for sender in self.ranks() {
            for receiver in self.ranks().filter(|&receiver| receiver != sender) {
                self.check_pair(sender, receiver);
            }
            self.check_host(sender);
            self.check_promises(sender);
        }
        self.check_channels();
        self.ledger.check();
    }

    fn check_pair(&self, sender: Rank, receiver: Rank) {
        let window = self.nis[receiver.index()].observe().promised(sender);
        let pair = self.ledger.pair(sender, receiver);
        let (held, blocked) = self.nis[sender.index()].observe().outgoing(receiver);
        let (buffered, owed) = self.nis[receiver.index()].observe().incoming(sender);
        let wire = self.wires.between(sender, receiver);
        let in_flight = wire.iter().filter(|packet| packet.spends_credit()).count() as u16;
        let back = self.wires.between(receiver, sender);
        let returning = back.iter().filter(|packet| gives_credits(packet.header.tag));
        let returning = returning.map(|packet| packet.header.credits).sum();
        let handed_back = wire.iter().filter(|packet| packet.header.tag == Tag::Return);
        let handed_back = handed_back.map(|packet| packet.header.credits).sum();

        let forgotten = pair.due.saturating_sub(blocked) as u64;
        i2_careful(u64::from(in_flight + pair.buffered), window, forgotten + self.ledger.dropped);
        let settings = &self.options.settings;
        let first = settings.first_credits();
        // Credits that were handed back are the receiver's, to give to any rank.
        let granted = i32::from(window) - i32::from(first) + i32::from(pair.returned);
        let freed = pair.freed + granted;
        if freed > 0 && freed >= i32::from(half(window)) {
            i5_control_never_blocks(Tag::Credit);
        }
        assert!(
            blocked <= pair.due,
            "I5 control never blocks: {blocked} packets wait at {sender:?} for {receiver:?}, and \
             {} of them are data",
            pair.due
        );
        let places =
            PairCredits { window, held, in_flight, buffered, owed, returning, handed_back };
        i1_credit_conservation(&places);
        assert!(
            (first..=settings.window_packets).contains(&window),
            "I1 credit conservation: {receiver:?} has promised {sender:?} {window} buffers"
        );
        assert_eq!(
            (buffered, i32::from(owed)),
            (pair.buffered, freed),
            "I1 credit conservation: what {receiver:?} thinks of {sender:?}'s buffers, and what is"
        );
        i9_bounded("a blocked-sends queue", blocked, self.blocked_bound());
        i9_bounded("a wire", wire.len(), self.wire_bound());
    }

    /// I2, of all senders together: a receiver has a buffer for whatever they may send.
    fn check_promises(&self, receiver: Rank) {
        let ni = &self.nis[receiver.index()];
        let others = self.ranks().filter(|&sender| sender != receiver);
        let promised: u64 = others.map(|sender| u64::from(ni.observe().promised(sender))).sum();
        i2_promised(promised, self.options.settings.promised_buffers());
    }

    fn check_host(&self, rank: Rank) {
        self.nis[rank.index()]
            .observe()
            .check_all_invariants()
            .unwrap_or_else(|broken| panic!("{broken}"));
        let host = &self.hosts[rank.index()];
        i9_bounded("a host", host.delivered() + host.kept(), self.host_bound());
        // One entry for every buffer with several needs: each is a receive or a send buffer.
        let shared = self.nis[rank.index()].observe().shared_buffers();
        i9_bounded("a table of shared buffers", shared, self.host_bound());
    }

    /// I7, for every channel that is in use.
    pub(crate) fn check_channels(&self) {
        let mut uses: BTreeMap<Rank, Vec<(Rank, TreeId)>> = BTreeMap::new();
        for at in self.ranks() {
            for (channel, tree) in self.recovering(at) {
                uses.entry(channel.0.expect("it is on a channel")).or_default().push((at, tree));
            }
        }
        uses.iter().for_each(|(&owner, uses)| i7_recovery(owner, uses));
    }

    /// The packets on recovery channels that are in buffers of `at`, or on their way there.
    fn recovering(&self, at: Rank) -> impl Iterator<Item = (Channel, TreeId)> {
        let arriving = self.wires.to_rank(at).filter(|packet| packet.header.tag.is_data());
        let arriving = arriving.map(|packet| (packet.header.channel, packet.header.tree));
        let arriving = arriving.filter(|(channel, _)| *channel != Channel::NONE);
        arriving.chain(self.ledger.channels(at))
    }

    /// The longest that a blocked-sends queue gets.
    pub fn blocked_bound(&self) -> usize {
        if self.bounded_by_buffers_only() {
            return self.everything();
        }
        let others = self.nis.len().saturating_sub(2);
        self.options.send_buffers + 1 + self.window() * others + self.channel_buffers()
    }

    /// The most packets that a wire carries.
    pub fn wire_bound(&self) -> usize {
        let control = match self.options.settings.adaptive {
            None => self.window().min(2),
            Some(_) => self.window() + 2,
        };
        self.window() + control + 2 * self.channel_buffers()
    }

    /// The most packets that a host has to process or release.
    pub fn host_bound(&self) -> usize {
        if self.bounded_by_buffers_only() {
            return self.everything();
        }
        self.options.send_buffers + self.window() * (self.nis.len() - 1) + self.channel_buffers()
    }

    /// The buffers of an NI that belong to recovery channels.
    fn channel_buffers(&self) -> usize {
        match self.options.settings.recovery {
            Recovery::Off => 0,
            _ => self.nis.len() - 1,
        }
    }

    /// ACK-receive leaves a hole in flow control (thesis 8.3.2): what waits to be forwarded at a
    /// host is bounded by the host's buffers, of which these hosts have as many as they need.
    fn bounded_by_buffers_only(&self) -> bool {
        self.options.settings.preset.acknowledging() == Acknowledging::Receive
    }

    /// Upper bound of the packets that can be anywhere.
    fn everything(&self) -> usize {
        self.steps() as usize * self.nis.len()
    }

    fn window(&self) -> usize {
        usize::from(self.options.settings.window_packets)
    }
}

/// Half a window: as many credits do not wait for a packet to take them along.
fn half(window: u16) -> u16 {
    window.div_ceil(2)
}
