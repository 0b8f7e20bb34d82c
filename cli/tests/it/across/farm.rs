//! The farm of the guide on two hosts, whose ranks are killed: what is left goes on, on both.

use super::ends::Traces;
use super::*;
use crate::common::farm::judge;
use crate::common::mortal::{Ended, GOES_ON, Mortal};
use crate::common::traces::Draw;
use std::time::Instant;

/// Tasks at first of a farm that is to be there when all its victims are killed.
const TASKS: u64 = 2_000;
/// Doublings until it has to be.
const DOUBLINGS: u32 = 6;

/// Loses ranks of an example of which four are on each host.
pub(super) fn lose(
    cluster: &Cluster,
    link: &str,
    what: &str,
    example: &str,
    lose: &impl Fn(&mut Mortal),
) -> Ended {
    let traces = Traces::before(cluster, link);
    let words = format!("{GOES_ON} --link {link} --hosts a:4,b:4");
    let example = format!("weft-example {example}");
    let command = traces.command(common::command(cluster, &words, &example));
    let mut job = Mortal::start(command, traces.folder());
    let processes = traces.processes();
    lose(&mut job);
    let ended = job.finish(8);
    traces.wait(&processes, Instant::now(), what);
    traces.check(what);
    ended
}

/// Has a farm survive that over each link: one that was done before is tried again, twice as long.
fn survives(lost: &str, loss: impl Fn(&mut Mortal)) {
    let Some(two) = cluster(2) else { return };
    for link in ["udp", "xdp"] {
        let what = format!("{lost} over {link}");
        let mut longer = (0..=DOUBLINGS).map(|doublings| TASKS << doublings);
        let is_named = longer.any(|tasks| {
            let farm = format!("farm --work 50 --tasks {tasks}");
            judge(&lose(&two, link, &what, &farm, &loss), tasks, &what)
        });
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
