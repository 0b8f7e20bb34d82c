use std::fmt::Write;

use weft_app_common::{seconds, thousands};
use weft_search::{Iteration, Puzzle, SearchAnswer, Solved};

use crate::puzzle::board::Board;
use crate::puzzle::input::Instance;

/// Lines that rank 0 prints about a board.
pub(crate) fn report(instance: &Instance, solved: &Solved, brief: bool) -> String {
    let mut text = String::new();
    let name = match instance.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let _ = writeln!(text, "{name}{}", instance.board);
    if !brief {
        iterations(&mut text, &solved.iterations);
    }
    let total = solved.total();
    let rate = total.nodes as f64 / solved.time.as_secs_f64().max(f64::MIN_POSITIVE) / 1e6;
    let found = match &solved.answer {
        SearchAnswer::Moves(moves) => format!("{} moves", moves.len()),
        SearchAnswer::Unsolvable => "no solution".to_owned(),
        SearchAnswer::Late { at_least } => format!("{at_least} moves or more"),
    };
    let compared = match (&solved.answer, instance.moves) {
        (SearchAnswer::Moves(moves), Some(known)) if moves.len() == usize::from(known) => {
            ", as is known"
        }
        _ => "",
    };
    let (nodes, time) = (thousands(total.nodes), seconds(solved.time));
    let _ = writeln!(
        text,
        "{found}{compared}   {nodes} nodes, {time}, {rate:.1} million nodes a second"
    );
    if let Some(bound) = solved.full_at {
        let _ = writeln!(text, "memory was full at bound {bound}: IDA* has gone on from there");
    }
    if let (SearchAnswer::Moves(moves), false) = (&solved.answer, brief) {
        let _ = writeln!(text, "{}\n", slid(&instance.board, moves));
    }
    text
}

/// A line for each iteration.
fn iterations(text: &mut String, iterations: &[Iteration]) {
    let heads = ["bound", "nodes", "time", "jobs sent", "messages", "table hits"];
    let [bound, nodes, time, jobs, messages, hits] = heads;
    let _ =
        writeln!(text, "{bound:>7} {nodes:>15} {time:>10} {jobs:>12} {messages:>10} {hits:>12}");
    for iteration in iterations {
        let [nodes, jobs, messages, hits] =
            [iteration.nodes, iteration.jobs, iteration.messages, iteration.hits].map(thousands);
        let (bound, time) = (iteration.bound, seconds(iteration.time));
        let _ = writeln!(
            text,
            "{bound:>7} {nodes:>15} {time:>10} {jobs:>12} {messages:>10} {hits:>12}"
        );
    }
}

/// Tiles that slide, one after the other.
fn slid(board: &Board, moves: &[u8]) -> String {
    let mut board = *board;
    let tiles = moves.iter().map(|by| {
        let tile = board.slid(*by).to_string();
        board = board.play(*by);
        tile
    });
    tiles.collect::<Vec<_>>().join(" ")
}
