//! Many threads of several ranks: no tuple is lost, none is taken twice, and none is overlooked.

use crate::common::*;
use std::thread;
use weft_linda::{Space, any};

const RANKS: u16 = 4;
/// Threads of each rank that take.
const TAKERS: u64 = 3;
/// Tuples that each of them takes.
const EACH: u64 = 40;
/// Tuples of all ranks.
const ALL: u64 = RANKS as u64 * TAKERS * EACH;

/// Has one thread of each rank put tuples and others take as many, and checks that each was taken
/// once. Both functions get the number of a tuple; `take` returns the one that it got.
fn all_are_taken_once(put: impl Fn(&Space, u64) + Sync, take: impl Fn(&Space, u64) -> u64 + Sync) {
    let taken = run(RANKS, |member| {
        let (space, put, take) = (&member.space, &put, &take);
        let first = member.rank() * TAKERS * EACH;
        let taken = thread::scope(|scope| {
            let numbers = |taker| (first + taker * EACH..).take(EACH as usize);
            let takers: Vec<_> = (0..TAKERS)
                .map(|taker| {
                    scope.spawn(move || numbers(taker).map(|n| take(space, n)).collect::<Vec<_>>())
                })
                .collect();
            (0..TAKERS).flat_map(numbers).for_each(|n| put(space, n));
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect::<Vec<_>>()
        });
        member.barrier.wait().unwrap();
        assert_eq!(space.count_here().unwrap(), 0);
        taken
    });
    let mut taken = taken.concat();
    taken.sort_unstable();
    assert_eq!(taken, (0..ALL).collect::<Vec<_>>());
}

#[test]
fn of_one_home() {
    all_are_taken_once(
        |space, n| space.out(("hot", n)).unwrap(),
        |space, _| space.take(("hot", any::<u64>())).unwrap().1,
    );
}

#[test]
fn of_one_home_by_templates_with_and_without_a_first_value() {
    all_are_taken_once(
        |space, n| space.out(("hot", n)).unwrap(),
        |space, n| match n % 3 {
            0 => space.take((any::<String>(), any::<u64>())).unwrap().1,
            _ => space.take(("hot", any::<u64>())).unwrap().1,
        },
    );
}

#[test]
fn of_all_homes_by_templates_that_begin_with_a_formal() {
    all_are_taken_once(
        |space, n| space.out((n, n * n)).unwrap(),
        |space, _| {
            let (n, square) = space.take((any::<u64>(), any::<u64>())).unwrap();
            assert_eq!(square, n * n);
            n
        },
    );
}

#[test]
fn of_all_homes_by_asking_again_and_again() {
    all_are_taken_once(
        |space, n| space.out((n, n * n)).unwrap(),
        |space, _| {
            loop {
                if let Some((n, _)) = space.inp((any::<u64>(), any::<u64>())).unwrap() {
                    return n;
                }
                thread::yield_now();
            }
        },
    );
}

#[test]
fn of_all_homes_each_by_its_number() {
    all_are_taken_once(
        |space, n| space.out((n, "numbered")).unwrap(),
        // Those of the next rank.
        |space, n| space.take(((n + TAKERS * EACH) % ALL, "numbered")).unwrap().0,
    );
}

/// A tuple moves from home to home by being put there before it is taken away here, so that there
/// is always one, though at no home always.
#[test]
fn a_tuple_that_moves_is_never_overlooked() {
    const MOVES: u64 = 300;
    run(4, |member| {
        let space = &member.space;
        if member.rank() == 0 {
            space.out((0_u64, "here")).unwrap();
        }
        member.barrier.wait().unwrap();
        if member.rank() == 0 {
            for n in 0..MOVES {
                space.out((n + 1, "here")).unwrap();
                space.take((n, "here")).unwrap();
            }
            space.out(("end",)).unwrap();
        } else {
            let mut looks = 0;
            while looks < 5 || space.rdp(("end",)).unwrap().is_none() {
                assert!(space.rdp((any::<u64>(), "here")).unwrap().is_some());
                looks += 1;
                // What is found at this rank sends nothing, and nobody interrupts these ranks.
                member.engine.progress().unwrap();
            }
        }
        member.barrier.wait().unwrap();
    });
}
