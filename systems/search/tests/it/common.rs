//! Puzzles and games of tests, and searches of them written down a second time, without jobs.

use std::sync::Arc;
use weft_messaging::collective::Team;
use weft_messaging::{Barrier, Engine};
use weft_search::{Game, Puzzle, Search, Settings};
use weft_threads::Job;

/// Pancakes of a stack.
pub const PANCAKES: usize = 9;

/// A stack of pancakes, the top one first: a move turns over the first two, or three, ...; sorted
/// it is solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stack(pub [u8; PANCAKES]);

impl Stack {
    /// The stack that a seed makes.
    pub fn random(seed: u64) -> Self {
        let mut pancakes = std::array::from_fn(|place| place as u8);
        fastrand::Rng::with_seed(seed).shuffle(&mut pancakes);
        Stack(pancakes)
    }

    /// Neighbours, the plate among them, that do not belong together: a move removes one at most.
    /// Half of them are a poorer bound, and a larger search.
    pub fn half_gaps(pancakes: &[u8]) -> u16 {
        let below = pancakes[1..].iter().chain([&(PANCAKES as u8)]);
        let pairs = pancakes.iter().zip(below);
        (pairs.filter(|(a, b)| a.abs_diff(**b) != 1).count() as u16).div_ceil(2)
    }
}

impl Puzzle for Stack {
    type Moves = std::vec::IntoIter<u8>;

    const BYTES: usize = PANCAKES;
    const MOVE_BITS: usize = 4;
    const GRAIN: u16 = 3;

    fn moves(&self, last: Option<u8>) -> Self::Moves {
        let moves: Vec<u8> = (1..PANCAKES as u8).filter(|by| Some(*by) != last).collect();
        moves.into_iter()
    }

    fn play(&self, by: u8) -> Self {
        let mut pancakes = self.0;
        pancakes[..=usize::from(by)].reverse();
        Stack(pancakes)
    }

    fn lower_bound(&self) -> u16 {
        Stack::half_gaps(&self.0)
    }

    fn is_goal(&self) -> bool {
        self.0.is_sorted()
    }

    fn hash(&self) -> u64 {
        let digits = self.0.iter().fold(0_u64, |digits, pancake| digits << 4 | u64::from(*pancake));
        let mixed = digits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    fn encode(&self, into: &mut [u8]) {
        into.copy_from_slice(&self.0);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let pancakes = <[u8; PANCAKES]>::try_from(bytes).ok()?;
        let mut sorted = pancakes;
        sorted.sort_unstable();
        (sorted == std::array::from_fn(|place| place as u8)).then_some(Stack(pancakes))
    }
}

/// Nodes of each iteration of a sequential IDA* with each bound, and the length of the solution.
pub fn deepen(start: Stack) -> (Vec<(u16, u64)>, u16) {
    let (mut iterations, mut bound) = (Vec::new(), Stack::half_gaps(&start.0));
    loop {
        let mut below = Below { bound, nodes: 1, next: u16::MAX, is_solved: start.is_goal() };
        below.search(&mut start.0.to_vec(), 0, usize::MAX);
        iterations.push((bound, below.nodes));
        if below.is_solved {
            return (iterations, bound);
        }
        bound = below.next;
    }
}

/// A depth-first search that goes on after it has found a solution.
struct Below {
    bound: u16,
    nodes: u64,
    next: u16,
    is_solved: bool,
}

impl Below {
    fn search(&mut self, pancakes: &mut Vec<u8>, depth: u16, last: usize) {
        for count in (2..=PANCAKES).filter(|count| *count != last) {
            pancakes[..count].reverse();
            self.nodes += 1;
            let least = depth + 1 + Stack::half_gaps(pancakes);
            if least > self.bound {
                self.next = self.next.min(least);
            } else {
                self.is_solved |= pancakes.is_sorted();
                self.search(pancakes, depth + 1, count);
            }
            pancakes[..count].reverse();
        }
    }
}

/// Noughts and crosses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noughts {
    own: u16,
    other: u16,
}

impl Noughts {
    pub const FIRST: Noughts = Noughts { own: 0, other: 0 };

    /// The position after so many random moves, or fewer.
    pub fn random(seed: u64, moves: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..moves).fold(Self::FIRST, |position, _| match random.choice(position.moves()) {
            Some(by) => position.play(by),
            None => position,
        })
    }

    fn is_won(squares: u16) -> bool {
        const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
        LINES.iter().any(|line| squares & line == *line)
    }

    fn free(&self) -> u16 {
        if Self::is_won(self.other) { 0 } else { 0o777 & !(self.own | self.other) }
    }
}

impl Game for Noughts {
    type Moves = std::vec::IntoIter<u8>;

    const BYTES: usize = 4;
    const GRAIN: u16 = 4;
    const MOST: i16 = 10;

