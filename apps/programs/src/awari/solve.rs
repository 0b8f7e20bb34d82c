//! A database from those of fewer stones, by all ranks (thesis 8.5.3).
//!
//! Board i belongs to rank i mod P, as its (i / P)-th. Each rank looks at the moves of its boards
//! once: captures and ends are exits, whose worth the smaller databases tell; of the other moves it
//! counts how many there are. From then on only *unmoves* are made. For each threshold t from n
//! down to 1:
//!
//! - a position becomes won by t (+t) if its best exit is t, or a position that follows is known to
//!   be -t;
//! - it becomes lost by t (-t) if no exit is better than -t, and all positions that follow are
//!   known to be t or more;
//! - whatever became known is told to its parents, which are updates to the ranks that own them.
//!
//! When nothing becomes known any more, the next threshold begins; what is unknown after the last
//! is 0.
//!
//! **Why this is right.** Let W be the positions that are won by t or more, and L those lost by t
//! or more, in the words of the crate's page: finite force, so the least sets with these rules, by
//! induction on the number of moves. The greater thresholds have found those of t + 1 or more. What
//! is added at t is derived by the same rules, and so belongs to W or L; and all of both is added,
//! since every update is applied, exits are looked at anew at each threshold, and a loss that waits
//! for its last open position is looked at when that is told. W and L have no position in common:
//! that its mover forces an exit worth t and its opponent one worth -t cannot both be. So the order
//! of updates makes no difference, and no rank can give a position another value than any other.
//!
//! **Rounds.** Positions that became known in a round are expanded in the next. A rank sends its
//! updates, waits until all are applied, and then all ranks add up how many positions they made
//! known: a reduction, which is a barrier too. With 0 the threshold is over. A rank that is ahead
//! may send for the next round while another one is still between the two, which is why a partition
//! has two lists. Rounds, updates and batches are thereby the same in each run.

use crate::awari::board::Board;
use crate::awari::database::{Database, Databases};
use crate::awari::error::Error;
use crate::awari::index::{board_of, count, index_of};
use crate::awari::partition::{NO_EXIT, Partition, PartitionOperations};
use crate::awari::queues::{Queues, Sent};
use weft::collective::Sum;
use weft::prelude::*;
use weft_object::{Handle, Objects, Placement, Types};

/// Boards between two reports of progress.
const REPORT_EVERY: usize = 4096;
/// Boards whose work is declared at once.
const LOOK_EVERY: usize = 64;
/// Operations of looking at a board: its moves, of which it has six at most, and their numbers.
const LOOK: u64 = 6;
/// Operations of an update: an unmove and its number, and what its receiver does.
const UPDATE: u64 = 2;

/// Maker of databases: the partitions of all ranks.
pub struct Solver<'a> {
    weft: &'a Weft,
    partitions: Vec<Handle<Partition>>,
    /// Updates of a full queue.
    capacity: usize,
    /// Calls under way, at most, if that is said.
    calls: Option<usize>,
    // Calls of other ranks are served as long as this lives.
    _objects: Objects,
}

/// Work for one database, or several: by all ranks together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Messages of all ranks.
    pub sent: Sent,
    /// Rounds.
    pub rounds: u64,
}

impl<'a> Solver<'a> {
    /// A solver whose queues hold `capacity` updates, with so many `calls` of a rank under way at
    /// most, or as many as are good. Collective.
    ///
    /// # Errors
    /// A lost rank.
    pub fn new(weft: &'a Weft, capacity: usize, calls: Option<usize>) -> Result<Self, Error> {
        let objects =
            Objects::new(weft.orders(), weft.rpc(), Types::default().with::<Partition>())?;
        let own = Placement::Single(weft.rank());
        objects.create(&name(weft.rank()), &Partition::default(), own)?;
        let partitions = weft.ranks().map(|rank| objects.find(&name(rank)));
        let partitions = partitions.collect::<weft_object::Result<_>>()?;
        Ok(Solver { weft, partitions, capacity, calls, _objects: objects })
    }

    /// Makes the database that follows those which are `known`, and gives it to each rank. Tells
    /// `progress` how many of its boards are done, of two for each. Collective.
    ///
    /// # Errors
    /// A lost rank.
    pub fn solve(
        &self,
        known: &Databases,
        progress: impl Fn(usize),
    ) -> Result<(Database, Work), Error> {
        let stones = known.len();
        self.start(known, stones, &progress)?;
        let work = self.resolve(stones, &progress)?;
        Ok((self.collect(stones)?, work))
    }

