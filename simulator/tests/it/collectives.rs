//! Collective operations on simulated networks: whatever is drawn, under every preset, good
//! networks and bad ones, and crashes in the middle.

use std::time::Duration;
use weft::collective::{Sum, Team, Xor};
use weft::{Rank, Weft};
use weft_model::random::Random;
use weft_simulator::{Faults, Options, Outcome, Preset, RunEnd, Simulation};

/// Operation `step` of all members of a team: a kind, a root, and values for each.
struct Deed {
    kind: u64,
    root: usize,
    length: usize,
    seed: u64,
}

impl Deed {
    fn draw(random: &mut Random, size: usize) -> Self {
        let length = match random.below(8) {
            0 => 0,
            1..6 => random.below(40),
            6 => random.below(700),
            _ => random.below(6000),
        };
        Deed {
            kind: random.below(15),
            root: random.below(size as u64) as usize,
            length: length as usize,
            seed: random.below(1 << 40),
        }
    }

    fn values(&self, member: usize, length: usize) -> Vec<u64> {
        let first = (self.seed + member as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..length as u64).map(|i| first ^ (i * 3)).collect()
    }

    fn combined(&self, size: usize, combine: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        let mut all = self.values(0, self.length);
        for member in 1..size {
            let next = self.values(member, self.length);
            all.iter_mut().zip(next).for_each(|(into, next)| *into = combine(*into, next));
        }
        all
    }

    /// Does it, and says whether it gave what it should.
    fn execute(&self, team: &Team) -> weft::Result<bool> {
        let (me, size, root, length) = (team.rank(), team.size(), self.root, self.length);
        let mut mine = self.values(me, length);
        let all = || (0..size).flat_map(|member| self.values(member, length)).collect::<Vec<_>>();
        let whole = |member: usize| self.values(member, length * size);
        let varied = |member: usize| self.values(member, (length + member * 300) % 1777);
        Ok(match self.kind {
            0 => team.barrier().map(|()| true)?,
            1 => {
                team.broadcast(root, &mut mine)?;
                mine == self.values(root, length)
            }
            2 => {
                team.reduce(root, &mut mine, Xor)?;
                me != root || mine == self.combined(size, |a, b| a ^ b)
            }
            3 => {
                team.all_reduce(&mut mine, Sum)?;
                mine == self.combined(size, u64::wrapping_add)
            }
            4 => team.gather(root, &mine)? == (me == root).then(all),
            5 => {
                let expected = (me == root).then(|| (0..size).map(varied).collect());
                team.gather_varied(root, &varied(me))? == expected
            }
            6 => {
                let from = whole(root);
                team.scatter(root, (me == root).then_some(&from[..]), &mut mine)?;
                mine == from[me * length..][..length]
            }
            7 => team.all_gather(&mine)? == all(),
            8 => {
                let part = |member| whole(member)[me * length..][..length].to_vec();
                team.all_to_all(&whole(me))? == (0..size).flat_map(part).collect::<Vec<_>>()
            }
            9 => {
                let parts = (me == root).then(|| (0..size).map(varied).collect::<Vec<_>>());
                team.scatter_varied(root, parts.as_deref())? == varied(me)
            }
            10 => team.all_gather_varied(&varied(me))? == (0..size).map(varied).collect::<Vec<_>>(),
            11 => {
                let given =
                    |from: usize| move |to: usize| self.values(from, (length * (from + to)) % 1999);
                let mine: Vec<_> = (0..size).map(given(me)).collect();
                let expected: Vec<_> = (0..size).map(|from| given(from)(me)).collect();
                team.all_to_all_varied(&mine)? == expected
            }
            12 => {
                team.scan(&mut mine, Sum)?;
                mine == self.combined(me + 1, u64::wrapping_add)
            }
            13 => {
                team.exclusive_scan(&mut mine, Xor)?;
                mine == self.combined(me.max(1), |a, b| a ^ b)
            }
            _ => {
                let colour = |member: usize| (self.seed as usize + member) % 3;
                let part = team.split(Some(colour(me) as u32), 0)?;
                let expected = (0..size).filter(|&member| colour(member) == colour(me)).count();
                let Some(part) = part.filter(|part| part.size() == expected) else {
                    return Ok(false);
                };
                part.all_gather(&[me as u32])?.len() == expected
            }
        })
    }
}

