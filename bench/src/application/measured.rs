use crate::suite::{Application, Outcome, System};
use serde::{Deserialize, Serialize};
use weft_app_common::{seconds, thousands};
use weft_report::units::bytes;

/// Outcome of one run, as its ranks or threads tell it to who has started them.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Measured {
    /// Name of the application.
    pub application: String,
    /// Ranks, or threads.
    pub ranks: usize,
    /// Length of the parallel phase.
    pub seconds: f64,
    /// Data packets that arrived at all ranks, forwards included.
    pub packets: u64,
    /// Their user bytes.
    pub bytes: u64,
    /// Sends that had to wait for a credit.
    pub blocked_sends: u64,
    /// Interrupts taken.
    pub interrupts: u64,
}

impl Measured {
    /// Outcome that ranks have measured.
    pub fn on_ranks(application: Application, outcome: &Outcome) -> Self {
        let all = weft_app_common::Traffic::total(&outcome.traffic);
        Measured {
            application: application.name().to_owned(),
            ranks: outcome.traffic.len(),
            seconds: outcome.time.as_secs_f64(),
            packets: all.packets_received,
            bytes: all.bytes_received,
            blocked_sends: all.blocked_sends,
            interrupts: all.interrupts,
        }
    }

    /// Time that threads have measured, which exchange no packets.
    pub fn on_threads(application: Application, threads: usize, seconds: f64) -> Self {
        Measured {
            application: application.name().to_owned(),
            ranks: threads,
            seconds,
            packets: 0,
            bytes: 0,
            blocked_sends: 0,
            interrupts: 0,
        }
    }

    /// Lines for people about a run by ranks.
    pub fn text(&self, application: Application, problem: &str) -> String {
        let each = |sum: u64| (sum as f64 / self.ranks as f64 / self.seconds) as u64;
        format!(
            "{} on {}   {problem}   verified\n\
             {} rank{}, {}   each received {} packets/s, {}/s   blocked sends {}   interrupts {}\n",
            application.title(),
            system(application.system()),
            self.ranks,
            if self.ranks == 1 { "" } else { "s" },
            seconds(std::time::Duration::from_secs_f64(self.seconds)),
            thousands(each(self.packets)),
            bytes(each(self.bytes)),
            thousands(self.blocked_sends),
            thousands(self.interrupts)
        )
    }
}

/// Name of a system.
pub fn system(system: System) -> &'static str {
    match system {
        System::Messages => "messages",
        System::Objects => "objects",
        System::Regions => "regions",
        System::Search => "search",
    }
}

#[cfg(test)]
mod tests;
