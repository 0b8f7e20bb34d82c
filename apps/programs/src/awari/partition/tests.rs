use super::*;

/// Update of a position by one that follows and is won, or lost.
fn update(place: u32, is_won: bool) -> u32 {
    place << 1 | u32::from(is_won)
}

fn partition(open: &[u8], exits: &[i8]) -> Partition {
    let mut partition = Partition::default();
    partition.start(open.to_vec(), exits.to_vec());
    partition
}

#[test]
fn exits_alone_are_known_at_their_threshold() {
    let mut partition = partition(&[1, 0, 1, 0, 2], &[3, -3, -3, 2, NO_EXIT]);
    assert_eq!(partition.seed(3, 0), 2);
    assert_eq!(partition.take(0), [update(0, true), update(1, false)]);
    assert_eq!(partition.seed(3, 0), 0, "nothing is known twice");
    assert_eq!(partition.seed(2, 0), 1);
    assert_eq!(partition.finish(), [3, -3, 0, 2, 0]);
}

#[test]
fn one_that_follows_and_is_lost_is_enough_to_win() {
    let mut partition = partition(&[3, 3], &[NO_EXIT, 2]);
    assert_eq!(partition.apply(&[update(0, false), update(1, false), update(0, false)], 4, 0), 2);
    assert_eq!(partition.take(0), [0_u32; 0], "it is of the next round");
    assert_eq!(partition.take(1), [update(0, true), update(1, true)]);
    assert_eq!(partition.finish(), [4, 4]);
}

#[test]
fn a_position_is_lost_when_all_that_follow_are_won() {
    let mut partition = partition(&[2, 2, 2], &[NO_EXIT, -1, 0]);
    let won = [0, 1, 2].map(|place| update(place, true));
    assert_eq!(partition.apply(&won, 5, 6), 0);
    assert_eq!(partition.apply(&won, 2, 7), 1);
    // The second waits for the threshold of its exit, the third for none.
    assert_eq!(partition.take(8), [update(0, false)]);
    assert_eq!(partition.seed(2, 9), 0);
    assert_eq!(partition.seed(1, 9), 1);
    assert_eq!(partition.finish(), [-2, -1, 0]);
}

#[test]
fn lists_of_two_rounds_are_apart() {
    let mut partition = partition(&[1, 1], &[2, NO_EXIT]);
    assert_eq!(partition.seed(2, 4), 1);
    assert_eq!(partition.apply(&[update(1, false)], 2, 4), 1);
    assert_eq!(partition.take(4), [update(0, true)]);
    assert_eq!(partition.take(5), [update(1, true)]);
}
