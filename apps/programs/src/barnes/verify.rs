//! Checks of the result, by means that know nothing of the tree.

use weft_app_common::Vector;

use crate::barnes::body::Body;
use crate::barnes::error::Error;
use crate::barnes::force::{Problem, pull};

/// Bodies whose forces are summed directly.
const SAMPLE: usize = 256;

/// Verdict of the checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Bodies whose forces were summed over all others.
    pub sample: usize,
    /// The difference from those sums: root of the mean square, as a share of the mean
    /// acceleration.
    pub error: f64,
    /// Change of the total energy, as a share of it.
    pub energy: f64,
    /// Change of the total momentum, as a share of what all bodies' momenta would add up to in one
    /// direction.
    pub momentum: f64,
}

/// Compares `bodies` with what one rank makes of `begin`, bit for bit, and checks them against sums
/// over all bodies.
///
/// # Errors
/// [`Error::Wrong`].
pub fn verify(
    problem: &Problem,
    begin: &[Body],
    bodies: &[Body],
    expected: &[Body],
) -> Result<Verdict, Error> {
    let differs = |(body, expected): (&Body, &Body)| bits(body) != bits(expected);
    if let Some(first) = bodies.iter().zip(expected).position(differs) {
        let (found, expected) = (bodies[first].position.0, expected[first].position.0);
        return Err(Error::Wrong(format!(
            "body {first} is at {found:?}, and with one rank at {expected:?}"
        )));
    }
    let verdict = examine(problem, begin, bodies);
    for (what, found, most) in [
        ("forces differ from sums over all bodies", verdict.error, most_error(problem.theta)),
        ("the total energy changed", verdict.energy, most_drift(problem)),
        ("the total momentum changed", verdict.momentum, most_drift(problem)),
    ] {
        if found.is_nan() || found > most {
            return Err(Error::Wrong(format!("{what} by {found:.1e}, more than {most:.1e}")));
        }
    }
    Ok(verdict)
}

/// Largest error of the forces. The error of a cell that is taken for a point begins with its
/// quadrupole, which falls with the square of the angle; Plummer models of some hundred bodies and
/// more show less than half of this.
pub fn most_error(theta: f64) -> f64 {
    1e-12 + 0.1 * theta * theta
}

/// Largest change of energy and momentum, as a share.
pub fn most_drift(problem: &Problem) -> f64 {
    let time = problem.step * problem.steps as f64;
    1e-10 + 0.02 * time * (problem.theta * problem.theta + problem.step / problem.softening)
}

fn examine(problem: &Problem, begin: &[Body], bodies: &[Body]) -> Verdict {
    let sample = SAMPLE.min(bodies.len());
    // Odd and close to the golden section: all over the bodies, however they are ordered.
    let picked = |nth: usize| nth * bodies.len() / sample.max(1);
    let (mut errors, mut sizes) = (0.0, 0.0);
    for number in (0..sample).map(picked) {
        let exact = direct(bodies, number, problem.softening);
        errors += (bodies[number].acceleration - exact).square();
        sizes += exact.length();
    }
    let mean = sizes / sample as f64;
    let error = if mean > 0.0 { (errors / sample as f64).sqrt() / mean } else { 0.0 };
    let (before, after) = (energy(begin, problem.softening), energy(bodies, problem.softening));
    let energy = if before == 0.0 { after.abs() } else { ((after - before) / before).abs() };
    let momentum = (momentum(bodies) - momentum(begin)).length();
    let speeds: f64 = begin.iter().map(|body| body.mass * body.velocity.length()).sum();
    Verdict {
        sample,
        error,
        energy,
        momentum: if speeds > 0.0 { momentum / speeds } else { momentum },
    }
}

/// The acceleration of a body by all others.
pub fn direct(bodies: &[Body], number: usize, softening: f64) -> Vector {
    let others = bodies.iter().enumerate().filter(|&(other, _)| other != number);
    others.fold(Vector::default(), |sum, (_, other)| {
        sum + pull(other.part(), bodies[number].position, softening)
    })
}

/// The kinetic and potential energy of all bodies together.
pub fn energy(bodies: &[Body], softening: f64) -> f64 {
    let mut energy = 0.0;
    for (number, body) in bodies.iter().enumerate() {
        let pairs = bodies[..number].iter().map(|other| {
            let apart = (body.position - other.position).square() + softening * softening;
            other.mass / apart.sqrt()
        });
        energy += body.mass * (body.velocity.square() / 2.0 - pairs.sum::<f64>());
    }
    energy
}

/// The momentum of all bodies together.
pub fn momentum(bodies: &[Body]) -> Vector {
    bodies.iter().fold(Vector::default(), |sum, body| sum + body.velocity * body.mass)
}

fn bits(body: &Body) -> [u64; 11] {
    body.to_words().map(f64::to_bits)
}

#[cfg(test)]
mod tests;
