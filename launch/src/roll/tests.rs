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
        ..Standing::outside(Rank(rank), Doing::HasLeft)
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

#[test]
fn a_thread_that_sleeps_for_a_time_is_known() {
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let process = Pid::from_child(&child);
    let main = child.id();
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let naps = || threads_of(process).is_some_and(|threads| threads.get(&main) == Some(&NAPS));
    let seen = std::iter::repeat_with(naps).take_while(|_| std::time::Instant::now() < until);
    let seen = seen.inspect(|_| std::thread::yield_now()).any(|naps| naps);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen);
}

#[test]
fn who_looks_no_more_waits_no_more() {
    let own = rustix::process::getpid();
    let thread = rustix::thread::gettid().as_raw_pid().cast_unsigned();
    let of = |polls, looked| {
        let status = Status {
            begun: 0,
            since: Duration::from_secs(5),
            thread,
            looked: Duration::from_millis(looked),
            polls,
            awaited: Some(Awaited::of_unknown("a message")),
        };
        Standing::of(Rank(0), own, Some(status)).unwrap()
    };
    let waits = Doing::Waits(Awaited::of_unknown("a message"));
    assert_eq!((of(false, 0).doing, of(true, 199).doing), (waits.clone(), waits.clone()));
    let away = of(true, 200);
    assert!(matches!(away.doing, Doing::Computes | Doing::Sleeps), "{away:?}");
    assert_eq!(away.since, Some(AWAY));
    // That it sleeps between two looks says nothing.
    assert!(!of(true, 1).is_asleep);
    // Who is woken waits still, but a handler keeps it.
    let kept = of(false, 200);
    assert_eq!((kept.doing, kept.is_busy), (waits, true));
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
    assert!(
        lines(&all, 4).contains(&"rank 2 computes, outside of Weft; its stack: spin, main".into())
    );
}
