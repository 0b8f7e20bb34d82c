//! Finding the airport that a user names, and what they may have meant.

use std::cmp::Reverse;

use weft_app_common::edit_distance;

use crate::network::Network;
use crate::tables::Airport;

/// Number of near names that an error offers.
const OFFERED: usize = 5;
/// The most edits between a code and what was typed for it to be near.
const NEAR: usize = 1;

/// Reason why an airport could not be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Nothing has this code.
    #[error("there is no airport {asked:?}{}", offer(near))]
    Unknown {
        /// Name that was asked for.
        asked: String,
        /// Airports it may have meant, as an error shows them.
        near: Vec<String>,
    },
    /// The airport is in the table, but not among those that reach each other.
    #[error(
        "{airport} is not in the network: it cannot be reached from, or cannot reach, the other airports of this run"
    )]
    LeftOut {
        /// The airport.
        airport: String,
    },
}

/// The node of the airport with this IATA or ICAO code, in capitals or not.
pub fn find(network: &Network, asked: &str) -> Result<usize, LookupError> {
    let wanted = asked.trim().to_ascii_uppercase();
    let has_code = |airport: &Airport| airport.codes().any(|code| code == wanted);
    if let Some(node) = network.airports.iter().position(has_code) {
        return Ok(node);
    }
    match network.left_out.iter().find(|airport| has_code(airport)) {
        Some(airport) => Err(LookupError::LeftOut { airport: shown(airport) }),
        None => Err(LookupError::Unknown { asked: asked.to_owned(), near: near(network, asked) }),
    }
}

/// An airport as messages show it: `AMS (Amsterdam, Netherlands)`.
pub fn shown(airport: &Airport) -> String {
    format!("{} ({}, {})", airport.code(), airport.city, airport.country)
}

/// The airports that `asked` may mean: those whose city or name it is or begins or is part of, then
/// those whose code is an edit away; among equals those with the most routes.
fn near(network: &Network, asked: &str) -> Vec<String> {
    let degrees = network.graph.degrees();
    let mut near: Vec<_> = network
        .airports
        .iter()
        .enumerate()
        .filter_map(|(node, airport)| {
            Some((difference(airport, asked)?, Reverse(degrees[node]), node))
        })
        .collect();
    near.sort_unstable();
    near.iter().take(OFFERED).map(|&(_, _, node)| shown(&network.airports[node])).collect()
}

/// Distance of an airport's names from what was asked, if it is near at all. Smaller is nearer.
fn difference(airport: &Airport, asked: &str) -> Option<usize> {
    let wanted = asked.trim().to_lowercase();
    if wanted.is_empty() {
        return None;
    }
    let in_text = |text: &str| {
        let text = text.to_lowercase();
        match text.find(&wanted) {
            Some(0) if text == wanted => Some(0),
            Some(0) => Some(1),
            // Two letters are part of nearly every name.
            Some(_) if wanted.chars().count() > 2 => Some(2),
            _ => None,
        }
    };
    let in_code = |code: &str| {
        let edits = edit_distance(&code.to_lowercase(), &wanted);
        (edits <= NEAR).then_some(2 + edits)
    };
    let texts = [&airport.city, &airport.name].into_iter().filter_map(|text| in_text(text));
    texts.chain(airport.codes().filter_map(in_code)).min()
}

fn offer(near: &[String]) -> String {
    if near.is_empty() {
        "; an airport is named by its IATA code (AMS) or its ICAO code (EHAM)".to_owned()
    } else {
        format!("; did you mean {}?", near.join(", "))
    }
}

#[cfg(test)]
mod tests;
