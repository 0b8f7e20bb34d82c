//! A task farm that goes on when ranks are lost, whichever and whenever, as long as one is left.
//!
//! The first rank of a team has the *desk*: it hands out tasks by calls, in portions, and those who
//! call for more report what they have done. When it is lost, the others shrink the team, bring
//! together what each of them knows, and the next first rank has the desk:
//!
//! ```text
//!         open                    work                 agree
//!   ┌──▶ gather, ── all well ──▶ call for ── told ───▶ all were told, ── yes ──▶ leave
//!   │    barrier                 portions   that all   the desk lives
//!   │       │                       │       is done        │
//!   │       │ a rank is lost        │ the desk is lost     │ no
//!   │       ▼                       ▼                      │
//!   └─── shrink, ◀───────────── agree ◀────────────────────┘
//!        grow
//! ```
//! | always | because |
//! |---|---|
//! | all that live take the same step | what a team does ends well at all members or at none; `agree` says the same to all; `shrink` gives all the same team |
//! | a desk is called by its own team, once it is open | there is a barrier between; who has called waits until the answer is there, or the desk is lost |
//! | whoever has done a task knows a mark above it | each portion says how many tasks have been handed out, its own among them |
//! | no task is left out | all that nobody who is left has done are missing, if they are below the mark, or still to come |
//! | no task counts twice | results are kept by task |
//!
//! *A worker is lost*: what it has reported is done, and what it held is handed out again. *The
//! desk is lost*: who works learns it by the next call. What only the desk knew is done again:
//! results that ranks lost before it had reported. *A rank is lost in the gather or the barrier*:
//! these fail at all, and all shrink the team again. *While the team shrinks, or agrees*: that goes
//! on without it. *Alone*, a rank calls itself. *Where there is room*, other ranks take the places
//! of the lost: each comes with empty books, to the next desk of a team that has grown by it.
//!
//! *At the end* the desk writes the last line, and then agrees. If it is not lost by the end of the
//! agreement the line is there, and all leave. Else nobody knows, and the next desk writes one: it
//! is there in any case, and another before it only if the desk that wrote it was lost right then.
//!
//! In a job that ends at a loss this is a farm like any other: each step fails then.

use clap::{Parser, value_parser};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft::collective::Team;
use weft::prelude::*;

/// Most tasks that are handed out at once.
const PORTION: u64 = 50;
/// Time until a rank that got no tasks calls again: others have the last of them.
const PAUSE: Duration = Duration::from_millis(1);

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- weft-example farm
  weft run --on-loss continue -n 8 -- weft-example farm --tasks 10000 --work 1000
                                        kill any of its processes but one, whenever you like";

/// Does tasks on all ranks, and goes on when some of them are lost
#[derive(Clone, Debug, Parser)]
#[command(name = "farm", after_help = EXAMPLES)]
pub struct FarmOptions {
    /// Number of tasks: the divisors of each number up to this are counted
    #[arg(long, value_name = "COUNT", default_value_t = 1000,
          value_parser = value_parser!(u64).range(1..=10_000_000))]
    tasks: u64,

    /// Least time that a task takes
    #[arg(long, value_name = "US", default_value_t = 0,
          value_parser = value_parser!(u64).range(..=60_000_000))]
    work: u64,
}

/// Tasks for a rank.
#[derive(Serialize, Deserialize, Default)]
struct Portion {
    tasks: Vec<u64>,
    handed_out: HandedOut,
    is_all_done: bool,
}

/// Number of tasks that were handed out.
#[derive(Serialize, Deserialize, Clone, Copy, Default)]
struct HandedOut {
    /// The mark: those up to this one were, at least once.
    up_to: u64,
    /// Those of them that were again, each time counted.
    again: u64,
}

#[weft::service]
trait Desk {
    /// Takes the results of `rank`, each with its task, and has more tasks for it.
    fn next(&self, rank: u16, results: Vec<(u64, u64)>) -> Portion;
}

/// Results and hand-outs that a rank knows of. At the desk it is all of them.
#[derive(Default)]
struct Books {
    /// Values by task.
    results: BTreeMap<u64, u64>,
    handed_out: HandedOut,
    /// Tasks below the mark that nobody works on and nobody has done.
    missing: BTreeSet<u64>,
    /// Tasks that a rank works on.
    held: BTreeMap<u16, Vec<u64>>,
    /// Members of the team.
    members: u64,
    /// Tenths of the tasks that were said to be done.
    tenths: u64,
    /// True once this rank has written the last line.
    are_closed: bool,
}

