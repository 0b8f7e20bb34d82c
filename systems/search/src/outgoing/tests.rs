//! Messages of jobs: filled, refused without credits, and given back.

use super::*;
use crate::format::{Kind, jobs};
use weft_endpoint::Rank;

const HEADER: Header = Header { kind: Kind::Jobs, bound: 1, iteration: 1, number: 0 };

fn job(number: u8) -> Job {
    Job([number; JOB_BYTES])
}

fn give(outgoing: &mut OutgoingJobs, number: u8) -> Given {
    outgoing.give(1, &job(number), || Duration::from_secs(number.into()))
}

#[test]
fn jobs_leave_together_and_in_order() {
    let mut outgoing = OutgoingJobs::new(2, 3);
    assert_eq!(outgoing.waits_since(1), None);
    assert_eq!([1, 2, 3].map(|n| give(&mut outgoing, n)), [Given::Kept, Given::Kept, Given::Full]);
    assert_eq!(outgoing.waits_since(1), Some(Duration::from_secs(1)));
    assert!(outgoing.is_full(1) && !outgoing.has_jobs(0));
    let message = outgoing.launch(1, HEADER);
    let (header, rest) = Header::parse(Rank(0), message).unwrap();
    assert_eq!(header, HEADER);
    assert_eq!(jobs(Rank(0), rest).unwrap(), [[1; 32], [2; 32], [3; 32]]);
    outgoing.clear(1);
    assert_eq!(give(&mut outgoing, 4), Given::Kept);
    let mut back = Vec::new();
    outgoing.take_back(1, |job| back.push(job));
    assert_eq!((back, outgoing.has_jobs(1)), (vec![job(4)], false));
}

#[test]
fn without_a_credit_one_message_waits_and_more_is_refused() {
    let mut outgoing = OutgoingJobs::new(2, 1);
    let window = window_messages(2, 1);
    for _ in 0..window {
        assert_eq!(give(&mut outgoing, 1), Given::Full);
        outgoing.launch(1, HEADER);
        outgoing.clear(1);
    }
    assert_eq!(give(&mut outgoing, 1), Given::Kept);
    assert_eq!(give(&mut outgoing, 1), Given::Refused);
    assert!(!outgoing.has_credit(1) && outgoing.has_jobs(1));
    assert!(outgoing.taken_by(1, 1) && outgoing.has_credit(1));
    assert!(!outgoing.taken_by(1, window + 1), "it cannot have taken what was not sent");
    assert!(!outgoing.taken_by(1, 0), "nor fewer than it said");
}

#[test]
#[should_panic(expected = "I9: 64 messages under way to a rank, 64 at most")]
fn a_message_without_a_credit_is_the_end() {
    let mut outgoing = OutgoingJobs::new(2, 1);
    for _ in 0..=window_messages(2, 1) {
        outgoing.launch(1, HEADER);
    }
}

#[test]
fn a_receiver_tells_at_half_windows() {
    let mut outgoing = OutgoingJobs::new(2, 1);
    let half = window_messages(2, 1) / 2;
    for _ in 1..half {
        outgoing.took_from(1);
        assert!(!outgoing.owes_credit(1));
    }
    outgoing.took_from(1);
    assert!(outgoing.owes_credit(1));
    assert_eq!((outgoing.told(1), outgoing.tell(1), outgoing.told(1)), (0, half, half));
    assert!(!outgoing.owes_credit(1));
}

#[test]
fn windows_follow_the_size_of_messages_and_the_number_of_ranks() {
    let windows = [(1, 1), (2, 64), (2, 1024), (4, 64), (1024, 1), (1024, 64)];
    let windows = windows.map(|(ranks, jobs)| window_messages(ranks, jobs));
    assert_eq!(windows, [64, 64, 15, 64, 64, 2]);
}
