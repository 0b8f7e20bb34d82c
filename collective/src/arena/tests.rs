//! Members in one vector and words that anything may stand in, in any interleaving of what they do.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::{BARRIER, Operation, OperationCall};
use std::sync::atomic::AtomicUsize;
use weft_endpoint::Atomic;
use weft_model::random::Random;

const LEADER: Rank = Rank(3);

struct TestMemory {
    words: Vec<AtomicU64>,
    woken: AtomicUsize,
}

impl SharedWords for TestMemory {
    fn atomic(&self, _home: Rank, _index: u16, _operation: Atomic) -> u64 {
        unreachable!("teams have no variables")
    }

    fn fetch_add(&self, _home: Rank, _index: u16, _amount: u64) -> u64 {
        unreachable!("teams have no variables")
    }

    fn load(&self, _home: Rank, _index: u16) -> u64 {
        unreachable!("teams have no variables")
    }

    fn arena(&self, home: Rank) -> &[AtomicU64] {
        assert_eq!(home, LEADER, "all are the leader's");
        &self.words
    }

    fn wake_sleepers(&self) {
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

fn memory() -> Arc<TestMemory> {
    // Other teams may have left anything.
    let words = (0..65536).map(|index| AtomicU64::new(u64::MAX - index / 2));
    Arc::new(TestMemory { words: words.collect(), woken: AtomicUsize::new(0) })
}

fn team(memory: &Arc<TestMemory>, first: usize, size: usize) -> Vec<Arena> {
    let words: Arc<dyn SharedWords> = memory.clone();
    (0..size).map(|me| Arena::new(&words, LEADER, first, true, (size, me)).unwrap()).collect()
}

fn bytes_of(member: usize, round: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| (member as u64 * 41 + round * 7 + at as u64 * 3) as u8).collect()
}

/// Has each of `members` do `rounds` steps, in any order; `step` says whether the member's step is
/// done.
fn in_any_order(
    members: &mut [Arena],
    seed: u64,
    rounds: u64,
    mut step: impl FnMut(&mut Arena, u64) -> bool,
) {
    let mut random = Random::new(seed);
    let mut done = vec![0; members.len()];
    while done.iter().any(|&done| done < rounds) {
        let me = random.below(members.len() as u64) as usize;
        // Some get a lead.
        for _ in 0..random.below(20) {
            if done[me] < rounds && step(&mut members[me], done[me]) {
                done[me] += 1;
            }
        }
    }
}

#[test]
fn all_meet_and_see_what_all_have_brought() {
    for (seed, size) in [2, 3, 5, 8, 11, 64].into_iter().enumerate() {
        let memory = memory();
        let first = Areas::default().take(&memory.words, size).unwrap();
        let mut members = team(&memory, first, size);
        let length = |round: u64| (round % (CONTRIBUTION_BYTES as u64 + 1)) as usize;
        let (mut at, mut arrived) = (vec![None; size], vec![0; size]);
        in_any_order(&mut members, seed as u64, 100, |member, round| {
            let me = member.me;
            let Some(arrival) = at[me] else {
                assert!(
                    member.view().may_arrive(),
                    "who waits for each round may go to the next one"
                );
                at[me] = Some(member.view().arrive(7, &bytes_of(me, round, length(round)), true));
                arrived[me] += 1;
                return false;
            };
            if member.view().outcome(arrival).is_none() {
                return false;
            }
            assert!(arrived.iter().all(|&arrived| arrived > round), "round {round}: {arrived:?}");
            for other in 0..size {
                let mut brought = vec![0; length(round)];
                member.view().contribution(arrival, other, &mut brought);
                assert_eq!(brought, bytes_of(other, round, brought.len()));
            }
            at[me] = None;
            true
        });
        assert_eq!(memory.woken.load(Ordering::SeqCst), 100, "once for each round");
    }
}

/// Rounds of a reduction to all: the last to come makes what the others wait for, a while later.
#[test]
fn all_have_what_the_last_to_come_has_made() {
    for (seed, size) in [2, 3, 5, 8].into_iter().enumerate() {
        let memory = memory();
        let first = Areas::default().take(&memory.words, size).unwrap();
        let mut members = team(&memory, first, size);
        let (mut at, mut last) = (vec![None; size], 0);
        in_any_order(&mut members, seed as u64, 100, |member, round| {
            let me = member.me;
            let made = bytes_of(size, round, 1 + (round % CONTRIBUTION_BYTES as u64) as usize);
            let Some(arrival) = at[me] else {
                assert!(member.view().may_arrive(), "what was made is made after all have come");
                at[me] = Some(member.view().arrive(7, &bytes_of(me, round, 8), true));
                return false;
            };
            if round % 3 == 0 {
                // Nothing is made at this one.
                at[me] = at[me].filter(|_| member.view().outcome(arrival).is_none());
                return at[me].is_none();
            }
            let mut found = vec![0; made.len()];
            if arrival.is_last() {
                member.view().put_result(arrival, &made);
                last += 1;
            } else if !member.view().result(arrival, &mut found) {
                return false;
            } else {
                assert_eq!(found, made, "round {round}");
            }
            at[me] = None;
            true
        });
        assert_eq!(last, 66, "one a round");
    }
}

/// Rounds of a reduction to one: only that one waits for what all bring.
#[test]
fn who_does_not_wait_overwrites_nothing_that_is_read() {
    for (seed, size) in [2, 3, 8].into_iter().enumerate() {
        let memory = memory();
        let first = Areas::default().take(&memory.words, size).unwrap();
        let mut members = team(&memory, first, size);
        let root = |round: u64| (round / 3) as usize % size;
        let mut at = vec![None; size];
        in_any_order(&mut members, seed as u64, 200, |member, round| {
            let me = member.me;
            if at[me].is_none() {
                if !member.view().may_arrive() {
                    return false;
                }
                let arrival = member.view().arrive(7, &bytes_of(me, round, 16), true);
                if me != root(round) {
                    return true;
                }
                at[me] = Some(arrival);
            }
            let Some(arrival) = at[me].take_if(|arrival| member.view().outcome(*arrival).is_some())
            else {
                return false;
            };
            for other in 0..size {
                let mut brought = [0; 16];
                member.view().contribution(arrival, other, &mut brought);
                assert_eq!(brought[..], bytes_of(other, round, 16));
            }
            true
        });
    }
}

#[test]
fn all_get_what_roots_post_whoever_is_ahead() {
    for (seed, size) in [2, 3, 8, 64].into_iter().enumerate() {
        for roots in [1, 2, size as u64] {
            let memory = memory();
            let first = Areas::default().take(&memory.words, size).unwrap();
            let mut members = team(&memory, first, size);
            let length = |round: u64| [0, 1, 8, 55, 64, 700, SLOT_BYTES][round as usize % 7];
            let mut done = vec![0_u64; size];
            in_any_order(&mut members, seed as u64, 150, |member, round| {
                let (me, root) = (member.me, (round * 5 % roots) as usize);
                let bytes = bytes_of(root, round, length(round));
                if me == root {
                    if !member.view().may_post() {
                        return false;
                    }
                    let least = done.iter().min().copied().unwrap_or(0);
                    assert!(
                        round < least + SLOTS,
                        "{round} is posted over what some have not read"
                    );
                    member.view().post(Operation::Broadcast, &bytes);
                } else {
                    let mut came = vec![0; bytes.len()];
                    if !member.view().posted(Operation::Broadcast, root, &mut came).unwrap() {
                        return false;
                    }
                    assert_eq!(came, bytes, "broadcast {round}");
                }
                done[me] = round + 1;
                true
            });
        }
    }
}

#[test]
fn members_who_call_different_broadcasts_are_told() {
    let memory = memory();
    let members = team(&memory, 0, 3);
    memory.words.iter().for_each(|word| word.store(0, Ordering::SeqCst));
    assert_eq!(members[1].view().posted(Operation::Broadcast, 0, &mut [0; 4]), Ok(false));
    members[0].view().post(Operation::Broadcast, &[1; 4]);
    assert_eq!(
        members[1].view().posted(Operation::Broadcast, 2, &mut [0; 4]),
        Err(DISAGREES),
        "another root"
    );
    assert_eq!(
        members[1].view().posted(Operation::Scatter, 0, &mut [0; 4]),
        Err(DISAGREES),
        "a scatter"
    );
    assert_eq!(
        members[1].view().posted(Operation::Broadcast, 0, &mut [0; 5]),
        Err(DISAGREES),
        "another length"
    );
    assert_eq!(members[1].view().posted(Operation::Broadcast, 0, &mut [0; 4]), Ok(true));
}

#[test]
fn threads_meet_and_post() {
    const ROUNDS: u64 = 1_000;
    let memory = memory();
    let first = Areas::default().take(&memory.words, 3).unwrap();
    std::thread::scope(|scope| {
        for member in team(&memory, first, 3) {
            scope.spawn(move || {
                let me = member.me;
                let until = |mut is: Box<dyn FnMut() -> bool + '_>| {
                    while !is() {
                        std::thread::yield_now();
                    }
                };
                for round in 0..ROUNDS {
                    let (root, mut came) = (round as usize % 3, [0; 100]);
                    if me == root {
                        until(Box::new(|| member.view().may_post()));
                        member.view().post(Operation::Broadcast, &bytes_of(root, round, 100));
                    } else {
                        until(Box::new(|| {
                            member.view().posted(Operation::Broadcast, root, &mut came).unwrap()
                        }));
                        assert_eq!(came[..], bytes_of(root, round, 100));
                    }
                    until(Box::new(|| member.view().may_arrive()));
                    let arrival = member.view().arrive(7, &bytes_of(me, round, 8), true);
                    until(Box::new(|| member.view().outcome(arrival).is_some()));
                    let mut brought = [0; 8];
                    member.view().contribution(arrival, (me + 1) % 3, &mut brought);
                    assert_eq!(brought[..], bytes_of((me + 1) % 3, round, 8));
                }
            });
        }
    });
}

