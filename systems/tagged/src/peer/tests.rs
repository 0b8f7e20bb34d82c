//! Windows from both ends.

#![allow(clippy::unwrap_used)]

use super::*;

/// The window of the job of these tests.
const WINDOW: u64 = LEAST_WINDOW;

#[test]
fn a_sender_stops_when_its_window_is_spent() {
    let mut window = Window::new(WINDOW);
    let mut sent = 0;
    while window.may_send(EAGER_BYTES) {
        window.sent(EAGER_BYTES);
        sent += 1;
    }
    assert_eq!(sent, WINDOW / cost(EAGER_BYTES));
    assert!(window.may_send(0), "a short one fits still");
    assert!(window.reported(cost(EAGER_BYTES)));
    assert!(window.may_send(EAGER_BYTES));
    assert!(!window.may_send(EAGER_BYTES + 1), "long messages ask");
}

#[test]
fn what_a_sender_may_send_its_receiver_takes_for_ever() {
    let (mut sender, mut receiver) = (Window::new(WINDOW), Intake::new(WINDOW));
    let mut kept = 0;
    for length in (0..20_000).map(|n| n % 3000) {
        while !sender.may_send(length) {
            // The receiver consumes the oldest, of which it does not matter here which they are.
            kept -= 1;
            if let Some(report) = receiver.consumed(length) {
                receiver.has_reported(report);
                assert!(sender.reported(report));
            }
            if kept == 0 {
                break;
            }
        }
        if sender.may_send(length) {
            sender.sent(length);
            assert!(receiver.received(length));
            kept += 1;
        }
    }
}

#[test]
fn a_peer_that_exceeds_its_window_is_noticed() {
    let mut intake = Intake::new(WINDOW);
    let most = WINDOW / cost(EAGER_BYTES);
    assert!((0..most).all(|_| intake.received(EAGER_BYTES)));
    assert!(!intake.received(EAGER_BYTES));
    assert!(
        !Intake::new(WINDOW).received(IN_PLACE_BYTES + 1),
        "a long message may not come unasked"
    );
    assert!(!Intake::new(WINDOW).received(u64::MAX));
}

#[test]
fn a_receiver_keeps_64_mib_at_most_or_a_mib_of_each() {
    const MIB: u64 = 1 << 20;
    assert_eq!([2, 4, 8, 64, 65, 1024].map(window_of), [16, 16, 8, 1, 1, 1].map(|it| it * MIB));
}

/// Else a peer that returns no credits would be owed more and more.
#[test]
fn what_is_consumed_counts_until_the_report_has_left() {
    let mut intake = Intake::new(WINDOW);
    let mut left = WINDOW / cost(0);
    let mut reported = 0;
    while left > 0 {
        assert!(intake.received(0));
        reported += intake.consumed(0).unwrap_or(0);
        left -= 1;
    }
    assert_eq!(reported, WINDOW);
    assert_eq!(intake.may_consume(0), None);
    intake.has_reported(REPORT);
    assert_eq!(intake.may_consume(0), Some(cost(0)));
}

#[test]
fn a_peer_cannot_report_what_it_never_got() {
    let mut window = Window::new(WINDOW);
    assert!(!window.reported(1));
    window.sent(10);
    assert!(!window.reported(cost(10) + 1));
    assert!(window.reported(cost(10)));
}

#[test]
fn requests_are_bounded_at_both_ends() {
    let (mut sender, mut receiver) = (Window::new(WINDOW), Intake::new(WINDOW));
    for _ in 0..MOST_REQUESTS {
        assert!(sender.requests.ask());
        assert!(receiver.requests.ask());
    }
    assert!(!sender.requests.has_room());
    assert!(!receiver.requests.ask(), "and counts nothing");
    sender.requests.answered();
    assert!(sender.requests.ask());
    receiver.requests.answered();
    assert!(receiver.requests.ask());
    assert!(!receiver.requests.has_room());
}
