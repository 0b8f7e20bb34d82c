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

/// Kills these ranks in the middle of a farm of which four are on each host; false if it was done
/// before.
fn kill(cluster: &Cluster, link: &str, victims: &[u16], tasks: u64) -> bool {
    let traces = Traces::before(cluster, link);
    let words = format!("{GOES_ON} --link {link} --hosts a:4,b:4");
    let farm = format!("weft-example farm --work 50 --tasks {tasks}");
    let command = traces.command(common::command(cluster, &words, &farm));
    let mut farm = Farm::start(command, traces.folder());
    let (processes, what) = (traces.processes(), format!("{victims:?} over {link}"));
    farm.kill(victims, &mut Draw(u64::from(victims[0])));
    let is_named = farm.finish(8).judge(tasks, &what);
    traces.wait(&processes, Instant::now(), &what);
    traces.check(&what);
    is_named
}

fn survives(victims: &[u16]) {
    let Some(two) = cluster(2) else { return };
    for link in ["udp", "xdp"] {
        let mut longer = (0..=DOUBLINGS).map(|doublings| TASKS << doublings);
        let is_named = longer.any(|tasks| kill(&two, link, victims, tasks));
        assert!(is_named, "{victims:?} over {link}: nobody says that all of them were lost");
    }
}

#[test]
fn a_rank_of_the_other_host_is_lost() {
    survives(&[6]);
}

#[test]
fn rank_0_is_lost_which_has_the_desk() {
    survives(&[0]);
}

#[test]
fn a_whole_host_is_lost_rank_by_rank() {
    survives(&[2, 0, 3, 1]);
}
