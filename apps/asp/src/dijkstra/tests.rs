use super::distances;
use crate::graph::{Graph, UNREACHABLE};

#[test]
fn a_detour_can_be_shorter() {
    let graph = Graph::new(5, vec![(0, 1, 10), (0, 2, 3), (2, 3, 3), (3, 1, 3), (1, 0, 1)]);
    assert_eq!(distances(&graph, 0), [0, 9, 3, 6, UNREACHABLE]);
    assert_eq!(distances(&graph, 4), [1 << 30, 1 << 30, 1 << 30, 1 << 30, 0]);
}
