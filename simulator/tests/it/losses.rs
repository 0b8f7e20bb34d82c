//! Jobs of simulated ranks that go on after crashes.

use std::time::Duration;
use weft::collective::Sum;
use weft::{Rank, Weft};
use weft_endpoint::Preset;
use weft_link_sim::{Faults, MachineModel};
use weft_simulator::{Options, Simulation};

/// Seeds, unless the environment says how many.
const SEEDS: u64 = 3;
const RANKS: u16 = 64;
const CRASHES: usize = 10;
/// Operations that a program has done when it is over.
const OPERATIONS: u32 = 60;

/// View of a rank: whether each operation has ended well, and who is left.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    well: Vec<bool>,
    left: Vec<u16>,
}

/// Operations, on what is left of the team.
fn live(weft: &Weft) -> Result<Seen, String> {
    let (mut team, mut well) = (weft.everyone().clone(), Vec::new());
    for number in 0..OPERATIONS {
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
        }
    }
    let left = (0..team.size()).map(|number| team.member(number).0).collect();
    Ok(Seen { well, left })
}

/// A job that loses ten of its ranks at moments that the seed chooses. Returns how many operations
/// have failed.
fn judge(seed: u64, preset: Preset, lossy: bool) -> usize {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut order: Vec<u16> = (0..RANKS).collect();
    random.shuffle(&mut order);
    let crashes: Vec<(Rank, Duration)> = order[..CRASHES]
        .iter()
        .map(|rank| (Rank(*rank), Duration::from_micros(random.u64(100..1_500_000))))
        .collect();
    let mut options =
        Options::with_preset(MachineModel::myrinet().expect("it is shipped"), RANKS, preset);
    options.seed = seed;
    options.goes_on = true;
    options.faults = Faults { crashes, loss: if lossy { 0.002 } else { 0.0 }, ..Faults::default() };
    let report =
        Simulation::new(options).expect("options that can be").run_joined(|weft| live(&weft));
    let mut survivors = Vec::new();
    for (rank, outcome) in (0..RANKS).zip(&report.outcomes) {
        match outcome {
            weft_simulator::Outcome::Returned(seen) => survivors.push((rank, seen.clone())),
            weft_simulator::Outcome::Crashed => assert!(order[..CRASHES].contains(&rank)),
            other => panic!("seed {seed}, {preset}: rank {rank}: {other:?}; {:?}", report.ended),
        }
    }
    let (_, first) = &survivors[0];
    for (rank, seen) in &survivors {
        assert_eq!(seen, first, "seed {seed}, {preset}: rank {rank}");
        assert!(first.left.contains(rank), "seed {seed}, {preset}: rank {rank} was left out");
    }
    first.well.iter().filter(|is_well| !**is_well).count()
}

#[test]
fn sixty_four_ranks_lose_ten_and_agree_about_each_operation() {
    let seeds =
        std::env::var("WEFT_LOSS_SEEDS").map_or(SEEDS, |seeds| seeds.parse().expect("a number"));
    let failed: usize = (0..seeds)
        .map(|seed| match seed % 3 {
            0 => judge(seed, Preset::NrxImc, false),
            1 => judge(seed, Preset::IrxImc, true),
            _ => judge(seed, Preset::Pupa, true),
        })
        .sum();
    println!("{seeds} jobs, in which {failed} operations failed and were told of as one");
    assert!(failed as u64 > 3 * seeds, "ranks are lost in the midst of operations");
}
