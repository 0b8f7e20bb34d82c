use super::{Line, draw};
use crate::network::Network;
use crate::trip::Trip;

fn network() -> Network {
    let (airports, routes) = Network::embedded();
    Network::new(&airports, &routes, None).expect("well-formed")
}

fn node(network: &Network, code: &str) -> usize {
    network.airports.iter().position(|airport| airport.code() == code).expect("it is there")
}

fn trip(network: &Network, codes: &[&str]) -> Trip {
    Trip { nodes: codes.iter().map(|code| node(network, code)).collect(), length: 1_234_567 }
}

/// Panics unless every element that opens closes, in order, and text is escaped.
fn assert_balanced(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text:?}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag:?}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("a name"));
        }
    }
    assert!(open.is_empty(), "{open:?} left open");
}

#[test]
fn a_map_is_well_formed_and_says_what_it_shows() {
    let network = network();
    let (first, second) =
        (trip(&network, &["AMS", "SIN", "MEL", "HBA"]), trip(&network, &["SYD", "LAX"]));
    let lines = [
        Line { title: "Asked for", trip: &first, colour: "#c00" },
        Line { title: "Farthest apart", trip: &second, colour: "#06c" },
    ];
    let svg = draw(&network, &lines);
    assert_balanced(&svg);
    for text in [
        "Amsterdam to Hobart: 12,346 km",
        "with 2 stops",
        ">SIN<",
        "AMS → SIN → MEL → HBA",
        "OpenFlights",
    ] {
        assert!(svg.contains(text), "{text} is missing");
    }
    assert!(!svg.contains("NaN"));
}

#[test]
fn a_line_over_the_date_line_is_two_pieces() {
    let network = network();
    let pieces = |codes: &[&str]| {
        let trip = trip(&network, codes);
        let lines = [Line { title: "t", trip: &trip, colour: "#123456" }];
        let svg = draw(&network, &lines);
        let drawn = svg.lines().find(|line| {
            line.contains("stroke-width=\"2.4\"") && line.contains("stroke=\"#123456\"")
        });
        drawn.expect("the line is drawn").matches('M').count()
    };
    assert_eq!(pieces(&["SYD", "LAX"]), 2);
    assert_eq!(pieces(&["JFK", "LHR"]), 1);
    assert_eq!(pieces(&["SYD", "LAX", "JFK"]), 3);
}

#[test]
fn a_long_route_has_a_legend_of_several_lines() {
    let network = network();
    let trip = Trip { nodes: (0..50).collect(), length: 1 };
    let svg = draw(&network, &[Line { title: "Long", trip: &trip, colour: "#123456" }]);
    assert_balanced(&svg);
    assert_eq!(svg.matches(" →</text>").count(), 2, "two of three lines go on");
}
