//! Molecules, and where they begin.

use fastrand::Rng;
use weft_app_common::Vector;

use crate::water::potential::{ANGLE, Atoms, BOND, MASSES};

/// Molecules of ice are about so far apart, each from the next.
const SPACING: f64 = 0.3104;
/// Boltzmann's constant, in kJ/mol per kelvin.
const BOLTZMANN: f64 = 0.008_314_463;

/// A molecule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Molecule {
    /// Positions of its atoms. A molecule that leaves the space on one side goes on counting: only
    /// differences matter.
    pub places: Atoms,
    /// Velocities of its atoms; half a step behind the positions while the molecules move
    /// (leap-frog).
    pub velocities: Atoms,
}

impl Molecule {
    /// Accelerated for a time.
    pub fn kick(&mut self, forces: &Atoms, time: f64) {
        for atom in 0..3 {
            self.velocities[atom] += forces[atom] * (time / MASSES[atom]);
        }
    }

    /// Moved for a time.
    pub fn drift(&mut self, time: f64) {
        for (place, velocity) in self.places.iter_mut().zip(self.velocities) {
            *place += velocity * time;
        }
    }

    /// The energy of its motion.
    pub fn kinetic(&self) -> f64 {
        let atoms = self.velocities.iter().zip(MASSES);
        atoms.map(|(velocity, mass)| 0.5 * mass * velocity.square()).sum()
    }

    /// Its momentum.
    pub fn momentum(&self) -> Vector {
        let atoms = self.velocities.iter().zip(MASSES);
        atoms.fold(Vector::default(), |sum, (velocity, mass)| sum + *velocity * mass)
    }
}

/// Places in a row of a cube that has room for `count` molecules.
fn row(count: usize) -> usize {
    let mut row = 1;
    while row * row * row < count {
        row += 1;
    }
    row
}

/// The side of a space for `count` molecules.
pub fn side(count: usize) -> f64 {
    row(count) as f64 * SPACING
}

/// `count` molecules on a cubic lattice, every other one upside down, all at rest together, with
/// velocities of this temperature, in kelvin.
pub fn lattice(count: usize, temperature: f64, seed: u64) -> Vec<Molecule> {
    let (row, mut random) = (row(count), Rng::with_seed(seed));
    let mut molecules: Vec<Molecule> = (0..count)
        .map(|number| {
            let at = [number / (row * row), number / row % row, number % row];
            let centre = Vector(at.map(|place| (place as f64 + 0.5) * SPACING));
            let up = if at.iter().sum::<usize>() % 2 == 0 { 1.0 } else { -1.0 };
            let (sine, cosine) = (ANGLE / 2.0).sin_cos();
            let arm = |side: f64| centre + Vector([side * sine, 0.0, up * cosine]) * BOND;
            let speed = |mass: f64| (BOLTZMANN * temperature / mass).sqrt();
            let velocities =
                MASSES.map(|mass| Vector([(); 3].map(|()| normal(&mut random))) * speed(mass));
            Molecule { places: [centre, arm(1.0), arm(-1.0)], velocities }
        })
        .collect();
    let total = molecules.iter().fold(Vector::default(), |sum, one| sum + one.momentum());
    let drift = total * (1.0 / (count as f64 * MASSES.iter().sum::<f64>()));
    for velocity in molecules.iter_mut().flat_map(|one| &mut one.velocities) {
        *velocity -= drift;
    }
    molecules
}

/// A number of the normal distribution (Box and Muller).
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

#[cfg(test)]
mod tests;
