//! The outcome of a run, for people and for programs.

use super::arguments::Arguments;
use std::fmt;
use std::time::Duration;
use weft_app_common::thousands;
use weft_protocol::Adaptive;
use weft_simulator::scenarios::Verdict;
use weft_simulator::scenarios::patterns::Times;
use weft_simulator::{Faults, Options, Outcome, Report, RunEnd, in_words};
use weft_wire::Rank;

/// A run that is over.
pub struct Run {
    report: Report<()>,
    verdict: Option<Verdict>,
    measured: Option<(&'static str, Duration)>,
}

/// The program and its machine:
/// `64 ranks of myrinet, irx-imc, binary trees, a window of 8, seed 7`.
pub fn first_line(what: &str, arguments: &Arguments, options: &Options) -> String {
    let settings = &options.settings;
    let windows = match settings.adaptive {
        None => format!("a window of {}", settings.window_packets),
        Some(Adaptive { floor_packets, pool_packets }) => {
            let most = settings.window_packets;
            format!("windows of {floor_packets} to {most} out of a pool of {pool_packets}")
        }
    };
    format!(
        "{what} on {} simulated ranks of {}: {}, {} trees, {windows}, seed {}{}",
        settings.founders,
        arguments.machine,
        settings.preset,
        settings.shape,
        arguments.seed,
        if options.measured { ", computation as measured" } else { "" },
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

    /// True if everything was as it should be.
    pub fn is_success(&self) -> bool {
        self.failure().is_none()
    }

    /// The run in figures.
    pub fn report(&self) -> &Report<()> {
        &self.report
    }

    /// The fault that was found. Ranks that were crashed on purpose, and others that stopped
    /// because of them, are as they should be.
    pub fn failure(&self) -> Option<String> {
        if let Some(wrong @ Verdict::Wrong(_)) = &self.verdict {
            return Some(wrong.to_string());
        }
        if self.report.ended != RunEnd::Finished {
            return Some(self.report.ended.to_string());
        }
        let failed =
            self.report.outcomes.iter().enumerate().find_map(|(rank, outcome)| match outcome {
                Outcome::Failed(what) => Some(format!("rank {rank}: {what}")),
                Outcome::Panicked(what) => Some(format!("rank {rank} panicked: {what}")),
                _ => None,
            });
        let missing = self.verdict.as_ref().filter(|verdict| !verdict.is_clean());
        // Packets on their way to a rank that was crashed on purpose, or from it, may be
        // missing.
        let missing = missing.filter(|_| self.crashed().next().is_none()).map(ToString::to_string);
        failed.or(missing)
    }

    /// The ranks that were crashed on purpose.
    fn crashed(&self) -> impl Iterator<Item = Rank> {
        let outcomes = self.report.outcomes.iter().enumerate();
        outcomes
            .filter(|(_, outcome)| matches!(outcome, Outcome::Crashed))
            .map(|(rank, _)| Rank(rank as u16))
    }

    /// The ranks that crashed on purpose, and the errors that the others returned because of it.
    fn crashes(&self) -> Option<String> {
        let crashed: Vec<_> = self.crashed().map(|rank| format!("rank {rank}")).collect();
        let said = |outcome: &Outcome<()>| match outcome {
            Outcome::Victim(what) => Some(what.clone()),
            _ => None,
        };
        let mut victims = self.report.outcomes.iter().filter_map(said);
        let first = victims.next();
        let told = first.map(|what| format!("; {} others stopped: {what}", 1 + victims.count()));
        let all = crashed.join(", ");
        (!crashed.is_empty()).then(|| format!("{all} on purpose{}", told.unwrap_or_default()))
    }

    /// The trace, unless it stands for nothing but this one run.
    fn trace(&self) -> Option<String> {
        (!self.report.measured).then(|| format!("{:016x}", self.report.trace_hash))
    }

    /// A run among many.
    pub fn in_one_line(&self) -> String {
        let Run { report, .. } = self;
        format!(
            "{}  {}, {} packets, {} sent again, {} faults  trace {}",
            if self.is_success() { "right" } else { "WRONG" },
            in_words(report.virtual_time),
            thousands(report.packets()),
            thousands(report.retransmissions()),
            thousands(report.injected.total()),
            self.trace().as_deref().unwrap_or("none"),
        )
    }

    /// Anything else worth knowing about the effects of `faults`.
    pub fn note(&self, faults: &Faults) -> Option<String> {
        let crashed = |rank: Rank| self.report.outcomes[rank.index()] == Outcome::Crashed;
        if let Some((rank, time)) = faults.crashes.iter().find(|(rank, _)| !crashed(*rank)) {
            return Some(format!(
                "rank {rank} ended before it was to crash, at {}",
                in_words(*time)
            ));
        }
        let stuck = matches!(self.report.ended, RunEnd::Stuck(_));
        let until = faults.partitions.iter().map(|partition| partition.until).max()?;
        (stuck && until > self.report.virtual_time).then(|| {
            format!(
                "the partition lasts until {}: what has to cross it is sent again and again, but a \
                 run ends when no program has got on for 10 s",
                in_words(until)
            )
        })
    }

    /// The last events of the ranks that the failure concerns.
    pub fn explanation(&self) -> String {
        self.concerned().into_iter().map(|rank| self.report.explain(rank)).collect()
    }

    fn concerned(&self) -> Vec<Rank> {
        let mut ranks = self.verdict.as_ref().map(Verdict::ranks).unwrap_or_default();
        let fine = |outcome: &Outcome<()>| {
            matches!(
                outcome,
                Outcome::Returned(()) | Outcome::Crashed | Outcome::NeverCame | Outcome::Victim(_)
            )
        };
        let outcomes = self.report.outcomes.iter().enumerate();
        ranks.extend(outcomes.filter(|(_, o)| !fine(o)).map(|(rank, _)| Rank(rank as u16)));
        ranks.sort_unstable();
        ranks.dedup();
        ranks.truncate(4);
        ranks
    }

    /// One object for programs.
    pub fn json(&self, what: &str, arguments: &Arguments, seed: u64) -> serde_json::Value {
        let Run { report, measured, .. } = self;
        serde_json::json!({
            "sim": what,
            "ranks": arguments.ranks,
            "preset": arguments.preset.to_string(),
            "machine": arguments.machine,
            "seed": seed,
            "ok": self.is_success(),
            "failure": self.failure(),
            "again": (!self.is_success()).then(|| arguments.again(seed)),
            "virtual_ns": report.virtual_time.as_nanos() as u64,
            "packets": report.packets(),
            "retransmissions": report.retransmissions(),
            "recoveries": report.recoveries(),
            "faults": report.injected.total(),
            "crashed": self.crashed().map(|rank| rank.0).collect::<Vec<_>>(),
            "what": measured.map(|(what, _)| what),
            "p50_ns": measured.map(|(_, median)| median.as_nanos() as u64),
            "bytes_per_rank": report.bytes_per_rank,
            "trace": self.trace(),
        })
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Run { report, verdict, measured } = self;
        if let Some(verdict) = verdict.as_ref().filter(|verdict| verdict.is_clean()) {
            writeln!(f, "judged     {verdict}")?;
        }
        if let Some((what, median)) = measured {
            writeln!(f, "p50        {} {what}", in_words(*median))?;
        }
        let (time, packets) = (in_words(report.virtual_time), thousands(report.packets()));
        write!(f, "simulated  {time}, {packets} packets")?;
        match report.retransmissions() {
            0 => writeln!(f)?,
            again => writeln!(f, ", {} sent again", thousands(again))?,
        }
        let recoveries = report.recoveries();
        if recoveries > 0 {
            let times = thousands(recoveries);
            writeln!(f, "recovered  {times} times from what may have been a deadlock")?;
        }
        if report.injected.total() > 0 {
            writeln!(f, "injected   {}", report.injected)?;
        }
        if let Some(crashes) = self.crashes() {
            writeln!(f, "crashed    {crashes}")?;
        }
        writeln!(f, "memory     {} KiB a rank", thousands(report.bytes_per_rank >> 10))?;
        let events = thousands(report.events);
        match self.trace() {
            Some(trace) => writeln!(f, "trace      {trace} of {events} events"),
            None => writeln!(f, "trace      none: measured computation is never twice the same"),
        }
    }
}
