//! Snapshots that are fresh, and hosts that do not answer.

use super::*;

const NOW: Duration = Duration::from_secs(5);

fn rank(rank: u16) -> RankNow {
    RankNow { rank, ..RankNow::default() }
}

#[test]
fn a_look_is_good_for_a_second() {
    let mut snapshots = Snapshots::default();
    assert!(snapshots.end(NOW) && snapshots.fresh(NOW).is_none());
    let number = snapshots.begin(NOW, [0, 1]);
    snapshots.inquiry.answered(1, number, vec![rank(2)]);
    assert!(!snapshots.end(NOW));
    snapshots.inquiry.answered(0, number, vec![rank(0), rank(1)]);
    assert!(snapshots.end(NOW));
    let all = [0, 1, 2].map(rank).to_vec();
    assert_eq!(snapshots.fresh(NOW + FRESH / 2), Some(&(NOW, all)));
    assert_eq!(snapshots.fresh(NOW + FRESH), None);
}

#[test]
fn a_host_that_does_not_answer_is_left_out() {
    let mut snapshots = Snapshots::default();
    let number = snapshots.begin(NOW, [0, 1]);
    snapshots.inquiry.answered(0, number, vec![rank(0)]);
    assert!(!snapshots.end(NOW) && snapshots.end(NOW + PATIENCE));
    assert_eq!(snapshots.fresh(NOW + PATIENCE).map(|(_, ranks)| ranks.len()), Some(1));
}
