//! Tickets that ranks on two hosts draw from one counter, whose ranks are killed: no two that are
//! left have the same, wherever the counter was.

use super::losing::Judged;
use crate::common::tickets::judge;
use crate::common::traces::Draw;

const TICKETS: Judged = Judged {
    words: |tickets| format!("tickets --work 50 --tickets {tickets}"),
    length: 2_000,
    judge,
};

#[test]
fn a_rank_of_the_other_host_is_lost() {
    TICKETS.survives("rank 6", |tickets| tickets.kill(&[6], &mut Draw(6)));
}

#[test]
fn the_home_is_lost_and_the_next_two() {
    TICKETS.survives("ranks 0 to 2", |tickets| tickets.kill(&[0, 1, 2], &mut Draw(1)));
}

#[test]
fn the_other_host_is_lost() {
    TICKETS.survives("host b", |tickets| tickets.kill_host_of(5));
}
