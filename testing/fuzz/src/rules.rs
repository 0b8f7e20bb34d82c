//! Rules of games: their text, and bytes of their positions.

use weft_rules::{GameVisitor, Source, Written, emit, parse};
use weft_search::Game;

/// Games whose positions are fed, by the first byte.
const GAMES: [&str; 5] = ["othello", "connect-four", "solitaire", "fifteen", "awari"];

/// Most moves that are played from a position.
const MOST_MOVES: usize = 40;

/// A text of rules, or any other: it becomes C, or errors with places in it.
pub fn text(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match parse(text) {
        Ok(rules) => assert!(emit(&rules).contains("const struct weft_game weft_game")),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(text.get(error.span.start..error.span.end).is_some());
                assert!(error.render("rules", text).contains(&error.message));
            }
        }
    }
}

/// Bytes of a position, and choices of moves: what is taken for a position has positions behind it.
pub fn position(data: &[u8]) {
    let Some((game, data)) = data.split_first() else { return };
    let source = Source::named(GAMES[usize::from(*game) % GAMES.len()]);
    let library = source.and_then(|source| source.load());
    library.unwrap_or_else(|error| panic!("{error}")).game(Played(data));
}

struct Played<'d>(&'d [u8]);

impl GameVisitor for Played<'_> {
    type Output = ();

    fn visit<G: Game + Written>(self, first: G) {
        let mut bytes = vec![0; G::BYTES];
        first.encode(&mut bytes);
        // The first byte says which game it is, as this process counts them.
        let fed = self.0.len().min(G::BYTES - 1);
        bytes[1..=fed].copy_from_slice(&self.0[..fed]);
        let Some(mut position) = G::decode(&bytes) else { return };
        for choice in self.0[fed..].iter().take(MOST_MOVES) {
            let moves: Vec<u8> = position.moves().collect();
            assert_eq!(position.count_moves(), moves.len() as u64);
            assert!(position.value().abs() <= G::MOST);
            let Some(by) = moves.get(usize::from(*choice) % moves.len().max(1)) else { return };
            position = position.play(*by);
            position.encode(&mut bytes);
            assert!(G::decode(&bytes).is_some_and(|again| again.hash() == position.hash()));
        }
    }
}
