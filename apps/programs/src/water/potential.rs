//! Potential of water molecules: the flexible simple point charge model SPC/Fw (Wu, Tepper and
//! Voth, 2006), a Lennard-Jones term between oxygens, Coulomb's law between all atoms, harmonic
//! bonds, a harmonic angle.
//!
//! Units: nanometres, picoseconds, atomic mass units, elementary charges; energies then are in
//! kJ/mol.
//!
//! Between molecules all of it is multiplied by a function of the distance of the oxygens that
//! falls from 1 to 0 before the cut-off, twice differentiable, so that energy is conserved; a
//! molecule has no charge in all, so that nothing is lost there that matters.

use weft_app_common::Vector;

/// The atoms of a molecule: oxygen, hydrogen, hydrogen.
pub type Atoms = [Vector; 3];

/// Their masses.
pub const MASSES: [f64; 3] = [15.9994, 1.008, 1.008];
/// Their charges.
const CHARGES: [f64; 3] = [-0.82, 0.41, 0.41];
/// Coulomb's constant.
const COULOMB: f64 = 138.935_458;
/// Lennard-Jones: the depth, and the distance at which it is 0.
const EPSILON: f64 = 0.650_30;
const SIGMA: f64 = 0.316_549_2;
/// The bonds: their length, and how stiff they are.
pub const BOND: f64 = 0.1012;
const BOND_STIFFNESS: f64 = 443_153.4;
/// The angle between them, in radians.
pub const ANGLE: f64 = 113.24 * std::f64::consts::PI / 180.0;
const ANGLE_STIFFNESS: f64 = 317.565_6;
/// Distance at which the cut-off begins to be felt, as a share of it.
const FELT: f64 = 0.85;

/// An energy, and the forces on the atoms of those concerned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pull<const MOLECULES: usize> {
    /// The energy.
    pub energy: f64,
    /// The forces, by molecule.
    pub forces: [Atoms; MOLECULES],
}

/// Forces and energy of a molecule by itself.
pub fn within(atoms: &Atoms) -> Pull<1> {
    let [oxygen, first, second] = *atoms;
    let (one, two) = (first - oxygen, second - oxygen);
    let (a, b) = (one.length(), two.length());
    let stretched = [a - BOND, b - BOND];
    let bonds =
        [one * (-BOND_STIFFNESS * stretched[0] / a), two * (-BOND_STIFFNESS * stretched[1] / b)];
    let cosine = (one.dot(two) / (a * b)).clamp(-1.0, 1.0);
    let bent = cosine.acos() - ANGLE;
    // The angle's derivative by its cosine is -1 / sine.
    let sine = (1.0 - cosine * cosine).sqrt().max(1e-9);
    let moment = ANGLE_STIFFNESS * bent / sine;
    let bends = [
        (two * (1.0 / b) - one * (cosine / a)) * (moment / a),
        (one * (1.0 / a) - two * (cosine / b)) * (moment / b),
    ];
    let (first, second) = (bonds[0] + bends[0], bonds[1] + bends[1]);
    let stretches = stretched[0] * stretched[0] + stretched[1] * stretched[1];
    let energy = 0.5 * (BOND_STIFFNESS * stretches + ANGLE_STIFFNESS * bent * bent);
    Pull { energy, forces: [[-(first + second), first, second]] }
}

/// Space: a cube whose opposite faces are one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// Its side.
    pub side: f64,
    /// Molecules do not feel each other whose oxygens are farther apart; at most half the side.
    pub cutoff: f64,
}

impl Space {
    /// Forces and energy of two molecules, if they are near enough: the nearest of each other's
    /// images.
    pub fn between(&self, one: &Atoms, other: &Atoms) -> Option<Pull<2>> {
        let raw = one[0] - other[0];
        let shift = raw.map(|distance| (distance / self.side).round() * self.side);
        let apart = raw - shift;
        let distance = apart.length();
        if distance >= self.cutoff {
            return None;
        }
        let mut pull = Pull { energy: 0.0, forces: [Atoms::default(); 2] };
        let mut add = |i: usize, j: usize, apart: Vector, energy: f64, by_square: f64| {
            pull.energy += energy;
            pull.forces[0][i] += apart * by_square;
            pull.forces[1][j] -= apart * by_square;
        };
        let sixth = (SIGMA / distance).powi(6);
        let repelled = 4.0 * EPSILON * sixth;
        let by_square = 6.0 * repelled * (2.0 * sixth - 1.0) / (distance * distance);
        add(0, 0, apart, repelled * (sixth - 1.0), by_square);
        for i in 0..3 {
            for j in 0..3 {
                let apart = one[i] - other[j] - shift;
                let square = apart.square();
                let energy = COULOMB * CHARGES[i] * CHARGES[j] / square.sqrt();
                add(i, j, apart, energy, energy / square);
            }
        }
        Some(self.fade(pull, apart, distance))
    }

    /// Makes `pull` end at the cut-off.
    fn fade(&self, mut pull: Pull<2>, apart: Vector, distance: f64) -> Pull<2> {
        let begin = FELT * self.cutoff;
        if distance <= begin {
            return pull;
        }
        let width = self.cutoff - begin;
        let share = (distance - begin) / width;
        let factor = 1.0 - share.powi(3) * (10.0 - share * (15.0 - 6.0 * share));
        let slope = -30.0 * (share * (1.0 - share)).powi(2) / width;
        for force in pull.forces.iter_mut().flatten() {
            *force = *force * factor;
        }
        let along = apart * (-slope * pull.energy / distance);
        pull.forces[0][0] += along;
        pull.forces[1][0] -= along;
        pull.energy *= factor;
        pull
    }
}

#[cfg(test)]
mod tests;
