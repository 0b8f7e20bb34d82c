//! Positions, and what sequential programs say of them that share no code with the search.

use std::collections::BTreeMap;
use weft_apps::games::Board;
use weft_messaging::{Barrier, Engine};
use weft_search::{Game, Judged, Plan, Search, Settings, Strategy};
use weft_simulator::{Options, Simulation};
use weft_threads::Job;

/// Positions of games of random moves, each somewhere in its game.
pub fn positions<B: Board>(first: B, count: usize, longest: usize, seed: u64) -> Vec<B> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut position = || {
        let moves = random.usize(0..longest);
        (0..moves).fold(first, |position, _| match random.choice(moves_of(&position)) {
            Some(by) => position.play(by),
            None => position,
        })
    };
    std::iter::repeat_with(&mut position).take(count).collect()
}

pub fn moves_of<B: Board>(position: &B) -> Vec<u8> {
    position.moves().collect()
}

/// Value of a position as minimax has it, so many moves ahead.
pub fn minimax<G: Game>(position: &G, depth: u16) -> i16 {
    let below = |by| -minimax(&position.play(by), depth - 1);
    let best = if depth == 0 { None } else { position.moves().map(below).max() };
    best.unwrap_or_else(|| position.value())
}

/// Settings of small searches, with a table.
pub fn settings() -> Settings {
    Settings { table_bytes: 1 << 16, grain: Some(1), poll_nodes: 256, ..Settings::default() }
}

fn search_all<B: Board>(
    search: &mut Search,
    positions: &[B],
    depth: u16,
) -> weft_search::Result<Vec<Judged>> {
    let of = |(number, position): (usize, &B)| {
        let strategy = [Strategy::MtdF, Strategy::AlphaBeta][number % 2];
        let plan = Plan { depth, strategy };
        search.best_move(position, plan, |_| std::ops::ControlFlow::Continue(()))
    };
    positions.iter().enumerate().map(of).collect()
}

/// Answers of ranks that are threads: what they say of positions.
pub fn on_threads<B: Board + Sync>(ranks: u16, positions: &[B], depth: u16) -> Vec<Judged> {
    let mut all = Job::new(ranks).packets(|packets| {
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let mut search = Search::new(&engine, barrier.team(), "game", settings()).unwrap();
        let judged = search_all(&mut search, positions, depth).unwrap();
        barrier.leave().unwrap();
        judged
    });
    all.swap_remove(0)
}

/// Answers of simulated ranks, and the time that they take.
pub fn simulated<B: Board + Sync>(
    ranks: u16,
    seed: u64,
    positions: Vec<B>,
    depth: u16,
) -> (Vec<Judged>, std::time::Duration) {
    let mut options = Options::new(ranks).unwrap();
    options.seed = seed;
    let report = Simulation::new(options).unwrap().run_joined(move |weft| {
        let search = Search::new(weft.engine(), weft.everyone(), "game", settings());
        let judged = search.and_then(|mut search| search_all(&mut search, &positions, depth));
        judged.map_err(|error| error.to_string())
    });
    let time = report.virtual_time;
    (report.into_values().unwrap().swap_remove(0), time)
}

/// Winners of positions of Connect Four on five columns of four: 1 if it is the player to
/// move, -1 if the other one is. By all lines to their ends, on columns of discs.
#[derive(Default)]
pub struct Solver(BTreeMap<u64, i8>);

impl Solver {
    pub fn outcome(&mut self, columns: &mut Vec<Vec<bool>>) -> i8 {
        // Of each column its discs, below a bit that says where they end.
        let digit =
            |column: &Vec<bool>| column.iter().fold(1, |all, disc| all << 1 | u64::from(*disc));
        let key = columns.iter().fold(0, |key, column| key << 5 | digit(column));
        if let Some(outcome) = self.0.get(&key) {
            return *outcome;
        }
        let player = columns.iter().map(Vec::len).sum::<usize>() % 2 == 1;
        let (mut best, mut any) = (-1, false);
        for column in 0..5 {
            if columns[column].len() == 4 {
                continue;
            }
            any = true;
            columns[column].push(player);
            let outcome = if wins(columns, column) { 1 } else { -self.outcome(columns) };
            columns[column].pop();
            best = best.max(outcome);
            if best == 1 {
                break;
            }
        }
        let outcome = if any { best } else { 0 };
        self.0.insert(key, outcome);
        outcome
    }
}

/// True if the last disc of a column is in a line of four.
fn wins(columns: &[Vec<bool>], column: usize) -> bool {
    let (x, y) = (column as i32, columns[column].len() as i32 - 1);
    let player = columns[column][y as usize];
    let at = |x: i32, y: i32| {
        let column = usize::try_from(x).ok().and_then(|x| columns.get(x));
        let disc = column.zip(usize::try_from(y).ok()).and_then(|(column, y)| column.get(y));
        disc == Some(&player)
    };
    [(1, 0), (0, 1), (1, 1), (1, -1)].into_iter().any(|(right, up)| {
        let run =
            |sign: i32| (1..4).take_while(|n| at(x + sign * n * right, y + sign * n * up)).count();
        run(1) + run(-1) >= 3
    })
}

/// The columns of discs that moves fill.
pub fn columns(moves: &[u8]) -> Vec<Vec<bool>> {
    let mut columns = vec![Vec::new(); 5];
    for (number, by) in moves.iter().enumerate() {
        columns[usize::from(*by)].push(number % 2 == 1);
    }
    columns
}
