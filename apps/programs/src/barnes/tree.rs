//! An oct-tree in the memory of one rank.

use weft_app_common::Vector;

use crate::barnes::cell::{Cell, Child, Cube, Part};

/// A tree. Cell 0 is the root; children come after their parents.
///
/// Which cells there are does not depend on the order in which bodies came: there is one where two
/// bodies are in one cube.
#[derive(Debug, Clone)]
pub struct Tree {
    /// All of space.
    pub cube: Cube,
    /// The cells.
    pub cells: Vec<Cell>,
}

/// Two bodies are in one place, as far as numbers can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("bodies {0} and {1} are in one place")]
pub struct OnePlace(pub u32, pub u32);

impl Tree {
    /// A tree with nothing in it.
    pub fn new(cube: Cube) -> Self {
        Tree { cube, cells: vec![Cell::empty(0)] }
    }

    /// A tree of these bodies, which are where `place` says.
    ///
    /// # Errors
    /// [`OnePlace`].
    pub fn of(
        cube: Cube,
        bodies: impl IntoIterator<Item = u32>,
        place: impl Fn(u32) -> Vector,
    ) -> Result<Self, OnePlace> {
        let mut tree = Self::new(cube);
        for body in bodies {
            tree.insert(body, &place)?;
        }
        Ok(tree)
    }

    fn insert(&mut self, body: u32, place: &impl Fn(u32) -> Vector) -> Result<(), OnePlace> {
        let (mut at, mut cube) = (0, self.cube);
        loop {
            let octant = cube.octant(place(body));
            let new = self.cells.len() as u32;
            let child = &mut self.cells[at].children[octant];
            match *child {
                Child::Empty => {
                    *child = Child::Body(body);
                    return Ok(());
                }
                Child::Body(other) if cube.side() < self.cube.smallest() => {
                    return Err(OnePlace(body, other));
                }
                Child::Body(other) => {
                    *child = Child::Cell(new);
                    let mut between = Cell::empty(at as u32);
                    between.children[cube.part(octant).octant(place(other))] = Child::Body(other);
                    self.cells.push(between);
                    at = new as usize;
                }
                Child::Cell(cell) => at = cell as usize,
            }
            cube = cube.part(octant);
        }
    }

    /// Computes mass, centre and cost of all cells from those of the bodies.
    pub fn sum(&mut self, part: impl Fn(u32) -> Part) {
        for index in (0..self.cells.len()).rev() {
            let of = |child: Child| match child {
                Child::Empty => None,
                Child::Body(body) => Some(part(body)),
                Child::Cell(cell) => Some(self.cells[cell as usize].part),
            };
            let sum = Part::sum(self.cells[index].children.into_iter().filter_map(of));
            self.cells[index].part = sum;
        }
    }

    /// The bodies, in the order of their octants: neighbours in it are mostly neighbours in space.
    pub fn order(&self) -> Vec<u32> {
        let (mut order, mut next) = (Vec::new(), vec![Child::Cell(0)]);
        while let Some(child) = next.pop() {
            match child {
                Child::Empty => {}
                Child::Body(body) => order.push(body),
                Child::Cell(cell) => next.extend(self.cells[cell as usize].children.iter().rev()),
            }
        }
        order
    }
}

#[cfg(test)]
mod tests;
