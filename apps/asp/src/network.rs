//! The network a run computes on: airports that can all reach each other, and the routes between
//! them.

use std::cmp::Reverse;

use crate::components::largest;
use crate::graph::{Decametres, Graph};
use crate::input::{Input, InputError};
use crate::sphere::distance_km;
use crate::tables::{Airport, parse_airports, parse_routes};

/// Airports and routes. Node `n` of the graph is `airports[n]`.
#[derive(Debug, Clone)]
pub struct Network {
    /// The airports that reach each other, in the order of the table.
    pub airports: Vec<Airport>,
    /// The routes between them and their lengths.
    pub graph: Graph,
    /// The airports of the table that were left out.
    pub left_out: Vec<Airport>,
}

impl Network {
    /// The tables that come with the program.
    pub fn embedded() -> (Input, Input) {
        let airports = include_str!("../data/airports.tsv");
        let routes = include_str!("../data/routes.tsv");
        let input = |file: &str, text: &str| Input { file: file.to_owned(), text: text.to_owned() };
        (input("airports.tsv (built in)", airports), input("routes.tsv (built in)", routes))
    }

    /// Reads the tables and keeps the largest strongly connected component: of all airports, or of
    /// the `sample` airports with the most routes.
    pub fn new(
        airports: &Input,
        routes: &Input,
        sample: Option<usize>,
    ) -> Result<Self, InputError> {
        let (airports, codes) = parse_airports(airports)?;
        let pairs = parse_routes(routes, &codes)?;
        let edges = pairs.into_iter().filter(|(from, to)| from != to);
        let edge = |(from, to): (usize, usize)| (from, to, length(&airports[from], &airports[to]));
        let everything = Graph::new(airports.len(), edges.map(edge).collect());
        let chosen = best_connected(&everything, sample.unwrap_or(airports.len()));
        let graph = everything.subgraph(&chosen);
        let kept = largest(&graph);
        if kept.len() < 2 {
            return Err(InputError::Empty { file: routes.file.clone() });
        }
        let mut stays = vec![false; airports.len()];
        for &node in &kept {
            stays[chosen[node]] = true;
        }
        let divide = |wanted: bool| {
            let pairs = airports.iter().zip(&stays);
            pairs
                .filter(|&(_, &stays)| stays == wanted)
                .map(|(airport, _)| airport.clone())
                .collect()
        };
        Ok(Self { airports: divide(true), graph: graph.subgraph(&kept), left_out: divide(false) })
    }
}

/// The length of a route, to ten metres. Never 0, even between airports on the same spot, so that
/// every step of a route brings it nearer to its end.
fn length(from: &Airport, to: &Airport) -> Decametres {
    let decametres = (distance_km(from.position, to.position) * 100.0).round();
    (decametres as Decametres).max(1)
}

/// The `count` nodes with the most edges, ascending; of equals the first.
fn best_connected(graph: &Graph, count: usize) -> Vec<usize> {
    let degrees = graph.degrees();
    let mut nodes: Vec<usize> = (0..graph.nodes()).collect();
    nodes.sort_by_key(|&node| Reverse(degrees[node]));
    nodes.truncate(count);
    nodes.sort_unstable();
    nodes
}

#[cfg(test)]
mod tests;
