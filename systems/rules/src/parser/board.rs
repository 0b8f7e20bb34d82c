//! Parts about the board: what cells hold, the first position, sets of cells and directions.

use super::names::Names;
use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::geometry::{MOST_CELLS, Step};
use crate::lexer::Token;
use crate::model::{Contents, Counter, Kind, Turn};

/// Most kinds of pieces.
const MOST_KINDS: usize = 8;

pub fn piece(names: &mut Names<'_>) -> Parse<()> {
    let name = names.name("a piece")?;
    let mut signs = Vec::new();
    for _ in 0..names.rules.players {
        let (sign, span) = names.tokens.text("its sign in pictures")?;
        let used = names.kinds().iter().flat_map(|kind| &kind.signs).chain(&signs);
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
    match &mut names.rules.contents {
        Contents::Pieces(kinds) if kinds.len() < MOST_KINDS && names.rules.board.width == 0 => {
            kinds.push(Kind { name, signs });
            Ok(())
        }
        Contents::Pieces(_) => {
            let help = "there are at most 8 kinds, and they come before the board";
            Err(Diagnostic::new("this piece cannot be here", names.tokens.before(), help))
        }
        Contents::Numbers { .. } => Err(mixed(names)),
    }
}

fn mixed(names: &Names<'_>) -> Box<Diagnostic> {
    let help = "a board has pieces or numbers: leave one of the two out";
    Diagnostic::new("cells hold pieces and numbers", names.tokens.before(), help)
}

pub fn numbers(names: &mut Names<'_>) -> Parse<()> {
    if !names.kinds().is_empty() {
        return Err(mixed(names));
    }
    names.tokens.literal(0, 0)?;
    names.tokens.word("to")?;
    let most = names.tokens.literal(1, 120)? as u8;
    let once = names.tokens.takes("once");
    names.rules.contents = Contents::Numbers { most, once };
    Ok(())
}

pub fn board(names: &mut Names<'_>, is_ring: bool) -> Parse<()> {
    let (picture, span) = names.tokens.text("a picture of the first position")?;
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
    let board = &mut names.rules.board;
    (board.width, board.height, board.is_ring) = (width, height, is_ring);
    let mut places = 0;
    let mut first = Vec::new();
    for (cell, word) in rows.concat().into_iter().enumerate() {
        let is_place = word != "#";
        places |= u64::from(is_place) << cell;
        first.push(if is_place { pictured(names, word, span)? } else { 0 });
    }
    let once = matches!(names.rules.contents, Contents::Numbers { once: true, .. });
    if places != u64::MAX >> (64 - width * height) && (is_ring || once) {
        let help = "take a board without `#`";
        return Err(Diagnostic::new("all cells of this board are places", span, help));
    }
    (names.rules.board.places, names.rules.board.first) = (places, first);
    if once {
        check_once(names, span)?;
    }
    if is_ring {
        for (name, columns) in [("next", 1), ("back", -1)] {
            let step = names.rules.board.step(Step { columns, rows: 0 });
            names.rules.families.push((name.to_owned(), vec![step]));
        }
    }
    Ok(())
}

/// Content that a word of a picture means.
fn pictured(names: &Names<'_>, word: &str, span: Span) -> Parse<u8> {
    let (content, known) = match &names.rules.contents {
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

fn check_once(names: &Names<'_>, span: Span) -> Parse<()> {
    let board = &names.rules.board;
    let Contents::Numbers { most, .. } = names.rules.contents else { return Ok(()) };
    let mut sorted = board.first.clone();
    sorted.sort_unstable();
    if sorted.iter().copied().eq(0..=most) {
        return Ok(());
    }
    let help = format!("`once` says that each number from 0 to {most} is there once");
    Err(Diagnostic::new("a number is missing, or there twice", span, help))
}

pub fn turn(names: &mut Names<'_>) -> Parse<()> {
    let span = names.tokens.span();
    let turn = match names.tokens.peek_word() {
        Some("half") => Turn::Half,
        Some("flip") => Turn::Flip,
        _ => return Err(names.tokens.expected("`half` or `flip`", "leave `turn` out for neither")),
    };
    names.tokens.skip();
    let board = &names.rules.board;
    let moved = |cell| board.places >> board.turned(cell, turn == Turn::Flip) & 1 == 1;
    let odd_ring = board.is_ring && (board.cells() % 2 == 1 || turn == Turn::Flip);
    if odd_ring || !board.place_numbers().all(moved) {
        let help = "the other player has to see places where there are places";
        return Err(Diagnostic::new("this board cannot be turned so", span, help));
    }
    names.rules.turn = turn;
    Ok(())
}

pub fn zone(names: &mut Names<'_>) -> Parse<()> {
    let name = names.name("a zone")?;
    names.tokens.sign("=")?;
    let mut all = cells(names)?;
    while names.tokens.takes_sign("+") {
        all |= cells(names)?;
    }
    names.rules.zones.push((name, all & names.rules.board.places));
    Ok(())
}

/// Cells of a zone, a row, a column, or by their numbers.
fn cells(names: &mut Names<'_>) -> Parse<u64> {
    let board = &names.rules.board;
    let (width, height) = (board.width, board.height);
    let all = |is_in: &dyn Fn(usize) -> bool| {
        (0..width * height).filter(|cell| is_in(*cell)).fold(0, |all, cell| all | 1 << cell)
    };
    if names.tokens.takes("row") {
        let row = names.tokens.literal(0, height as i32 - 1)? as usize;
        return Ok(all(&|cell| cell / width == row));
    }
    if names.tokens.takes("column") {
        let column = names.tokens.literal(0, width as i32 - 1)? as usize;
        return Ok(all(&|cell| cell % width == column));
    }
    if !names.tokens.takes("cells") {
        return names.known_zone();
    }
    let mut cells = 0;
    loop {
        let first = names.tokens.literal(0, (width * height) as i32 - 1)?;
        let last = match names.tokens.takes("to") {
            true => names.tokens.literal(first, (width * height) as i32 - 1)?,
            false => first,
        };
        (first..=last).for_each(|cell| cells |= 1 << cell);
        if !matches!(names.tokens.peek(), Some(Token::Number(_))) {
            return Ok(cells);
        }
    }
}

pub fn family(names: &mut Names<'_>) -> Parse<()> {
    let name = names.name("directions")?;
    names.tokens.sign("=")?;
    let all = names.directions()?;
    names.rules.families.push((name, all));
    Ok(())
}

pub fn counter(names: &mut Names<'_>, each: bool) -> Parse<()> {
    let name = names.name("a counter")?;
    names.tokens.word("to")?;
    let most = names.tokens.literal(1, 255)? as u8;
    let first =
        if names.tokens.takes("from") { names.tokens.literal(0, most.into())? as u8 } else { 0 };
    names.rules.counters.push(Counter { name, most, first, each });
    Ok(())
}
