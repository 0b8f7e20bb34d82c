//! Verdicts in words.

use super::super::tests::{does, meeting, waits};
use super::*;
use weft_wire::Rank;

const BARRIER: &str = "barrier, operation 17 of the team of all ranks";

fn barrier(rank: u16, tenths: u64) -> Standing {
    waits(rank, BARRIER, meeting(17, 1), tenths)
}

fn message(rank: u16, from: u16, port: &str) -> Standing {
    waits(rank, &format!("a message on port '{port}'"), Whom::One(Rank(from)), 20)
}

#[test]
fn the_odd_one_is_named_with_those_that_it_keeps() {
    let computes = Standing { since: Some(Duration::from_secs(31)), ..does(1, Doing::Computes) };
    let all = [barrier(0, 312), computes, barrier(2, 20), barrier(3, 9)];
    let said = format!(
        "rank 1 computes or polls, for 31.0 s; ranks 0, 2, 3 wait for it: {BARRIER}, \
         for 31.2 s"
    );
    assert_eq!(lines(&all, 4), [said]);
}

#[test]
fn a_cycle_is_named_as_a_deadlock_and_who_waits_for_it() {
    let all = [message(0, 1, "a"), message(1, 0, "b"), message(2, 0, "c")];
    let said = "deadlock: rank 0 waits for a message on port 'a', for 2.0 s; \
                rank 1 waits for a message on port 'b', for 2.0 s; \
                others wait for them: rank 2 waits for a message on port 'c', for 2.0 s";
    assert_eq!(lines(&all, 3), [said]);
    let alone = [message(0, 0, "a"), does(1, Doing::Computes)];
    let said = "deadlock with itself: rank 0 waits for a message on port 'a', for 2.0 s";
    assert_eq!(lines(&alone, 2), [said]);
}

#[test]
fn one_that_is_stopped_or_has_left_is_named() {
    let all = [barrier(0, 9), barrier(1, 9), barrier(2, 9), does(3, Doing::HasLeft)];
    let said = format!("rank 3 has left the job; ranks 0 to 2 wait for it: {BARRIER}, for 0.9 s");
    assert_eq!(lines(&all, 4), [said]);
    let all = [does(0, Doing::IsStopped), does(1, Doing::Computes), does(2, Doing::HasLeft)];
    assert_eq!(lines(&all, 3), ["rank 0 was stopped by a signal, and not continued"]);
}

#[test]
fn who_is_kept_by_one_that_is_kept_is_named_too() {
    let all = [message(0, 1, "a"), message(1, 2, "b"), does(2, Doing::Sleeps)];
    let said = "rank 2 sleeps, outside of Weft; others wait for it: \
                rank 0 waits for a message on port 'a', for 2.0 s; \
                rank 1 waits for a message on port 'b', for 2.0 s";
    assert_eq!(lines(&all, 3), [said]);
}

#[test]
fn ranks_that_keep_the_same_others_are_named_together() {
    let all = [barrier(0, 9), does(1, Doing::Computes), does(2, Doing::Computes), barrier(3, 9)];
    let said =
        format!("ranks 1, 2 compute or poll; ranks 0, 3 wait for them: {BARRIER}, for 0.9 s");
    assert_eq!(lines(&all, 4), [said]);
}

#[test]
fn who_waits_while_another_of_its_threads_computes_is_in_no_deadlock() {
    let busy = Standing { is_busy: true, ..message(1, 0, "b") };
    let all = [message(0, 1, "a"), busy];
    let said = "rank 1 waits for a message on port 'b', for 2.0 s, while a handler, or another of \
                its threads, computes or sleeps a while; rank 0 waits for it: a message on port 'a', for 2.0 s";
    assert_eq!(lines(&all, 2), [said]);
    assert_eq!(deadlocked_for(&all, 2), None);
}

#[test]
fn a_collective_that_is_called_differently_is_named() {
    let at = |rank, root, call| {
        waits(rank, &format!("broadcast with member {root} as root"), meeting(3, call), 9)
    };
    let all = [at(0, 0, 1), at(1, 1, 2), at(2, 0, 1), at(3, 0, 1)];
    let said = "a collective operation is called differently: \
                ranks 0, 2, 3 wait for broadcast with member 0 as root, for 0.9 s; \
                rank 1 waits for broadcast with member 1 as root, for 0.9 s";
    assert_eq!(lines(&all, 4), [said]);
}

#[test]
fn a_healthy_job_has_no_verdict() {
    let all = [barrier(0, 1), does(1, Doing::Computes), message(2, 1, "a")];
    assert_eq!(lines(&all[..2], 2), [] as [&str; 0]);
    let many: Vec<_> = (0..9).map(|rank| does(rank, Doing::Computes)).collect();
    assert_eq!(lines(&many, 9), [] as [&str; 0]);
    let mut most: Vec<_> = (0..60).map(|rank| does(rank, Doing::Computes)).collect();
    most.push(message(60, 0, "a"));
    assert_eq!(lines(&most, 61), [] as [&str; 0]);
}

#[test]
fn a_job_is_deadlocked_if_all_that_are_left_of_it_are() {
    let seconds = |all: &[Standing], ranks| deadlocked_for(all, ranks).map(|it| it.as_secs());
    let cycle = [message(0, 1, "a"), message(1, 0, "b")];
    assert_eq!(seconds(&cycle, 2), Some(2));
    assert_eq!(seconds(&cycle, 3), None, "one of whom nothing is known may do anything");
    let with = |other| [message(0, 1, "a"), message(1, 0, "b"), other];
    assert_eq!(seconds(&with(does(2, Doing::Computes)), 3), None);
    assert_eq!(seconds(&with(does(2, Doing::IsStopped)), 3), None);
    assert_eq!(seconds(&with(does(2, Doing::HasLeft)), 3), Some(2));
    assert_eq!(seconds(&[barrier(0, 30), does(1, Doing::HasLeft)], 2), Some(3));
}
