//! Patterns: tests of cells, and what comes into them.

use super::names::Names;
use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::lexer::Token;
use crate::model::{Along, Contents, Pattern, Put, Set, Times, Whose};

/// Most moves, and most cells of a pattern.
pub const MOST: usize = 64;

/// Checks that a pattern has directions if it needs them.
pub fn check_along(names: &Names<'_>, pattern: &Pattern, along: &Along, at: Span) -> Parse<()> {
    let span = at.to(names.tokens.before());
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

pub fn pattern(names: &mut Names<'_>) -> Parse<Pattern> {
    names.tokens.sign("[")?;
    let mut all = Vec::new();
    loop {
        let begin = names.tokens.span();
        let (set, times) = test(names)?;
        let span = begin.to(names.tokens.before());
        let is_last = !names.tokens.takes_sign("|");
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
            names.tokens.sign("]")?;
            return Ok(Pattern(all));
        }
    }
}

/// A test of a cell: contents, perhaps in a zone, and how often.
pub fn test(names: &mut Names<'_>) -> Parse<(Set, Times)> {
    let mut set = Set::default();
    loop {
        content(names, &mut set)?;
        if !names.tokens.takes("or") {
            break;
        }
    }
    if names.tokens.takes("in") {
        set.zone = Some(names.known_zone()?);
    }
    let times = match names.tokens.peek() {
        Some(Token::Sign("+")) => Times::Plus,
        Some(Token::Sign("*")) => Times::Star,
        _ => return Ok((set, Times::Once)),
    };
    names.tokens.skip();
    Ok((set, times))
}

fn content(names: &mut Names<'_>, set: &mut Set) -> Parse<()> {
    if names.tokens.takes("edge") {
        set.edge = true;
        return Ok(());
    }
    if let Contents::Numbers { most, .. } = names.rules.contents {
        if names.tokens.takes("any") {
            set.numbers.push((0, most));
            return Ok(());
        }
        let first = names.tokens.literal(0, most.into())?;
        let last = if names.tokens.takes("to") {
            names.tokens.literal(first, most.into())?
        } else {
            first
        };
        set.numbers.push((first as u8, last as u8));
        return Ok(());
    }
    if names.tokens.takes("empty") {
        set.empty = true;
    } else if names.tokens.takes("full") {
        set.pieces.extend(names.players().map(|whose| (whose, None)));
    } else if names.tokens.takes("any") {
        set.empty = true;
        set.pieces.extend(names.players().map(|whose| (whose, None)));
    } else if let Some(whose) = names.owner() {
        let kind = names.kind_at();
        if kind.is_some() {
            names.tokens.skip();
        }
        set.pieces.push((whose, kind));
    } else {
        let kind = names.kind()?;
        set.pieces.extend(names.players().map(|whose| (whose, Some(kind))));
    }
    Ok(())
}

/// New contents of the cells of a pattern.
pub fn puts(names: &mut Names<'_>, before: &Pattern) -> Parse<Vec<Put>> {
    let begin = names.tokens.span();
    names.tokens.sign("[")?;
    let mut all = vec![put(names, before)?];
    while names.tokens.takes_sign("|") {
        all.push(put(names, before)?);
    }
    names.tokens.sign("]")?;
    let span = begin.to(names.tokens.before());
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

pub fn put(names: &mut Names<'_>, before: &Pattern) -> Parse<Put> {
    if names.tokens.takes("same") {
        return Ok(Put::Same);
    }
    if names.tokens.takes_sign("@") {
        let cell = names.tokens.literal(1, before.0.len() as i32)? as usize - 1;
        let (set, times) = &before.0[cell];
        if *times == Times::Once && !set.edge {
            return Ok(Put::From(cell));
        }
        let help = "`@` and a number means what was in a cell that is tested once";
        return Err(Diagnostic::new("this is not one cell", names.tokens.before(), help));
    }
    if let Contents::Numbers { most, .. } = names.rules.contents {
        return Ok(Put::Number(names.tokens.literal(0, most.into())? as u8));
    }
    if names.tokens.takes("empty") {
        return Ok(Put::Empty);
    }
    if names.rules.players == 1 {
        return Ok(Put::Piece(Whose::Own, names.kind()?));
    }
    let Some(whose) = names.owner() else {
        let help = "write `empty`, `same`, `own` or `other` and a piece, or `@1` for what was \
                    in the first cell";
        return Err(names.tokens.expected("what comes into the cell", help));
    };
    match names.kinds().len() {
        1 if names.kind_at().is_none() => Ok(Put::Piece(whose, 0)),
        _ => Ok(Put::Piece(whose, names.kind()?)),
    }
}
