//! The table: what it cuts off, and what gives way.

use super::*;

/// Two hashes that share the one place of a table of one entry.
const A: u64 = 3 << 40;
const B: u64 = 5 << 50;

fn one(replacement: Replacement) -> Table {
    Table::new(31, replacement).unwrap()
}

#[test]
fn a_position_is_searched_again_only_with_more_moves_left() {
    for replacement in [Replacement::DepthPreferred, Replacement::Always] {
        let mut table = Table::new(1 << 10, replacement).unwrap();
        assert!(!table.covers(A, 0, 1), "an empty table knows nothing");
        assert!(table.covers(A, 0, 1));
        assert!(!table.covers(A, 9, 1));
        assert!(table.covers(A, 9, 1) && table.covers(A, 8, 2));
        assert!(!table.covers(A, 10, 2));
    }
    assert!(!one(Replacement::Always).covers(0, 0, 0), "the hash 0 is as good as others");
}

#[test]
fn depth_is_preferred_within_an_iteration() {
    let mut table = one(Replacement::DepthPreferred);
    assert!(!table.covers(A, 9, 1));
    assert!(!table.covers(B, 8, 1));
    assert!(table.covers(A, 9, 1), "the deeper one stays");
    assert!(!table.covers(B, 8, 1));
    assert!(!table.covers(B, 9, 1), "one as deep replaces it");
    assert!(table.covers(B, 9, 1));
    assert!(!table.covers(A, 1, 2));
    assert!(table.covers(A, 1, 2), "the next iteration's replaces any");
}

#[test]
fn or_all_are_replaced() {
    let mut table = one(Replacement::Always);
    assert!(!table.covers(A, 9, 1) && !table.covers(B, 1, 1));
    assert!(table.covers(B, 1, 1) && !table.covers(A, 1, 1));
}

#[test]
fn a_table_without_room_is_none() {
    assert!(Table::new(0, Replacement::Always).is_none());
    assert!(Table::new(15, Replacement::Always).is_none());
}
