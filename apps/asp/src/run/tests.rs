use super::{Plan, find_trips, verify};
use crate::dijkstra;
use crate::network::Network;
use crate::options::On;
use crate::rows::Rows;
use crate::solve::{Pace, solve};
use crate::verify::{Difference, Verdict};
use weft_app_common::{Blocks, Exchange, on_threads};

fn plan() -> Plan {
    let (airports, routes) = Network::embedded();
    let network = Network::new(&airports, &routes, Some(90)).expect("well-formed");
    Plan { network, from: 3, to: 70, on: On::Broadcasts, pace: Pace::default() }
}

/// Verdict and routes at rank 0 when `ranks` ranks solve, or leave out to solve, and then check and
/// report.
fn learned(plan: &Plan, ranks: usize, solved: bool) -> (Verdict, Vec<Option<Vec<usize>>>) {
    let results = on_threads(ranks, 0, |mut exchange| {
        let blocks = Blocks::new(plan.nodes(), ranks);
        let mut rows = Rows::new(&plan.network.graph, blocks.of(exchange.rank()));
        if solved {
            solve(&mut rows, blocks, Pace::default(), &mut exchange, |_| ())
                .expect("all ranks take part");
        }
        let verdict = verify(plan, &rows, 32, &mut exchange).expect("all ranks take part");
        let trips = find_trips(plan, &rows, &mut exchange).expect("all ranks take part");
        let trips = trips.map(|trips| [trips.asked, trips.farthest]);
        verdict.zip(trips).map(|(verdict, trips)| {
            (verdict, trips.into_iter().map(|trip| trip.ok().map(|trip| trip.nodes)).collect())
        })
    });
    assert!(results[1..].iter().all(Option::is_none), "only rank 0 reports");
    results.into_iter().next().flatten().expect("rank 0 reports")
}

#[test]
fn any_number_of_ranks_reports_the_same() {
    let plan = plan();
    let (verdict, trips) = learned(&plan, 1, true);
    assert_eq!(plan.accept(&verdict, 32).expect("it is right"), 32);
    let asked = trips[0].as_ref().expect("a route");
    assert_eq!((asked[0], asked[asked.len() - 1]), (3, 70));
    let longest = |node| dijkstra::distances(&plan.network.graph, node).into_iter().max();
    let farthest = trips[1].as_ref().expect("a route");
    let (from, to) = (farthest[0], farthest[farthest.len() - 1]);
    let length = dijkstra::distances(&plan.network.graph, from)[to];
    assert_eq!(Some(length), (0..plan.nodes()).filter_map(longest).max());
    for ranks in [2, 3, 8, 100] {
        assert_eq!(learned(&plan, ranks, true), (verdict, trips.clone()), "{ranks} ranks");
    }
}

#[test]
fn what_was_not_solved_is_not_accepted() {
    let plan = plan();
    for ranks in [1, 4] {
        let (verdict, _) = learned(&plan, ranks, false);
        let error = plan.accept(&verdict, 32).expect_err("edges are no distances").to_string();
        assert!(error.starts_with("the distances are wrong: "), "{error}");
    }
}

#[test]
fn a_single_difference_is_named_and_a_missing_source_noticed() {
    let plan = plan();
    let names = [3, 70].map(|node| plan.network.airports[node].code().to_owned());
    let first = Some(Difference { from: 3, to: 70, computed: 12, expected: 11 });
    let wrong = Verdict { sources: 32, differences: 1, first };
    let error = plan.accept(&wrong, 32).expect_err("one is wrong").to_string();
    assert!(names.iter().all(|name| error.contains(name)), "{error}");
    assert!(
        error.contains("1 of them differ") && error.contains(": 12 where it finds 11"),
        "{error}"
    );
    let few = Verdict { sources: 31, differences: 0, first: None };
    let error = plan.accept(&few, 32).expect_err("one is missing").to_string();
    assert!(error.ends_with("31 sources were checked instead of 32"), "{error}");
}
