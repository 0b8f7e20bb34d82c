use super::*;
use proptest::prelude::*;

/// C(n, k), by multiplying.
fn binomial(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

#[test]
fn there_are_as_many_boards_as_compositions() {
    for stones in 0..=MOST_STONES {
        assert_eq!(u64::from(count(stones)), binomial(u64::from(stones) + 11, 11), "{stones}");
    }
    assert_eq!(count(13), 2_496_144);
    assert_eq!((0..=13).map(count).sum::<u32>(), 5_200_300);
}

#[test]
fn boards_and_numbers_are_one_to_one() {
    for stones in 0..=6 {
        for index in 0..count(stones) {
            let board = board_of(stones, index);
            assert_eq!(board.stones(), stones);
            // A board for each number, and so all boards.
            assert_eq!(index_of(&board), index, "{board}");
        }
    }
}

/// A board of so many stones, each in a pit of its own choice.
fn board_with(choices: &[usize]) -> Board {
    let mut pits = [0; PITS];
    choices.iter().for_each(|&pit| pits[pit] += 1);
    Board::new(pits)
}

proptest! {
    #[test]
    fn any_board_is_found_again(choices in prop::collection::vec(0..PITS, 0..=13)) {
        let board = board_with(&choices);
        let stones = choices.len() as u32;
        let index = index_of(&board);
        prop_assert!(index < count(stones));
        prop_assert_eq!(board_of(stones, index), board);
    }

    #[test]
    fn any_number_is_found_again(stones in 7..=MOST_STONES, part in 0.0..1.0) {
        let index = (f64::from(count(stones)) * part) as u32;
        let board = board_of(stones, index);
        prop_assert_eq!(board.stones(), stones);
        prop_assert_eq!(index_of(&board), index);
    }
}
