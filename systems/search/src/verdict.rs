//! Plans of searches for values, and their results.

use crate::error::Result;
use crate::statistics::{Iteration, nanoseconds, told_length};
use std::time::Duration;
use weft_messaging::collective::Team;

/// Way to find the value of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Searches with null windows, each of which tells whether the value is so much, or more:
    /// MTD(f) (A. Plaat, J. Schaeffer, W. Pijls and A. de Bruin, 1996). They cut off most, and what
    /// one has found the table tells the next.
    #[default]
    MtdF,
    /// One search with all values in its window.
    AlphaBeta,
}

/// Extent of a search for the best move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Moves that it looks ahead at most. It begins with one, and each time looks one further.
    pub depth: u16,
    /// Way to find the value for each depth.
    pub strategy: Strategy,
}

impl Plan {
    /// A search to a depth, by MTD(f).
    pub fn to_depth(depth: u16) -> Self {
        Plan { depth, strategy: Strategy::default() }
    }

    /// A search to the end of the game, as far as the time allows.
    pub fn to_end() -> Self {
        Self::to_depth(u16::MAX)
    }
}

/// Result of a search to one depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deepened {
    /// Moves that it looked ahead.
    pub depth: u16,
    /// Value for the player to move.
    pub value: i16,
    /// The best move.
    pub best: u8,
    /// Searches with another window.
    pub probes: u32,
    /// Positions made by moves, without those whose search was cut.
    pub nodes: u64,
    /// Time, at rank 0.
    pub time: Duration,
}

/// Result of a search for the best move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Judged {
    /// Value for the player to move, as a search of [`Self::depth`] moves has it.
    pub value: i16,
    /// Moves that were looked ahead; 0 if there was time for none.
    pub depth: u16,
    /// Moves of best play by both, the first of which is the best move. It ends where the search
    /// does, or where there was no more time. Empty at the end of a game.
    pub line: Vec<u8>,
    /// True if the value is the outcome of the game, and no estimate is in it: all games that
    /// decide it were followed to their ends.
    pub is_exact: bool,
    /// True if the deadline was over, or somebody has stopped the search, before it was done.
    pub is_late: bool,
    /// Depths that were searched.
    pub depths: Vec<Deepened>,
    /// Work of all ranks, also of what was cut; its bound is the depth.
    pub work: Iteration,
}

/// Games from a position that are longer than its [`crate::Game::longest`], which is this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Longer(pub u16);

/// End of a search.
pub(crate) type Outcome = std::result::Result<Judged, Longer>;

/// Numbers of a depth.
const WORDS: usize = 6;

impl Deepened {
    pub(crate) fn emit(&self) -> [u64; WORDS] {
        let Deepened { depth, value, best, probes, nodes, time } = *self;
        let value = i64::from(value).cast_unsigned();
        [depth.into(), value, best.into(), probes.into(), nodes, nanoseconds(time)]
    }

    fn parse(&[depth, value, best, probes, nodes, time]: &[u64; WORDS]) -> Self {
        let (depth, value, best) = (depth as u16, value as i16, best as u8);
        let time = Duration::from_nanos(time);
        Deepened { depth, value, best, probes: probes as u32, nodes, time }
    }
}

impl Judged {
    /// The best move; `None` at the end of a game.
    pub fn best(&self) -> Option<u8> {
        self.line.first().copied()
    }

    fn spread(self, flags: u64, team: &Team) -> Result<Outcome> {
        let flags = flags | u64::from(self.is_exact) | u64::from(self.is_late) << 1;
        let value = i64::from(self.value).cast_unsigned();
        let (moves, depths) = (self.line.len() as u64, self.depths.len() as u64);
        let mut head = [value, self.depth.into(), flags, moves, depths];
        team.broadcast(0, &mut head)?;
        let [value, depth, flags, moves, depths] = head;
        let [moves, depths] = [told_length(moves)?, told_length(depths)?];
        let mut line = self.line;
        line.resize(moves, 0);
        team.broadcast(0, &mut line)?;
        let mut words: Vec<u64> = self.depths.iter().flat_map(Deepened::emit).collect();
        words.resize(depths * WORDS, 0);
        team.broadcast(0, &mut words)?;
        let mut work = self.work.emit();
        team.broadcast(0, &mut work)?;
        let (words, _) = words.as_chunks::<WORDS>();
        if flags & IS_LONGER != 0 {
            return Ok(Err(Longer(depth as u16)));
        }
        Ok(Ok(Judged {
            value: value as i16,
            depth: depth as u16,
            line,
            is_exact: flags & 1 != 0,
            is_late: flags & 2 != 0,
            depths: words.iter().map(Deepened::parse).collect(),
            work: Iteration::parse(&work),
        }))
    }
}

/// Flag of a game that is longer than it says: then there is no result.
const IS_LONGER: u64 = 4;

/// Gives all ranks what rank 0 has. Collective.
pub(crate) fn spread(outcome: Outcome, team: &Team) -> Result<Outcome> {
    match outcome {
        Ok(judged) => judged.spread(0, team),
        Err(Longer(depth)) => Judged { depth, ..Judged::default() }.spread(IS_LONGER, team),
    }
}
