//! The farm of the guide on two hosts, whose ranks are killed: what is left goes on, on both.

use super::ends::Traces;
use super::*;
use crate::common::farm::{Farm, GOES_ON};
use crate::common::traces::Draw;
use std::time::Instant;

/// Tasks at first of a farm that is to be there when all its victims are killed.
const TASKS: u64 = 2_000;
/// Doublings until it has to be.
const DOUBLINGS: u32 = 6;

/// Loses ranks in the middle of a farm of which four are on each host; false if it was done before.
fn lose(cluster: &Cluster, link: &str, what: &str, tasks: u64, lose: &impl Fn(&mut Farm)) -> bool {
    let traces = Traces::before(cluster, link);
    let words = format!("{GOES_ON} --link {link} --hosts a:4,b:4");
    let farm = format!("weft-example farm --work 50 --tasks {tasks}");
    let command = traces.command(common::command(cluster, &words, &farm));
    let mut farm = Farm::start(command, traces.folder());
    let processes = traces.processes();
    lose(&mut farm);
    let is_named = farm.finish(8).judge(tasks, what);
    traces.wait(&processes, Instant::now(), what);
    traces.check(what);
    is_named
}

/// Has a farm survive that over each link: one that was done before is tried again, twice as long.
fn survives(lost: &str, loss: impl Fn(&mut Farm)) {
    let Some(two) = cluster(2) else { return };
    for link in ["udp", "xdp"] {
        let what = format!("{lost} over {link}");
        let mut longer = (0..=DOUBLINGS).map(|doublings| TASKS << doublings);
        let is_named = longer.any(|tasks| lose(&two, link, &what, tasks, &loss));
        assert!(is_named, "{what}: nobody says that all of them were lost");
    }
}

#[test]
fn a_rank_of_the_other_host_is_lost() {
    survives("rank 6", |farm| farm.kill(&[6], &mut Draw(6)));
}

#[test]
fn rank_0_is_lost_which_has_the_desk() {
    survives("rank 0", |farm| farm.kill(&[0], &mut Draw(1)));
}

#[test]
fn all_ranks_of_the_first_host_are_lost() {
    survives("ranks 0 to 3", |farm| farm.kill(&[2, 0, 3, 1], &mut Draw(2)));
}

#[test]
fn the_other_host_is_lost() {
    survives("host b", |farm| farm.kill_host_of(5));
}
