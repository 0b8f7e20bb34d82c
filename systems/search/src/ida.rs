//! IDA*: depth-first search of all positions whose moves so far and lower bound come to a bound, at
//! most; then with the next bound (R. E. Korf, *Depth-first iterative-deepening*, 1985).

use crate::job::{Job, Layout};
use crate::puzzle::Puzzle;
use crate::table::Table;
use crate::worker::{Worked, Worker};

/// A position that is being searched, and moves that were not made from it.
#[derive(Clone, Copy)]
struct Frame<P, M> {
    position: P,
    moves: M,
    /// The move that led to it.
    by: u8,
}

/// Searcher of jobs of a puzzle.
pub(crate) struct Ida<P: Puzzle> {
    bound: u16,
    iteration: u32,
    grain: u16,
    table: Option<Table>,
    /// Positions on the way to the one that is being searched, and that one. They are below `job`.
    frames: Vec<Frame<P, P::Moves>>,
    job: Option<Job>,
    found: Option<Vec<u8>>,
    worked: Worked,
}

/// Outcome of a move from a position with `left` moves left before it.
enum Made<P> {
    /// Excess over the bound.
    Beyond(u16),
    Goal,
    /// To be searched.
    Open(P),
}

/// Position after a move from one that may take `left` more.
#[inline(always)]
fn make<P: Puzzle>(position: &P, by: u8, left: u16) -> Made<P> {
    let child = position.play(by);
    let least = child.lower_bound() + 1;
    if least > left {
        return Made::Beyond(least - left);
    }
    if least == 1 && child.is_goal() {
        return Made::Goal;
    }
    Made::Open(child)
}

impl<P: Puzzle> Ida<P> {
    /// Division of this puzzle's jobs.
    pub const LAYOUT: Layout = Layout::new(P::BYTES, P::MOVE_BITS);

    /// A searcher that searches jobs whole that have so many moves left, or fewer.
    pub fn new(grain: u16, table: Option<Table>) -> Self {
        let worked = Worked { excess: u64::MAX, ..Worked::default() };
        let frames = Vec::new();
        Ida { bound: 0, iteration: 0, grain, table, frames, job: None, found: None, worked }
    }

    /// Position of a job, if it is one that this iteration can have reached.
    fn open(&self, job: &Job) -> Option<P> {
        let position = P::decode(Self::LAYOUT.position(job))?;
        let least = u32::from(job.depth()) + u32::from(position.lower_bound());
        let fits = usize::from(job.depth()) <= Self::LAYOUT.room();
        (fits && least <= self.bound.into()).then_some(position)
    }

    fn is_known(&mut self, position: &P, left: u16) -> bool {
        let iteration = self.iteration;
        let known =
            self.table.as_mut().is_some_and(|table| table.covers(position.hash(), left, iteration));
        self.worked.hits += u64::from(known);
        known
    }

    fn goal(&mut self, job: &Job, by: u8) {
        let below = self.frames.iter().skip(1).map(|frame| frame.by);
        let moves = Self::LAYOUT.path(job).into_iter().chain(below).chain([by]);
        self.found = Some(moves.collect());
    }

    /// Goes on below the frames. Without a table nothing of it is left in the loop.
    fn walk<const TABLE: bool>(&mut self, limit: u64) {
        let (Some(job), Some(mut frame)) = (self.job, self.frames.pop()) else { return };
        // Moves left before one from `frame`.
        let mut left = self.bound - job.depth() - self.frames.len() as u16;
        let (mut nodes, mut excess) = (0, u16::MAX);
        let goal = loop {
            let Some(by) = frame.moves.next() else {
                match self.frames.pop() {
                    Some(parent) => frame = parent,
                    None => {
                        self.job = None;
                        break None;
                    }
                }
                left += 1;
                continue;
            };
            nodes += 1;
            match make(&frame.position, by, left) {
                Made::Beyond(by) => excess = excess.min(by),
                Made::Goal => {
                    self.frames.push(frame);
                    break Some(by);
                }
                Made::Open(child) => {
                    if TABLE && self.is_known(&child, left - 1) {
                        continue;
                    }
                    let below = Frame { position: child, moves: child.moves(Some(by)), by };
                    self.frames.push(std::mem::replace(&mut frame, below));
                    left -= 1;
                    if nodes >= limit {
                        self.frames.push(frame);
                        break None;
                    }
                }
            }
        };
        self.worked.nodes += nodes;
        self.note_excess(excess);
        if let Some(by) = goal {
            self.goal(&job, by);
            self.stop();
        }
    }

    fn note_excess(&mut self, excess: u16) {
        if excess < u16::MAX {
            self.worked.excess = self.worked.excess.min(excess.into());
        }
    }
}

impl<P: Puzzle> Worker for Ida<P> {
    fn begin(&mut self, iteration: u32, bound: u16) {
        (self.iteration, self.bound) = (iteration, bound);
        self.worked.excess = u64::MAX;
        self.found = None;
        self.stop();
    }

    fn is_sound(&self, job: &Job) -> bool {
        self.open(job).is_some()
    }

    fn take(&mut self, job: &Job, whole: bool, below: &mut Vec<(u64, Job)>) {
        let Some(position) = self.open(job) else { unreachable!("jobs on the stack are sound") };
        let (left, last) = (self.bound - job.depth(), Self::LAYOUT.last(job));
        if self.is_known(&position, left) {
            return;
        }
        let moves = position.moves(last);
        if whole || left <= self.grain || !Self::LAYOUT.has_room(job) {
            self.job = Some(*job);
            self.frames.push(Frame { position, moves, by: 0 });
            return;
        }
        for by in moves {
            self.worked.nodes += 1;
            match make(&position, by, left) {
                Made::Beyond(by) => self.note_excess(by),
                Made::Goal => {
                    self.goal(job, by);
                    below.clear();
                    break;
                }
                Made::Open(child) => {
                    let job = Self::LAYOUT.child(job, by, |bytes| child.encode(bytes));
                    below.push((child.hash(), job));
                }
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    fn advance(&mut self, nodes: u64) {
        match self.table {
            None => self.walk::<false>(nodes),
            Some(_) => self.walk::<true>(nodes),
        }
    }

    fn stop(&mut self) {
        self.job = None;
        self.frames.clear();
    }

    fn take_found(&mut self) -> Option<Vec<u8>> {
        self.found.take()
    }

    fn worked(&self) -> Worked {
        self.worked
    }
}
