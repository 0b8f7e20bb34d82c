//! Members in one vector and words that anything may stand in, in any interleaving of arrivals and looks.

#![allow(clippy::unwrap_used)]

use super::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use weft_model::random::Random;

struct Memory {
    words: Vec<AtomicU64>,
    woken: AtomicUsize,
}

impl SharedWords for Memory {
    fn fetch_add(&self, home: Rank, index: u16, amount: u64) -> u64 {
        assert_eq!(home, Rank(3), "all are the leader's");
        self.words[usize::from(index)].fetch_add(amount, Ordering::SeqCst)
    }

    fn load(&self, _home: Rank, index: u16) -> u64 {
        self.words[usize::from(index)].load(Ordering::SeqCst)
    }

    fn wake_sleepers(&self) {
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

fn memory() -> Arc<Memory> {
    // Counts may be about to wrap, and other teams may have left anything.
    let words = (0..FIRST + WORDS).map(|index| AtomicU64::new(u64::MAX - u64::from(index) / 2));
    Arc::new(Memory { words: words.collect(), woken: AtomicUsize::new(0) })
}

fn bytes_of(member: usize, round: usize, length: usize) -> Vec<u8> {
    (0..length).map(|at| (member * 41 + round * 7 + at * 3) as u8).collect()
}

#[test]
fn all_meet_and_see_what_all_have_brought() {
    for (seed, size) in [2, 3, 5, 8, 11].into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let memory = memory();
        let place = Words::default().take(&*memory, Rank(3), size).unwrap();
        let words: Arc<dyn SharedWords> = memory.clone();
        let mut members: Vec<Counters> = (0..size)
            .map(|me| Counters::new(&words, Rank(3), place, (size, me)).unwrap())
            .collect();
        let room = members[0].room();
        assert!(room >= 8, "{size} members have {room} bytes each");
        let (mut passed, mut at) = (vec![0; size], vec![None; size]);
        while passed.iter().any(|&rounds| rounds < 100) {
            let me = random.below(size as u64) as usize;
            let length = |round: usize| round % (room + 1);
            match at[me] {
                None if passed[me] < 100 => {
                    let bytes = bytes_of(me, passed[me], length(passed[me]));
                    at[me] = Some(members[me].arrive(&bytes));
                }
                Some(meeting) if members[me].is_over(meeting) => {
                    let all_are_there = |other: usize| {
                        passed[other] > passed[me]
                            || (passed[other] == passed[me] && at[other].is_some())
                    };
                    assert!((0..size).all(all_are_there), "round {}", passed[me]);
                    for other in 0..size {
                        let mut brought = vec![0; length(passed[me])];
                        members[me].brought(meeting, other, &mut brought);
                        assert_eq!(brought, bytes_of(other, passed[me], brought.len()));
                    }
                    passed[me] += 1;
                    at[me] = None;
                }
                _ => {}
            }
        }
        assert_eq!(memory.woken.load(Ordering::SeqCst), 100, "once for each meeting");
        // The words are another team's when all have left, and not before.
        let mut words = Words { taken: u32::MAX, left: Vec::new() };
        for (number, member) in members.into_iter().enumerate() {
            let last = member.leave();
            if number == 0 {
                words.give_back(place, size, Some(last));
            }
            let again = words.take(&*memory, Rank(3), size);
            assert_eq!(again.is_some(), number == size - 1, "{number} have left");
            assert!(again.is_none_or(|again| again.base == last && again.first == place.first));
        }
    }
}

#[test]
fn teams_have_words_of_their_own_as_long_as_there_are_some() {
    let memory = memory();
    let mut words = Words::default();
    let one = words.take(&*memory, Rank(3), 8).unwrap();
    assert_eq!((one.first, one.width, one.base), (FIRST, 1, u64::MAX - 16));
    // The rest is enough for four words of one member and another's, then for counts alone.
    let widths: Vec<(u16, u16)> = (0..20)
        .map_while(|_| words.take(&*memory, Rank(3), 2).map(|place| (place.first, place.width)))
        .collect();
    assert_eq!(widths.len(), 15);
    assert!(widths.iter().all(|&(first, width)| first >= FIRST + 17 && width == 0));
    words.give_back(one, 8, None);
    let two = words.take(&*memory, Rank(3), 2).unwrap();
    assert_eq!((two.first, two.width), (FIRST, 4));
}

#[test]
fn words_that_cannot_be_are_refused() {
    let words: Arc<dyn SharedWords> = memory();
    let place = |first, width| Place { first, width, base: 0 };
    let fits = |place, size| Counters::new(&words, Rank(3), place, (size, 0)).is_some();
    assert!(fits(place(FIRST, 1), 8));
    assert!(!fits(place(FIRST - 1, 0), 2), "a program's");
    assert!(!fits(place(FIRST + WORDS, 0), 2), "beyond the last");
    assert!(!fits(place(FIRST, 5), 2), "too wide");
    assert!(!fits(place(FIRST + 16, 1), 8), "too many");
    assert!(!fits(place(FIRST, 4), usize::MAX), "of too many members");
}
