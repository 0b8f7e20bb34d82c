use super::{BURMA, Towns};

#[test]
fn distances_are_those_of_the_format() {
    let text = "TYPE: TSP\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 0 1.4\nEOF\n9 9 9";
    let towns = Towns::parse("x", text).unwrap();
    assert_eq!((towns.count(), towns.distance(0, 1), towns.distance(2, 0)), (3, 5, 1));
    let burma = Towns::parse("burma", BURMA).unwrap();
    // The first distances of TSPLIB's own matrix.
    let first: Vec<u32> = (0..4).map(|town| burma.distance(0, town)).collect();
    assert_eq!(first, [0, 153, 510, 706]);
}

#[test]
fn a_tour_visits_each_town_once() {
    let text = "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 3 0\n";
    let towns = Towns::parse("x", text).unwrap();
    assert_eq!(towns.length(&[0, 1, 2]), Some(12));
    assert_eq!(towns.length(&[0, 1]), None);
    assert_eq!(towns.length(&[0, 1, 1]), None);
}

#[test]
fn mistakes_are_named_by_their_line() {
    for (text, expected) in [
        ("TYPE: TSP\nEDGE_WEIGHT_TYPE: ATT\n", "x:2: expected EUC_2D or GEO"),
        ("NODE_COORD_SECTION\n1 0\n", "x:2: expected the number of a town"),
        ("NODE_COORD_SECTION\n1 0 NaN\n", "x:2: expected the number of a town"),
        ("NODE_COORD_SECTION\n1 0 1\n", "x has 1 towns; there may be 3 to 64"),
        ("TYPE: ATSP", "x:1: expected a problem of type TSP"),
    ] {
        let error = Towns::parse("x", text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn made_towns_follow_from_their_seed() {
    assert_eq!(Towns::made(9, 1), Towns::made(9, 1));
    assert_ne!(Towns::made(9, 1), Towns::made(9, 2));
}
