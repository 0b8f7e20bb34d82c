use super::{BATCH, Pivots, Rows};
use crate::graph::tests::graphs;
use crate::graph::{Decametres, Graph};
use proptest::prelude::*;

/// Floyd and Warshall's algorithm as it is in textbooks.
pub fn plain(graph: &Graph) -> Vec<Vec<Decametres>> {
    let nodes = graph.nodes();
    let start = Rows::new(graph, 0..nodes);
    let mut matrix: Vec<Vec<Decametres>> =
        (0..nodes).map(|node| start.row(node).to_vec()).collect();
    for k in 0..nodes {
        for i in 0..nodes {
            for j in 0..nodes {
                matrix[i][j] = matrix[i][j].min(matrix[i][k] + matrix[k][j]);
            }
        }
    }
    matrix
}

/// Rows that are computed a batch at a time.
fn batched(graph: &Graph, batch: usize) -> Rows {
    let nodes = graph.nodes();
    let mut rows = Rows::new(graph, 0..nodes);
    let mut pivots = Pivots::new(nodes);
    for first in (0..nodes).step_by(batch) {
        pivots.restart(first);
        for _ in first..nodes.min(first + batch) {
            pivots.push_final(&mut rows);
        }
        rows.relax(0..nodes, &pivots);
    }
    rows
}

#[test]
fn rows_start_with_the_edges() {
    let graph = Graph::new(3, vec![(1, 0, 7), (1, 2, 5), (2, 1, 4)]);
    let rows = Rows::new(&graph, 1..3);
    assert_eq!(rows.row(1), [7, 0, 5]);
    assert_eq!(rows.column(1), [0, 4]);
}

#[test]
#[should_panic(expected = "rows 0..1 of 1..3")]
fn rows_of_others_are_out_of_reach() {
    Rows::new(&Graph::new(3, vec![]), 1..3).row(0);
}

proptest! {
    #[test]
    fn batches_of_any_size_equal_the_plain_algorithm(graph in graphs(75), batch in 1..=BATCH) {
        let (expected, rows) = (plain(&graph), batched(&graph, batch));
        for (node, expected) in expected.iter().enumerate() {
            prop_assert_eq!(rows.row(node), &expected[..]);
        }
    }
}
