//! Best-first search (A*; P. E. Hart, N. J. Nilsson and B. Raphael, 1968) with a bound: each rank
//! keeps the positions that it owns, and each is searched once, by the fewest moves that lead to it
//! (hash-distributed A*; A. Kishimoto, A. Fukunaga and A. Botea, 2009).
//!
//! An iteration searches all positions whose moves and lower bound come to its bound; those beyond
//! are kept, by what they come to, and the next iteration goes on with them. So none begins anew,
//! and the first solution is a shortest one, as everything that comes to less has been searched.
//!
//! Memory is bounded. A position for which there is no room is dropped and counted; then all are,
//! and what the iteration has found says nothing, unless it is a solution.

use crate::job::{JOB_BYTES, Job, Layout};
use crate::puzzle::Puzzle;
use crate::table::place;
use crate::worker::{Worked, Worker};
use std::marker::PhantomData;

/// A position that was reached.
#[derive(Clone, Copy, Default)]
struct Reached {
    hash: u64,
    /// Fewest moves that led to it, and one more; 0 for no position.
    moves: u16,
}

/// Places for each position that may be reached, in thirds: so that a free one is near.
const PLACES_IN_THIRDS: usize = 4;

/// Bytes of a position: the places of one that was reached, and the job of one that is kept.
const POSITION_BYTES: usize = size_of::<Reached>() * PLACES_IN_THIRDS / 3 + JOB_BYTES;

/// Searcher of a puzzle that keeps what it has reached.
pub(crate) struct AStar<P: Puzzle> {
    bound: u16,
    reached: Vec<Reached>,
    /// Free room: positions that may yet be reached, and jobs that may yet be kept.
    room: [usize; 2],
    /// Jobs that were not searched, by moves and lower bound.
    kept: Vec<Vec<Job>>,
    is_full: bool,
    found: Option<Vec<u8>>,
    worked: Worked,
    puzzle: PhantomData<fn() -> P>,
}

impl<P: Puzzle> AStar<P> {
    /// Division of this puzzle's jobs.
    pub const LAYOUT: Layout = Layout::new(P::BYTES, P::MOVE_BITS);

    /// A searcher that takes so many bytes.
    pub fn new(bytes: usize) -> Self {
        let positions = bytes / POSITION_BYTES;
        AStar {
            bound: 0,
            reached: vec![Reached::default(); positions * PLACES_IN_THIRDS / 3],
            room: [positions; 2],
            kept: Vec::new(),
            is_full: false,
            found: None,
            worked: Worked { excess: u64::MAX, ..Worked::default() },
            puzzle: PhantomData,
        }
    }

    /// Position of a job, and moves and lower bound together.
    fn open(job: &Job) -> Option<(P, u16)> {
        let position = P::decode(Self::LAYOUT.position(job))?;
        let fits = usize::from(job.depth()) <= Self::LAYOUT.room();
        let cost = job.depth().checked_add(position.lower_bound()).filter(|_| fits)?;
        Some((position, cost))
    }

    /// Notes that a position is reached by so many moves. False if it was by as few.
    fn reach(&mut self, hash: u64, moves: u16) -> bool {
        if self.room[0] == 0 {
            self.drop_one();
            return false;
        }
        let mut index = place(hash, self.reached.len());
        loop {
            let reached = &mut self.reached[index];
            if reached.moves == 0 {
                *reached = Reached { hash, moves: moves + 1 };
                self.room[0] -= 1;
                return true;
            }
            if reached.hash == hash {
                let is_nearer = moves + 1 < reached.moves;
                reached.moves = reached.moves.min(moves + 1);
                self.worked.hits += u64::from(!is_nearer);
                return is_nearer;
            }
            index = if index + 1 == self.reached.len() { 0 } else { index + 1 };
        }
    }

    /// Fewest moves that led to a position.
    fn moves_to(&self, hash: u64) -> Option<u16> {
        let start = place(hash, self.reached.len());
        let places = self.reached[start..].iter().chain(&self.reached[..start]);
        let found = places.take_while(|one| one.moves > 0).find(|one| one.hash == hash);
        found.map(|one| one.moves - 1)
    }

    fn keep(&mut self, job: &Job, cost: u16) {
        if self.room[1] == 0 {
            return self.drop_one();
        }
        self.room[1] -= 1;
        let cost = usize::from(cost);
        if self.kept.len() <= cost {
            self.kept.resize_with(cost + 1, Vec::new);
        }
        self.kept[cost].push(*job);
        self.note_excess(cost as u16);
    }

    fn drop_one(&mut self) {
        self.is_full = true;
        self.worked.dropped += 1;
    }

    fn note_excess(&mut self, cost: u16) {
        if let Some(excess @ 1..) = cost.checked_sub(self.bound) {
            self.worked.excess = self.worked.excess.min(excess.into());
        }
    }

    /// Makes the positions below one.
    fn expand(&mut self, position: &P, job: &Job, below: &mut Vec<(u64, Job)>) {
        if position.lower_bound() == 0 && position.is_goal() {
            self.found = Some(Self::LAYOUT.path(job));
            return;
        }
        if !Self::LAYOUT.has_room(job) {
            return self.drop_one();
        }
        for by in position.moves(Self::LAYOUT.last(job)) {
            self.worked.nodes += 1;
            let child = position.play(by);
            let job = Self::LAYOUT.child(job, by, |bytes| child.encode(bytes));
            below.push((child.hash(), job));
        }
    }
}

impl<P: Puzzle> Worker for AStar<P> {
    fn begin(&mut self, _: u32, bound: u16) {
        self.bound = bound;
        self.found = None;
        self.worked.excess = u64::MAX;
        let costs: Vec<usize> =
            (0..self.kept.len()).filter(|cost| !self.kept[*cost].is_empty()).collect();
        costs.into_iter().for_each(|cost| self.note_excess(cost as u16));
    }

    fn is_sound(&self, job: &Job) -> bool {
        Self::open(job).is_some()
    }

    fn take(&mut self, job: &Job, whole: bool, below: &mut Vec<(u64, Job)>) {
        let Some((position, cost)) = Self::open(job) else {
            unreachable!("jobs on the stack are sound")
        };
        if self.is_full || !self.reach(position.hash(), job.depth()) {
            return;
        }
        // What is to be searched whole would take long: it waits until others have been.
        match whole || cost > self.bound {
            true => self.keep(job, cost),
            false => self.expand(&position, job, below),
        }
    }

    fn take_kept(&mut self, below: &mut Vec<(u64, Job)>) -> bool {
        let within = self.kept.len().min(usize::from(self.bound) + 1);
        let Some(job) = self.kept[..within].iter_mut().find_map(Vec::pop) else { return false };
        self.room[1] += 1;
        let Some((position, _)) = Self::open(&job) else {
            unreachable!("jobs that are kept are sound")
        };
        // It may have been reached by fewer moves meanwhile.
        if !self.is_full && self.moves_to(position.hash()) == Some(job.depth()) {
            self.expand(&position, &job, below);
        }
        true
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn advance(&mut self, _: u64) {}

    fn stop(&mut self) {}

    fn take_found(&mut self) -> Option<Vec<u8>> {
        self.found.take()
    }

    fn worked(&self) -> Worked {
        self.worked
    }
}

#[cfg(test)]
mod tests;
