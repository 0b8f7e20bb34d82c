//! The farm of the guide on one host, whose ranks are killed at any moment: what is left of it does
//! all tasks, says who was lost, and leaves nothing.
//!
//! A seed fixes who is killed, and what passes before. `WEFT_FARM_RUNS` says how many seeds the
//! storm tries, from `WEFT_FIRST_FARM` on.

use crate::common::built;
use crate::common::farm::{Ended, Farm, GOES_ON};
use crate::common::traces::{Draw, ends_within, marked, shared_memory};
use std::process::Command;

const RANKS: u16 = 8;
/// Storms in `make test`.
const RUNS: u64 = 3;
/// Seeds of each kill.
const SEEDS: u64 = 2;
/// Tasks at first of a farm that is to be there when all its victims are killed.
const TASKS: u64 = 4_000;
/// Doublings until it has to be.
const DOUBLINGS: u32 = 6;

/// Runs a farm, of which these ranks are killed, and checks that nothing is left.
fn run(tasks: u64, work: u64, victims: &[u16], draw: &mut Draw) -> Ended {
    let (folder, names) = (tempfile::tempdir().unwrap(), shared_memory());
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("run").args(GOES_ON.split(' ')).args(["-n", &RANKS.to_string(), "--"]);
    command.arg(built("weft-example")).args(["farm", "--tasks", &tasks.to_string()]);
    command.args(["--work", &work.to_string()]);
    command.env("TMPDIR", folder.path()).current_dir(folder.path());
    let mut farm = Farm::start(command, folder.path());
    let processes = marked(folder.path());
    farm.kill(victims, draw);
    let ended = farm.finish(RANKS.into());
    let lives = processes.iter().find(|(_, end)| !ends_within(end, 10));
    assert!(lives.is_none() && marked(folder.path()).is_empty(), "{lives:?} lives on");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
    assert_eq!(shared_memory(), names, "something is left in /dev/shm");
    ended
}

/// Kills these ranks in the middle of a farm: of one that was done before all of them were killed
/// there is another, twice as long.
fn survives(victims: &[u16]) {
    for seed in 1..=SEEDS {
        let in_the_middle = (0..=DOUBLINGS).any(|doublings| {
            let tasks = TASKS << doublings;
            let ended = run(tasks, 50, victims, &mut Draw(seed));
            ended.judge(tasks, &format!("{victims:?}, seed {seed}"))
        });
        assert!(in_the_middle, "{victims:?}, seed {seed}: nobody says that all of them were lost");
    }
}

/// Kills three ranks one after the other, mostly in the middle, sometimes at the end.
fn storm(seed: u64) {
    let mut draw = Draw(seed);
    let mut ranks: Vec<u16> = (0..RANKS).collect();
    let victims: Vec<u16> =
        (0..3).map(|_| ranks.remove(draw.below(ranks.len() as u64) as usize)).collect();
    let (tasks, work) = (500 << draw.below(4), 20 * draw.below(4));
    run(tasks, work, &victims, &mut draw).judge(tasks, &format!("seed {seed}, {victims:?}"));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
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

#[test]
fn three_of_eight_are_lost_whoever_and_whenever() {
    let first = number("WEFT_FIRST_FARM").unwrap_or(1);
    let runs = number("WEFT_FARM_RUNS").unwrap_or(RUNS);
    (first..first + runs).for_each(storm);
}
