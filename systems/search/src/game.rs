//! Games of two players, as their author writes them down.

/// A position of a game of two players, as the one to move sees it.
pub trait Game: Copy + Send + 'static {
    /// Moves of a position, one after the other.
    type Moves: Iterator<Item = u8> + Send;

    /// Bytes of an encoded position, up to 30.
    const BYTES: usize;

    /// The grain that is taken where [`crate::Settings::grain`] says none.
    const GRAIN: u16;

    /// That of a search for a value, which makes a small part of the positions that there are, and
    /// needs the table of those that it has seen.
    const VALUE_GRAIN: u16 = Self::GRAIN;

    /// Largest value that a position has, for either player; less than 32,767.
    const MOST: i16;

    /// Moves, in a fixed order; none at the end of a game. A player that has to pass has one move.
    fn moves(&self) -> Self::Moves;

    /// Number of [`Self::moves`], where there is a faster way than to make them.
    fn count_moves(&self) -> u64 {
        self.moves().count() as u64
    }

    /// Position after a move, which is one of [`Self::moves`], as the other player sees it.
    #[must_use]
    fn play(&self, by: u8) -> Self;

    /// Value for the player to move, from -[`Self::MOST`] to [`Self::MOST`]; the other player's is
    /// its negative. At the end of a game its outcome; otherwise an estimate, 0 if there is none.
    fn value(&self) -> i16;

    /// Moves of the longest game that goes on from here, or more; `u16::MAX` if no bound is known.
    /// A search that is as deep has the outcome, and no estimate in it.
    fn longest(&self) -> u16 {
        u16::MAX
    }

    /// Hash of 64 bits, all of which look random. A table takes positions of one hash for the same.
    fn hash(&self) -> u64;

    /// Writes the position into [`Self::BYTES`] bytes.
    fn encode(&self, into: &mut [u8]);

    /// Position in [`Self::BYTES`] bytes that a peer sent, or `None` if it is none.
    fn decode(bytes: &[u8]) -> Option<Self>;
}
