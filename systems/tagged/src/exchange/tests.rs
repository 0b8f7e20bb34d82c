//! Ranks in one vector, and a network of queues between them that is full now and then.

#![allow(clippy::unwrap_used)]

mod ending;
mod posted;
mod zero_copy;

use super::*;
use crate::format::Whole;
use crate::network::Receiver;
use crate::network::wires::{Memory, Net, address};
use crate::peer::{EAGER_BYTES, IN_PLACE_BYTES, MOST_REQUESTS, cost, window_of};
use crate::{Address, Error};
use std::num::NonZero;
use weft_model::random::Random;

/// Memory to receive into: one message, or several in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Area {
    number: usize,
    bytes: Vec<u8>,
    /// Memory used of an area for several messages.
    used: Option<usize>,
}

impl Sink for Area {
    fn capacity(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn place(&mut self, offset: u64, bytes: &[u8]) {
        let offset = (offset as usize).min(self.bytes.len());
        let fits = bytes.len().min(self.bytes.len() - offset);
        self.bytes[offset..offset + fits].copy_from_slice(&bytes[..fits]);
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(offset as usize..)?.get_mut(..length)
    }

    fn split(&mut self, length: u64) -> Option<(Self, bool)> {
        let used = self.used.as_mut()?;
        let fits = (length as usize).min(self.bytes.len() - *used);
        *used += fits;
        let part = Area { number: self.number, bytes: vec![0; fits], used: None };
        Some((part, self.bytes.len() - *used < 10))
    }
}

/// Receiver of a rank, with the list of what was received.
struct At<'a>(usize, &'a mut Vec<(usize, Area, MessageEnvelope)>);

impl Receiver<Area> for At<'_> {
    fn wants(&self, into: &Area, length: u64) -> bool {
        into.used.is_none() && length <= into.bytes.len() as u64
    }

    fn receive(&mut self, mut into: Area, envelope: &MessageEnvelope, bytes: &[u8]) {
        into.place(0, bytes);
        self.1.push((self.0, into, *envelope));
    }
}

type Rankly = Exchange<Memory, Area>;

/// The ranks and what is between them.
struct World {
    ranks: Vec<Rankly>,
    net: Net,
    sent: Vec<usize>,
    received: Vec<(usize, Area, MessageEnvelope)>,
}

