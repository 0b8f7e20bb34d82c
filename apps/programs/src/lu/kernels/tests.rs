use super::{divide_below, divide_right, factorise, subtract_product};

/// 3 x 3, whose factors are whole numbers: L = [1; 2 1; 3 4 1], U = [2 1 1; 3 2; 5].
const BLOCK: [f64; 9] = [2.0, 1.0, 1.0, 4.0, 5.0, 4.0, 6.0, 15.0, 16.0];
const FACTORS: [f64; 9] = [2.0, 1.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 5.0];

#[test]
fn a_block_becomes_its_factors() {
    let mut block = BLOCK;
    assert_eq!(factorise(&mut block, 3), 18);
    assert_eq!(block, FACTORS);
}

#[test]
fn blocks_beside_the_diagonal_are_divided_by_its_factors() {
    // [1 2 3] U and [1 1 1] U.
    let mut below = [2.0, 7.0, 20.0, 2.0, 4.0, 8.0];
    divide_below(&mut below, &FACTORS, 3);
    assert_eq!(below, [1.0, 2.0, 3.0, 1.0, 1.0, 1.0]);
    // L [1 2 3] and L [1 1 1], as columns.
    let mut right = [1.0, 1.0, 4.0, 3.0, 14.0, 8.0];
    divide_right(&mut right, &FACTORS, 3);
    assert_eq!(right, [1.0, 1.0, 2.0, 1.0, 3.0, 1.0]);
}

#[test]
fn products_are_subtracted() {
    let mut block = [10.0, 10.0];
    assert_eq!(subtract_product(&mut block, &[1.0, 2.0], &[1.0, 2.0, 3.0, 4.0], 2), 8);
    assert_eq!(block, [3.0, 0.0]);
}
