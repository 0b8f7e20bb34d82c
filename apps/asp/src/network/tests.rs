use super::Network;
use crate::components::largest;
use crate::graph::LONGEST_EDGE;
use crate::input::Input;

const AIRPORTS: &str = "\
AAA\t-\t0.0\t0.0\ta\tx\tA\n\
BBB\t-\t0.0\t1.0\tb\tx\tB\n\
CCC\t-\t0.0\t2.0\tc\tx\tC\n\
DDD\t-\t0.0\t2.0\td\tx\tD\n\
EEE\t-\t0.0\t4.0\te\tx\tE\n";
const ROUTES: &str = "\
AAA\tBBB\nBBB\tAAA\nBBB\tCCC\nCCC\tBBB\nCCC\tDDD\nDDD\tCCC\nDDD\tEEE\nAAA\tCCC\nCCC\tAAA\nAAA\tAAA\n";

fn input(text: &str) -> Input {
    Input { file: "t".to_owned(), text: text.to_owned() }
}

fn codes(network: &Network) -> Vec<&str> {
    network.airports.iter().map(|airport| airport.code()).collect()
}

#[test]
fn who_cannot_come_back_is_left_out() {
    let network = Network::new(&input(AIRPORTS), &input(ROUTES), None).expect("a network");
    assert_eq!(codes(&network), ["AAA", "BBB", "CCC", "DDD"]);
    assert_eq!(network.left_out[0].code(), "EEE");
    let from_c: Vec<(usize, u32)> = network.graph.edges_from(2).collect();
    assert_eq!(from_c, [(0, 22_239), (1, 11_120), (3, 1)], "a degree is 111.195 km");
}

#[test]
fn a_sample_takes_the_best_connected() {
    let network = Network::new(&input(AIRPORTS), &input(ROUTES), Some(3)).expect("a network");
    assert_eq!(codes(&network), ["AAA", "BBB", "CCC"]);
    assert_eq!(network.left_out.len(), 2);
}

#[test]
fn nothing_to_compute_on_is_an_error() {
    let error = Network::new(&input(AIRPORTS), &input("AAA\tBBB\n"), None).expect_err("one way");
    assert_eq!(error.to_string(), "t: no route joins two airports, there and back");
}

#[test]
fn the_built_in_tables_are_one_large_network() {
    let (airports, routes) = Network::embedded();
    let network = Network::new(&airports, &routes, None).expect("well-formed");
    let nodes = network.graph.nodes();
    assert_eq!(nodes, network.airports.len());
    assert!(nodes > 3000, "{nodes}");
    assert_eq!(largest(&network.graph).len(), nodes);
    let mut longest = 0;
    for node in 0..nodes {
        longest = longest.max(network.graph.edges_from(node).map(|edge| edge.1).max().unwrap_or(0));
    }
    assert!((1_000_000..LONGEST_EDGE).contains(&longest), "{longest}");
    assert!(network.airports.iter().any(|airport| airport.code() == "IST"));
}