impl World {
    fn new(ranks: usize, payload: usize, room: usize) -> Self {
        World {
            ranks: (0..ranks).map(|rank| Exchange::new(Rank(rank as u16), JOB)).collect(),
            net: Net::new(ranks, payload, room),
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    fn pair() -> Self {
        World::new(2, 1000, usize::MAX)
    }

    /// Ranks whose long messages may be fetched.
    fn lending(ranks: usize) -> Self {
        let mut world = World::new(ranks, 1000, usize::MAX);
        world.ranks.iter_mut().for_each(|rank| rank.set_single_copy(|_| true));
        world
    }

    /// Sends; whether it could be begun.
    fn send(&mut self, from: usize, message: &SendParameters, number: usize, bytes: &[u8]) -> bool {
        let source = Memory { number, bytes: bytes.to_vec() };
        let outcome = self.ranks[from].send(&mut self.net.of(from), message, source).unwrap();
        let began = match outcome {
            Sending::Sent(source) => {
                self.sent.push(source.number);
                true
            }
            Sending::Kept => {
                self.net.fetchable.bytes.insert(address(number), bytes.to_vec());
                true
            }
            Sending::Again(_) => false,
        };
        self.tell(from);
        began
    }

    fn receive(&mut self, at: usize, pattern: ReceivePattern, number: usize, capacity: usize) {
        let area = Area { number, bytes: vec![0; capacity], used: None };
        self.ranks[at].receive(0, Tagging::Tagged, pattern, area);
        self.tell(at);
    }

    fn tell(&mut self, at: usize) {
        while let Some(event) = self.ranks[at].event() {
            match event {
                ExchangeEvent::Sent(source) => {
                    if self.net.lent.remove(&source.number) {
                        assert!(self.net.is_empty(at), "packets have its bytes still");
                    }
                    // Nothing may be fetched from there any more.
                    self.net.fetchable.bytes.remove(&address(source.number));
                    self.sent.push(source.number);
                }
                ExchangeEvent::Received { into, envelope } => {
                    self.received.push((at, into, envelope))
                }
            }
        }
    }

    /// Has `at` take one packet of `from`; whether there was one.
    fn arrive(&mut self, from: usize, at: usize) -> bool {
        self.place_posted(from, at);
        let Some(packet) = self.net.take(from, at) else { return false };
        self.give(at, Rank(from as u16), &packet).unwrap();
        self.tell(at);
        true
    }

    /// Gives `at` a packet of `from`.
    fn give(&mut self, at: usize, from: Rank, packet: &[u8]) -> crate::Result<()> {
        let World { ranks, received, net, .. } = self;
        // All ways lead to the same end.
        let may_expect = packet.len().is_multiple_of(2);
        if may_expect && ranks[at].arrive_expected(from, packet, &mut At(at, received)) {
            return Ok(());
        }
        if may_expect && ranks[at].arrive_inside(from, packet)? {
            return Ok(());
        }
        ranks[at].arrive(&mut net.of(at), from, packet)
    }

    fn transmit(&mut self, at: usize) -> bool {
        let any = self.ranks[at].transmit(&mut self.net.of(at)).unwrap();
        self.tell(at);
        any
    }

    /// Until nothing moves any more.
    fn settle(&mut self) {
        loop {
            let mut any = false;
            for at in 0..self.ranks.len() {
                any |= (0..self.ranks.len()).any(|from| self.arrive(from, at));
                any |= self.transmit(at);
            }
            if !any {
                return;
            }
        }
    }
}

fn to(rank: usize, tag: u64) -> SendParameters {
    SendParameters {
        to: Address { rank: Rank(rank as u16), endpoint: 0 },
        from: 0,
        kind: Tagging::Tagged,
        tag,
        data: Some(tag + 1),
        wants_done: false,
    }
}

fn from(rank: usize, tag: u64) -> ReceivePattern {
    ReceivePattern { source: Some(to(rank, 0).to), tag, ignore: 0 }
}

/// Ranks of a job whose windows are the least, so that few messages fill them. Few of them are
/// there.
const JOB: usize = 64;

/// Bytes of messages that ask, or more.
const LONG: u64 = EAGER_BYTES + 10_000;

/// The window between two of the ranks of these tests.
fn window() -> u64 {
    window_of(JOB)
}

fn pattern_of(length: usize) -> Vec<u8> {
    (0..length).map(|offset| (offset * 7 + length) as u8).collect()
}

#[test]
fn a_message_of_any_length_arrives_posted_or_not() {
    for length in [0, 1, 975, 976, 977, 5000, 16_385, EAGER_BYTES as usize, 200_000] {
        for posted in [true, false] {
            for target in [0, 1] {
                let mut world = World::pair();
                let bytes = pattern_of(length);
                if posted {
                    world.receive(target, from(0, 5), 1, length);
                }
                assert!(world.send(0, &to(target, 5), 0, &bytes));
                world.settle();
                if !posted {
                    assert!(world.received.is_empty());
                    world.receive(target, from(0, 5), 1, length);
                    world.settle();
                }
                assert_eq!(world.sent, [0], "{length} bytes");
                let (at, area, envelope) = &world.received[0];
                assert_eq!((*at, &area.bytes), (target, &bytes));
                assert_eq!((envelope.tag, envelope.data), (5, Some(6)));
                assert!(world.ranks.iter().all(Rankly::is_idle));
                assert_eq!(world.ranks[target].unexpected_count(), 0);
            }
        }
    }
}

#[test]
fn what_is_too_long_is_cut_off() {
    for length in [100, 5000, 60_000, 100_000, 200_000] {
        for posted in [true, false] {
            for target in [0, 1] {
                let mut world = World::pair();
                let receive = |world: &mut World| world.receive(target, from(0, 5), 1, length / 2);
                if posted {
                    receive(&mut world);
                }
                assert!(world.send(0, &to(target, 5), 0, &pattern_of(length)));
                world.settle();
                if !posted {
                    receive(&mut world);
                    world.settle();
                }
                let (_, area, envelope) = &world.received[0];
                assert_eq!(area.bytes, pattern_of(length)[..length / 2]);
                assert_eq!(envelope.length, length as u64);
                assert_eq!(world.sent, [0]);
            }
        }
    }
}

#[test]
fn who_wants_to_know_is_told_when_all_is_there() {
    for length in [0, 100, 100_000, 200_000] {
        let mut world = World::pair();
        let message = SendParameters { wants_done: true, ..to(1, 5) };
        assert!(world.send(0, &message, 0, &pattern_of(length)));
        world.settle();
        assert!(world.sent.is_empty(), "nobody wants it yet");
        world.receive(1, from(0, 5), 1, length);
        assert!(world.sent.is_empty());
        world.settle();
        assert_eq!((world.sent.len(), world.received.len()), (1, 1));
    }
}

#[test]
fn what_the_sender_wants_to_know_of_is_there_in_order() {
    let mut world = World::pair();
    for number in 0..4 {
        world.receive(1, from(0, number), number as usize, 100);
    }
    for number in 0..4 {
        let message = SendParameters { wants_done: number % 2 == 0, ..to(1, number) };
        assert!(world.send(0, &message, number as usize, &pattern_of(10)));
    }
    // What goes one way is enough.
    while world.arrive(0, 1) {}
    let order: Vec<u64> = world.received.iter().map(|(_, _, envelope)| envelope.tag).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    world.settle();
    assert_eq!(world.sent.len(), 4);
}

#[test]
fn who_wants_to_know_of_a_message_that_nobody_wants_is_told_when_it_is_dropped() {
    let mut world = World::pair();
    let message = SendParameters { wants_done: true, ..to(1, 5) };
    assert!(world.send(0, &message, 0, &pattern_of(100)));
    world.settle();
    assert!(world.sent.is_empty());
    assert!(world.ranks[1].discard(0, Tagging::Tagged, &from(0, 5)).is_some());
    world.settle();
    assert_eq!(world.sent, [0]);
}

/// Packets in which a message of so many bytes leaves, which is received from them.
fn packets_of(world: &mut World, length: usize) -> Vec<Vec<u8>> {
    assert!(world.send(0, &to(1, 5), 0, &pattern_of(length)));
    let sent: Vec<_> = std::iter::from_fn(|| world.net.take(0, 1)).collect();
    for packet in &sent {
        world.give(1, Rank(0), packet).unwrap();
    }
    world.receive(1, from(0, 5), length, length);
    world.tell(1);
    let (_, area, envelope) = world.received.last().unwrap();
    assert_eq!((envelope.length as usize, &area.bytes), (length, &pattern_of(length)));
    sent
}

#[test]
fn a_message_that_fills_a_packet_leaves_in_halves() {
    let mut world = World::new(2, 65_000, usize::MAX);
    for (length, packets) in [(40_000, 1), (50_000, 2), (65_536, 2), (90_000, 2), (100_000, 2)] {
        assert_eq!(packets_of(&mut world, length).len(), packets, "{length} bytes");
    }
}

#[test]
fn a_flood_ends_in_the_senders_memory() {
    let mut world = World::pair();
    let bytes = pattern_of(1000 - 24);
    let messages = 3 * (window() / cost(bytes.len() as u64)) as usize;
    for number in 0..messages {
        assert!(world.send(0, &to(1, number as u64), number, &bytes));
        world.settle();
    }
    let receiver = &world.ranks[1];
    let (stored, stored_bytes) = (receiver.unexpected_count(), receiver.unexpected_bytes());
    assert_eq!(stored, messages, "all envelopes are there");
    assert!(stored_bytes as u64 <= window());
    assert_eq!(world.sent.len(), messages.div_ceil(3), "the others wait");
    // In the reverse order, so that the last sent has to come before all the others.
    for number in (0..messages).rev() {
        world.receive(1, from(0, number as u64), number, bytes.len());
        world.settle();
    }
    assert_eq!(world.sent.len(), messages);
    assert_eq!(world.received.len(), messages);
    assert!(world.received.iter().all(|(_, area, _)| area.bytes == bytes));
    assert!(world.ranks.iter().all(Rankly::is_idle));
}

#[test]
fn a_flood_of_requests_ends_too() {
    let mut world = World::pair();
    let message = SendParameters { wants_done: true, ..to(1, 1) };
    // Before they ask they are stored.
    let most = MOST_REQUESTS as usize + (window() / cost(0)) as usize;
    for number in 0..most {
        assert!(world.send(0, &message, number, &[]));
        world.arrive(0, 1);
    }
    assert!(!world.send(0, &message, most, &[]), "it is tried again later");
    assert!(world.ranks[0].is_full(Rank(1)) && !world.ranks[1].is_full(Rank(0)));
    for number in 0..=most - MOST_REQUESTS as usize {
        assert!(world.ranks[0].is_full(Rank(1)), "those that asked are behind");
        world.receive(1, from(0, 1), number, 0);
        world.settle();
    }
    assert!(!world.ranks[0].is_full(Rank(1)));
    assert!(world.send(0, &message, most, &[]));
}

#[test]
fn two_that_send_very_many_messages_before_they_receive_both_go_on() {
    let mut world = World::pair();
    let messages = 150_000;
    for number in 0..messages {
        for rank in 0..2 {
            assert!(world.send(rank, &to(1 - rank, number as u64), number, &[]));
            world.arrive(rank, 1 - rank);
        }
    }
    // The last one first.
    for number in (0..messages).rev() {
        for rank in 0..2 {
            world.receive(rank, from(1 - rank, number as u64), number, 0);
        }
        world.settle();
    }
    assert_eq!(world.received.len(), 2 * messages);
    assert!(world.ranks.iter().all(Rankly::is_idle));
}

#[test]
fn a_window_comes_back() {
    let mut world = World::pair();
    for number in 0..2000 {
        world.receive(1, from(0, 5), number, 5000);
        assert!(world.send(0, &to(1, 5), number, &pattern_of(5000)));
        assert_eq!(world.sent.len(), number + 1, "it never has to ask");
        world.settle();
    }
    assert_eq!(world.received.len(), 2000);
}

#[test]
fn looking_takes_nothing_and_claiming_puts_by() {
    for length in [10, 5000, 100_000, 200_000] {
        for target in [0, 1] {
            let mut world = World::pair();
            assert_eq!(world.ranks[target].peek(0, Tagging::Tagged, &from(0, 5)), None);
            for number in 0..3 {
                assert!(world.send(0, &to(target, 5), number, &pattern_of(length)));
            }
            world.settle();
            let rank = &mut world.ranks[target];
            let seen = rank.peek(0, Tagging::Tagged, &from(0, 5)).unwrap();
            assert_eq!(seen.length, length as u64);
            assert_eq!(rank.claim(0, Tagging::Tagged, &from(0, 5), 77), Some(seen));
            assert!(rank.has_claimed(0, 77) && !rank.has_claimed(1, 77));
            assert_eq!(rank.discard(0, Tagging::Tagged, &from(0, 5)), Some(seen));
            world.receive(target, from(0, 5), 3, length);
            world.settle();
            assert_eq!(world.received.len(), 1, "the third; the first is put by");
            let area = Area { number: 9, bytes: vec![0; length], used: None };
            world.ranks[target].receive_claimed(0, 77, area).unwrap();
            world.tell(target);
            world.settle();
            assert_eq!(world.received[1].1.bytes, pattern_of(length));
            assert_eq!(world.sent.len(), 3);
            assert!(world.ranks.iter().all(Rankly::is_idle));
        }
    }
}

#[test]
fn a_message_that_still_comes_may_be_received_claimed_or_dropped() {
    for way in 0..3 {
        let mut world = World::pair();
        let bytes = pattern_of(5000);
        assert!(world.send(0, &to(1, 5), 0, &bytes));
        world.arrive(0, 1);
        world.arrive(0, 1);
        let area = Area { number: 1, bytes: vec![0; 5000], used: None };
        match way {
            0 => assert!(!world.ranks[1].receive(0, Tagging::Tagged, from(0, 5), area)),
            1 => {
                world.ranks[1].claim(0, Tagging::Tagged, &from(0, 5), 7).unwrap();
                world.arrive(0, 1);
                world.ranks[1].receive_claimed(0, 7, area).unwrap();
            }
            _ => {
                world.ranks[1].discard(0, Tagging::Tagged, &from(0, 5)).unwrap();
            }
        }
        world.settle();
        assert_eq!(world.received.len(), usize::from(way < 2));
        assert!(world.received.iter().all(|(_, area, _)| area.bytes == bytes));
        assert_eq!(world.ranks[1].unexpected_count(), 0);
    }
}

#[test]
fn a_buffer_for_several_takes_them_in_order() {
    let mut world = World::pair();
    let area = Area { number: 1, bytes: vec![0; 100], used: Some(0) };
    let anything = ReceivePattern { source: None, tag: 0, ignore: u64::MAX };
    assert!(world.send(0, &to(1, 1), 0, &pattern_of(30)));
    world.settle();
    world.ranks[1].receive(0, Tagging::Tagged, anything, area);
    world.tell(1);
    for number in 1..4 {
        assert!(world.send(0, &to(1, 1), number, &pattern_of(31)));
    }
    world.settle();
    let lengths: Vec<usize> = world.received.iter().map(|(_, area, _)| area.bytes.len()).collect();
    assert_eq!(lengths, [30, 31, 31], "then fewer than ten bytes are left");
    assert_eq!(world.ranks[1].unexpected_count(), 1);
}

#[test]
fn a_cancelled_receive_gets_nothing() {
    let mut world = World::pair();
    world.receive(1, from(0, 5), 1, 10);
    world.receive(1, from(0, 5), 2, 10);
    assert_eq!(world.ranks[1].cancel(0, |area| area.number == 1).unwrap().number, 1);
    assert!(world.ranks[1].cancel(0, |area| area.number == 1).is_none());
    assert!(world.send(0, &to(1, 5), 0, &[1]));
    world.settle();
    assert_eq!(world.received[0].1.number, 2);
    world.receive(1, from(0, 5), 3, 10);
    assert_eq!(world.ranks[1].close(0).len(), 1);
}

/// All that a peer sends is received at once, and answered; but it returns no credits, so that no
/// answer leaves.
#[test]
fn who_takes_no_answers_gets_no_further() {
    let envelope = MessageEnvelope {
        kind: Tagging::Tagged,
        source: to(0, 0).to,
        tag: 1,
        data: None,
        length: 0,
    };
    let registered = NonZero::new(1);
    let whole = TaggedPacket::Whole(Whole { to: 0, envelope, registered, bytes: &[] });
    let request =
        TaggedPacket::Request { to: 0, envelope, number: 1, lies_at: None, wants_done: true };
    let floods = [
        (whole, window() / cost(0), "a message that there was no window for"),
        (request, MOST_REQUESTS.into(), "more requests than it may have"),
    ];
    for (packet, most, said) in floods {
        let mut world = World::pair();
        let refused = (0..=most as usize).find_map(|number| {
            world.receive(1, from(0, 1), number, 0);
            let given = world.give(1, Rank(0), packet.head().bytes());
            world.tell(1);
            given.err().map(|error| (number as u64, error))
        });
        let (taken, error) = refused.expect("it gets further and further");
        assert_eq!(taken, most);
        assert!(matches!(error, Error::Violation { from: Rank(0), what } if what == said));
        assert_eq!(world.received.len() as u64, taken, "what was taken was received");
    }
}

#[test]
fn what_no_peer_sends_changes_nothing() {
    let head = |parsed: TaggedPacket<'_>| parsed.head().bytes().to_vec();
    let envelope = MessageEnvelope {
        kind: Tagging::Tagged,
        source: to(1, 0).to,
        tag: 1,
        data: None,
        length: EAGER_BYTES + 1,
    };
    let longest = MessageEnvelope { length: IN_PLACE_BYTES + 1, ..envelope };
    let mut long =
        head(TaggedPacket::Whole(Whole { to: 0, envelope, registered: None, bytes: &[] }));
    long.extend(vec![0; IN_PLACE_BYTES as usize + 1]);
    let hostile = [
        vec![],
        vec![1; 7],
        long,
        head(TaggedPacket::More { number: 0, offset: 0, bytes: &[] }),
        head(TaggedPacket::First { to: 0, envelope: longest, number: 0, bytes: &[] }),
        head(TaggedPacket::Grant { number: 1 << 32, own: 1, length: 1, zero_copy: true }),
        head(TaggedPacket::Grant {
            number: 1 << 32 | 1,
            own: 1,
            length: u64::MAX,
            zero_copy: false,
        }),
        head(TaggedPacket::Part { own: 1 << 32 | 1, offset: 0, bytes: &[] }),
        head(TaggedPacket::Done { number: 1 << 32 | 1 }),
        head(TaggedPacket::Consumed { amount: 1 }),
        head(TaggedPacket::Consumed { amount: u64::MAX }),
    ];
    for packet in hostile {
        let mut world = World::pair();
        // A send that waits for an answer, to rank 0 itself: nobody else answers it.
        assert!(world.send(0, &to(0, 5), 0, &pattern_of(200_000)));
        let outcome = world.give(0, Rank(1), &packet);
        assert!(
            matches!(outcome, Err(Error::Violation { from: Rank(1), .. })),
            "kind {:?}",
            packet.first()
        );
        world.tell(0);
        assert!(world.received.is_empty() && world.sent.is_empty());
    }
}

#[test]
fn long_messages_are_fetched_posted_or_not() {
    for (length, fetched) in [(32_767, 0), (32_768, 1), (100_000, 1), (600_000, 3)] {
        for (posted, wants_done) in [(true, false), (false, true)] {
            let mut world = World::lending(2);
            let bytes = pattern_of(length);
            if posted {
                world.receive(1, from(0, 5), 1, length);
            }
            assert!(world.send(0, &SendParameters { wants_done, ..to(1, 5) }, 0, &bytes));
            world.settle();
            if !posted {
                assert!(world.received.is_empty() && world.sent.is_empty());
                world.receive(1, from(0, 5), 1, length);
                world.settle();
            }
            assert_eq!((&world.sent[..], world.net.fetchable.fetched), (&[0][..], fetched));
            assert_eq!(world.received[0].1.bytes, bytes);
            assert!(world.ranks.iter().all(Rankly::is_idle));
            assert!(!world.ranks[0].is_full(Rank(1)));
        }
    }
}

#[test]
fn a_message_that_cannot_be_fetched_is_sent() {
    for time in 0..3 {
        let mut world = World::lending(2);
        world.net.fetchable.fails = time..time + 1;
        let bytes = pattern_of(600_000);
        for number in 0..2 {
            assert!(world.send(0, &to(1, 5), number, &bytes));
        }
        world.settle();
        world.receive(1, from(0, 5), 1, bytes.len());
        world.settle();
        assert_eq!(world.net.fetchable.fetched, time + 1);
        world.receive(1, from(0, 5), 1, bytes.len());
        world.settle();
        assert_eq!(world.net.fetchable.fetched, time + 1, "it is not tried again");
        assert!(world.received.iter().all(|(_, area, _)| area.bytes == bytes));
        assert_eq!(world.sent, [0, 1]);
        assert!(world.ranks.iter().all(Rankly::is_idle));
    }
}

#[test]
fn what_leaves_from_where_it_lies_is_its_senders_once_it_has_arrived() {
    for wants_done in [false, true] {
        let mut world = World::pair();
        world.net.lends = true;
        let bytes = pattern_of(200_000);
        world.receive(1, from(0, 5), 1, bytes.len());
        assert!(world.send(0, &SendParameters { wants_done, ..to(1, 5) }, 0, &bytes));
        assert!(world.arrive(0, 1) && world.transmit(1) && world.arrive(1, 0));
        while world.ranks[0].sends.granted.front().is_some() {
            assert!(world.transmit(0));
        }
        assert!(!world.transmit(0) && world.sent.is_empty(), "all is still on its way");
        assert!(world.ranks[0].is_busy(0) && !world.ranks[0].is_idle());
        while world.arrive(0, 1) {}
        assert_eq!(world.received[0].1.bytes, bytes);
        world.settle();
        assert_eq!(world.sent, [0], "wants done: {wants_done}");
        assert!(world.ranks.iter().all(Rankly::is_idle));
    }
}

#[test]
fn of_what_is_too_long_only_what_fits_is_fetched() {
    let mut world = World::lending(2);
    world.receive(1, from(0, 5), 1, 300_000);
    assert!(world.send(0, &to(1, 5), 0, &pattern_of(600_000)));
    world.settle();
    let (_, area, envelope) = &world.received[0];
    assert_eq!(area.bytes, pattern_of(600_000)[..300_000]);
    assert_eq!((envelope.length, world.net.fetchable.fetched), (600_000, 2));
    assert_eq!(world.sent, [0]);
    world.receive(1, from(0, 5), 1, 0);
    assert!(world.send(0, &to(1, 5), 1, &pattern_of(600_000)));
    world.settle();
    assert_eq!((world.sent.len(), world.net.fetchable.fetched), (2, 2), "nothing of it is wanted");
}

#[test]
fn several_are_fetched_in_turn() {
    let mut world = World::lending(3);
    for sender in 0..2 {
        world.receive(2, from(sender, 5), sender, 600_000);
        assert!(world.send(sender, &to(2, 5), sender, &pattern_of(600_000)));
        world.arrive(sender, 2);
    }
    for leaves in 1..=4 {
        assert!(world.transmit(2));
        assert!(world.ranks[2].has_to_transmit() && world.ranks[2].is_busy(0));
        assert!(!world.ranks[2].is_idle() && world.received.is_empty());
        assert_eq!(world.net.fetchable.fetched, leaves);
    }
    // Of both the rest is left, less than one of them was given before.
    assert!(world.transmit(2) && !world.ranks[2].has_to_transmit());
    world.settle();
    assert_eq!((world.received.len(), world.sent.len()), (2, 2));
    assert!(world.received.iter().all(|(_, area, _)| area.bytes == pattern_of(600_000)));
}

#[test]
fn a_buffer_for_several_has_them_fetched() {
    let mut world = World::lending(2);
    let area = Area { number: 1, bytes: vec![0; 200_000], used: Some(0) };
    world.ranks[1].receive(0, Tagging::Tagged, from(0, 5), area);
    for number in 0..2 {
        assert!(world.send(0, &to(1, 5), number, &pattern_of(50_000)));
    }
    world.settle();
    assert_eq!((world.received.len(), world.net.fetchable.fetched), (2, 2));
    assert!(world.received.iter().all(|(_, area, _)| area.bytes == pattern_of(50_000)));
}

#[test]
fn who_did_not_say_where_its_bytes_lie_is_told_of_no_end() {
    for single_copy in [false, true] {
        for number in [1 << 32 | 1, 7] {
            let mut world = World::pair();
            world.ranks[0].set_single_copy(|_| single_copy);
            assert!(world.send(0, &to(1, 5), 0, &pattern_of(200_000)));
            let done = TaggedPacket::Done { number }.head();
            let is_right = single_copy && number != 7;
            assert!(world.give(0, Rank(0), done.bytes()).is_err(), "of another rank");
            assert_eq!(world.give(0, Rank(1), done.bytes()).is_ok(), is_right);
            assert!(world.give(0, Rank(1), done.bytes()).is_err(), "it has ended");
            world.tell(0);
            assert_eq!(world.sent.len(), usize::from(is_right));
        }
    }
}

#[test]
fn of_what_is_fetched_nothing_is_sent() {
    let mut world = World::lending(2);
    world.receive(1, from(0, 5), 1, 600_000);
    assert!(world.send(0, &to(1, 5), 0, &pattern_of(600_000)));
    world.arrive(0, 1);
    assert!(world.ranks[1].has_to_transmit());
    let part = TaggedPacket::Part { own: 1 << 32 | 1, offset: 0, bytes: &[] }.head();
    let part = [part.bytes(), &[1; 10]].concat();
    assert!(world.give(1, Rank(0), &part).is_err());
    world.settle();
    assert_eq!(world.received[0].1.bytes, pattern_of(600_000));
}

/// One receive of a random program.
struct Posted {
    at: usize,
    pattern: ReceivePattern,
    got: Option<(Address, usize)>,
}

/// Checks the rule: of two receives at one rank that want a message, the later one gets it only if
/// the earlier one got another, and one of the same sender only if that was sent earlier.
fn judge(posted: &[Posted], messages: &[(usize, SendParameters, Vec<u8>)]) {
    for (number, later) in posted.iter().enumerate() {
        let Some((source, got)) = later.got else { continue };
        let (_, message, bytes) = &messages[got];
        let envelope = MessageEnvelope {
            kind: Tagging::Tagged,
            source,
            tag: message.tag,
            data: None,
            length: bytes.len() as u64,
        };
        assert!(later.pattern.wants(&envelope));
        let wanted_too =
            |earlier: &&Posted| earlier.at == later.at && earlier.pattern.wants(&envelope);
        for earlier in posted[..number].iter().filter(wanted_too) {
            let (other, before) = earlier.got.expect("the earlier receive comes first");
            assert!(other != source || before < got, "message {got} has overtaken {before}");
        }
    }
}

#[test]
fn random_programs_receive_everything_once_and_in_order() {
    for seed in 0..60 {
        let mut random = Random::part(seed, 1);
        let room = 1 + random.below(4) as usize;
        let mut world = World::new(3, 200 + random.below(2000) as usize, room);
        world.ranks.iter_mut().for_each(|rank| {
            let [single_copy, in_place] = [random.happens(500), random.happens(500)];
            rank.set_single_copy(|_| single_copy);
            rank.set_in_place(|_| in_place);
        });
        let (fails, count) = (random.below(20) as usize, random.below(2) as usize);
        world.net.fetchable.fails = fails..fails + count;
        (world.net.lends, world.net.posts) = (random.happens(500), random.happens(500));
        let mut messages = Vec::new();
        let mut posted: Vec<Posted> = Vec::new();
        for _ in 0..3000 {
            let [one, two] = [random.below(3), random.below(3)].map(|rank| rank as usize);
            match random.below(10) {
                0 | 1 if messages.len() < 200 => {
                    let wants_done = random.happens(100);
                    let message = SendParameters { wants_done, ..to(two, random.below(3)) };
                    let most = *random.choose(&[10, 3000, 49_000, LONG]);
                    let number = messages.len();
                    let mut bytes = pattern_of(random.below(most) as usize);
                    bytes.splice(..0, (number as u32).to_le_bytes());
                    if world.send(one, &message, number, &bytes) {
                        messages.push((one, message, bytes));
                    }
                }
                2 | 3 if posted.len() < 200 => {
                    let source = (!random.happens(300)).then(|| to(two, 0).to);
                    let ignore = *random.choose(&[0, 0, 3]);
                    let pattern = ReceivePattern { source, tag: random.below(3), ignore };
                    let number = posted.len();
                    posted.push(Posted { at: one, pattern, got: None });
                    world.receive(one, pattern, number, LONG as usize + 4);
                }
                4..8 => drop(world.arrive(one, two)),
                _ => drop(world.transmit(one)),
            }
        }
        // Whatever is left is wanted by somebody now.
        world.settle();
        for at in 0..3 {
            for _ in 0..world.ranks[at].unexpected_count() {
                let pattern = ReceivePattern { source: None, tag: 0, ignore: u64::MAX };
                posted.push(Posted { at, pattern, got: None });
                world.receive(at, pattern, posted.len() - 1, LONG as usize + 4);
            }
        }
        world.settle();
        assert!(world.net.posted.is_empty(), "all programs have their memory back");
        let mut seen = vec![false; messages.len()];
        for (at, area, envelope) in &world.received {
            let number = u32::from_le_bytes(*area.bytes.first_chunk().unwrap()) as usize;
            let (sender, message, bytes) = &messages[number];
            assert_eq!((message.to.rank.index(), *sender), (*at, envelope.source.rank.index()));
            assert_eq!(area.bytes[..bytes.len()], bytes[..], "seed {seed}");
            assert!(!std::mem::replace(&mut seen[number], true), "seed {seed}: {number} twice");
            posted[area.number].got = Some((envelope.source, number));
        }
        assert!(seen.iter().all(|seen| *seen), "seed {seed}: all have come");
        assert_eq!(world.sent.len(), messages.len(), "seed {seed}: all have been told of");
        assert!(world.ranks.iter().all(Rankly::is_idle));
        judge(&posted, &messages);
    }
}
