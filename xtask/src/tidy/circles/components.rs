//! Strongly connected components: nodes that reach one another.

use std::collections::BTreeSet;

/// The components of a graph, whose node `n` has edges to all in `edges[n]` (Kosaraju).
pub fn components(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut backwards = vec![BTreeSet::new(); edges.len()];
    for (from, to) in edges.iter().enumerate() {
        for &to in to {
            backwards[to].insert(from);
        }
    }
    let (mut seen, mut finished) = (vec![false; edges.len()], Vec::new());
    for node in 0..edges.len() {
        visit(edges, node, &mut seen, &mut finished);
    }
    let mut seen = vec![false; edges.len()];
    let reached = finished.iter().rev().map(|&node| {
        let mut component = Vec::new();
        visit(&backwards, node, &mut seen, &mut component);
        component
    });
    reached.filter(|component| !component.is_empty()).collect()
}

/// Adds to `finished` what `node` reaches that was not seen before, each after all that it reaches.
fn visit(edges: &[BTreeSet<usize>], node: usize, seen: &mut [bool], finished: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[node], true) {
        return;
    }
    for &next in &edges[node] {
        visit(edges, next, seen, finished);
    }
    finished.push(node);
}

#[cfg(test)]
mod tests;
