//! Packets of one pair arrive in order, by whichever way they go.

use crate::common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;
use weft_bulk::{Bulk, PAYLOAD_MAX};
use weft_datagram::seal::Protection;
use weft_link::{Link, LinkPart, Payload};
use weft_udp::Udp;
use weft_wire::{Follows, Header, Rank, Serial, Tag, TreeId};

/// Bytes of a record.
const SIZE: usize = 60_000;

/// Sends packets of these sizes, each acknowledged or not, and looks at the order in which they
/// come.
fn goes_in_order(links: Vec<Bulk<Udp>>, steps: &[(usize, bool, bool)]) {
    let [mut from, mut to] = links.try_into().ok().unwrap();
    let (mut got, mut follows) = (VecDeque::new(), Follows::Taken);
    for (number, &(size, flushes, acknowledged)) in (0..).zip(steps) {
        while !transmit_after(&mut from, follows, number, size) {
            from.flush();
            receive_all(&mut to, &mut got);
        }
        follows = if acknowledged { Follows::Taken } else { Follows::Earlier };
        if flushes || acknowledged {
            from.flush();
        }
        if acknowledged {
            let expected = number + 1;
            while got.len() < expected as usize {
                receive_all(&mut to, &mut got);
                receive_all(&mut from, &mut VecDeque::new());
                from.flush();
            }
        }
    }
    while got.len() < steps.len() {
        from.flush();
        receive_all(&mut from, &mut VecDeque::new());
        receive_all(&mut to, &mut got);
    }
    assert_eq!(got, (0..steps.len() as u32).collect::<VecDeque<_>>(), "in order, each once");
    assert_eq!(from.counters().broken, 0, "no connection broke");
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![0..200usize, 1300..9000usize, Just(PAYLOAD_MAX), 1400..PAYLOAD_MAX]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn packets_of_any_sizes_arrive_in_order(
        steps in vec((sizes(), any::<bool>(), prop::bool::weighted(0.3)), 1..40),
        encrypted in any::<bool>(),
        runs in any::<bool>(),
    ) {
        let protection = if encrypted { Protection::Encrypted } else { Protection::Tagged };
        let links = match runs {
            true => Ways::new(2).attach_with_runs(protection),
            false => Ways::new(2).attach(protection),
        };
        goes_in_order(links, &steps);
    }
}

/// Sends a packet of `from` to rank 1.
fn send(link: &mut Bulk<Udp>, from: Rank, number: u32, size: usize) {
    let mut header = Header::new(Tag::Ucast, from, TreeId::unicast(from), size as u16);
    (header.sequence, header.follows) = (number, Follows::Earlier);
    assert!(link.transmit_copy(Rank(1), &header, &pattern(number, size)));
    link.flush();
}

/// Short packets that follow a long one go where it went, until the other end's kernel has it. Its
/// reader has it first all the same.
#[test]
fn what_follows_a_long_packet_goes_by_datagram_once_that_has_arrived() {
    let [mut from, mut to] = pair();
    let (mut got, mut sent) = (VecDeque::new(), 0);
    for _ in 0..4 {
        assert!(transmit(&mut from, sent, SIZE));
        sent += 1;
        loop {
            let by_record = from.counters().packets;
            assert!(sent < 1000 && transmit(&mut from, sent, 10), "none goes by datagram");
            from.flush();
            sent += 1;
            if from.counters().packets == by_record {
                break;
            }
            // Nobody reads, and so the other end's kernel takes its time to acknowledge what has
            // come, and more of it if more comes meanwhile.
            std::thread::sleep(Duration::from_millis(50));
            (0..100).for_each(|_| receive_all(&mut from, &mut VecDeque::new()));
        }
        while got.len() < sent as usize {
            receive_all(&mut to, &mut got);
        }
    }
    assert_eq!(got, (0..sent).collect::<VecDeque<u32>>(), "in order, each once");
}

fn pair_with_runs() -> [Bulk<Udp>; 2] {
    Ways::new(2).attach_with_runs(Protection::Headers).try_into().ok().unwrap()
}

/// Bytes of a run.
const RUN: usize = 20_000;

