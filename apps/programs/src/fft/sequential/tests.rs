use super::turn;
use crate::fft::complex::Complex;

#[test]
fn columns_become_rows() {
    for (height, width) in [(1, 1), (2, 2), (8, 8), (13, 13), (32, 32), (1, 5), (21, 8), (8, 21)] {
        let value = |row: usize, column: usize| [row as f32, column as f32];
        let by = |width: usize| move |index: usize| (index / width, index % width);
        let places = (0..height * width).map(by(width));
        let mut matrix: Vec<Complex> = places.map(|(row, column)| value(row, column)).collect();
        let mut room = vec![Complex::default(); if height == width { 0 } else { matrix.len() }];
        turn(&mut matrix, width, &mut room);
        let places = (0..height * width).map(by(height));
        let wanted: Vec<Complex> = places.map(|(row, column)| value(column, row)).collect();
        assert_eq!(matrix, wanted, "{height} x {width}");
    }
}
