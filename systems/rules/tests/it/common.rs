use weft_rules::{GameVisitor, Library, Source, Written, shipped};
use weft_search::Game;

/// A game that comes with the program.
pub fn library(name: &str) -> Library {
    load(name, shipped(name).unwrap())
}

/// The game of a text.
pub fn load(name: &str, text: &str) -> Library {
    Source::text(&format!("{name}.rules"), text).load().unwrap_or_else(|error| panic!("{error}"))
}

/// Lines of play of so many moves, counted in the plainest way.
pub fn perft<G: Game>(position: &G, depth: u16) -> u64 {
    match depth {
        0 => 1,
        1 => position.moves().count() as u64,
        _ => position.moves().map(|by| perft(&position.play(by), depth - 1)).sum(),
    }
}

/// Counter of lines for each number of moves from 1 on.
pub struct Perft(pub u16);

impl GameVisitor for Perft {
    type Output = Vec<u64>;

    fn visit<G: Game + Written>(self, first: G) -> Vec<u64> {
        (1..=self.0).map(|depth| perft(&first, depth)).collect()
    }
}
