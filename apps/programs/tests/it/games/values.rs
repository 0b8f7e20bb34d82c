//! Values of a thousand positions on 1, 2 and 4 ranks: those of minimax.

use super::common::*;
use weft_apps::games::{Board, ConnectFour, ConnectFour5x4, Othello};
use weft_search::Judged;

/// Checks what a search to a depth says of positions, and that the lines it gives come to that.
fn check<B: Board + std::fmt::Debug>(positions: &[B], depth: u16, judged: &[Judged]) {
    assert_eq!(positions.len(), judged.len());
    for (start, judged) in positions.iter().zip(judged) {
        assert_eq!(judged.value, minimax(start, depth), "{start:?}: {judged:?}");
        let mut end = *start;
        for by in &judged.line {
            assert!(end.moves().any(|legal| legal == *by), "{by} in {judged:?} from {start:?}");
            end = end.play(*by);
        }
        let is_whole = judged.line.len() == usize::from(depth) || moves_of(&end).is_empty();
        assert!(is_whole, "{judged:?} from {start:?}");
        let sign = if judged.line.len() % 2 == 0 { 1 } else { -1 };
        assert_eq!(sign * end.value(), judged.value, "{judged:?} from {start:?}");
    }
}

fn are_those_of_minimax<B>(first: B, count: usize, longest: usize, depth: u16)
where
    B: Board + Sync + std::fmt::Debug,
{
    let positions = positions(first, count, longest, depth.into());
    for ranks in [1, 2, 4] {
        check(&positions, depth, &on_threads(ranks, &positions, depth));
        let (judged, _) = simulated(ranks, ranks.into(), positions.clone(), depth);
        check(&positions, depth, &judged);
    }
}

#[test]
fn of_othello() {
    are_those_of_minimax(Othello::FIRST, 300, 70, 3);
}

#[test]
fn of_connect_four() {
    are_those_of_minimax(ConnectFour::FIRST, 350, 42, 3);
}

#[test]
fn of_connect_four_on_a_small_board() {
    are_those_of_minimax(ConnectFour5x4::FIRST, 350, 20, 4);
}

#[test]
fn a_search_is_a_function_of_its_seed() {
    let positions = positions(Othello::FIRST, 10, 60, 5);
    let run = |seed| simulated(4, seed, positions.clone(), 5);
    let first = run(7);
    assert_eq!(first, run(7), "nodes, messages and times");
    assert!(first.0.iter().any(|judged| judged.work.messages > 100), "the ranks talk");
}
