//! Collective operations between threads and on simulated ranks: late ranks, values of any length,
//! results that do not depend on the order of arrival.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft_collective::format::{Header, TransferKind};
use weft_collective::{Abort, Disagreement, Operation, Signature, TeamId};
use weft_endpoint::{Packets, Protocol, Rank};
use weft_model::random::Random;
use weft_protocol::Preset;
use weft_region::coherence::Policy;
use weft_region::{Error, RegionId, Regions};
use weft_simulator::{Faults, MachineModel, Options, Simulation};
use weft_threads::{Job, Way};

/// Values: none, one, those of a packet or so, those of several, and more than a node sends before
/// others are ready.
const LENGTHS: [usize; 5] = [0, 1, 190, 4000, 20_000];
/// Bytes up to which values are combined along the tree.
const SHARED_OUT_BYTES: usize = 32 << 10;

/// Contribution of a rank to an operation: numbers whose sum depends on the order of additions.
fn brings(rank: usize, number: usize, index: usize) -> f64 {
    let scale = [1e16, 1.0, -1e16, 0.1][(rank + index) % 4];
    scale * (number + index + 1) as f64
}

/// The sum of what `members` bring, from the last to the first.
fn fold(values: impl DoubleEndedIterator<Item = f64>) -> f64 {
    values.rev().reduce(|all, before| before + all).unwrap()
}

/// The sum along the binomial tree: of a rank and those up to the next one beside it.
fn sum(rank: usize, end: usize, value: &impl Fn(usize) -> f64) -> f64 {
    let mut parts = vec![value(rank)];
    let mut child = rank + 1;
    while child < end {
        let next = rank + 2 * (child - rank);
        parts.push(sum(child, end.min(next), value));
        child = next;
    }
    fold(parts.into_iter())
}

/// All ranks do the same, in an order that `seed` says, but each takes its time.
fn operations(packets: &Packets, seed: u64, times: usize) -> Result<(), Error> {
    let regions = Regions::open(packets);
    let (me, ranks) = (packets.rank(), packets.size());
    let (mut all, mut mine) = (Random::new(seed), Random::part(seed, u64::from(me.0)));
    if me == Rank(0) {
        regions.create(8, Policy::default())?;
    }
    regions.barrier()?;
    let counter = regions.map::<u64>(RegionId { home: Rank(0), index: 0 })?;
    let mut written = 0u64;
    for number in 0..times {
        packets.work(mine.below(20_000));
        if mine.happens(300) {
            counter.write()?[0] += 1;
            written += 1;
        }
        let length = *all.choose(&LENGTHS);
        match all.below(4) {
            0 => regions.barrier()?,
            1 => {
                let root = Rank(all.below(ranks as u64) as u16);
                let values =
                    |root: Rank| (0..length).map(move |at| (at as u32) << 8 | u32::from(root.0));
                let mut here: Vec<u32> =
                    if me == root { values(root).collect() } else { vec![7; length] };
                regions.broadcast(root, &mut here)?;
                assert!(here.into_iter().eq(values(root)), "broadcast {number} of {length}");
            }
            2 => {
                let mut here: Vec<f64> =
                    (0..length).map(|at| brings(me.index(), number, at)).collect();
                regions.reduce(&mut here, |a, b| a + b)?;
                for (at, result) in here.into_iter().enumerate() {
                    let brings = |rank| brings(rank, number, at);
                    let expected = match length * 8 > SHARED_OUT_BYTES && ranks > 2 {
                        true => fold((0..ranks).map(brings)),
                        false => sum(0, ranks, &brings),
                    };
                    assert_eq!(
                        result.to_bits(),
                        expected.to_bits(),
                        "sum {number} of {length}, {at}"
                    );
                }
            }
            _ => {
                let mut here = [i64::from(me.0) - 3, 1 << 40];
                regions.reduce(&mut here, Ord::min)?;
                assert_eq!(here, [-3, 1 << 40]);
                regions.reduce(&mut here[..1], |a, b| a.wrapping_add(b))?;
                assert_eq!(here[0], -3 * ranks as i64);
            }
        }
    }
    let mut writes = [written];
    regions.reduce(&mut writes, |a, b| a + b)?;
    assert_eq!(*counter.read()?, writes);
    drop(counter);
    regions.close()
}