#[test]
fn teams_have_areas_of_their_own_as_long_as_there_is_room() {
    let memory = memory();
    let mut areas = Areas::default();
    let mut take = |size| areas.take(&memory.words, size);
    let firsts: Vec<usize> = (0..100).map_while(|_| take(8)).collect();
    let words = words_of(8, true).unwrap();
    assert_eq!(firsts, (0..32768 / words).map(|place| place * words).collect::<Vec<_>>());
    assert_eq!(take(usize::MAX), None);
    assert!(memory.words[..words].iter().all(|word| word.load(Ordering::SeqCst) == 0));
    // One that nobody has used is free at once, one that was used when all have left.
    areas.give_back(firsts[1], false);
    assert_eq!(areas.take(&memory.words, 8), Some(firsts[1]));
    areas.give_back(firsts[1], true);
    for member in team(&memory, firsts[1], 8) {
        assert_eq!(areas.take(&memory.words, 8), None, "{} has not left", member.me);
        member.view().detach();
    }
    assert_eq!(areas.take(&memory.words, 2), Some(firsts[1]), "a smaller one fits, too");
}

#[test]
fn all_ranks_take_the_same_areas_without_being_told() {
    let memory = memory();
    let (mut one, mut other) = (AgreedAreas::default(), AgreedAreas::default());
    let mut taken: Vec<usize> = Vec::new();
    while let Some(first) = one.take(&memory.words, LEADER, 5) {
        assert_eq!(other.take(&memory.words, LEADER, 5), Some(first));
        assert!(taken.iter().all(|before| before - first >= words_of(5, false).unwrap()));
        taken.push(first);
    }
    assert_eq!(taken.len(), 32768 / words_of(5, false).unwrap());
    assert!(taken.iter().all(|&first| first >= 32768), "the first half is for others");
    assert!(one.take(&memory.words, Rank(1), 5).is_some(), "of another leader's memory");
}

