//! `pupa`, event by event (Pupa 2.2), and pairs that need none of it.

use super::recorder::*;
use crate::tree::Shape;
use crate::{Congestion, Contradiction, PacketBody, Preset, Pupa, SendBuffers, Settings, Timer};
use Did::{Free, Transmit};
use weft_wire::{GroupId, Header, Rank, Tag};

const RETRANSMIT: u64 = 1000;
const ACKNOWLEDGE: u64 = 200;

/// A FIFO of 4, of which 3 in use are many and 2 are few; one receive buffer of each kind.
fn settings() -> Settings {
    Settings {
        preset: Preset::Pupa,
        receive_buffers: 1,
        retransmit_after: RETRANSMIT,
        retransmit_at_least: None,
        acknowledge_after: ACKNOWLEDGE,
        pupa: Pupa { primary_sends: 4, primary_buffers: 1, ..Pupa::new(3, 100) },
        ..Settings::new(3, 2)
    }
}

fn bench(local: u16) -> Bench {
    Bench::set_up(local, settings())
}

/// `header` with this number, from one who expects `next` and has no limit.
fn numbered(header: Header, number: u32, next: u32) -> Header {
    Header { sequence: number, acknowledgement: next, ..header }
}

fn asking(header: Header) -> Header {
    Header { asks: true, ..header }
}

/// From one who has accepted, and acknowledges, all before `next`.
fn acknowledge(from: u16, next: u32) -> Header {
    numbered(Header::new(Tag::Acknowledge, Rank(from), unicast_tree(from), 0), next, next)
}

fn nack(from: u16, next: u32) -> Header {
    Header { tag: Tag::Nack, ..acknowledge(from, next) }
}

/// ... and has room for `room` packets more, and no other.
fn with_room(header: Header, room: u16) -> Header {
    Header { credits: room + 1, ..header }
}

fn tells(to: u16, header: Header) -> Did {
    Transmit(Rank(to), header, PacketBody::Empty)
}

fn packet(number: u32) -> Did {
    sent(1, numbered(ucast(0, 0), number, 0), 90 + u64::from(number))
}

fn asking_packet(number: u32) -> Did {
    sent(1, asking(numbered(ucast(0, 0), number, 0)), 90 + u64::from(number))
}

fn receive(bench: &mut Bench, number: u32, asks: bool) -> Vec<Did> {
    let header = Header { asks, ..numbered(ucast(1, 0), number, 0) };
    bench.receive(header, PacketBody::Buffer(200 + u64::from(number)))
}

fn accepted(number: u64) -> Did {
    delivered(200 + number, unicast_tree(1))
}

#[test]
fn a_sender_asks_from_the_low_mark_until_the_high_one() {
    let mut bench = bench(0);
    assert_eq!(bench.unicast(1, 90), [packet(0)]);
    assert_eq!(bench.unicast(1, 91), [packet(1)]);
    assert_eq!(bench.unicast(1, 92), [asking_packet(2)]);
    assert_eq!(bench.receive(acknowledge(1, 1), PacketBody::Empty), [Free(90)]);
    assert_eq!(bench.unicast(1, 93), [asking_packet(3)]);
    assert_eq!(bench.receive(acknowledge(1, 4), PacketBody::Empty), [91, 92, 93].map(Free));
    assert_eq!(bench.unicast(1, 94), [packet(4)]);
    assert!(!bench.ni.is_flushed());
}

#[test]
fn a_packet_asks_if_somebody_waits_for_its_acknowledgement() {
    let mut bench = bench(0);
    bench.ni.ask_with_next(Rank(1));
    assert_eq!(bench.unicast(1, 90), [asking_packet(0)]);
    assert_eq!(bench.unicast(1, 91), [packet(1)], "it alone");
}

#[test]
fn all_are_asked_when_send_buffers_are_short() {
    let pupa = Pupa { secondary_sends: 4, ..settings().pupa };
    let mut bench = Bench::set_up(0, Settings { pupa, ..settings() });
    bench.unicast(1, 90);
    bench.unicast(2, 91);
    let request = tells(1, asking(acknowledge(0, 0)));
    let packet = sent(2, asking(numbered(ucast(0, 0), 1, 0)), 92);
    assert_eq!(bench.unicast(2, 92), [request, packet]);
    assert_eq!(bench.ni.counters().requests, 1);
}

