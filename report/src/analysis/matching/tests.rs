//! Tests of matching.

use super::*;
use crate::analysis::tests::traces::{DATA, any_trace, times};
use proptest::prelude::*;
use weft_trace::Builder;
use weft_wire::Rank;

fn matched(trace: &Trace) -> Vec<(u32, u32)> {
    let all = Ends::new(trace).all(&times(trace));
    all.iter().map(|of| (of.sent, of.received)).collect()
}

fn sent(to: u16, number: u8, sequence: u32) -> What {
    What::Sent(numbered(to, 0, number, sequence))
}

fn received(from: u16, number: u8, sequence: u32) -> What {
    What::Received(numbered(from, from, number, sequence))
}

/// A packet whose first bytes say which one it is.
fn numbered(peer: u16, root: u16, number: u8, sequence: u32) -> PacketEvent {
    PacketEvent { peer: Rank(peer), root: Rank(root), head: [number; TEXT_BYTES], sequence, ..DATA }
}

#[test]
fn packets_of_a_kind_keep_their_order() {
    let trace = Builder::new("", 3)
        .event(0, 10, sent(1, 7, 0))
        .event(0, 20, sent(2, 7, 0))
        .event(0, 30, sent(1, 7, 0))
        .event(1, 40, received(0, 7, 0))
        .event(1, 50, received(0, 7, 0))
        .event(2, 60, received(0, 7, 0))
        .trace();
    assert_eq!(matched(&trace), [(0, 0), (2, 1), (1, 0)]);
}

#[test]
fn packets_that_nobody_took_are_left_over() {
    let trace = Builder::new("", 2)
        .event(0, 10, sent(1, 1, 0))
        .event(0, 20, sent(1, 2, 0))
        .event(1, 30, received(0, 1, 0))
        .trace();
    assert_eq!(matched(&trace), [(0, 0)]);
}

#[test]
fn one_that_came_before_it_left_is_another() {
    let late = 50 * WRITTEN_LATE_NS;
    let trace = Builder::new("", 2)
        .event(0, late, sent(1, 2, 0))
        .event(1, 10, received(0, 1, 0))
        .event(1, late + 10, received(0, 2, 0))
        .trace();
    assert_eq!(matched(&trace), [(0, 1)]);
}

#[test]
fn a_packet_that_was_written_down_late_moves_no_other() {
    // The sender lost its core between the first packet and the event of it.
    let late = 50 * WRITTEN_LATE_NS;
    let mut of = Builder::new("", 2);
    for number in 0..6 {
        let left = if number == 0 { late } else { late + 10 * u64::from(number) };
        of = of.event(0, left, sent(1, number, 0));
        let came = if number == 0 { 5 } else { left + 5 };
        of = of.event(1, came, received(0, number, 0));
    }
    let of = of.event(1, 2 * late, received(0, 9, 0));
    assert_eq!(matched(&of.trace()), (0..6).map(|at| (at, at)).collect::<Vec<_>>());
}

#[test]
fn one_that_was_sent_again_came_from_the_last_before() {
    let trace = Builder::new("", 2)
        .event(0, 10, sent(1, 1, 9))
        .event(0, 10_000_000, sent(1, 1, 9))
        .event(0, 20_000_000, sent(1, 1, 9))
        .event(1, 15_000_000, received(0, 1, 9))
        .trace();
    assert_eq!(matched(&trace), [(1, 0)]);
}

#[test]
fn duplicates_are_left_over() {
    let trace = Builder::new("", 2)
        .event(0, 10, sent(1, 1, 9))
        .event(1, 20, received(0, 1, 9))
        .event(1, 30, received(0, 1, 9))
        .trace();
    assert_eq!(matched(&trace), [(0, 0)]);
}

/// Packets 1 to 6 leave and come, and the events of some are lost at either end.
fn with_lost(lost_sent: &[u8], lost_received: &[u8], head: impl Fn(u8) -> u8) -> Trace {
    let mut of = Builder::new("", 2);
    for number in 1..=6 {
        let now = u64::from(number) * 1_000_000;
        of = match lost_sent.contains(&number) {
            true => of.loses(0, 1),
            false => of.event(0, now, sent(1, head(number), 0)),
        };
        of = match lost_received.contains(&number) {
            true => of.loses(1, 1),
            false => of.event(1, now + 10, received(0, head(number), 0)),
        };
    }
    of.trace()
}

#[test]
fn after_a_loss_order_begins_anew_where_contents_agree() {
    let trace = with_lost(&[2], &[4], |number| number);
    // Sent are 1, 3, 4, 5 and 6; received 1, 2, 3, 5 and 6.
    assert_eq!(matched(&trace), [(0, 0), (1, 2), (3, 3), (4, 4)]);
}

#[test]
fn beside_a_packet_that_is_known_those_like_others_are_known_too() {
    // Packet 5 alone can be told from others; 4 and 6 are its neighbours on both sides.
    let trace = with_lost(&[2], &[], |number| if number == 5 { 5 } else { 1 });
    assert_eq!(matched(&trace), [(0, 0), (1, 2), (2, 3), (3, 4), (4, 5)]);
}

#[test]
fn after_a_loss_packets_that_are_like_others_are_not_guessed() {
    let trace = with_lost(&[2], &[], |_| 1);
    assert_eq!(matched(&trace), [(0, 0)]);
}

#[test]
fn sequence_numbers_outlast_losses() {
    let trace = Builder::new("", 2)
        .event(0, 10, sent(1, 1, 1))
        .loses(0, 1)
        .event(0, 30, sent(1, 1, 3))
        .event(1, 20, received(0, 1, 1))
        .event(1, 30, received(0, 1, 2))
        .event(1, 40, received(0, 1, 3))
        .trace();
    assert_eq!(matched(&trace), [(0, 0), (1, 2)]);
}

proptest! {
    #[test]
    fn no_event_is_of_two_packets(trace in any_trace()) {
        let times = times(&trace);
        let matches = Ends::new(&trace).all(&times);
        let mut sent: Vec<_> = matches.iter().map(|of| (of.from, of.sent)).collect();
        let mut received: Vec<_> = matches.iter().map(|of| (of.to, of.received)).collect();
        sent.sort_unstable();
        sent.dedup();
        received.sort_unstable();
        received.dedup();
        prop_assert_eq!((sent.len(), received.len()), (matches.len(), matches.len()));
    }

    /// Whatever is lost, a packet is matched with itself or with none.
    #[test]
    fn none_is_taken_for_another(lost in prop::collection::vec(any::<(bool, bool)>(), 1..40)) {
        let mut of = Builder::new("", 2);
        for (number, (is_sent_lost, is_received_lost)) in (1..).zip(&lost) {
            let now = u64::from(number) * 1_000;
            of = match is_sent_lost {
                true => of.loses(0, 1),
                false => of.event(0, now, sent(1, number, 0)),
            };
            of = match is_received_lost {
                true => of.loses(1, 1),
                false => of.event(1, now + 10, received(0, number, 0)),
            };
        }
        let trace = of.trace();
        let head = |rank: u32, event: u32| match trace.ranks[rank as usize].events[event as usize].what {
            What::Sent(packet) | What::Received(packet) => packet.head,
            _ => [0; TEXT_BYTES],
        };
        let matches = Ends::new(&trace).all(&times(&trace));
        for of in &matches {
            prop_assert_eq!(head(0, of.sent), head(1, of.received));
        }
        let both = lost.iter().filter(|lost| **lost == (false, false)).count();
        prop_assert_eq!(matches.len(), both);
    }
}
