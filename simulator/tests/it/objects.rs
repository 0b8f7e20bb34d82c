//! Shared objects on simulated ranks: random programs, judged by their histories.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft::{Rank, Weft};
use weft_model::consistency::{self, Executed};
use weft_model::random::Random;
use weft_object::{Bug, Handle, Objects, Placement, Types};
use weft_simulator::{Faults, Options, Outcome, Preset, RunEnd, Simulation};

/// A number that can be taken, once it is not 0 or nobody will set it any more.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Cell {
    value: u64,
    is_closed: bool,
}

#[weft_object::object]
impl Cell {
    #[write]
    fn set(&mut self, value: u64) {
        self.value = value;
    }

    #[write]
    fn add(&mut self, value: u64) -> u64 {
        self.value += value;
        self.value
    }

    #[read]
    fn get(&self) -> u64 {
        self.value
    }

    #[read(when = self.is_closed)]
    fn take(&self) -> u64 {
        0
    }

    #[write(when = self.value != 0, or = take)]
    fn take_value(&mut self) -> u64 {
        std::mem::take(&mut self.value)
    }

    #[write]
    fn close(&mut self) {
        self.is_closed = true;
    }
}

/// Operation on the cell with this number.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Op {
    Set(usize, u64),
    Add(usize, u64),
    Get(usize),
    Take(usize),
    Close(usize),
    Place(usize, Placement),
}

/// Cells as they should be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Cells(Vec<Cell>);

impl Cells {
    fn new(count: usize) -> Self {
        Cells(vec![Cell::default(); count])
    }
}

impl consistency::Objects for Cells {
    type Operation = Op;
    type Result = u64;

    fn execute(&mut self, operation: &Op) -> Option<u64> {
        Some(match *operation {
            Op::Set(cell, value) => {
                self.0[cell].set(value);
                0
            }
            Op::Add(cell, value) => self.0[cell].add(value),
            Op::Get(cell) => self.0[cell].get(),
            Op::Take(cell) if self.0[cell].is_closed => 0,
            Op::Take(cell) if self.0[cell].value == 0 => return None,
            Op::Take(cell) => self.0[cell].take_value(),
            Op::Close(cell) => {
                self.0[cell].close();
                0
            }
            Op::Place(..) => 0,
        })
    }
}

/// Places to which objects move while a program runs.
type Moves = [Placement];

/// The operations of a rank, among which it moves objects if there are places for that. The first
/// rank never waits, and lets everybody go in the end.
fn program(seed: u64, rank: u16, cells: usize, moves: &Moves) -> Vec<Op> {
    let mut random = Random::part(seed, u64::from(rank));
    let mut program: Vec<Op> = (0..9)
        .map(|step| {
            let cell = random.below(cells as u64) as usize;
            if !moves.is_empty() && random.below(5) == 0 {
                return Op::Place(cell, moves[random.below(moves.len() as u64) as usize]);
            }
            match random.below(8) {
                0 | 1 => Op::Set(cell, 100 * u64::from(rank) + step + 1),
                2 => Op::Add(cell, 1000),
                3 if rank != 0 => Op::Take(cell),
                _ => Op::Get(cell),
            }
        })
        .collect();
    if rank == 0 {
        program.extend((0..cells).map(Op::Close));
    }
    program
}

fn execute(cells: &[Handle<Cell>], operation: Op) -> weft_object::Result<u64> {
    match operation {
        Op::Set(cell, value) => cells[cell].set(value).map(|()| 0),
        Op::Add(cell, value) => cells[cell].add(value),
        Op::Get(cell) => cells[cell].get(),
        Op::Take(cell) => cells[cell].take(),
        Op::Close(cell) => cells[cell].close().map(|()| 0),
        Op::Place(cell, placement) => cells[cell].place(placement).map(|()| 0),
    }
}

type Process = Vec<Executed<Op, u64>>;

/// Runs the programs of all ranks, which have this bug, on cells at these places; their history.
fn run(options: Options, seed: u64, placements: &[Placement], bug: Option<Bug>) -> Vec<Process> {
    run_moving(options, seed, placements, &[], bug)
}

