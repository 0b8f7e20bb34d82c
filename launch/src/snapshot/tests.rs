//! Use of processor and memory, and snapshots as bytes.

use super::*;
use crate::messages::tests::{check_foreign, check_whole};
use proptest::collection::vec;
use proptest::prelude::*;
use weft_link::status::Awaited;

#[test]
fn a_processs_stat_says_what_it_has_used() {
    let stat =
        "42 (a ) b) S 1 1 1 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 4 0 12345 1000000 25 184467";
    let per_second = clock_ticks_per_second() as f64;
    assert_eq!(used(stat), Some((200.0 / per_second, 25 * page_size() as u64)));
    assert_eq!(used("42 (short) S 1"), None);
}

#[test]
fn a_snapshot_is_read_as_it_was_written() {
    let own = std::process::id();
    let awaited = Some(Awaited::of_unknown("a reply"));
    let status = Status {
        begun: 0,
        since: std::time::Duration::from_millis(1500),
        thread: own,
        looked: std::time::Duration::ZERO,
        polls: false,
        awaited,
    };
    let counts = Counts { packets_sent: 7, ..Counts::default() };
    let rank = RankNow::of(Rank(3), own, Some(status), Some(counts)).unwrap();
    assert_eq!((&*rank.state, rank.since), ("waits for a reply", Some(1.5)));
    assert!(rank.counts == Some(counts) && rank.memory_bytes > 0);
    let snapshot = Snapshot { program: "ring".into(), seconds: 2.0, ranks: vec![rank] };
    check_whole(&snapshot);
    let endless = Snapshot { seconds: f64::INFINITY, ..snapshot.clone() };
    assert_eq!(Snapshot::parse(&endless.emit()), Err(BadMessage::Range("time")));
    let untimely = RankNow { since: Some(f64::NAN), ..RankNow::default() };
    let snapshot = Snapshot { ranks: vec![untimely], ..snapshot };
    assert_eq!(Snapshot::parse(&snapshot.emit()), Err(BadMessage::Range("time")));
}

proptest! {
    #[test]
    fn any_body_is_a_snapshot_or_an_error(body in vec(any::<u8>(), 0..200)) {
        let rank = RankNow { state: "waits".into(), ..RankNow::default() };
        check_foreign(&Snapshot { program: "ring".into(), seconds: 2.0, ranks: vec![rank] }, &body);
    }
}