    fn moves(&self) -> Self::Moves {
        let free = self.free();
        let moves: Vec<u8> = (0..9).filter(|square| free >> square & 1 == 1).collect();
        moves.into_iter()
    }

    fn play(&self, by: u8) -> Self {
        Noughts { own: self.other, other: self.own | 1 << by }
    }

    /// A quick win is better than a slow one. Otherwise the squares in the middle of lines.
    fn value(&self) -> i16 {
        let left = (0o777 & !(self.own | self.other)).count_ones() as i16;
        match (self.free(), left) {
            (0, left) if Self::is_won(self.other) => -left - 1,
            (0, _) => 0,
            _ => (self.own & 0o252).count_ones() as i16 - (self.other & 0o252).count_ones() as i16,
        }
    }

    fn longest(&self) -> u16 {
        (0o777 & !(self.own | self.other)).count_ones() as u16
    }

    fn hash(&self) -> u64 {
        let both = u64::from(self.own) << 9 | u64::from(self.other);
        (both + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
            .wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    fn encode(&self, into: &mut [u8]) {
        into[..2].copy_from_slice(&self.own.to_le_bytes());
        into[2..].copy_from_slice(&self.other.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, d] = *bytes else { return None };
        let (own, other) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        (own & other == 0 && own | other < 0o1000).then_some(Noughts { own, other })
    }
}

/// Noughts and crosses which says of itself that no game is longer than so many moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within<const MOVES: u16>(pub Noughts);

impl<const MOVES: u16> Game for Within<MOVES> {
    type Moves = <Noughts as Game>::Moves;

    const BYTES: usize = Noughts::BYTES;
    const GRAIN: u16 = Noughts::GRAIN;
    const MOST: i16 = Noughts::MOST;

    fn moves(&self) -> Self::Moves {
        self.0.moves()
    }

    fn play(&self, by: u8) -> Self {
        Within(self.0.play(by))
    }

    fn value(&self) -> i16 {
        self.0.value()
    }

    fn longest(&self) -> u16 {
        MOVES
    }

    fn hash(&self) -> u64 {
        self.0.hash()
    }

    fn encode(&self, into: &mut [u8]) {
        self.0.encode(into);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Noughts::decode(bytes).map(Within)
    }
}

/// Runs `program` on ranks that are threads, with a search each.
pub fn on_threads<T: Send>(
    ranks: u16,
    settings: Settings,
    program: impl Fn(&mut Search, &Arc<Engine>) -> T + Sync,
) -> Vec<T> {
    with_team(ranks, |team, engine| {
        let mut search = Search::new(engine, team, "search", settings).unwrap();
        program(&mut search, engine)
    })
}

/// Runs `program` on ranks that are threads.
pub fn with_team<T: Send>(ranks: u16, program: impl Fn(&Team, &Arc<Engine>) -> T + Sync) -> Vec<T> {
    Job::new(ranks).packets(|packets| {
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let result = program(barrier.team(), &engine);
        barrier.leave().unwrap();
        result
    })
}

/// A game of numbers without end: a position is one of few, so that many lines meet, and its
/// moves and value look random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tree(u16);

impl Tree {
    /// A position with moves.
    pub fn random(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let all = std::iter::repeat_with(|| Tree(random.u16(..) % 5000));
        all.into_iter().find(|tree| tree.moves().len() > 2).unwrap()
    }

    fn noise(self, by: u64) -> u64 {
        let mixed =
            (u64::from(self.0) << 8 | by).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 20
    }
}

impl Game for Tree {
    type Moves = std::ops::Range<u8>;

    const BYTES: usize = 2;
    const GRAIN: u16 = 3;
    const MOST: i16 = 50;

    fn moves(&self) -> Self::Moves {
        0..[0, 1, 2, 3, 4, 5, 4, 3][self.noise(255) as usize % 8]
    }

    fn play(&self, by: u8) -> Self {
        Tree((self.noise(by.into()) % 5000) as u16)
    }

    /// The extremes are not rare.
    fn value(&self) -> i16 {
        ((self.noise(254) % 141) as i16 - 70).clamp(-50, 50)
    }

    fn hash(&self) -> u64 {
        self.noise(253) << 20 ^ self.noise(252)
    }

    fn encode(&self, into: &mut [u8]) {
        into.copy_from_slice(&self.0.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Tree(u16::from_le_bytes(bytes.try_into().ok()?))).filter(|tree| tree.0 < 5000)
    }
}

/// Value of a position as minimax has it, so many moves ahead.
pub fn minimax<G: Game>(position: &G, depth: u16) -> i16 {
    let below = |by| -minimax(&position.play(by), depth - 1);
    let best = if depth == 0 { None } else { position.moves().map(below).max() };
    best.unwrap_or_else(|| position.value())
}
