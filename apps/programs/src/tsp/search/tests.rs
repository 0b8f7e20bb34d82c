use super::Search;
use crate::tsp::held_karp::shortest;
use crate::tsp::shared::Alone;
use crate::tsp::towns::{BURMA, Towns};

fn search(towns: &Towns, depth: usize) -> (u64, Vec<u8>) {
    let best = Alone::default();
    let mut search = Search::new(towns, &best);
    for mut route in search.beginnings(depth) {
        search.run(&mut route).unwrap();
    }
    best.tour()
}

#[test]
fn it_finds_what_dynamic_programming_finds() {
    for (count, seed) in [(3, 1), (4, 1), (5, 2), (8, 3), (11, 4), (12, 5)] {
        let towns = Towns::made(count, seed);
        let (length, tour) = search(&towns, 3);
        assert_eq!((towns.length(&tour), length), (Some(length), shortest(&towns)), "{count}");
    }
    assert_eq!(search(&Towns::parse("burma", BURMA).unwrap(), 3).0, 3323);
}

/// All tours of a square of nine towns, of which many are shortest.
#[test]
fn of_several_shortest_tours_the_first_in_order_is_found() {
    let points = (0..9).map(|n| format!("{n} {} {}\n", n / 3, n % 3)).collect::<String>();
    let towns = Towns::parse("square", &format!("NODE_COORD_SECTION\n{points}")).unwrap();
    let expected = search(&towns, 1);
    for depth in [2, 3, 4, 9] {
        assert_eq!(search(&towns, depth), expected);
    }
    assert_eq!(expected.0, shortest(&towns));
}

#[test]
fn beginnings_are_all_of_them() {
    let towns = Towns::made(6, 1);
    let best = Alone::default();
    let routes = Search::new(&towns, &best).beginnings(3);
    assert_eq!(routes.len(), 5 * 4);
    assert!(routes.iter().all(|route| route[0] == 0 && route.len() == 3));
}
