//! Lines of play of the games that come with the program.

use crate::common::{Perft, library};

#[test]
fn lines_are_the_published_ones() {
    let published: [(&str, &[u64]); 3] = [
        ("othello", &[4, 12, 56, 244, 1396, 8200, 55_092, 390_216]),
        ("checkers", &[7, 49, 302, 1469, 7361, 36_768, 179_740, 845_931]),
        ("connect-four", &[7, 49, 343, 2401, 16_807, 117_649, 823_536]),
    ];
    for (name, lines) in published {
        assert_eq!(library(name).game(Perft(lines.len() as u16)), lines, "{name}");
    }
}

/// Peg solitaire as a square of 7 x 7, written without the language.
struct Pegs([[Option<bool>; 7]; 7]);

impl Pegs {
    fn first() -> Self {
        let inside = |place: usize| (2..5).contains(&place);
        Pegs(std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                (inside(row) || inside(column)).then_some((row, column) != (3, 3))
            })
        }))
    }

    fn at(&self, row: i32, column: i32) -> Option<bool> {
        let [row, column] = [usize::try_from(row).ok()?, usize::try_from(column).ok()?];
        *self.0.get(row)?.get(column)?
    }

    fn put(&mut self, cells: [(i32, i32); 3], pegs: [bool; 3]) {
        for ((row, column), peg) in cells.into_iter().zip(pegs) {
            self.0[row as usize][column as usize] = Some(peg);
        }
    }

    fn lines(&mut self, depth: u16) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut lines = 0;
        for (row, column) in (0..49).map(|cell| (cell / 7, cell % 7)) {
            for (down, right) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
                let cell = |step: i32| (row + step * down, column + step * right);
                let found = [0, 1, 2].map(|step| self.at(cell(step).0, cell(step).1));
                if found == [Some(true), Some(true), Some(false)] {
                    let cells = [0, 1, 2].map(cell);
                    self.put(cells, [false, false, true]);
                    lines += self.lines(depth - 1);
                    self.put(cells, [true, true, false]);
                }
            }
        }
        lines
    }
}

#[test]
fn solitaire_has_the_lines_of_pegs_on_a_square() {
    let lines: Vec<u64> = (1..=6).map(|depth| Pegs::first().lines(depth)).collect();
    assert_eq!(library("solitaire").game(Perft(6)), lines);
    assert_eq!(lines, [4, 12, 60, 400, 2960, 24_600]);
}
