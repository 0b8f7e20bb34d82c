use super::*;

const WINDOW: u32 = 512;

const TO: Rank = Rank(3);

#[test]
fn a_full_window_closes_and_a_report_opens_it() {
    let (mut outgoing, mut incoming) = (SendWindows::default(), ReceiveWindows::default());
    for _ in 0..WINDOW {
        assert!(outgoing.claim(TO, WINDOW));
    }
    assert!(!outgoing.claim(TO, WINDOW));
    assert!(outgoing.claim(Rank(4), WINDOW), "others are not stalled");
    let reports: Vec<u32> =
        (0..WINDOW).filter_map(|_| incoming.consumed(Rank(0), None, WINDOW)).collect();
    assert_eq!(reports, [WINDOW / 2, WINDOW]);
    assert!(outgoing.reported(TO, None, reports[0]));
    for _ in 0..WINDOW / 2 {
        assert!(outgoing.claim(TO, WINDOW));
    }
    assert!(!outgoing.claim(TO, WINDOW));
}

#[test]
fn the_slowest_member_stalls_a_multicast() {
    let mut outgoing = SendWindows::default();
    let members = &[Rank(1), Rank(2)];
    for _ in 0..WINDOW {
        assert!(outgoing.claim_multicast(Group::ALL, WINDOW, members));
    }
    assert!(!outgoing.claim_multicast(Group::ALL, WINDOW, members));
    assert!(outgoing.reported(Rank(1), Some(Group::ALL), WINDOW));
    assert!(!outgoing.claim_multicast(Group::ALL, WINDOW, members));
    assert!(outgoing.reported(Rank(2), Some(Group::ALL), 2));
    assert!(outgoing.claim_multicast(Group::ALL, WINDOW, members));
    assert!(outgoing.claim_multicast(Group::ALL, WINDOW, members));
    assert!(!outgoing.claim_multicast(Group::ALL, WINDOW, members));
    assert!(outgoing.claim(Rank(2), WINDOW), "a unicast has a window of its own");
}

#[test]
fn nobody_can_have_consumed_more_than_was_sent() {
    let mut outgoing = SendWindows::default();
    for _ in 0..10 {
        assert!(outgoing.claim(TO, WINDOW));
    }
    assert!(!outgoing.reported(TO, None, 11));
    assert!(outgoing.reported(TO, None, 6));
    assert!(!outgoing.reported(TO, None, 6u32.wrapping_sub(STALE_PACKETS + 1)));
    assert!(outgoing.reported(TO, None, 5), "a report that was overtaken");
    assert!((5..=WINDOW).all(|_| outgoing.claim(TO, WINDOW)));
    assert!(!outgoing.claim(TO, WINDOW), "it has taken nothing back");
    assert!(!outgoing.reported(TO, Some(Group::ALL), 0), "nothing was multicast");
}

#[test]
fn counters_wrap() {
    let (mut outgoing, mut incoming) = (SendWindows::default(), ReceiveWindows::default());
    *outgoing.unicast.entry(TO) = Sent { sent: u32::MAX - 5, consumed: u32::MAX - 5 };
    *incoming.unicast.entry(TO) = Consumed { consumed: u32::MAX - 5, reported: u32::MAX - 5 };
    for _ in 0..10 * WINDOW {
        assert!(outgoing.claim(TO, WINDOW));
        if let Some(consumed) = incoming.consumed(TO, None, WINDOW) {
            assert!(outgoing.reported(TO, None, consumed));
        }
    }
}

#[test]
fn an_overdraft_is_paid_back_first() {
    let mut outgoing = SendWindows::default();
    for _ in 0..WINDOW {
        assert!(outgoing.claim(TO, WINDOW));
    }
    outgoing.overdraw(TO);
    assert!(outgoing.reported(TO, None, 1));
    assert!(!outgoing.claim(TO, WINDOW));
    assert!(outgoing.reported(TO, None, 2));
    assert!(outgoing.claim(TO, WINDOW));
}

#[test]
fn who_is_stalled_itself_takes_what_was_sent_for_consumed() {
    for flow in [None, Some(Group::ALL)] {
        let (mut outgoing, mut incoming) = (SendWindows::default(), ReceiveWindows::default());
        let members = &[TO];
        let claim = |outgoing: &mut SendWindows| match flow {
            None => outgoing.claim(TO, WINDOW),
            Some(group) => outgoing.claim_multicast(group, WINDOW, members),
        };
        for _ in 0..WINDOW {
            assert!(claim(&mut outgoing));
        }
        assert!(!claim(&mut outgoing));
        assert_eq!(outgoing.sent(TO, flow), WINDOW);
        assert_eq!(incoming.advance(Rank(0), flow, WINDOW), Some(WINDOW));
        assert_eq!(incoming.advance(Rank(0), flow, WINDOW), None, "that was said");
        assert!(outgoing.reported(TO, flow, WINDOW));
        for _ in 0..WINDOW {
            assert!(claim(&mut outgoing));
        }
        // What was taken for consumed is not reported again when it is.
        let reports: Vec<u32> =
            (0..2 * WINDOW).filter_map(|_| incoming.consumed(Rank(0), flow, WINDOW)).collect();
        assert_eq!(reports, [3 * WINDOW / 2, 2 * WINDOW]);
        assert!(reports.into_iter().all(|report| outgoing.reported(TO, flow, report)));
    }
}

#[test]
fn a_complaint_that_cannot_be_true_changes_nothing() {
    let mut incoming = ReceiveWindows::default();
    assert_eq!(incoming.advance(Rank(0), None, u32::MAX), None);
    assert_eq!(incoming.advance(Rank(0), None, STALE_PACKETS + 1), None);
    assert_eq!(incoming.advance(Rank(0), None, 0), None);
}
