//! Regions on the packet layer: random programs between threads and on simulated ranks, judged by a
//! memory that knows nothing of copies.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_model::memory::Memory;
use weft_model::random::Random;
use weft_protocol::Preset;
use weft_region::coherence::{Hint, Policy};
use weft_region::{DataWay, Mapped, RegionId, Regions, Settings};
use weft_simulator::{Faults, MachineModel, Options, Simulation};
use weft_threads::{Gate, Job};

/// Bytes of the regions that each rank creates: nothing to speak of, a little, and several packets.
const SIZES: [u64; 3] = [8, 64, 20_000];

fn policy(random: &mut Random) -> Policy {
    let hint = *random.choose(&[Hint::Invalidate, Hint::Update, Hint::Migratory]);
    Policy { hint, three_party: random.happens(700) }
}

/// The number that a region holds in all of its places.
pub fn number(words: &[u64]) -> u64 {
    assert!(words.iter().all(|word| *word == words[0]), "half of a write is seen");
    words[0]
}

/// Accesses random regions of all ranks, telling the judge. Returns the writes.
fn accesses(packets: &Packets, judge: &Mutex<Memory>, seed: u64, times: u32) -> u64 {
    let data =
        [DataWay::Packets, DataWay::Puts, DataWay::Packets, DataWay::Loans][seed as usize % 4];
    let most_unmapped = [0, 2, 64][seed as usize % 3];
    let settings = Settings { multicast: !seed.is_multiple_of(3), data, most_unmapped };
    let regions = Regions::open_with(packets, settings);
    let (me, ranks) = (packets.rank(), packets.size() as u16);
    let mut random = Random::part(seed, u64::from(me.0));
    for bytes in SIZES {
        regions.create(bytes, policy(&mut random)).unwrap();
    }
    regions.barrier().unwrap();
    let id = |place: usize| RegionId {
        home: Rank((place / SIZES.len()) as u16),
        index: (place % SIZES.len()) as u32,
    };
    let places = usize::from(ranks) * SIZES.len();
    let mut mapped: Vec<Option<Mapped<u64>>> = (0..places).map(|_| None).collect();
    let mut written = 0;
    for _ in 0..times {
        let place = random.below(places as u64) as usize;
        if mapped[place].is_none() {
            mapped[place] = Some(regions.map(id(place)).unwrap());
        }
        let region = mapped[place].as_ref().unwrap();
        match random.below(10) {
            0..5 => {
                let words = region.read().unwrap();
                judge.lock().unwrap().begin_read(me.index(), place, number(&words)).unwrap();
                packets.work(random.below(200));
                judge.lock().unwrap().end_read(me.index(), place).unwrap();
            }
            5..8 => {
                let mut words = region.write().unwrap();
                let seen = number(&words);
                judge.lock().unwrap().begin_write(me.index(), place, seen).unwrap();
                words.fill(seen + 1);
                packets.work(random.below(200));
                judge.lock().unwrap().end_write(me.index(), place).unwrap();
                written += 1;
            }
            8 => region.prefetch().unwrap(),
            _ if random.happens(500) => region.flush().unwrap(),
            _ => mapped[place] = None,
        }
    }
    drop(mapped);
    regions.close().unwrap();
    written
}

fn judge(ranks: u16) -> Mutex<Memory> {
    Mutex::new(Memory::new(usize::from(ranks) * SIZES.len()))
}

#[test]
fn threads_see_one_memory() {
    for (ranks, seed) in [(2, 1), (3, 2), (4, 3), (4, 5), (3, 7)] {
        let judge = judge(ranks);
        let written = Job::new(ranks).packets(|packets| accesses(&packets, &judge, seed, 300));
        assert!(written.iter().sum::<u64>() > u64::from(ranks) * 40);
    }
}

#[test]
fn threads_over_udp_see_one_memory() {
    for (preset, seed) in [(Preset::IrxImc, 7), (Preset::Pupa, 8)] {
        let judge = judge(3);
        let job = Job::over_udp(3, preset);
        let written = job.packets(|packets| accesses(&packets, &judge, seed, 150));
        assert!(written.iter().sum::<u64>() > 3 * 20);
    }
}

