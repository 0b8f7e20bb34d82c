use super::*;

const WINDOW: u32 = 8;
const A: Rank = Rank(1);
const B: Rank = Rank(2);

fn rooms(backlog: &mut Backlog, from: Rank, packets: u32) -> Vec<Storage> {
    (0..packets).map(|_| backlog.stored(from, WINDOW, WINDOW / 2)).collect()
}

#[test]
fn half_a_window_stays_then_copies_then_a_stop_then_nothing_more_is_copied() {
    let mut backlog = Backlog::default();
    assert_eq!(rooms(&mut backlog, A, 4), [Storage::Link; 4]);
    let copies = rooms(&mut backlog, A, STOP_WINDOWS * WINDOW - 4);
    let (last, others) = copies.split_last().unwrap();
    assert_eq!(*last, Storage::LastCopy);
    assert!(others.iter().all(|storage| *storage == Storage::Copy));
    let rest = rooms(&mut backlog, A, (MOST_WINDOWS - STOP_WINDOWS) * WINDOW);
    assert!(rest.iter().all(|storage| *storage == Storage::Copy), "one stop is enough");
    assert_eq!(rooms(&mut backlog, A, 2), [Storage::Link; 2]);
    assert_eq!(rooms(&mut backlog, B, 4), [Storage::Link; 4], "another sender has room");
}

#[test]
fn a_stopped_sender_goes_on_once_at_the_lower_mark() {
    let mut backlog = Backlog::default();
    rooms(&mut backlog, A, STOP_WINDOWS * WINDOW);
    let told: Vec<u32> =
        (0..STOP_WINDOWS * WINDOW).rev().filter(|_| backlog.taken(A, WINDOW)).collect();
    assert_eq!(told, [GO_WINDOWS * WINDOW]);
    rooms(&mut backlog, A, STOP_WINDOWS * WINDOW - 1);
    let storage = backlog.stored(A, WINDOW, WINDOW / 2);
    assert_eq!(storage, Storage::LastCopy, "and may be stopped again");
}

#[test]
fn a_sender_that_was_not_stopped_is_not_told_to_go_on() {
    let mut backlog = Backlog::default();
    rooms(&mut backlog, A, STOP_WINDOWS * WINDOW - 1);
    assert!((0..40).all(|_| !backlog.taken(A, WINDOW)));
    assert!(!backlog.taken(B, WINDOW));
}

#[test]
#[should_panic(expected = "I14")]
fn more_than_was_promised_breaks_i14() {
    i14_bounded_backlog(2 * 9 * 8 + 1, 2, 8, None);
}

#[test]
#[should_panic(expected = "I14")]
fn more_than_a_host_has_buffers_for_breaks_i14() {
    i14_bounded_backlog(2 * 8 * 8 + 50, 2, 8, Some(50));
    i14_bounded_backlog(2 * 8 * 8 + 51, 2, 8, Some(50));
}

#[test]
fn all_receivers_leave_a_sender_half_of_its_frames() {
    assert_eq!(most_in_link_memory(8, 1000, 2), 4, "half a window");
    assert_eq!(most_in_link_memory(128, 48, 2), 24);
    assert_eq!(most_in_link_memory(128, 48, 4), 8);
    assert_eq!(most_in_link_memory(128, 48, 100), 1);
    assert_eq!(most_in_link_memory(1, 1, 1), 1);
}

fn held(frame: u32, protocol: Protocol, to: Target) -> HeldBack<u32> {
    HeldBack { frame, protocol, to, size: 1 }
}

fn frames(gates: &mut Gates<u32>) -> Vec<u32> {
    std::iter::from_fn(|| gates.next_free()).map(|packet| packet.frame).collect()
}

#[test]
fn a_gate_stops_one_protocol_to_one_rank() {
    let mut gates: Gates<u32> = Gates::default();
    assert!(gates.are_open());
    gates.set(Protocol::REGIONS, A, true);
    assert!(!gates.are_open());
    assert!(!gates.lets_through(Protocol::REGIONS, &Target::One(A)));
    assert!(gates.lets_through(Protocol::REGIONS, &Target::One(B)));
    assert!(gates.lets_through(Protocol::MESSAGES, &Target::One(A)));
    let both = Target::Members(GroupId(1), [A, B].into());
    assert!(!gates.lets_through(Protocol::REGIONS, &both), "a member takes none");
    gates.set(Protocol::REGIONS, A, false);
    assert!(gates.are_open());
}

#[test]
fn packets_that_waited_leave_in_order_and_none_overtakes() {
    let mut gates = Gates::default();
    let both = || Target::Members(GroupId(1), [A, B].into());
    gates.set(Protocol::REGIONS, A, true);
    gates.hold_back(held(1, Protocol::REGIONS, Target::One(A)));
    gates.hold_back(held(2, Protocol::REGIONS, both()));
    assert!(!gates.lets_through(Protocol::REGIONS, &Target::One(B)), "a multicast is before it");
    gates.hold_back(held(3, Protocol::REGIONS, Target::One(B)));
    assert_eq!(gates.held_back(Protocol::REGIONS), 3);
    assert!(frames(&mut gates).is_empty());
    gates.set(Protocol::REGIONS, A, false);
    assert!(!gates.is_flushed());
    assert_eq!(frames(&mut gates), [1, 2, 3]);
    assert!(gates.is_flushed() && gates.are_open());
}

#[test]
fn another_protocol_or_rank_goes_past_what_waits() {
    let mut gates = Gates::default();
    gates.set(Protocol::REGIONS, A, true);
    gates.set(Protocol::EVENTS, B, true);
    gates.hold_back(held(1, Protocol::REGIONS, Target::One(A)));
    gates.hold_back(held(2, Protocol::EVENTS, Target::One(B)));
    gates.set(Protocol::EVENTS, B, false);
    assert_eq!(frames(&mut gates), [2]);
    assert_eq!(gates.held_back(Protocol::REGIONS), 1);
}

#[test]
fn notices_are_owed_in_order_until_they_leave() {
    let mut gates: Gates<u32> = Gates::default();
    gates.notify(Protocol::REGIONS, A, true);
    gates.notify(Protocol::REGIONS, A, false);
    assert!(!gates.are_quiet());
    let first = gates.next_notice().unwrap();
    gates.requeue_notice(first);
    assert_eq!(gates.next_notice(), Some((Protocol::REGIONS, A, true)));
    assert_eq!(gates.next_notice(), Some((Protocol::REGIONS, A, false)));
    assert!(gates.next_notice().is_none() && gates.are_quiet());
}