/// Of the packets that `send` has transmitted, those that ask.
fn asking_of(did: &[Did]) -> usize {
    did.iter().filter(|did| matches!(did, Transmit(_, header, _) if header.asks)).count()
}

#[test]
fn packets_take_send_buffers_by_their_size_and_multicasts_once() {
    let sized = |primary_bytes, bytes| {
        let send_buffers = Some(SendBuffers { primary_bytes, bytes });
        let pupa = Pupa { send_buffers, secondary_sends: 8, primary_sends: 100, ..settings().pupa };
        Bench::set_up(0, Settings { pupa, shape: Shape::Flat, ..settings() })
    };
    // 6 in use are many. A packet of 8 bytes takes 2, and its asking asks of others what they have.
    let mut bench = sized(0, 4);
    assert_eq!(asking_of(&bench.unicast(1, 90)), 0);
    assert_eq!(asking_of(&bench.unicast(1, 91)), 0);
    assert_eq!(asking_of(&bench.unicast(1, 92)), 1);
    assert_eq!(bench.receive(acknowledge(1, 3), PacketBody::Empty), [90, 91, 92].map(Free));
    assert_eq!(asking_of(&bench.unicast(1, 93)), 0, "all are free again");
    // What has room in the FIFO takes none.
    let mut bench = sized(8, 4);
    let asking: usize = (90..99).map(|buffer| asking_of(&bench.unicast(1, buffer))).sum();
    assert_eq!(asking, 0);
    // Two receivers, one packet: 2 buffers, until both have it.
    let mut bench = sized(0, 4);
    assert_eq!(asking_of(&bench.multicast(GroupId::ALL, 90)), 0);
    assert_eq!(asking_of(&bench.unicast(1, 91)), 0);
    assert_eq!(bench.receive(acknowledge(1, 2), PacketBody::Empty), [Free(91)]);
    assert_eq!(asking_of(&bench.unicast(1, 92)), 0);
    assert!(asking_of(&bench.unicast(1, 93)) > 0, "the other has not acknowledged");
}

#[test]
fn of_packets_that_take_many_send_buffers_more_ask() {
    let asked_by = |bytes| {
        let send_buffers = Some(SendBuffers { primary_bytes: 0, bytes });
        let pupa = Pupa {
            send_buffers,
            secondary_sends: 40,
            primary_sends: 100,
            ask_every: 8,
            ..settings().pupa
        };
        let mut bench = Bench::set_up(0, Settings { pupa, ..settings() });
        let asks = (90..130).map(|buffer| asking_of(&bench.unicast(1, buffer)));
        asks.collect::<Vec<_>>()
    };
    // From 30 buffers on, one in 8 packets of one buffer; of those that take 4, one in two.
    let every = |from: usize, every: usize| {
        (1..41)
            .map(|sent| usize::from(sent >= from && (sent - from).is_multiple_of(every)))
            .collect()
    };
    let (short, long): (Vec<_>, Vec<_>) = (every(30, 8), every(8, 2));
    assert_eq!((asked_by(8), asked_by(2)), (short, long));
}

#[test]
fn a_receiver_answers_when_asked_and_else_takes_its_time() {
    let mut bench = bench(0);
    assert_eq!(receive(&mut bench, 0, false), [accepted(0)]);
    assert_eq!(bench.ni.next_deadline(), Some((ACKNOWLEDGE, Timer::Acknowledge)));
    assert_eq!(receive(&mut bench, 1, true), [accepted(1), tells(1, acknowledge(0, 2))]);
    assert_eq!(receive(&mut bench, 1, true), [tells(1, acknowledge(0, 2)), Free(201)]);
    let request = asking(acknowledge(1, 0));
    assert_eq!(bench.receive(request, PacketBody::Empty), [tells(1, acknowledge(0, 2))]);
    bench.release_first();
    bench.release_first();
    receive(&mut bench, 2, false);
    assert_eq!(bench.advance(ACKNOWLEDGE), [tells(1, acknowledge(0, 3))]);
    let counters = bench.ni.counters();
    assert_eq!((counters.acknowledgements_asked, counters.acknowledgements_late), (3, 1));
}

