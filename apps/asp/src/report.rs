//! What rank 0 says in the end.

use std::fmt::Write;
use std::time::Duration;

use weft_kit::{Traffic, seconds, table, thousands};

use crate::network::Network;
use crate::trip::{Trip, kilometres};

/// Everything that the report states. All of it was measured or computed in this run.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// What was computed on.
    pub network: &'a Network,
    /// The route that was asked for.
    pub asked: &'a Trip,
    /// The route between the airports farthest apart.
    pub farthest: &'a Trip,
    /// From how many sources Dijkstra's algorithm agreed.
    pub verified_sources: usize,
    /// How long all ranks took together.
    pub together: Duration,
    /// How long rank 0 took alone, if that was measured.
    pub alone: Option<Duration>,
    /// What each rank sent and received while computing.
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
        let _ = writeln!(text, "{}\n\n{}", self.run(), table(self.traffic));
        text
    }

    /// The line about the run as a whole.
    fn run(&self) -> String {
        let ranks = self.traffic.len();
        let total = Traffic::total(self.traffic);
        let ratio = self.alone.map_or(String::new(), |alone| {
            let times = alone.as_secs_f64() / self.together.as_secs_f64();
            format!(" ({times:.1} x one rank, which took {})", seconds(alone))
        });
        format!(
            "{ranks} rank{}, {}{ratio}   rows broadcast {}   packets {}   blocked sends {}   interrupts {}",
            if ranks == 1 { "" } else { "s" },
            seconds(self.together),
            thousands(if ranks == 1 { 0 } else { self.network.airports.len() as u64 }),
            thousands(total.packets_sent),
            thousands(total.blocked_sends),
            thousands(total.interrupts)
        )
    }
}

/// A route as codes: `AMS -> SIN -> MEL -> HBA`.
fn codes(network: &Network, trip: &Trip) -> String {
    let codes: Vec<&str> = trip.nodes.iter().map(|&node| network.airports[node].code()).collect();
    codes.join(" -> ")
}

#[cfg(test)]
mod tests;
