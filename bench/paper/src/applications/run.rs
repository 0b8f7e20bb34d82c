//! One application, run once.

use super::inputs::Inputs;
use super::model::{Model, Problem, Variation};
use super::observe::{Counts, Rates};
use crate::Targets;
use anyhow::{Context, Result, anyhow};
use std::time::Duration;
use weft_app_common::Traffic;
use weft_bench::suite::{Application, Outcome, System};
use weft_protocol::Adaptive;
use weft_simulator::{Options, Preset, Simulation};

/// Packets on the way for each ordered pair (thesis 8.5.1).
const WINDOW_PACKETS: u16 = 8;
/// Senders for whom an NI has whole windows, where windows follow demand.
const ACTIVE: u16 = 64;
/// Granularity of the timers of hosts that do not look at their clocks (thesis 8.5.1).
const TICK_NS: u64 = 5_000_000;
/// Ticks that a packet may stay unacknowledged: nothing is lost in these runs, and a host that
/// computes acknowledges after a tick at the latest.
const RETRANSMIT_TICKS: u64 = 8;
/// Times as long as usually that an acknowledgement waits where it is to wait for longer.
const LATE_TIMES: u64 = 10;
/// Stack of a rank: searches and checks go deeper than patterns do.
const STACK_BYTES: usize = 1 << 20;
/// Longest time in which no program gets on: one may compute for long.
const NO_END: Duration = Duration::from_secs(1_000_000);
/// Nanoseconds of an operation where it is found out how many there are.
const TRIAL_NS: f64 = 10_000.0;

/// A run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cell {
    /// The application.
    pub application: Application,
    /// Ranks.
    pub ranks: u16,
    /// The protocols.
    pub preset: Preset,
    /// Way of running it.
    pub variation: Variation,
    /// Inputs that no figure of the thesis fixes.
    pub inputs: Inputs,
}

/// Results of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// Time of the parallel phase of the whole problem, in seconds.
    pub seconds: f64,
    /// Part of the problem that was computed, and rates are of.
    pub part: f64,
    /// Packets that were received meanwhile, by type.
    pub rates: Rates,
    /// Sum of all ranks' traffic meanwhile.
    pub traffic: Traffic,
    /// Traffic of the rank that had most packets.
    pub busiest: Traffic,
    /// Acknowledgements in packets of their own because a timer ran out, of the whole run.
    pub late_acknowledgements: u64,
    /// Data packets sent again, of the whole run.
    pub retransmissions: u64,
    /// Packets for which a receiver had no buffer, of the whole run.
    pub no_buffer: u64,
    /// Full packets that one rank received from another in a row at most, of the whole run: one
    /// less than packets of a message.
    pub most_full: u64,
    /// Number that stands for everything that happened.
    pub trace: u64,
}

impl Seen {
    /// Acknowledgements in packets of their own that were received meanwhile.
    pub fn acknowledgements(&self) -> u64 {
        self.rates.packets[super::Kind::Acknowledgement as usize]
    }

    /// Packets of a type that a rank received a second, and their bytes.
    pub fn rate(&self, kind: super::Kind, ranks: u16) -> (f64, f64) {
        let time = self.seconds * self.part * f64::from(ranks);
        let of = |counts: [u64; 4]| counts[kind as usize] as f64 / time;
        (of(self.rates.packets), of(self.rates.bytes))
    }
}

impl Cell {
    /// An application on so many ranks, as figure 8.9 has it.
    pub fn new(application: Application, ranks: u16, preset: Preset) -> Self {
        let (variation, inputs) = (Variation::Usual, Inputs::default());
        Cell { application, ranks, preset, variation, inputs }
    }

    /// The run on one rank that computes what this one does.
    pub fn alone(&self) -> Self {
        let alone = Cell::new(self.application, 1, Preset::NrxImc);
        let is_puzzle = self.application.system() == System::Search;
        let has_table = is_puzzle && self.variation == Variation::Table;
        Cell {
            inputs: if is_puzzle { self.inputs } else { alone.inputs },
            variation: if has_table { self.variation } else { alone.variation },
            ..alone
        }
    }

