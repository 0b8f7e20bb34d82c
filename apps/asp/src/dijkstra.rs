//! Dijkstra's algorithm: the independent judge of the distances that the ranks compute.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{Decametres, Graph, UNREACHABLE};

/// The distance from `source` to every node, [`UNREACHABLE`] where there is no path.
pub fn distances(graph: &Graph, source: usize) -> Vec<Decametres> {
    let mut nearest = vec![UNREACHABLE; graph.nodes()];
    nearest[source] = 0;
    let mut open = BinaryHeap::from([Reverse((0, source))]);
    while let Some(Reverse((distance, node))) = open.pop() {
        if distance > nearest[node] {
            continue;
        }
        for (target, length) in graph.edges_from(node) {
            let through = distance + length;
            if through < nearest[target] {
                nearest[target] = through;
                open.push(Reverse((through, target)));
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests;