/// Does what [`run`] does, while the cells move from place to place.
fn run_moving(
    options: Options,
    seed: u64,
    placements: &[Placement],
    moves: &Moves,
    bug: Option<Bug>,
) -> Vec<Process> {
    let moves = moves.to_vec();
    let clock = Arc::new(AtomicU64::new(0));
    let placements = placements.to_vec();
    let report = Simulation::new(options).unwrap().run_joined(move |weft: Weft| {
        let types = Types::default().with::<Cell>();
        let objects = Objects::new(weft.orders(), weft.rpc(), types).unwrap();
        let name = |cell: usize| format!("cell {cell}");
        let cells: Vec<Handle<Cell>> = (0..placements.len())
            .map(|cell| match weft.rank().0 {
                0 => objects.create(&name(cell), &Cell::default(), placements[cell]).unwrap(),
                _ => objects.find(&name(cell)).unwrap(),
            })
            .collect();
        // All know all of them.
        weft.barrier().map_err(|error| error.to_string())?;
        bug.into_iter().for_each(|bug| objects.plant(bug));
        objects.think_after(3);
        let tick = || clock.fetch_add(1, Ordering::SeqCst);
        let program = program(seed, weft.rank().0, cells.len(), &moves);
        let history = program.into_iter().map(|operation| {
            let begin = tick();
            let result = execute(&cells, operation).unwrap();
            Executed { operation, result, times: (begin, tick()) }
        });
        let history: Process = history.collect();
        weft.barrier().map(|()| history).map_err(|error| error.to_string())
    });
    let histories = report.outcomes.into_iter().map(|outcome| match outcome {
        Outcome::Returned(history) => history,
        other => panic!("seed {seed}: {other:?}"),
    });
    histories.collect()
}

fn options(seed: u64, preset: Preset, ranks: u16) -> Options {
    let mut options = Options::new(ranks).unwrap();
    options.settings.preset = preset;
    options.stack_bytes = 1 << 20;
    options.seed = seed;
    if Preset::RETRANSMITTING.contains(&preset) && seed % 2 == 1 {
        options.faults = Faults { loss: 0.1, duplication: 0.02, ..Faults::default() };
    }
    options
}

/// Everywhere, at the first rank, and at the last.
fn places(ranks: u16) -> [Placement; 3] {
    [Placement::Replicated, Placement::Single(Rank(0)), Placement::Single(Rank(ranks - 1))]
}

/// Some object is read, written, waited for, wherever it is, and so are others: what all processes
/// see comes from one order (thesis 7.1.2; Fekete, Kaashoek, Lynch, Implementing Sequentially
/// Consistent Shared Objects Using Broadcast and Point-to-Point Communication, 1995).
#[test]
fn objects_in_different_places_are_sequentially_consistent_together() {
    for seed in 0..seeds() {
        for preset in Preset::ALL {
            let ranks = 3 + (seed % 4) as u16;
            let history = run(options(seed, preset, ranks), seed, &places(ranks), None);
            let order = consistency::sequential(&Cells::new(3), &history);
            assert!(order.is_some(), "seed {seed}, {preset:?}: {history:#?}");
        }
    }
}

/// One copy of one object: what has returned is seen by whoever begins after it.
#[test]
fn a_single_copy_is_linearizable() {
    for seed in 0..seeds() {
        for preset in Preset::ALL {
            let place = [Placement::Single(Rank((seed % 3) as u16))];
            let history = run(options(seed, preset, 3), seed, &place, None);
            let order = consistency::linear(&Cells::new(1), &history);
            assert!(order.is_some(), "seed {seed}, {preset:?}: {history:#?}");
        }
    }
}

/// Objects move while they are operated on: from rank to rank, to all, and back. Each operation is
/// executed once, and all that processes see comes from one order.
#[test]
fn objects_that_move_are_sequentially_consistent_together() {
    for seed in 0..seeds() {
        for preset in Preset::ALL {
            let ranks = 3 + (seed % 4) as u16;
            let (options, places) = (options(seed, preset, ranks), places(ranks));
            let history = run_moving(options, seed, &places, &places, None);
            let order = consistency::sequential(&Cells::new(3), &history);
            assert!(order.is_some(), "seed {seed}, {preset:?}: {history:#?}");
        }
    }
}

/// Objects move by statistics, after a few operations already, and by the program.
#[test]
fn objects_that_statistics_move_are_sequentially_consistent_together() {
    let expected = Placement::Expected { reads: 9, writes: 1 };
    for seed in 0..seeds() {
        for preset in Preset::ALL {
            let ranks = 3 + (seed % 4) as u16;
            let options = options(seed, preset, ranks);
            let places = [Placement::Automatic, expected, Placement::Single(Rank(1))];
            let moves = if seed % 2 == 0 { &[][..] } else { &places[..] };
            let history = run_moving(options, seed, &places, moves, None);
            let order = consistency::sequential(&Cells::new(3), &history);
            assert!(order.is_some(), "seed {seed}, {preset:?}: {history:#?}");
        }
    }
}

