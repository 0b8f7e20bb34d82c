use super::{Decametres, Graph, LONGEST_EDGE};
use proptest::prelude::*;

/// Random graphs of `1..=most` nodes, from hardly any edges to nearly all.
pub fn graphs(most: usize) -> impl Strategy<Value = Graph> {
    (1..=most).prop_flat_map(|nodes| {
        let edge = (0..nodes, 0..nodes, 1..=LONGEST_EDGE);
        proptest::collection::vec(edge, 0..4 * nodes)
            .prop_map(move |edges| Graph::new(nodes, edges))
    })
}

fn listed(graph: &Graph) -> Vec<(usize, usize, Decametres)> {
    let edges = |from| graph.edges_from(from).map(move |(to, length)| (from, to, length));
    (0..graph.nodes()).flat_map(edges).collect()
}

#[test]
fn the_shortest_of_parallel_edges_stays_and_loops_go() {
    let graph = Graph::new(3, vec![(2, 0, 5), (0, 1, 9), (0, 1, 4), (1, 1, 3), (0, 2, 1)]);
    assert_eq!(listed(&graph), [(0, 1, 4), (0, 2, 1), (2, 0, 5)]);
    assert_eq!(graph.degrees(), [3, 1, 2]);
    assert_eq!((graph.target(0, 1), graph.target(0, 2)), (Some(2), None));
}

#[test]
#[should_panic(expected = "an edge of length 0")]
fn an_edge_has_a_length() {
    Graph::new(2, vec![(0, 1, 0)]);
}

#[test]
fn a_subgraph_keeps_the_edges_between_its_nodes() {
    let graph = Graph::new(4, vec![(0, 1, 1), (1, 3, 2), (3, 0, 3), (3, 1, 4), (2, 3, 5)]);
    assert_eq!(listed(&graph.subgraph(&[3, 1])), [(0, 1, 4), (1, 0, 2)]);
}
