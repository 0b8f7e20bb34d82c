//! Checks of whole rules.

use crate::diagnostics::{Diagnostic, Span};
use crate::model::Rules;
use crate::numbering::Numbering;
use crate::storage::{MOST_BYTES, Storage};

/// Error of rules of which each part is right, if there is one. Places of parts are told by
/// `place`; `whole` is that of all.
pub fn finish(rules: &Rules, whole: Span, place: impl Fn(&str) -> Span) -> Option<Box<Diagnostic>> {
    let missing =
        |what: &str, help: &str| Some(Diagnostic::new(format!("there is no {what}"), whole, help));
    if rules.name.is_empty() {
        missing("game", "begin with `game`, a name, and `for 1` or `for 2` players")
    } else if rules.board.width == 0 {
        missing("board", "draw the first position behind `board`, in quotes")
    } else if rules.moves.is_empty() {
        missing("move", "write a `move` with its pattern")
    } else if rules.players == 1 && rules.goal.is_none() {
        missing("goal", "write `goal` and when the puzzle is solved")
    } else if rules.players == 2 && rules.ends.is_empty() {
        missing("end", "write what it means to be stuck, such as `end loss when stuck`")
    } else {
        let board = if rules.board.is_ring { "ring" } else { "board" };
        too_large(rules, place(board)).or_else(|| no_numbers(rules, place("move")))
    }
}

fn too_large(rules: &Rules, span: Span) -> Option<Box<Diagnostic>> {
    let bytes = Storage::of(rules).bytes;
    let message = format!("a position takes {bytes} bytes, and {MOST_BYTES} are the most");
    let help = "take a smaller board, fewer kinds of pieces, smaller numbers or fewer counters";
    (bytes > MOST_BYTES).then(|| Diagnostic::new(message, span, help))
}

fn no_numbers(rules: &Rules, span: Span) -> Option<Box<Diagnostic>> {
    let counted = matches!(Numbering::of(rules), Numbering::Counted);
    let wants = rules.moves.iter().any(|made| made.no_return);
    let help = "leave `no return` out: it needs fewer places and directions, and no `again`";
    (counted && wants)
        .then(|| Diagnostic::new("moves have no numbers of their own here", span, help))
}
