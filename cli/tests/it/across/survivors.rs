//! A bit of everything on two hosts, whose ranks are killed: what is left says the same, on both.

use super::losing::Judged;
use super::*;
use crate::common::mortal::seeds;
use crate::common::survivors::judge;
use crate::common::traces::Draw;

/// Storms over each link.
const RUNS: u64 = 2;

const SURVIVORS: Judged =
    Judged { words: |rounds| format!("survivors --rounds {rounds}"), length: 200, judge };

#[test]
fn three_of_eight_are_lost() {
    for seed in seeds("SURVIVORS", RUNS) {
        let victims = Draw(seed).some(3, 8);
        let what = format!("seed {seed}, {victims:?}");
        SURVIVORS.survives(&what, |job| job.kill(&victims, &mut Draw(seed)));
    }
}

#[test]
fn the_other_host_is_lost() {
    SURVIVORS.survives("host b", |job| job.kill_host_of(5));
}

#[test]
fn programs_on_two_hosts_may_ask_that_their_job_go_on() {
    let Some(two) = cluster(2) else { return };
    let output = common::command(&two, "--link udp --hosts a:2,b:2", "weft-testee goes-on");
    let output = { output }.env_remove("WEFT_ON_LOSS").output().unwrap();
    let (status, said) = (output.status.code(), text(&output));
    for rank in [0, 2, 3] {
        assert!(said.contains(&format!("rank {rank} went on with 3 of 4")), "{status:?}: {said}");
    }
    assert_eq!(status, Some(0), "{said}");
}
