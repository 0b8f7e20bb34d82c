//! Ranks that are stuck, and those that are not.

use super::super::tests::{does, meeting, waits};
use super::*;
use std::time::Duration;

fn ranks(numbers: &[u16]) -> Ranks {
    numbers.iter().copied().map(Rank).collect()
}

fn one(rank: u16, of: u16) -> Standing {
    waits(rank, "it", Whom::One(Rank(of)), 9)
}

fn stuck(all: &[Standing]) -> Ranks {
    Graph::of(all, all.len() as u16, Standing::is_certain).stuck(&Ranks::new())
}

#[test]
fn a_cycle_is_stuck_and_so_is_who_waits_for_it() {
    let all = [one(0, 1), one(1, 2), one(2, 1), does(3, Doing::Computes)];
    let graph = Graph::of(&all, 4, Standing::is_settled);
    assert_eq!(graph.stuck(&Ranks::new()), ranks(&[0, 1, 2]));
    assert_eq!(graph.core(&ranks(&[0, 1, 2])), ranks(&[1, 2]));
    assert_eq!(stuck(&[one(0, 0), does(1, Doing::Sleeps)]), ranks(&[0]));
}

#[test]
fn who_waits_for_one_that_computes_is_not_stuck_without_it() {
    let all = [one(0, 1), one(1, 2), does(2, Doing::Computes)];
    assert_eq!(stuck(&all), Ranks::new());
    assert_eq!(Graph::of(&all, 3, Standing::is_settled).stuck(&ranks(&[2])), ranks(&[0, 1, 2]));
}

#[test]
fn who_waits_for_anyone_is_stuck_when_all_are() {
    let any = |rank| waits(rank, "a message", Whom::Anyone, 9);
    assert_eq!(stuck(&[any(0), any(1), one(2, 0)]), ranks(&[0, 1, 2]));
    assert_eq!(stuck(&[any(0), any(1), does(2, Doing::Sleeps)]), Ranks::new());
}

#[test]
fn who_waits_for_one_of_some_is_stuck_when_these_are() {
    let some = |rank| waits(rank, "it", Whom::OneOf(vec![Rank(0), Rank(1)]), 9);
    assert_eq!(stuck(&[one(0, 1), one(1, 0), some(2), does(3, Doing::Sleeps)]), ranks(&[0, 1, 2]));
    assert_eq!(stuck(&[one(0, 1), does(1, Doing::Computes), some(2)]), Ranks::new());
}

#[test]
fn a_wait_that_nobody_knows_or_that_has_just_begun_is_no_deadlock() {
    assert_eq!(stuck(&[one(0, 1), waits(1, "it", Whom::Unknown, 9)]), Ranks::new());
    assert_eq!(stuck(&[one(0, 1), waits(1, "it", Whom::One(Rank(0)), 1)]), Ranks::new());
    let awake = Standing { is_asleep: false, ..one(1, 0) };
    assert_eq!(stuck(&[one(0, 1), awake.clone()]), Ranks::new());
    let polls = Standing { since: Some(Duration::from_secs(3)), ..awake };
    assert_eq!(stuck(&[one(0, 1), polls]), ranks(&[0, 1]));
}

#[test]
fn a_meeting_is_missed_by_who_is_before_it() {
    let at = |rank, number| waits(rank, "barrier", meeting(number, 5), 9);
    let missing = |all: &[Standing]| {
        Meetings::among(all).missing(&match meeting(3, 5) {
            Whom::Meeting(meeting) => meeting,
            _ => unreachable!(),
        })
    };
    let all = [at(0, 3), at(1, 4), at(2, 2), does(3, Doing::Computes)];
    assert_eq!(missing(&all), [Rank(2), Rank(3)]);
    // Numbers begin again.
    let all = [at(0, 3), at(1, u32::MAX), at(2, 3), at(3, 3)];
    assert_eq!(missing(&all), [Rank(1)]);
    assert_eq!(stuck(&[at(0, 3), at(1, 3), at(2, 3), at(3, 3)]), Ranks::new());
}

#[test]
fn members_that_call_different_operations_disagree() {
    let at = |rank, number, call| waits(rank, "it", meeting(number, call), 9);
    let disagreements = |all: &[Standing]| Meetings::among(all).disagreements();
    assert_eq!(disagreements(&[at(0, 3, 5), at(1, 3, 5), at(2, 4, 6)]), [] as [Ranks; 0]);
    assert_eq!(disagreements(&[at(0, 3, 5), at(1, 3, 6), at(2, 4, 6)]), [ranks(&[0, 1])]);
}
