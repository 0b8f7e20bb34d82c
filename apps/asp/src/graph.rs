//! A directed graph with lengths on its edges, and distances as exact integers.

/// A length or a distance in tens of metres: an integer, so that sums are exact in any order.
pub type Decametres = u32;

/// The distance where there is no path, or none shorter than this: ten million kilometres, and
/// twice it still fits. Below it every distance is exact.
pub const UNREACHABLE: Decametres = 1 << 30;

/// The longest edge a graph may have: half the circumference of the Earth, generously.
pub const LONGEST_EDGE: Decametres = 2_100_000;

/// A directed graph whose nodes are `0..nodes`, with the edges of a node next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Index of the first edge of each node, and one more for the end.
    starts: Vec<usize>,
    targets: Vec<usize>,
    lengths: Vec<Decametres>,
}

impl Graph {
    /// Builds a graph. Of several edges between the same nodes the shortest stays, an edge from a
    /// node to itself does not. An edge without length or beyond [`LONGEST_EDGE`] is a programmer's
    /// error.
    pub fn new(nodes: usize, mut edges: Vec<(usize, usize, Decametres)>) -> Self {
        edges.sort_unstable();
        edges.dedup_by_key(|&mut (from, to, _)| (from, to));
        edges.retain(|&(from, to, _)| from != to);
        let mut starts = vec![0; nodes + 1];
        for &(from, to, length) in &edges {
            assert!(to < nodes, "an edge to node {to} of {nodes}");
            assert!((1..=LONGEST_EDGE).contains(&length), "an edge of length {length}");
            starts[from + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        Self {
            starts,
            targets: edges.iter().map(|edge| edge.1).collect(),
            lengths: edges.iter().map(|edge| edge.2).collect(),
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The edges that leave `node`, as target and length, targets ascending.
    pub fn edges_from(&self, node: usize) -> impl Iterator<Item = (usize, Decametres)> {
        let range = self.starts[node]..self.starts[node + 1];
        let targets = self.targets[range.clone()].iter().copied();
        targets.zip(self.lengths[range].iter().copied())
    }

    /// The target of the edge at `position` among those that leave `node`, if there is one.
    pub fn target(&self, node: usize, position: usize) -> Option<usize> {
        let index = self.starts[node] + position;
        (index < self.starts[node + 1]).then(|| self.targets[index])
    }

    /// Number of edges that leave or enter each node.
    pub fn degrees(&self) -> Vec<usize> {
        let mut degrees: Vec<usize> =
            self.starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
        for &target in &self.targets {
            degrees[target] += 1;
        }
        degrees
    }

    /// The lengths of all edges, for the ranks of a job to agree on them to the last bit.
    pub fn lengths_mut(&mut self) -> &mut [Decametres] {
        &mut self.lengths
    }

    /// The graph of the nodes in `keep`, which are renumbered in the order given, and the edges
    /// between them.
    #[must_use]
    pub fn subgraph(&self, keep: &[usize]) -> Self {
        let mut renumbered = vec![None; self.nodes()];
        for (new, &old) in keep.iter().enumerate() {
            renumbered[old] = Some(new);
        }
        let edges = keep.iter().enumerate().flat_map(|(from, &old)| {
            let renumbered = &renumbered;
            self.edges_from(old)
                .filter_map(move |(to, length)| renumbered[to].map(|to| (from, to, length)))
        });
        Self::new(keep.len(), edges.collect())
    }
}

#[cfg(test)]
pub(crate) mod tests;
