//! Jobs of simulated ranks that go on after crashes.

use std::time::Duration;
use weft::collective::{Sum, Team};
use weft::{Rank, Weft};
use weft_endpoint::Preset;
use weft_link_sim::{Faults, MachineModel};
use weft_simulator::{Options, Simulation};

/// Seeds, unless the environment says how many.
const SEEDS: u64 = 3;
const RANKS: u16 = 64;
const CRASHES: usize = 10;
/// Ranks that such a job gains.
const GAINED: u32 = 5;
/// Operations that a program has done when it is over.
const OPERATIONS: u32 = 60;
/// Members of an order, of whom some crash, and messages that each broadcasts.
const MEMBERS: u16 = 16;
const LOST_MEMBERS: usize = 6;
const MESSAGES: u32 = 40;

/// View of a rank: whether each operation has ended well, and who is left.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    well: Vec<bool>,
    left: Vec<u16>,
}

/// Operations, on what is left of the team. With room for others, these take the places of the
/// lost.
fn live(weft: &Weft) -> Result<Seen, String> {
    let (mut team, mut well) = (weft.everyone().clone(), Vec::new());
    let mut step = Step { number: 0, gained: 0 };
    if weft.rank().index() >= weft.size() {
        team = step.tell(team)?;
    }
    while step.number < OPERATIONS {
        let number = step.number;
        step.number += 1;
        // Ranks are missed 0.1 s after they have ended: others end meanwhile, or later.
        weft.block_on(weft.sleep(Duration::from_millis(10))).map_err(|error| error.to_string())?;
        let me = team.member(team.rank()).0;
        let outcome = match number % 3 {
            0 => {
                let mut sum = [u64::from(me)];
                team.all_reduce(&mut sum, Sum).map(|()| {
                    let all: u64 = (0..team.size()).map(|it| u64::from(team.member(it).0)).sum();
                    assert_eq!(sum[0], all);
                })
            }
            1 => {
                let mut said = vec![if team.rank() == 0 { number } else { 0 }; 2_000];
                team.broadcast(0, &mut said).map(|()| assert!(said.iter().all(|it| *it == number)))
            }
            _ => team.barrier(),
        };
        well.push(outcome.is_ok());
        if let Err(error) = outcome {
            error.lost_rank().ok_or_else(|| error.to_string())?;
            team = team.shrink().map_err(|error| error.to_string())?;
            if weft.room() > weft.size() {
                team = step.gain(weft, team)?;
            }
        }
    }
    let left = (0..team.size()).map(|number| team.member(number).0).collect();
    Ok(Seen { well, left })
}

/// Knowledge that all members of a team have alike, and a rank that comes has not.
struct Step {
    number: u32,
    gained: u32,
}

impl Step {
    /// The team with others in the places of the lost, which have heard of this step, as long as
    /// there are some to come.
    fn gain(&mut self, weft: &Weft, mut team: Team) -> Result<Team, String> {
        loop {
            let missing = weft.size().saturating_sub(team.size());
            let count = missing.min((GAINED - self.gained) as usize);
            match weft.grow(&team, count) {
                Ok(grown) => {
                    self.gained += count as u32;
                    return self.tell(grown);
                }
                // One that came was told of the loss of the rank that had it started.
                Err(error) if error.room_left().is_some() => return Ok(team),
                Err(error) => team = without_the_lost(&team, &error)?,
            }
        }
    }

    /// Tells all members, by the first of them.
    fn tell(&mut self, mut team: Team) -> Result<Team, String> {
        loop {
            let mut said = [self.number, self.gained];
            match team.broadcast(0, &mut said) {
                Ok(()) => {
                    [self.number, self.gained] = said;
                    return Ok(team);
                }
                Err(error) => team = without_the_lost(&team, &error.into())?,
            }
        }
    }
}

fn without_the_lost(team: &Team, error: &weft::Error) -> Result<Team, String> {
    error.lost_rank().ok_or_else(|| error.to_string())?;
    team.shrink().map_err(|error| error.to_string())
}

/// Messages that a member was handed over, with each loss as a message of the lost without text.
type Handed = Vec<(Rank, Option<u32>)>;

