//! Lines of play of the games that come with the program.

use crate::common::{Perft, library};

#[test]
fn lines_are_the_published_ones() {
    let published: [(&str, &[u64]); 3] = [
        ("othello", &[4, 12, 56, 244, 1396, 8200, 55092, 390216]),
        ("checkers", &[7, 49, 302, 1469, 7361, 36768, 179_740]),
        ("connect-four", &[7, 49, 343, 2401, 16807, 117_649, 823_536]),
    ];
    for (name, lines) in published {
        assert_eq!(library(name).game(Perft(lines.len() as u16)), lines, "{name}");
    }
}

#[test]
fn show() {
    for name in ["awari", "fifteen", "solitaire"] {
        println!("{name} {:?}", library(name).game(Perft(6)));
    }
}
