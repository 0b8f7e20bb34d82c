use super::*;
use crate::placement::Placement;

fn usage(by_rank: &[(u64, u64)]) -> Usage {
    let by_rank = (0..).map(Rank).zip(by_rank.iter().copied()).collect();
    Usage { by_rank, ..Usage::default() }
}

#[test]
fn an_object_goes_where_it_costs_half() {
    let (single, replicated) = (|rank| Site::Single(Rank(rank)), Site::Replicated);
    for (by_rank, now, better) in [
        // One rank does all.
        (&[(0, 0), (10, 10), (0, 0)][..], single(0), Some(single(1))),
        (&[(0, 0), (10, 10), (0, 0)], replicated, Some(single(1))),
        (&[(0, 0), (10, 10), (0, 0)], single(1), None),
        // All read, one writes now and then.
        (&[(9, 1), (9, 0), (9, 0)], single(0), Some(replicated)),
        (&[(9, 1), (9, 0), (9, 0)], replicated, None),
        // All write: no home is better than another, and all are better than many copies.
        (&[(0, 9), (0, 9), (0, 9)], single(0), None),
        (&[(0, 9), (0, 9), (0, 9)], replicated, Some(single(0))),
        // Somewhat better elsewhere.
        (&[(0, 4), (0, 6), (0, 0)], single(0), None),
        (&[], single(0), None),
    ] {
        assert_eq!(usage(by_rank).better(now, 3), better, "{by_rank:?} {now:?}");
    }
}

#[test]
fn estimates_decide_at_first() {
    let first = |reads, writes, ranks| Placement::Expected { reads, writes }.site(ranks);
    assert_eq!(first(100, 1, 4), (Some(Site::Replicated), true));
    assert_eq!(first(1, 100, 4), (None, true));
    assert_eq!(first(100, 0, 1), (None, true), "there is one rank");
    assert_eq!(first(u64::MAX, u64::MAX, 2), (None, true));
    assert_eq!(Placement::Automatic.site(4), (None, true));
    assert_eq!(Placement::Single(Rank(2)).site(4), (Some(Site::Single(Rank(2))), false));
}
