//! Checks of a transform, by what it is and not by how it is computed.

use crate::fft::complex::{Complex, square};
use crate::fft::plan::Plan;
use crate::fft::sequential::transform;
use std::f64::consts::TAU;
use weft_app_common::random;

/// Outputs that are computed by their definition.
pub const SAMPLE: usize = 12;
/// Largest error of single precision, beside the size of outputs: some twenty times what is seen.
const TOLERANCE: f64 = 1e-5;

/// Errors of a transform, all beside the size of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checks {
    /// Of [`SAMPLE`] outputs, that which differs most from the sum that defines it.
    pub definition: f64,
    /// The energy of the outputs from that of the inputs (Parseval).
    pub energy: f64,
    /// Of the inputs, that which differs most from the transform back.
    pub inverse: f64,
}

impl Checks {
    /// Compares `output` with the values of `plan`.
    pub fn of(plan: &Plan, output: &[Complex]) -> Self {
        let (points, side) = (plan.points() as f64, plan.side);
        let input: Vec<Complex> =
            (0..plan.points()).map(|index| plan.input(index / side, index % side)).collect();
        let energy = |values: &[Complex]| values.iter().copied().map(square).sum::<f64>();
        let (before, after) = (energy(&input), energy(output) / points);
        // The root of the mean square of an output, and of an input.
        let (large, small) = (before.sqrt(), (before / points).sqrt());
        let sample = (0..SAMPLE as u64).map(|index| random(1, index) as usize % input.len());
        let definition = sample.map(|place| distance(output[place], defined(&input, place)));
        let back = restored(plan, output);
        let inverse = back
            .iter()
            .zip(&input)
            .map(|(value, wanted)| distance(*value, [f64::from(wanted[0]), f64::from(wanted[1])]));
        Checks {
            definition: definition.fold(0.0, f64::max) / large,
            energy: (after / before - 1.0).abs(),
            inverse: inverse.fold(0.0, f64::max) / small,
        }
    }

    /// Description of an error, if there is one. What is no number is wrong.
    pub fn wrong(&self) -> Option<String> {
        let all = [
            ("an output differs from its definition by", self.definition),
            ("the energy has changed by", self.energy),
            ("transformed back, a point is off by", self.inverse),
        ];
        let wrong = all.into_iter().find(|(_, error)| error.is_nan() || *error >= TOLERANCE);
        wrong.map(|(what, error)| format!("{what} {error:.1e} of its size"))
    }
}

/// An output by its definition.
fn defined(input: &[Complex], place: usize) -> [f64; 2] {
    let mut sum = [0.0, 0.0];
    for (index, value) in input.iter().enumerate() {
        let angle = -TAU * (index * place % input.len()) as f64 / input.len() as f64;
        let ((sine, cosine), [re, im]) = (angle.sin_cos(), value.map(f64::from));
        sum = [sum[0] + re * cosine - im * sine, sum[1] + re * sine + im * cosine];
    }
    sum
}

/// The transform back: that of the conjugates, conjugated and divided by their number.
fn restored(plan: &Plan, output: &[Complex]) -> Vec<Complex> {
    let mut matrix: Vec<Complex> = output.iter().map(|&[re, im]| [re, -im]).collect();
    transform(plan, &mut matrix, |_| ());
    let part = 1.0 / plan.points() as f32;
    matrix.iter().map(|&[re, im]| [re * part, -im * part]).collect()
}

fn distance(value: Complex, wanted: [f64; 2]) -> f64 {
    (f64::from(value[0]) - wanted[0]).hypot(f64::from(value[1]) - wanted[1])
}

#[cfg(test)]
mod tests;
