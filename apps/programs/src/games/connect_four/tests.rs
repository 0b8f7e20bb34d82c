//! Connect Four: published counts, and the rules written down a second time, place by place.

use super::*;
use std::collections::BTreeSet;

/// Lines of so many moves, on a board of columns.
fn count_slowly(columns: &mut [Vec<bool>; 7], first: bool, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    if is_won(columns) {
        return 0;
    }
    let mut lines = 0;
    for column in 0..7 {
        if columns[column].len() < 6 {
            columns[column].push(first);
            lines += count_slowly(columns, !first, depth - 1);
            columns[column].pop();
        }
    }
    lines
}

fn is_won(columns: &[Vec<bool>; 7]) -> bool {
    let at = |x: i32, y: i32| {
        let column = usize::try_from(x).ok().and_then(|x| columns.get(x))?;
        usize::try_from(y).ok().and_then(|y| column.get(y)).copied()
    };
    let line = |x: i32, y: i32, (right, up): (i32, i32)| {
        let discs = (0..4).map(|step| at(x + step * right, y + step * up));
        let discs: Vec<_> = discs.collect();
        discs[0].is_some() && discs.iter().all(|disc| *disc == discs[0])
    };
    (0..7).flat_map(|x| (0..6).map(move |y| (x, y))).any(|(x, y)| {
        [(1, 0), (0, 1), (1, 1), (1, -1)].into_iter().any(|direction| line(x, y, direction))
    })
}

fn count(position: &ConnectFour, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_moves(),
        _ => position.moves().map(|by| count(&position.play(by), depth - 1)).sum(),
    }
}

/// J. Tromp's numbers of positions after so many moves: sequence A212693 of the On-Line
/// Encyclopedia of Integer Sequences.
#[test]
fn positions_are_as_many_as_published() {
    let published = [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275];
    let mut positions = BTreeSet::from([ConnectFour::FIRST]);
    for expected in published {
        assert_eq!(positions.len(), expected);
        let next = |position: &ConnectFour| {
            let position = *position;
            position.moves().map(move |by| position.play(by))
        };
        positions = positions.iter().flat_map(next).collect();
    }
}

#[test]
fn lines_are_those_of_the_rules_from_the_first_position_and_later_ones() {
    assert_eq!(count(&ConnectFour::FIRST, 6), 7_u64.pow(6));
    // Full columns, wins in all directions: games of random moves.
    let mut wins = 0;
    for game in 0..60_u64 {
        let (mut position, mut columns) = (ConnectFour::FIRST, <[Vec<bool>; 7]>::default());
        let (mut random, mut first) = (game, true);
        loop {
            let slowly = count_slowly(&mut columns, first, 2);
            assert_eq!(count(&position, 2), slowly, "{position:?}");
            let moves: Vec<u8> = position.moves().collect();
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let Some(by) = moves.get((random >> 33) as usize % moves.len().max(1)) else { break };
            position = position.play(*by);
            columns[usize::from(*by)].push(first);
            first = !first;
        }
        wins += usize::from(is_won(&columns));
    }
    assert!(wins > 30, "{wins} of 60 games were won");
}

#[test]
fn positions_come_out_of_bytes_as_they_went_in() {
    let position = ConnectFour::FIRST.play(3).play(3).play(0);
    let mut bytes = [0; 16];
    position.encode(&mut bytes);
    assert_eq!(ConnectFour::decode(&bytes), Some(position));
    for (own, other) in [(1, 1), (2, 0), (1 << 6, 0), (1 << 50, 0)] {
        bits::encode(own, other, &mut bytes);
        assert_eq!(ConnectFour::decode(&bytes), None, "{own} and {other}");
    }
}
