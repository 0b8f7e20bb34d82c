use super::*;

const OTHER: Rank = Rank(1);

fn pair(window: u16) -> (Careful, Careful) {
    (Careful::new(Rank(0), 2, window), Careful::new(OTHER, 2, window))
}

#[test]
fn data_never_closes_a_window() {
    let (mut node, _) = pair(5);
    let mut sent = 0;
    while node.may_send(Some(OTHER)) {
        assert_eq!(node.send(Some(OTHER)), 0);
        sent += 1;
    }
    assert_eq!((sent, node.accounts(OTHER)), (4, (1, 0, 0)));
    // What is left is an update's.
    for _ in 0..3 {
        node.received(OTHER, 0, true).unwrap();
        node.released(OTHER);
    }
    assert_eq!(node.update(OTHER), Some(3));
    assert_eq!(node.accounts(OTHER), (0, 0, 0));
    node.received(OTHER, 0, true).unwrap();
    node.released(OTHER);
    node.received(OTHER, 0, false).unwrap();
    node.received(OTHER, 0, false).unwrap();
    assert_eq!(node.update(OTHER), None, "no update without a window");
}

#[test]
fn updates_are_due_at_half_a_window() {
    let (_, mut node) = pair(6);
    for owed in 1..=3 {
        node.received(Rank(0), 0, true).unwrap();
        node.released(Rank(0));
        assert_eq!(node.update(Rank(0)), (owed == 3).then_some(3));
    }
}

#[test]
fn a_broadcast_takes_along_what_is_owed_to_all() {
    let mut node = Careful::new(Rank(1), 3, 8);
    for (from, frames) in [(0, 3), (2, 2)] {
        for _ in 0..frames {
            node.received(Rank(from), 0, true).unwrap();
            node.released(Rank(from));
        }
    }
    assert_eq!(node.send(None), 2);
    assert_eq!(node.accounts(Rank(0)), (7, 0, 1));
    assert_eq!(node.accounts(Rank(2)), (7, 0, 0));
}

#[test]
fn whoever_sends_beyond_its_window_is_found() {
    let (_, mut node) = pair(3);
    for _ in 0..3 {
        node.received(Rank(0), 0, true).unwrap();
    }
    assert_eq!(node.received(Rank(0), 0, true), Err(BeyondWindow));
    let (mut node, _) = pair(3);
    assert_eq!(node.received(OTHER, 1, true), Err(BeyondWindow), "more than was sent is returned");
}

#[test]
fn a_fragment_is_copied_out_before_its_sender_stops() {
    for window in LEAST_WINDOW..40 {
        let (mut sender, mut receiver) = pair(window);
        // Nobody reads, and the sender is never stopped for good.
        for _ in 0..4 * window {
            assert!(sender.may_send(Some(OTHER)), "a window of {window} stops its sender");
            let update = sender.send(Some(OTHER));
            receiver.received(Rank(0), update, true).unwrap();
            if receiver.is_pressed(Rank(0)) {
                receiver.released(Rank(0));
            }
            while let Some(update) = receiver.update(Rank(0)) {
                sender.received(OTHER, update, false).unwrap();
                if let Some(back) = sender.update(OTHER) {
                    receiver.received(Rank(0), back, false).unwrap();
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "it takes 3")]
fn windows_in_which_updates_answer_updates_are_refused() {
    let _ = Careful::new(Rank(0), 2, 2);
}
