//! Names: new ones, and those that have a meaning.

use super::tokens::Tokens;
use crate::diagnostics::{Diagnostic, Parse, did_you_mean};
use crate::geometry::Step;
use crate::model::{Along, Contents, Kind, Rules, Whose};

/// Words that begin a part.
pub const PARTS: [&str; 21] = [
    "game",
    "piece",
    "numbers",
    "board",
    "ring",
    "turn",
    "zone",
    "directions",
    "counter",
    "shared",
    "move",
    "otherwise",
    "become",
    "pass",
    "end",
    "value",
    "longest",
    "goal",
    "bound",
    "always",
    "grain",
];

/// Other words of the language, which name nothing else.
const WORDS: [&str; 46] = [
    "for", "most", "once", "row", "column", "cells", "to", "from", "along", "each", "again", "no",
    "return", "where", "sow", "past", "start", "collect", "during", "into", "keeping", "need",
    "let", "when", "stuck", "win", "loss", "draw", "score", "own", "other", "empty", "full", "any",
    "edge", "same", "in", "or", "and", "not", "sum", "over", "count", "exists", "here", "cell",
];

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

/// The text, and the rules as far as it was read: what names mean.
pub struct Names<'s> {
    pub tokens: Tokens<'s>,
    pub rules: Rules,
}

impl Names<'_> {
    /// A new name.
    pub fn name(&mut self, of: &str) -> Parse<String> {
        let Some(word) = self.tokens.peek_word() else {
            return Err(self
                .tokens
                .expected(&format!("a name of {of}"), "names begin with a letter"));
        };
        let functions = ["min", "max", "abs"];
        let is_taken = |list: &[&str]| list.contains(&word);
        if is_taken(&PARTS) || is_taken(&WORDS) || is_taken(&functions) {
            let message = format!("`{word}` is a word of the language, and no name");
            return Err(Diagnostic::new(message, self.tokens.span(), "take another name"));
        }
        if self.is_declared(word) {
            let message = format!("`{word}` has a meaning already");
            return Err(Diagnostic::new(message, self.tokens.span(), "take another name"));
        }
        self.tokens.skip();
        Ok(word.to_owned())
    }

    fn is_declared(&self, word: &str) -> bool {
        let rules = &self.rules;
        self.kinds().iter().any(|kind| kind.name == word)
            || rules.zones.iter().any(|(name, _)| name == word)
            || rules.counters.iter().any(|counter| counter.name == word)
            || rules.moves.iter().any(|known| known.name == word)
            || self.directions_of(word).is_some()
    }

    /// An error of a name that nothing has.
    pub fn unknown<'n>(
        &self,
        what: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Box<Diagnostic> {
        let word = self.tokens.peek_word().unwrap_or_default();
        let all: Vec<&str> = known.clone().collect();
        let meant = if word.is_empty() { None } else { did_you_mean(word, known) };
        let help = meant.unwrap_or_else(|| match all.is_empty() {
            true => format!("there is no {what} yet: declare it before"),
            false => format!("there are: {}", all.join(", ")),
        });
        let message = match self.tokens.peek_word() {
            Some(word) => format!("`{word}` is no {what}"),
            None => format!("expected a {what}, found {}", self.tokens.found()),
        };
        Diagnostic::new(message, self.tokens.span(), help)
    }

    /// Directions behind `along` or `each`, if there are any.
    pub fn along(&mut self) -> Parse<Along> {
        if self.tokens.takes("along") {
            return Ok(Along::One(self.directions()?));
        }
        if self.tokens.takes("each") {
            return Ok(Along::Each(self.directions()?));
        }
        Ok(Along::Nowhere)
    }

    /// Kinds of pieces.
    pub fn kinds(&self) -> &[Kind] {
        match &self.rules.contents {
            Contents::Pieces(kinds) => kinds,
            Contents::Numbers { .. } => &[],
        }
    }

    /// A zone that has a name.
    pub fn known_zone(&mut self) -> Parse<u64> {
        let zones = &self.rules.zones;
        let word = self.tokens.peek_word();
        let Some((_, cells)) = zones.iter().find(|(name, _)| Some(name.as_str()) == word) else {
            return Err(self.unknown("zone", zones.iter().map(|(name, _)| name.as_str())));
        };
        let cells = *cells;
        self.tokens.skip();
        Ok(cells)
    }

    /// Directions, one after the other.
    pub fn directions(&mut self) -> Parse<Vec<usize>> {
        let mut all = Vec::new();
        loop {
            if let Some(steps) = self.tokens.peek_word().and_then(|word| self.directions_of(word)) {
                self.tokens.skip();
                all.extend(steps.into_iter().map(|step| self.rules.board.step(step)));
            } else if self.tokens.takes_sign("(") {
                let columns = self.signed()?;
                self.tokens.sign(",")?;
                let rows = self.signed()?;
                self.tokens.sign(")")?;
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
            return Err(Diagnostic::new("no step", self.tokens.before(), help));
        }
        Ok(self.rules.board.step(Step { columns, rows }))
    }

    fn signed(&mut self) -> Parse<i32> {
        let sign = if self.tokens.takes_sign("-") { -1 } else { 1 };
        Ok(sign * self.tokens.literal(0, 63)?)
    }

    fn is_grid(&self) -> bool {
        !self.rules.board.is_ring
    }

    /// Steps that a word means.
    pub fn directions_of(&self, word: &str) -> Option<Vec<Step>> {
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

    /// The players, as the one to move sees them.
    pub fn players(&self) -> impl Iterator<Item = Whose> + use<> {
        [Whose::Own, Whose::Other].into_iter().take(self.rules.players.into())
    }

    /// `own` or `other`, in a game for two.
    pub fn owner(&mut self) -> Option<Whose> {
        if self.rules.players == 1 {
            return None;
        }
        if self.tokens.takes("own") {
            return Some(Whose::Own);
        }
        self.tokens.takes("other").then_some(Whose::Other)
    }

    /// The kind of pieces whose name comes next.
    pub fn kind_at(&self) -> Option<usize> {
        let word = self.tokens.peek_word()?;
        self.kinds().iter().position(|kind| kind.name == word)
    }

    /// A kind of pieces that has a name.
    pub fn kind(&mut self) -> Parse<usize> {
        let kind = self.kind_at().ok_or_else(|| {
            self.unknown("piece", self.kinds().iter().map(|kind| kind.name.as_str()))
        })?;
        self.tokens.skip();
        Ok(kind)
    }

    /// A counter, perhaps that of the other player.
    pub fn counter_value(&mut self) -> Parse<(usize, Whose)> {
        let (begin, other) = (self.tokens.span(), self.tokens.takes("other"));
        let _ = other || self.tokens.takes("own");
        let counters = &self.rules.counters;
        let word = self.tokens.peek_word();
        let at = counters.iter().position(|counter| Some(counter.name.as_str()) == word);
        let Some(at) = at else {
            let names = counters.iter().map(|counter| counter.name.as_str());
            return Err(self.unknown("counter", names));
        };
        self.tokens.skip();
        if other && !counters[at].each {
            let span = begin.to(self.tokens.before());
            let help = "`counter` declares one for each player, `shared` one for both";
            return Err(Diagnostic::new("this counter is of both players", span, help));
        }
        Ok((at, if other { Whose::Other } else { Whose::Own }))
    }
}
