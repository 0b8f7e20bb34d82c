//! Games of one player, as their author writes them down.

/// A position of a game of one player, whose moves cost one each.
///
/// Positions are values: a move makes another one, and nothing is undone.
pub trait Puzzle: Copy + Send + 'static {
    /// Moves of a position, one after the other.
    type Moves: Iterator<Item = u8> + Send;

    /// Bytes of an encoded position, up to 30. The rest of 30 bytes holds the moves that led
    /// there, and a position whose moves do not fit is searched where it was made.
    const BYTES: usize;

    /// Bits that hold a move: 1, 2, 4 or 8.
    const MOVE_BITS: usize;

    /// The grain that is taken where [`crate::Settings::grain`] says none: a subtree with so many
    /// moves left, or fewer, is searched by the rank that made its root.
    const GRAIN: u16;

    /// Moves, in a fixed order. Given the `last` one, its inverse may be left out.
    fn moves(&self, last: Option<u8>) -> Self::Moves;

    /// Position after a move, which is one of [`Self::moves`].
    #[must_use]
    fn play(&self, by: u8) -> Self;

    /// A number of moves that a solution has at least; 0 for a goal. For the shortest solution it
    /// must not be more than the moves that it takes.
    fn lower_bound(&self) -> u16;

    /// True if nothing is to be done. Asked only where the lower bound is 0.
    fn is_goal(&self) -> bool;

    /// Hash of 64 bits, all of which look random. A table takes positions of one hash for the same:
    /// best if it is a permutation of what they are encoded in.
    fn hash(&self) -> u64;

    /// Writes the position into [`Self::BYTES`] bytes.
    fn encode(&self, into: &mut [u8]);

    /// Position in [`Self::BYTES`] bytes that a peer sent, or `None` if it is none.
    fn decode(bytes: &[u8]) -> Option<Self>;
}
