//! Analysis of a trace: pure functions from events to findings.
//!
//! | module | what |
//! |---|---|
//! | [`times`], [`clocks`] | times of all events on one clock |
//! | [`matching`], [`mod@arrows`] | packets of which both ends are known |
//! | [`states`], [`names`] | what each rank did at every moment |
//! | [`balance`] | time of ranks and spans, balance, utilization |
//! | [`beside`] | handlers by their ports, ordered broadcasts, copies without packets |
//! | [`mod@blame`] | the ranks that others wait for, in the end |
//! | [`traffic`] | who sent how much to whom |
//! | [`slowest`] | waits, and what others did meanwhile |
//! | [`path`] | the critical path |
//! | [`sampled`] | recordings by samples: looks, and counters |
//! | [`causes`] | known reasons for which programs crawl |
//! | [`verdict`] | what a reader should change |

pub mod arrows;
pub mod balance;
pub mod beside;
pub mod blame;
pub mod causes;
pub mod clocks;
pub mod matching;
mod meetings;
pub mod names;
pub mod path;
pub mod sampled;
pub mod slowest;
pub mod states;
pub mod times;
pub mod traffic;
pub mod verdict;

use arrows::{Arrow, arrows};
use balance::{Balance, RankTime, SpanRow, Utilization};
use beside::{Beside, CopyRow, HandlerRow, OrderRow};
use blame::{Blame, blame};
use clocks::{Clock, Clocks};
use matching::Ends;
use meetings::meetings;
use names::Names;
use path::Path;
use sampled::Sampled;
use serde::Serialize;
use slowest::{Slow, WaitKind};
use states::Life;
use std::collections::BTreeMap;
use times::Times;
use traffic::Traffic;
use weft_trace::Trace;

/// Clock of a host, in a report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostClock {
    /// Name of the host.
    pub host: String,
    /// Its clock.
    #[serde(flatten)]
    pub clock: Clock,
}

/// Numbers of packets that were found at both ends, and at one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Matching {
    /// Number of packets of which both events are there.
    pub matched: u64,
    /// Number of packets that were sent, and not seen to be taken.
    pub sent_only: u64,
    /// Number of packets that were taken, and not seen to be sent.
    pub received_only: u64,
    /// Number of matched ones that were written down as taken before they were as sent.
    pub early: u64,
}

/// Everything that the analysis found. Times are in nanoseconds since the first event.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Findings {
    /// The program and its arguments.
    pub program: String,
    /// Number of ranks.
    pub ranks: u32,
    /// True if it was simulated.
    pub is_simulated: bool,
    /// Options of the run, and its link.
    pub options: BTreeMap<String, String>,
    /// Time from the first event to the last.
    pub duration_ns: u64,
    /// Number of events.
    pub events: u64,
    /// Number of events that were lost.
    pub lost_events: u64,
    /// True if the file ends before its time.
    pub is_cut: bool,
    /// Facts about a recording by samples; none of a trace.
    pub sampled: Option<Sampled>,
    /// Sentences on what a reader should change.
    pub verdict: Vec<String>,
    /// Clocks of the hosts.
    pub clocks: Vec<HostClock>,
    /// Packets found at both ends.
    pub matching: Matching,
    /// Time of each rank.
    pub time: Vec<RankTime>,
    /// Time by span.
    pub spans: Vec<SpanRow>,
    /// Balance of computing.
    pub balance: Balance,
    /// Ranks that others wait for.
    pub blame: Vec<Blame>,
    /// Communication.
    pub traffic: Traffic,
    /// Handlers by their ports.
    pub handlers: Vec<HandlerRow>,
    /// Ordered broadcasts.
    pub orders: Vec<OrderRow>,
    /// Copies between the memories of ranks, without packets.
    pub copies: Vec<CopyRow>,
    /// Longest waits.
    pub slowest_waits: Vec<Slow>,
    /// Waits by their texts.
    pub wait_kinds: Vec<WaitKind>,
    /// Critical path.
    pub critical_path: Path,
    /// Utilization over time.
    pub utilization: Utilization,
}

/// A run as the report knows it: what it found, and all that there is to draw.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// The findings.
    pub findings: Findings,
    /// Every rank over time.
    pub lives: Vec<Life>,
    /// Packets of which both ends are known, by receiver and order.
    pub arrows: Vec<Arrow>,
    /// Things that happened beside packets and states.
    pub beside: Beside,
    /// Texts that [`Life`]s name by numbers.
    pub names: Names,
}

