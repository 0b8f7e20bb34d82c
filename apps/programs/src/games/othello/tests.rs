//! Othello: published counts, and the rules written down a second time, square by square.

use super::*;

/// Lines of so many moves, by the rules as a player knows them: a board of 64 squares.
fn count_slowly(board: &[i8; 64], player: i8, depth: u32, passed: bool) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (mut lines, mut any) = (0, false);
    for square in 0..64 {
        if let Some(next) = put(board, player, square) {
            any = true;
            lines += count_slowly(&next, -player, depth - 1, false);
        }
    }
    match (any, passed) {
        (true, _) => lines,
        (false, true) => 0,
        // A pass is a line only if the other player has a move.
        (false, false) if (0..64).any(|square| put(board, -player, square).is_some()) => {
            count_slowly(board, -player, depth - 1, true)
        }
        (false, false) => 0,
    }
}

fn put(board: &[i8; 64], player: i8, square: i32) -> Option<[i8; 64]> {
    let mut next = *board;
    for (right, down) in (-1..=1).flat_map(|right| (-1..=1).map(move |down| (right, down))) {
        let mut run = Vec::new();
        let (mut x, mut y) = (square % 8 + right, square / 8 + down);
        while (right, down) != (0, 0) && (0..8).contains(&x) && (0..8).contains(&y) {
            let at = (8 * y + x) as usize;
            match board[at] * player {
                -1 => run.push(at),
                1 => {
                    run.iter().for_each(|at| next[*at] = player);
                    break;
                }
                _ => break,
            }
            (x, y) = (x + right, y + down);
        }
    }
    let is_legal = board[square as usize] == 0 && next != *board;
    is_legal.then(|| {
        next[square as usize] = player;
        next
    })
}

fn squares(position: &Othello) -> [i8; 64] {
    let is = |set: u64, square: usize| (set >> square & 1) as i8;
    std::array::from_fn(|at| is(position.own, at) - is(position.other, at))
}

fn count(position: &Othello, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_moves(),
        _ => position.moves().map(|by| count(&position.play(by), depth - 1)).sum(),
    }
}

#[test]
fn the_lines_of_a_game_are_the_published_ones() {
    let published = [1, 4, 12, 56, 244, 1396, 8200, 55092];
    let counted: Vec<u64> = (0..8).map(|depth| count(&Othello::FIRST, depth)).collect();
    assert_eq!(counted, published);
}

/// Positions to the end of the game, with passes.
#[test]
fn moves_are_those_of_the_rules_in_all_of_a_game() {
    let (mut passes, mut ends) = (0, 0);
    for game in 0..40_u64 {
        let (mut position, mut random) = (Othello::FIRST, game);
        loop {
            let slowly = count_slowly(&squares(&position), 1, 2, false);
            assert_eq!(count(&position, 2), slowly, "{position:?}");
            assert_eq!(position.count_moves(), position.moves().count() as u64);
            let moves: Vec<u8> = position.moves().collect();
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let Some(by) = moves.get((random >> 33) as usize % moves.len().max(1)) else { break };
            passes += usize::from(*by == PASS);
            position = position.play(*by);
        }
        ends += 1;
    }
    assert!(passes > 0, "a player had to pass in some of {ends} games");
}

#[test]
fn positions_come_out_of_bytes_as_they_went_in() {
    let position = Othello::FIRST.play(19);
    let mut bytes = [0; 16];
    position.encode(&mut bytes);
    assert_eq!(Othello::decode(&bytes), Some(position));
    bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(Othello::decode(&bytes), None, "squares of both players");
}
