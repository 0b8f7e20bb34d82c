use super::*;

/// Components of a graph with these edges, each sorted, the largest first.
fn of(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut graph = vec![BTreeSet::new(); nodes];
    for &(from, to) in edges {
        graph[from].insert(to);
    }
    let mut found = components(&graph);
    found.iter_mut().for_each(|component| component.sort_unstable());
    found.sort_by_key(|component| (std::cmp::Reverse(component.len()), component.clone()));
    found
}

#[test]
fn without_circles_each_node_is_alone() {
    assert_eq!(of(0, &[]), [[0; 0]; 0]);
    assert_eq!(of(3, &[(0, 1), (1, 2), (0, 2)]), [[0], [1], [2]]);
}

#[test]
fn nodes_that_reach_one_another_are_together() {
    assert_eq!(of(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]), [vec![0, 1, 2], vec![3]]);
    assert_eq!(of(4, &[(3, 2), (2, 1), (1, 0), (0, 3)]), [[0, 1, 2, 3]]);
    let two = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)];
    assert_eq!(of(4, &two), [[0, 1], [2, 3]], "an edge one way joins no circles");
    let eight = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 4), (4, 3)];
    assert_eq!(of(5, &eight), [vec![0, 1, 2], vec![3, 4]], "circles with a node in common");
}
