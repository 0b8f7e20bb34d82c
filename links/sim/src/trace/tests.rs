//! Events in words.

use super::{FrameEvent, Happened, Trace, in_words};
use std::time::Duration;
use weft_wire::{GroupId, Header, Rank, Tag, TreeId};

#[test]
fn events_read_as_sentences() {
    let mut header = Header::new(Tag::Mcast, Rank(1), TreeId::multicast(GroupId::ALL, Rank(0)), 9);
    header.sequence = 17;
    let (frame, head) = (Some((Rank(1), header)), [0; 16]);
    let happened =
        Happened { time: 14_200, rank: Rank(3), what: FrameEvent::Received, frame, head };
    assert_eq!(
        happened.to_string(),
        "14.2 us  rank 3 receives a multicast packet of rank 0 from rank 1, number 17"
    );
    let happened = Happened { what: FrameEvent::Lost, rank: Rank(1), frame, head, time: 500 };
    assert_eq!(
        happened.to_string(),
        "0.5 us  rank 1 transmits, and the network loses, a multicast packet of rank 0 to rank 1, \
         number 17"
    );
    let crash =
        Happened { time: 1_000, rank: Rank(2), what: FrameEvent::Crashed, frame: None, head };
    assert_eq!(crash.to_string(), "1.0 us  rank 2 crashes");
}

#[test]
fn the_last_events_are_kept_and_all_are_hashed() {
    let header = Header::new(Tag::Credit, Rank(0), TreeId::unicast(Rank(0)), 0);
    let trace = |times: &[u64]| {
        let mut trace = Trace::new(2, 2, None);
        for &time in times {
            trace.note(time, Rank(1), FrameEvent::Transmitted, Some((Rank(0), &header)));
        }
        trace
    };
    let first = trace(&[1, 2, 3]);
    assert_eq!(first.last(Rank(1)).iter().map(|event| event.time).collect::<Vec<_>>(), [2, 3]);
    assert!(first.last(Rank(0)).is_empty());
    assert_eq!(first.hash(), trace(&[1, 2, 3]).hash());
    assert_ne!(first.hash().0, trace(&[0, 2, 3]).hash().0, "what is not kept counts too");
    assert_ne!(first.hash().0, trace(&[1, 3, 2]).hash().0);
}

#[test]
fn times_are_told_in_the_unit_that_fits_them() {
    let told = [0, 1_250, 999_949, 1_000_000, 999_999_400, 1_000_000_000, 3_600_000_000_000]
        .map(|ns| in_words(Duration::from_nanos(ns)));
    assert_eq!(
        told,
        ["0.0 us", "1.2 us", "999.9 us", "1.000 ms", "999.999 ms", "1.000 s", "3600.000 s"]
    );
}
