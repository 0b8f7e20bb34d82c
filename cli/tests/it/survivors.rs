//! A bit of everything on one host, whose ranks are killed at any moment: what is left of it says
//! the same, and leaves nothing.
//!
//! A seed fixes who is killed, and what passes before. `WEFT_SURVIVORS_RUNS` says how many seeds
//! the storm tries, from `WEFT_FIRST_SURVIVORS` on.

use crate::common::mortal::{Mortal, seeds};
use crate::common::survivors::judge;
use crate::common::traces::Draw;

const RANKS: u16 = 8;
/// Most tries to kill all but one before the end.
const TRIES: u64 = 6;
/// Storms in `make test`.
const RUNS: u64 = 6;

/// Kills three ranks one after the other; true if none had come to the end.
fn storm(seed: u64) -> bool {
    let mut draw = Draw(seed);
    let (victims, rounds) = (draw.some(3, RANKS), 200 << draw.below(3));
    let words = format!("survivors --rounds {rounds}");
    let ended = Mortal::run((RANKS, RANKS), &words, &victims, &mut draw);
    judge(&ended, rounds, &format!("seed {seed}, {victims:?}"))
}

#[test]
fn three_of_eight_are_lost_and_all_that_are_left_say_the_same() {
    let seeds = seeds("SURVIVORS", RUNS);
    let storms = seeds.end - seeds.start;
    let in_the_middle = seeds.filter(|seed| storm(*seed)).count() as u64;
    println!("{in_the_middle} of {storms} storms were in the middle");
    assert!(2 * in_the_middle >= storms, "{in_the_middle} of {storms} storms");
}

#[test]
fn seven_of_eight_are_lost() {
    let (victims, rounds) = ([3, 0, 7, 1, 2, 6, 5], 2000);
    // Some may have come to the end before they are killed.
    let are_lost = (1..=TRIES).any(|seed| {
        let ended =
            Mortal::run((RANKS, RANKS), "survivors --rounds 2000", &victims, &mut Draw(seed));
        judge(&ended, rounds, &format!("seven of eight, seed {seed}"))
    });
    assert!(are_lost, "nobody says that all of them were lost");
}
