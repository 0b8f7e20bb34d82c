use super::shortest;
use crate::tsp::towns::{BURMA, Towns};

#[test]
fn the_published_optimum_is_found() {
    assert_eq!(shortest(&Towns::parse("burma", BURMA).unwrap()), 3323);
}

/// The lengths of all tours.
fn all(towns: &Towns, tour: &mut Vec<u8>) -> u64 {
    if let Some(length) = towns.length(tour) {
        return length;
    }
    let rest = (0..towns.count() as u8).filter(|town| !tour.contains(town)).collect::<Vec<_>>();
    let longer = rest.into_iter().map(|town| {
        tour.push(town);
        let least = all(towns, tour);
        tour.pop();
        least
    });
    longer.min().unwrap()
}

#[test]
fn it_is_the_least_of_all_tours() {
    for (count, seed) in [(3, 1), (4, 2), (7, 3), (8, 4)] {
        let towns = Towns::made(count, seed);
        assert_eq!(shortest(&towns), all(&towns, &mut vec![0]), "{count}");
    }
}
