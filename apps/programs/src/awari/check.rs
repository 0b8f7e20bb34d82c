//! Databases checked: their checksums, and that each value is the best of the moves.

use std::fmt;

use weft::prelude::*;
use weft_app_common::{Progress, thousands};

use crate::awari::board::{Board, Played};
use crate::awari::database::Databases;
use crate::awari::error::Error;
use crate::awari::file::Files;
use crate::awari::index::{MOST_STONES, board_of, count};
use crate::awari::make::share;
use crate::awari::options::CheckOptions;

/// Boards between two reports of progress.
const REPORT_EVERY: usize = 4096;

/// Result of a check that found nothing.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Databases.
    databases: u32,
    /// Positions whose values were compared.
    positions: u64,
    /// Positions that there are.
    all: u64,
}

/// Reads databases and compares each value with those of its moves, a share at each rank.
/// Collective; every rank gets the outcome.
///
/// # Errors
/// [`Error::Damaged`], [`Error::Missing`], [`Error::Wrong`], or a lost rank.
pub fn check(weft: &Weft, options: &CheckOptions) -> Result<Option<Checked>, Error> {
    let files = Files::new(&options.directory);
    let mut most = [options.stones.unwrap_or_else(|| largest(&files))];
    weft.broadcast(0, &mut most)?;
    let known = read(weft, &files, most[0])?;
    let sizes = (0..=most[0]).map(|stones| u64::from(count(stones)));
    let numbers = |all: u64| options.sample.map_or(all, |sample| all.min(sample.into()));
    let (all, positions) = (sizes.clone().sum(), sizes.clone().map(numbers).sum());
    let progress = Progress::new(weft.rank().index(), positions as usize, "positions");
    let mut done = 0;
    for (stones, size) in (0..).zip(sizes) {
        let compared = numbers(size);
        let share = (weft.rank().index() as u64..compared).step_by(weft.size());
        let mut wrong = Wrong::default();
        for (step, number) in share.enumerate() {
            let index = (u128::from(number) * u128::from(size) / u128::from(compared)) as u32;
            wrong.look(&known, stones, index);
            if step % REPORT_EVERY == 0 {
                progress.set(done + number as usize);
            }
        }
        done += compared as usize;
        weft.work(compared / weft.size() as u64);
        wrong.of_all(weft)?.told(&files, &known, stones)?;
    }
    Ok(Some(Checked { databases: most[0] + 1, positions, all }))
}

/// Stones of the largest database that is there; 0 if there is none.
fn largest(files: &Files) -> u32 {
    (0..=MOST_STONES).rfind(|&stones| files.path(stones).exists()).unwrap_or_default()
}

/// Reads databases at rank 0 and gives them to all.
fn read(weft: &Weft, files: &Files, most: u32) -> Result<Databases, Error> {
    let mut known = Databases::default();
    for stones in 0..=most {
        let there = if weft.rank() == 0 { Some(files.need(stones)?) } else { None };
        share(weft, stones, there)?.into_iter().for_each(|database| known.push(database));
    }
    Ok(known)
}

/// Best of a board's moves; at the end of a game, what each side takes.
///
/// # Panics
/// There is no database of so many stones, or of fewer.
pub fn value_by_moves(known: &Databases, board: &Board) -> i8 {
    let stones = board.stones();
    let worth = |played: Played| {
        let left = stones - u32::from(played.captured);
        played.captured as i8 - known.value_of(left, &played.board)
    };
    board.moves().map(|(_, played)| worth(played)).max().unwrap_or_else(|| board.lead())
}

/// Wrong values of a database.
#[derive(Clone, Copy)]
struct Wrong {
    count: u64,
    /// Index of the first.
    first: u64,
}

impl Default for Wrong {
    fn default() -> Self {
        Wrong { count: 0, first: u64::MAX }
    }
}

impl Wrong {
    fn look(&mut self, known: &Databases, stones: u32, index: u32) {
        let board = board_of(stones, index);
        if known.value_of(stones, &board) != value_by_moves(known, &board) {
            self.count += 1;
            self.first = self.first.min(index.into());
        }
    }

    /// Those that all ranks have found. Collective.
    fn of_all(self, weft: &Weft) -> Result<Wrong, Error> {
        let all = weft.all_gather(&[self.count, self.first])?;
        let join = |wrong: Wrong, found: &[u64]| Wrong {
            count: wrong.count + found[0],
            first: wrong.first.min(found[1]),
        };
        Ok(all.chunks_exact(2).fold(Wrong::default(), join))
    }

    fn told(self, files: &Files, known: &Databases, stones: u32) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        let board = board_of(stones, self.first as u32);
        let (stored, expected) = (known.value_of(stones, &board), value_by_moves(known, &board));
        let path = files.path(stones);
        Err(Error::Wrong { path, wrong: self.count, board, stored, expected })
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [compared, all] = [self.positions, self.all].map(thousands);
        writeln!(
            to,
            "{} databases: all checksums are right, and so are {compared} of {all} values, each \
             by those of its moves",
            self.databases
        )
    }
}
