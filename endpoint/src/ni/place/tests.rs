use super::*;

fn places(ranks: usize, cores: &[usize]) -> Vec<Option<usize>> {
    (0..ranks).map(|index| Place::among(index, ranks, cores).map(|place| place.0)).collect()
}

#[test]
fn as_many_ranks_have_their_place_on_each_core() {
    assert_eq!(places(4, &[3, 5]), [Some(3), Some(5), Some(3), Some(5)]);
    assert_eq!(places(5, &[3, 5]), [Some(3), Some(5), Some(3), Some(5), None]);
    assert_eq!(places(3, &[0, 1, 2]), [None; 3]);
    assert_eq!(places(2, &[7]), [Some(7); 2]);
    assert_eq!(places(2, &[]), [None; 2]);
}

#[test]
fn a_rank_that_is_taken_away_again_and_again_returns_once_in_a_while() {
    let mut returns = Returns::default();
    let millisecond = 1_000_000;
    let due = (0..12).filter(|time| returns.is_due(time * millisecond));
    assert_eq!(due.collect::<Vec<_>>(), [0, 5, 10]);
}

#[test]
fn who_returns_may_be_moved_away_afterwards() {
    let allowed = sched_getaffinity(None).unwrap();
    let last = (0..CpuSet::MAX_CPU).rfind(|core| allowed.is_set(*core)).unwrap();
    Returns::default().go(0, Place(last));
    assert_eq!(sched_getaffinity(None).unwrap(), allowed);
    // A core that there is not is no place to go to.
    Returns::default().go(0, Place(CpuSet::MAX_CPU - 1));
    assert_eq!(sched_getaffinity(None).unwrap(), allowed);
}
