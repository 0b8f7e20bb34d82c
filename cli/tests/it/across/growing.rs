//! Ranks that come later, to either of two hosts, over both links: to a job that goes well, and in
//! the place of the lost.

use super::losing::Judged;
use super::*;
use crate::common::farm::judge_grown;
use crate::common::mortal::Mortal;
use crate::common::traces::Draw;
use crate::door::{House, assert_met};
use std::process::Stdio;

const FARM: Judged = Judged {
    words: |tasks| format!("farm --work 50 --tasks {tasks}"),
    length: 2_000,
    judge: |ended, tasks, what| judge_grown(ended, tasks, 7, what),
};

#[test]
fn a_job_on_two_hosts_doubles_until_it_is_full() {
    let Some(two) = cluster(2) else { return };
    for link in ["udp", "xdp"] {
        let words = format!("-q --link {link} --hosts a:1,b:1 --room 8");
        let said = common::run(&two, &words, "weft-example growth");
        assert_eq!(said, "2 of 8 ranks\n4 of 8 ranks\n8 of 8 ranks\n", "{link}");
    }
}

/// Whoever knocks joins on the host where it runs, as long as there is a place.
#[test]
fn visitors_come_to_the_door_of_their_host() {
    let Some(two) = cluster(2) else { return };
    for link in ["udp", "xdp"] {
        let house = House::start(|door| {
            let words =
                format!("-q --link {link} --hosts a:1,b:1 --room 4 --door {}", door.display());
            common::command(&two, &words, "weft-example door")
        });
        let visitor = |host| {
            let mut command = two.host(host).command(common::built("weft-example"));
            command.arg("door").env("WEFT_DOOR", house.door());
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let visitors = vec![visitor(1), visitor(0)];
        let (output, visitors) = house.end(visitors);
        assert_met(&[&output, &visitors[0], &visitors[1]], 4);
    }
}

#[test]
fn a_job_on_one_host_whose_ranks_share_nothing_grows() {
    let Some(two) = cluster(2) else { return };
    let said = run(&two, "-q -n 1 --room 3", "weft-example growth");
    assert_eq!(said, "1 of 3 ranks\n2 of 3 ranks\n3 of 3 ranks\n");
}

/// A farm that begins with two ranks on each host and has room for three more: it is filled each
/// time that the desk goes.
#[test]
fn others_take_the_places_of_the_lost_on_both_hosts() {
    for victims in [&[0, 1][..], &[0, 4, 1]] {
        let lost = format!("{victims:?}");
        let loss = |farm: &mut Mortal| farm.kill(victims, &mut Draw(3));
        FARM.survives_on("--hosts a:2,b:2 --room 7", 4, &lost, loss);
    }
}

/// Of three places two are on the host that is lost, with the desk, and of no use: three ranks are
/// left.
#[test]
fn a_lost_host_takes_its_empty_places_with_it() {
    let loss = |farm: &mut Mortal| farm.kill_host_of(0);
    FARM.survives_on("--hosts a:2,b:2 --room 7", 3, "host a", loss);
}
