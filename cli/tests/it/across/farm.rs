//! The farm of the guide on two hosts, whose ranks are killed: what is left goes on, on both.

use super::losing::Judged;
use crate::common::farm::judge;
use crate::common::traces::Draw;

const FARM: Judged =
    Judged { words: |tasks| format!("farm --work 50 --tasks {tasks}"), length: 2_000, judge };

#[test]
fn a_rank_of_the_other_host_is_lost() {
    FARM.survives("rank 6", |farm| farm.kill(&[6], &mut Draw(6)));
}

#[test]
fn rank_0_is_lost_which_has_the_desk() {
    FARM.survives("rank 0", |farm| farm.kill(&[0], &mut Draw(1)));
}

#[test]
fn all_ranks_of_the_first_host_are_lost() {
    FARM.survives("ranks 0 to 3", |farm| farm.kill(&[2, 0, 3, 1], &mut Draw(2)));
}

#[test]
fn the_other_host_is_lost() {
    FARM.survives("host b", |farm| farm.kill_host_of(5));
}
