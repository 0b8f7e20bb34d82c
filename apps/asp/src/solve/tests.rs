use super::{Pace, solve};
use crate::dijkstra;
use crate::graph::Graph;
use crate::graph::tests::graphs;
use crate::rows::Rows;
use crate::rows::tests::plain;
use proptest::prelude::*;
use weft_app_common::{Alone, Blocks, Exchange, on_threads};

/// Solves on threads and returns what each rank then owns.
fn solved(graph: &Graph, ranks: usize, room: usize) -> Vec<Rows> {
    on_threads(ranks, room, |mut exchange| {
        let blocks = Blocks::new(graph.nodes(), ranks);
        let mut rows = Rows::new(graph, blocks.of(exchange.rank()));
        solve(&mut rows, blocks, Pace::default(), &mut exchange, |_| ())
            .expect("all ranks take part");
        rows
    })
}

#[test]
fn one_rank_reports_its_progress_to_the_end() {
    let graph = Graph::new(70, (1..70).map(|node| (node - 1, node, 2)).collect());
    let mut rows = Rows::new(&graph, 0..70);
    let mut heard = Vec::new();
    solve(&mut rows, Blocks::new(70, 1), Pace::default(), &mut Alone, |done| heard.push(done))
        .expect("alone");
    assert_eq!(heard, [32, 64, 70]);
    assert_eq!(rows.row(0)[69], 138);
}

#[test]
fn a_rank_that_leaves_is_an_error_and_no_answer() {
    let graph = Graph::new(10, vec![(0, 9, 1)]);
    let outcomes = on_threads(3, 1, |mut exchange| {
        if exchange.rank() == 1 {
            return true;
        }
        let blocks = Blocks::new(10, 3);
        let mut rows = Rows::new(&graph, blocks.of(exchange.rank()));
        solve(&mut rows, blocks, Pace::default(), &mut exchange, |_| ()).is_err()
    });
    assert_eq!(outcomes, [true; 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Also with more ranks than rows, and with no room for a message on its way.
    #[test]
    fn every_job_equals_the_plain_algorithm(graph in graphs(150), ranks in 1_usize..9, room in 0_usize..3) {
        let expected = plain(&graph);
        for rows in solved(&graph, ranks, room) {
            for node in rows.owned() {
                prop_assert_eq!(rows.row(node), &expected[node][..]);
            }
        }
    }

    #[test]
    fn and_dijkstra_agrees(graph in graphs(60)) {
        let rows = &solved(&graph, 1, 0)[0];
        for node in 0..graph.nodes() {
            prop_assert_eq!(rows.row(node), &dijkstra::distances(&graph, node)[..]);
        }
    }

    #[test]
    fn small_graphs_on_many_ranks(graph in graphs(5), ranks in 1_usize..65) {
        let expected = plain(&graph);
        let owned: usize = solved(&graph, ranks, 0)
            .iter()
            .map(|rows| {
                assert!(rows.owned().all(|node| rows.row(node) == &expected[node][..]));
                rows.owned().len()
            })
            .sum();
        prop_assert_eq!(owned, graph.nodes());
    }
}