#[test]
fn after_many_timers_all_are_told_again() {
    let pupa = Pupa { refresh_every: 2, ..settings().pupa };
    let mut bench = Bench::set_up(0, Settings { pupa, ..settings() });
    receive(&mut bench, 0, false);
    assert_eq!(bench.advance(ACKNOWLEDGE), [tells(1, acknowledge(0, 1))]);
    receive(&mut bench, 1, false);
    let told = [tells(1, acknowledge(0, 2)), tells(1, acknowledge(0, 2))];
    assert_eq!(bench.advance(2 * ACKNOWLEDGE), told);
    assert_eq!(bench.ni.next_deadline(), None, "an idle NI tells nobody");
}

#[test]
fn a_receiver_without_buffers_stops_its_sender_and_lets_it_go_on() {
    let mut bench = bench(0);
    receive(&mut bench, 0, false);
    receive(&mut bench, 1, false);
    let stopped = [Free(202), tells(1, with_room(nack(0, 2), 0))];
    assert_eq!(receive(&mut bench, 2, false), stopped);
    assert_eq!(receive(&mut bench, 3, false), [Free(203)], "its sender was told");
    let other = bench.receive(numbered(ucast(2, 0), 0, 0), PacketBody::Buffer(300));
    assert_eq!(other, [delivered(300, unicast_tree(2))], "who has a buffer of its own");
    assert_eq!(bench.release_first(), [Free(200), tells(1, nack(0, 2))]);
    let counters = bench.ni.counters();
    assert_eq!((counters.no_buffer, counters.stops, counters.resumes), (1, 1, 1));
}

#[test]
fn a_stopped_sender_sends_what_there_is_room_for() {
    let mut bench = bench(0);
    (90..93).for_each(|buffer| drop(bench.unicast(1, buffer)));
    let stop = with_room(nack(1, 1), 0);
    assert_eq!(bench.receive(stop, PacketBody::Empty), [Free(90)]);
    assert_eq!(bench.unicast(1, 93), [], "no credit");
    assert_eq!(bench.ni.observe().outgoing(Rank(1)), (0, 1));
    let room = with_room(acknowledge(1, 1), 1);
    assert_eq!(bench.receive(room, PacketBody::Empty), [asking_packet(1)]);
    let did = bench.receive(acknowledge(1, 2), PacketBody::Empty);
    assert_eq!(did, [Free(91), asking_packet(2), packet(3)], "without limit");
}

#[test]
fn who_waits_for_room_asks_for_it() {
    let mut bench = bench(0);
    bench.unicast(1, 90);
    bench.receive(with_room(acknowledge(1, 1), 0), PacketBody::Empty);
    assert_eq!(bench.unicast(1, 91), []);
    assert_eq!(bench.ni.next_deadline(), Some((RETRANSMIT, Timer::Retransmit)));
    assert_eq!(bench.advance(RETRANSMIT), [tells(1, asking(acknowledge(0, 0)))]);
    assert_eq!(bench.advance(2 * RETRANSMIT), [tells(1, asking(acknowledge(0, 0)))]);
    assert_eq!(bench.receive(acknowledge(1, 1), PacketBody::Empty), [packet(1)]);
}

#[test]
fn a_time_out_sends_one_packet_and_the_rest_follows_from_the_answer() {
    let sender = || {
        let mut bench = bench(0);
        (90..93).for_each(|buffer| drop(bench.unicast(1, buffer)));
        assert_eq!(bench.advance(RETRANSMIT), [asking_packet(0)]);
        bench
    };
    let rest = [Free(90), packet(1), asking_packet(2)];
    assert_eq!(sender().receive(acknowledge(1, 1), PacketBody::Empty), rest, "nothing had come");
    let rest = [Free(90), Free(91)];
    assert_eq!(sender().receive(acknowledge(1, 2), PacketBody::Empty), rest, "the others come too");
    // All have come, and wait for something else there: nothing is sent again.
    let mut patient = sender();
    let all = Header { sequence: 3, ..acknowledge(1, 0) };
    assert_eq!(patient.receive(all, PacketBody::Empty), []);
    let request = tells(1, asking(acknowledge(0, 0)));
    assert_eq!(patient.advance(9 * RETRANSMIT), [request]);
}

