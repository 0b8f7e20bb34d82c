//! Misuses by programs, and their errors: each is a clear one, and nothing hangs.

use std::time::Duration;
use weft_endpoint::{Cause, Loss, Packets, Protocol, Rank};
use weft_protocol::Preset;
use weft_region::coherence::{Misuse, Policy, Version};
use weft_region::format::Notice;
use weft_region::{Error, RegionId, Regions};
use weft_simulator::{Faults, MachineModel, Options, Outcome, Simulation};
use weft_threads::{Job, with_loss};

/// The first region of a rank.
fn first_of(home: u16) -> RegionId {
    RegionId { home: Rank(home), index: 0 }
}

/// Misuse that a call reports which must not be made now.
fn misuse(error: Option<Error>) -> (RegionId, Misuse) {
    match error {
        Some(Error::Misuse { region, what }) => (region, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn accesses_exclude_each_other_within_a_rank() {
    Job::new(2).packets(|packets| {
        let regions = Regions::open(&packets);
        regions.create(24, Policy::default()).unwrap();
        regions.barrier().unwrap();
        let (region, again) = (regions.map::<u64>(first_of(0)), regions.map::<u64>(first_of(0)));
        let (region, again) = (region.unwrap(), again.unwrap());
        let read = region.read().unwrap();
        assert_eq!(misuse(region.write().err()), (first_of(0), Misuse::Reading));
        assert_eq!(misuse(again.write().err()), (first_of(0), Misuse::Reading));
        assert_eq!(misuse(region.flush().err()), (first_of(0), Misuse::Reading));
        assert_eq!(misuse(again.delete().err()), (first_of(0), Misuse::Reading));
        let nested = region.read().unwrap();
        assert_eq!((read.len(), nested[2]), (3, 0));
        drop((read, nested));
        let write = region.write().unwrap();
        assert_eq!(misuse(region.read().err()), (first_of(0), Misuse::Writing));
        assert_eq!(misuse(region.write().err()), (first_of(0), Misuse::Writing));
        let said = region.read().err().unwrap().to_string();
        assert!(said.starts_with("region 0 of rank 0: the region is being written here"), "{said}");
        drop(write);
        drop(region);
        regions.close().unwrap();
    });
}

#[test]
fn there_is_no_region_that_nobody_created() {
    Job::new(2).packets(|packets| {
        let regions = Regions::open(&packets);
        regions.create(24, Policy::default()).unwrap();
        regions.barrier().unwrap();
        for home in [0, 1] {
            let unknown = RegionId { index: 1, ..first_of(home) };
            assert!(matches!(regions.map::<u8>(unknown), Err(Error::Unknown(id)) if id == unknown));
        }
        assert!(matches!(regions.map::<u8>(first_of(2)), Err(Error::Unknown(_))));
        let shape = regions.map::<[u8; 16]>(first_of(1)).err().unwrap().to_string();
        assert!(shape.starts_with("region 0 of rank 1 has 24 bytes"), "{shape}");
        regions.close().unwrap();
    });
}

/// Rank 1 deletes regions of both while all use them, until they are told.
#[test]
fn a_deleted_region_is_refused_to_all() {
    let deleted = |outcome: Result<(), Error>, region| match outcome {
        Err(Error::Deleted(id)) => assert_eq!(id, region),
        other => panic!("{other:?}"),
    };
    Job::new(3).packets(|packets| {
        let regions = Regions::open(&packets);
        regions.create(16, Policy::default()).unwrap();
        regions.create(8, Policy::default()).unwrap();
        regions.barrier().unwrap();
        for region in [first_of(0), first_of(1)] {
            let mapped = regions.map::<u64>(region).unwrap();
            for round in 0.. {
                // Hits do not poll, and nobody interrupts here.
                packets.poll().unwrap();
                if round == 20 && regions.rank() == Rank(1) {
                    regions.map::<u64>(region).unwrap().delete().unwrap();
                }
                let outcome = match round % 3 {
                    0 => mapped.read().map(drop),
                    _ => mapped.write().map(|mut words| words[0] += 1),
                };
                if outcome.is_err() {
                    deleted(outcome, region);
                    break;
                }
            }
            deleted(mapped.read().map(drop), region);
            deleted(mapped.write().map(drop), region);
            assert!(mapped.flush().is_ok() && mapped.prefetch().is_ok(), "there is nothing to do");
            deleted(mapped.delete(), region);
            regions.barrier().unwrap();
        }
        // One that two have never mapped when it goes.
        let late = RegionId { home: Rank(2), index: 1 };
        if regions.rank() == Rank(2) {
            regions.map::<u64>(late).unwrap().delete().unwrap();
        }
        regions.barrier().unwrap();
        match regions.map::<u64>(late) {
            Ok(mapped) => deleted(mapped.read().map(drop), late),
            Err(Error::Unknown(id)) => assert_eq!(id, late),
            Err(other) => panic!("{other:?}"),
        }
        regions.close().unwrap();
    });
}

/// No machine has 2^60 bytes: said to who creates such a region, and to who maps what a home says
/// is one.
#[test]
fn a_region_larger_than_memory_is_refused() {
    let sizes = [1 << 60, u64::MAX];
    Job::new(2).packets(|packets| {
        if packets.rank() == Rank(1) {
            let packets = packets.of(Protocol::REGIONS);
            for (index, bytes) in (0..).zip(sizes) {
                let region = RegionId { index, ..first_of(1) };
                let notice = Notice::Mapped { version: Version::default(), bytes };
                let mut packet = packets.packet().unwrap();
                packet.put(&notice.emit(region)).unwrap();
                packet.unicast(Rank(0)).unwrap();
            }
            return packets.flush().unwrap();
        }
        let regions = Regions::open(&packets);
        for (index, bytes) in (0..).zip(sizes) {
            let created = regions.create(bytes, Policy::default());
            assert!(matches!(created, Err(Error::Memory(all)) if all == bytes), "{created:?}");
            let mapped = regions.map::<u8>(RegionId { index, ..first_of(1) });
            assert!(matches!(mapped, Err(Error::Memory(all)) if all == bytes));
        }
        assert!(regions.create(8, Policy::default()).is_ok(), "it goes on");
    });
}

/// Four ranks: the home, who only waits for the others; an owner, who has the only copy and is in
/// it; one that waits to read it; and one at a barrier.
const HOME: u16 = 1;
const OWNER: u16 = 2;
const READER: u16 = 3;

fn with_a_dirty_region(packets: &Packets) -> Result<(), String> {
    let regions = Regions::open(packets);
    let at = |what: &'static str| move |error: Error| format!("{what}: {error}");
    regions.create(64, Policy::default()).map_err(at("creating"))?;
    regions.barrier().map_err(at("the first barrier"))?;
    let region = regions.map::<u64>(first_of(HOME)).map_err(at("mapping"))?;
    if packets.rank() == Rank(OWNER) {
        region.write().map_err(at("writing"))?[0] = 5;
    }
    regions.barrier().map_err(at("the second barrier"))?;
    match packets.rank() {
        Rank(OWNER) => {
            let mut words = region.write().map_err(at("writing again"))?;
            words[0] += 1;
            // Until long after somebody has died.
            packets.work(20_000_000);
        }
        Rank(READER) => {
            packets.work(1000);
            let read = region.read().map_err(at("reading"))?;
            return Err(format!("read {}", read[0]));
        }
        _ => {}
    }
    regions.barrier().map_err(at("the last barrier"))
}

/// Whoever of home and owner dies while the region is dirty: all others are told which, wherever
/// they wait.
#[test]
fn a_home_or_owner_that_dies_is_told_to_all_and_hangs_nobody() {
    for preset in Preset::ALL {
        for dies in [HOME, OWNER] {
            let mut options = Options::with_preset(MachineModel::myrinet().unwrap(), 4, preset);
            let crash = (Rank(dies), Duration::from_millis(5));
            options.faults = Faults { crashes: vec![crash], ..Faults::default() };
            let program = |packets| with_a_dirty_region(&packets);
            let report = Simulation::new(options).unwrap().run_packets(program);
            for (rank, outcome) in (0..).zip(&report.outcomes) {
                let what = match outcome {
                    Outcome::Crashed if rank == dies => continue,
                    Outcome::Victim(what) => what,
                    other => panic!("{preset}, rank {rank}: {other:?}"),
                };
                let doing = if rank == READER { "reading: " } else { "the last barrier: " };
                let told = what.starts_with(doing) && what.contains(&format!("rank {dies} "));
                assert!(told, "{preset}, rank {rank} when {dies} died: {what}");
            }
        }
    }
}

/// The home dies between calls: the next one that needs it says so, and so does each after that.
#[test]
fn calls_after_a_loss_name_the_rank() {
    let loss = Loss { rank: Rank(0), cause: Cause::Killed(9) };
    // Regions end in jobs that go on, too.
    for goes_on in [false, true] {
        calls_name_the_lost(loss, goes_on);
    }
}

fn calls_name_the_lost(loss: Loss, goes_on: bool) {
    with_loss(loss, |packets, lose| {
        if goes_on {
            packets.losses().go_on();
        }
        let regions = Regions::open(&packets);
        let mine = regions.create(8, Policy::default()).unwrap();
        regions.map::<u64>(mine).unwrap().write().unwrap()[0] = 1;
        lose();
        let lost = |outcome: Result<(), Error>| match outcome {
            Err(Error::Packets(weft_endpoint::Error::RankLost(found))) => assert_eq!(found, loss),
            other => panic!("{other:?}"),
        };
        lost(regions.map::<u64>(first_of(0)).map(drop));
        lost(regions.barrier());
        lost(regions.broadcast(Rank(0), &mut [0u64]));
        lost(regions.reduce(&mut [0u64], u64::max));
        lost(regions.close());
    });
}
