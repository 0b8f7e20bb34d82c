//! Moves: patterns, what they leave, and what is done behind them; ends.

use super::Parser;
use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::lexer::Token;
use crate::model::{
    Action, Along, Become, Contents, End, Move, Outcome, Pattern, Put, Set, Times, Whose,
};
use crate::numbering::only_place;

/// Most moves, and most cells of a pattern.
const MOST: usize = 64;

impl Parser<'_> {
    pub(super) fn a_move(&mut self) -> Parse<()> {
        let name = self.name("a move")?;
        let from = if self.takes("from") { Some(self.known_zone()?) } else { None };
        let along = self.along()?;
        let begin = self.span();
        let (mut again, mut no_return) = (false, false);
        while !self.takes_sign(":") {
            if self.takes("again") {
                again = true;
            } else if self.takes("no") {
                self.word("return")?;
                no_return = true;
            } else {
                let help = "a move is: its name, `from` a zone, `along` or `each` directions, \
                            `again`, `no return`, `:` and its pattern";
                return Err(self.expected("`:`", help));
            }
        }
        let words = begin.to(self.before());
        let begin = self.span();
        let mut before = self.pattern()?;
        self.check_along(&before, &along, begin)?;
        if let (Some(zone), Some((first, _))) = (from, before.0.first_mut()) {
            first.zone = Some(first.zone.unwrap_or(u64::MAX) & zone);
        }
        self.sign("->")?;
        let after = self.puts(&before)?;
        let condition = if self.takes("where") { Some(self.cell_condition()?) } else { None };
        let mut actions = Vec::new();
        while let Some(action) = self.action(&actions)? {
            actions.push(action);
        }
        if self.rules.moves.len() == MOST {
            let help = "rules have at most 64 moves";
            return Err(Diagnostic::new("too many moves", begin, help));
        }
        let group = self.group;
        let made = Move { name, along, before, after, condition, actions, again, no_return, group };
        if again && !self.takes_something(&made) {
            let help = "each part of such a move has to make pieces fewer, so that it ends";
            return Err(Diagnostic::new("`again` on a move that takes nothing", words, help));
        }
        if no_return {
            self.check_return(&made, words)?;
        }
        self.rules.moves.push(made);
        Ok(())
    }

    /// Checks that a move without return has its opposite.
    fn check_return(&self, made: &Move, span: Span) -> Parse<()> {
        let board = &self.rules.board;
        let Along::One(steps) = &made.along else {
            let help = "the opposite move goes along the opposite direction: write `along`";
            return Err(Diagnostic::new("`no return` without directions", span, help));
        };
        let has = |step: &usize| board.opposite(*step).is_some_and(|back| steps.contains(&back));
        if only_place(&self.rules, made) && steps.iter().all(has) {
            return Ok(());
        }
        let help = "only moves have it that begin with a number that is there `once`, along \
                    directions of which each has its opposite";
        Err(Diagnostic::new("`no return` cannot be here", span, help))
    }

    /// True if a move leaves fewer pieces than there were.
    fn takes_something(&self, made: &Move) -> bool {
        // What is neither filled nor empty for sure counts so that the answer is no.
        let filled = |set: &Set| !set.pieces.is_empty() && !set.empty && !set.edge;
        let before: Vec<bool> = made.before.0.iter().map(|(set, _)| filled(set)).collect();
        let after = made.after.iter().zip(&made.before.0).map(|(put, (set, _))| match put {
            Put::Empty => false,
            Put::Same => !set.pieces.is_empty(),
            Put::Piece(..) | Put::Number(_) => true,
            Put::From(cell) => !made.before.0[*cell].0.pieces.is_empty(),
        });
        let once = made.before.0.iter().all(|(_, times)| *times == Times::Once);
        let after = after.filter(|filled| *filled).count();
        once && before.into_iter().filter(|filled| *filled).count() > after
    }

    /// Checks that a pattern has directions if it needs them.
    pub(super) fn check_along(&self, pattern: &Pattern, along: &Along, at: Span) -> Parse<()> {
        let span = at.to(self.before());
        match (pattern.0.len(), along) {
            (1, Along::Nowhere) | (2.., Along::One(_) | Along::Each(_)) => Ok(()),
            (1, _) => {
                let help = "write the cells that follow, or no directions";
                Err(Diagnostic::new("a pattern of one cell goes nowhere", span, help))
            }
            _ => {
                let help = "write `along` and directions";
                Err(Diagnostic::new("a pattern of several cells needs directions", span, help))
            }
        }
    }

    pub(super) fn pattern(&mut self) -> Parse<Pattern> {
        self.sign("[")?;
        let mut all = Vec::new();
        loop {
            let begin = self.span();
            let (set, times) = self.test()?;
            let span = begin.to(self.before());
            let is_last = !self.takes_sign("|");
            if set.edge && (!is_last || all.is_empty()) {
                let help = "write it last: nothing is behind the edge";
                return Err(Diagnostic::new("`edge` within a pattern", span, help));
            }
            if times != Times::Once && (is_last || all.is_empty()) {
                let help = "the first and the last test of a pattern are about one cell each";
                return Err(Diagnostic::new("`+` and `*` stand between others", span, help));
            }
            all.push((set, times));
            if all.len() > MOST {
                let help = "a pattern has at most 64 cells";
                return Err(Diagnostic::new("this pattern is too long", span, help));
            }
            if is_last {
                self.sign("]")?;
                return Ok(Pattern(all));
            }
        }
    }

    /// A test of a cell: contents, perhaps in a zone, and how often.
    pub(super) fn test(&mut self) -> Parse<(Set, Times)> {
        let mut set = Set::default();
        loop {
            self.content(&mut set)?;
            if !self.takes("or") {
                break;
            }
        }
        if self.takes("in") {
            set.zone = Some(self.known_zone()?);
        }
        let times = match self.peek() {
            Some(Token::Sign("+")) => Times::Plus,
            Some(Token::Sign("*")) => Times::Star,
            _ => return Ok((set, Times::Once)),
        };
        self.at += 1;
        Ok((set, times))
    }

    fn content(&mut self, set: &mut Set) -> Parse<()> {
        if self.takes("edge") {
            set.edge = true;
            return Ok(());
        }
        if let Contents::Numbers { most, .. } = self.rules.contents {
            if self.takes("any") {
                set.numbers.push((0, most));
                return Ok(());
            }
            let first = self.literal(0, most.into())?;
            let last = if self.takes("to") { self.literal(first, most.into())? } else { first };
            set.numbers.push((first as u8, last as u8));
            return Ok(());
        }
        if self.takes("empty") {
            set.empty = true;
        } else if self.takes("full") {
            set.pieces.extend(self.players().map(|whose| (whose, None)));
        } else if self.takes("any") {
            set.empty = true;
            set.pieces.extend(self.players().map(|whose| (whose, None)));
        } else if let Some(whose) = self.owner() {
            let kind = self.kind_at();
            self.at += usize::from(kind.is_some());
            set.pieces.push((whose, kind));
        } else {
            let kind = self.kind()?;
            set.pieces.extend(self.players().map(|whose| (whose, Some(kind))));
        }
        Ok(())
    }

    fn players(&self) -> impl Iterator<Item = Whose> + use<> {
        [Whose::Own, Whose::Other].into_iter().take(self.rules.players.into())
    }

    /// `own` or `other`, in a game for two.
    fn owner(&mut self) -> Option<Whose> {
        if self.rules.players == 1 {
            return None;
        }
        if self.takes("own") {
            return Some(Whose::Own);
        }
        self.takes("other").then_some(Whose::Other)
    }

    fn kind_at(&self) -> Option<usize> {
        let word = self.peek_word()?;
        self.kinds().iter().position(|kind| kind.name == word)
    }

    fn kind(&mut self) -> Parse<usize> {
        let kind = self.kind_at().ok_or_else(|| {
            self.unknown("piece", self.kinds().iter().map(|kind| kind.name.as_str()))
        })?;
        self.at += 1;
        Ok(kind)
    }

    /// New contents of the cells of a pattern.
    fn puts(&mut self, before: &Pattern) -> Parse<Vec<Put>> {
        let begin = self.span();
        self.sign("[")?;
        let mut all = vec![self.put(before)?];
        while self.takes_sign("|") {
            all.push(self.put(before)?);
        }
        self.sign("]")?;
        let span = begin.to(self.before());
        let (had, has) = (before.0.len(), all.len());
        if had != has {
            let message = format!("{had} cells become {has}");
            let help = "write for each cell what comes into it, or `same`";
            return Err(Diagnostic::new(message, span, help));
        }
        if before.0.last().is_some_and(|(set, _)| set.edge) && all.last() != Some(&Put::Same) {
            let help = "write `same` for what may be the edge";
            return Err(Diagnostic::new("nothing comes beyond the edge", span, help));
        }
        Ok(all)
    }

    fn put(&mut self, before: &Pattern) -> Parse<Put> {
        if self.takes("same") {
            return Ok(Put::Same);
        }
        if self.takes_sign("@") {
            let cell = self.literal(1, before.0.len() as i32)? as usize - 1;
            let (set, times) = &before.0[cell];
            if *times == Times::Once && !set.edge {
                return Ok(Put::From(cell));
            }
            let help = "`@` and a number means what was in a cell that is tested once";
            return Err(Diagnostic::new("this is not one cell", self.before(), help));
        }
        if let Contents::Numbers { most, .. } = self.rules.contents {
            return Ok(Put::Number(self.literal(0, most.into())? as u8));
        }
        if self.takes("empty") {
            return Ok(Put::Empty);
        }
        if self.rules.players == 1 {
            return Ok(Put::Piece(Whose::Own, self.kind()?));
        }
        let Some(whose) = self.owner() else {
            let help = "write `empty`, `same`, `own` or `other` and a piece, or `@1` for what was \
                        in the first cell";
            return Err(self.expected("what comes into the cell", help));
        };
        match self.kinds().len() {
            1 if self.kind_at().is_none() => Ok(Put::Piece(whose, 0)),
            _ => Ok(Put::Piece(whose, self.kind()?)),
        }
    }

    fn action(&mut self, before: &[Action]) -> Parse<Option<Action>> {
        let span = self.span();
        let numbers = matches!(self.rules.contents, Contents::Numbers { .. });
        if self.takes("sow") {
            if !self.rules.board.is_ring || !numbers {
                let help = "the first cell's number goes to the next ones of a ring of numbers";
                return Err(Diagnostic::new("nothing can be sown on this board", span, help));
            }
            let past_start = self.takes("past");
            if past_start {
                self.word("start")?;
            }
            return Ok(Some(Action::Sow { past_start }));
        }
        if self.takes("collect") {
            if !before.iter().any(|action| matches!(action, Action::Sow { .. })) {
                let help = "it begins at the last cell that was sown: write `sow` before";
                return Err(Diagnostic::new("`collect` without `sow`", span, help));
            }
            self.word("during")?;
            let during = self.cell_condition()?;
            self.word("into")?;
            let into = self.counter_value()?;
            let keeping = if self.takes("keeping") { Some(self.condition()?) } else { None };
            return Ok(Some(Action::Collect { during, into, keeping }));
        }
        if self.takes("need") {
            return Ok(Some(Action::Need(self.condition()?)));
        }
        if self.takes("let") {
            let (counter, whose) = self.counter_value()?;
            self.sign("=")?;
            return Ok(Some(Action::Let(counter, whose, self.number()?)));
        }
        Ok(None)
    }

    pub(super) fn become_part(&mut self) -> Parse<()> {
        let begin = self.span();
        let (from, times) = self.test()?;
        if times != Times::Once || from.pieces.is_empty() || from.empty || from.edge {
            let help = "write the piece that changes, and `in` a zone";
            return Err(Diagnostic::new("only one piece can change", begin, help));
        }
        self.sign("->")?;
        let before = Pattern(vec![(from.clone(), times)]);
        let into = self.put(&before)?;
        let stops = self.takes("stop");
        self.rules.becomes.push(Become { from, into, stops });
        Ok(())
    }

    pub(super) fn end(&mut self) -> Parse<()> {
        let outcome = if self.takes("win") {
            Outcome::Win
        } else if self.takes("loss") {
            Outcome::Loss
        } else if self.takes("draw") {
            Outcome::Draw
        } else if self.takes("score") {
            Outcome::Score(self.number()?)
        } else {
            let help = "an end is, for the player to move: `win`, `loss`, `draw` or `score` and a \
                        number; then `when` and a condition, or `stuck`";
            return Err(self.expected("an outcome", help));
        };
        self.word("when")?;
        let when = if self.takes("stuck") { None } else { Some(self.condition()?) };
        self.rules.ends.push(End { outcome, when });
        Ok(())
    }
}