/// Broadcasts in one order, until all that live have broadcast all.
fn broadcast(weft: &Weft) -> Result<Handed, String> {
    let told = |error: weft::Error| error.lost_rank().ok_or_else(|| error.to_string());
    let order = weft.order_mailbox("all").map_err(|error| error.to_string())?;
    let (mut handed, mut sent): (Handed, _) = (Vec::new(), 0);
    let is_done = |handed: &Handed, rank: &Rank| {
        handed.contains(&(*rank, Some(MESSAGES - 1))) || handed.contains(&(*rank, None))
    };
    while !order.members().iter().all(|rank| is_done(&handed, rank)) {
        if sent < MESSAGES {
            let pause = weft.sleep(Duration::from_millis(20));
            weft.block_on(pause).map_err(|error| error.to_string())?;
            let mut text = sent.to_le_bytes().to_vec();
            text.resize(if sent % 4 == 0 { 10_000 } else { 4 }, 0);
            order.broadcast(&text).map_err(|error| error.to_string())?;
            sent += 1;
        }
        loop {
            let next =
                if sent < MESSAGES { order.try_receive() } else { order.receive().map(Some) };
            match next {
                Ok(Some(mut message)) => {
                    let text = message.read_to_vec().map_err(|error| error.to_string())?;
                    let number = text.first_chunk().map(|number| u32::from_le_bytes(*number));
                    handed.push((message.source(), number));
                }
                Ok(None) => break,
                Err(error) => handed.push((told(error.into())?, None)),
            }
            if order.members().iter().all(|rank| is_done(&handed, rank)) {
                break;
            }
        }
    }
    // Others may still need what this rank was handed over.
    weft.everyone().agree(0).map_err(|error| error.to_string())?;
    drop(order);
    Ok(handed)
}

/// All that live were handed over the same, all messages of those that live among it.
fn judge_order(seed: u64, survivors: &[(u16, Handed)]) {
    let cut = |handed: &Handed, rank: Rank| {
        let at = handed.iter().position(|seen| *seen == (rank, None))?;
        Some(handed[..at].iter().filter(|seen| seen.1.is_some()).count())
    };
    let messages = |handed: &Handed| -> Vec<(Rank, Option<u32>)> {
        handed.iter().copied().filter(|seen| seen.1.is_some()).collect()
    };
    let (_, first) = &survivors[0];
    for (rank, handed) in survivors {
        assert_eq!(messages(handed), messages(first), "seed {seed}: rank {rank}");
    }
    for rank in (0..MEMBERS).map(Rank) {
        let mut cuts = survivors.iter().filter_map(|(_, handed)| cut(handed, rank));
        let at = cuts.next();
        assert!(cuts.all(|other| Some(other) == at), "seed {seed}: the cut of rank {rank}");
        let of_rank = first.iter().filter(|seen| seen.0 == rank).filter_map(|seen| seen.1);
        let numbers: Vec<u32> = of_rank.collect();
        assert!(numbers.iter().copied().eq(0..numbers.len() as u32), "seed {seed}: of rank {rank}");
        let lives = survivors.iter().any(|(survivor, _)| *survivor == rank.0);
        assert!(!lives || numbers.len() == MESSAGES as usize, "seed {seed}: of rank {rank}");
    }
}