/// Runs `options` to their end. Returns the writes.
fn simulated(mut options: Options, seed: u64, times: u32) -> u64 {
    options.seed = seed;
    let judge = Arc::new(judge(options.settings.ranks));
    let what = format!("{}, seed {seed}", options.settings.preset);
    let report = Simulation::new(options)
        .unwrap()
        .run_packets(move |packets| Ok::<_, String>(accesses(&packets, &judge, seed, times)));
    report.into_values().unwrap_or_else(|failed| panic!("{what}: {failed}")).iter().sum()
}

/// Under all presets, those that retransmit on a network that loses, doubles and reorders frames.
#[test]
fn simulated_ranks_see_one_memory() {
    let seeds = if cfg!(feature = "soak") { 1000 } else { 2 };
    for preset in Preset::ALL {
        for seed in 0..seeds {
            let ranks = 2 + (seed % 5) as u16;
            let mut options = Options::with_preset(MachineModel::myrinet().unwrap(), ranks, preset);
            if preset.retransmits() {
                let held_back = Duration::from_micros(100);
                let (loss, duplication, reordering) = (0.02, 0.02, 0.02);
                options.faults =
                    Faults { loss, duplication, reordering, held_back, ..Faults::default() };
            }
            assert!(simulated(options, seed, 60) > u64::from(ranks) * 5);
        }
    }
}

/// More regions than are kept unmapped: the oldest go home, and come back.
#[test]
fn unmapped_regions_keep_what_was_written() {
    Job::new(2).packets(|packets| {
        let regions = Regions::open(&packets);
        if regions.rank() == Rank(0) {
            for _ in 0..150 {
                regions.create(8, Policy::default()).unwrap();
            }
        }
        regions.barrier().unwrap();
        let id = |index| RegionId { home: Rank(0), index };
        if regions.rank() == Rank(1) {
            for round in 0..2 {
                for index in 0..150 {
                    let region = regions.map::<u32>(id(index)).unwrap();
                    let mut words = region.write().unwrap();
                    assert_eq!(*words, [round * index, round]);
                    words.copy_from_slice(&[(round + 1) * index, round + 1]);
                }
            }
        }
        regions.barrier().unwrap();
        for index in 0..150 {
            assert_eq!(*regions.map::<u32>(id(index)).unwrap().read().unwrap(), [2 * index, 2]);
        }
        regions.close().unwrap();
    });
}

/// Writes that a rank flushes when it ends, more than there are packets for, are sent before the
/// ranks end that they are for.
#[test]
fn a_rank_that_ends_gives_back_all_that_it_wrote() {
    const REGIONS: u32 = 3000;
    let (gate, dropped) = (Gate::default(), AtomicBool::new(false));
    Job::new(2).packets(|packets| {
        let regions = Regions::open(&packets);
        if packets.rank() == Rank(1) {
            (0..REGIONS).for_each(|_| {
                regions.create(1024, Policy::default()).unwrap();
            });
        }
        regions.barrier().unwrap();
        let id = |index| RegionId { home: Rank(1), index };
        let mut mapped: Vec<Mapped<u8>> = Vec::new();
        if packets.rank() == Rank(0) {
            mapped.extend((0..REGIONS).map(|index| regions.map(id(index)).unwrap()));
            mapped.iter().for_each(|region| region.write().unwrap().fill(7));
        }
        gate.pass(&packets);
        if packets.rank() == Rank(0) {
            drop(mapped);
            dropped.store(true, Ordering::SeqCst);
        }
        // Rank 1 takes nothing meanwhile.
        while !dropped.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        regions.close().unwrap();
    });
}

