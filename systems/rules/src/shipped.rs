//! Rules that come with the program, as examples to read and as games to search.

/// Names and texts.
pub const SHIPPED: [(&str, &str); 6] = [
    ("awari", include_str!("../games/awari.rules")),
    ("checkers", include_str!("../games/checkers.rules")),
    ("connect-four", include_str!("../games/connect-four.rules")),
    ("fifteen", include_str!("../games/fifteen.rules")),
    ("othello", include_str!("../games/othello.rules")),
    ("solitaire", include_str!("../games/solitaire.rules")),
];

/// The text of a game that comes with the program.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| *text)
}
