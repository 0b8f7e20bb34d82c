//! Cells of the oct-tree: what they are, as they lie in their regions, and how they come by their
//! centres of mass.

use weft_app_common::Vector;

/// Contents of an octant of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// Nothing.
    Empty,
    /// One body, by its number.
    Body(u32),
    /// Several, in a cell of their own, by its number.
    Cell(u32),
}

/// A cube of space with at least two bodies in it; the root may have fewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Contents of its octants.
    pub children: [Child; 8],
    /// All of it together.
    pub part: Part,
    /// The cell that it is an octant of; of no meaning in the root.
    pub parent: u32,
    /// Child cells whose mass is known.
    pub known: u32,
}

/// A body, or all of a cell, as one that is far away sees it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Part {
    /// The mass.
    pub mass: f64,
    /// The centre of mass.
    pub centre: Vector,
    /// Cost of computing the forces on it.
    pub cost: u64,
}

/// A cell as it lies in its region: 80 bytes, where the thesis has 88 to 108 (8.5.4).
pub type CellWords = [u64; 10];

impl Cell {
    /// A cell with nothing in it.
    pub fn empty(parent: u32) -> Self {
        Cell { children: [Child::Empty; 8], part: Part::default(), parent, known: 0 }
    }

    /// The cell that lies there.
    pub fn from_words(words: &CellWords) -> Self {
        let two = |word: u64| [word as u32, (word >> 32) as u32];
        let [parent, known] = two(words[9]);
        let coordinate = |axis: usize| f64::from_bits(words[5 + axis]);
        Cell {
            children: std::array::from_fn(|octant| {
                Child::from_word(two(words[octant / 2])[octant % 2])
            }),
            part: Part {
                mass: f64::from_bits(words[4]),
                centre: Vector([coordinate(0), coordinate(1), coordinate(2)]),
                cost: words[8],
            },
            parent,
            known,
        }
    }

    /// Words of the cell in a region.
    pub fn to_words(self) -> CellWords {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let child = |octant: usize| self.children[octant].to_word();
        let Part { mass, centre, cost } = self.part;
        let [x, y, z] = centre.0.map(f64::to_bits);
        [
            two(child(0), child(1)),
            two(child(2), child(3)),
            two(child(4), child(5)),
            two(child(6), child(7)),
            mass.to_bits(),
            x,
            y,
            z,
            cost,
            two(self.parent, self.known),
        ]
    }

    /// Number of its children that are cells.
    pub fn cells(&self) -> u32 {
        self.children.iter().filter(|child| matches!(child, Child::Cell(_))).count() as u32
    }
}

impl Child {
    /// The most bodies, and the most cells, that have a name.
    pub const MOST: u32 = u32::MAX / 2 - 1;

    /// The cell's number, if it is one.
    pub fn cell(self) -> Option<u32> {
        if let Child::Cell(number) = self { Some(number) } else { None }
    }

    fn to_word(self) -> u32 {
        match self {
            Child::Empty => 0,
            Child::Body(number) => 1 + 2 * number,
            Child::Cell(number) => 2 + 2 * number,
        }
    }

    fn from_word(word: u32) -> Self {
        match word {
            0 => Child::Empty,
            body if body % 2 == 1 => Child::Body(body / 2),
            cell => Child::Cell(cell / 2 - 1),
        }
    }
}

impl Part {
    /// All of these together. They are added in the order in which they come, so that the sum has
    /// the same bits wherever it is computed.
    pub fn sum(parts: impl IntoIterator<Item = Part>) -> Part {
        let mut all = Part::default();
        for part in parts {
            all.mass += part.mass;
            all.centre += part.centre * part.mass;
            all.cost += part.cost;
        }
        if all.mass > 0.0 {
            all.centre = all.centre * (1.0 / all.mass);
        }
        all
    }
}

/// A cube of space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cube {
    centre: Vector,
    half: f64,
}

impl Cube {
    /// The cube around the origin that holds all points whose coordinates are at most `reach`, with
    /// a power of 2 as its side, so that halves of it are exact and it stays the same for a while.
    pub fn around(reach: f64) -> Self {
        let mut half = 1.0;
        while half <= reach {
            half *= 2.0;
        }
        Cube { centre: Vector::default(), half }
    }

    /// Its side.
    pub fn side(&self) -> f64 {
        2.0 * self.half
    }

    /// The side below which there are no cells in this one: two bodies that it does not tell apart
    /// are in one place.
    pub fn smallest(&self) -> f64 {
        self.side() * 0.5_f64.powi(60)
    }

    /// The octant that a point is in: bit 2 says whether it is in the upper half along the first
    /// axis, bit 1 the second, bit 0 the third.
    pub fn octant(&self, point: Vector) -> usize {
        (0..3).fold(0, |octant, axis| 2 * octant + usize::from(point[axis] >= self.centre[axis]))
    }

    /// That octant.
    #[must_use]
    pub fn part(&self, octant: usize) -> Self {
        let half = self.half / 2.0;
        let shift = |bit: usize| if octant >> bit & 1 == 1 { half } else { -half };
        Cube { centre: self.centre + Vector([shift(2), shift(1), shift(0)]), half }
    }
}

#[cfg(test)]
mod tests;
