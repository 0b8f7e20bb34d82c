//! Causes of the time that a run takes, and the packets that come, of its trace.

use std::collections::BTreeMap;

use crate::suite::Application;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use weft_app_common::{MEASURED, thousands};
use weft_report::Analysis;
use weft_report::analysis::blame::Blame;
use weft_report::analysis::slowest::WaitKind;
use weft_report::units::{bytes, percent};
use weft_trace::{NamedThing, RankTrace, Trace, What};
use weft_wire::Tag;

use crate::application::jobs::Jobs;

/// Waits that are named.
const KINDS: usize = 4;

/// Packets of one type that came to all ranks.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Came {
    /// Number of packets.
    pub packets: u64,
    /// Their user bytes.
    pub bytes: u64,
}

/// Packets by the types of figure 8.8.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ByType {
    /// Data for one rank.
    pub unicast: Came,
    /// Data for several.
    pub multicast: Came,
    /// Acknowledgements, and credits: all that protocols tell one another.
    pub acknowledgements: Came,
    /// Fetch-and-adds, there and back.
    pub synchronization: Came,
}

/// Time of all ranks in the parallel phase, in nanoseconds, by what they did.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Outside of waits and handlers: computing, and sending.
    pub computing_ns: u64,
    /// In handlers: receiving.
    pub handlers_ns: u64,
    /// Waiting.
    pub waiting_ns: u64,
    /// Ready to run without a core, as far as the system says; part of the others.
    pub without_core_ns: u64,
}

/// Findings about the parallel phase of an application.
#[derive(Serialize, Clone, Debug)]
pub struct Causes {
    /// Number of ranks.
    pub ranks: usize,
    /// Length of the phase.
    pub duration_ns: u64,
    /// Times of all ranks.
    pub times: Times,
    /// Packets that came.
    pub came: ByType,
    /// Waits by their texts, the longest first.
    pub waits: Vec<WaitKind>,
    /// Ranks that others wait for, in the end.
    pub waited_for: Vec<Blame>,
}

impl Causes {
    /// Runs an application once more and traces it.
    ///
    /// # Errors
    /// It fails, or its trace cannot be read.
    pub fn of_run(jobs: &Jobs<'_>, application: Application, ranks: u16) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a folder for a trace")?;
        let file = folder.path().join("application.weft");
        jobs.on_ranks(application, ranks, Some(&file))?;
        let trace =
            Trace::open(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let measured = measured(&trace);
        ensure!(!measured.is_cut, "the trace of {application} does not fit: take --size small");
        Ok(Causes::of(&measured))
    }

    /// Those of a trace.
    pub fn of(trace: &Trace) -> Self {
        let findings = Analysis::new(trace).findings;
        let mut times = Times::default();
        for rank in &findings.time {
            times.computing_ns += rank.computing_ns;
            times.handlers_ns += rank.handler_ns;
            times.waiting_ns += rank.idle();
            times.without_core_ns += rank.run_delay_ns;
        }
        Causes {
            ranks: trace.ranks.len(),
            duration_ns: findings.duration_ns,
            times,
            came: came(trace),
            waits: findings.wait_kinds,
            waited_for: findings.blame,
        }
    }

    /// Lines for people.
    pub fn text(&self, application: Application) -> String {
        let Times { computing_ns, handlers_ns, waiting_ns, without_core_ns } = self.times;
        let all = computing_ns + handlers_ns + waiting_ns;
        let part = |time: u64| percent(time, all);
        let mut text = format!(
            "{} on {} ranks, traced: {} computing and sending, {} receiving in handlers, {} waiting; {} without a core\n",
            application.title(),
            self.ranks,
            part(computing_ns),
            part(handlers_ns),
            part(waiting_ns),
            part(without_core_ns)
        );
        for kind in self.waits.iter().take(KINDS) {
            let of = kind.text.as_deref().unwrap_or("something that has no name");
            text +=
                &format!("  {:>6}  {} waits for {of}\n", part(kind.idle_ns), thousands(kind.count));
        }
        text += "  received by each rank      packets/s       bytes/s\n";
        let ByType { unicast, multicast, acknowledgements, synchronization } = self.came;
        for (name, came) in [
            ("unicast data", unicast),
            ("multicast data", multicast),
            ("acknowledgements", acknowledgements),
            ("synchronization", synchronization),
        ] {
            let rate = |sum: u64| self.rate(sum);
            text += &format!(
                "  {name:<22} {:>13} {:>13}\n",
                thousands(rate(came.packets)),
                bytes(rate(came.bytes))
            );
        }
        text
    }

    /// A sum over all ranks as a rate of each.
    fn rate(&self, sum: u64) -> u64 {
        let time = u128::from(self.duration_ns.max(1)) * self.ranks.max(1) as u128;
        (u128::from(sum) * 1_000_000_000 / time) as u64
    }
}

fn came(trace: &Trace) -> ByType {
    let mut came = ByType::default();
    for event in trace.ranks.iter().flat_map(|rank| &rank.events) {
        let What::Received(packet) = &event.what else { continue };
        let of = match packet.tag {
            Tag::Ucast => &mut came.unicast,
            Tag::Mcast => &mut came.multicast,
            Tag::FaRequest | Tag::FaReply => &mut came.synchronization,
            _ => &mut came.acknowledgements,
        };
        of.packets += 1;
        of.bytes += u64::from(packet.size);
    }
    came
}

/// The trace of what is within the last span of [`MEASURED`], at each rank. It is cut where a rank
/// has no such span, or has lost events.
fn measured(trace: &Trace) -> Trace {
    let mut part = Trace { run: trace.run.clone(), ..Trace::default() };
    for rank in &trace.ranks {
        let within = within(rank).unwrap_or(0..0);
        part.is_cut |= within.is_empty() || rank.lost > 0;
        let waits = rank.waits.range(within.clone());
        let waits: BTreeMap<usize, String> =
            waits.map(|(index, text)| (index - within.start, text.clone())).collect();
        let events = rank.events[within].to_vec();
        part.ranks.push(RankTrace {
            events,
            waits,
            names: rank.names.clone(),
            ..RankTrace::default()
        });
    }
    part
}

fn within(rank: &RankTrace) -> Option<std::ops::Range<usize>> {
    let is_measured = |number: u32| {
        rank.names.get(&(NamedThing::Span, number)).is_some_and(|name| name == MEASURED)
    };
    let find = |wanted: fn(&What) -> Option<u32>| {
        rank.events.iter().rposition(|event| wanted(&event.what).is_some_and(is_measured))
    };
    let begins = find(|what| match what {
        What::SpanBegins(number) => Some(*number),
        _ => None,
    })?;
    let ends = find(|what| match what {
        What::SpanEnds(number) => Some(*number),
        _ => None,
    })?;
    (begins < ends).then_some(begins + 1..ends)
}

#[cfg(test)]
mod tests;
