use super::{COPY, COUNT, Digit, MOVE, Piece, Runs, key, pieces, places};

#[test]
fn a_pass_sorts_by_its_digit_and_keeps_order_else() {
    let digit = Digit { radix: 4, shift: 2 };
    let keys = [0b1101, 0b0011, 0b0111, 0b1100, 0b0001, 0b1_0000];
    let counts = digit.counts(&keys);
    assert_eq!(counts, [3, 1, 0, 2]);
    let mut sorted = [0; 6];
    digit.sort(&keys, &counts, &mut sorted);
    assert_eq!(sorted, [0b0011, 0b0001, 0b1_0000, 0b0111, 0b1101, 0b1100]);
}

#[test]
fn keys_dealt_to_runs_across_stretches_are_where_a_pass_sorts_them() {
    let digit = Digit { radix: 4, shift: 2 };
    let keys = [0b1101, 0b0011, 0b0111, 0b1100, 0b0001, 0b1_0000];
    let counts = digit.counts(&keys);
    for length in 1..=6 {
        let mut sorted = [0; 6];
        digit.deal(&keys, &mut Runs::new(sorted.chunks_mut(length), &counts));
        assert_eq!(sorted, [0b0011, 0b0001, 0b1_0000, 0b0111, 0b1101, 0b1100]);
        let mut copied = [0; 6];
        let mut runs = Runs::new(copied.chunks_mut(length), &[2, 4]);
        runs.extend(1, &keys[2..]);
        runs.extend(0, &keys[..1]);
        runs.extend(0, &keys[1..2]);
        assert_eq!(copied, keys);
    }
}

#[test]
fn places_are_by_digit_and_then_by_rank() {
    let counts = [vec![2, 1], vec![0, 3], vec![1, 1]];
    assert_eq!(places(&counts, 0), [0..2, 3..4]);
    assert_eq!(places(&counts, 1), [2..2, 4..7]);
    assert_eq!(places(&counts, 2), [2..3, 7..8]);
}

#[test]
fn pieces_are_what_of_each_run_belongs_into_a_part() {
    let places = vec![0..2, 3..7, 9..10, 12..14];
    assert_eq!(
        pieces(places.clone(), 20, &(5..13)),
        [Piece { from: 24, to: 0..2 }, Piece { from: 26, to: 4..5 }, Piece { from: 27, to: 7..8 },]
    );
    assert_eq!(pieces(places, 20, &(7..9)), []);
}

#[test]
fn keys_have_as_many_bits_as_asked() {
    for bits in [1, 21, 32] {
        let largest = (0..2000).map(|place| key(3, place, bits)).max().expect("there are some");
        assert!(u64::from(largest) < 1 << bits && u64::from(largest) >= 1 << (bits - 1), "{bits}");
    }
}

/// The constants give the times of the thesis.
#[test]
fn the_paper_s_problem_takes_one_rank_as_long_as_in_table_8_6() {
    let seconds = (3 * 3_000_000 * (COUNT + MOVE + COPY)) as f64 * 20e-9;
    assert!((seconds / 3.20 - 1.0).abs() < 0.02, "{seconds}");
}
