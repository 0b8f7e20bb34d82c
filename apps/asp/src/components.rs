//! Strongly connected components, after Tarjan, without recursion.

use crate::graph::Graph;

/// The nodes of the largest strongly connected component, ascending; of several largest, the one
/// with the smallest node. Empty for an empty graph.
pub fn largest(graph: &Graph) -> Vec<usize> {
    let component_of = components(graph);
    let mut sizes = vec![0_usize; graph.nodes()];
    for &component in &component_of {
        sizes[component] += 1;
    }
    let size_of = |node: &usize| sizes[component_of[*node]];
    // `max_by_key` takes the last of equals: counted from behind, that is the smallest node.
    let Some(member) = (0..graph.nodes()).rev().max_by_key(size_of) else {
        return Vec::new();
    };
    (0..graph.nodes()).filter(|&node| component_of[node] == component_of[member]).collect()
}

/// The component of every node. Two nodes have the same if and only if each reaches the other.
pub fn components(graph: &Graph) -> Vec<usize> {
    let mut search = Search::new(graph);
    for root in 0..graph.nodes() {
        if search.order[root].is_none() {
            search.explore(root);
        }
    }
    search.component
}

/// Tarjan's depth-first search. `low` is the earliest visited node on the stack that a node is
/// known to reach; a node that reaches none earlier than itself is the root of a component.
struct Search<'a> {
    graph: &'a Graph,
    /// Number of each node in the order of first visits.
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    component: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    visited: usize,
    found: usize,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Self {
        let nodes = graph.nodes();
        Self {
            graph,
            order: vec![None; nodes],
            low: vec![0; nodes],
            component: vec![0; nodes],
            on_stack: vec![false; nodes],
            stack: Vec::new(),
            visited: 0,
            found: 0,
        }
    }

    /// Visits everything reachable from `root`. `path` holds the nodes being visited, each with the
    /// number of its edges already followed.
    fn explore(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            if let Some(target) = self.graph.target(node, *followed) {
                *followed += 1;
                match self.order[target] {
                    None => {
                        self.enter(target);
                        path.push((target, 0));
                    }
                    Some(order) if self.on_stack[target] => {
                        self.low[node] = self.low[node].min(order);
                    }
                    Some(_) => {}
                }
            } else {
                path.pop();
                self.finish(node);
                if let Some(&(parent, _)) = path.last() {
                    self.low[parent] = self.low[parent].min(self.low[node]);
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = Some(self.visited);
        self.low[node] = self.visited;
        self.visited += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    /// Takes a component off the stack if `node` is its root.
    fn finish(&mut self, node: usize) {
        if self.order[node] != Some(self.low[node]) {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            self.component[member] = self.found;
            if member == node {
                break;
            }
        }
        self.found += 1;
    }
}

#[cfg(test)]
mod tests;
