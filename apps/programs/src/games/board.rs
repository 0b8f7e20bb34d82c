//! Games as people play them: boards as text, moves as words, outcomes.

use weft_search::Game;

/// Letters of the players, the one who begins first.
pub(crate) const PLAYERS: [char; 2] = ['X', 'O'];

/// A game that can be written and read.
pub trait Board: Game {
    /// Words for what a move is.
    const MOVES: &'static str;

    /// Lines of text that show the position; `is_first` says that who began is to move.
    fn draw(&self, is_first: bool) -> String;

    /// Text for a move.
    fn write_move(by: u8) -> String;

    /// The move that a text says, if it is one of the position.
    fn read_move(&self, text: &str) -> Option<u8> {
        self.moves().find(|by| Self::write_move(*by).eq_ignore_ascii_case(text))
    }

    /// Outcome that a value of this position means, if it is no estimate: more than 0 if the player
    /// to move wins, and how. An exact value is one of a search to the end of the game.
    fn outcome(&self, value: i16, is_exact: bool) -> Option<(i16, String)>;
}

/// A position of a game that is being played.
#[derive(Clone, Debug)]
pub struct Played<B> {
    /// The position.
    pub position: B,
    /// Moves that led to it.
    pub moves: Vec<u8>,
}

/// A move that cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{text}' is no move here: a move is {what}; there are {legal}")]
pub struct NoMove {
    text: String,
    what: &'static str,
    legal: String,
}

impl<B: Board> Played<B> {
    /// A game that begins with this position.
    pub fn first(position: B) -> Self {
        Played { position, moves: Vec::new() }
    }

    /// The game after these moves from the `first` position.
    ///
    /// # Errors
    /// [`NoMove`].
    pub fn after(first: B, moves: &[String]) -> Result<Self, NoMove> {
        let mut played = Self::first(first);
        let words = moves.iter().flat_map(|text| text.split([' ', ',']));
        for text in words.filter(|text| !text.is_empty()) {
            let by = played.read(text)?;
            played.play(by);
        }
        Ok(played)
    }

    /// The move that a text says.
    ///
    /// # Errors
    /// [`NoMove`].
    pub fn read(&self, text: &str) -> Result<u8, NoMove> {
        self.position.read_move(text).ok_or_else(|| {
            let legal: Vec<String> = self.position.moves().map(B::write_move).collect();
            let legal =
                if legal.is_empty() { "none, as the game is over".into() } else { legal.join(" ") };
            NoMove { text: text.into(), what: B::MOVES, legal }
        })
    }

    /// Makes a move.
    pub fn play(&mut self, by: u8) {
        self.position = self.position.play(by);
        self.moves.push(by);
    }

    /// Number of the player to move: 0 for the one who began.
    pub fn player(&self) -> usize {
        self.moves.len() % 2
    }

    /// True if there is no move.
    pub fn is_over(&self) -> bool {
        self.position.moves().next().is_none()
    }

    /// The board as text.
    pub fn draw(&self) -> String {
        self.position.draw(self.player() == 0)
    }

    /// Words for a value of the position.
    pub fn say(&self, value: i16, is_exact: bool) -> String {
        let mover = self.player();
        match self.position.outcome(value, is_exact) {
            Some((sign, how)) if sign != 0 => {
                let winner = if sign > 0 { mover } else { 1 - mover };
                format!("{} wins{how}", PLAYERS[winner])
            }
            _ if is_exact && value == 0 => "a draw".into(),
            _ => format!("{value:+} for {}, by estimate", PLAYERS[mover]),
        }
    }

    /// Moves from here on, as text.
    pub fn write(moves: &[u8]) -> String {
        moves.iter().map(|by| B::write_move(*by)).collect::<Vec<_>>().join(" ")
    }
}

/// Letter of a place that is in one of two sets, or in none.
pub(crate) fn draw(first: u64, second: u64, place: u64) -> char {
    match (first & place != 0, second & place != 0) {
        (true, _) => PLAYERS[0],
        (_, true) => PLAYERS[1],
        _ => '.',
    }
}

/// Rows of letters, as text.
pub(crate) fn grid(rows: u32, columns: u32, at: impl Fn(u32, u32) -> char) -> String {
    let row = |row| {
        let letters = (0..columns).map(|column| at(row, column).to_string());
        letters.collect::<Vec<_>>().join(" ") + "\n"
    };
    (0..rows).map(row).collect()
}
