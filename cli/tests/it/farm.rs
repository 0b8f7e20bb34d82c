//! The farm of the guide on one host, whose ranks are killed at any moment: what is left of it does
//! all tasks, says who was lost, and leaves nothing.
//!
//! A seed fixes who is killed, and what passes before. `WEFT_FARM_RUNS` says how many seeds the
//! storm tries, from `WEFT_FIRST_FARM` on.

use crate::common::farm::{judge, judge_grown};
use crate::common::mortal::{Mortal, seeds};
use crate::common::traces::Draw;

const RANKS: u16 = 8;
/// Storms in `make test`.
const RUNS: u64 = 3;
/// Seeds of each kill.
const SEEDS: u64 = 2;
/// Tasks at first of a farm that is to be there when all its victims are killed.
const TASKS: u64 = 4_000;
/// Doublings until it has to be.
const DOUBLINGS: u32 = 6;

/// Runs a farm, of which these ranks are killed, and judges it.
fn run(tasks: u64, work: u64, victims: &[u16], draw: &mut Draw, what: &str) -> bool {
    let words = format!("farm --tasks {tasks} --work {work}");
    judge(&Mortal::run((RANKS, RANKS), &words, victims, draw), tasks, what)
}

/// Kills these ranks in the middle of a farm: of one that was done before all of them were killed
/// there is another, twice as long.
fn survives(victims: &[u16]) {
    for seed in 1..=SEEDS {
        let in_the_middle = (0..=DOUBLINGS).any(|doublings| {
            let what = format!("{victims:?}, seed {seed}");
            run(TASKS << doublings, 50, victims, &mut Draw(seed), &what)
        });
        assert!(in_the_middle, "{victims:?}, seed {seed}: nobody says that all of them were lost");
    }
}

/// Kills three ranks one after the other, mostly in the middle, sometimes at the end.
fn storm(seed: u64) {
    let mut draw = Draw(seed);
    let victims = draw.some(3, RANKS);
    let (tasks, work) = (500 << draw.below(4), 20 * draw.below(4));
    run(tasks, work, &victims, &mut draw, &format!("seed {seed}, {victims:?}"));
}

#[test]
fn one_worker_is_lost() {
    survives(&[5]);
}

#[test]
fn rank_0_is_lost_which_has_the_desk() {
    survives(&[0]);
}

#[test]
fn three_of_eight_are_lost_one_after_another() {
    survives(&[0, 3, 7]);
    survives(&[2, 1, 0]);
}

#[test]
fn seven_of_eight_are_lost() {
    survives(&[0, 1, 2, 3, 4, 5, 6]);
    survives(&[6, 0, 7, 1, 4, 3, 5]);
}

/// Kills these ranks of a farm of four in the middle, those among them that have taken the places
/// of others, but not all that it begins with: the others may have yet to join. In the end it has
/// four again.
fn is_filled_again(victims: &[u16]) {
    const FOUR: u16 = 4;
    for seed in 1..=SEEDS {
        let is_full = |doublings| {
            let (tasks, draw) = (TASKS << doublings, &mut Draw(seed));
            let words = format!("farm --tasks {tasks} --work 50");
            let room = FOUR + victims.len() as u16;
            let ended = Mortal::run((FOUR, room), &words, victims, draw);
            judge_grown(&ended, tasks, room.into(), &format!("{victims:?}, seed {seed}"))
        };
        assert!(
            (0..=DOUBLINGS).any(is_full),
            "{victims:?}, seed {seed}: not all were lost, or replaced"
        );
    }
}

#[test]
fn other_ranks_take_the_places_of_the_lost() {
    is_filled_again(&[0]);
    is_filled_again(&[0, 4, 1]);
    is_filled_again(&[0, 1, 2]);
}

#[test]
fn three_of_eight_are_lost_whoever_and_whenever() {
    seeds("FARM", RUNS).for_each(storm);
}
