//! Started operations of several ranks, over queues that are full now and then, in every order of
//! what comes.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::collectives::{TUNING, arrive, open};
use crate::network::wires::Net;
use std::cell::RefCell;
use std::rc::Rc;
use weft_collective::schedule::Area;
use weft_collective::{AHEAD, Operation, Teams};
use weft_endpoint::Rank;
use weft_model::random::Random;

const ALL: TeamId = TeamId { leader: Rank(0), count: 0 };

/// A contribution, and the result in its place, which the test sees.
#[derive(Clone, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl OperationMemory for Bytes {
    fn read(&self, _: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        take(&self.0.borrow()[at..at + length]);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.0.borrow_mut()[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        self.0.borrow_mut().copy_within(from..from + length, at);
    }
}

struct Member {
    teams: Collectives<Bytes, Vec<u8>>,
    started: StartedOperations<usize>,
    memory: Vec<Bytes>,
    ended: Vec<usize>,
}

struct World {
    members: Vec<Member>,
    net: Net,
}

fn call(number: usize, ranks: usize) -> OperationCall {
    let kinds =
        [Operation::Broadcast, Operation::AllReduce, Operation::Broadcast, Operation::Reduce];
    let operation = kinds[number / 3 % kinds.len()];
    let root = if operation == Operation::AllReduce { 0 } else { number % ranks };
    let count = [1, 100, 3000, 80_000][if number.is_multiple_of(29) { 3 } else { number % 3 }];
    OperationCall { operation, root, count, size: 1 }
}

fn byte(number: usize, rank: usize, at: usize) -> u8 {
    (number * 7 + rank * 31 + at * 3) as u8
}

impl World {
    fn new(ranks: usize, payload: usize, room: usize) -> Self {
        let ids: Vec<Rank> = (0..ranks as u16).map(Rank).collect();
        let member = |&rank: &Rank| {
            let mut teams = Teams::new(rank, TUNING, 2);
            assert_eq!(open(&mut teams, ALL, &ids, (rank, ranks)), Ok(true));
            let started = StartedOperations::default();
            Member { teams, started, memory: Vec::new(), ended: Vec::new() }
        };
        World { members: ids.iter().map(member).collect(), net: Net::new(ranks, payload, room) }
    }

    fn start(&mut self, at: usize) {
        let ranks = self.members.len();
        let Member { teams, started, memory, .. } = &mut self.members[at];
        let (number, call) = (memory.len(), call(memory.len(), ranks));
        let bytes = (0..call.count).map(|place| byte(number, at, place)).collect();
        memory.push(Bytes(Rc::new(RefCell::new(bytes))));
        let combine = Box::new(|before: &[u8], after: &mut [u8]| {
            after.iter_mut().zip(before).for_each(|(after, before)| *after ^= before);
        });
        started.start(teams, ALL, &call, memory[number].clone(), (combine, number)).unwrap();
    }

    /// One rank takes what another has sent, if there is something, and goes on.
    fn step(&mut self, from: usize, at: usize) -> Result<()> {
        let packet = self.net.take(from, at).filter(|_| from != at);
        let Member { teams, started, ended, .. } = &mut self.members[at];
        if let Some(packet) = packet {
            let resumed = arrive(teams, Rank(from as u16), &packet[..])?;
            resumed.into_iter().for_each(|id| started.resume(id));
        }
        let mut net = self.net.of(at);
        let mut packets = CollectivePackets(&mut net);
        if teams.transmit(&mut packets)? {
            started.resume_all();
        }
        // Nothing else looks at them.
        if started.is_due() {
            started.advance(teams, &mut packets)?;
        }
        ended.extend(std::iter::from_fn(|| started.ended()));
        Ok(())
    }

    fn judge(&self, operations: usize) {
        let ranks = self.members.len();
        for (rank, member) in self.members.iter().enumerate() {
            let mut ended = member.ended.clone();
            ended.sort_unstable();
            assert!(ended.into_iter().eq(0..operations), "rank {rank}: each ends once");
            for (number, memory) in member.memory.iter().enumerate() {
                let OperationCall { operation, root, count, .. } = call(number, ranks);
                let expected = |at| match operation {
                    Operation::Broadcast => byte(number, root, at),
                    _ => (0..ranks).fold(0, |all, rank| all ^ byte(number, rank, at)),
                };
                let has_result = operation != Operation::Reduce || rank == root;
                let result = memory.0.borrow();
                let right = (0..count).all(|at| result[at] == expected(at));
                assert!(right || !has_result, "rank {rank}: {operation} {number}");
            }
        }
    }
}

#[test]
fn operations_that_nobody_waits_in_end_in_any_order() {
    const OPERATIONS: usize = 3 * AHEAD as usize;
    for (seed, ranks) in [2, 3, 5, 8].into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let mut world = World::new(ranks, [1000, 9000, 70_000][seed % 3], 1 + seed % 3);
        let mut out_of_order = false;
        let mut steps = 0;
        while world.members.iter().any(|member| member.ended.len() < OPERATIONS) {
            steps += 1;
            assert!(steps < 2_000_000, "{ranks} ranks: some end never");
            let at = random.below(ranks as u64) as usize;
            // One member is often behind all others.
            let begins = world.members[at].memory.len() < OPERATIONS && random.below(4) == 0;
            if begins && (at > 0 || random.below(8) == 0) {
                world.start(at);
            }
            world.step(random.below(ranks as u64) as usize, at).unwrap();
            out_of_order |= !world.members[at].ended.is_sorted();
        }
        world.judge(OPERATIONS);
        assert!(out_of_order, "{ranks} ranks: each ends in its turn");
        assert!(world.members.iter().all(|member| member.started.is_idle()));
    }
}

#[test]
fn one_that_others_have_not_begun_is_not_due() {
    let mut world = World::new(2, 1000, 10);
    world.members[0].memory.resize(3, Bytes::default());
    world.start(0);
    world.step(1, 0).unwrap();
    let Member { started, ended, .. } = &world.members[0];
    assert!(!started.is_due() && !started.has_ended() && ended.is_empty());
    assert!(!started.is_idle());
}
