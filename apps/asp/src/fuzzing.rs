//! Fuzz targets for the readers of this crate (`testing/fuzz`). Each takes any bytes and panics if
//! a reader does what it must not.

use crate::import::import;
use crate::input::{Input, InputError};
use crate::lookup;
use crate::network::Network;
use crate::tables::{airport_line, parse_airports, parse_routes, route_line};

/// Two texts, with a zero byte between them.
fn two_inputs(data: &[u8]) -> Option<(Input, Input)> {
    let text = str::from_utf8(data).ok()?;
    let (airports, routes) = text.split_once('\0').unwrap_or((text, ""));
    Some((input("airports", airports), input("routes", routes)))
}

fn input(file: &str, text: &str) -> Input {
    Input { file: file.to_owned(), text: text.to_owned() }
}

/// The two files of OpenFlights: what is made of them can be read.
pub fn openflights(data: &[u8]) {
    let Some((airports, routes)) = two_inputs(data) else { return };
    let Ok(made) = import(&airports, &routes) else { return };
    let (airports, codes) =
        parse_airports(&input("made", &made.airports)).expect("an imported table can be read");
    let routes =
        parse_routes(&input("made", &made.routes), &codes).expect("an imported table can be read");
    assert_eq!((airports.len(), routes.len()), (made.airport_count, made.route_count));
    assert!(routes.iter().all(|&(from, to)| from != to));
}

/// The two tables: what was read can be written and read again, and makes a network or an error.
pub fn tables(data: &[u8]) {
    let Some((airport_table, route_table)) = two_inputs(data) else { return };
    let network = Network::new(&airport_table, &route_table, None);
    let Ok((airports, codes)) = parse_airports(&airport_table) else {
        assert!(network.is_err());
        return;
    };
    let written: String = airports.iter().map(airport_line).collect();
    let (again, _) =
        parse_airports(&input("again", &written)).expect("what was written can be read");
    assert_eq!(again.len(), airports.len());
    let Ok(routes) = parse_routes(&route_table, &codes) else {
        assert!(network.is_err());
        return;
    };
    let lines = routes.iter().map(|&(from, to)| route_line(&airports[from], &airports[to]));
    let written = input("again", &lines.collect::<String>());
    assert_eq!(parse_routes(&written, &codes).ok(), Some(routes));
    match network {
        Ok(network) => check(&network, airports.len()),
        Err(error) => assert!(matches!(error, InputError::Empty { .. })),
    }
}

/// Every airport is in the network or left out of it, and found by its code or reported as left
/// out.
fn check(network: &Network, airports: usize) {
    assert_eq!(network.airports.len() + network.left_out.len(), airports);
    for (node, airport) in network.airports.iter().enumerate() {
        assert_eq!(lookup::find(network, airport.code()), Ok(node));
        assert!(network.graph.edges_from(node).all(|(to, length)| to != node && length > 0));
    }
    for airport in &network.left_out {
        assert!(lookup::find(network, airport.code()).is_err());
    }
}