    /// Nanoseconds of an operation, by which this run, on one rank, takes as long as in table 8.6.
    ///
    /// # Errors
    /// Those of a rank or the simulator.
    pub fn operation_ns(&self, problem: Problem, seed: u64) -> Result<f64> {
        let model = Model::new(self.application, problem, &Targets::read()?)?;
        let (outcome, ..) = self.outcome(&model, TRIAL_NS, seed)?;
        Ok(TRIAL_NS * model.one * model.part / outcome.time.as_secs_f64())
    }

    /// Runs it; an operation takes `operation_ns` on one processor.
    ///
    /// # Errors
    /// Those of a rank or the simulator.
    pub fn run(&self, problem: Problem, operation_ns: f64, seed: u64) -> Result<Seen> {
        let model = Model::new(self.application, problem, &Targets::read()?)?;
        let cached_ns = match self.variation {
            Variation::Uncached => operation_ns,
            _ => model.cached_ns(operation_ns, self.ranks)?,
        };
        let (outcome, counts, statistics, trace) = self.outcome(&model, cached_ns, seed)?;
        let sum = |of: fn(&weft_protocol::Counters) -> u64| {
            statistics.iter().map(|one| of(&one.protocol)).sum()
        };
        Ok(Seen {
            seconds: outcome.time.as_secs_f64() / model.part,
            part: model.part,
            rates: counts.between(outcome.began, outcome.began + outcome.time),
            traffic: Traffic::total(&outcome.traffic),
            busiest: busiest(&outcome.traffic),
            late_acknowledgements: sum(|counters| counters.acknowledgements_late),
            retransmissions: sum(|counters| counters.retransmissions),
            no_buffer: sum(|counters| counters.no_buffer),
            most_full: counts.most_full(),
            trace,
        })
    }

    fn outcome(
        &self,
        model: &Model,
        operation_ns: f64,
        seed: u64,
    ) -> Result<(Outcome, Counts, Vec<weft_endpoint::Statistics>, u64)> {
        let context = || format!("{self:?}");
        let machine = model.machine(operation_ns, self.variation)?;
        let mut options = Options::with_preset(machine, self.ranks, self.preset);
        options.settings.window_packets = WINDOW_PACKETS;
        if self.variation == Variation::Adaptive {
            options.settings.adaptive = Some(Adaptive::new(WINDOW_PACKETS, ACTIVE));
        }
        let late = self.variation == Variation::LateAcknowledgements;
        let times = if late { LATE_TIMES } else { 1 };
        options.settings.acknowledge_after = self.inputs.acknowledge_after_ns() * times;
        options.settings.retransmit_after = RETRANSMIT_TICKS * TICK_NS;
        if self.application.system() == System::Messages {
            // The thesis's MPI receives by polling only (8.5.2).
            options.interrupt_delay = None;
        }
        options.stack_bytes = STACK_BYTES;
        options.stuck_after = NO_END;
        options.seed = seed;
        let counts = Counts::new(options.machine.pools.packet_bytes);
        options.observer = Some(Box::new(counts.clone()));
        let words = model.words(self);
        let application = self.application;
        let simulation = Simulation::new(options).with_context(context)?;
        let report = simulation.run_joined(move |weft| {
            application.run_with(&weft, &words).map_err(|error| error.to_string())
        });
        let (statistics, trace) = (report.statistics.clone(), report.trace_hash);
        let values = report.into_values().map_err(|what| anyhow!(what)).with_context(context)?;
        let outcome = values.into_iter().flatten().next();
        let outcome = outcome.context("rank 0 said nothing").with_context(context)?;
        Ok((outcome, counts, statistics, trace))
    }
}

/// Traffic of the rank that had most packets.
fn busiest(all: &[Traffic]) -> Traffic {
    let most = all.iter().max_by_key(|one| one.packets_sent + one.packets_received);
    most.copied().unwrap_or_default()
}
