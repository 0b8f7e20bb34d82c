use super::{components, largest};
use crate::graph::Graph;
use crate::graph::tests::graphs;
use proptest::prelude::*;

fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
    Graph::new(nodes, edges.iter().map(|&(from, to)| (from, to, 1)).collect())
}

/// Nodes that `from` reaches, by trying everything.
fn reachable(graph: &Graph, from: usize) -> Vec<bool> {
    let mut reached = vec![false; graph.nodes()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(graph.edges_from(node).map(|(to, _)| to));
        }
    }
    reached
}

#[test]
fn two_cycles_and_a_bridge() {
    let graph = graph(6, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5)]);
    assert_eq!(largest(&graph), [2, 3, 4]);
}

#[test]
fn of_equals_the_one_with_the_smallest_node() {
    assert_eq!(largest(&graph(5, &[(1, 3), (3, 1), (2, 4), (4, 2)])), [1, 3]);
    assert_eq!(largest(&graph(3, &[])), [0]);
    assert_eq!(largest(&graph(0, &[])), [0; 0]);
}

#[test]
fn a_long_chain_needs_no_deep_stack() {
    let nodes = 200_000;
    let mut edges: Vec<(usize, usize)> = (1..nodes).map(|node| (node - 1, node)).collect();
    assert_eq!(largest(&graph(nodes, &edges)).len(), 1);
    edges.push((nodes - 1, 0));
    assert_eq!(largest(&graph(nodes, &edges)).len(), nodes);
}

proptest! {
    #[test]
    fn a_component_is_mutual_reachability(graph in graphs(24)) {
        let component = components(&graph);
        let reach: Vec<Vec<bool>> = (0..graph.nodes()).map(|node| reachable(&graph, node)).collect();
        for a in 0..graph.nodes() {
            for b in 0..graph.nodes() {
                prop_assert_eq!(component[a] == component[b], reach[a][b] && reach[b][a]);
            }
        }
    }
}