    /// Looks at the moves of this rank's boards.
    fn start(
        &self,
        known: &Databases,
        stones: u32,
        progress: &impl Fn(usize),
    ) -> Result<(), Error> {
        let (ranks, rank) = (self.weft.size(), self.weft.rank().index());
        let own = (rank as u32..count(stones)).step_by(ranks);
        let (mut open, mut exits) = (Vec::with_capacity(own.len()), Vec::with_capacity(own.len()));
        for index in own {
            let (follow, exit) = moves_of(&board_of(stones, index), stones, known);
            open.push(follow);
            exits.push(exit);
            if open.len() % REPORT_EVERY == 0 {
                progress(open.len() * ranks);
            }
            if open.len() % LOOK_EVERY == 0 {
                self.weft.work(LOOK_EVERY as u64 * LOOK);
            }
        }
        self.weft.work((open.len() % LOOK_EVERY) as u64 * LOOK);
        Ok(self.own().start(open, exits)?)
    }

    /// Finds all values but 0.
    fn resolve(&self, stones: u32, progress: &impl Fn(usize)) -> Result<Work, Error> {
        let rank = self.weft.rank().index();
        let mut queues = Queues::new(&self.partitions, rank, self.capacity, self.calls);
        let (mut round, mut done) = (0, count(stones) as usize);
        for threshold in (1..=stones as i8).rev() {
            let mut learnt = u64::from(self.own().seed(threshold, round)?);
            loop {
                let all = self.sum([learnt])?[0];
                if all == 0 {
                    break;
                }
                done += all as usize;
                progress(done);
                self.expand(stones, threshold, round, &mut queues)?;
                learnt = queues.flush(threshold, round)?;
                round += 1;
            }
        }
        let Sent { updates, remote, batches } = queues.sent();
        let [updates, remote, batches] = self.sum([updates, remote, batches])?;
        Ok(Work { sent: Sent { updates, remote, batches }, rounds: round.into() })
    }

    /// Tells the parents of what became known for this round.
    fn expand(
        &self,
        stones: u32,
        threshold: i8,
        round: u32,
        queues: &mut Queues<'_>,
    ) -> Result<(), Error> {
        let (ranks, rank) = (self.weft.size() as u32, self.weft.rank().index() as u32);
        for update in self.own().take(round)? {
            let (place, is_won) = (update >> 1, update & 1);
            let mut made = 0;
            board_of(stones, place * ranks + rank).unmoves(|parent| {
                let index = index_of(&parent);
                let update = (index / ranks) << 1 | is_won;
                made += 1;
                queues.push((index % ranks) as usize, update, threshold, round)
            })?;
            self.weft.work(made * UPDATE);
        }
        Ok(())
    }

    /// Gives all values to each rank.
    fn collect(&self, stones: u32) -> Result<Database, Error> {
        let (ranks, all) = (self.weft.size(), count(stones) as usize);
        let mut values = self.own().finish()?;
        // All ranks bring as many.
        let each = all.div_ceil(ranks);
        values.resize(each, 0);
        let parts = self.weft.all_gather(&values)?;
        let value = |index: usize| parts[index % ranks * each + index / ranks];
        let database = Database::new(stones, (0..all).map(value).collect());
        Ok(database.expect("there is a value for each board, of no more stones than it has"))
    }

    fn own(&self) -> &Handle<Partition> {
        &self.partitions[self.weft.rank().index()]
    }

    fn sum<const N: usize>(&self, mut values: [u64; N]) -> Result<[u64; N], Error> {
        self.weft.all_reduce(&mut values, Sum)?;
        Ok(values)
    }
}

/// Name of the partition of a rank.
fn name(rank: Rank) -> String {
    format!("awari.{rank}")
}

/// Number of positions that follow without a capture, and the best exit.
pub fn moves_of(board: &Board, stones: u32, known: &Databases) -> (u8, i8) {
    let (mut open, mut exit) = (0, NO_EXIT);
    for (_, played) in board.moves() {
        if played.captured == 0 {
            open += 1;
        } else {
            let left = stones - u32::from(played.captured);
            exit = exit.max(played.captured as i8 - known.value_of(left, &played.board));
        }
    }
    if open == 0 && exit == NO_EXIT {
        exit = board.lead();
    }
    (open, exit)
}
