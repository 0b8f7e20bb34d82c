//! Checks of the result.

use weft_app_common::Vector;

use crate::water::error::Error;
use crate::water::molecule::Molecule;
use crate::water::potential::{Atoms, within};
use crate::water::solve::{Outcome, Problem};

/// Molecules whose forces are compared with the slope of the energy.
const SAMPLE: usize = 8;
/// Distance by which atoms are moved for that, in nanometres.
const NUDGE: f64 = 1e-6;
/// Largest difference of forces from it, as a share of the root of their mean square.
const MOST_SLOPE: f64 = 1e-5;
/// Largest distance of atoms, and difference of forces as a share, because ranks add in other
/// orders: far more than rounding, far less than a mistake.
const MOST_ROUNDING: f64 = 1e-9;

/// Verdict of the checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Molecules whose forces were compared with the slope of the energy.
    pub sample: usize,
    /// The largest difference, as a share of the root of the mean square of all forces.
    pub slope: f64,
    /// The largest distance of an atom from where one rank has it, in nanometres.
    pub apart: f64,
    /// Change of the total energy, as a share of the kinetic.
    pub energy: f64,
    /// Change of the total momentum, as a share of what all momenta would add up to in one
    /// direction.
    pub momentum: f64,
}

/// Compares what all ranks came to with what one did, and checks it.
///
/// # Errors
/// [`Error::Wrong`].
pub fn verify(
    problem: &Problem,
    begin: &[Molecule],
    found: &Outcome,
    expected: &Outcome,
) -> Result<Verdict, Error> {
    let verdict = examine(problem, begin, found, expected);
    for (what, found, most) in [
        ("an atom is elsewhere than with one rank, in nm,", verdict.apart, MOST_ROUNDING),
        ("forces differ from the slope of the energy", verdict.slope, MOST_SLOPE),
        ("the total energy changed", verdict.energy, most_drift(problem)),
        ("the total momentum changed", verdict.momentum, MOST_ROUNDING),
    ] {
        if found.is_nan() || found > most {
            return Err(Error::Wrong(format!("{what} by {found:.1e}, more than {most:.1e}")));
        }
    }
    Ok(verdict)
}

/// Largest change of the total energy, as a share of the kinetic. What leap-frog conserves differs
/// from the energy by the square of the step in periods of the fastest motion, which is that of the
/// bonds.
fn most_drift(problem: &Problem) -> f64 {
    const BONDS_PER_PS: f64 = 800.0;
    1e-9 + (problem.step * BONDS_PER_PS).powi(2) / 4.0
}

fn examine(problem: &Problem, begin: &[Molecule], found: &Outcome, expected: &Outcome) -> Verdict {
    let pairs = found.molecules.iter().zip(&expected.molecules);
    let distances = pairs.flat_map(|(one, other)| {
        one.places.into_iter().zip(other.places).map(|(one, other)| (one - other).length())
    });
    let apart = distances.fold(0.0, largest);
    let (sample, slope) = slope(problem, found);
    let kinetic = |molecules: &[Molecule]| molecules.iter().map(Molecule::kinetic).sum::<f64>();
    let (before, after) = (kinetic(begin), kinetic(&found.molecules));
    let change = after + found.potential[1] - before - found.potential[0];
    let momentum = |molecules: &[Molecule]| {
        molecules.iter().fold(Vector::default(), |sum, one| sum + one.momentum())
    };
    let moved = (momentum(&found.molecules) - momentum(begin)).length();
    let speeds: f64 = begin.iter().map(|one| one.momentum().length()).sum();
    // One molecule alone is at rest.
    let momentum = moved / speeds.max(1.0);
    Verdict { sample, slope, apart, energy: (change / before.max(after)).abs(), momentum }
}

/// Compares forces with differences of the energy, which know nothing of derivatives.
fn slope(problem: &Problem, found: &Outcome) -> (usize, f64) {
    let count = found.molecules.len();
    let squares: f64 = found.forces.iter().flatten().map(|force| force.square()).sum();
    // Molecules at rest that do not feel each other have none.
    let mean = (squares / (3 * count) as f64).sqrt().max(1.0);
    let places: Vec<Atoms> = found.molecules.iter().map(|molecule| molecule.places).collect();
    let sample = SAMPLE.min(count);
    let mut worst = 0.0;
    for number in (0..sample).map(|nth| nth * count / sample) {
        for (atom, axis) in (0..9).map(|coordinate| (coordinate / 3, coordinate % 3)) {
            let energy = |by: f64| {
                let mut moved = places[number];
                moved[atom].0[axis] += by;
                energy_of(problem, &places, number, &moved)
            };
            let force = (energy(-NUDGE) - energy(NUDGE)) / (2.0 * NUDGE);
            worst = largest(worst, (force - found.forces[number][atom][axis]).abs() / mean);
        }
    }
    (sample, worst)
}

/// The part of the energy that a molecule has part in, if its atoms are at `moved`.
fn energy_of(problem: &Problem, places: &[Atoms], number: usize, moved: &Atoms) -> f64 {
    let others = places.iter().enumerate().filter(|&(other, _)| other != number);
    let pairs = others.filter_map(|(_, other)| problem.space.between(moved, other));
    within(moved).energy + pairs.map(|pull| pull.energy).sum::<f64>()
}

/// The larger one; what is no number stays.
fn largest(one: f64, other: f64) -> f64 {
    if other > one || other.is_nan() { other } else { one }
}

#[cfg(test)]
mod tests;
