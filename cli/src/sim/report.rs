//! What came of a run, for people and for programs.

use super::arguments::Arguments;
use std::fmt;
use std::time::Duration;
use weft_kit::thousands;
use weft_scenarios::Verdict;
use weft_scenarios::patterns::Times;
use weft_simulator::{Ended, Options, Outcome, Report};
use weft_wire::Rank;

/// A run that is over.
pub struct Run {
    report: Report<()>,
    verdict: Option<Verdict>,
    measured: Option<(&'static str, Duration)>,
}

/// What runs on what: `64 ranks of myrinet, irx-imc, binary trees, a window of 8, seed 7`.
pub fn first_line(arguments: &Arguments, options: &Options) -> String {
    let settings = &options.settings;
    format!(
        "{} on {} simulated ranks of {}: {}, {} trees, a window of {}, seed {}",
        arguments.what,
        settings.ranks,
        arguments.machine,
        settings.preset,
        settings.shape,
        settings.window_packets,
        arguments.seed,
    )
}

impl Run {
    /// A run that tells by itself whether it was right.
    pub fn of(report: Report<()>) -> Self {
        Run { report, verdict: None, measured: None }
    }

    /// A run that was judged.
    pub fn judged(report: Report<()>, verdict: Verdict) -> Self {
        Run { report, verdict: Some(verdict), measured: None }
    }

    /// A run that measured itself.
    pub fn measured(report: Report<()>, what: &'static str, times: &Times) -> Self {
        let measured = times.median().map(|median| (what, median));
        Run { report, verdict: None, measured }
    }

    /// Whether everything was as it should be.
    pub fn is_success(&self) -> bool {
        self.failure().is_none()
    }

    /// What was wrong.
    pub fn failure(&self) -> Option<String> {
        let crashed_on_purpose = self.report.injected.crashes > 0;
        if let Some(wrong @ Verdict::Wrong(_)) = &self.verdict {
            return Some(wrong.to_string());
        }
        if self.report.ended != Ended::Finished {
            return Some(self.report.ended.to_string());
        }
        let failed =
            self.report.outcomes.iter().enumerate().find_map(|(rank, outcome)| match outcome {
                Outcome::Failed(what) => Some(format!("rank {rank}: {what}")),
                Outcome::Panicked(what) => Some(format!("rank {rank} panicked: {what}")),
                _ => None,
            });
        let missing = self.verdict.as_ref().filter(|verdict| !verdict.is_clean());
        // Whatever was on its way to a rank that was crashed on purpose, or from it, may be missing.
        let missing = missing.filter(|_| !crashed_on_purpose).map(ToString::to_string);
        failed.or(missing)
    }

    /// The last events of the ranks that the failure concerns.
    pub fn explanation(&self) -> String {
        self.concerned().into_iter().map(|rank| self.report.explain(rank)).collect()
    }

    fn concerned(&self) -> Vec<Rank> {
        let mut ranks = self.verdict.as_ref().map(Verdict::ranks).unwrap_or_default();
        let bad = |outcome: &Outcome<()>| outcome.returned().is_none();
        let outcomes = self.report.outcomes.iter().enumerate();
        ranks.extend(outcomes.filter(|(_, o)| bad(o)).map(|(rank, _)| Rank(rank as u16)));
        ranks.sort_unstable();
        ranks.dedup();
        ranks.truncate(4);
        ranks
    }

    /// One object for programs.
    pub fn json(&self, arguments: &Arguments, seed: u64) -> String {
        let injected = &self.report.injected;
        serde_json::json!({
            "sim": arguments.what,
            "ranks": arguments.ranks,
            "preset": arguments.preset.to_string(),
            "seed": seed,
            "ok": self.is_success(),
            "failure": self.failure(),
            "virtual_ns": self.report.virtual_time.as_nanos() as u64,
            "packets": self.report.packets(),
            "retransmissions": self.report.retransmissions(),
            "faults": injected.total(),
            "what": self.measured.map(|(what, _)| what),
            "p50_ns": self.measured.map(|(_, median)| median.as_nanos() as u64),
            "bytes_per_rank": self.report.bytes_per_rank,
            "trace": format!("{:016x}", self.report.trace_hash),
        })
        .to_string()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Run { report, verdict, measured } = self;
        if let Some(verdict) = verdict.as_ref().filter(|verdict| verdict.is_clean()) {
            writeln!(f, "judged     {verdict}")?;
        }
        if let Some((what, median)) = measured {
            writeln!(f, "p50        {:.1} us {what}", median.as_nanos() as f64 / 1000.0)?;
        }
        let count = |n: u64| thousands(n);
        writeln!(
            f,
            "simulated  {:.3} ms, {} packets, {} sent again",
            report.virtual_time.as_secs_f64() * 1000.0,
            count(report.packets()),
            count(report.retransmissions()),
        )?;
        let recoveries = report.recoveries();
        if recoveries > 0 {
            writeln!(
                f,
                "recovered  {} times from what may have been a deadlock",
                count(recoveries)
            )?;
        }
        if report.injected.total() > 0 {
            writeln!(f, "injected   {}", report.injected)?;
        }
        writeln!(f, "memory     {} KiB a rank", count(report.bytes_per_rank >> 10))?;
        writeln!(f, "trace      {:016x} of {} events", report.trace_hash, count(report.events))
    }
}
