//! Operations whose packets travel as messages' do: over queues that are full now and then.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::network::wires::Net;
use weft_collective::schedule::Area;
use weft_collective::{EAGER_BYTES, Operation, OperationCall, Stage};
use weft_model::random::Random;

const ALL: TeamId = TeamId { leader: Rank(0), count: 0 };

/// A contribution, and the result in its place.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl OperationMemory for Bytes {
    fn read(&self, _: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        take(&self.0[at..at + length]);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        self.0.copy_within(from..from + length, at);
    }
}

struct World {
    ranks: Vec<Collectives<Bytes, Vec<u8>>>,
    net: Net,
}

impl World {
    fn new(ranks: usize, payload: usize, room: usize) -> Self {
        let one = |rank| Teams::new(Rank(rank as u16), TUNING, 2);
        let mut world =
            World { ranks: (0..ranks).map(one).collect(), net: Net::new(ranks, payload, room) };
        let members: Vec<Rank> = (0..ranks as u16).map(Rank).collect();
        for (rank, collectives) in world.ranks.iter_mut().enumerate() {
            assert_eq!(open(collectives, ALL, &members, (Rank(rank as u16), ranks)), Ok(true));
        }
        world
    }

    fn arrive(&mut self, from: usize, at: usize) -> Result<()> {
        let Some(packet) = self.net.take(from, at).filter(|_| from != at) else { return Ok(()) };
        assert!(is_collective(&packet));
        arrive(&mut self.ranks[at], Rank(from as u16), &packet[..]).map(|_| ())
    }

    /// The result of an operation of all on `length` bytes of each, at each rank.
    fn run(&mut self, call: &OperationCall, random: &mut Random) -> Vec<Vec<u8>> {
        let ranks = self.ranks.len();
        let mut results = vec![None; ranks];
        let begin = |(rank, it): (usize, &mut Collectives<_, _>)| {
            let bytes = Bytes((0..call.bytes()).map(|at| (at * 3 + rank) as u8).collect());
            it.begin(ALL, call, bytes).unwrap()
        };
        let numbers: Vec<u32> = self.ranks.iter_mut().enumerate().map(begin).collect();
        while results.iter().any(Option::is_none) {
            let at = random.below(ranks as u64) as usize;
            self.arrive(random.below(ranks as u64) as usize, at).unwrap();
            let mut net = self.net.of(at);
            let (it, packets) = (&mut self.ranks[at], &mut CollectivePackets(&mut net));
            it.transmit(packets).unwrap();
            match it.drive(ALL, numbers[at], packets).unwrap() {
                Stage::Waiting => {}
                Stage::Combine => {
                    let mut job = it.take(ALL, numbers[at]).unwrap();
                    job.run.combine(&job.memory, |before, after| {
                        after.iter_mut().zip(before).for_each(|(after, before)| *after ^= before);
                    });
                    it.put(ALL, numbers[at], job);
                }
                Stage::Done => {
                    let Some(job) = it.take(ALL, numbers[at]) else { continue };
                    it.end(ALL, numbers[at]);
                    results[at] = Some(job.memory.0);
                }
            }
        }
        results.into_iter().flatten().collect()
    }
}

#[test]
fn operations_go_through_networks_that_are_full_now_and_then() {
    for (seed, ranks) in [1, 2, 3, 5, 8].into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let mut world = World::new(ranks, [1000, 9000, 70_000][seed % 3], 1 + seed % 3);
        for length in [1, 100, 7000, 20_000, EAGER_BYTES, 200_000] {
            let (operation, root) = (Operation::Broadcast, ranks / 2);
            let broadcast = OperationCall { operation, root, count: length, size: 1 };
            let roots: Vec<u8> = (0..length).map(|at| (at * 3 + root) as u8).collect();
            let results = world.run(&broadcast, &mut random);
            assert!(results.iter().all(|result| *result == roots), "broadcast of {length}");
            let all_reduce =
                OperationCall { operation: Operation::AllReduce, root: 0, ..broadcast };
            let sum = |at| (0..ranks).fold(0, |sum, rank| sum ^ (at * 3 + rank) as u8);
            let sums: Vec<u8> = (0..length).map(sum).collect();
            let results = world.run(&all_reduce, &mut random);
            assert!(results.iter().all(|result| *result == sums), "all-reduce of {length}");
            assert!(!world.ranks.iter().any(Teams::has_to_transmit));
        }
    }
}

#[test]
fn teams_and_packets_that_cannot_be_are_refused() {
    let mut world = World::new(2, 1000, 10);
    let one = &mut world.ranks[0];
    let named = |leader, count| TeamId { leader: Rank(leader), count };
    let mut opens = |id, members: &[u16]| {
        let members: Vec<Rank> = members.iter().copied().map(Rank).collect();
        open(one, id, &members, (Rank(0), 2))
    };
    assert_eq!(opens(ALL, &[0, 1]), Ok(false), "one that is open");
    assert_eq!(opens(named(1, 5), &[0, 1]), Ok(false), "another leader");
    assert_eq!(opens(named(1, 5), &[1]), Ok(false), "of others");
    assert_eq!(opens(named(0, 5), &[0, 1, 1]), Ok(false), "a rank twice");
    assert_eq!(opens(named(0, 5), &[0, 2]), Ok(false), "no rank of the job");
    let outcome = arrive(one, Rank(1), &[24; 9][..]);
    assert!(matches!(outcome, Err(Error::Violation { from: Rank(1), .. })), "{outcome:?}");
    // The other has begun something else.
    let calls = [Operation::Broadcast, Operation::Barrier].map(|operation| OperationCall {
        operation,
        root: 0,
        count: 0,
        size: 1,
    });
    for (rank, call) in calls.iter().enumerate() {
        let number = world.ranks[rank].begin(ALL, call, Bytes(Vec::new())).unwrap();
        let mut net = world.net.of(rank);
        world.ranks[rank].drive(ALL, number, &mut CollectivePackets(&mut net)).unwrap();
    }
    let expected = Err(Error::Violation { from: Rank(0), what: DISAGREES });
    assert_eq!(world.arrive(0, 1), expected);
}
