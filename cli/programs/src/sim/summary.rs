//! The outcomes of runs with many seeds.

use super::report::Run;
use std::fmt;
use std::time::Duration;
use weft_app_common::thousands;
use weft_simulator::in_words;

/// Totals over runs.
#[derive(Default)]
pub struct Summary {
    runs: u64,
    packets: u64,
    sent_again: u64,
    faults: u64,
    virtual_time: Duration,
}

impl Summary {
    /// Counts a run.
    pub fn add(&mut self, run: &Run) {
        let report = run.report();
        self.runs += 1;
        self.packets += report.packets();
        self.sent_again += report.retransmissions();
        self.faults += report.injected.total();
        self.virtual_time += report.virtual_time;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} seeds, nothing wrong: {} packets, {} sent again, {} faults, {} simulated",
            thousands(self.runs),
            thousands(self.packets),
            thousands(self.sent_again),
            thousands(self.faults),
            in_words(self.virtual_time),
        )
    }
}
