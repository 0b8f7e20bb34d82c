//! Roll calls of jobs as bytes.

use super::*;
use crate::messages::Doing;
use crate::messages::tests::{check_foreign, check_whole};
use proptest::collection::vec;
use proptest::prelude::*;
use weft_link::status::Awaited;
use weft_wire::Rank;

fn roll() -> JobRoll {
    let doings = [
        Doing::Waits(Awaited::of_unknown("a message")),
        Doing::Waits(Awaited::of_unknown("a message")),
        Doing::Computes,
    ];
    let mut standings: Vec<_> =
        (0..).zip(doings).map(|(rank, doing)| Standing::outside(Rank(rank), doing)).collect();
    for (standing, thread) in standings.iter_mut().zip(10..) {
        standing.thread = Some(thread);
    }
    standings[1].stack = Some("receive, main".into());
    JobRoll { ranks: 4, program: "work".into(), time: Duration::from_millis(3100), standings }
}

#[test]
fn a_roll_call_is_read_as_it_was_written() {
    let roll = roll();
    check_whole(&roll);
    assert_eq!(roll.title(), "4 ranks of work, for 3.1 s");
}

proptest! {
    #[test]
    fn any_body_is_a_roll_call_or_an_error(body in vec(any::<u8>(), 0..200)) {
        check_foreign(&roll(), &body);
    }
}

#[test]
fn stacks_are_taken_of_those_whose_job_took_none() {
    let mut roll = roll();
    roll.add_stacks(|threads| {
        assert_eq!(threads, [12]);
        Box::new(|| vec![Some("relax, main".into())])
    });
    let said = roll.lines();
    let parts = ["; the stack of rank 1: receive, main", "; its stack: relax, main"];
    assert!(parts.iter().all(|part| said.iter().any(|line| line.ends_with(part))), "{said:?}");
    roll.standings.iter_mut().for_each(|standing| standing.stack = None);
    roll.forget_threads();
    roll.add_stacks(|threads| {
        assert!(threads.is_empty());
        Box::new(Vec::new)
    });
}
