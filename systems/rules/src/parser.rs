//! The parser: tokens to rules. A name is declared before it is used, so one pass is enough.
//!
//! Text that cannot be understood is reported and skipped, up to the word that begins the next
//! part, so that one run reports several errors. The depth of expressions is bounded.

use crate::diagnostics::{Diagnostic, Parse, Span, did_you_mean};
use crate::geometry::Board;
use crate::lexer::{Token, lex};
use crate::model::{Along, Contents, Expression, Rules, Turn};

mod board;
mod expressions;
mod finish;
mod moves;

/// Largest text of rules, in bytes.
const LARGEST: usize = 1 << 20;

/// Words that begin a part.
const PARTS: [&str; 21] = [
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

/// Those of which there may be many.
const MANY: [&str; 10] = [
    "piece",
    "zone",
    "directions",
    "counter",
    "shared",
    "move",
    "otherwise",
    "become",
    "end",
    "always",
];

/// Other words of the language, which name nothing else.
const WORDS: [&str; 46] = [
    "for", "most", "once", "row", "column", "cells", "to", "from", "along", "each", "again", "no",
    "return", "where", "sow", "past", "start", "collect", "during", "into", "keeping", "need",
    "let", "when", "stuck", "win", "loss", "draw", "score", "own", "other", "empty", "full", "any",
    "edge", "same", "in", "or", "and", "not", "sum", "over", "count", "exists", "here", "cell",
];

/// The rules in a text.
///
/// # Errors
/// All that is wrong with it, in the order of places.
pub fn parse(text: &str) -> Result<Rules, Vec<Diagnostic>> {
    if text.len() > LARGEST {
        let span = Span::default();
        let help = "rules have at most 1 MiB";
        return Err(vec![*Diagnostic::new("the text is too long", span, help)]);
    }
    let (tokens, errors) = lex(text);
    let mut parser = Parser::new(tokens, text.len(), errors);
    parser.parts();
    if parser.errors.is_empty() {
        parser.finish();
    }
    parser.errors.sort_by_key(|error| error.span);
    if parser.errors.is_empty() { Ok(parser.rules) } else { Err(parser.errors) }
}

struct Parser<'s> {
    tokens: Vec<(Token<'s>, Span)>,
    at: usize,
    /// Behind the text.
    end: Span,
    rules: Rules,
    errors: Vec<Diagnostic>,
    /// Places of parts that are there once, by the word that begins them.
    seen: Vec<(&'static str, Span)>,
    group: usize,
    /// True where an expression is about a cell.
    in_cell: bool,
    depth: usize,
}

impl<'s> Parser<'s> {
    fn new(tokens: Vec<(Token<'s>, Span)>, length: usize, errors: Vec<Diagnostic>) -> Self {
        let rules = Rules {
            name: String::new(),
            players: 0,
            contents: Contents::Pieces(Vec::new()),
            board: Board::default(),
            turn: Turn::Same,
            zones: Vec::new(),
            families: Vec::new(),
            counters: Vec::new(),
            moves: Vec::new(),
            becomes: Vec::new(),
            passes: false,
            ends: Vec::new(),
            value: None,
            longest: None,
            goal: None,
            bound: None,
            always: Vec::new(),
            grain: None,
        };
        let end = Span { start: length, end: length };
        let (seen, group, depth) = (Vec::new(), 0, 0);
        Parser { tokens, at: 0, end, rules, errors, seen, group, in_cell: false, depth }
    }

    /// All parts; after an error it goes on with the next one.
    fn parts(&mut self) {
        while self.at < self.tokens.len() {
            if let Err(error) = self.part() {
                self.errors.push(*error);
                while self.at < self.tokens.len() && !self.at_part() {
                    self.at += 1;
                }
            }
        }
    }

    fn at_part(&self) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if PARTS.contains(&word))
    }

    fn part(&mut self) -> Parse<()> {
        let span = self.span();
        let part = match self.peek() {
            Some(Token::Word(word)) => PARTS.iter().find(|part| **part == word).copied(),
            _ => None,
        };
        let Some(part) = part else {
            let found = self.found();
            let known = self.peek_word().and_then(|word| did_you_mean(word, PARTS.into_iter()));
            let help = known.unwrap_or_else(|| format!("parts begin with {}", PARTS.join(", ")));
            self.at += 1;
            return Err(Diagnostic::new(format!("{found} begins no part"), span, help));
        };
        self.at += 1;
        self.order(part, span)?;
        match part {
            "game" => self.game(),
            "piece" => self.piece(),
            "numbers" => self.numbers(),
            "board" | "ring" => self.board(part == "ring"),
            "turn" => self.turn(),
            "zone" => self.zone(),
            "directions" => self.family(),
            "counter" | "shared" => self.counter(part == "counter"),
            "move" => self.a_move(),
            "otherwise" => self.otherwise(span),
            "become" => self.become_part(),
            "pass" => self.pass(),
            "end" => self.end(),
            "always" => self.condition().map(|always| self.rules.always.push(always)),
            "goal" => self.condition().map(|goal| self.rules.goal = Some(goal)),
            "value" => self.number().map(|value| self.rules.value = Some(value)),
            "longest" => self.number().map(|value| self.rules.longest = Some(value)),
            "bound" => self.number().map(|bound| self.rules.bound = Some(bound)),
            _ => self.literal(0, 1000).map(|grain| self.rules.grain = Some(grain as u16)),
        }
    }

    /// Checks that a part may come here, and is not there twice.
    fn order(&mut self, part: &'static str, span: Span) -> Parse<()> {
        if !MANY.contains(&part) && self.seen.iter().any(|(seen, _)| *seen == part) {
            let help = "leave one of the two out";
            return Err(Diagnostic::new(format!("`{part}` is there twice"), span, help));
        }
        let has = |part| self.seen.iter().any(|(seen, _)| *seen == part);
        let needs = match part {
            "game" => None,
            _ if !has("game") => Some("game"),
            "piece" | "numbers" => None,
            _ if !has("piece") && !has("numbers") => Some("piece` or `numbers"),
            "board" | "ring" => None,
            _ if !has("board") && !has("ring") => Some("board` or `ring"),
            _ => None,
        };
        if let Some(needs) = needs {
            let message = format!("`{part}` comes before `{needs}`");
            let help = "rules begin with `game`, then pieces or numbers, then the board";
            return Err(Diagnostic::new(message, span, help));
        }
        let wrong = match self.rules.players {
            1 => ["turn", "pass", "value", "end", "longest", "counter"].contains(&part),
            _ => ["goal", "bound"].contains(&part),
        };
        if wrong {
            let players = self.rules.players;
            let message = format!("a game for {players} has no `{part}`");
            let help = match players {
                1 => "puzzles have `goal` and `bound`, and `shared` for counters",
                _ => "games for 2 have `end` and `value`",
            };
            return Err(Diagnostic::new(message, span, help));
        }
        self.seen.push((part, span));
        Ok(())
    }

    fn game(&mut self) -> Parse<()> {
        self.rules.name = self.name("the game")?;
        self.word("for")?;
        self.rules.players = self.literal(1, 2)? as u8;
        Ok(())
    }

    fn otherwise(&mut self, span: Span) -> Parse<()> {
        if self.rules.moves.last().is_none_or(|last| last.group < self.group) {
            let help = "write moves before it, and those that exist only where there are none of \
                        these behind it";
            return Err(Diagnostic::new("there are no moves before `otherwise`", span, help));
        }
        self.group += 1;
        Ok(())
    }

    fn pass(&mut self) -> Parse<()> {
        self.word("when")?;
        self.word("stuck")?;
        self.rules.passes = true;
        Ok(())
    }

    fn peek(&self) -> Option<Token<'s>> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }

    fn peek_word(&self) -> Option<&'s str> {
        if let Some(Token::Word(word)) = self.peek() { Some(word) } else { None }
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    /// Place of the token before.
    fn before(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |at| self.tokens[at].1)
    }

    fn found(&self) -> String {
        self.peek().map_or_else(|| "the end of the text".into(), |token| token.to_string())
    }

    fn expected(&self, what: &str, help: &str) -> Box<Diagnostic> {
        Diagnostic::new(format!("expected {what}, found {}", self.found()), self.span(), help)
    }

    /// True if this word comes next, which is passed then.
    fn takes(&mut self, word: &str) -> bool {
        let takes = self.peek_word() == Some(word);
        self.at += usize::from(takes);
        takes
    }

    /// True if this sign comes next, which is passed then.
    fn takes_sign(&mut self, sign: &str) -> bool {
        let takes = self.peek() == Some(Token::Sign(sign));
        self.at += usize::from(takes);
        takes
    }

    fn word(&mut self, word: &str) -> Parse<()> {
        if self.takes(word) {
            return Ok(());
        }
        Err(self.expected(&format!("`{word}`"), "the guide's page on rules has the form"))
    }

    fn sign(&mut self, sign: &str) -> Parse<()> {
        if self.takes_sign(sign) {
            return Ok(());
        }
        Err(self.expected(&format!("`{sign}`"), "the guide's page on rules has the form"))
    }

    fn text(&mut self, what: &str) -> Parse<(&'s str, Span)> {
        let Some(Token::Text(text)) = self.peek() else {
            return Err(self.expected(what, "write it in quotes, like \"o\""));
        };
        self.at += 1;
        Ok((text, self.before()))
    }

    /// A number of the text, within limits.
    fn literal(&mut self, least: i32, most: i32) -> Parse<i32> {
        let wanted = format!("a number from {least} to {most}");
        let Some(Token::Number(digits)) = self.peek() else {
            return Err(self.expected(&wanted, "write one"));
        };
        let number = digits.parse().ok().filter(|number| (least..=most).contains(number));
        let number = number.ok_or_else(|| self.expected(&wanted, "write one within these"))?;
        self.at += 1;
        Ok(number)
    }

    /// A new name.
    fn name(&mut self, of: &str) -> Parse<String> {
        let Some(word) = self.peek_word() else {
            return Err(self.expected(&format!("a name of {of}"), "names begin with a letter"));
        };
        let functions = ["min", "max", "abs"];
        let is_taken = |list: &[&str]| list.contains(&word);
        if is_taken(&PARTS) || is_taken(&WORDS) || is_taken(&functions) {
            let message = format!("`{word}` is a word of the language, and no name");
            return Err(Diagnostic::new(message, self.span(), "take another name"));
        }
        if self.is_declared(word) {
            let message = format!("`{word}` has a meaning already");
            return Err(Diagnostic::new(message, self.span(), "take another name"));
        }
        self.at += 1;
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
    fn unknown<'n>(
        &self,
        what: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Box<Diagnostic> {
        let word = self.peek_word().unwrap_or_default();
        let all: Vec<&str> = known.clone().collect();
        let meant = if word.is_empty() { None } else { did_you_mean(word, known) };
        let help = meant.unwrap_or_else(|| match all.is_empty() {
            true => format!("there is no {what} yet: declare it before"),
            false => format!("there are: {}", all.join(", ")),
        });
        let message = match self.peek_word() {
            Some(word) => format!("`{word}` is no {what}"),
            None => format!("expected a {what}, found {}", self.found()),
        };
        Diagnostic::new(message, self.span(), help)
    }

    /// Runs a part of an expression that is about a cell.
    fn about_cell<T>(&mut self, run: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let before = std::mem::replace(&mut self.in_cell, true);
        let result = run(self);
        self.in_cell = before;
        result
    }

    /// A condition about a cell.
    fn cell_condition(&mut self) -> Parse<Expression> {
        self.about_cell(Self::condition)
    }

    /// Directions behind `along` or `each`, if there are any.
    fn along(&mut self) -> Parse<Along> {
        if self.takes("along") {
            return Ok(Along::One(self.directions()?));
        }
        if self.takes("each") {
            return Ok(Along::Each(self.directions()?));
        }
        Ok(Along::Nowhere)
    }
}

#[cfg(test)]
mod tests;
