//! The game and its values once more, slowly, and by nothing but what the crate's page says: boards
//! with sides that do not turn, no numbers of boards, no unmoves, and the definition of won and
//! lost, each threshold by itself, until nothing changes.

use std::collections::BTreeMap;

/// Stones in the pits of the south side (0 to 5) and the north side, counter-clockwise, and who is
/// to move: 0 for south.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    pits: [u8; 12],
    mover: usize,
}

/// An exit, or a position that follows.
#[derive(Clone, Copy)]
enum Follows {
    Exit(i32),
    Position(usize),
}

/// Values of all positions of so many stones with south to move, by their pits.
pub type Values = BTreeMap<[u8; 12], i32>;

impl Position {
    fn side(player: usize) -> std::ops::Range<usize> {
        player * 6..player * 6 + 6
    }

    fn has(&self, player: usize) -> i32 {
        Self::side(player).map(|pit| i32::from(self.pits[pit])).sum()
    }

    /// Pits as its mover sees them.
    fn key(&self) -> [u8; 12] {
        std::array::from_fn(|pit| self.pits[(pit + 6 * self.mover) % 12])
    }

    /// All legal moves: stones captured, and what follows.
    fn moves(&self) -> Vec<(i32, Position)> {
        let other = 1 - self.mover;
        let mut moves = Vec::new();
        for pit in Self::side(self.mover).filter(|&pit| self.pits[pit] > 0) {
            let ring = (pit + 1..).map(|at| at % 12).filter(|&at| at != pit);
            let sown: Vec<usize> = ring.take(self.pits[pit].into()).collect();
            let mut after = Position { pits: self.pits, mover: other };
            after.pits[pit] = 0;
            sown.iter().for_each(|&at| after.pits[at] += 1);
            if self.has(other) == 0 && after.has(other) == 0 {
                continue;
            }
            let mut taken = after;
            let mut at = *sown.last().unwrap();
            while Self::side(other).contains(&at) && [2, 3].contains(&taken.pits[at]) {
                taken.pits[at] = 0;
                at = (at + 11) % 12;
            }
            if taken.has(other) == 0 {
                taken = after;
            }
            let captured = after.has(other) - taken.has(other);
            moves.push((captured, taken));
        }
        moves
    }
}

/// Legal moves of a board: stones captured, and the board as the next mover sees it.
pub fn moves_of(pits: [u8; 12]) -> Vec<(i32, [u8; 12])> {
    let moves = Position { pits, mover: 0 }.moves().into_iter();
    moves.map(|(captured, next)| (captured, next.key())).collect()
}

/// All ways to put so many stones into the pits from `pit` on.
fn boards(stones: u8, pit: usize, pits: &mut [u8; 12], visit: &mut impl FnMut([u8; 12])) {
    if pit == 11 {
        pits[11] = stones;
        return visit(*pits);
    }
    for here in 0..=stones {
        pits[pit] = here;
        boards(stones - here, pit + 1, pits, visit);
    }
}

/// Values of all positions of up to so many stones, by the number of stones.
pub fn all_values(most: u8) -> Vec<Values> {
    let mut known = Vec::new();
    for stones in 0..=most {
        let next = values(stones, &known);
        known.push(next);
    }
    known
}

/// Values of all positions of so many stones, from those of fewer.
fn values(stones: u8, known: &[Values]) -> Values {
    let mut keys = Vec::new();
    boards(stones, 0, &mut [0; 12], &mut |pits| keys.push(pits));
    let places: BTreeMap<_, _> =
        keys.iter().enumerate().map(|(place, key)| (*key, place)).collect();
    let follows: Vec<_> = keys.iter().map(|key| follows(*key, known, &places)).collect();
    let mut values = vec![0; keys.len()];
    for threshold in 1..=i32::from(stones) {
        let (won, lost) = forced(&follows, threshold);
        for place in 0..values.len() {
            assert!(!(won[place] && lost[place]), "{:?} is won and lost", keys[place]);
            if won[place] {
                values[place] = threshold;
            } else if lost[place] {
                values[place] = -threshold;
            }
        }
    }
    keys.into_iter().zip(values).collect()
}

fn follows(key: [u8; 12], known: &[Values], places: &BTreeMap<[u8; 12], usize>) -> Vec<Follows> {
    let position = Position { pits: key, mover: 0 };
    let moves = position.moves();
    if moves.is_empty() {
        return vec![Follows::Exit(position.has(0) - position.has(1))];
    }
    let follow = |(captured, next): (i32, Position)| match captured {
        0 => Follows::Position(places[&next.key()]),
        _ => {
            let left: u8 = next.pits.iter().sum();
            Follows::Exit(captured - known[usize::from(left)][&next.key()])
        }
    };
    moves.into_iter().map(follow).collect()
}

/// Positions in which the mover can force an exit worth `threshold`, and those in which its
/// opponent can: the least sets, found by looking at all positions again until nothing changes.
fn forced(follows: &[Vec<Follows>], threshold: i32) -> (Vec<bool>, Vec<bool>) {
    let (mut won, mut lost) = (vec![false; follows.len()], vec![false; follows.len()]);
    loop {
        let mut changes = false;
        for (place, follows) in follows.iter().enumerate() {
            let wins = |follow: &Follows| match *follow {
                Follows::Exit(worth) => worth >= threshold,
                Follows::Position(next) => lost[next],
            };
            let loses = |follow: &Follows| match *follow {
                Follows::Exit(worth) => worth <= -threshold,
                Follows::Position(next) => won[next],
            };
            let (is_won, is_lost) = (follows.iter().any(wins), follows.iter().all(loses));
            changes |= is_won != won[place] || is_lost != lost[place];
            (won[place], lost[place]) = (is_won, is_lost);
        }
        if !changes {
            return (won, lost);
        }
    }
}
