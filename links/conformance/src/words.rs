//! Shared words, for links that have them.

use std::time::Duration;
use weft_link::bell::Waiter;
use weft_link::{Link, SharedWords};
use weft_wire::{Atomic, Rank};

pub fn add_up<L: Link>(links: &[L]) {
    let Some(first) = links[0].services().words else { return };
    std::thread::scope(|scope| {
        for link in links {
            let words = link.services().words.expect("all links of a job are alike");
            scope.spawn(move || {
                for _ in 0..1000 {
                    words.fetch_add(Rank(1), 5, 2);
                    words.fetch_add(Rank(2), 5, 1);
                }
            });
        }
    });
    assert_eq!(first.load(Rank(1), 5), 2000 * links.len() as u64);
    assert_eq!(first.fetch_add(Rank(2), 5, 0), 1000 * links.len() as u64);
    assert_eq!(first.load(Rank(0), 5), 0);
    assert_eq!(first.load(Rank(1), 4), 0);
}

/// Operations of a thread in `mixed_operations_take_turns`.
const TURNS: u64 = 500;

/// Ranks do all operations on the same words at once: what all have done is there, and of those who
/// swapped each has found what the one before it left.
pub fn mixed_operations_take_turns<L: Link>(links: &[L]) {
    let Some(first) = links[0].services().words else { return };
    let home = Rank(1);
    let [counter, lowest, highest, bits, baton] = [5, 6, 7, 8, u16::MAX];
    first.atomic(home, lowest, Atomic::Swap(u64::MAX));
    first.atomic(home, bits, Atomic::Swap(u64::MAX));
    let batons: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(links)
            .map(|(me, link): (u64, _)| {
                let words = link.services().words.expect("all links of a job are alike");
                scope.spawn(move || {
                    for turn in 0..TURNS {
                        match turn % 2 {
                            0 => count_by_swaps(&*words, home, counter),
                            _ => _ = words.fetch_add(home, counter, 1),
                        }
                        words.atomic(home, lowest, Atomic::Min(1000 * (me + 1) + turn));
                        words.atomic(home, highest, Atomic::Max(1000 * (me + 1) + turn));
                        words.atomic(home, bits, Atomic::And(!(1 << me)));
                        words.atomic(home, bits, Atomic::Or(1 << (32 + me)));
                        words.atomic(home, bits, Atomic::Xor(1 << (16 + me)));
                    }
                    words.atomic(home, baton, Atomic::Swap(me + 1))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it counts")).collect()
    });
    let all = links.len() as u64;
    assert_eq!(first.load(home, counter), TURNS * all);
    assert_eq!(first.load(home, lowest), 1000);
    assert_eq!(first.load(home, highest), 1000 * all + TURNS - 1);
    assert_eq!(first.load(home, bits), u64::MAX << all, "an exclusive or, {TURNS} times");
    // Each has what the one before it left, and the last one's is there.
    let mut seen: Vec<u64> = batons.into_iter().chain([first.load(home, baton)]).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..=all));
}

/// Adds 1 without an addition.
fn count_by_swaps(words: &dyn SharedWords, home: Rank, counter: u16) {
    let mut found = words.load(home, counter);
    loop {
        let swap = Atomic::CompareSwap { expected: found, new: found + 1 };
        match words.atomic(home, counter, swap) {
            before if before == found => return,
            before => found = before,
        }
    }
}

pub fn each_index_is_a_word_of_its_own<L: Link>(links: &[L]) {
    let Some(words) = links[0].services().words else { return };
    let indices = [0, 1, 63, 64, 1 << 15, u16::MAX - 1, u16::MAX];
    for home in [Rank(0), Rank(1)] {
        for index in indices {
            let mark = 1 + (u64::from(home.0) << 16 | u64::from(index));
            assert_eq!(words.atomic(home, index, Atomic::Add(mark)), 0, "{home:?}, {index}");
        }
    }
    for home in [Rank(0), Rank(1)] {
        for index in indices {
            let mark = 1 + (u64::from(home.0) << 16 | u64::from(index));
            assert_eq!(words.load(home, index), mark, "{home:?}, {index}");
        }
    }
}

pub fn wake_sleepers<L: Link>(links: Vec<L>) {
    let mut links = links;
    let Some(words) = links[0].services().words else { return };
    let mut sleeper = links.pop().expect("two links");
    let ticket = sleeper.arm(Waiter::Host).expect("nothing has arrived");
    std::thread::scope(|scope| {
        let bells = sleeper.bells();
        scope.spawn(|| {
            words.fetch_add(Rank(0), 0, 1);
            words.wake_sleepers();
        });
        bells.wait(Waiter::Host, ticket, Duration::from_secs(3600));
    });
    assert_eq!(words.load(Rank(0), 0), 1);
}
