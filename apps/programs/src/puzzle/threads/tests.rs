use super::search;
use crate::puzzle::board::Board;

#[test]
fn any_number_of_threads_finds_the_same_length_by_the_same_nodes() {
    let far = "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11";
    for (text, moves) in [(far, 41), ("4 1 2 3 5 9 6 7 8 0 10 11 12 13 14 15", 3)] {
        let board: Board = text.parse().expect("a board");
        let one = search(&board, 80, 1);
        assert_eq!(one.moves, Some(moves), "{text}: {one:?}");
        assert!(one.nodes.iter().all(|(_, nodes)| *nodes > 0));
        for threads in [2, 3] {
            assert_eq!(search(&board, 80, threads), one, "{threads} threads");
        }
        let less = search(&board, moves - 1, 2);
        assert_eq!((less.moves, &less.nodes), (None, &one.nodes));
    }
    assert_eq!(search(&Board::SOLVED, 80, 2).moves, Some(0));
}
