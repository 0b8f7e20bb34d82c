//! Snapshots as bytes.

use super::*;
use crate::messages::tests::{check_foreign, check_whole};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn a_snapshot_is_read_as_it_was_written() {
    let counts = Some(Counts { packets_sent: 7, ..Counts::default() });
    let state = RankState::Waits("a reply".into());
    let rank = RankNow { rank: 3, state, since: Some(1.5), counts, ..RankNow::default() };
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
        let rank = RankNow { state: RankState::Waits("a".into()), ..RankNow::default() };
        check_foreign(&Snapshot { program: "ring".into(), seconds: 2.0, ranks: vec![rank] }, &body);
    }
}
