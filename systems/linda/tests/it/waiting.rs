//! Operations that wait for tuples which come later.

use crate::common::*;
use std::thread;
use weft_linda::{Space, any};

/// Has rank 1 wait by `wait` at the rank that `at` says, and puts the tuple then.
fn is_woken(at: usize, wait: impl Fn(&Space) + Sync) {
    run(3, |member| {
        let space = &member.space;
        thread::scope(|scope| {
            let waits = (member.rank() == 1).then(|| scope.spawn(|| wait(space)));
            if member.own().index() == at {
                member.await_blocked(1);
                assert!(waits.as_ref().is_none_or(|waits| !waits.is_finished()));
            }
            member.barrier.wait().unwrap();
            if member.rank() == 2 {
                space.out((5_u64, "late")).unwrap();
            }
            if let Some(waits) = waits {
                waits.join().unwrap();
            }
            member.barrier.wait().unwrap();
        });
    });
}

/// Rank that has the tuple of these tests.
fn home() -> usize {
    let counts = run(3, |member| {
        if member.rank() == 0 {
            member.space.out((5_u64, "late")).unwrap();
        }
        member.barrier.wait().unwrap();
        member.space.count_here().unwrap()
    });
    counts.iter().position(|count| *count == 1).unwrap()
}

#[test]
fn a_template_with_a_home_waits_there() {
    let home = home();
    is_woken(home, |space| {
        assert_eq!(space.take((5_u64, any::<String>())).unwrap(), (5, "late".into()));
        assert_eq!(space.rdp((5_u64, any::<String>())).unwrap(), None);
    });
    is_woken(home, |space| {
        assert_eq!(space.rd((5_u64, any::<String>())).unwrap(), (5, "late".into()));
        assert_eq!(space.inp((5_u64, "late")).unwrap(), Some((5, "late".into())));
    });
}

#[test]
fn a_template_that_begins_with_a_formal_waits_for_hints_at_its_own_rank() {
    is_woken(1, |space| {
        assert_eq!(space.take((any::<u64>(), "late")).unwrap(), (5, "late".into()));
        assert_eq!(space.rdp((any::<u64>(), any::<String>())).unwrap(), None);
    });
    is_woken(1, |space| {
        assert_eq!(space.rd((any::<u64>(), any::<String>())).unwrap(), (5, "late".into()));
        assert_eq!(space.inp((any::<u64>(), "late")).unwrap(), Some((5, "late".into())));
    });
}

#[test]
fn all_who_read_are_woken_and_one_who_takes() {
    const READERS: usize = 3;
    let results = run(4, |member| {
        let space = &member.space;
        thread::scope(|scope| {
            let read = |_| scope.spawn(|| space.rd((any::<u64>(), any::<bool>())).unwrap());
            let readers: Vec<_> = (0..READERS).map(read).collect();
            let taker = scope.spawn(|| space.take((any::<u64>(), true)).unwrap());
            member.await_blocked(READERS as u64 + 1);
            member.barrier.wait().unwrap();
            // The first stays for who reads; of those that are taken, each rank puts one.
            if member.rank() == 0 {
                space.out((100_u64, false)).unwrap();
            }
            for reader in readers {
                reader.join().unwrap();
            }
            space.out((member.rank(), true)).unwrap();
            let taken = taker.join().unwrap().0;
            member.barrier.wait().unwrap();
            assert_eq!(space.inp((any::<u64>(), true)).unwrap(), None);
            taken
        })
    });
    let mut results = results;
    results.sort_unstable();
    assert_eq!(results, [0, 1, 2, 3]);
}