#[test]
fn between_lossless_peers_there_are_credits_whatever_the_preset() {
    for preset in Preset::RETRANSMITTING {
        let mut bench = Bench::set_up(0, Settings { preset, ..settings() });
        bench.ni.set_lossless(Rank(1));
        assert!(
            !bench.ni.observe().is_numbered(Rank(1)) && bench.ni.observe().is_numbered(Rank(2))
        );
        assert_eq!(bench.unicast(1, 90), [sent(1, ucast(0, 0), 90), Free(90)]);
        bench.unicast(1, 91);
        assert_eq!(bench.unicast(1, 92), [], "a window of 2");
        let did = bench.receive_credits(1, 1);
        assert_eq!(did, [sent(1, ucast(0, 0), 92), Free(92)]);
        assert!(bench.ni.is_flushed());
        assert_eq!(bench.ni.next_deadline(), None);
        let numbered = bench.try_receive(acknowledge(1, 0), PacketBody::Empty);
        assert!(numbered.is_err(), "{preset}: nothing is acknowledged there");
    }
}

#[test]
#[should_panic(expected = "packets have passed between")]
fn a_pair_is_lossless_from_the_beginning_or_not_at_all() {
    let mut bench = bench(0);
    bench.unicast(1, 90);
    bench.ni.set_lossless(Rank(1));
}

/// Rank 0 multicasts over a careful pair to 1 and a numbered one to 2: its buffer waits for the
/// latter.
#[test]
fn a_multicast_buffer_is_kept_for_those_who_acknowledge() {
    let mut bench = bench(0);
    bench.ni.set_lossless(Rank(1));
    let tree = broadcast_tree(0);
    let did = bench.multicast(weft_wire::GroupId::ALL, 90);
    assert_eq!(did, [sent(1, mcast(0, tree, 0), 90), sent(2, mcast(0, tree, 0), 90)]);
    assert_eq!(bench.receive_credits(1, 1), []);
    assert_eq!(bench.receive(acknowledge(2, 1), PacketBody::Empty), [Free(90)]);
    assert!(bench.ni.observe().is_idle());
}

#[test]
fn nonsense_is_refused() {
    let with = |pupa| Settings { pupa, ..settings() }.check();
    let pupa = settings().pupa;
    assert_eq!(with(pupa), Ok(()));
    let window = Pupa { primary_sends: 0, ..pupa };
    assert_eq!(with(window), Err(Contradiction::Window(0)));
    let marks = Pupa { low_water_percent: 60, ..pupa };
    assert_eq!(with(marks), Err(Contradiction::Marks(60, 50)));
    let marks = Pupa { high_water_percent: 101, ..pupa };
    assert_eq!(with(marks), Err(Contradiction::Marks(25, 101)));
    assert_eq!(with(Pupa { secondary_sends: 0, ..pupa }), Err(Contradiction::NoSends));
    assert_eq!(with(Pupa { refresh_every: 0, ..pupa }), Err(Contradiction::NoSends));
}

#[test]
fn heartbeats_do_not_put_off_what_has_to_be_sent_again() {
    let mut bench = bench(0);
    bench.unicast(1, 90);
    let mut again = 0;
    // The peer says that it lives more often than the longest wait, and nothing else.
    for beat in 1..=1000 {
        again += bench.advance(beat * RETRANSMIT).len();
        bench.receive(acknowledge(1, 0), PacketBody::Empty);
    }
    // The wait doubles six times.
    assert!((1000 / 64..1000 / 32).contains(&again), "{again} times");
}

/// With a congestion window of 4 packets to begin with, of a FIFO of 40.
fn congested() -> Bench {
    let pupa = Pupa { primary_sends: 40, ..settings().pupa };
    let congestion = Some(Congestion { first_packets: 4 });
    Bench::set_up(0, Settings { pupa, congestion, ..settings() })
}

/// Numbers of the packets to rank 1 that were transmitted.
fn numbers_of(did: &[Did]) -> Vec<u32> {
    let number = |did: &Did| match did {
        Transmit(_, header, _) if header.tag == Tag::Ucast => Some(header.sequence),
        _ => None,
    };
    did.iter().filter_map(number).collect()
}

/// Sends `count` packets, the first of them from buffer 100; numbers of those that left.
fn send(bench: &mut Bench, count: u64) -> Vec<u32> {
    (0..count).flat_map(|packet| numbers_of(&bench.unicast(1, 100 + packet))).collect()
}

