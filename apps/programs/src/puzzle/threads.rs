//! IDA* by bare threads: each takes the next subtree of those that lie some
//! moves below the root.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};

use weft_app_common::crew;
use weft_search::Puzzle;

use crate::puzzle::board::Board;
use crate::puzzle::input::{Instance, instances};
use crate::puzzle::options::Options;
use crate::puzzle::run::Error;

/// Subtrees of an iteration, at least, for each thread.
const SUBTREES: usize = 256;
/// Moves above a subtree, at most.
const DEPTH: u16 = 20;
/// Nodes between two looks whether another thread has found a solution.
const LOOK_EVERY: u64 = 1024;

/// Solves all boards by so many threads, one after the other. Returns the time that they took.
///
/// # Errors
/// Boards that are none, or a length that is not the known one.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let mut time = Duration::ZERO;
    for Instance { name, board, moves } in instances(options)? {
        let start = Instant::now();
        let found = search(&board, options.most_moves.unwrap_or(u16::MAX), threads);
        time += start.elapsed();
        match (found.moves, moves) {
            (Some(found), Some(expected)) if found != expected => {
                return Err(Error::Wrong { name, found: found.into(), expected });
            }
            (None, Some(expected)) if options.most_moves.is_some_and(|most| most >= expected) => {
                return Err(Error::Missed { name, expected });
            }
            _ => {}
        }
    }
    Ok(time)
}

/// Outcome of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Number of moves of a shortest solution; `None` if it has more than were asked for.
    pub moves: Option<u16>,
    /// Nodes of each iteration without a solution, by its bound.
    pub nodes: Vec<(u16, u64)>,
}

/// Searches with one bound after the other, up to `most`. The board can be solved.
pub fn search(board: &Board, most: u16, threads: usize) -> Found {
    let mut nodes = Vec::new();
    // A move changes the parity of the distance.
    for bound in (board.lower_bound()..=most).step_by(2) {
        match iterate(board, bound, threads) {
            None => return Found { moves: Some(bound), nodes },
            Some(count) => nodes.push((bound, count)),
        }
    }
    Found { moves: None, nodes }
}

/// A position: after which move, and how many moves below the root.
#[derive(Clone, Copy)]
struct Node {
    board: Board,
    last: Option<u8>,
    depth: u16,
}

/// Rest of an iteration, which is to be searched.
struct Iteration {
    bound: u16,
    subtrees: Vec<Node>,
    next: AtomicUsize,
    found: AtomicBool,
    nodes: AtomicU64,
}

/// One iteration; its nodes if it has no solution.
fn iterate(board: &Board, bound: u16, threads: usize) -> Option<u64> {
    let mut count = 0;
    let mut subtrees = vec![Node { board: *board, last: None, depth: 0 }];
    while !subtrees.is_empty() && subtrees.len() < SUBTREES * threads && subtrees[0].depth < DEPTH {
        if subtrees.iter().any(|node| node.board.is_goal()) {
            return None;
        }
        count += subtrees.len() as u64;
        subtrees = subtrees.iter().flat_map(|node| below(node, bound)).collect();
    }
    let iteration = Iteration {
        bound,
        subtrees,
        next: AtomicUsize::new(0),
        found: AtomicBool::new(false),
        nodes: AtomicU64::new(count),
    };
    crew(threads, |_| iteration.search());
    (!iteration.found.into_inner()).then_some(iteration.nodes.into_inner())
}

/// The positions that follow, as far as the bound lets them.
fn below(node: &Node, bound: u16) -> impl Iterator<Item = Node> + use<> {
    let Node { board, last, depth } = *node;
    board.moves(last).filter_map(move |by| {
        let next = Node { board: board.play(by), last: Some(by), depth: depth + 1 };
        (next.depth + next.board.lower_bound() <= bound).then_some(next)
    })
}

impl Iteration {
    fn search(&self) {
        let mut search = Search { iteration: self, nodes: 0 };
        while let Some(node) = self.subtrees.get(self.next.fetch_add(1, Relaxed)) {
            let left = self.bound - node.depth;
            if self.found.load(Relaxed) || search.dive(&node.board, node.last, left) {
                self.found.store(true, Relaxed);
                break;
            }
        }
        self.nodes.fetch_add(search.nodes, Relaxed);
    }
}

/// A thread's search.
struct Search<'a> {
    iteration: &'a Iteration,
    nodes: u64,
}

impl Search<'_> {
    /// True if a solution was found below a position, by whomever.
    fn dive(&mut self, board: &Board, last: Option<u8>, left: u16) -> bool {
        self.nodes += 1;
        if board.is_goal() {
            return true;
        }
        if self.nodes.is_multiple_of(LOOK_EVERY) && self.iteration.found.load(Relaxed) {
            return true;
        }
        board.moves(last).any(|by| {
            let next = board.play(by);
            next.lower_bound() < left && self.dive(&next, Some(by), left - 1)
        })
    }
}

#[cfg(test)]
mod tests;
