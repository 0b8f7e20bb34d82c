//! All operations against their definitions, in every interleaving that a seed draws; and packets
//! that no member sends.

#![allow(clippy::unwrap_used)]

mod refusals;
mod world;

use crate::*;
use proptest::prelude::*;
use weft_model::random::Random;
use world::{Actors, Setting, World, run};

/// Limits as transports have them, and some at which every algorithm is taken by small operations.
fn tunings() -> [Tuning; 5] {
    let block = Tuning {
        exchange_members: 0,
        flat_members: 0,
        shared_out_bytes: 32 << 10,
        round_bytes: 16 << 10,
        round_packets: 8,
        synchronous_broadcasts: false,
    };
    let most = usize::MAX;
    let words = Tuning {
        exchange_members: 4,
        flat_members: 32,
        round_bytes: most,
        round_packets: most,
        ..block
    };
    let small = Tuning {
        exchange_members: 2,
        flat_members: 3,
        shared_out_bytes: 40,
        round_bytes: 30,
        round_packets: 2,
        synchronous_broadcasts: false,
    };
    let at_once = |tuning| Tuning {
        round_bytes: most,
        round_packets: most,
        synchronous_broadcasts: true,
        ..tuning
    };
    [block, words, small, at_once(small), at_once(block)]
}

fn team_of(ranks: usize) -> (TeamId, Vec<Rank>) {
    (TeamId { leader: Rank(0), count: 0 }, (0..ranks as u16).map(Rank).collect())
}

#[test]
fn all_operations_of_all_roots_on_all_sizes() {
    for size in 1..=9 {
        for (kind, tuning) in tunings().into_iter().enumerate() {
            let mut calls = Vec::new();
            for operation in Operation::ALL {
                for root in 0..if operation.has_root() { size } else { 1 } {
                    for elements in [0, 1, 3, 40] {
                        let divided = if operation == Operation::AllToAll { size } else { 1 };
                        calls.push(OperationCall {
                            operation,
                            root,
                            count: elements * divided,
                            size: 2,
                        });
                    }
                }
            }
            let mut random = Random::new((size * 10 + kind) as u64);
            let (groups, payload) = (kind % 2 == 0, [64, 300][size % 2]);
            let room = 1 + random.below(6) as usize;
            let setting = Setting { ranks: size, tuning, payload, room, groups };
            let (id, members) = team_of(size);
            let mut teams = [Actors::new(id, members, calls, 1 + random.below(4) as usize)];
            run(&mut World::new(setting), &mut teams, &mut random);
        }
    }
}

/// Operations that are long: receivers are ready, and nobody stores them.
#[test]
fn long_operations_wait_until_their_receivers_are_ready() {
    for (kind, tuning) in tunings().into_iter().enumerate().filter(|&(kind, _)| kind != 2) {
        for size in [1, 2, 3, 5] {
            let calls = Operation::ALL.map(|operation| {
                let count = [50_000, 33_000, 90_000][(operation as usize + kind) % 3];
                OperationCall { operation, root: size / 2, count: count / size * size, size: 2 }
            });
            let mut random = Random::new(size as u64);
            let setting =
                Setting { ranks: size, tuning, payload: 9000, room: 4, groups: kind == 0 };
            let (id, members) = team_of(size);
            let mut teams = [Actors::new(id, members, calls.to_vec(), 2)];
            run(&mut World::new(setting), &mut teams, &mut random);
        }
    }
}

/// Operations that only send, all begun at once: many fences, each behind many operations.
#[test]
fn operations_that_are_far_ahead_wait_for_fences() {
    for size in [1, 2, 3, 5] {
        let broadcast =
            OperationCall { operation: Operation::Broadcast, root: 0, count: 3, size: 2 };
        let (id, members) = team_of(size);
        let (tuning, mut random) = (tunings()[size % 2], Random::new(size as u64));
        let (payload, room) = (100, 300);
        let setting = Setting { ranks: size, tuning, payload, room, groups: true };
        let mut teams = [Actors::new(id, members, vec![broadcast; 400], 400)];
        run(&mut World::new(setting), &mut teams, &mut random);
    }
}

fn any_call(random: &mut Random, size: usize) -> OperationCall {
    let operation = *random.choose(&Operation::ALL);
    let count = *random.choose(&[0, 1, 2, 7, 31, 500]);
    let divided = if operation == Operation::AllToAll { size } else { 1 };
    OperationCall {
        operation,
        root: random.below(size as u64) as usize,
        count: count * divided,
        size: 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn storms_of_teams_that_overlap_give_what_the_definitions_say(seed: u64) {
        let mut random = Random::new(seed);
        let ranks = 1 + random.below(9) as usize;
        let tuning = tunings()[random.below(2) as usize];
        let (payload, room) = ([70, 1000, 9000][random.below(3) as usize], 1 + random.below(6) as usize);
        let setting = Setting { ranks, tuning, payload, room, groups: false };
        let mut teams: Vec<Actors> = (0..3).map(|count| {
            let mut members: Vec<Rank> = (0..ranks as u16).map(Rank).collect();
            for place in (1..ranks).rev() {
                members.swap(place, random.below(place as u64 + 1) as usize);
            }
            if count > 0 {
                members.truncate(1 + random.below(ranks as u64) as usize);
            }
            let size = members.len();
            let calls = (0..90).map(|_| any_call(&mut random, size)).collect();
            let id = TeamId { leader: members[0], count };
            Actors::new(id, members, calls, [1, 5, 80][random.below(3) as usize])
        }).collect();
        run(&mut World::new(setting), &mut teams, &mut random);
    }
}
