use super::{airport_line, parse_airports, parse_routes, route_line};
use crate::input::Input;

const AIRPORTS: &str = "# a comment\n\
    AMS\tEHAM\t52.30860\t4.76389\tAmsterdam\tNetherlands\tSchiphol\n\
    -\tZLIC\t38.48190\t106.00900\tYinchuan\tChina\tYinchuan Airport\n";

fn input(text: &str) -> Input {
    Input { file: "t.tsv".to_owned(), text: text.to_owned() }
}

fn airports_error(text: &str) -> String {
    parse_airports(&input(text)).expect_err("malformed").to_string()
}

#[test]
fn airports_go_by_iata_or_else_icao_and_are_found_by_both() {
    let (airports, codes) = parse_airports(&input(AIRPORTS)).expect("well-formed");
    let named: Vec<&str> = airports.iter().map(|airport| airport.code()).collect();
    assert_eq!(named, ["AMS", "ZLIC"]);
    let found = ["AMS", "EHAM", "ZLIC", "-", "ams"].map(|code| codes.find(code));
    assert_eq!(found, [Some(0), Some(0), Some(1), None, None]);
    assert_eq!(airports[0].position.longitude, 4.76389);
}

#[test]
fn what_is_written_reads_back() {
    let (airports, codes) = parse_airports(&input(AIRPORTS)).expect("well-formed");
    let text: String = airports.iter().map(airport_line).collect();
    assert_eq!(AIRPORTS.split_once('\n').map(|(_, lines)| lines), Some(text.as_str()));
    let routes = input(&route_line(&airports[1], &airports[0]));
    assert_eq!(parse_routes(&routes, &codes).expect("well-formed"), [(1, 0)]);
}

#[test]
fn a_malformed_airport_says_where_and_what() {
    let fields =
        "expected 7 fields between tabs (IATA, ICAO, latitude, longitude, city, country, name)";
    assert_eq!(
        airports_error("AMS\tEHAM\n"),
        format!("t.tsv:1: {fields}, found 2 in \"AMS\\tEHAM\"")
    );
    assert_eq!(
        airports_error("#\nAMS\tEHAM\t520\t4\ta\tb\tc\n"),
        "t.tsv:2: expected a latitude from -90 to 90, found \"520\""
    );
    assert_eq!(
        airports_error("AMST\tEHAM\t52\t4\ta\tb\tc\n"),
        "t.tsv:1: expected an IATA code of 3 letters or digits, or -, found \"AMST\""
    );
    assert_eq!(
        airports_error("-\t-\t52\t4\ta\tb\tc\n"),
        "t.tsv:1: expected an IATA or an ICAO code, found neither"
    );
    let twice = AIRPORTS.replace("-\tZLIC", "-\tEHAM");
    assert_eq!(
        airports_error(&twice),
        "t.tsv:3: expected a code of no earlier airport, found \"EHAM\""
    );
}

#[test]
fn a_malformed_route_says_where_and_what() {
    let (_, codes) = parse_airports(&input(AIRPORTS)).expect("well-formed");
    let error = |text: &str| parse_routes(&input(text), &codes).expect_err("malformed").to_string();
    assert_eq!(
        error("AMS\tZLIC\nAMS ZLIC\n"),
        "t.tsv:2: expected two codes with a tab between them, found \"AMS ZLIC\""
    );
    assert_eq!(
        error("AMS\tXXX\n"),
        "t.tsv:1: expected the code of an airport in the table of airports, found \"XXX\""
    );
}