/// `deeds` deeds of a random sequence: by all ranks, or by those with odd or even numbers. Some of
/// them while other operations are under way.
fn program(weft: &Weft, deeds: usize, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let some: Vec<Rank> = weft.ranks().filter(|rank| rank.0 % 2 == 0).collect();
    let told = |error: weft::Error| error.to_string();
    let part = weft.team(&some).map_err(told)?;
    for number in 0..deeds {
        let of_all = random.below(3) > 0;
        let size = if of_all { weft.size() } else { some.len() };
        let (deed, around) = (Deed::draw(&mut random, size), random.below(2) == 0);
        let team = if of_all { Some(weft.everyone()) } else { part.as_ref() };
        let Some(team) = team else { continue };
        let execute = || {
            let sum = around.then(|| team.begin_all_reduce(vec![1_u32; 9], Sum)).transpose()?;
            let well = deed.execute(team)?;
            let sum = sum.map(|sum| sum.wait()).transpose()?;
            weft::Result::Ok(well && sum.is_none_or(|sum| sum == [size as u32; 9]))
        };
        if !execute().map_err(told)? {
            return Err(format!("deed {number} of kind {} gave something else", deed.kind));
        }
    }
    Ok(())
}

fn options(ranks: u16, preset: Preset, seed: u64) -> Options {
    let mut options = Options::new(ranks).unwrap();
    options.settings.preset = preset;
    options.seed = seed;
    options.stack_bytes = 1 << 20;
    options.stuck_after = Duration::from_secs(2);
    options
}

fn assert_well(options: Options, deeds: usize, what: &str) {
    let seed = options.seed;
    let report = Simulation::new(options).unwrap().run(move |weft| program(&weft, deeds, seed));
    assert!(report.is_success(), "{what}, seed {seed}: {:?} {:?}", report.ended, report.outcomes);
}

#[test]
fn random_operations_under_every_preset() {
    for preset in Preset::ALL {
        for (seed, ranks) in [1, 2, 3, 5, 8, 16, 33].into_iter().enumerate() {
            // Those of many ranks take long, and meet as much in one go.
            let seeds = [seed as u64, 50 + seed as u64];
            for seed in &seeds[..if ranks > 8 { 1 } else { 2 }] {
                assert_well(options(ranks, preset, *seed), 80, &format!("{preset}, {ranks}"));
            }
        }
    }
}

#[test]
fn random_operations_on_a_bad_network() {
    let faults = Faults {
        loss: 0.02,
        duplication: 0.02,
        reordering: 0.05,
        held_back: Duration::from_micros(200),
        corruption: 0.01,
        ..Faults::default()
    };
    for preset in Preset::RETRANSMITTING {
        for (seed, ranks) in [2, 5, 9].into_iter().enumerate() {
            let mut options = options(ranks, preset, 100 + seed as u64);
            options.faults = faults.clone();
            assert_well(options, 60, &format!("{preset}, {ranks}"));
        }
    }
}

#[test]
fn one_seed_one_trace() {
    let trace = |seed| {
        let options = options(6, Preset::IrxImc, 7);
        let simulation = Simulation::new(options).unwrap();
        let report = simulation.run(move |weft| program(&weft, 20, seed));
        assert!(report.is_success(), "{:?}", report.outcomes);
        (report.trace_hash, report.events, report.virtual_time)
    };
    assert_eq!(trace(3), trace(3));
    assert_ne!(trace(3), trace(4));
}

#[test]
fn survivors_of_a_crash_are_told() {
    for preset in Preset::ALL {
        for (seed, crash_us) in [(1, 300), (2, 2_000), (3, 9_000)] {
            let mut options = options(7, preset, seed);
            let crash = (Rank(3), Duration::from_micros(crash_us));
            options.faults = Faults { crashes: vec![crash], ..Faults::default() };
            let simulation = Simulation::new(options).unwrap();
            let report = simulation.run(move |weft| program(&weft, 10_000, seed));
            assert_eq!(report.ended, RunEnd::Finished, "{preset}");
            for (rank, outcome) in report.outcomes.iter().enumerate() {
                match (rank, outcome) {
                    (3, Outcome::Crashed) => {}
                    (_, Outcome::Victim(what)) => {
                        assert!(what.starts_with("rank 3 was killed"), "{preset}: {what}");
                    }
                    _ => panic!("{preset}, {crash_us}: rank {rank} {outcome:?}"),
                }
            }
        }
    }
}
