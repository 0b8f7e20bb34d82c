//! Lines of roll calls.

use super::*;
use crate::messages::{Doing, Standing};
use std::time::Duration;
use weft_link::status::{Awaited, TeamMeeting, Whom};
use weft_wire::Rank;

/// A rank that has waited for so many tenths of a second, for this.
pub(super) fn waits(rank: u16, what: &str, whom: Whom, tenths: u64) -> Standing {
    Standing {
        rank: Rank(rank),
        doing: Doing::Waits(Awaited::new(what, whom)),
        since: Some(Duration::from_millis(100 * tenths)),
        is_asleep: true,
        ..Standing::outside(Rank(rank), Doing::HasLeft)
    }
}

/// The meeting of members 0 to 3 in this operation.
pub(super) fn meeting(number: u32, call: u32) -> Whom {
    Whom::Meeting(TeamMeeting { team: 7, number, call, members: (0..4).map(Rank).collect() })
}

/// A rank that does this.
pub(super) fn does(rank: u16, doing: Doing) -> Standing {
    Standing::outside(Rank(rank), doing)
}

#[test]
fn each_group_has_a_line_and_the_fewest_come_first() {
    let mut all: Vec<_> =
        (0..5).map(|rank| waits(rank, "a message on port 'a'", Whom::Unknown, 1)).collect();
    let stopped = |rank| does(rank, Doing::IsStopped);
    all.extend([stopped(5), stopped(6), does(7, Doing::Sleeps), does(8, Doing::HasLeft)]);
    let groups = [
        "rank 7 sleeps, outside of Weft",
        "ranks 5, 6 were stopped by a signal, and not continued",
        "ranks 0 to 4 wait for a message on port 'a', for 0.1 s",
    ];
    let said = lines(&all, 9);
    assert_eq!(said[said.len() - groups.len()..], groups);
}

#[test]
fn of_those_that_do_the_same_one_has_its_stack_told() {
    let mut all = vec![
        waits(0, "a message", Whom::Unknown, 20),
        waits(1, "a message", Whom::Unknown, 10),
        does(2, Doing::Computes),
        does(3, Doing::HasLeft),
    ];
    for (rank, thread) in [(0, 10), (1, 11), (2, 12)] {
        all[rank].thread = Some(thread);
    }
    let taken = TakenStacks::of(&all, |threads| {
        assert_eq!(threads, [10, 12]);
        Box::new(|| vec![Some("f10, main".into()), None])
    });
    add_stacks(&mut all, taken.name());
    let stacks: Vec<_> = all.iter().map(|standing| standing.stack.as_deref()).collect();
    assert_eq!(stacks, [Some("f10, main"), None, None, None]);
    let said = lines(&all, 4);
    assert!(
        said.contains(
            &"ranks 0, 1 wait for a message, for 2.0 s; the stack of rank 0: f10, main".into()
        ),
        "{said:?}"
    );
    // Of those whose stack is known none is taken again.
    let taken = TakenStacks::of(&all, |threads| {
        assert_eq!(threads, [12]);
        Box::new(|| vec![Some("spin, main".into())])
    });
    add_stacks(&mut all, taken.name());
    assert!(lines(&all, 4).contains(&"rank 2 computes or polls; its stack: spin, main".into()));
}
