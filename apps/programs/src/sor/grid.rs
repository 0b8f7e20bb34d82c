//! The rows of one rank, red points and black points apart, and the relaxation of one colour.
//!
//! Points of one colour have neighbours of the other only, so all points of a colour can be
//! computed at once. Kept apart they also lie side by side, which is what vector units want: the
//! points of a row and colour, their left and their right neighbours, and those above and below are
//! five slices.

use std::ops::Range;

use multiversion::multiversion;

use crate::sor::problem::Problem;

/// One of the two colours: that of the points whose row and column add up to an even number,
/// counting from the border, and the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Even.
    Red,
    /// Odd.
    Black,
}

impl Colour {
    /// Both, in the order in which they are relaxed.
    pub const BOTH: [Self; 2] = [Self::Red, Self::Black];

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Colour::Red => Colour::Black,
            Colour::Black => Colour::Red,
        }
    }
}

/// Changes are compared in this many lanes, which become vectors.
const LANES: usize = 8;

/// Consecutive rows of the grid with the row above and the row below, which are the neighbours' or
/// the border's.
///
/// A *half row* is the points of one colour in a row, borders included: `half` values, the last of
/// which may be unused. Half rows count from 0, the row above, to `owned.len() + 1`, the row below.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    problem: Problem,
    owned: Range<usize>,
    half: usize,
    colours: [Vec<f64>; 2],
}

impl Grid {
    /// The rows `owned` of a problem, as they start.
    pub fn new(problem: Problem, owned: Range<usize>) -> Self {
        let half = (problem.columns + 2).div_ceil(2);
        let start = |colour: usize| {
            let mut values = vec![0.0; (owned.len() + 2) * half];
            for (local, values) in values.chunks_exact_mut(half).enumerate() {
                let row = owned.start + local;
                for (index, value) in values.iter_mut().enumerate() {
                    let column = 2 * index + (row + colour) % 2;
                    if column <= problem.columns + 1 && row <= problem.rows + 1 {
                        *value = problem.start(row, column);
                    }
                }
            }
            values
        };
        let colours = [start(0), start(1)];
        Self { problem, owned, half, colours }
    }

    /// Range of these rows.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// Values of a half row: what neighbours exchange.
    pub fn half(&self) -> usize {
        self.half
    }

    /// The half row of the first owned row.
    pub fn first(&self, colour: Colour) -> &[f64] {
        self.half_row(colour, 1)
    }

    /// The half row of the last owned row.
    pub fn last(&self, colour: Colour) -> &[f64] {
        self.half_row(colour, self.owned.len())
    }

    /// The half row above the owned rows.
    pub fn above_mut(&mut self, colour: Colour) -> &mut [f64] {
        &mut self.colours[colour as usize][..self.half]
    }

    /// The half row below the owned rows.
    pub fn below_mut(&mut self, colour: Colour) -> &mut [f64] {
        let start = (self.owned.len() + 1) * self.half;
        &mut self.colours[colour as usize][start..]
    }

    /// All owned values, the red ones first: what ranks compare.
    pub fn values(&self) -> Vec<f64> {
        self.part(self.owned())
    }

    /// The values of some owned rows, the red ones first: what [`Self::values`] gives where just
    /// these rows are owned.
    pub fn part(&self, rows: Range<usize>) -> Vec<f64> {
        let local = |row: usize| (row + 1 - self.owned.start) * self.half;
        let range = local(rows.start)..local(rows.end);
        self.colours.iter().flat_map(|values| &values[range.clone()]).copied().collect()
    }

    /// The row and the column of the point at `index` of [`Self::values`], counting from the
    /// border.
    pub fn place(&self, index: usize) -> (usize, usize) {
        let of_colour = self.owned.len() * self.half;
        let (colour, index) = (index / of_colour, index % of_colour);
        let row = self.owned.start + 1 + index / self.half;
        (row, 2 * (index % self.half) + (row + colour) % 2)
    }

    /// The largest distance of an owned point from the exact solution.
    pub fn largest_error(&self) -> f64 {
        let inner = |&(row, column): &(usize, usize)| {
            (1..=self.problem.rows).contains(&row) && (1..=self.problem.columns).contains(&column)
        };
        let values = self.values();
        let points = values.iter().enumerate().map(|(index, value)| (self.place(index), value));
        points
            .filter(|(place, _)| inner(place))
            .map(|((row, column), value)| (value - self.problem.exact(row, column)).abs())
            .fold(0.0, f64::max)
    }

    /// Relaxes all owned points of a colour and returns the largest change. The points of the other
    /// colour, above and below included, are what they are computed from.
    pub fn relax(&mut self, colour: Colour) -> f64 {
        let mut largest: f64 = 0.0;
        for local in 1..=self.owned.len() {
            largest = largest.max(self.relax_row(colour, local));
        }
        largest
    }

    fn relax_row(&mut self, colour: Colour, local: usize) -> f64 {
        let [red, black] = &mut self.colours;
        let (mine, others) = match colour {
            Colour::Red => (red, &*black),
            Colour::Black => (black, &*red),
        };
        // Value `i` of a half row is column `2i + shift`; in the other colour, `2i + 1 - shift`.
        let shift = (self.owned.start + local + colour as usize) % 2;
        let (first, points) = match shift {
            0 => (1, self.problem.columns / 2),
            _ => (0, self.problem.columns.div_ceil(2)),
        };
        let at = |local: usize, first: usize| {
            let start = local * self.half + first;
            start..start + points
        };
        let left = first + shift - 1;
        let neighbours =
            [at(local - 1, first), at(local + 1, first), at(local, left), at(local, left + 1)]
                .map(|range| &others[range]);
        relax(&mut mine[at(local, first)], neighbours, self.problem.omega)
    }

    fn half_row(&self, colour: Colour, local: usize) -> &[f64] {
        &self.colours[colour as usize][local * self.half..][..self.half]
    }
}

/// Moves every point towards, or with `omega` beyond 1 past, the mean of its neighbours: those
/// above, below, left and right. Returns the largest change.
///
/// Which vector unit is used changes no bit: every point is computed by itself, and Rust does not
/// contract a product and a sum into one operation.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn relax(points: &mut [f64], neighbours: [&[f64]; 4], omega: f64) -> f64 {
    let count = points.len();
    let [above, below, left, right] = neighbours.map(|values| &values[..count]);
    let mut largest = [0.0; LANES];
    let whole = count - count % LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, largest) in largest.iter_mut().enumerate() {
            let i = start + lane;
            let mean = 0.25 * ((above[i] + below[i]) + (left[i] + right[i]));
            let change = omega * (mean - points[i]);
            points[i] += change;
            *largest = larger(*largest, change.abs());
        }
    }
    for i in whole..count {
        let mean = 0.25 * ((above[i] + below[i]) + (left[i] + right[i]));
        let change = omega * (mean - points[i]);
        points[i] += change;
        largest[0] = larger(largest[0], change.abs());
    }
    largest.into_iter().fold(0.0, f64::max)
}

/// `f64::max` without its care for values that are no numbers, which takes vector units several
/// steps.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

#[cfg(test)]
pub(crate) mod tests;
