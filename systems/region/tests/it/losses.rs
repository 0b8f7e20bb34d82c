//! Jobs that go on after losses: regions are lost with their homes and with who had their only
//! copies, all survivors are told the same, and all other regions are what they were.

use crate::regions::number;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft_endpoint::{Cause, Loss, Packets, Rank};
use weft_model::memory::{Memory, Wrong};
use weft_model::random::Random;
use weft_protocol::Preset;
use weft_protocol::tree::Shape;
use weft_region::coherence::{Hint, Policy};
use weft_region::{DataWay, Error, Mapped, RegionId, Regions, Result, Settings};
use weft_simulator::{Faults, MachineModel, Options, Outcome, Simulation};
use weft_threads::{Job, Tap};

/// Bytes of the regions that each rank creates.
const SIZES: [u64; 3] = [8, 64, 20_000];
const RANKS: u16 = 6;
const LOST: usize = 3;

/// Knowledge that all ranks share beside their regions.
#[derive(Clone)]
struct Judge(Arc<Mutex<Judged>>);

struct Judged {
    memory: Memory,
    /// Survivors that are done with so much.
    done: BTreeSet<(Rank, Done)>,
}

/// Part of the program that a survivor is done with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Done {
    Accesses,
    All,
}

/// Contents of each region at the end, or the rank that it is lost with.
type Seen = Vec<std::result::Result<u64, Rank>>;

impl Judge {
    fn new() -> Self {
        let memory = Memory::new(usize::from(RANKS) * SIZES.len());
        Judge(Arc::new(Mutex::new(Judged { memory, done: BTreeSet::new() })))
    }

    fn told<T>(&self, tell: impl FnOnce(&mut Memory) -> std::result::Result<T, Wrong>) {
        tell(&mut self.0.lock().unwrap().memory).unwrap_or_else(|wrong| panic!("{wrong}"));
    }

    fn written(&self, place: usize) -> u64 {
        self.0.lock().unwrap().memory.written(place)
    }

    /// True once all ranks that `packets` has not heard to be lost are done with it.
    fn all_are_done(&self, packets: &Packets, with: Done) -> bool {
        let done = &self.0.lock().unwrap().done;
        let mut ranks = (0..RANKS).map(Rank);
        ranks.all(|rank| done.contains(&(rank, with)) || packets.losses().of(rank).is_some())
    }
}

/// One rank's part.
struct Survivor<'a> {
    packets: &'a Packets,
    regions: Regions,
    judge: Judge,
    mapped: Vec<Option<Mapped<u64>>>,
}

impl<'a> Survivor<'a> {
    fn new(packets: &'a Packets, judge: &Judge, seed: u64) -> Self {
        packets.losses().go_on();
        // Before regions hear of it, so that who gets in next is not taken for one too many.
        let tells = judge.clone();
        packets.losses().on_each(move |loss| {
            tells.0.lock().unwrap().memory.lose(loss.rank.index());
        });
        let data = [DataWay::Packets, DataWay::Puts, DataWay::Loans][seed as usize % 3];
        let settings = Settings { multicast: seed.is_multiple_of(2), data, most_unmapped: 2 };
        let regions = Regions::open_with(packets, settings);
        let mut random = Random::part(seed, u64::from(packets.rank().0));
        for bytes in SIZES {
            let hint = *random.choose(&[Hint::Invalidate, Hint::Update, Hint::Migratory]);
            regions.create(bytes, Policy { hint, ..Policy::default() }).unwrap();
        }
        regions.barrier().unwrap();
        let mapped = (0..usize::from(RANKS) * SIZES.len()).map(|_| None).collect();
        Survivor { packets, regions, judge: judge.clone(), mapped }
    }

    fn region(&mut self, place: usize) -> Result<&Mapped<u64>> {
        let (home, index) = (place / SIZES.len(), place % SIZES.len());
        let id = RegionId { home: Rank(home as u16), index: index as u32 };
        if self.mapped[place].is_none() {
            self.mapped[place] = Some(self.regions.map(id)?);
        }
        Ok(self.mapped[place].as_ref().expect("it is mapped"))
    }