#[test]
fn a_run_comes_before_the_datagrams_that_were_sent_after_it() {
    let [mut from, mut to] = pair_with_runs();
    let mut got = VecDeque::new();
    for turn in 0..20 {
        for (number, size) in (3 * turn..).zip([RUN, 10, RUN]) {
            assert!(transmit(&mut from, number, size));
        }
        from.flush();
        while got.len() < 3 * (turn as usize + 1) {
            receive_all(&mut to, &mut got);
        }
    }
    assert_eq!(got, (0..60).collect::<VecDeque<u32>>());
    assert_eq!((from.counters().runs, to.counters().arrived_runs), (40, 40));
    assert_eq!((from.counters().packets, from.counters().pieces), (0, 0));
}

#[test]
fn what_is_sent_again_goes_by_connection_and_three_such_packets_end_runs_for_a_while() {
    // By the far link, and by one beside it.
    for size in [4000, RUN] {
        let [mut from, mut to] = pair_with_runs();
        let mut number = 0;
        let mut send = |follows, number, from: &mut Bulk<Udp>| {
            assert!(transmit_after(from, follows, number, size));
            from.flush();
            let mut got = VecDeque::new();
            while got.is_empty() {
                receive_all(&mut to, &mut got);
            }
            assert_eq!(got, [number]);
        };
        for runs in 1..=3 {
            send(Follows::Taken, number, &mut from);
            send(Follows::Lost, number, &mut from);
            number += 1;
            assert_eq!((from.counters().runs, from.counters().packets), (runs, runs));
        }
        for _ in 0..1000 {
            send(Follows::Taken, number, &mut from);
            number += 1;
        }
        assert_eq!((from.counters().runs, from.counters().packets), (3, 1003));
        send(Follows::Taken, number, &mut from);
        assert_eq!((from.counters().runs, from.counters().packets), (4, 1003));
    }
}

#[test]
fn a_packet_behind_one_that_is_lost_is_handed_over() {
    let links = Ways::new(2).attach_with_lost_runs(Protection::Headers);
    let [mut from, mut to] = links.try_into().ok().unwrap();
    let mut got = VecDeque::new();
    // The long one has let the connection in.
    for (number, size) in [(0, 10), (1, SIZE), (2, RUN), (3, 10), (4, 10), (5, RUN), (6, 10)] {
        let follows = if number == 2 { Follows::Taken } else { Follows::Earlier };
        assert!(transmit_after(&mut from, follows, number, size));
        from.flush();
        while size != RUN && got.back() != Some(&number) {
            receive_all(&mut to, &mut got);
        }
    }
    assert_eq!(got, [0, 1, 3, 4, 6]);
}

/// Records of others may come while it waits for its own, and some only.
#[test]
fn a_packet_behind_one_that_is_lost_waits_for_few_records_of_others() {
    let (links, mut late) = Ways::new(3).attach_but_last(Protection::Tagged);
    let [mut busy, mut to] = links.try_into().ok().unwrap();
    (0..3).for_each(|number| send(&mut busy, Rank(0), number, SIZE));
    let header = Header::new(Tag::Ucast, Rank(2), TreeId::unicast(Rank(2)), 10);
    let header = Header { serial: Serial::FIRST.next(), ..header };
    assert!(late.transmit_copy(Rank(1), &header, &[0; 10]));
    late.flush();
    let mut next = 3;
    loop {
        busy.flush();
        let Some(received) = to.receive().unwrap() else { continue };
        let Payload::Buffer(buffer) = received.payload else { continue };
        to.free(buffer);
        if received.header.source == Rank(2) {
            return;
        }
        assert!(next < 500, "the other is never heard");
        send(&mut busy, Rank(0), next, SIZE);
        next += 1;
    }
}

/// One that sends without a pause keeps nobody else out.
#[test]
fn a_record_comes_between_those_of_another_that_never_end() {
    let all = Ways::new(3).attach(Protection::Tagged);
    let [mut busy, mut to, mut late] = all.try_into().ok().unwrap();
    // Three ahead, so that the next of them is always there.
    (0..3).for_each(|number| send(&mut busy, Rank(0), number, SIZE));
    let mut next = 3;
    let mut receive = |busy: &mut Bulk<Udp>| loop {
        busy.flush();
        let Some(received) = to.receive().unwrap() else { continue };
        let Payload::Buffer(buffer) = received.payload else { continue };
        to.free(buffer);
        return received.header.source;
    };
    assert_eq!(receive(&mut busy), Rank(0));
    send(&mut late, Rank(2), 0, SIZE);
    while receive(&mut busy) == Rank(0) {
        assert!(next < 500, "the other is never heard");
        send(&mut busy, Rank(0), next, SIZE);
        next += 1;
    }
}
