//! All states of small teams that count, any of whose members may be lost at any time; what members
//! bring and are told, as words.

mod judge;
mod world;

use super::*;
use weft_model::explore::{Explored, Wrong, explore};
use world::{Careless, Options};

const THREE: Options = Options {
    members: 3,
    amounts: &[2, 1],
    losses: 2,
    are_shared: false,
    planted: None,
    careless: None,
};

fn explored(options: &Options) -> Explored {
    explore(options, 5_000_000).unwrap_or_else(|found| panic!("{found}"))
}

#[test]
fn additions_never_overlap_whoever_is_lost_between_hosts() {
    let two = Options { members: 2, losses: 1, ..THREE };
    assert_eq!(explored(&Options { losses: 0, ..two }).states, 178);
    assert_eq!(explored(&two).states, 2_063);
    assert_eq!(explored(&Options { amounts: &[1], ..THREE }).states, 50_249);
    if cfg!(feature = "soak") {
        assert_eq!(explored(&THREE).states, 1_498_873);
        assert_eq!(explored(&Options { members: 4, amounts: &[1], ..THREE }).states, 1_223_213);
    }
}

#[test]
fn additions_never_overlap_whoever_is_lost_where_ranks_share_memory() {
    let two = Options { members: 2, losses: 1, are_shared: true, ..THREE };
    assert_eq!(explored(&two).states, 1_426);
    assert_eq!(explored(&Options { amounts: &[1], are_shared: true, ..THREE }).states, 30_335);
    if cfg!(feature = "soak") {
        assert_eq!(explored(&Options { are_shared: true, ..THREE }).states, 742_481);
    }
}

fn is_found(options: &Options, invariants: &[&str]) {
    let found = explore(options, 5_000_000).unwrap_err();
    let Wrong::Broken(what) = found.wrong else { panic!("{options:?}: {found}") };
    let is_one = invariants.iter().any(|invariant| what.starts_with(invariant));
    assert!(is_one, "{options:?}: {what}");
}

/// Invariants of additions, of which either may be the first to be broken.
const OF_ADDITIONS: &[&str] = &["C1", "C2"];

#[test]
fn every_mistake_is_found() {
    let two = Options { members: 2, losses: 1, ..THREE };
    for (planted, options, invariants) in [
        (Planted::ForgetAmount, Options { amounts: &[2], ..THREE }, OF_ADDITIONS),
        (Planted::LeaveOld, two, &["C4"]),
    ] {
        is_found(&Options { planted: Some(planted), ..options }, invariants);
    }
}

#[test]
fn every_carelessness_of_those_who_drive_it_is_found() {
    let one_each = Options { amounts: &[1], ..THREE };
    // One is lost before the move, one in it, and two are left.
    let four = Options { members: 4, amounts: &[], ..THREE };
    for (careless, options, invariants) in [
        (Careless::MovesWhileItAdds, one_each, OF_ADDITIONS),
        (Careless::TrustsItsOwnMark, one_each, OF_ADDITIONS),
        (Careless::SetsItLate, one_each, OF_ADDITIONS),
        (Careless::MovesAlone, four, &["C3"]),
        (Careless::StaysWhenAllMoved, one_each, &["C3"]),
    ] {
        is_found(&Options { careless: Some(careless), ..options }, invariants);
    }
}

const VARIABLE: Variable = Variable { home: Rank(3), index: 65_000 };

fn brings(seen: u64, holders: u64) -> Brought {
    Brought::Counter { variable: VARIABLE, seen, holders }
}

#[test]
fn what_members_bring_and_are_told_is_read_as_it_was_written() {
    let all =
        [Brought::Nothing, Brought::Joins, brings(u64::MAX, 7), Brought::LeavesOut(Rank(u16::MAX))];
    for brought in all {
        assert_eq!(Brought::parse(brought.emit()), Some(brought));
    }
    for words in [[4, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [2, 1 << 32, 0, 0], [3, 1 << 16, 0, 0]]
    {
        assert_eq!(Brought::parse(words), None, "{words:?}");
    }
    for told in [NewHome::At(VARIABLE, u64::MAX), NewHome::Full] {
        assert_eq!(NewHome::parse(told.emit(), Rank(3)), Some(told));
    }
    assert_eq!(NewHome::parse([1 << 16, 0], Rank(3)), None);
}

#[test]
fn all_create_one_or_all_that_have_it_bring_it() {
    let value = |all: &[Brought]| Brought::compare(all).map(|all| (all.from, all.value(None)));
    assert_eq!(value(&[Brought::Nothing; 3]), Ok((None, 0)));
    assert_eq!(value(&[brings(5, 2), brings(9, 2)]), Ok((Some(VARIABLE), 9)));
    assert_eq!(value(&[Brought::Joins, brings(5, 1)]), Ok((Some(VARIABLE), 5)));
    let other =
        Brought::Counter { variable: Variable { index: 1, ..VARIABLE }, seen: 0, holders: 2 };
    for all in [
        &[Brought::Nothing, brings(5, 1)][..],
        &[Brought::Joins, Brought::Nothing],
        &[Brought::Joins; 2],
        &[brings(5, 2), other],
        // One that has it says that it joins.
        &[brings(5, 2), Brought::Joins],
    ] {
        assert_eq!(value(all), Err(Mismatch::Differs), "{all:?}");
    }
    let left_out = [brings(5, 2), other, Brought::LeavesOut(Rank(4))];
    assert_eq!(value(&left_out), Err(Mismatch::LeavesOut(Rank(4))));
}

#[test]
fn an_old_value_that_can_be_read_counts_if_it_is_the_highest() {
    let gathered = Brought::compare(&[brings(5, 1)]).unwrap();
    assert_eq!([None, Some(4), Some(8)].map(|old| gathered.value(old)), [5, 5, 8]);
}

#[test]
fn a_mark_is_the_end_of_the_highest_addition() {
    let mut mark = Mark::default();
    assert!(mark.added(7, 3) && mark.added(2, 1));
    assert_eq!(mark.seen(), 10);
    assert!(mark.added(u64::MAX - 1, 1));
    assert!(!mark.added(u64::MAX - 1, 2));
    assert_eq!(mark.seen(), u64::MAX);
}
