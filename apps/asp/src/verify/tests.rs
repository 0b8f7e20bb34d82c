use super::{Difference, Verdict, check, compare, sources};
use crate::graph::Graph;
use crate::rows::Rows;
use proptest::prelude::*;

#[test]
fn an_edge_is_a_distance_only_if_nothing_is_shorter() {
    let graph = Graph::new(3, vec![(0, 1, 1), (1, 2, 1), (0, 2, 5), (1, 0, 3), (2, 0, 3)]);
    let unsolved = Rows::new(&graph, 0..2);
    let verdict = check(&unsolved, &graph, &[0, 2, 1]);
    let first = Difference { from: 0, to: 2, computed: 5, expected: 2 };
    assert_eq!(verdict, Verdict { sources: 2, differences: 1, first: Some(first) });
}

#[test]
fn a_single_wrong_distance_is_seen_and_survives_the_journey() {
    let wrong = compare(4, &[1, 2, 9, 8], &[1, 2, 3, 4]);
    let first = Difference { from: 4, to: 2, computed: 9, expected: 3 };
    assert_eq!(wrong, Verdict { sources: 1, differences: 2, first: Some(first) });
    let right = compare(5, &[1], &[1]);
    let journeyed = [right, wrong].map(|verdict| Verdict::unpack(verdict.pack()));
    assert_eq!(journeyed, [right, wrong]);
    let joined = Verdict::join(journeyed);
    assert_eq!((joined.sources, joined.differences, joined.first), (2, 2, Some(first)));
}

proptest! {
    #[test]
    fn sources_are_different_nodes_with_the_asked_one(nodes in 1_usize..500, seed in 0_usize..500, count in 1_usize..100) {
        let from = seed % nodes;
        let mut chosen = sources(nodes, from, count);
        prop_assert!(chosen.contains(&from));
        chosen.sort_unstable();
        chosen.dedup();
        prop_assert_eq!(chosen.len(), count.min(nodes));
        prop_assert!(chosen.iter().all(|&node| node < nodes));
    }
}
