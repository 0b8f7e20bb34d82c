//! From distances back to routes.

use weft_app_common::thousands;

use crate::graph::{Decametres, Graph, UNREACHABLE};
use crate::rows::Rows;

/// A shortest route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// Its airports, both ends included.
    pub nodes: Vec<usize>,
    /// Its length.
    pub length: Decametres,
}

/// The ends of a path and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Node at which it starts.
    pub from: usize,
    /// Node to which it leads.
    pub to: usize,
    /// Length.
    pub length: Decametres,
}

/// The shortest route from `from` to `to`, given the distance from every node to `to`. `None` if
/// there is no route, or if the distances are not those of the graph.
///
/// Distances are exact, so a step is on a shortest route just if its length and what remains after
/// it add up to what remained before. Of several such steps the longest is taken: it saves stops.
pub fn route(graph: &Graph, to_end: &[Decametres], from: usize, to: usize) -> Option<Trip> {
    let length = to_end[from];
    let mut nodes = vec![from];
    let mut here = from;
    while here != to {
        let onward = |&(next, step): &(usize, Decametres)| {
            to_end[next] < UNREACHABLE && step + to_end[next] == to_end[here]
        };
        let steps = graph.edges_from(here).filter(onward);
        // Edges have a length, so what remains shrinks with every step and the walk ends.
        here = steps.max_by_key(|&(_, step)| step)?.0;
        nodes.push(here);
    }
    (to_end[to] == 0).then_some(Trip { nodes, length })
}

/// The owned node and the other that are farthest apart; of several such pairs the first.
/// `None` without rows. Nodes without a path between them are not apart, they are unrelated.
pub fn farthest(rows: &Rows) -> Option<Pair> {
    let of_row = |from: usize| {
        let cells = rows.row(from).iter().copied().enumerate();
        cells.filter(|&(_, length)| length < UNREACHABLE).map(move |(to, length)| Pair {
            from,
            to,
            length,
        })
    };
    farther(rows.owned().flat_map(of_row))
}

/// The longest of some pairs; of equals the first.
pub fn farther(pairs: impl Iterator<Item = Pair>) -> Option<Pair> {
    pairs.reduce(|best, pair| if pair.length > best.length { pair } else { best })
}

/// A length as people read it, to the kilometre: `17,156 km`.
pub fn kilometres(length: Decametres) -> String {
    format!("{} km", thousands((u64::from(length) + 50) / 100))
}

#[cfg(test)]
mod tests;
