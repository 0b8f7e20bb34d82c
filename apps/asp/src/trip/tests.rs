use super::{Pair, Trip, farthest, kilometres, route};
use crate::dijkstra;
use crate::graph::tests::graphs;
use crate::graph::{Graph, UNREACHABLE};
use crate::rows::Rows;
use proptest::prelude::*;
use weft_app_common::{Alone, Blocks};

fn solved(graph: &Graph) -> Rows {
    let nodes = graph.nodes();
    let mut rows = Rows::new(graph, 0..nodes);
    let pace = crate::solve::Pace::default();
    crate::solve::solve(&mut rows, Blocks::new(nodes, 1), pace, &mut Alone, |_| ()).expect("alone");
    rows
}

#[test]
fn of_equal_ways_the_one_with_fewer_stops() {
    let graph = Graph::new(4, vec![(0, 1, 1), (1, 2, 1), (2, 3, 2), (0, 2, 2), (3, 0, 1)]);
    let trip = route(&graph, &solved(&graph).column(3), 0, 3);
    assert_eq!(trip, Some(Trip { nodes: vec![0, 2, 3], length: 4 }));
}

#[test]
fn no_way_and_wrong_distances_give_no_route() {
    let graph = Graph::new(3, vec![(0, 1, 1), (1, 0, 1)]);
    assert_eq!(route(&graph, &[UNREACHABLE, UNREACHABLE, 0], 0, 2), None);
    assert_eq!(route(&graph, &[5, 0, UNREACHABLE], 0, 1), None);
}

#[test]
fn the_farthest_pair_has_a_path() {
    let graph = Graph::new(4, vec![(0, 1, 4), (1, 0, 9), (1, 2, 9), (2, 1, 1)]);
    let all = farthest(&solved(&graph));
    assert_eq!(all, Some(Pair { from: 0, to: 2, length: 13 }));
    assert_eq!(farthest(&Rows::new(&graph, 2..2)), None);
}

#[test]
fn lengths_are_rounded_to_kilometres() {
    let texts = [49, 50, 149, 1_715_649].map(kilometres);
    assert_eq!(texts, ["0 km", "1 km", "1 km", "17,156 km"]);
}

proptest! {
    #[test]
    fn a_route_has_the_length_that_it_claims(graph in graphs(40)) {
        let rows = solved(&graph);
        for to in 0..graph.nodes() {
            let column = rows.column(to);
            for from in 0..graph.nodes() {
                let expected = dijkstra::distances(&graph, from)[to];
                let Some(trip) = route(&graph, &column, from, to) else {
                    prop_assert_eq!(expected, UNREACHABLE);
                    continue;
                };
                let step = |ends: &[usize]| {
                    graph.edges_from(ends[0]).find(|edge| edge.0 == ends[1]).expect("an edge").1
                };
                prop_assert_eq!(trip.nodes.windows(2).map(step).sum::<u32>(), expected);
                prop_assert_eq!((trip.nodes[0], trip.nodes[trip.nodes.len() - 1]), (from, to));
            }
        }
    }
}