/// Operation that the members of a team of this size carry out in a round.
fn call_of(round: u64, size: usize) -> OperationCall {
    let member = (round / 8) as usize % size;
    let (operation, root, count, size) = match round % 8 {
        0 => return BARRIER,
        1 => (Operation::AllReduce, 0, 3, 8),
        2 => (Operation::Reduce, member, 64, 1),
        3 => (Operation::Gather, member, 21, 3),
        4 => (Operation::Scan, 0, 7, 2),
        5 => (Operation::ExclusiveScan, 0, 8, 4),
        6 => (Operation::ReduceScatter, 0, 8, 8),
        _ => (Operation::AllGather, 0, 9, 1),
    };
    OperationCall { operation, root, count, size }
}

/// Operations in a row, whose members come and look in any order: what each of them has in the end.
#[test]
fn meetings_give_what_their_operations_do() {
    for (seed, size) in [1, 2, 3, 5, 8].into_iter().enumerate() {
        let memory = memory();
        let first = Areas::default().take(&memory.words, size).unwrap();
        let mut members = team(&memory, first, size);
        let call = |round| call_of(round, size);
        let sum = |one: &[u8], two: &mut [u8]| {
            two.iter_mut().zip(one).for_each(|(two, one)| *two = two.wrapping_mul(3) ^ one);
        };
        let mut meetings: Vec<Option<ArenaOperation>> = (0..size).map(|_| None).collect();
        in_any_order(&mut members, seed as u64, 400, |member, round| {
            let (me, call) = (member.me, call(round));
            let brings = |member| bytes_of(member, round, call.bytes());
            let meeting = meetings[me].get_or_insert_with(|| {
                let mut meeting = ArenaOperation::new(&call, call.bytes());
                meeting.bytes().copy_from_slice(&brings(me));
                meeting
            });
            let met = meeting.poll(member);
            assert_ne!(met, Met::Disagree);
            if met == Met::Waiting {
                return false;
            }
            if met == Met::Combine {
                meeting.combine(member, sum);
            }
            let last = match call.operation {
                Operation::Scan => me,
                Operation::ExclusiveScan => me.saturating_sub(1),
                _ => size - 1,
            };
            let mut all = brings(last);
            (0..last).rev().for_each(|member| sum(&brings(member), &mut all));
            match call.operation {
                Operation::AllReduce | Operation::ReduceScatter => {
                    assert_eq!(meeting.bytes(), all, "round {round}");
                }
                Operation::Scan => assert_eq!(met, Met::Combine),
                Operation::ExclusiveScan => assert_eq!(met == Met::Combine, me > 0),
                Operation::Gather if me != call.root => {}
                Operation::Reduce => assert_eq!(met == Met::Combine, me == call.root),
                Operation::AllGather | Operation::Gather => {
                    meeting.for_each(member, |from, bytes| {
                        assert_eq!(bytes, brings(from), "round {round}");
                    })
                }
                _ => {}
            }
            if met == Met::Combine {
                assert_eq!(meeting.bytes(), all, "round {round}");
            }
            meetings[me] = None;
            true
        });
    }
}