#[test]
fn threads_agree() {
    for (ranks, seed) in [(1, 1), (2, 2), (3, 3), (6, 4)] {
        Job::new(ranks).packets(|packets| operations(&packets, seed, 25).unwrap());
    }
}

#[test]
fn threads_over_udp_agree() {
    for preset in [Preset::IrxImc, Preset::HrxHmc, Preset::Pupa] {
        Job::over_udp(4, preset).packets(|packets| operations(&packets, 5, 12).unwrap());
    }
}

/// Ranks agree where the network copies multicasts, and where ranks share hosts.
#[test]
fn ranks_of_several_hosts_agree() {
    let copied = Way::ALL.map(|way| Job::over_multicast(way, 3, Preset::IrxImc));
    let shared = Job::on_hosts(4, 2, Preset::IrxImc);
    for job in copied.into_iter().chain([shared]).flatten() {
        job.packets(|packets| operations(&packets, 6, 12).unwrap());
    }
}

/// Under all presets, those that retransmit on a network that loses, doubles and reorders frames.
#[test]
fn simulated_ranks_agree() {
    let seeds = if cfg!(feature = "soak") { 1000 } else { 2 };
    for preset in Preset::ALL {
        for seed in 0..seeds {
            let ranks = 2 + (seed % 6) as u16 * 5;
            let mut options = Options::with_preset(MachineModel::myrinet().unwrap(), ranks, preset);
            if preset.retransmits() {
                let held_back = Duration::from_micros(100);
                let (loss, duplication, reordering) = (0.02, 0.02, 0.02);
                options.faults =
                    Faults { loss, duplication, reordering, held_back, ..Faults::default() };
            }
            options.seed = seed;
            let program = move |packets| operations(&packets, seed, 8);
            let report = Simulation::new(options).unwrap().run_packets(program);
            report.into_values().unwrap_or_else(|failed| panic!("{preset}, seed {seed}: {failed}"));
        }
    }
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    let received = AtomicU64::new(0);
    Job::new(5).packets(|packets| {
        let regions = Regions::open(&packets);
        for round in 1..=100 {
            received.fetch_add(1, Ordering::SeqCst);
            regions.barrier().unwrap();
            assert!(received.load(Ordering::SeqCst) >= 5 * round);
        }
        regions.close().unwrap();
    });
}

/// A disagreement is told to all, also to those who agree, and to those who wait for a root that is
/// none.
#[test]
fn a_rank_that_does_something_else_is_named_to_all() {
    type Act = fn(&Regions) -> Result<(), Error>;
    let barrier: Act = |regions| regions.barrier();
    let broadcast: Act = |regions| regions.broadcast(Rank(0), &mut [1u64]);
    let reduce: Act = |regions| regions.reduce(&mut [1u64], u64::max);
    let long: Act = |regions| regions.reduce(&mut [1u64; 10_000], u64::max);
    let of_another: Act = |regions| regions.broadcast(Rank(1), &mut [1u64]);
    let longer: Act = |regions| regions.broadcast(Rank(0), &mut [1u64, 2]);
    let by_halves: Act = |regions| regions.reduce(&mut [1u32; 2], u32::max);
    let acts = [
        (broadcast, of_another),
        (broadcast, longer),
        (broadcast, reduce),
        (broadcast, barrier),
        (barrier, broadcast),
        (barrier, of_another),
        (reduce, by_halves),
        (long, barrier),
        (barrier, long),
        (of_another, broadcast),
    ];
    // The first among the others finds it as soon as any.
    for (index, (all, other)) in acts.into_iter().enumerate() {
        for odd in [0, 3] {
            Job::new(4).packets(|packets| {
                let regions = Regions::open(&packets);
                // A rank may hear of it before it has left the barrier.
                let act = if packets.rank() == Rank(odd) { other } else { all };
                let outcome = regions.barrier().and_then(|()| act(&regions));
                let Err(Error::Disagreement { one, other, number: 1 }) = outcome else {
                    panic!("{index}, rank {}: {outcome:?}", packets.rank())
                };
                assert!((one == Rank(odd)) != (other == Rank(odd)), "{index}: {outcome:?}");
                assert!(regions.barrier().is_err(), "it is of no use any more");
                packets.flush().unwrap();
            });
        }
    }
}

