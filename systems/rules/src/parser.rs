//! The parser: tokens to rules. A name is declared before it is used, so one pass is enough.
//!
//! Text that cannot be understood is reported and skipped, up to the word that begins the next
//! part, so that one run reports several errors. The depth of expressions is bounded.

mod board;
mod expressions;
mod finish;
mod moves;
mod names;
mod patterns;
mod tokens;

use crate::diagnostics::{Diagnostic, Parse, Span, did_you_mean};
use crate::geometry::Board;
use crate::lexer::{Token, lex};
use crate::model::{Contents, Rules, Turn};
use expressions::{condition, number};
use names::{Names, PARTS};
use tokens::Tokens;

/// Largest text of rules, in bytes.
const LARGEST: usize = 1 << 20;

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
    let tokens = Tokens::new(tokens, text.len());
    let whole = tokens.first();
    let names = Names { tokens, rules: none() };
    let mut parser = Parser { names, errors, seen: Vec::new(), group: 0 };
    parser.parts();
    let Parser { names: Names { rules, .. }, mut errors, seen, .. } = parser;
    if errors.is_empty() {
        let place = |part: &str| {
            seen.iter().find(|(seen, _)| *seen == part).map_or(whole, |(_, span)| *span)
        };
        errors.extend(finish::finish(&rules, whole, place).map(|error| *error));
    }
    errors.sort_by_key(|error| error.span);
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

/// Rules of which nothing is known.
fn none() -> Rules {
    Rules {
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
    }
}

/// Parts, in their order.
struct Parser<'s> {
    names: Names<'s>,
    errors: Vec<Diagnostic>,
    /// Places of parts, by the words that begin them.
    seen: Vec<(&'static str, Span)>,
    /// Number of the group that moves belong to.
    group: usize,
}

impl Parser<'_> {
    /// All parts; after an error it goes on with the next one.
    fn parts(&mut self) {
        while !self.names.tokens.is_over() {
            if let Err(error) = self.part() {
                self.errors.push(*error);
                while !self.names.tokens.is_over() && !self.at_part() {
                    self.names.tokens.skip();
                }
            }
        }
    }

    fn at_part(&self) -> bool {
        matches!(self.names.tokens.peek(), Some(Token::Word(word)) if PARTS.contains(&word))
    }

    fn part(&mut self) -> Parse<()> {
        let span = self.names.tokens.span();
        let part = match self.names.tokens.peek() {
            Some(Token::Word(word)) => PARTS.iter().find(|part| **part == word).copied(),
            _ => None,
        };
        let Some(part) = part else {
            let found = self.names.tokens.found();
            let known = self
                .names
                .tokens
                .peek_word()
                .and_then(|word| did_you_mean(word, PARTS.into_iter()));
            let help = known.unwrap_or_else(|| format!("parts begin with {}", PARTS.join(", ")));
            self.names.tokens.skip();
            return Err(Diagnostic::new(format!("{found} begins no part"), span, help));
        };
        self.names.tokens.skip();
        self.order(part, span)?;
        let names = &mut self.names;
        match part {
            "game" => self.game(),
            "piece" => board::piece(names),
            "numbers" => board::numbers(names),
            "board" | "ring" => board::board(names, part == "ring"),
            "turn" => board::turn(names),
            "zone" => board::zone(names),
            "directions" => board::family(names),
            "counter" | "shared" => board::counter(names, part == "counter"),
            "move" => moves::a_move(names, self.group),
            "otherwise" => self.otherwise(span),
            "become" => moves::become_part(names),
            "pass" => self.pass(),
            "end" => moves::end(names),
            "always" => condition(names).map(|always| names.rules.always.push(always)),
            "goal" => condition(names).map(|goal| names.rules.goal = Some(goal)),
            "value" => number(names).map(|value| names.rules.value = Some(value)),
            "longest" => number(names).map(|value| names.rules.longest = Some(value)),
            "bound" => number(names).map(|bound| names.rules.bound = Some(bound)),
            _ => names.tokens.literal(0, 1000).map(|grain| names.rules.grain = Some(grain as u16)),
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
        let wrong = match self.names.rules.players {
            1 => ["turn", "pass", "value", "end", "longest", "counter"].contains(&part),
            _ => ["goal", "bound"].contains(&part),
        };
        if wrong {
            let players = self.names.rules.players;
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
        self.names.rules.name = self.names.name("the game")?;
        self.names.tokens.word("for")?;
        self.names.rules.players = self.names.tokens.literal(1, 2)? as u8;
        Ok(())
    }

    fn otherwise(&mut self, span: Span) -> Parse<()> {
        if self.names.rules.moves.last().is_none_or(|last| last.group < self.group) {
            let help = "write moves before it, and those that exist only where there are none of \
                        these behind it";
            return Err(Diagnostic::new("there are no moves before `otherwise`", span, help));
        }
        self.group += 1;
        Ok(())
    }

    fn pass(&mut self) -> Parse<()> {
        self.names.tokens.word("when")?;
        self.names.tokens.word("stuck")?;
        self.names.rules.passes = true;
        Ok(())
    }
}