/// The only copy of an object, which goes from rank to rank, stays linearizable.
#[test]
fn a_single_copy_that_moves_is_linearizable() {
    let moves: Vec<_> = (0..3).map(|rank| Placement::Single(Rank(rank))).collect();
    for seed in 0..seeds() {
        for preset in Preset::ALL {
            let place = [moves[seed as usize % 3]];
            let history = run_moving(options(seed, preset, 3), seed, &place, &moves, None);
            let order = consistency::linear(&Cells::new(1), &history);
            assert!(order.is_some(), "seed {seed}, {preset:?}: {history:#?}");
        }
    }
}

/// A rank dies while objects move, some of them to it or away from it: the others are told, and
/// nobody waits for ever.
#[test]
fn survivors_are_told_when_a_rank_dies_as_objects_move() {
    for seed in 0..60 {
        let preset = Preset::ALL[seed as usize % Preset::ALL.len()];
        let mut options = options(2 * seed, preset, 4);
        let at = Duration::from_micros(400 + 97 * (seed % 20));
        options.faults.crashes = vec![(Rank(3), at)];
        let places = places(4);
        let report = Simulation::new(options).unwrap().run_joined(move |weft: Weft| {
            let types = Types::default().with::<Cell>();
            let objects = Objects::new(weft.orders(), weft.rpc(), types).unwrap();
            let mut random = Random::part(seed, weft.rank().0.into());
            let mut work = || -> weft_object::Result<()> {
                let cells = [0, 1, 2].map(|cell| match weft.rank().0 {
                    0 => objects.create(&format!("{cell}"), &Cell::default(), places[cell]),
                    _ => objects.find(&format!("{cell}")),
                });
                let [one, two, three] = cells;
                let cells = [one?, two?, three?];
                loop {
                    let cell = &cells[random.below(3) as usize];
                    match random.below(3) {
                        0 => cell.place(places[random.below(3) as usize])?,
                        1 => drop(cell.get()?),
                        _ => drop(cell.add(1)?),
                    }
                }
            };
            work().map_err(|error| error.to_string())
        });
        assert_eq!(report.ended, RunEnd::Finished, "{preset} {seed}: {:?}", report.outcomes);
        for (rank, outcome) in report.outcomes.iter().enumerate() {
            match (rank, outcome) {
                (3, Outcome::Crashed) => {}
                (0..3, Outcome::Victim(what)) => {
                    assert!(what.starts_with("rank 3 was killed"), "{preset} {seed}: {what}");
                }
                _ => panic!("{preset} {seed}: rank {rank} {outcome:?}"),
            }
        }
    }
}

/// The judge finds bugs of moving: what a home executes too late, what stays behind, and what is
/// executed where it was and where it is.
#[test]
fn planted_bugs_of_moving_are_found() {
    for bug in [Bug::LateFreeze, Bug::Stale, Bug::MovedTwice] {
        let is_found = |seed: &u64| {
            let (seed, places) = (2 * seed + 1, places(4));
            let options = options(seed, Preset::Pupa, 4);
            let history = run_moving(options, seed, &places, &places, Some(bug));
            consistency::sequential(&Cells::new(3), &history).is_none()
        };
        assert!((0..300).any(|seed| is_found(&seed)), "{bug:?}");
    }
}

/// The judge finds bugs of four kinds.
#[test]
fn planted_bugs_are_found() {
    for bug in [Bug::EarlyCall, Bug::EarlyReturn, Bug::Skipped, Bug::Twice] {
        let is_found = |seed: &u64| {
            // Where messages are lost, some take long, and others overtake them.
            let seed = 2 * seed + 1;
            let history = run(options(seed, Preset::Pupa, 4), seed, &places(4), Some(bug));
            consistency::sequential(&Cells::new(3), &history).is_none()
        };
        assert!((0..300).any(|seed| is_found(&seed)), "{bug:?}");
    }
}

/// Programs of each test: `WEFT_OBJECT_SEEDS`, or a few.
fn seeds() -> u64 {
    let asked = std::env::var("WEFT_OBJECT_SEEDS").ok();
    asked.map_or(20, |asked| asked.parse().expect("WEFT_OBJECT_SEEDS is a number"))
}
