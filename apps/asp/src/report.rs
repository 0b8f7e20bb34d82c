//! Report of rank 0 in the end.

use std::fmt::Write;

use weft_app_common::{Times, Traffic, summary, table, thousands};

use crate::network::Network;
use crate::trip::{Trip, kilometres};

/// Everything that the report states. All of it was measured or computed in this run.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// Network that was computed on.
    pub network: &'a Network,
    /// The route that was asked for.
    pub asked: &'a Trip,
    /// The route between the airports farthest apart.
    pub farthest: &'a Trip,
    /// From how many sources Dijkstra's algorithm agreed.
    pub verified_sources: usize,
    /// Times of the computation.
    pub times: Times,
    /// Traffic of each rank while computing.
    pub traffic: &'a [Traffic],
}

impl Report<'_> {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let airports = thousands(self.network.airports.len() as u64);
        let _ = writeln!(
            text,
            "{}   {}      {airports} airports   verified against Dijkstra from {} source{}",
            codes(self.network, self.asked),
            kilometres(self.asked.length),
            self.verified_sources,
            if self.verified_sources == 1 { "" } else { "s" }
        );
        let farthest = codes(self.network, self.farthest);
        let _ = writeln!(text, "farthest apart: {farthest}   {}", kilometres(self.farthest.length));
        let broadcast = if self.traffic.len() > 1 { self.network.airports.len() } else { 0 };
        let extra = format!("rows broadcast {}   ", thousands(broadcast as u64));
        let summary = summary(self.times, &extra, self.traffic);
        let _ = writeln!(text, "{summary}\n\n{}", table(self.traffic));
        text
    }
}

/// A route as codes: `AMS -> SIN -> MEL -> HBA`.
fn codes(network: &Network, trip: &Trip) -> String {
    let codes: Vec<&str> = trip.nodes.iter().map(|&node| network.airports[node].code()).collect();
    codes.join(" -> ")
}

#[cfg(test)]
mod tests;
