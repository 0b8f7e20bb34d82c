//! Collective operations between threads and on simulated ranks: late ranks, values of any length,
//! results that do not depend on the order of arrival.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft_model::random::Random;
use weft_packet::{Packets, Protocol, Rank};
use weft_protocol::Preset;
use weft_region::coherence::Policy;
use weft_region::format::collectives::{Collective, Operation, Part, Step};
use weft_region::{Error, RegionId, Regions};
use weft_simulator::{Faults, Machine, Options, Simulation};
use weft_threads::{Job, Way};

/// Values: none, one, those of a packet or so, and more pieces than may be under way.
const LENGTHS: [usize; 4] = [0, 1, 190, 20_000];

/// Contribution of a rank to an operation: numbers whose sum depends on the order of additions.
fn brings(rank: usize, number: usize, index: usize) -> f64 {
    let scale = [1e16, 1.0, -1e16, 0.1][(rank + index) % 4];
    scale * (number + index + 1) as f64
}

/// The sum along the tree of all ranks.
fn sum(rank: usize, ranks: usize, value: &impl Fn(usize) -> f64) -> f64 {
    let children = (2 * rank + 1..2 * rank + 3).filter(|&child| child < ranks);
    children.fold(value(rank), |all, child| all + sum(child, ranks, value))
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
                    let expected = sum(0, ranks, &|rank| brings(rank, number, at));
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
            let mut options = Options::with_preset(Machine::myrinet().unwrap(), ranks, preset);
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

/// A disagreement is told to all, also to those who agree.
#[test]
fn a_rank_that_does_something_else_is_named_to_all() {
    type Act = fn(&Regions) -> Result<(), Error>;
    let others: [Act; 4] = [
        |regions| regions.broadcast(Rank(1), &mut [1u64]),
        |regions| regions.broadcast(Rank(0), &mut [1u64, 2]),
        |regions| regions.reduce(&mut [1u64], u64::max),
        |regions| regions.barrier(),
    ];
    for other in others {
        Job::new(4).packets(|packets| {
            let regions = Regions::open(&packets);
            // A rank may hear of it before it has left the barrier.
            let outcome = regions.barrier().and_then(|()| match packets.rank() {
                Rank(3) => other(&regions),
                _ => regions.broadcast(Rank(0), &mut [1u64]),
            });
            // Rank 1 is its parent.
            let told = matches!(
                outcome,
                Err(Error::Disagreement { one: Rank(1), other: Rank(3), number: 1 })
            );
            assert!(told, "rank {}: {outcome:?}", packets.rank());
            assert!(regions.barrier().is_err(), "it is of no use any more");
            packets.flush().unwrap();
        });
    }
}

/// A peer that sends more than its part, or what it has no part in.
#[test]
fn what_no_rank_sends_ends_it() {
    let operation = Operation { collective: Collective::Barrier, number: 0, bytes: 0 };
    let attacks = [(Step::Up, 9), (Step::Down, 1), (Step::Go, 1)];
    for (step, times) in attacks {
        Job::new(2).packets(|packets| {
            if packets.rank() == Rank(1) {
                let packets = packets.of(Protocol::REGIONS);
                for _ in 0..times {
                    let mut packet = packets.packet().unwrap();
                    packet.put(&Part { step, operation, offset: 0 }.emit()).unwrap();
                    packet.unicast(Rank(0)).unwrap();
                }
                return packets.flush().unwrap();
            }
            let regions = Regions::open(&packets);
            let delivered = || packets.statistics().protocol.packets_delivered;
            packets.poll_until(|| delivered() >= times).unwrap();
            let outcomes: Vec<_> = (0..10).map(|_| regions.barrier()).collect();
            assert!(matches!(outcomes[9], Err(Error::Packet(Rank(1)))), "{step:?}: {outcomes:?}");
        });
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
