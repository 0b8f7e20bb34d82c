use super::*;

fn recoveries(recovery: Recovery) -> Recoveries {
    Recoveries::new(Rank(0), recovery)
}

fn tree(root: u16) -> TreeId {
    TreeId::unicast(Rank(root))
}

#[test]
fn one_recovery_goes_on_at_a_time_and_queues_have_turns() {
    let mut own = recoveries(Recovery::AtOnce);
    assert_eq!(own.due(0), None, "nothing waits");
    own.block(Rank(1), 0);
    own.block(Rank(2), 0);
    for (to, other) in [(Rank(1), Rank(2)), (Rank(2), Rank(1)), (Rank(1), Rank(2))] {
        assert_eq!(own.due(0), Some(to));
        own.begin(to);
        assert_eq!(own.due(0), None, "one goes on");
        assert!(own.may_clear(Rank(0), to) && !own.may_clear(Rank(0), other));
        assert_eq!(own.clear(Rank(0), || false), None);
        own.child_is_clear(Rank(0), to);
        assert_eq!(own.clear(Rank(0), || false), Some(Clear::Own));
    }
    own.unblock(Rank(2), false, 0);
    own.unblock(Rank(1), false, 0);
    assert_eq!(own.due(0), None);
}

#[test]
fn deadlock_is_suspected_after_a_while_in_which_nothing_has_left() {
    let mut own = recoveries(Recovery::After(10));
    own.block(Rank(1), 5);
    own.block(Rank(1), 9);
    assert_eq!((own.deadline(), own.due(14), own.due(15)), (Some(15), None, Some(Rank(1))));
    own.unblock(Rank(1), true, 12);
    assert_eq!((own.deadline(), own.due(15)), (Some(22), None));
    own.begin(Rank(1));
    assert_eq!(own.deadline(), None);
}

#[test]
fn a_channel_is_clear_once_it_is_here_and_below() {
    let mut part = recoveries(Recovery::AtOnce);
    let (owner, parent, child) = (Rank(3), Rank(4), Rank(5));
    part.join(owner, parent, tree(9));
    assert!(part.is_recovering() && !part.is_open(owner));
    part.extend(owner, child);
    assert_eq!(part.release(tree(8)), None, "a packet of another tree");
    assert_eq!(part.release(tree(9)), Some(owner));
    assert!(!part.is_recovering());
    assert_eq!(part.clear(owner, || false), None, "the child is not clear");
    part.child_is_clear(owner, child);
    assert_eq!(part.clear(owner, || false), Some(Clear::Below(parent)));
    assert!(part.is_open(owner) && part.channels().next().is_none());
}