    /// An access to a random region, in the midst of which the rank may be gone.
    fn access(&mut self, random: &mut Random, dies: bool) -> Result<()> {
        let (judge, packets) = (self.judge.clone(), self.packets);
        let (me, place) = (packets.rank().index(), random.below(self.mapped.len() as u64) as usize);
        let region = self.region(place)?;
        match random.below(10) {
            0..4 => {
                let words = region.read()?;
                let seen = number(&words);
                judge.told(|memory| memory.begin_read(me, place, seen));
                packets.work(random.below(200));
                if dies {
                    std::mem::forget(words);
                    return Ok(());
                }
                judge.told(|memory| memory.end_read(me, place));
            }
            4..8 => {
                let mut words = region.write()?;
                let seen = number(&words);
                judge.told(|memory| memory.begin_write(me, place, seen));
                words.fill(seen + 1);
                packets.work(random.below(200));
                if dies {
                    std::mem::forget(words);
                    return Ok(());
                }
                judge.told(|memory| memory.end_write(me, place));
            }
            8 => region.prefetch()?,
            _ => self.mapped[place] = None,
        }
        Ok(())
    }

    /// Accesses, until the rank is gone after `dies_after` of them, or all losses are heard of.
    /// `None` if it is gone.
    fn live(&mut self, seed: u64, dies_after: Option<u32>) -> Option<Seen> {
        let mut random = Random::part(seed, 100 + u64::from(self.packets.rank().0));
        let mut after_losses = 0;
        for number in 0.. {
            let dies = dies_after == Some(number);
            if let Err(error) = self.access(&mut random, dies) {
                self.expect_lost(&error);
            }
            if dies {
                return None;
            }
            let all_lost = self.packets.losses().all().len() == LOST;
            after_losses += u32::from(all_lost && dies_after.is_none());
            if after_losses == 50 {
                break;
            }
        }
        self.wait_for_all(Done::Accesses);
        let seen = (0..self.mapped.len()).map(|place| self.look(place)).collect();
        self.wait_for_all(Done::All);
        Some(seen)
    }

    /// Serves the others until they are as far.
    fn wait_for_all(&self, done: Done) {
        self.judge.0.lock().unwrap().done.insert((self.packets.rank(), done));
        while !self.judge.all_are_done(self.packets, done) {
            self.regions.poll().unwrap();
            self.packets.work(10);
        }
    }

    /// The rank that an access is lost for is lost.
    fn expect_lost(&self, error: &Error) -> Rank {
        let rank = error.lost_rank().unwrap_or_else(|| panic!("{error}"));
        assert!(self.packets.losses().of(rank).is_some() || is_told_of(error, rank), "{error}");
        rank
    }

    fn look(&mut self, place: usize) -> std::result::Result<u64, Rank> {
        let seen = self.region(place).and_then(|region| Ok(number(&region.read()?)));
        match seen {
            Ok(seen) => Ok(seen),
            Err(error) => Err(self.expect_lost(&error)),
        }
    }
}

/// True if the home of a region has told of the loss: it may have heard of it before.
fn is_told_of(error: &Error, rank: Rank) -> bool {
    matches!(error, Error::Lost { region, rank: lost } if *lost == rank && region.home != rank)
}

/// All survivors see the same of every region whose home lives, which is the last write unless the
/// region is lost; and every other region is lost with its home.
fn compare(survivors: &[(Rank, Seen)], judge: &Judge) -> usize {
    let lives = |rank: Rank| survivors.iter().any(|(survivor, _)| *survivor == rank);
    let (_, first) = &survivors[0];
    for (rank, seen) in survivors {
        for (place, (seen, first)) in seen.iter().zip(first).enumerate() {
            let home = Rank((place / SIZES.len()) as u16);
            match seen {
                _ if !lives(home) => assert_eq!(*seen, Err(home), "rank {rank}, region {place}"),
                Ok(value) => assert_eq!(*value, judge.written(place), "rank {rank}"),
                Err(with) => assert!(!lives(*with), "rank {rank}: region {place} with {with}"),
            }
            assert!(!lives(home) || seen == first, "rank {rank}, region {place}");
        }
    }
    first.iter().filter(|seen| seen.is_ok()).count()
}