impl Analysis {
    /// The analysis of a trace.
    pub fn new(trace: &Trace) -> Self {
        let (hosts, host_of) = hosts(trace);
        let of_hosts = Times::of_hosts(trace, &host_of);
        let ends = Ends::new(trace);
        let clocks = if hosts.len() < 2 {
            Clocks::exact(hosts.len())
        } else {
            Clocks::estimate(&of_hosts, &ends.certain(), &host_of, hosts.len())
        };
        let times = of_hosts.on_one_clock(&clocks, &host_of);
        let (arrows, early) = arrows(trace, &times, &ends.all(&times));
        let mut names = Names::default();
        let mut lives: Vec<_> = (0..)
            .zip(&trace.ranks)
            .map(|(rank, of)| Life::new(rank, of, times.of(rank), times.end(), &mut names))
            .collect();
        let mut ways = meetings(trace, &times, &mut lives);
        ways.extend(arrows.iter().cloned());
        ways.sort_by_key(|way| (way.to, way.received));
        let path = match trace.run.looks_per_second {
            None => Path::new(&lives, &ways, &names),
            Some(_) => Path::unknown(),
        };
        let beside = Beside::new(trace, &times, &mut names);
        let mut findings = find(trace, &lives, &arrows, path, &names, times.end());
        findings.handlers = beside.handlers(&lives, &names);
        findings.orders = beside.orders(&names);
        findings.copies = beside.copies();
        findings.matching.early = early;
        findings.sampled = Sampled::new(trace, |rank| times.of(rank), times.end());
        let named = hosts.into_iter().zip(clocks.hosts);
        findings.clocks = named.map(|(host, clock)| HostClock { host, clock }).collect();
        Analysis { findings, lives, arrows, beside, names }
    }
}

impl Findings {
    /// Words for who ended a wait of which no rank is known that did.
    pub fn nobody(&self) -> &'static str {
        if self.sampled.is_some() { "a rank not known" } else { "no packet" }
    }
}

/// Names of the hosts that have clocks of their own, and the number of that of each rank.
fn hosts(trace: &Trace) -> (Vec<String>, Vec<usize>) {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = Vec::new();
    let host_of = (0..trace.ranks.len()).map(|rank| {
        let name = trace.run.hosts.get(rank).map_or("", String::as_str);
        let name = if trace.run.is_simulated { "simulated" } else { name };
        *numbers.entry(name).or_insert_with(|| {
            names.push(name.to_owned());
            names.len() - 1
        })
    });
    let host_of = host_of.collect();
    (names, host_of)
}

fn find(
    trace: &Trace,
    lives: &[Life],
    arrows: &[Arrow],
    critical_path: Path,
    names: &Names,
    end: u64,
) -> Findings {
    let time = RankTime::all(trace, lives);
    let balance = Balance::new(&time);
    let wait_kinds = slowest::kinds(lives, names);
    let traffic = Traffic::new(trace);
    let blame = blame(lives);
    let causes = causes::Facts { trace, lives, names, ranks: &time, arrows }.causes();
    let evidence = verdict::Evidence {
        causes: &causes,
        lives,
        names,
        blame: &blame,
        ranks: &time,
        balance: &balance,
        path: &critical_path,
        kinds: &wait_kinds,
        is_sampled: trace.run.looks_per_second.is_some(),
    };
    let matched = arrows.len() as u64;
    let sent = traffic.data().0 + traffic.control_packets();
    Findings {
        program: trace.run.program.clone(),
        ranks: trace.ranks.len() as u32,
        is_simulated: trace.run.is_simulated,
        options: trace.run.options.clone(),
        duration_ns: end,
        events: trace.ranks.iter().map(|of| of.events.len() as u64).sum(),
        lost_events: trace.ranks.iter().fold(0, |sum: u64, of| sum.saturating_add(of.lost)),
        is_cut: trace.is_cut,
        sampled: None,
        verdict: evidence.verdict(),
        clocks: Vec::new(),
        matching: Matching {
            matched,
            sent_only: sent - matched,
            received_only: traffic.received_packets - matched,
            early: 0,
        },
        spans: balance::spans(lives, names),
        slowest_waits: slowest::slowest(lives, names),
        utilization: Utilization::new(lives, end),
        time,
        balance,
        blame,
        traffic,
        handlers: Vec::new(),
        orders: Vec::new(),
        copies: Vec::new(),
        wait_kinds,
        critical_path,
    }
}

#[cfg(test)]
pub(crate) mod tests;
