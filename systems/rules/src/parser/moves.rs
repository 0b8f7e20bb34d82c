//! Moves: patterns, what they leave, and what is done behind them; ends.

use super::expressions::{cell_condition, condition, number};
use super::names::Names;
use super::patterns::{MOST, check_along, pattern, put, puts, test};
use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::model::{Action, Along, Become, Contents, End, Move, Outcome, Pattern, Put, Set, Times};
use crate::numbering::only_place;

pub fn a_move(names: &mut Names<'_>, group: usize) -> Parse<()> {
    let name = names.name("a move")?;
    let from = if names.tokens.takes("from") { Some(names.known_zone()?) } else { None };
    let along = names.along()?;
    let begin = names.tokens.span();
    let (mut again, mut no_return) = (false, false);
    while !names.tokens.takes_sign(":") {
        if names.tokens.takes("again") {
            again = true;
        } else if names.tokens.takes("no") {
            names.tokens.word("return")?;
            no_return = true;
        } else {
            let help = "a move is: its name, `from` a zone, `along` or `each` directions, \
                        `again`, `no return`, `:` and its pattern";
            return Err(names.tokens.expected("`:`", help));
        }
    }
    let words = begin.to(names.tokens.before());
    let begin = names.tokens.span();
    let mut before = pattern(names)?;
    check_along(names, &before, &along, begin)?;
    if let (Some(zone), Some((first, _))) = (from, before.0.first_mut()) {
        first.zone = Some(first.zone.unwrap_or(u64::MAX) & zone);
    }
    names.tokens.sign("->")?;
    let after = puts(names, &before)?;
    let condition = if names.tokens.takes("where") { Some(cell_condition(names)?) } else { None };
    let mut actions = Vec::new();
    while let Some(action) = action(names, &actions)? {
        actions.push(action);
    }
    if names.rules.moves.len() == MOST {
        let help = "rules have at most 64 moves";
        return Err(Diagnostic::new("too many moves", begin, help));
    }
    let made = Move { name, along, before, after, condition, actions, again, no_return, group };
    if again && !takes_something(&made) {
        let help = "each part of such a move has to make pieces fewer, so that it ends";
        return Err(Diagnostic::new("`again` on a move that takes nothing", words, help));
    }
    if no_return {
        check_return(names, &made, words)?;
    }
    names.rules.moves.push(made);
    Ok(())
}

/// Checks that a move without return has its opposite.
fn check_return(names: &Names<'_>, made: &Move, span: Span) -> Parse<()> {
    let board = &names.rules.board;
    let Along::One(steps) = &made.along else {
        let help = "the opposite move goes along the opposite direction: write `along`";
        return Err(Diagnostic::new("`no return` without directions", span, help));
    };
    let has = |step: &usize| board.opposite(*step).is_some_and(|back| steps.contains(&back));
    if only_place(&names.rules, made) && steps.iter().all(has) {
        return Ok(());
    }
    let help = "only moves have it that begin with a number that is there `once`, along \
                directions of which each has its opposite";
    Err(Diagnostic::new("`no return` cannot be here", span, help))
}

/// True if a move leaves fewer pieces than there were.
fn takes_something(made: &Move) -> bool {
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

fn action(names: &mut Names<'_>, before: &[Action]) -> Parse<Option<Action>> {
    let span = names.tokens.span();
    let numbers = matches!(names.rules.contents, Contents::Numbers { .. });
    if names.tokens.takes("sow") {
        if !names.rules.board.is_ring || !numbers {
            let help = "the first cell's number goes to the next ones of a ring of numbers";
            return Err(Diagnostic::new("nothing can be sown on this board", span, help));
        }
        let past_start = names.tokens.takes("past");
        if past_start {
            names.tokens.word("start")?;
        }
        return Ok(Some(Action::Sow { past_start }));
    }
    if names.tokens.takes("collect") {
        if !before.iter().any(|action| matches!(action, Action::Sow { .. })) {
            let help = "it begins at the last cell that was sown: write `sow` before";
            return Err(Diagnostic::new("`collect` without `sow`", span, help));
        }
        names.tokens.word("during")?;
        let during = cell_condition(names)?;
        names.tokens.word("into")?;
        let into = names.counter_value()?;
        let keeping = if names.tokens.takes("keeping") { Some(condition(names)?) } else { None };
        return Ok(Some(Action::Collect { during, into, keeping }));
    }
    if names.tokens.takes("need") {
        return Ok(Some(Action::Need(condition(names)?)));
    }
    if names.tokens.takes("let") {
        let (counter, whose) = names.counter_value()?;
        names.tokens.sign("=")?;
        return Ok(Some(Action::Let(counter, whose, number(names)?)));
    }
    Ok(None)
}

pub fn become_part(names: &mut Names<'_>) -> Parse<()> {
    let begin = names.tokens.span();
    let (from, times) = test(names)?;
    if times != Times::Once || from.pieces.is_empty() || from.empty || from.edge {
        let help = "write the piece that changes, and `in` a zone";
        return Err(Diagnostic::new("only one piece can change", begin, help));
    }
    names.tokens.sign("->")?;
    let before = Pattern(vec![(from.clone(), times)]);
    let into = put(names, &before)?;
    let stops = names.tokens.takes("stop");
    names.rules.becomes.push(Become { from, into, stops });
    Ok(())
}

pub fn end(names: &mut Names<'_>) -> Parse<()> {
    let outcome = if names.tokens.takes("win") {
        Outcome::Win
    } else if names.tokens.takes("loss") {
        Outcome::Loss
    } else if names.tokens.takes("draw") {
        Outcome::Draw
    } else if names.tokens.takes("score") {
        Outcome::Score(number(names)?)
    } else {
        let help = "an end is, for the player to move: `win`, `loss`, `draw` or `score` and a \
                    number; then `when` and a condition, or `stuck`";
        return Err(names.tokens.expected("an outcome", help));
    };
    names.tokens.word("when")?;
    let when = if names.tokens.takes("stuck") { None } else { Some(condition(names)?) };
    names.rules.ends.push(End { outcome, when });
    Ok(())
}
