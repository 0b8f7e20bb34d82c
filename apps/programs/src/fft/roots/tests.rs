use super::{Roots, powers};
use std::f64::consts::TAU;

#[test]
fn powers_are_cosines_and_sines() {
    for (power, value) in powers(1 << 20, 1 << 10).into_iter().enumerate() {
        let angle = -TAU * power as f64 / (1 << 20) as f64;
        let error = (value[0] - angle.cos()).hypot(value[1] - angle.sin());
        assert!(error < 2e-15, "{power}: {error:e}");
    }
}

#[test]
fn twiddles_are_rounded_once() {
    let roots = Roots::new(64);
    for (row, column) in [(0, 5), (1, 1), (63, 63), (7, 32)] {
        let angle = -TAU * (row * column) as f64 / 4096.0;
        assert_eq!(roots.twiddle(row, column), [angle.cos() as f32, angle.sin() as f32]);
    }
    assert_eq!(roots.of_row().len(), 32);
}

#[test]
fn the_smallest_matrix_has_roots() {
    let roots = Roots::new(2);
    assert_eq!(roots.of_row(), [[1.0, 0.0]]);
    assert_eq!(roots.twiddle(1, 1), [0.0, -1.0]);
}