/// A rank of the farm.
struct Farm {
    weft: Weft,
    options: FarmOptions,
    books: Mutex<Books>,
}

/// Does all tasks, whoever is lost; then the first rank that is left says who has.
///
/// # Errors
/// A lost rank, in a job that does not go on.
pub fn farm(weft: Weft, options: &FarmOptions) -> weft::Result<()> {
    let (options, books) = (options.clone(), Mutex::default());
    let farm = Arc::new(Farm { weft: weft.clone(), options, books });
    let _server = DeskServer::new(&weft, Arc::clone(&farm))?;
    let client = DeskClient::new(&weft)?;
    let mut team = weft.everyone().clone();
    loop {
        if farm.open(&team)? {
            let first = team.member(0);
            let is_done = farm.work(&client, first)?;
            if is_done && first == weft.rank() {
                farm.report(&team);
            }
            let agreed = team.agree(u32::from(is_done))?;
            if agreed.flags == 1 && !agreed.lost.contains(&first) {
                return Ok(());
            }
        }
        team = farm.refill(team.shrink()?)?;
    }
}

impl Farm {
    /// Opens the desk of a team; false, at all members, if one of them was lost.
    fn open(&self, team: &Team) -> weft::Result<bool> {
        let known = self.books().known();
        let opened = team.gather_varied(0, &known).and_then(|all| {
            if let Some(all) = all {
                self.books().begin(&all);
            }
            team.barrier()
        });
        self.unless_lost(opened.map_err(weft::Error::from), |_| true)
    }

    /// The team with other ranks in the places of those that are lost, as far as there is room; all
    /// members come to the same.
    fn refill(&self, mut team: Team) -> weft::Result<Team> {
        let mut missing = self.weft.size().saturating_sub(team.size());
        while missing > 0 {
            match self.weft.grow(&team, missing) {
                Ok(grown) => return Ok(grown),
                Err(error) => match error.room_left() {
                    Some(left) => missing = left,
                    // All have lost the same, or are about to hear of it.
                    None if error.lost_rank().is_some() => {
                        team = team.shrink()?;
                        missing = self.weft.size().saturating_sub(team.size());
                    }
                    None => return Err(error),
                },
            }
        }
        Ok(team)
    }

    /// Does tasks until all are done; false if rank `first`, which hands them out, was lost.
    fn work(&self, desks: &DeskClient, first: Rank) -> weft::Result<bool> {
        let (desk, me) = (desks.at(first), self.weft.rank().0);
        let mut results = Vec::new();
        loop {
            let mut portion = Portion::default();
            let call = desk.next(me, std::mem::take(&mut results)).wait();
            let answered = call.map(|answer| portion = answer);
            if !self.unless_lost(answered, |rank| rank == first)? {
                return Ok(false);
            }
            if portion.is_all_done {
                return Ok(true);
            }
            if portion.tasks.is_empty() {
                self.weft.block_on(self.weft.sleep(PAUSE))?;
            }
            results.extend(portion.tasks.iter().map(|task| (*task, self.value(*task))));
            self.books().keep(&results, portion.handed_out);
        }
    }

