//! Enumeration: the number of ways to play so many moves (perft).

use crate::game::Game;
use crate::job::{Job, Layout};
use crate::worker::{Worked, Worker};

/// Counter of the lines of a game.
pub(crate) struct Perft<G: Game> {
    depth: u16,
    grain: u16,
    /// Positions on the way to the one whose moves are counted, with moves that were not made.
    frames: Vec<(G, G::Moves)>,
    /// Moves from the start to the first of them.
    top: u16,
    worked: Worked,
}

impl<G: Game> Perft<G> {
    /// Division of this game's jobs, which do not say how they came about.
    pub const LAYOUT: Layout = Layout::new(G::BYTES, 8);

    /// A counter that counts jobs whole that have so many moves left, or fewer.
    pub fn new(grain: u16) -> Self {
        let worked = Worked { excess: u64::MAX, ..Worked::default() };
        Perft { depth: 0, grain, frames: Vec::new(), top: 0, worked }
    }

    /// Position of a job, and moves left.
    fn open(&self, job: &Job) -> Option<(G, u16)> {
        let left = self.depth.checked_sub(job.depth())?;
        Some((G::decode(Self::LAYOUT.position(job))?, left))
    }

    /// Counts the lines that end `left` moves after `position`, and says that it has, if
    /// that is no more than one.
    fn count_near(&mut self, position: &G, left: u16) -> bool {
        if left > 1 {
            return false;
        }
        let leaves = if left == 0 { 1 } else { position.count_moves() };
        self.worked.leaves += leaves;
        self.worked.nodes += if left == 0 { 0 } else { leaves };
        true
    }
}

impl<G: Game> Worker for Perft<G> {
    fn begin(&mut self, _: u32, depth: u16) {
        self.depth = depth;
        self.stop();
    }

    fn is_sound(&self, job: &Job) -> bool {
        self.open(job).is_some()
    }

    fn take(&mut self, job: &Job, whole: bool, below: &mut Vec<(u64, Job)>) {
        let Some((position, left)) = self.open(job) else {
            unreachable!("jobs on the stack are sound")
        };
        if self.count_near(&position, left) {
            return;
        }
        let moves = position.moves();
        if whole || left <= self.grain {
            self.top = job.depth();
            self.frames.push((position, moves));
            return;
        }
        for by in moves {
            self.worked.nodes += 1;
            let child = position.play(by);
            let job = Self::LAYOUT.start(|bytes| child.encode(bytes)).at_depth(job.depth() + 1);
            below.push((child.hash(), job));
        }
    }

    fn is_idle(&self) -> bool {
        self.frames.is_empty()
    }

    fn advance(&mut self, nodes: u64) {
        let until = self.worked.nodes + nodes;
        while let Some((position, moves)) = self.frames.last_mut() {
            let Some(by) = moves.next() else {
                self.frames.pop();
                continue;
            };
            let child = position.play(by);
            self.worked.nodes += 1;
            let left = self.depth - self.top - self.frames.len() as u16;
            if !self.count_near(&child, left) {
                self.frames.push((child, child.moves()));
            }
            if self.worked.nodes >= until {
                return;
            }
        }
    }

    fn stop(&mut self) {
        self.frames.clear();
    }

    fn take_found(&mut self) -> Option<Vec<u8>> {
        None
    }

    fn worked(&self) -> Worked {
        self.worked
    }
}
