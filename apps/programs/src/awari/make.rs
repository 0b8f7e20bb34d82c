//! Databases made and written, by all ranks.

use std::fmt;

use weft::prelude::*;
use weft_app_common::{
    Blocks, Mailboxes, Progress, Times, Traffic, gather_traffic, summary, thousands,
};

use crate::awari::database::{Database, Databases, Outcomes};
use crate::awari::error::Error;
use crate::awari::file::Files;
use crate::awari::index::count;
use crate::awari::options::MakeOptions;
use crate::awari::queues::Sent;
use crate::awari::solve::{Solver, Work};

/// Bytes of an update.
const UPDATE: u32 = size_of::<u32>() as u32;

/// Result of a run, at rank 0.
#[derive(Clone, Debug)]
pub struct Made {
    /// Databases that were made, of those that there are.
    pub made: u32,
    /// Of each database the positions by outcome, and the checksum.
    all: Vec<(Outcomes, u32)>,
    sent: Sent,
    rounds: u64,
    /// Times of all databases.
    pub times: Times,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
}

/// Makes the databases that are not there, and writes each when it is done. Collective; rank 0 gets
/// a report.
///
/// Rank 0 reads those that are there and gives them to all, so that all have the same. Each rank
/// writes its block of a file's values; rank 0 makes the file first, and at the end reads it before
/// it gives it its name.
///
/// # Errors
/// [`enum@Error`].
pub fn make(weft: &Weft, options: &MakeOptions) -> Result<Option<Made>, Error> {
    let files = Files::new(&options.directory);
    let _claim = at_first(weft, || files.claim())?;
    let progress = Bar::new(weft, &files, options);
    let (before, start) = (Traffic::so_far(weft.packets()), weft.now());
    let calls = options.calls.map(usize::from);
    let solver = Solver::new(weft, (options.batch / UPDATE) as usize, calls)?;
    let (mut known, mut work) = (Databases::default(), Work::default());
    let mut made = 0;
    for stones in 0..=options.stones {
        let there = match options.again {
            true => None,
            false => at_first(weft, || files.read(stones))?.flatten(),
        };
        let database = match share(weft, stones, there)? {
            Some(there) => there,
            None => {
                let (database, one) = solver.solve(&known, |done| progress.set(done))?;
                write(weft, &files, &database)?;
                progress.has_made(stones);
                work.add(one);
                made += 1;
                database
            }
        };
        known.push(database);
    }
    drop(progress);
    let times = Times { parallel: weft.now() - start, sequential: None };
    let traffic = Traffic::so_far(weft.packets()).since(before);
    let traffic = gather_traffic(&mut Mailboxes::open(weft, "awari")?, traffic)?;
    Ok(traffic.map(|traffic| {
        let databases = (0..=options.stones).filter_map(|stones| known.of(stones));
        let databases = databases.map(|database| (database.outcomes(), database.checksum()));
        let Work { sent, rounds } = work;
        Made { made, all: databases.collect(), sent, rounds, times, traffic }
    }))
}

/// Result of `action` at rank 0; elsewhere `None`.
fn at_first<T>(weft: &Weft, action: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
    if weft.rank() == 0 { action().map(Some) } else { Ok(None) }
}

/// Gives each rank the database that rank 0 has, if it has one. Collective.
pub(crate) fn share(
    weft: &Weft,
    stones: u32,
    there: Option<Database>,
) -> Result<Option<Database>, Error> {
    let mut is_there = [u8::from(there.is_some())];
    weft.broadcast(0, &mut is_there)?;
    if is_there == [0] {
        return Ok(None);
    }
    let mut values = match &there {
        Some(database) => database.values().to_vec(),
        None => vec![0; count(stones) as usize],
    };
    weft.broadcast(0, &mut values)?;
    let shared = there.or_else(|| Database::new(stones, values));
    Ok(Some(shared.expect("rank 0 has a value for each board, of no more stones than it has")))
}

/// Writes a database that all ranks have. Collective.
fn write(weft: &Weft, files: &Files, database: &Database) -> Result<(), Error> {
    let rank = weft.rank().index();
    let unfinished = at_first(weft, || files.begin(database.stones()))?;
    weft.barrier()?;
    let blocks = Blocks::new(database.values().len(), weft.size());
    files.write_values(rank, database, blocks.of(rank))?;
    weft.barrier()?;
    match unfinished {
        Some(unfinished) => unfinished.finish(database),
        None => Ok(()),
    }
}

impl Work {
    fn add(&mut self, work: Work) {
        self.rounds += work.rounds;
        self.sent.updates += work.sent.updates;
        self.sent.remote += work.sent.remote;
        self.sent.batches += work.sent.batches;
    }
}

/// Progress over all databases that are to be made, of which each board counts twice: when its
/// moves are looked at, and when its value is known.
struct Bar {
    bar: Progress,
    made: std::cell::Cell<usize>,
}

impl Bar {
    fn new(weft: &Weft, files: &Files, options: &MakeOptions) -> Self {
        let rank = weft.rank().index();
        let is_to_be = |stones: &u32| options.again || !files.path(*stones).exists();
        let stones = (0..=options.stones).filter(|stones| rank == 0 && is_to_be(stones));
        let length = stones.map(|stones| 2 * count(stones) as usize).sum();
        Bar { bar: Progress::new(rank, length, "databases"), made: 0.into() }
    }

    fn set(&self, done: usize) {
        self.bar.set(self.made.get() + done);
    }

    fn has_made(&self, stones: u32) {
        self.made.set(self.made.get() + 2 * count(stones) as usize);
        self.set(0);
    }
}

impl fmt::Display for Made {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(to, "stones  positions        won      drawn       lost    checksum")?;
        for (stones, (outcomes, checksum)) in (0..).zip(&self.all) {
            let Outcomes { won, drawn, lost } = *outcomes;
            let [all, won, drawn, lost] =
                [u64::from(count(stones)), won, drawn, lost].map(thousands);
            writeln!(to, "{stones:>6} {all:>10} {won:>10} {drawn:>10} {lost:>10} {checksum:>11}")?;
        }
        let (there, most) = (self.all.len() as u32, self.all.len() as u32 - 1);
        let all: u32 = (0..there).map(count).sum();
        let ranks = self.traffic.len();
        let held = all as usize + 3 * (count(most) as usize).div_ceil(ranks);
        let [all, held] = [u64::from(all), held as u64].map(thousands);
        writeln!(to, "{all} positions in {there} databases, of which {} were made now", self.made)?;
        let Sent { updates, remote, batches } = self.sent;
        let each = remote.checked_div(batches).unwrap_or_default();
        let [updates, batches, each, rounds] = [updates, batches, each, self.rounds].map(thousands);
        writeln!(
            to,
            "{updates} updates, {batches} batches between ranks of {each} each in the mean, \
             {rounds} rounds; a rank holds {held} bytes of values"
        )?;
        writeln!(to, "{}", summary(self.times, "", &self.traffic))
    }
}