/// A job that loses ranks at moments that the seed chooses, and has room for others. Returns what
/// its survivors return.
fn survivors<T: Clone + std::fmt::Debug + 'static>(
    seed: u64,
    (preset, lossy): (Preset, bool),
    (ranks, crashes, room): (u16, usize, u16),
    program: impl Fn(&Weft) -> Result<T, String> + Clone + 'static,
) -> Vec<(u16, T)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut order: Vec<u16> = (0..ranks).collect();
    random.shuffle(&mut order);
    let lost = &order[..crashes];
    let crashes: Vec<(Rank, Duration)> = lost
        .iter()
        .map(|rank| (Rank(*rank), Duration::from_micros(random.u64(100..1_500_000))))
        .collect();
    let mut options =
        Options::with_preset(MachineModel::myrinet().expect("it is shipped"), room, preset);
    options.settings.founders = ranks;
    options.seed = seed;
    options.goes_on = true;
    options.faults = Faults { crashes, loss: if lossy { 0.002 } else { 0.0 }, ..Faults::default() };
    let report = Simulation::new(options)
        .expect("options that can be")
        .run_joined(move |weft| program(&weft));
    let mut survivors = Vec::new();
    for (rank, outcome) in (0..room).zip(&report.outcomes) {
        match outcome {
            weft_simulator::Outcome::Returned(seen) => survivors.push((rank, seen.clone())),
            weft_simulator::Outcome::Crashed => assert!(lost.contains(&rank)),
            weft_simulator::Outcome::NeverCame => assert!(rank >= ranks),
            // Whoever had it started is lost, and the others do not know of it.
            weft_simulator::Outcome::Victim(_) if rank >= ranks => {}
            other => panic!("seed {seed}, {preset}: rank {rank}: {other:?}; {:?}", report.ended),
        }
    }
    survivors
}

/// A job that loses ten of its ranks. Returns how many operations have failed.
fn judge(seed: u64, preset: Preset, lossy: bool) -> usize {
    let survivors = survivors(seed, (preset, lossy), (RANKS, CRASHES, RANKS), live);
    let (_, first) = &survivors[0];
    for (rank, seen) in &survivors {
        assert_eq!(seen, first, "seed {seed}, {preset}: rank {rank}");
        assert!(first.left.contains(rank), "seed {seed}, {preset}: rank {rank} was left out");
    }
    first.well.iter().filter(|is_well| !**is_well).count()
}

/// Number of jobs, under three presets in turn, and the sum of what `judge` says of each.
fn judged(judge: impl Fn(u64, Preset, bool) -> usize) -> (u64, usize) {
    let worlds = [(Preset::NrxImc, false), (Preset::IrxImc, true), (Preset::Pupa, true)];
    let jobs = (0..seeds()).zip(worlds.into_iter().cycle());
    (seeds(), jobs.map(|(seed, (preset, lossy))| judge(seed, preset, lossy)).sum())
}

#[test]
fn sixty_four_ranks_lose_ten_and_agree_about_each_operation() {
    let (seeds, failed) = judged(judge);
    println!("{seeds} jobs, in which {failed} operations failed and were told of as one");
    assert!(failed as u64 > 3 * seeds, "ranks are lost in the midst of operations");
}

/// A job that loses ten of its ranks and gains some. Returns how many.
fn judge_gained(seed: u64, preset: Preset, lossy: bool) -> usize {
    let room = RANKS + GAINED as u16;
    let survivors = survivors(seed, (preset, lossy), (RANKS, CRASHES, room), live);
    let (_, first) = &survivors[0];
    for (rank, seen) in &survivors {
        assert_eq!(seen.left, first.left, "seed {seed}, {preset}: rank {rank}");
        assert!(first.well.ends_with(&seen.well), "seed {seed}, {preset}: rank {rank}");
        assert!(first.left.contains(rank), "seed {seed}, {preset}: rank {rank} was left out");
        assert!(*rank >= RANKS || seen.well.len() == OPERATIONS as usize, "{rank} was there");
    }
    survivors.iter().filter(|(rank, _)| *rank >= RANKS).count()
}

#[test]
fn sixty_four_ranks_lose_ten_and_gain_five() {
    let (seeds, gained) = judged(judge_gained);
    println!("{seeds} jobs, which gained {gained} ranks");
    assert!(gained as u64 >= 4 * seeds, "nearly all that were to come are there");
}

#[test]
fn sixteen_ranks_lose_six_and_their_order_goes_on() {
    for seed in 0..seeds() {
        let network = match seed % 3 {
            0 => (Preset::NrxImc, false),
            1 => (Preset::IrxImc, true),
            _ => (Preset::Pupa, true),
        };
        judge_order(seed, &survivors(seed, network, (MEMBERS, LOST_MEMBERS, MEMBERS), broadcast));
    }
}

fn seeds() -> u64 {
    std::env::var("WEFT_LOSS_SEEDS").map_or(SEEDS, |seeds| seeds.parse().expect("a number"))
}
