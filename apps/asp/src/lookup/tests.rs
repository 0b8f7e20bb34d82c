use super::{LookupError, find};
use crate::network::Network;

fn network(sample: Option<usize>) -> Network {
    let (airports, routes) = Network::embedded();
    Network::new(&airports, &routes, sample).expect("well-formed")
}

fn near(network: &Network, asked: &str) -> Vec<String> {
    match find(network, asked) {
        Err(LookupError::Unknown { near, .. }) => near,
        other => panic!("{asked} gave {other:?}"),
    }
}

#[test]
fn codes_are_found_in_any_case() {
    let network = network(None);
    let schiphol = find(&network, "AMS").expect("it is there");
    assert_eq!(network.airports[schiphol].city, "Amsterdam");
    for code in ["ams", "EHAM", " ehAm "] {
        assert_eq!(find(&network, code), Ok(schiphol));
    }
}

#[test]
fn a_city_or_a_slip_offers_airports() {
    let network = network(None);
    assert_eq!(near(&network, "Hobart"), ["HBA (Hobart, Australia)"]);
    assert_eq!(near(&network, "heathrow"), ["LHR (London, United Kingdom)"]);
    assert!(near(&network, "london")[0].starts_with("LHR"), "the best connected first");
    let slip = near(&network, "AMX");
    assert_eq!(slip.len(), 5);
    assert!(slip[0].starts_with("AMS"), "{slip:?}");
}

#[test]
fn the_errors_say_what_to_do() {
    let text = |network: &Network, asked| find(network, asked).expect_err("unknown").to_string();
    let all = network(None);
    assert_eq!(
        text(&all, "Hobart"),
        "there is no airport \"Hobart\"; did you mean HBA (Hobart, Australia)?"
    );
    assert_eq!(
        text(&all, "?!?!?!"),
        "there is no airport \"?!?!?!\"; an airport is named by its IATA code (AMS) or its ICAO code (EHAM)"
    );
    let few = network(Some(20));
    assert!(text(&few, "hba").starts_with("HBA (Hobart, Australia) is not in the network"));
}
