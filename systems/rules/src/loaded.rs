//! Positions of rules that were loaded, as a search wants them.
//!
//! A position is the number of its library and the bytes of the rules. Their types say how much
//! room there is, so that small positions leave some for moves in a job.

use crate::library::Library;
use std::ffi::CString;
use weft_search::{Game, Puzzle};

/// A position: the number of its library, and its bytes. `MOVES` are the most moves, and `BITS` are
/// those of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loaded<const BYTES: usize, const MOVES: usize, const BITS: usize> {
    bytes: [u8; BYTES],
}

/// Moves of a position.
#[derive(Clone, Copy)]
pub struct Moves<const MOVES: usize> {
    moves: [u8; MOVES],
    at: u8,
    end: u8,
}

/// A position that is read and written as text.
pub trait Written: Sized {
    /// The position as text: a picture, if its rules write one.
    fn text(&self) -> String;

    /// A position of the same game, from a text; `None` if it is none.
    fn read(&self, text: &str) -> Option<Self>;
}

/// Something to do with the positions of a game, whatever their type.
pub trait GameVisitor {
    /// Result.
    type Output;

    /// Does it, given the first position.
    fn visit<G: Game + Written>(self, first: G) -> Self::Output;
}

/// Something to do with the positions of a puzzle, whatever their type.
pub trait PuzzleVisitor {
    /// Result.
    type Output;

    /// Does it, given the first position.
    fn visit<P: Puzzle + Written>(self, first: P) -> Self::Output;
}

impl Library {
    /// Does something with the game. A puzzle is one without values, whose lines can be counted.
    pub fn game<V: GameVisitor>(self, visitor: V) -> V::Output {
        match (1 + self.bytes(), self.numbers()) {
            (..=17, ..=94) => visitor.visit(Loaded::<17, 94, 8>::first(self)),
            (..=17, _) => visitor.visit(Loaded::<17, 254, 8>::first(self)),
            (_, ..=94) => visitor.visit(Loaded::<30, 94, 8>::first(self)),
            _ => visitor.visit(Loaded::<30, 254, 8>::first(self)),
        }
    }

    /// Does something with the puzzle, if it is one.
    pub fn puzzle<V: PuzzleVisitor>(self, visitor: V) -> Option<V::Output> {
        if self.players() != 1 {
            return None;
        }
        Some(match (1 + self.bytes(), self.numbers()) {
            (..=9, ..=4) => visitor.visit(Loaded::<9, 4, 2>::first(self)),
            (..=9, _) => visitor.visit(Loaded::<9, 254, 8>::first(self)),
            (..=17, ..=4) => visitor.visit(Loaded::<17, 4, 2>::first(self)),
            (..=17, _) => visitor.visit(Loaded::<17, 254, 8>::first(self)),
            _ => visitor.visit(Loaded::<30, 254, 8>::first(self)),
        })
    }
}

impl<const MOVES: usize> Iterator for Moves<MOVES> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.at == self.end {
            return None;
        }
        self.at += 1;
        Some(self.moves[usize::from(self.at - 1)])
    }
}

impl<const BYTES: usize, const MOVES: usize, const BITS: usize> Loaded<BYTES, MOVES, BITS> {
    /// The first position of a game that fits.
    fn first(library: Library) -> Self {
        assert!(library.bytes() < BYTES && library.numbers() <= MOVES);
        let mut bytes = [0; BYTES];
        bytes[0] = library.number();
        library.first(&mut bytes[1..]);
        Loaded { bytes }
    }

    #[inline]
    fn library(&self) -> Library {
        let library = Library::of(self.bytes[0]);
        library.unwrap_or_else(|| unreachable!("positions are of libraries that are there"))
    }

    #[inline]
    fn moves_after(&self, last: Option<u8>) -> Moves<MOVES> {
        let mut moves = [0; MOVES];
        let count = self.library().moves(&self.bytes[1..], last, &mut moves);
        Moves { moves, at: 0, end: count as u8 }
    }