/// A packet of rank 1, of two, for the first barrier: this one, if nothing is wrong with it.
const PART: Header = Header {
    kind: TransferKind::Piece,
    team: TeamId { leader: Rank(0), count: 0 },
    number: 0,
    step: 0,
    signature: Signature { operation: Operation::Barrier, root: 0, bytes: 0 },
};

/// A peer that sends more than its part, or what it has no part in.
#[test]
fn what_no_rank_sends_ends_it() {
    let of = |operation, root| Signature { operation, root, bytes: 0 };
    let part = |header: Header, bytes: &[u8]| [&header.emit()[..], bytes].concat();
    let abort = Header { kind: TransferKind::Abort, ..PART };
    let disagreement = |rank| {
        let (one, other) = (Rank(0), Rank(rank));
        let signature = PART.signature;
        let (one, other) = ((one, signature), (other, signature));
        Abort::Disagreement(Disagreement { number: 0, one, other })
    };
    let [ready, twice] =
        [0, 1].map(|step| part(Header { kind: TransferKind::Ready, step, ..PART }, &[]));
    let down = part(Header { step: 1, ..PART }, &[]);
    let stranger = TeamId { leader: Rank(1), count: 0 };
    let attacks = [
        vec![part(PART, &[]), part(PART, &[])],
        vec![part(PART, &[1])],
        vec![part(PART, &[]), down.clone()],
        vec![down, part(PART, &[])],
        vec![ready.clone(), ready],
        vec![twice.clone(), twice],
        vec![part(Header { step: 15, ..PART }, &[])],
        vec![part(Header { number: 100, ..PART }, &[])],
        vec![part(Header { team: stranger, ..PART }, &[])],
        vec![part(Header { signature: of(Operation::Gather, 0), ..PART }, &[])],
        vec![part(Header { signature: of(Operation::Broadcast, 2), ..PART }, &[])],
        vec![part(abort, &[]), part(PART, &[])],
        vec![part(abort, &Abort::Panicked(Rank(1)).emit())],
        vec![part(abort, &disagreement(2).emit())],
        vec![vec![200; 40]],
        vec![vec![0; 1]],
        vec![Vec::new()],
    ];
    for (index, attack) in attacks.iter().enumerate() {
        for multicast in [false, true] {
            Job::new(2).packets(|packets| {
                if packets.rank() == Rank(1) {
                    let packets = packets.of(Protocol::REGIONS);
                    for bytes in attack {
                        let mut packet = packets.packet().unwrap();
                        packet.put(bytes).unwrap();
                        match multicast {
                            true => packet.broadcast().unwrap(),
                            false => packet.unicast(Rank(0)).unwrap(),
                        }
                    }
                    return packets.flush().unwrap();
                }
                let regions = Regions::open(&packets);
                let delivered = || packets.statistics().protocol.packets_delivered;
                packets.poll_until(|| delivered() >= attack.len() as u64).unwrap();
                let outcomes: Vec<_> = (0..2).map(|_| regions.barrier()).collect();
                let named = matches!(outcomes[1], Err(Error::Packet(Rank(1))));
                assert!(named, "{index}: {outcomes:?}");
            });
        }
    }
}

#[test]
fn there_is_no_root_beyond_the_job() {
    Job::new(2).packets(|packets| {
        let regions = Regions::open(&packets);
        let outcome = regions.broadcast(Rank(2), &mut [0u8]);
        assert_eq!(outcome.unwrap_err().to_string(), "there is no rank 2 in a job of 2");
        regions.close().unwrap();
    });
}
