//! Initial state of the bodies: the Plummer model, a globular cluster in equilibrium (Aarseth,
//! Hénon and Wielen, 1974).

use std::f64::consts::PI;

use fastrand::Rng;
use weft_app_common::Vector;

use crate::barnes::body::Body;
use crate::barnes::cell::Cube;
use crate::barnes::tree::{OnePlace, Tree};

/// Bodies farther out than this share of the mass would have are left out: they would be very far
/// out.
const MOST_MASS: f64 = 0.999;
/// From the model's units to those in which the total energy is -1/4.
const LENGTHS: f64 = 3.0 * PI / 16.0;

/// `count` bodies of equal masses that add up to 1, with the centre of mass at rest in the origin.
/// Those that follow each other are mostly near each other.
///
/// # Errors
/// [`OnePlace`].
pub fn plummer(count: usize, seed: u64) -> Result<Vec<Body>, OnePlace> {
    let mut random = Rng::with_seed(seed);
    let mut bodies: Vec<Body> = (0..count).map(|_| body(&mut random, 1.0 / count as f64)).collect();
    let mean = |of: fn(&Body) -> Vector| {
        let sum = bodies.iter().fold(Vector::default(), |sum, body| sum + of(body));
        sum * (1.0 / count as f64)
    };
    let (centre, drift) = (mean(|body| body.position), mean(|body| body.velocity));
    for body in &mut bodies {
        body.position -= centre;
        body.velocity -= drift;
    }
    let reach = bodies.iter().map(|body| body.position.reach()).fold(0.0, f64::max);
    let place = |body: u32| bodies[body as usize].position;
    let tree = Tree::of(Cube::around(reach), 0..count as u32, place)?;
    Ok(tree.order().into_iter().map(|body| bodies[body as usize]).collect())
}

fn body(random: &mut Rng, mass: f64) -> Body {
    let inside = MOST_MASS * (1.0 - random.f64());
    let radius = 1.0 / (inside.powf(-2.0 / 3.0) - 1.0).sqrt();
    let escape = std::f64::consts::SQRT_2 * (1.0 + radius * radius).powf(-0.25);
    let velocity = escape * speed(random);
    let (position, velocity) = (direction(random) * radius, direction(random) * velocity);
    Body::new(mass, position * LENGTHS, velocity * LENGTHS.sqrt().recip())
}

/// A share of the velocity of escape, by rejection.
fn speed(random: &mut Rng) -> f64 {
    loop {
        let (share, height) = (random.f64(), 0.1 * random.f64());
        if height < share * share * (1.0 - share * share).powf(3.5) {
            return share;
        }
    }
}

/// A direction, all as likely.
fn direction(random: &mut Rng) -> Vector {
    loop {
        let vector = Vector([(); 3].map(|()| 2.0 * random.f64() - 1.0));
        let square = vector.square();
        if square > 1e-6 && square <= 1.0 {
            return vector * square.sqrt().recip();
        }
    }
}

#[cfg(test)]
mod tests;