#[test]
fn no_more_packets_leave_than_the_network_has_room_for() {
    let mut bench = congested();
    assert_eq!(send(&mut bench, 30), [0, 1, 2, 3]);
    // All four arrive, and four more may be under way beside four.
    let did = bench.receive(acknowledge(1, 4), PacketBody::Empty);
    assert_eq!(numbers_of(&did), (4..12).collect::<Vec<_>>());
    let did = bench.receive(acknowledge(1, 12), PacketBody::Empty);
    assert_eq!(numbers_of(&did), (12..28).collect::<Vec<_>>());
}

#[test]
fn after_a_loss_fewer_are_under_way_and_as_many_are_sent_again() {
    let mut bench = congested();
    send(&mut bench, 30);
    bench.receive(acknowledge(1, 4), PacketBody::Empty);
    bench.receive(acknowledge(1, 12), PacketBody::Empty);
    // Of 12 to 27 the first is missing: 7/10 of these 16.
    let did = bench.receive(nack(1, 12), PacketBody::Empty);
    assert_eq!(numbers_of(&did), (12..23).collect::<Vec<_>>());
    // Each acknowledgement makes room, and the window grows once all of it has come.
    let did = bench.receive(acknowledge(1, 17), PacketBody::Empty);
    assert_eq!(numbers_of(&did), (23..28).collect::<Vec<_>>());
    let did = bench.receive(acknowledge(1, 28), PacketBody::Empty);
    assert_eq!(numbers_of(&did), [28, 29]);
}

#[test]
fn a_receiver_without_buffers_is_no_congestion() {
    let mut bench = congested();
    send(&mut bench, 30);
    bench.receive(acknowledge(1, 4), PacketBody::Empty);
    let did = bench.receive(with_room(nack(1, 4), 0), PacketBody::Empty);
    assert_eq!(numbers_of(&did), []);
    let did = bench.receive(acknowledge(1, 4), PacketBody::Empty);
    assert_eq!(numbers_of(&did), (4..12).collect::<Vec<_>>());
}

#[test]
fn a_pair_that_loses_nothing_has_its_whole_window() {
    let mut bench = congested();
    let window = bench.ni.settings().window_packets;
    bench.ni.set_lossless(Rank(1));
    bench.ni.set_lossless(Rank(1));
    assert_eq!(numbers_of(&bench.unicast(1, 100)).len(), 1);
    assert!(bench.ni.observe().check_all_invariants().is_ok());
    let left: usize = (101..110).map(|buffer| numbers_of(&bench.unicast(1, buffer)).len()).sum();
    assert_eq!(left + 1, usize::from(window));
}

#[test]
fn what_the_link_has_under_way_is_waited_for() {
    let mut bench = bench(0);
    bench.unicast(1, 90);
    bench.out.under_way.push(Rank(1));
    for _ in 0..10 {
        let (deadline, timer) = bench.ni.next_deadline().unwrap();
        assert_eq!(timer, Timer::Retransmit);
        assert_eq!(bench.advance(deadline), []);
    }
    assert_eq!(bench.ni.counters().time_outs_on_link, 10);
    // It is lost, with the connection.
    bench.out.under_way.clear();
    let (deadline, _) = bench.ni.next_deadline().unwrap();
    assert_eq!(bench.advance(deadline), [asking_packet(0)]);
    assert_eq!(bench.ni.counters().time_outs_on_link, 10);
}

#[test]
fn a_packet_follows_those_before_it() {
    use weft_wire::Follows::{Earlier, Lost, Nothing, Taken};
    let mut bench = bench(0);
    (0..2).for_each(|i| drop(bench.unicast(1, 90 + i)));
    assert_eq!(bench.out.follows, [Taken, Earlier]);
    let (deadline, _) = bench.ni.next_deadline().unwrap();
    bench.advance(deadline);
    assert_eq!(bench.out.follows, [Taken, Earlier, Lost]);
    bench.receive(acknowledge(1, 1), PacketBody::Empty);
    bench.unicast(1, 92);
    bench.receive(acknowledge(1, 3), PacketBody::Empty);
    bench.unicast(1, 93);
    assert_eq!(bench.out.follows.last(), Some(&Taken), "all before it was taken");
    bench.receive(asking(acknowledge(1, 3)), PacketBody::Empty);
    assert_eq!(bench.out.follows.last(), Some(&Nothing), "an acknowledgement overtakes");
}
