//! Taking turns.

use crate::compare::figures::{Figure, Figures, What};
use crate::compare::peers::Peer;
use crate::compare::testbed::Testbed;

/// Outcome of a peer.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Its name in results.
    pub name: &'static str,
    /// Its name for a person.
    pub title: &'static str,
    /// Settings of the peer.
    pub settings: String,
    /// Figures that it reached in each turn, or the reason why it has none.
    pub turns: Result<Vec<Figures>, String>,
}

impl Outcome {
    /// The medians of its turns.
    pub fn median(&self, what: What) -> Option<Figure> {
        let turns = self.turns.as_ref().ok()?;
        let figures: Vec<Figure> = turns.iter().filter_map(|turn| turn.get(what)).collect();
        let value = median(figures.iter().map(|figure| figure.value))?;
        let processor_ns = median(figures.iter().filter_map(|figure| figure.processor_ns));
        Some(Figure { value, processor_ns })
    }
}

/// The median of some values; the upper one of two in the middle.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Runs all peers in turns. One that fails has no more turns. Says on standard error where it is.
pub fn take(
    testbed: &Testbed,
    peers: Vec<Box<dyn Peer>>,
    turns: u16,
    rounds: usize,
) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = peers
        .iter()
        .map(|peer| Outcome {
            name: peer.name(),
            title: peer.title(),
            settings: peer.settings(testbed),
            turns: peer.ready(testbed).map(|()| Vec::new()).map_err(|error| format!("{error:#}")),
        })
        .collect();
    for turn in 1..=turns {
        for (peer, outcome) in peers.iter().zip(&mut outcomes) {
            let Ok(figures) = &mut outcome.turns else { continue };
            eprintln!("weft: {}, turn {turn} of {turns}: {}", testbed.name(), peer.title());
            match peer.measure(testbed, rounds) {
                Ok(reached) => figures.push(reached),
                Err(error) => outcome.turns = Err(format!("{error:#}")),
            }
        }
    }
    outcomes
}

#[cfg(test)]
mod tests;