    /// True if it has gone well; false if it has failed by the loss of a rank that is `awaited`, in
    /// a job that goes on.
    fn unless_lost(
        &self,
        outcome: weft::Result<()>,
        awaited: impl Fn(Rank) -> bool,
    ) -> weft::Result<bool> {
        match outcome {
            Ok(()) => Ok(true),
            Err(error) if self.weft.goes_on() && error.lost_rank().is_some_and(awaited) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The number of divisors of a task, in the time that it takes.
    fn value(&self, task: u64) -> u64 {
        let end = self.weft.now() + Duration::from_micros(self.options.work);
        let small = (1..=task.isqrt()).filter(|divisor| task.is_multiple_of(*divisor));
        let divisors = small.map(|divisor| if divisor * divisor == task { 1 } else { 2 }).sum();
        self.weft.work(task.isqrt());
        while self.weft.now() < end {
            self.weft.work(100);
        }
        divisors
    }

    /// Checks all results, and says whose they are, once.
    fn report(&self, team: &Team) {
        let (tasks, mut books) = (self.options.tasks, self.books());
        if std::mem::replace(&mut books.are_closed, true) {
            return;
        }
        // Each divisor counted with its multiples, instead of each number with its divisors.
        let expected: u64 = (1..=tasks).map(|divisor| tasks / divisor).sum();
        assert_eq!(books.results.values().sum::<u64>(), expected, "results are wrong");
        let mut lost: Vec<u16> = self.weft.losses().iter().map(|loss| loss.rank.0).collect();
        lost.sort_unstable();
        let again = books.handed_out.again;
        let left = team.size() - team.lost().len();
        let size = left + lost.len();
        println!(
            "{tasks} tasks done by {left} of {size} ranks, {again} of them handed out again; {}",
            named(&lost)
        );
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk for Arc<Farm> {
    fn next(&self, rank: u16, results: Vec<(u64, u64)>) -> Portion {
        let lost: Vec<u16> = self.weft.losses().iter().map(|loss| loss.rank.0).collect();
        let mut books = self.books();
        books.take_back(rank, &results);
        lost.iter().for_each(|lost| books.take_back(*lost, &[]));
        books.say_how_far(self.options.tasks);
        match lost.contains(&rank) {
            true => Portion::default(),
            false => books.hand_out(rank, self.options.tasks),
        }
    }
}

impl Books {
    /// The books of a rank for the next desk: what was handed out, then results by task.
    fn known(&self) -> Vec<[u64; 2]> {
        let HandedOut { up_to, again } = self.handed_out;
        let results = self.results.iter().map(|(task, value)| [*task, *value]);
        std::iter::once([up_to, again]).chain(results).collect()
    }

    /// Begins with what all ranks that are left know. None of them works on a task.
    fn begin(&mut self, all: &[Vec<[u64; 2]>]) {
        for [up_to, again] in all.iter().map(|known| known[0]) {
            self.keep(&[], HandedOut { up_to, again });
        }
        self.results
            .extend(all.iter().flat_map(|known| &known[1..]).map(|[task, value]| (task, value)));
        self.held.clear();
        self.members = all.len() as u64;
        let all_handed_out = 1..=self.handed_out.up_to;
        self.missing = all_handed_out.filter(|task| !self.results.contains_key(task)).collect();
    }

    /// Keeps results of this rank, and what the desk has said of hand-outs.
    fn keep(&mut self, results: &[(u64, u64)], handed_out: HandedOut) {
        self.results.extend(results.iter().copied());
        self.handed_out.up_to = self.handed_out.up_to.max(handed_out.up_to);
        self.handed_out.again = self.handed_out.again.max(handed_out.again);
    }

    /// Takes from a rank what it has done; what else it was to do is missing.
    fn take_back(&mut self, rank: u16, results: &[(u64, u64)]) {
        self.results.extend(results.iter().copied());
        let held = self.held.remove(&rank).unwrap_or_default();
        self.missing.extend(held.into_iter().filter(|task| !self.results.contains_key(task)));
    }

    /// Tasks for a rank: as many as each member of the team can have twice. Those that are missing
    /// come first.
    fn hand_out(&mut self, rank: u16, tasks: u64) -> Portion {
        let left = tasks - self.handed_out.up_to + self.missing.len() as u64;
        let count = left.div_ceil(2 * self.members).min(PORTION);
        let mut portion: Vec<u64> = (0..count).map_while(|_| self.missing.pop_first()).collect();
        self.handed_out.again += portion.len() as u64;
        let first = self.handed_out.up_to + 1;
        self.handed_out.up_to += count - portion.len() as u64;
        portion.extend(first..=self.handed_out.up_to);
        self.held.insert(rank, portion.clone());
        let is_all_done = self.results.len() as u64 == tasks;
        Portion { tasks: portion, handed_out: self.handed_out, is_all_done }
    }

    fn say_how_far(&mut self, tasks: u64) {
        let done = self.results.len() as u64;
        let tenths = 10 * done / tasks;
        if tenths > self.tenths && done < tasks {
            println!("{done} of {tasks} tasks are done");
        }
        self.tenths = tenths;
    }
}

/// Lost ranks, in words.
fn named(lost: &[u16]) -> String {
    match lost {
        [] => "nobody was lost".into(),
        [one] => format!("lost: rank {one}"),
        [others @ .., last] => {
            let others: Vec<String> = others.iter().map(u16::to_string).collect();
            format!("lost: ranks {} and {last}", others.join(", "))
        }
    }
}
