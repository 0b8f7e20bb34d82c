use super::*;
use crate::PacketBody;
use weft_wire::{Rank, Tag, TreeId};

fn departure(buffer: u64) -> Departure<u64> {
    let tree = TreeId::unicast(Rank(0));
    Departure { tag: Tag::Ucast, tree, size: 1, body: PacketBody::Buffer(buffer), holders: None }
}

fn flow_at(number: u32) -> Flow<u64> {
    let mut flow = Flow::default();
    flow.sending.next = number;
    flow.receiving.expected = number;
    flow.receiving.acknowledged = number;
    flow
}

/// Numbers are compared around their end as elsewhere.
const STARTS: [u32; 3] = [0, 1000, u32::MAX - 1];

#[test]
fn past_expected_and_future_numbers() {
    for start in STARTS {
        let flow = flow_at(start);
        let verdict = |offset: i32| flow.receiving.verdict(start.wrapping_add_signed(offset), 4);
        assert_eq!(verdict(0), SequenceVerdict::Next);
        assert_eq!(
            [verdict(-1), verdict(-4), verdict(-1_000_000)],
            [SequenceVerdict::Duplicate; 3]
        );
        assert_eq!([verdict(1), verdict(3)], [SequenceVerdict::Gap; 2]);
        assert_eq!([verdict(4), verdict(1_000_000)], [SequenceVerdict::Impossible; 2]);
    }
}

#[test]
fn a_window_begins_at_the_last_acknowledgement() {
    for start in STARTS {
        let receiving = &mut flow_at(start).receiving;
        let verdict = |receiving: &Receiving, n| receiving.verdict(start.wrapping_add(n), 2);
        receiving.accept(1);
        assert_eq!(verdict(receiving, 1), SequenceVerdict::Next);
        receiving.accept(0);
        assert_eq!(
            verdict(receiving, 2),
            SequenceVerdict::Impossible,
            "nobody told the sender to go on"
        );
        receiving.satisfy(start);
        assert_eq!(verdict(receiving, 2), SequenceVerdict::Impossible);
        receiving.acknowledge();
        assert_eq!(
            [2, 3, 4].map(|n| verdict(receiving, n)),
            [SequenceVerdict::Next, SequenceVerdict::Gap, SequenceVerdict::Impossible]
        );
    }
}

#[test]
fn an_acknowledgement_counts_from_the_oldest() {
    for start in STARTS {
        let mut flow = flow_at(start);
        let numbers = [1, 2, 3].map(|buffer| flow.sending.number(departure(buffer)));
        assert_eq!(numbers, [0, 1, 2].map(|i| start.wrapping_add(i)));
        let says = |flow: &Flow<u64>, offset: i32| {
            flow.sending.acknowledged(start.wrapping_add_signed(offset))
        };
        assert_eq!([says(&flow, 0), says(&flow, 2), says(&flow, 3)], [Ok(0), Ok(2), Ok(3)]);
        assert_eq!(says(&flow, 4), Err(Unsent));
        assert_eq!(says(&flow, -7), Ok(0), "old news");
        assert_eq!(flow.sending.pop().map(|d| d.body), Some(PacketBody::Buffer(1)));
        flow.sending.note_popped();
        assert_eq!([says(&flow, 0), says(&flow, 1), says(&flow, 3)], [Ok(0), Ok(0), Ok(2)]);
        let again: Vec<u32> = flow.sending.again(None).map(|(number, _)| number).collect();
        assert_eq!(again, numbers[1..]);
        let from = |number| flow.sending.again(Some(number)).map(|(number, _)| number).collect();
        let from: [Vec<u32>; 3] = [numbers[2], numbers[0], start.wrapping_add(99)].map(from);
        assert_eq!(from[0], numbers[2..]);
        assert_eq!([&from[1], &from[2]], [&again, &again], "what cannot be is not believed");
    }
}

#[test]
fn a_packet_that_waits_holds_back_those_after_it() {
    for start in STARTS {
        let receiving = &mut flow_at(start).receiving;
        receiving.accept(2);
        receiving.accept(0);
        assert_eq!((receiving.acknowledgeable(), receiving.unacknowledged()), (start, 0));
        receiving.satisfy(start);
        assert_eq!(receiving.unacknowledged(), 0);
        receiving.satisfy(start);
        assert_eq!(receiving.unacknowledged(), 2);
        assert_eq!(receiving.acknowledge(), start.wrapping_add(2));
        assert_eq!(receiving.unacknowledged(), 0);
    }
}

#[test]
#[should_panic(expected = "overflow")]
fn satisfying_twice_is_a_bug() {
    let mut receiving = Receiving::default();
    receiving.accept(1);
    receiving.accept(1);
    receiving.satisfy(1);
    receiving.satisfy(1);
}

/// It was acknowledged when it came, as far as those before it let it be.
#[test]
fn what_waits_for_nothing_is_not_satisfied() {
    let mut receiving = Receiving::default();
    for outstanding in [1, EARLY, 2] {
        receiving.accept(outstanding);
    }
    receiving.satisfy(1);
    assert_eq!(receiving.acknowledgeable(), 0);
    receiving.satisfy(0);
    assert_eq!(receiving.acknowledgeable(), 2);
    receiving.satisfy(1);
    receiving.satisfy(2);
    assert_eq!(receiving.acknowledgeable(), 2);
    receiving.satisfy(2);
    assert_eq!(receiving.acknowledgeable(), 3);
}

/// A round trip that was measured long, with a loss after each doubling, waited 64 times as long as
/// one of which nothing is known.
#[test]
fn waits_in_vain_have_a_bound_whatever_was_measured() {
    let settings = Settings {
        retransmit_after: 4_000_000,
        retransmit_at_least: Some(100_000),
        ..Settings::new(2, 8)
    };
    let mut sending = flow_at(0).sending;
    sending.round_trip.left(0, 0);
    sending.round_trip.acknowledged(1, 1_000_000_000);
    let once = sending.timeout(&settings);
    assert!(once > 16 * settings.retransmit_after, "{once}");
    assert_eq!(sending.doubled_timeout(&settings), once);
    sending.attempts = 1;
    assert_eq!(sending.doubled_timeout(&settings), 2 * once);
    sending.attempts = u8::MAX;
    assert_eq!(sending.doubled_timeout(&settings), 64 * settings.retransmit_after);
}

/// Karn's rule is for packets that were sent again, and for no others.
#[test]
fn an_acknowledgement_of_what_was_sent_once_ends_longer_waits() {
    let mut flow = Flow::default();
    for buffer in [1, 2, 3] {
        let _ = flow.sending.number(departure(buffer));
    }
    flow.sending.attempts = 4;
    assert_eq!(flow.sending.take_due(9).len(), 0, "nothing is to be sent again");
    let _ = flow.sending.pop();
    flow.sending.note_popped();
    flow.sending.hurry();
    assert_eq!(flow.sending.attempts, 0);
    flow.sending.attempts = 4;
    flow.sending.misses(1);
    assert_eq!(flow.sending.take_due(9).len(), 2, "two are");
    let _ = flow.sending.pop();
    flow.sending.note_popped();
    flow.sending.hurry();
    assert_eq!(flow.sending.attempts, 1, "nobody knows which copy was acknowledged");
}
