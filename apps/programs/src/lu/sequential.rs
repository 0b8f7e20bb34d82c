//! The whole factorisation on one rank, in ordinary memory.

use crate::lu::kernels::{divide_below, divide_right, factorise, subtract_product};
use crate::lu::matrix::Matrix;

/// The blocks of the factors, row after row, saying how many operations they take.
pub fn sequential(matrix: &Matrix, work: impl Fn(usize)) -> Vec<Vec<f64>> {
    let count = matrix.blocks();
    let places = (0..count * count).map(|index| (index / count, index % count));
    let mut blocks: Vec<Vec<f64>> = places.map(|place| matrix.values(place).collect()).collect();
    for step in 0..count {
        let (n, later) = (matrix.length(step), step + 1..count);
        work(factorise(&mut blocks[step * count + step], n));
        let diagonal = blocks[step * count + step].clone();
        for index in later.clone() {
            work(divide_below(&mut blocks[index * count + step], &diagonal, n));
            work(divide_right(&mut blocks[step * count + index], &diagonal, n));
        }
        for row in later.clone() {
            let (above, below) = blocks.split_at_mut(row * count);
            let (left, right) = below[..count].split_at_mut(step + 1);
            let above = &above[step * count + step + 1..(step + 1) * count];
            for (block, above) in right.iter_mut().zip(above) {
                work(subtract_product(block, &left[step], above, n));
            }
        }
    }
    blocks
}
