//! Lines of roll calls.

use super::*;
use weft_link::status::{Meeting, Whom};

/// A rank that has waited for so many tenths of a second, for this.
pub(super) fn waits(rank: u16, what: &str, whom: Whom, tenths: u64) -> Standing {
    Standing {
        rank: Rank(rank),
        doing: Doing::Waits(Awaited::new(what, whom)),
        since: Some(Duration::from_millis(100 * tenths)),
        is_asleep: true,
        is_busy: false,
    }
}

/// The meeting of members 0 to 3 in this operation.
pub(super) fn meeting(number: u32, call: u32) -> Whom {
    Whom::Meeting(Meeting { team: 7, number, call, members: (0..4).map(Rank).collect() })
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
fn a_program_may_have_any_name() {
    assert_eq!(state_of("17 (a) S (b) R 1 17"), Some('R'));
    assert_eq!(state_of("17 (a"), None);
}

#[test]
fn a_process_that_is_not_there_does_nothing() {
    let own = rustix::process::getpid();
    assert_eq!(Standing::of(Rank(0), own, None).map(|standing| standing.since), Some(None));
    let none = Pid::from_raw(i32::MAX).unwrap();
    assert_eq!(Standing::of(Rank(0), none, None), None);
}
