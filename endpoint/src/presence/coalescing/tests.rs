use super::*;

const NEAR: Nanoseconds = 2_000;
const TO: Option<Rank> = Some(Rank(3));

fn found(coalescing: &mut Coalescing) {
    coalescing.has_found(|| false);
}

/// A program that looks between its packets, one each [`NEAR`], after `packets` packets.
fn stream(packets: u64, mut between: impl FnMut(&mut Coalescing)) -> (Coalescing, Vec<bool>) {
    let mut coalescing = Coalescing::default();
    let mut held = Vec::new();
    for packet in 0..packets {
        held.push(coalescing.follows(TO, packet * NEAR));
        between(&mut coalescing);
    }
    (coalescing, held)
}

#[test]
fn the_second_packet_without_a_look_waits_for_more() {
    let (_, held) = stream(3, |_| {});
    assert_eq!(held, [false, true, true]);
}

#[test]
fn who_finds_all_it_waits_for_and_sends_on_sends_a_stream() {
    let (_, held) = stream(8, found);
    assert_eq!(held, [false, false, false, false, true, true, true, true]);
}

#[test]
fn a_look_in_vain_ends_no_stream_and_some_of_them_are_a_wait() {
    let (mut stream, held) = stream(8, |coalescing| {
        coalescing.is_waiting();
    });
    assert_eq!(held.iter().filter(|held| **held).count(), 4);
    let waits: Vec<bool> = (0..3).map(|_| stream.is_waiting()).collect();
    assert_eq!(waits, [false, true, true], "one look in vain was before");
}

#[test]
fn whoever_has_sent_no_stream_waits_at_its_first_look_in_vain() {
    let (mut few, _) = stream(2, found);
    assert!(few.is_waiting());
}

#[test]
fn who_answers_is_answered_at_once() {
    let (_, held) = stream(20, |coalescing| {
        coalescing.heard(Rank(3));
        found(coalescing);
    });
    assert_eq!(held, [false; 20]);
}

#[test]
fn what_others_send_ends_no_stream() {
    let (_, held) = stream(20, |coalescing| {
        coalescing.heard(Rank(4));
        found(coalescing);
    });
    assert!(held[4..].iter().all(|held| *held));
}

#[test]
fn a_packet_to_another_rank_begins_anew() {
    let (mut coalescing, _) = stream(8, found);
    let now = 8 * NEAR;
    assert!(!coalescing.follows(Some(Rank(4)), now));
    found(&mut coalescing);
    assert!(!coalescing.follows(TO, now + NEAR));
    assert!(!coalescing.follows(None, now + 2 * NEAR));
    assert!(!coalescing.follows(None, now + 3 * NEAR), "several ranks are told at once");
}

/// Others may have had the core: the stream goes on, with a packet that leaves at once.
#[test]
fn a_pause_lets_one_packet_of_a_stream_go() {
    let (mut coalescing, _) = stream(8, found);
    let now = 7 * NEAR + STREAM_GAP - 1;
    assert!(!coalescing.follows(TO, now));
    found(&mut coalescing);
    assert!(coalescing.follows(TO, now + NEAR));
    found(&mut coalescing);
    assert!(!coalescing.follows(TO, now + NEAR + STREAM_GAP), "a longer one ends it");
    found(&mut coalescing);
    assert!(!coalescing.follows(TO, now + 2 * NEAR + STREAM_GAP));
}

#[test]
fn what_is_held_back_waits_for_ten_microseconds_at_most() {
    let mut coalescing = Coalescing::default();
    assert!(!coalescing.holds() && !coalescing.has_left());
    assert_eq!(coalescing.hold(NEAR), Some(NEAR));
    assert_eq!(coalescing.hold(NEAR + COALESCE_FOR - 1), Some(NEAR));
    assert!(coalescing.holds());
    assert_eq!(coalescing.hold(NEAR + COALESCE_FOR), None);
    assert!(coalescing.has_left() && !coalescing.holds());
}

/// A report of what was taken is no message: the one behind it does not wait for another.
#[test]
fn a_message_behind_a_last_packet_leaves_at_once() {
    let mut coalescing = Coalescing::default();
    assert_eq!(coalescing.launched(FlushHint::Last, TO, 0), Leaves::AtOnce);
    assert_eq!(coalescing.launched(FlushHint::Nothing, TO, NEAR), Leaves::AtOnce);
    assert_eq!(coalescing.launched(FlushHint::Nothing, TO, 2 * NEAR), Leaves::Soon);
    assert_eq!(coalescing.launched(FlushHint::More, TO, 3 * NEAR), Leaves::WithNext);
}

#[test]
fn a_hint_is_what_it_was_stored_as() {
    for hint in [FlushHint::Nothing, FlushHint::More, FlushHint::Last, FlushHint::Aside] {
        assert_eq!(FlushHint::of_bits(hint.to_bits()), hint);
    }
}

/// A program that computes between its messages would leave the second to the upcall thread.
#[test]
fn a_packet_long_after_the_one_before_leaves_at_once() {
    let mut coalescing = Coalescing::default();
    for packet in 0..10 {
        assert!(!coalescing.follows(TO, packet * COALESCE_FOR));
    }
}

#[test]
fn a_packet_of_a_systems_own_waits_for_the_programs_next_which_leaves_at_once() {
    let mut coalescing = Coalescing::default();
    assert_eq!(coalescing.launched(FlushHint::Aside, TO, 0), Leaves::Soon);
    assert!(!coalescing.holds_packets());
    assert_eq!(coalescing.launched(FlushHint::Nothing, TO, NEAR), Leaves::AtOnce);
    assert_eq!(coalescing.launched(FlushHint::Nothing, TO, 2 * NEAR), Leaves::Soon);
    assert!(coalescing.holds_packets());
    coalescing.has_left();
    assert!(!coalescing.holds_packets());
}

#[test]
fn answers_to_packets_that_came_together_leave_together() {
    let mut coalescing = Coalescing::default();
    assert_eq!(coalescing.has_found(|| true), Leaves::Soon);
    assert_eq!(coalescing.released(FlushHint::More, || false), Leaves::WithNext);
    assert_eq!(coalescing.released(FlushHint::Nothing, || false), Leaves::AtOnce);
    coalescing.hold(0);
    assert_eq!(coalescing.has_found(|| false), Leaves::Soon, "some are held back");
    assert_eq!(coalescing.has_found_nothing(), Leaves::AtOnce, "its program waits");
}
