//! Members in threads of their own, in all orders in which they see each other's words.

use super::*;
use loom::thread;
use weft_endpoint::Atomic;
use weft_endpoint::sync::{AtomicBool, AtomicU32, model, yield_now};

/// Memory of a team, and one member that sleeps.
struct Watched {
    words: Vec<AtomicU64>,
    /// True while the sleeper is to be woken.
    armed: AtomicBool,
    /// Number of times that it was woken.
    bell: AtomicU32,
    /// True if each caller of `wake_sleepers` has issued a fence. Another's barrier is a
    /// sequentially consistent addition, which loom takes for less.
    fenced: bool,
}

impl SharedWords for Watched {
    fn atomic(&self, _home: Rank, _index: u16, _operation: Atomic) -> u64 {
        unreachable!("teams have no variables")
    }

    fn fetch_add(&self, _home: Rank, _index: u16, _amount: u64) -> u64 {
        unreachable!("teams have no variables")
    }

    fn load(&self, _home: Rank, _index: u16) -> u64 {
        unreachable!("teams have no variables")
    }

    fn arena(&self, _home: Rank) -> &[AtomicU64] {
        &self.words
    }

    fn wake_sleepers(&self) {
        if !self.fenced {
            fence(Ordering::SeqCst);
        }
        if self.armed.load(Ordering::SeqCst) {
            self.bell.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Watched {
    /// Sleeps until `is_there`, as a rank does: it arms its bell, looks once more, and sleeps. The
    /// model fails if nobody wakes it.
    fn sleep_until(&self, mut is_there: impl FnMut() -> bool) {
        loop {
            let ticket = self.bell.load(Ordering::SeqCst);
            self.armed.store(true, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if is_there() {
                return;
            }
            while self.bell.load(Ordering::SeqCst) == ticket {
                yield_now();
            }
        }
    }
}

/// Waits until `is_there`, awake.
fn poll_until(mut is_there: impl FnMut() -> bool) {
    while !is_there() {
        yield_now();
    }
}

/// Two members of a team, in memory where all is zero.
fn pair(fenced: bool) -> (Arc<Watched>, [Arena; 2]) {
    let words = (0..words_of(2, true).unwrap()).map(|_| AtomicU64::new(0)).collect();
    let (armed, bell) = (AtomicBool::new(false), AtomicU32::new(0));
    let memory = Arc::new(Watched { words, armed, bell, fenced });
    let words: Arc<dyn SharedWords> = memory.clone();
    let member = |me| Arena::new(&words, LEADER, 0, true, (2, me)).unwrap();
    (memory, [member(0), member(1)])
}

/// Has both members do `act`, each in its thread.
fn both([one, other]: [Arena; 2], act: impl Fn(Arena) + Copy + Send + 'static) {
    let other = thread::spawn(move || act(other));
    act(one);
    other.join().unwrap();
}

#[test]
fn each_round_shows_what_all_have_brought_to_it() {
    model(|| {
        both(pair(false).1, |member| {
            // A set is used again in the third.
            for round in 1..=3 {
                assert!(member.view().may_arrive());
                let arrival = member.view().arrive(7, &[round * 2 + member.me as u8], true);
                poll_until(|| member.view().outcome(arrival).is_some());
                assert_eq!(member.view().outcome(arrival), Some(true));
                let mut brought = [0];
                member.view().contribution(arrival, 1 - member.me, &mut brought);
                assert_eq!(brought, [round * 2 + 1 - member.me as u8]);
            }
        });
    });
}

#[test]
fn a_result_is_that_of_the_round() {
    model(|| {
        both(pair(true).1, |member| {
            for round in 1..=3 {
                let arrival = member.view().arrive(7, &[round + member.me as u8], false);
                if arrival.is_last() {
                    let mut sum = [0; 2];
                    sum.iter_mut().enumerate().for_each(|(from, sum)| {
                        member.view().contribution(arrival, from, std::slice::from_mut(sum));
                    });
                    member.view().put_result(arrival, &[sum[0] + sum[1]]);
                } else {
                    let mut result = [0];
                    poll_until(|| member.view().result(arrival, &mut result));
                    assert_eq!(result, [2 * round + 1]);
                }
            }
        });
    });
}

#[test]
fn a_root_overwrites_nothing_that_is_still_read() {
    model(|| {
        both(pair(true).1, |member| {
            for number in 0..=SLOTS as u8 {
                let mut came = [0];
                if member.me == 0 {
                    poll_until(|| member.view().may_post());
                    member.view().post(Operation::Broadcast, &[number]);
                } else {
                    poll_until(|| {
                        member.view().posted(Operation::Broadcast, 0, &mut came).unwrap()
                    });
                    assert_eq!(came, [number]);
                }
            }
        });
    });
}

#[test]
fn a_sleeper_is_woken_by_the_last_to_arrive() {
    model(|| {
        let (memory, [one, other]) = pair(false);
        let other = thread::spawn(move || other.view().arrive(7, &[], true));
        let arrival = one.view().arrive(7, &[], true);
        memory.sleep_until(|| one.view().outcome(arrival).is_some());
        other.join().unwrap();
    });
}

#[test]
fn a_sleeper_is_woken_for_a_broadcast() {
    model(|| {
        let (memory, [root, other]) = pair(true);
        let root = thread::spawn(move || root.view().post(Operation::Broadcast, &[5]));
        let mut came = [0];
        memory.sleep_until(|| other.view().posted(Operation::Broadcast, 0, &mut came).unwrap());
        assert_eq!(came, [5]);
        root.join().unwrap();
    });
}

#[test]
fn a_sleeper_is_woken_for_a_result() {
    model(|| {
        let (memory, [one, other]) = pair(true);
        let first = one.view().arrive(7, &[], false);
        let other = thread::spawn(move || {
            let last = other.view().arrive(7, &[], false);
            other.view().put_result(last, &[9]);
        });
        let mut result = [0];
        memory.sleep_until(|| one.view().result(first, &mut result));
        assert_eq!(result, [9]);
        other.join().unwrap();
    });
}

#[test]
fn a_root_that_sleeps_is_woken_when_all_have_read() {
    model(|| {
        let (memory, [root, other]) = pair(true);
        (0..2 * EPOCH).for_each(|_| root.view().post(Operation::Broadcast, &[0]));
        let other = thread::spawn(move || {
            (0..EPOCH).for_each(|_| {
                assert_eq!(other.view().posted(Operation::Broadcast, 0, &mut [0]), Ok(true))
            });
        });
        memory.sleep_until(|| root.view().may_post());
        other.join().unwrap();
    });
}
