//! The force on a body, by a walk through the tree (Barnes and Hut, 1986).

use weft_app_common::Vector;

use crate::barnes::cell::{Cell, Child, Cube, Part};
use crate::barnes::tree::Tree;

/// Problem to compute, the same on every rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// Number of bodies.
    pub bodies: usize,
    /// A cell is taken for a point where it is seen at an angle (side by distance) below this.
    pub theta: f64,
    /// The softening length: nothing is pulled as if from nearer than this.
    pub softening: f64,
    /// The length of a step in time.
    pub step: f64,
    /// Steps.
    pub steps: usize,
}

/// Source of cells and bodies.
pub trait Sky {
    /// Reason why they cannot be read.
    type Error;

    /// A cell.
    fn cell(&mut self, number: u32) -> Result<Cell, Self::Error>;

    /// A body.
    fn body(&mut self, number: u32) -> Result<Part, Self::Error>;

    /// All of these children of a cell will be read soon.
    fn announce(&mut self, children: &[Child; 8]) -> Result<(), Self::Error> {
        let _ = children;
        Ok(())
    }
}

/// A tree and its bodies in the memory of one rank.
pub struct Alone<'a, P: Fn(u32) -> Part>(pub &'a Tree, pub P);

impl<P: Fn(u32) -> Part> Sky for Alone<'_, P> {
    type Error = std::convert::Infallible;

    fn cell(&mut self, number: u32) -> Result<Cell, Self::Error> {
        Ok(self.0.cells[number as usize])
    }

    fn body(&mut self, number: u32) -> Result<Part, Self::Error> {
        Ok(self.1(number))
    }
}

/// The acceleration of a body at `place`, and how many bodies and cells were looked at for it.
///
/// The walk takes octants in order, so that the sum has the same bits wherever it is computed.
///
/// # Errors
/// Those of `sky`.
pub fn force<S: Sky>(
    sky: &mut S,
    problem: &Problem,
    root: Cube,
    body: u32,
    place: Vector,
) -> Result<(Vector, u64), S::Error> {
    let (mut acceleration, mut visits) = (Vector::default(), 0);
    let squared_theta = problem.theta * problem.theta;
    let mut next = vec![(Child::Cell(0), root.side())];
    while let Some((child, side)) = next.pop() {
        match child {
            Child::Empty => continue,
            Child::Body(other) if other == body => continue,
            Child::Body(other) => {
                acceleration += pull(sky.body(other)?, place, problem.softening);
            }
            Child::Cell(number) => {
                let cell = sky.cell(number)?;
                let distance = (cell.part.centre - place).square();
                if side * side < squared_theta * distance {
                    acceleration += pull(cell.part, place, problem.softening);
                } else {
                    sky.announce(&cell.children)?;
                    next.extend(cell.children.iter().rev().map(|&child| (child, side / 2.0)));
                }
            }
        }
        visits += 1;
    }
    Ok((acceleration, visits))
}

/// The acceleration of a body at `place` by a mass.
#[inline]
pub fn pull(mass: Part, place: Vector, softening: f64) -> Vector {
    let apart = mass.centre - place;
    let square = apart.square() + softening * softening;
    apart * (mass.mass / (square * square.sqrt()))
}