/// Members that call different operations: all see that the sum is another one, and nobody waits
/// for ever.
#[test]
fn members_who_began_different_operations_find_out() {
    let memory = memory();
    let first = Areas::default().take(&memory.words, 3).unwrap();
    let members = team(&memory, first, 3);
    for liar in [None, None, Some(1), None] {
        let begun = |me| if Some(me) == liar { 9 } else { u32::MAX };
        let rounds: Vec<_> =
            (0..3).map(|me| members[me].view().arrive(begun(me), &[], true)).collect();
        for (member, &round) in members.iter().zip(&rounds) {
            assert_eq!(member.view().outcome(round), Some(liar.is_none()));
        }
        if liar.is_some() {
            return;
        }
    }
}

#[test]
fn areas_that_cannot_be_are_refused() {
    let words: Arc<dyn SharedWords> = memory();
    let fits = |first, size| Arena::new(&words, LEADER, first, true, (size, 0)).is_some();
    assert!(fits(8, 8));
    assert!(!fits(7, 8), "not where lines begin");
    assert!(!fits(65536, 2), "beyond the last");
    assert!(!fits(65536 - 8, 2), "too many");
    assert!(!fits(usize::MAX - 7, 2) && !fits(0, usize::MAX), "more than can be counted");
}

#[cfg(loom)]
mod loom_checks;