/// Writes and reads a large region by turns, so that its bytes go to and fro.
#[test]
fn what_is_put_or_lent_is_what_was_written() {
    let program = |packets: Packets, data| {
        let settings = Settings { data, ..Settings::default() };
        let regions = Regions::open_with(&packets, settings);
        for (index, three_party) in [false, true].into_iter().enumerate() {
            if packets.rank() == Rank(0) {
                regions.create(100_000, Policy { three_party, ..Policy::default() }).unwrap();
            }
            regions.barrier().unwrap();
            let region =
                regions.map::<u32>(RegionId { home: Rank(0), index: index as u32 }).unwrap();
            for round in 0..12 {
                let writer = Rank(round % 3);
                if packets.rank() == writer {
                    let mut words = region.write().unwrap();
                    words.iter_mut().zip(0..).for_each(|(word, at): (&mut u32, u32)| {
                        assert_eq!(*word, u32::from(round) * at, "as it was written before");
                        *word += at;
                    });
                }
                regions.barrier().unwrap();
                let words = region.read().unwrap();
                assert!(
                    words.iter().zip(0..).all(|(word, at)| *word == (u32::from(round) + 1) * at)
                );
                drop(words);
                regions.barrier().unwrap();
            }
        }
        regions.close().unwrap();
        packets.puts().refused()
    };
    for data in [DataWay::Puts, DataWay::Loans] {
        for job in [Job::new(3), Job::over_udp(3, Preset::IrxImc)] {
            assert_eq!(job.packets(|packets| program(packets, data)), [0, 0, 0]);
        }
    }
}

/// A borrower reads a region elsewhere than it writes it; what is put it reads and writes there.
#[test]
fn what_is_lent_is_copied_by_who_is_to_write_it() {
    let program = |packets: Packets, data| {
        let settings = Settings { data, ..Settings::default() };
        let regions = Regions::open_with(&packets, settings);
        if packets.rank() == Rank(0) {
            regions.create(100_000, Policy::default()).unwrap();
        }
        regions.barrier().unwrap();
        let region = regions.map::<u32>(RegionId { home: Rank(0), index: 0 }).unwrap();
        for round in 0..3 {
            if packets.rank() == Rank(0) {
                region.write().unwrap().fill(round);
            }
            regions.barrier().unwrap();
            assert!(region.read().unwrap().iter().all(|&word| word == round));
            regions.barrier().unwrap();
        }
        let mut moved = false;
        if packets.rank() == Rank(1) {
            let read = region.read().unwrap().as_ptr();
            let mut words = region.write().unwrap();
            words[1] = 7;
            moved = words.as_ptr() != read;
        }
        regions.barrier().unwrap();
        assert_eq!(region.read().unwrap()[..3], [2, 7, 2]);
        regions.close().unwrap();
        moved
    };
    for (data, moves) in [(DataWay::Puts, false), (DataWay::Loans, true)] {
        assert_eq!(Job::new(2).packets(|packets| program(packets, data)), [false, moves]);
    }
}

/// Of four ranks two read what a third writes then: one multicast instead of two packets. It is
/// counted for each rank that it reaches, the one that has no copy too.
#[test]
fn several_copies_are_invalidated_by_one_multicast() {
    let launched = |multicast| {
        let settings = Settings { multicast, ..Settings::default() };
        let packets = Job::new(4).packets(|packets| {
            let regions = Regions::open_with(&packets, settings);
            if packets.rank() == Rank(0) {
                regions.create(8, Policy::default()).unwrap();
            }
            regions.barrier().unwrap();
            let region = regions.map::<u64>(RegionId { home: Rank(0), index: 0 }).unwrap();
            for round in 0..20 {
                if packets.rank() == Rank(0) {
                    region.write().unwrap()[0] += 1;
                }
                regions.barrier().unwrap();
                if packets.rank().0 < 3 {
                    assert_eq!(region.read().unwrap()[0], round + 1);
                }
                regions.barrier().unwrap();
            }
            regions.close().unwrap();
            packets.statistics().protocol.packets_sent
        });
        packets[0]
    };
    assert_eq!(launched(true), launched(false) + 19);
}