    #[inline]
    fn after(&self, by: u8) -> Self {
        let mut bytes = [0; BYTES];
        bytes[0] = self.bytes[0];
        self.library().play(&self.bytes[1..], by, &mut bytes[1..]);
        Loaded { bytes }
    }

    /// A permutation of the first eight bytes, mixed with those of the others.
    #[inline]
    fn mixed(&self) -> u64 {
        self.bytes[1..].chunks(8).fold(0, |hash, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            mix(hash ^ u64::from_le_bytes(word))
        })
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; BYTES] = bytes.try_into().ok()?;
        let library = Library::of(bytes[0])?;
        let fits = library.bytes() < BYTES && library.numbers() <= MOVES;
        let rest = bytes.get(1 + library.bytes()..)?;
        let is_sound = fits && rest.iter().all(|byte| *byte == 0) && library.check(&bytes[1..]);
        is_sound.then_some(Loaded { bytes })
    }
}

/// The finalizer of MurmurHash3.
#[inline]
fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

impl<const BYTES: usize, const MOVES: usize, const BITS: usize> Game
    for Loaded<BYTES, MOVES, BITS>
{
    type Moves = Moves<MOVES>;

    const BYTES: usize = BYTES;
    const GRAIN: u16 = 4;
    const MOST: i16 = 30_000;

    #[inline]
    fn moves(&self) -> Moves<MOVES> {
        self.moves_after(None)
    }

    #[inline]
    fn count_moves(&self) -> u64 {
        let count = self.library().count(&self.bytes[1..]);
        count.unwrap_or_else(|| self.moves_after(None).count()) as u64
    }

    #[inline]
    fn play(&self, by: u8) -> Self {
        self.after(by)
    }

    fn value(&self) -> i16 {
        let library = self.library();
        let most = i32::from(<Self as Game>::MOST);
        match library.players() {
            2 => library.value(&self.bytes[1..]).clamp(-most, most) as i16,
            _ => 0,
        }
    }

    fn longest(&self) -> u16 {
        let longest = self.library().longest(&self.bytes[1..]);
        longest.map_or(u16::MAX, |longest| longest.clamp(0, u16::MAX.into()) as u16)
    }

    fn hash(&self) -> u64 {
        self.mixed()
    }

    fn encode(&self, into: &mut [u8]) {
        into.copy_from_slice(&self.bytes);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::of(bytes)
    }
}

impl<const BYTES: usize, const MOVES: usize, const BITS: usize> Puzzle
    for Loaded<BYTES, MOVES, BITS>
{
    type Moves = Moves<MOVES>;

    const BYTES: usize = BYTES;
    const MOVE_BITS: usize = BITS;
    const GRAIN: u16 = 38;

    #[inline]
    fn moves(&self, last: Option<u8>) -> Moves<MOVES> {
        self.moves_after(last)
    }

    #[inline]
    fn play(&self, by: u8) -> Self {
        self.after(by)
    }

    #[inline]
    fn lower_bound(&self) -> u16 {
        self.library().value(&self.bytes[1..]).clamp(0, 30_000) as u16
    }

    #[inline]
    fn is_goal(&self) -> bool {
        self.library().is_goal(&self.bytes[1..])
    }

    fn hash(&self) -> u64 {
        self.mixed()
    }

    fn encode(&self, into: &mut [u8]) {
        into.copy_from_slice(&self.bytes);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::of(bytes)
    }
}

impl<const BYTES: usize, const MOVES: usize, const BITS: usize> Written
    for Loaded<BYTES, MOVES, BITS>
{
    fn text(&self) -> String {
        let text = self.library().print(&self.bytes[1..]);
        text.unwrap_or_else(|| {
            let bytes = &self.bytes[1..=self.library().bytes()];
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }

    fn read(&self, text: &str) -> Option<Self> {
        let mut read = [0; BYTES];
        read[0] = self.bytes[0];
        let text = CString::new(text).ok()?;
        self.library().parse(&text, &mut read[1..]).then_some(Loaded { bytes: read })
    }
}
