//! Alpha-beta by one rank: the best value that both players can be sure of, without positions that
//! cannot change it (D. E. Knuth and R. W. Moore, *An analysis of alpha-beta pruning*, 1975). What
//! it returns outside the window is a bound (fail-soft). It can stop anywhere and go on later.

use super::Window;
use super::values::Values;
use crate::game::Game;
use crate::worker::Worked;

/// Depth down to which the table is asked: below, a search is over sooner.
const TABLE_DEPTH: u16 = 2;

/// Depth down to which moves are sorted by the values that they lead to.
const SORTED_DEPTH: u16 = 2;

/// A move: what it leads to, and the value of that for the other player.
#[derive(Clone, Copy)]
pub(crate) struct Move<G> {
    pub by: u8,
    pub value: i16,
    pub child: G,
}

/// A position that is being searched.
struct Frame {
    hash: u64,
    depth: u16,
    window: Window,
    /// The best value so far, and the move to it.
    best: Option<(i16, u8)>,
    /// True if a position below at which games go on counts by its estimate.
    is_cut: bool,
    /// Places of its moves: the first, the next, and that after the last.
    first: usize,
    next: usize,
    end: usize,
}

/// Result of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub value: i16,
    pub best: Option<u8>,
    /// True if an estimate is in the value, of a position at which games go on. Without one it is
    /// the outcome of the game, whatever the depth.
    pub is_cut: bool,
}

impl Found {
    /// Value of a position below which nothing is searched.
    pub fn leaf<G: Game>(position: &G, is_cut: bool) -> Self {
        Found { value: position.value(), best: None, is_cut }
    }
}

/// Search by one rank.
pub(crate) struct Alone<G> {
    frames: Vec<Frame>,
    /// Moves of all frames, one behind the other.
    moves: Vec<Move<G>>,
}

impl<G: Game> Alone<G> {
    /// Nothing to search.
    pub fn new() -> Self {
        Alone { frames: Vec::new(), moves: Vec::new() }
    }

    /// Drops what is being searched.
    pub fn stop(&mut self) {
        self.frames.clear();
        self.moves.clear();
    }

    /// Begins to search a position, or returns what is known.
    pub fn begin(
        &mut self,
        position: &G,
        depth: u16,
        window: Window,
        values: &Values,
        worked: &mut Worked,
    ) -> Option<Found> {
        let depth = depth.min(position.longest());
        if depth == 0 {
            worked.leaves += 1;
            // One estimate is as good as several: it is asked for once for all moves of a position.
            let is_known = self.frames.last().is_some_and(|parent| parent.is_cut);
            let is_cut = is_known || position.moves().next().is_some();
            return Some(Found::leaf(position, is_cut));
        }
        let hash = position.hash();
        let known = (depth >= TABLE_DEPTH).then(|| values.known(hash)).flatten();
        if let Some(known) = known.filter(|known| known.depth == depth)
            && let Some(value) = known.answers(window)
        {
            worked.hits += 1;
            return Some(Found { value, best: known.best, is_cut: known.is_cut });
        }
        let first = self.moves.len();
        let best = known.and_then(|known| known.best);
        order(position, best, depth >= SORTED_DEPTH, &mut self.moves);
        let end = self.moves.len();
        if end == first {
            worked.leaves += 1;
            return Some(Found::leaf(position, false));
        }
        let (best, is_cut) = (None, false);
        self.frames.push(Frame { hash, depth, window, best, is_cut, first, next: first, end });
        None
    }

    /// Goes on for so many nodes, or few more; what was found once it is over.
    pub fn advance(
        &mut self,
        nodes: u64,
        values: &mut Values,
        worked: &mut Worked,
    ) -> Option<Found> {
        let until = worked.nodes + nodes;
        loop {
            let frame = self.frames.last_mut()?;
            let alpha = frame.alpha();
            if alpha >= frame.window.beta || frame.next == frame.end {
                let found = frame.found();
                if frame.depth >= TABLE_DEPTH {
                    values.note(frame.hash, frame.depth, frame.window, found);
                }
                self.moves.truncate(frame.first);
                self.frames.pop();
                match self.frames.last_mut() {
                    None => return Some(found),
                    Some(parent) => parent.take(&self.moves, found),
                }
                continue;
            }
            if worked.nodes >= until {
                return None;
            }
            let Move { child, .. } = self.moves[frame.next];
            frame.next += 1;
            worked.nodes += 1;
            let (below, window) =
                (frame.depth - 1, Window { alpha, beta: frame.window.beta }.turned());
            if let Some(found) = self.begin(&child, below, window, values, worked)
                && let Some(frame) = self.frames.last_mut()
            {
                frame.take(&self.moves, found);
            }
        }
    }
}

impl Frame {
    #[inline]
    fn alpha(&self) -> i16 {
        self.best.map_or(self.window.alpha, |(value, _)| value.max(self.window.alpha))
    }

    /// Takes what was found of the last move, for the other player.
    #[inline]
    fn take<G>(&mut self, moves: &[Move<G>], Found { value, is_cut, .. }: Found) {
        self.is_cut |= is_cut;
        if self.best.is_none_or(|(best, _)| -value > best) {
            self.best = Some((-value, moves[self.next - 1].by));
        }
    }

    fn found(&self) -> Found {
        let Some((value, by)) = self.best else { unreachable!("a frame has a move") };
        let best = (value > self.window.alpha).then_some(by);
        Found { value, best, is_cut: self.is_cut }
    }
}

/// Appends the moves of a position, in the order in which they are to be tried: the `best` one
/// that is known, then, if they are to be sorted, those to the lowest values of the other player.
pub(crate) fn order<G: Game>(
    position: &G,
    best: Option<u8>,
    sorted: bool,
    into: &mut Vec<Move<G>>,
) {
    let first = into.len();
    into.extend(position.moves().map(|by| {
        let child = position.play(by);
        let value = match Some(by) == best {
            true => i16::MIN,
            false if sorted => child.value(),
            false => 0,
        };
        Move { by, value, child }
    }));
    if sorted || best.is_some() {
        // Stable: of equal ones the game's own order stays.
        into[first..].sort_by_key(|one| one.value);
    }
}
