//! Parts about the board: what cells hold, the first position, sets of cells and directions.

use super::Parser;
use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::geometry::{MOST_CELLS, Step};
use crate::lexer::Token;
use crate::model::{Contents, Counter, Kind, Turn};

/// Directions on a grid: columns to the right, and rows down.
const COMPASS: [(&str, i32, i32); 8] = [
    ("n", 0, -1),
    ("s", 0, 1),
    ("w", -1, 0),
    ("e", 1, 0),
    ("nw", -1, -1),
    ("ne", 1, -1),
    ("sw", -1, 1),
    ("se", 1, 1),
];

/// Sets of directions on a grid.
const FAMILIES: [(&str, &[usize]); 4] = [
    ("orthogonal", &[0, 1, 2, 3]),
    ("diagonal", &[4, 5, 6, 7]),
    ("around", &[0, 1, 2, 3, 4, 5, 6, 7]),
    ("lines", &[1, 3, 6, 7]),
];

/// Most kinds of pieces.
const MOST_KINDS: usize = 8;

impl Parser<'_> {
    pub(super) fn kinds(&self) -> &[Kind] {
        match &self.rules.contents {
            Contents::Pieces(kinds) => kinds,
            Contents::Numbers { .. } => &[],
        }
    }

    pub(super) fn piece(&mut self) -> Parse<()> {
        let name = self.name("a piece")?;
        let mut signs = Vec::new();
        for _ in 0..self.rules.players {
            let (sign, span) = self.text("its sign in pictures")?;
            let used = self.kinds().iter().flat_map(|kind| &kind.signs).chain(&signs);
            let odd = sign.is_empty() || sign.contains(char::is_whitespace) || !sign.is_ascii();
            if odd || [".", "#"].contains(&sign) || sign.contains('\\') {
                let help = "take a letter or another sign; `.` is an empty cell and `#` is none";
                return Err(Diagnostic::new(format!("`{sign}` is no sign"), span, help));
            }
            if used.into_iter().any(|used| used == sign) {
                let help = "each piece of each player has its own";
                return Err(Diagnostic::new(format!("`{sign}` is a sign already"), span, help));
            }
            signs.push(sign.to_owned());
        }
        match &mut self.rules.contents {
            Contents::Pieces(kinds) if kinds.len() < MOST_KINDS && self.rules.board.width == 0 => {
                kinds.push(Kind { name, signs });
                Ok(())
            }
            Contents::Pieces(_) => {
                let help = "there are at most 8 kinds, and they come before the board";
                Err(Diagnostic::new("this piece cannot be here", self.before(), help))
            }
            Contents::Numbers { .. } => Err(self.mixed()),
        }
    }

    fn mixed(&self) -> Box<Diagnostic> {
        let help = "a board has pieces or numbers: leave one of the two out";
        Diagnostic::new("cells hold pieces and numbers", self.before(), help)
    }

    pub(super) fn numbers(&mut self) -> Parse<()> {
        if !self.kinds().is_empty() {
            return Err(self.mixed());
        }
        self.literal(0, 0)?;
        self.word("to")?;
        let most = self.literal(1, 120)? as u8;
        let once = self.takes("once");
        self.rules.contents = Contents::Numbers { most, once };
        Ok(())
    }

    pub(super) fn board(&mut self, is_ring: bool) -> Parse<()> {
        let (picture, span) = self.text("a picture of the first position")?;
        let rows: Vec<Vec<&str>> = picture
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .filter(|row| !row.is_empty())
            .collect();
        let (width, height) = (rows.first().map_or(0, Vec::len), rows.len());
        if let Some(row) = rows.iter().position(|row| row.len() != width) {
            let length = rows[row].len();
            let message = format!("row {row} has {length} cells, and row 0 has {width}");
            return Err(Diagnostic::new(message, span, "`#` is a cell that is no place"));
        }
        if width * height < 2 || width * height > MOST_CELLS || is_ring && height != 1 {
            let message = format!("a board of {width} x {height} cells");
            let help = "a board has from 2 to 64 cells, and a ring one row";
            return Err(Diagnostic::new(message, span, help));
        }
        let board = &mut self.rules.board;
        (board.width, board.height, board.is_ring) = (width, height, is_ring);
        let mut places = 0;
        let mut first = Vec::new();
        for (cell, word) in rows.concat().into_iter().enumerate() {
            let is_place = word != "#";
            places |= u64::from(is_place) << cell;
            first.push(if is_place { self.pictured(word, span)? } else { 0 });
        }
        let once = matches!(self.rules.contents, Contents::Numbers { once: true, .. });
        if places != u64::MAX >> (64 - width * height) && (is_ring || once) {
            let help = "take a board without `#`";
            return Err(Diagnostic::new("all cells of this board are places", span, help));
        }
        (self.rules.board.places, self.rules.board.first) = (places, first);
        if once {
            self.check_once(span)?;
        }
        if is_ring {
            for (name, columns) in [("next", 1), ("back", -1)] {
                let step = self.rules.board.step(Step { columns, rows: 0 });
                self.rules.families.push((name.to_owned(), vec![step]));
            }
        }
        Ok(())
    }

    /// Content that a word of a picture means.
    fn pictured(&self, word: &str, span: Span) -> Parse<u8> {
        let (content, known) = match &self.rules.contents {
            Contents::Numbers { most, .. } => {
                let number = word.parse().ok().filter(|number: &u8| number <= most);
                (number, format!("numbers from 0 to {most}"))
            }
            Contents::Pieces(kinds) => {
                let signs = kinds.iter().flat_map(|kind| &kind.signs);
                let signs: Vec<&str> = [".", "#"].into_iter().chain(signs.map(|s| &**s)).collect();
                let at = signs.iter().position(|sign| *sign == word);
                (at.map(|at| at.saturating_sub(1) as u8), signs.join(" "))
            }
        };
        content.ok_or_else(|| {
            let help = format!("there are: {known}; signs are separated by spaces");
            Diagnostic::new(format!("`{word}` is nothing that a cell holds"), span, help)
        })
    }

    fn check_once(&self, span: Span) -> Parse<()> {
        let board = &self.rules.board;
        let Contents::Numbers { most, .. } = self.rules.contents else { return Ok(()) };
        let mut sorted = board.first.clone();
        sorted.sort_unstable();
        if sorted.iter().copied().eq(0..=most) {
            return Ok(());
        }
        let help = format!("`once` says that each number from 0 to {most} is there once");
        Err(Diagnostic::new("a number is missing, or there twice", span, help))
    }

    pub(super) fn turn(&mut self) -> Parse<()> {
        let span = self.span();
        let turn = match self.peek_word() {
            Some("half") => Turn::Half,
            Some("flip") => Turn::Flip,
            _ => return Err(self.expected("`half` or `flip`", "leave `turn` out for neither")),
        };
        self.at += 1;
        let board = &self.rules.board;
        let moved = |cell| board.places >> board.turned(cell, turn == Turn::Flip) & 1 == 1;
        let odd_ring = board.is_ring && (board.cells() % 2 == 1 || turn == Turn::Flip);
        if odd_ring || !board.place_numbers().all(moved) {
            let help = "the other player has to see places where there are places";
            return Err(Diagnostic::new("this board cannot be turned so", span, help));
        }
        self.rules.turn = turn;
        Ok(())
    }

    pub(super) fn zone(&mut self) -> Parse<()> {
        let name = self.name("a zone")?;
        self.sign("=")?;
        let mut all = self.cells()?;
        while self.takes_sign("+") {
            all |= self.cells()?;
        }
        self.rules.zones.push((name, all & self.rules.board.places));
        Ok(())
    }

    /// Cells of a zone, a row, a column, or by their numbers.
    fn cells(&mut self) -> Parse<u64> {
        let board = &self.rules.board;
        let (width, height) = (board.width, board.height);
        let all = |is_in: &dyn Fn(usize) -> bool| {
            (0..width * height).filter(|cell| is_in(*cell)).fold(0, |all, cell| all | 1 << cell)
        };
        if self.takes("row") {
            let row = self.literal(0, height as i32 - 1)? as usize;
            return Ok(all(&|cell| cell / width == row));
        }
        if self.takes("column") {
            let column = self.literal(0, width as i32 - 1)? as usize;
            return Ok(all(&|cell| cell % width == column));
        }
        if !self.takes("cells") {
            return self.known_zone();
        }
        let mut cells = 0;
        loop {
            let first = self.literal(0, (width * height) as i32 - 1)?;
            let last = match self.takes("to") {
                true => self.literal(first, (width * height) as i32 - 1)?,
                false => first,
            };
            (first..=last).for_each(|cell| cells |= 1 << cell);
            if !matches!(self.peek(), Some(Token::Number(_))) {
                return Ok(cells);
            }
        }
    }

    pub(super) fn known_zone(&mut self) -> Parse<u64> {
        let zones = &self.rules.zones;
        let word = self.peek_word();
        let Some((_, cells)) = zones.iter().find(|(name, _)| Some(name.as_str()) == word) else {
            return Err(self.unknown("zone", zones.iter().map(|(name, _)| name.as_str())));
        };
        let cells = *cells;
        self.at += 1;
        Ok(cells)
    }

    pub(super) fn family(&mut self) -> Parse<()> {
        let name = self.name("directions")?;
        self.sign("=")?;
        let all = self.directions()?;
        self.rules.families.push((name, all));
        Ok(())
    }

    /// Directions, one after the other.
    pub(super) fn directions(&mut self) -> Parse<Vec<usize>> {
        let mut all = Vec::new();
        loop {
            if let Some(steps) = self.peek_word().and_then(|word| self.directions_of(word)) {
                self.at += 1;
                all.extend(steps.into_iter().map(|step| self.rules.board.step(step)));
            } else if self.takes_sign("(") {
                let columns = self.signed()?;
                self.sign(",")?;
                let rows = self.signed()?;
                self.sign(")")?;
                all.push(self.given_step(columns, rows)?);
            } else if all.is_empty() {
                let own = self.rules.families.iter().map(|(name, _)| name.as_str());
                let compass = COMPASS.iter().map(|(name, ..)| *name).filter(|_| self.is_grid());
                let built = FAMILIES.iter().map(|(name, _)| *name).filter(|_| self.is_grid());
                return Err(self.unknown("direction", own.chain(compass).chain(built)));
            } else {
                let mut seen = Vec::new();
                all.retain(|step| !seen.contains(step) && (seen.push(*step), true).1);
                return Ok(all);
            }
        }
    }

    fn given_step(&mut self, columns: i32, rows: i32) -> Parse<usize> {
        if (columns, rows) == (0, 0) || !self.is_grid() {
            let help = "a step on a grid is (columns to the right, rows down), not both 0";
            return Err(Diagnostic::new("no step", self.before(), help));
        }
        Ok(self.rules.board.step(Step { columns, rows }))
    }

    fn signed(&mut self) -> Parse<i32> {
        let sign = if self.takes_sign("-") { -1 } else { 1 };
        Ok(sign * self.literal(0, 63)?)
    }

    fn is_grid(&self) -> bool {
        !self.rules.board.is_ring
    }

    /// Steps that a word means.
    pub(super) fn directions_of(&self, word: &str) -> Option<Vec<Step>> {
        let compass = |index: &usize| {
            let (_, columns, rows) = COMPASS[*index];
            Step { columns, rows }
        };
        let board = &self.rules.board;
        if let Some((_, steps)) = self.rules.families.iter().find(|(name, _)| name == word) {
            return Some(steps.iter().map(|step| board.steps[*step]).collect());
        }
        if board.is_ring {
            return None;
        }
        let one = COMPASS.iter().position(|(name, ..)| *name == word);
        let built = FAMILIES.iter().find(|(name, _)| *name == word).map(|(_, all)| *all);
        one.map(|index| vec![compass(&index)])
            .or(built.map(|all| all.iter().map(compass).collect()))
    }

    pub(super) fn counter(&mut self, each: bool) -> Parse<()> {
        let name = self.name("a counter")?;
        self.word("to")?;
        let most = self.literal(1, 255)? as u8;
        let first = if self.takes("from") { self.literal(0, most.into())? as u8 } else { 0 };
        self.rules.counters.push(Counter { name, most, first, each });
        Ok(())
    }
}
