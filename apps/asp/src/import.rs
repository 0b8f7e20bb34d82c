//! Turning the two files of OpenFlights into the two tables of [`crate::tables`].
//!
//! An end of a route is the airport that has the code which the route gives, not the airport with
//! the OpenFlights id which it gives as well: a few ids lead to airports that have closed, or to
//! places on another continent. An airport is kept if a route ends there. Routes without both
//! airports, and routes from an airport to itself, are left out; a pair flown by several airlines
//! is one route.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::input::{Input, InputError, Line, quoted};
use crate::sphere::Position;
use crate::tables::{Airport, Codes, airport_line, route_line};

const AIRPORTS_HEAD: &str = "\
# Airports with scheduled routes, from OpenFlights (openflights.org), Open Database License; see README.md.
# IATA\tICAO\tlatitude\tlongitude\tcity\tcountry\tname
";
const ROUTES_HEAD: &str = "\
# Directed routes between them, from OpenFlights (openflights.org), Open Database License; see README.md.
# from\tto
";

/// Mark of OpenFlights for a field without a value.
const NULL: &str = "\\N";

/// Reason why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The files of OpenFlights cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A table could not be written.
    #[error("{}: {cause}", path.display())]
    Unwritable {
        /// The table.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// `airports.tsv`.
    pub airports: String,
    /// `routes.tsv`.
    pub routes: String,
    /// Number of airports.
    pub airport_count: usize,
    /// Number of routes.
    pub route_count: usize,
}

/// Reads the two files of OpenFlights and writes `airports.tsv` and `routes.tsv` into `folder`.
pub fn import_files(
    airports: &Path,
    routes: &Path,
    folder: &Path,
) -> Result<Imported, ImportError> {
    let imported = import(&Input::read(airports)?, &Input::read(routes)?)?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|cause| ImportError::Unwritable { path, cause })
    };
    write("airports.tsv", &imported.airports)?;
    write("routes.tsv", &imported.routes)?;
    Ok(imported)
}

/// The import itself, from text to text.
pub fn import(airports: &Input, routes: &Input) -> Result<Imported, InputError> {
    let listed = Listed::parse(airports)?;
    let pairs = parse_routes(routes, &listed)?;
    let used: BTreeSet<usize> = pairs.iter().flat_map(|&(from, to)| [from, to]).collect();
    let airport_lines = used.iter().map(|&index| airport_line(&listed.airports[index]));
    let route_lines =
        pairs.iter().map(|&(from, to)| route_line(&listed.airports[from], &listed.airports[to]));
    Ok(Imported {
        airports: AIRPORTS_HEAD.to_owned() + &airport_lines.collect::<String>(),
        routes: ROUTES_HEAD.to_owned() + &route_lines.collect::<String>(),
        airport_count: used.len(),
        route_count: pairs.len(),
    })
}

/// The airports of OpenFlights that have a code.
#[derive(Debug, Default)]
struct Listed {
    airports: Vec<Airport>,
    codes: Codes,
}

impl Listed {
    fn parse(input: &Input) -> Result<Self, InputError> {
        let mut listed = Self::default();
        for line in input.lines() {
            let fields = split_fields(&line)?;
            let [_, name, city, country, iata, icao, latitude, longitude, ..] = &fields[..] else {
                return Err(line.malformed("at least 8 fields of an airport", quoted(line.text)));
            };
            let airport = Airport {
                iata: code(iata, 3..=3),
                icao: code(icao, 3..=4),
                position: Position {
                    latitude: line.number_within(latitude, "latitude", 90.0)?,
                    longitude: line.number_within(longitude, "longitude", 180.0)?,
                },
                city: plain(city),
                country: plain(country),
                name: plain(name),
            };
            if airport.codes().next().is_some() {
                listed.add(&line, airport)?;
            }
        }
        Ok(listed)
    }

    fn add(&mut self, line: &Line<'_>, airport: Airport) -> Result<(), InputError> {
        let index = self.airports.len();
        self.codes
            .add(&airport, index)
            .map_err(|code| line.malformed("a code of no earlier airport", quoted(&code)))?;
        self.airports.push(airport);
        Ok(())
    }
}

/// The routes as pairs in order, each once.
fn parse_routes(input: &Input, listed: &Listed) -> Result<BTreeSet<(usize, usize)>, InputError> {
    let mut pairs = BTreeSet::new();
    for line in input.lines() {
        let fields = split_fields(&line)?;
        let [_, _, from, _, to, ..] = &fields[..] else {
            return Err(line.malformed("at least 5 fields of a route", quoted(line.text)));
        };
        if let (Some(from), Some(to)) = (listed.codes.find(from), listed.codes.find(to))
            && from != to
        {
            pairs.insert((from, to));
        }
    }
    Ok(pairs)
}

/// Splits a line at its commas, except between double quotes. A quote inside quotes is doubled or
/// comes after a backslash.
fn split_fields(line: &Line<'_>) -> Result<Vec<String>, InputError> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut inside = false;
    let mut characters = line.text.chars().peekable();
    while let Some(character) = characters.next() {
        let escapes = inside && matches!(character, '"' | '\\');
        match character {
            _ if escapes && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => inside = !inside,
            ',' if !inside => fields.push(std::mem::take(&mut field)),
            _ => field.push(character),
        }
    }
    if inside {
        return Err(line.malformed("a closing quote", format!("none in {}", quoted(line.text))));
    }
    fields.push(field);
    Ok(fields)
}

/// A code, if the text is one: OpenFlights also writes `\N` and a few other things there.
fn code(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<String> {
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    (lengths.contains(&text.len()) && text.chars().all(upper)).then(|| text.to_owned())
}

/// A text that fits between tabs.
fn plain(text: &str) -> String {
    let text = if text == NULL { "" } else { text };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
