//! The two tables a run needs, as text: airports with their places, and directed routes.
//!
//! One record a line, fields between tabs, `#` before a comment. An absent code is `-`.

use std::collections::BTreeMap;

use crate::input::{Input, InputError, Line, quoted};
use crate::sphere::Position;

/// Mark for an absent code.
const ABSENT: &str = "-";
const AIRPORT_FIELDS: usize = 7;

/// An airport.
#[derive(Debug, Clone, PartialEq)]
pub struct Airport {
    /// The three-character code, if it has one.
    pub iata: Option<String>,
    /// The four-character code, if it has one.
    pub icao: Option<String>,
    /// Position on the sphere.
    pub position: Position,
    /// The city it serves.
    pub city: String,
    /// The country it lies in.
    pub country: String,
    /// Its own name.
    pub name: String,
}

impl Airport {
    /// The code it goes by: the IATA code, or the ICAO code of an airport without one.
    pub fn code(&self) -> &str {
        self.iata.as_deref().or(self.icao.as_deref()).unwrap_or(ABSENT)
    }

    /// Both codes, as far as there are any.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.iata.as_deref().into_iter().chain(self.icao.as_deref())
    }
}

/// Finds airports by IATA or ICAO code.
#[derive(Debug, Clone, Default)]
pub struct Codes(BTreeMap<String, usize>);

impl Codes {
    /// Notes the codes of one airport. Says which code was taken already, if one was.
    pub fn add(&mut self, airport: &Airport, index: usize) -> Result<(), String> {
        for code in airport.codes() {
            if self.0.insert(code.to_owned(), index).is_some_and(|other| other != index) {
                return Err(code.to_owned());
            }
        }
        Ok(())
    }

    /// The airport of an upper-case code.
    pub fn find(&self, code: &str) -> Option<usize> {
        self.0.get(code).copied()
    }
}

/// Reads the table of airports. Every airport has a code, and no code is used twice.
pub fn parse_airports(input: &Input) -> Result<(Vec<Airport>, Codes), InputError> {
    let mut airports = Vec::new();
    let mut codes = Codes::default();
    for line in input.lines() {
        let airport = parse_airport(&line)?;
        codes
            .add(&airport, airports.len())
            .map_err(|code| line.malformed("a code of no earlier airport", quoted(&code)))?;
        airports.push(airport);
    }
    Ok((airports, codes))
}

/// Reads the table of routes as pairs of indices of airports.
pub fn parse_routes(input: &Input, codes: &Codes) -> Result<Vec<(usize, usize)>, InputError> {
    let end_of = |line: &Line<'_>, code: &str| {
        codes.find(code).ok_or_else(|| {
            line.malformed("the code of an airport in the table of airports", quoted(code))
        })
    };
    let parse = |line: Line<'_>| match line.text.split('\t').collect::<Vec<_>>()[..] {
        [from, to] => Ok((end_of(&line, from)?, end_of(&line, to)?)),
        _ => Err(line.malformed("two codes with a tab between them", quoted(line.text))),
    };
    input.lines().map(parse).collect()
}

/// One line of the table of airports, with its end.
pub fn airport_line(airport: &Airport) -> String {
    let code = |code: &Option<String>| code.clone().unwrap_or_else(|| ABSENT.to_owned());
    format!(
        "{}\t{}\t{:.5}\t{:.5}\t{}\t{}\t{}\n",
        code(&airport.iata),
        code(&airport.icao),
        airport.position.latitude,
        airport.position.longitude,
        airport.city,
        airport.country,
        airport.name
    )
}

/// One line of the table of routes, with its end.
pub fn route_line(from: &Airport, to: &Airport) -> String {
    format!("{}\t{}\n", from.code(), to.code())
}

fn parse_airport(line: &Line<'_>) -> Result<Airport, InputError> {
    let fields: Vec<&str> = line.text.split('\t').collect();
    let [iata, icao, latitude, longitude, city, country, name] = fields[..] else {
        let found = format!("{} in {}", fields.len(), quoted(line.text));
        return Err(line.malformed(
            format!(
                "{AIRPORT_FIELDS} fields between tabs (IATA, ICAO, latitude, longitude, city, country, name)"
            ),
            found,
        ));
    };
    let airport = Airport {
        iata: parse_code(line, iata, 3..=3, "an IATA code of 3 letters or digits, or -")?,
        icao: parse_code(line, icao, 3..=4, "an ICAO code of 3 or 4 letters or digits, or -")?,
        position: Position {
            latitude: line.number_within(latitude, "latitude", 90.0)?,
            longitude: line.number_within(longitude, "longitude", 180.0)?,
        },
        city: city.to_owned(),
        country: country.to_owned(),
        name: name.to_owned(),
    };
    if airport.codes().next().is_none() {
        return Err(line.malformed("an IATA or an ICAO code", "neither"));
    }
    Ok(airport)
}

fn parse_code(
    line: &Line<'_>,
    text: &str,
    lengths: std::ops::RangeInclusive<usize>,
    expected: &str,
) -> Result<Option<String>, InputError> {
    if text == ABSENT {
        return Ok(None);
    }
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if lengths.contains(&text.len()) && text.chars().all(upper) {
        Ok(Some(text.to_owned()))
    } else {
        Err(line.malformed(expected, quoted(text)))
    }
}

#[cfg(test)]
mod tests;
