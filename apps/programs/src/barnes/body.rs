use weft_app_common::Vector;

use crate::barnes::cell::Part;

/// A body: a star, say. Units are those in which the gravitational constant is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Its mass.
    pub mass: f64,
    /// Position.
    pub position: Vector,
    /// Velocity; half a step behind the position while the bodies move (leap-frog).
    pub velocity: Vector,
    /// Acceleration by the others when they were last looked at.
    pub acceleration: Vector,
    /// Bodies and cells that were looked at for that: what it costs to compute it again.
    pub cost: u64,
}

/// A body as it lies in its region.
pub type BodyWords = [f64; 11];

impl Body {
    /// A body that nothing is known of but where it is and where it goes.
    pub fn new(mass: f64, position: Vector, velocity: Vector) -> Self {
        Body { mass, position, velocity, acceleration: Vector::default(), cost: 1 }
    }

    /// The body that lies there.
    pub fn from_words(words: &BodyWords) -> Self {
        let vector = |at: usize| Vector([words[at], words[at + 1], words[at + 2]]);
        Body {
            mass: words[0],
            position: vector(1),
            velocity: vector(4),
            acceleration: vector(7),
            cost: words[10] as u64,
        }
    }

    /// Words of the body in a region.
    pub fn to_words(self) -> BodyWords {
        let mut words = [0.0; 11];
        words[0] = self.mass;
        words[1..4].copy_from_slice(&self.position.0);
        words[4..7].copy_from_slice(&self.velocity.0);
        words[7..10].copy_from_slice(&self.acceleration.0);
        // Counts are far below 2^53.
        words[10] = self.cost as f64;
        words
    }

    /// The body as others see it.
    pub fn part(&self) -> Part {
        Part { mass: self.mass, centre: self.position, cost: self.cost }
    }

    /// Accelerated for a time, as it was seen to be.
    pub fn kick(&mut self, time: f64) {
        self.velocity += self.acceleration * time;
    }

    /// Moved for a time.
    pub fn drift(&mut self, time: f64) {
        self.position += self.velocity * time;
    }
}
