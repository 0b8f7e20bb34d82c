//! Groups: who is in, what their trees are, and what an outsider may not do.

use super::recorder::*;
use crate::tree::GroupError;
use crate::{PacketBody, Violation};
use Did::Free;
use weft_wire::{GroupId, Rank, TreeId};

fn ranks(numbers: &[u16]) -> Vec<Rank> {
    numbers.iter().copied().map(Rank).collect()
}

#[test]
fn groups_are_numbered_in_order_after_the_broadcast_group() {
    let mut bench = Bench::new(0, 9, 1);
    assert_eq!(bench.ni.create_group(&ranks(&[1, 2])), Ok(GroupId(1)));
    assert_eq!(bench.ni.create_group(&ranks(&[8, 0])), Ok(GroupId(2)));
    assert_eq!(bench.ni.group(GroupId::ALL).map(|group| group.members().len()), Some(9));
    assert_eq!(bench.ni.group(GroupId(2)).map(|g| g.members().to_vec()), Some(ranks(&[8, 0])));
    assert!(bench.ni.group(GroupId(3)).is_none());
}

#[test]
fn a_group_that_is_none_takes_no_number() {
    let mut bench = Bench::new(0, 3, 1);
    let outside = GroupError::OutsideJob { member: Rank(3), ranks: 3 };
    assert_eq!(bench.ni.create_group(&ranks(&[0, 3])), Err(outside));
    assert_eq!(bench.ni.create_group(&ranks(&[0, 1])), Ok(GroupId(1)));
}

#[test]
fn a_member_sends_to_its_children_only() {
    let mut bench = Bench::new(4, 9, 1);
    let group = bench.ni.create_group(&ranks(&[0, 3, 4, 5, 6])).unwrap();
    let tree = TreeId::multicast(group, Rank(4));
    let header = mcast(4, tree, 0);
    assert_eq!(
        bench.multicast(group, 100),
        [sent(5, header, 100), sent(6, header, 100), Free(100)]
    );
}

#[test]
fn a_group_of_oneself_has_nobody_to_send_to() {
    let mut bench = Bench::new(4, 9, 1);
    let group = bench.ni.create_group(&ranks(&[4])).unwrap();
    assert_eq!(bench.multicast(group, 100), [Free(100)]);
    assert_eq!(Bench::new(0, 1, 1).multicast(GroupId::ALL, 100), [Free(100)]);
}

#[test]
fn packets_of_a_group_that_one_is_not_in_are_refused() {
    let mut bench = Bench::new(1, 9, 1);
    let group = bench.ni.create_group(&ranks(&[0, 3, 4])).unwrap();
    let tree = TreeId::multicast(group, Rank(0));
    let refused = bench.try_receive(mcast(0, tree, 0), PacketBody::Buffer(200));
    assert_eq!(refused, Err(Violation::Tree(Rank(0), tree)));
}

#[test]
#[should_panic(expected = "rank 1 multicasts to GroupId(1), of which it is no member")]
fn sending_to_a_group_that_one_is_not_in_is_a_programmers_error() {
    let mut bench = Bench::new(1, 9, 1);
    let group = bench.ni.create_group(&ranks(&[0, 3, 4])).unwrap();
    bench.multicast(group, 100);
}

#[test]
#[should_panic(expected = "of which it is no member")]
fn sending_to_no_group_is_a_programmers_error() {
    Bench::new(1, 9, 1).multicast(GroupId(1), 100);
}

/// The last number would make its multicast trees unicast trees.
#[test]
#[should_panic(expected = "at most 65535 multicast groups")]
fn group_numbers_end_before_the_one_of_unicast_trees() {
    let mut bench = Bench::new(0, 1, 1);
    for number in 1..GroupId::LIMIT {
        let group = bench.ni.create_group(&ranks(&[0])).unwrap();
        assert_eq!(TreeId::multicast(group, Rank(0)).group(), Some(GroupId(number)));
    }
    let _panics = bench.ni.create_group(&ranks(&[0]));
}