/// Ranks that are gone, and after how many accesses.
fn deaths(seed: u64) -> Vec<Option<u32>> {
    let mut random = Random::part(seed, 99);
    let mut deaths: Vec<Option<u32>> = vec![None; RANKS.into()];
    while deaths.iter().flatten().count() < LOST {
        let rank = random.below(RANKS.into()) as usize;
        deaths[rank] = Some(random.below(300) as u32);
    }
    deaths
}

/// Six threads lose three. Returns how many regions are left.
fn threads(job: Job, seed: u64) -> usize {
    let tap = Tap::new();
    let job = Job { tap: Some(tap), seed: Some(seed), ..job };
    let (judge, deaths) = (Judge::new(), deaths(seed));
    let outcomes = job.packets(|packets| {
        let rank = packets.rank();
        let mut survivor = Survivor::new(&packets, &judge, seed);
        let seen = survivor.live(seed, deaths[rank.index()]);
        if seen.is_none() {
            // It gives nothing back.
            std::mem::forget(survivor);
            let loss = Loss { rank, cause: Cause::Killed(9) };
            let others = (0..RANKS).map(Rank).filter(|other| *other != rank);
            others.for_each(|other| tap.announce(other, loss));
        }
        seen
    });
    let survivors = (0..RANKS).map(Rank).zip(outcomes);
    let survivors: Vec<_> = survivors.filter_map(|(rank, seen)| Some((rank, seen?))).collect();
    assert_eq!(survivors.len(), usize::from(RANKS) - LOST);
    compare(&survivors, &judge)
}

#[test]
fn threads_lose_three_of_six_and_agree_which_regions_are_lost() {
    let seeds = if cfg!(feature = "soak") { 1000 } else { 12 };
    let left: usize = (0..seeds).map(|seed| threads(Job::new(RANKS), seed)).sum();
    assert!(left as u64 > seeds * 4, "{left} regions of {seeds} jobs are left");
}

#[test]
fn threads_over_udp_lose_three_of_six_and_agree_which_regions_are_lost() {
    for (preset, seed) in [(Preset::IrxImc, 20), (Preset::Pupa, 21)] {
        let job = Job { shape: Shape::Flat, ..Job::over_udp(RANKS, preset) };
        threads(job, seed);
    }
}

/// At any moment, not only between packets.
#[test]
fn simulated_ranks_lose_three_of_six_and_agree_which_regions_are_lost() {
    let seeds = if cfg!(feature = "soak") { 1000 } else { 9 };
    let mut left = 0;
    for seed in 0..seeds {
        let preset = [Preset::NrxImc, Preset::IrxImc, Preset::Pupa][seed as usize % 3];
        let mut options = Options::with_preset(MachineModel::myrinet().unwrap(), RANKS, preset);
        let mut random = Random::part(seed, 98);
        let mut crashes: Vec<(Rank, Duration)> = Vec::new();
        while crashes.len() < LOST {
            let rank = Rank(random.below(RANKS.into()) as u16);
            if crashes.iter().all(|(lost, _)| *lost != rank) {
                crashes.push((rank, Duration::from_micros(3_000 + random.below(60_000))));
            }
        }
        let loss = if preset.retransmits() { 0.005 } else { 0.0 };
        options.faults = Faults { crashes, loss, ..Faults::default() };
        options.seed = seed;
        options.goes_on = true;
        let judge = Judge::new();
        let judged = judge.clone();
        let report = Simulation::new(options).unwrap().run_packets(move |packets| {
            let seen = Survivor::new(&packets, &judged, seed).live(seed, None);
            seen.ok_or_else(|| "it is gone".to_owned())
        });
        let mut survivors = Vec::new();
        for (rank, outcome) in (0..RANKS).map(Rank).zip(report.outcomes) {
            match outcome {
                Outcome::Returned(seen) => survivors.push((rank, seen)),
                Outcome::Crashed => {}
                other => panic!("seed {seed}, {preset}: rank {rank}: {other:?}"),
            }
        }
        assert_eq!(survivors.len(), usize::from(RANKS) - LOST, "seed {seed}, {preset}");
        left += compare(&survivors, &judge);
    }
    assert!(left as u64 > seeds * 4, "{left} regions of {seeds} jobs are left");
}
