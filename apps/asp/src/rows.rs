//! The part of the distance matrix that one rank holds, and the relaxation of its rows.
//!
//! Floyd and Warshall's algorithm lets every pair `(i, j)` try the way through pivot `k`, for one
//! `k` after the other, which moves the whole matrix through the processor once per pivot. Here a
//! row takes a batch of pivots at a time ([`Rows::relax`]): first what it costs to get from `i` to
//! each pivot of the batch, pivot by pivot as the order demands, then one pass over the columns in
//! which four rows share every load of a pivot row. Distances are `u32` because that is what vector
//! units of AVX2 and later do fastest; integers also make every order of summation exact.

use std::ops::Range;

use multiversion::multiversion;

use crate::graph::{Decametres, Graph, UNREACHABLE};

/// The most pivots in a batch. Their rows share the second-level cache with the rows they relax.
pub const BATCH: usize = 32;

/// Columns that stay in vector registers while all pivots of a batch pass by.
const LANES: usize = 64;
/// Rows that are relaxed together.
const TOGETHER: usize = 4;

/// Consecutive rows of the matrix of distances between all nodes.
///
/// A row is padded with [`UNREACHABLE`] to whole vectors; padding never becomes a distance, because
/// nothing leads to a node that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    owned: Range<usize>,
    nodes: usize,
    stride: usize,
    cells: Vec<Decametres>,
}

impl Rows {
    /// The rows `owned`, before any pivot: the edges alone.
    pub fn new(graph: &Graph, owned: Range<usize>) -> Self {
        let nodes = graph.nodes();
        let stride = nodes.next_multiple_of(LANES);
        let mut cells = vec![UNREACHABLE; owned.len() * stride];
        for (node, row) in owned.clone().zip(cells.chunks_exact_mut(stride)) {
            row[node] = 0;
            for (target, length) in graph.edges_from(node) {
                row[target] = length;
            }
        }
        Self { owned, nodes, stride, cells }
    }

    /// Range of these rows.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// Number of nodes in all: the length of a row.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The distances from `node`, which must be owned, to every node.
    pub fn row(&self, node: usize) -> &[Decametres] {
        &self.padded(node..node + 1)[..self.nodes]
    }

    /// The distances from every owned node to `node`.
    pub fn column(&self, node: usize) -> Vec<Decametres> {
        self.owned().map(|from| self.row(from)[node]).collect()
    }

    /// Lets the rows `which`, all owned, try the ways through a batch of pivots.
    pub fn relax(&mut self, which: Range<usize>, pivots: &Pivots) {
        let stride = self.stride;
        let cells = self.padded_range(which);
        relax(&mut self.cells[cells], stride, &pivots.cells, pivots.first);
    }

    fn padded(&self, which: Range<usize>) -> &[Decametres] {
        &self.cells[self.padded_range(which)]
    }

    fn padded_range(&self, which: Range<usize>) -> Range<usize> {
        let within =
            which.is_empty() || (self.owned.start <= which.start && which.end <= self.owned.end);
        assert!(within, "rows {which:?} of {:?}", self.owned);
        if which.is_empty() {
            return 0..0;
        }
        let first = which.start - self.owned.start;
        first * self.stride..(first + which.len()) * self.stride
    }
}

/// Up to [`BATCH`] consecutive pivots with their rows, each final: relaxed by all pivots before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pivots {
    first: usize,
    stride: usize,
    cells: Vec<Decametres>,
}

impl Pivots {
    /// No pivots yet, for a graph of `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        let stride = nodes.next_multiple_of(LANES);
        Self { first: 0, stride, cells: Vec::with_capacity(BATCH * stride) }
    }

    /// Range of these pivots.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.cells.len() / self.stride
    }

    /// Forgets all pivots; the next will be `first`.
    pub fn restart(&mut self, first: usize) {
        self.first = first;
        self.cells.clear();
    }

    /// Adds the next pivot from `rows`, which own it, and returns its row with its padding. The
    /// pivots before it in this batch are applied first; those before the batch must be already.
    pub fn push_final(&mut self, rows: &mut Rows) -> &[Decametres] {
        let next = self.range().end;
        rows.relax(next..next + 1, self);
        self.cells.extend_from_slice(rows.padded(next..next + 1));
        self.last()
    }

    /// Adds the next pivot and returns its row, padding included, to be filled.
    pub fn push_blank(&mut self) -> &mut [Decametres] {
        let start = self.cells.len();
        self.cells.resize(start + self.stride, UNREACHABLE);
        &mut self.cells[start..]
    }

    fn last(&self) -> &[Decametres] {
        &self.cells[self.cells.len() - self.stride..]
    }
}

/// Relaxes all `rows` by all `pivots`, of which `first` is the first.
#[multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512bw+avx512dq",
    "x86_64+avx2",
    "x86_64+sse4.1"
))]
fn relax(rows: &mut [Decametres], stride: usize, pivots: &[Decametres], first: usize) {
    let mut groups = rows.chunks_exact_mut(TOGETHER * stride);
    for group in &mut groups {
        relax_group::<TOGETHER>(group, stride, pivots, first);
    }
    for row in groups.into_remainder().chunks_exact_mut(stride) {
        relax_group::<1>(row, stride, pivots, first);
    }
}

/// Inlined, so that it is compiled for the vector unit that `relax` was chosen for. The loops count
/// instead of iterating because in this form, and with this many lanes, `best` stays in registers
/// and lanes become vectors; shorter ones are unrolled and then vectorised across rows, forty times
/// slower.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn relax_group<const ROWS: usize>(
    rows: &mut [Decametres],
    stride: usize,
    pivots: &[Decametres],
    first: usize,
) {
    let mut costs = [[UNREACHABLE; BATCH]; ROWS];
    for (costs, row) in costs.iter_mut().zip(rows.chunks_exact(stride)) {
        *costs = costs_to_pivots(row, stride, pivots, first);
    }
    for column in (0..stride).step_by(LANES) {
        let mut best = [[0; LANES]; ROWS];
        for row in 0..ROWS {
            best[row].copy_from_slice(&rows[row * stride + column..][..LANES]);
        }
        for index in 0..pivots.len() / stride {
            let pivot = &pivots[index * stride + column..][..LANES];
            for row in 0..ROWS {
                let cost = costs[row][index];
                for lane in 0..LANES {
                    best[row][lane] = best[row][lane].min(cost + pivot[lane]);
                }
            }
        }
        for row in 0..ROWS {
            rows[row * stride + column..][..LANES].copy_from_slice(&best[row]);
        }
    }
}

/// Costs from a row to each pivot of a batch, each by way of the pivots before it: the values of
/// the row's own cells at the moment when Floyd and Warshall's algorithm reads them.
#[inline(always)]
fn costs_to_pivots(
    row: &[Decametres],
    stride: usize,
    pivots: &[Decametres],
    first: usize,
) -> [Decametres; BATCH] {
    let mut costs = [UNREACHABLE; BATCH];
    let count = pivots.len() / stride;
    costs[..count].copy_from_slice(&row[first..first + count]);
    for (index, pivot) in pivots.chunks_exact(stride).enumerate() {
        let cost = costs[index];
        let later = &pivot[first + index + 1..first + count];
        for (best, &onward) in costs[index + 1..count].iter_mut().zip(later) {
            *best = (cost + onward).min(*best);
        }
    }
    costs
}

#[cfg(test)]
pub(crate) mod tests;
