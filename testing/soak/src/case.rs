//! One case: everything about it follows from its number.

use crate::frames::FrameJudge;
use crate::systems::SystemStorm;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use weft_protocol::tree::Shape;
use weft_protocol::{
    Adaptive, Congestion, Counters, Preset, Pupa, Recovery, SendBuffers, Settings,
};
use weft_simulator::scenarios::{Mix, Random, Storm, Verdict};
use weft_simulator::{
    Faults, Injected, Options, OptionsError, Outcome, Partition, Report, RunEnd, Simulation,
};
use weft_wire::Rank;

/// After everything that stops packets is over, one must reach some host at least this often: the
/// longest wait before a packet is sent again is 64 time-outs of 4 ms, and it may be lost some
/// times.
const PATIENCE: Duration = Duration::from_secs(5);
/// No case takes longer than this in virtual time.
const LIMIT: Duration = Duration::from_secs(600);

/// Of so many cases one is a storm of all systems of a rank, which has fewer packets in more time.
const SYSTEMS_EVERY: u64 = 16;
/// Ranks of such a case at most.
const SYSTEM_RANKS: u16 = 8;

/// A storm, and what goes wrong meanwhile.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its number, from which all else follows.
    pub number: u64,
    /// Storm of the programs.
    pub storm: Storm,
    /// The storm of all systems that programs run in place of it.
    pub systems: Option<SystemStorm>,
    /// Preset: the levels that retransmit and forward.
    pub preset: Preset,
    /// The shape of multicast trees.
    pub shape: Shape,
    /// Recovery: if and when deadlocks are suspected.
    pub recovery: Recovery,
    /// The window of each pair.
    pub window_packets: u16,
    /// The pool that windows come from, if they follow demand.
    pub adaptive: Option<Adaptive>,
    /// Receive buffers, if not as many as may be needed.
    pub receive_buffers: Option<usize>,
    /// Buffers and marks of `pupa`.
    pub pupa: Pupa,
    /// Least time-out, if time-outs follow the network.
    pub retransmit_at_least: Option<u64>,
    /// Faults of the network.
    pub faults: Faults,
}

/// Statistics of a case that passed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Passed {
    /// Data packets transmitted.
    pub packets: u64,
    /// Those of them that were transmitted before.
    pub sent_again: u64,
    /// Packets shown to programs.
    pub shown: u64,
    /// Storms of all systems of a rank.
    pub system_storms: u64,
    /// Recoveries from suspected deadlocks.
    pub recoveries: u64,
    /// Credits that came out of pools, where windows follow demand.
    pub credits_granted: u64,
    /// Those that went back into them.
    pub credits_taken_back: u64,
    /// Faults that were injected.
    pub injected: Injected,
    /// Packets of groups that a rank had not created yet.
    pub early_packets: u64,
    /// The time that passed in it.
    pub virtual_time: Duration,
    /// Stands for everything that happened.
    pub trace_hash: u64,
}

/// Reason why a case did not pass.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The case.
    pub case: Case,
    /// Description of the error.
    pub what: String,
    /// The last events of up to four ranks, in words, if they were asked for.
    pub events: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { case, what, events } = self;
        write!(f, "{case}\n{events}{what}\nagain: weft-soak --case {}", case.number)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { number, storm, preset, shape, recovery, window_packets, .. } = self;
        write!(f, "case {number}: {} ranks, {preset}, {shape} trees", storm.ranks)?;
        write!(f, ", recovery {recovery:?}, a window of {window_packets}")?;
        if let Some(Adaptive { floor_packets, pool_packets }) = self.adaptive {
            write!(f, " at most and {floor_packets} at least, a pool of {pool_packets}")?;
        }
        if let Some(buffers) = self.receive_buffers {
            write!(f, ", {buffers} receive buffers")?;
        }
        let late = if storm.late_groups { "late " } else { "" };
        if let Some(SendBuffers { primary_bytes, bytes }) = self.pupa.send_buffers {
            write!(f, ", send buffers of {bytes} bytes beside {primary_bytes}")?;
        }
        match self.systems {
            Some(systems) => write!(f, ", {systems:?}")?,
            None => write!(f, ", {} {late}groups", storm.groups.len())?,
        }
        write!(f, "; {:?}", self.faults)
    }
}

impl Case {
    /// True if every NI checks its invariants after each packet.
    pub fn checks_all(&self) -> bool {
        self.number.is_multiple_of(3)
    }

    /// The case with this number, of about `packets` packets for programs.
    pub fn numbered(number: u64, packets: u64) -> Self {
        let mut random = Random::part(0x57ea_d1e5, number);
        let preset = *random.choose(&Preset::ALL);
        let systems = number.is_multiple_of(SYSTEMS_EVERY).then(|| SystemStorm::new(number));
        let most = systems.map_or(u16::MAX, |_| SYSTEM_RANKS);
        let ranks = most.min(*random.choose(&[2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 48, 64]));
        let recovery = match preset {
            Preset::NrxImc => {
                let after = Recovery::After(50_000 + random.below(2_000_000));
                *random.choose(&[Recovery::Off, Recovery::AtOnce, after])
            }
            _ => Recovery::Off,
        };
        let shapes: &[Shape] = match recovery {
            Recovery::Off => &[Shape::Binary, Shape::Binomial, Shape::Flat],
            _ => &Shape::ALL,
        };
        let shape = *random.choose(shapes);
        let window_packets = *random.choose(&[1, 2, 3, 4, 8, 16, 32]);
        let adaptive = adaptive(preset, number, window_packets);
        // Fewer buffers than may be needed can deadlock what is forwarded (thesis 8.3.3).
        let few_buffers = preset.retransmits() && random.happens(250) && systems.is_none();
        let few = 1 + random.below(u64::from(ranks) * u64::from(window_packets)) as usize;
        let receive_buffers = few_buffers.then_some(few);
        let groups = groups(ranks, recovery, &mut random);
        let mut mix = Mix::default();
        if few_buffers {
            mix.multicasts = 0;
        }
        let storm = storm(number, ranks, groups, mix, packets, &mut random);
        let faults = faults(preset, ranks, &mut random);
        let pupa = Pupa { send_buffers: send_buffers(number), ..pupa(&mut random) };
        let retransmit_at_least = *random.choose(&[None, Some(50_000), Some(500_000)]);
        Case {
            number,
            storm,
            systems,
            preset,
            shape,
            recovery,
            window_packets,
            adaptive,
            receive_buffers,
            pupa,
            retransmit_at_least,
            faults,
        }
    }

    /// The simulation of this case.
    ///
    /// # Errors
    /// [`OptionsError`]: it contradicts itself.
    pub fn options(&self) -> Result<Options, OptionsError> {
        let mut options = Options::new(self.storm.ranks)?;
        options.seed = self.number;
        options.limit = LIMIT;
        options.faults = self.faults.clone();
        let settings = &mut options.settings;
        settings.preset = self.preset;
        settings.shape = self.shape;
        settings.recovery = self.recovery;
        settings.window_packets = self.window_packets;
        settings.adaptive = self.adaptive;
        let enough = 2 * usize::from(settings.ranks) * usize::from(self.window_packets);
        settings.receive_buffers = self.receive_buffers.unwrap_or(enough);
        if self.preset.is_optimistic() && self.receive_buffers.is_some() {
            // Senders are stopped only if packets stay where they arrive.
            options.machine.pools.host_receive_buffers = 2;
        }
        let settings = &mut options.settings;
        settings.pupa = self.pupa;
        let first_packets = 1 + (self.number % 7) as u16;
        settings.congestion = (self.number % 2 == 1).then_some(Congestion { first_packets });
        settings.retransmit_at_least = self.retransmit_at_least;
        settings.checks_all = self.checks_all();
        Ok(options)
    }

    /// Runs it, and asks all judges.
    ///
    /// # Errors
    /// The first objection of any of them.
    pub fn run(&self) -> Result<Passed, Box<Failure>> {
        self.run_with(0, |_| {})
    }

    /// Does what [`Self::run`] does, after `prepare` has done something to the simulation. If it
    /// fails, the last `events` of some ranks are told.
    ///
    /// # Errors
    /// The first objection of any judge.
    pub fn run_with(
        &self,
        events: usize,
        prepare: impl FnOnce(&Simulation),
    ) -> Result<Passed, Box<Failure>> {
        let failed = |what, events| Box::new(Failure { case: self.clone(), what, events });
        let refused = |error: OptionsError| failed(error.to_string(), String::new());
        let mut options = self.options().map_err(refused)?;
        let settings = options.settings;
        let healed = self.faults.partitions.iter().map(|p| p.until).max().unwrap_or_default();
        let frames = FrameJudge::new(&options.settings, healed, PATIENCE);
        options.keep_events = events;
        options.observer = Some(FrameJudge::watching(&frames));
        let simulation = Simulation::new(options).map_err(refused)?;
        prepare(&simulation);

        let (report, programs) = self.run_programs(simulation);
        let lost = !self.faults.crashes.is_empty() && report.injected.crashes > 0;
        let rules = FrameJudge::verdict(&frames, !lost && report.ended == RunEnd::Finished);
        let rules = rules.map(|broken| broken.to_string()).or_else(|| crowd(&report, &settings));
        match objection(&report, &programs, rules, lost) {
            Some(what) => {
                let ranks = (0..self.storm.ranks.min(4)).map(Rank);
                let told = |rank: Rank| {
                    let counted = report.statistics[rank.index()].protocol;
                    format!("{}rank {rank} counted {counted:?}\n", report.explain(rank))
                };
                let events = if events == 0 { String::new() } else { ranks.map(told).collect() };
                Err(failed(what, events))
            }
            None => {
                let system_storms = u64::from(self.systems.is_some());
                Ok(Passed { system_storms, ..passed(&report, &programs) })
            }
        }
    }

    /// Runs the programs of all ranks, and asks the judge of what they see. Storms of all systems
    /// judge for themselves, and panic.
    fn run_programs(&self, simulation: Simulation) -> (Report<()>, Verdict) {
        if let Some(systems) = self.systems {
            let report = simulation.run(move |weft| systems.run(&weft));
            return (report, Verdict::Clean { packets: 0 });
        }
        let plan = Arc::new(self.storm.plan());
        let judge = Arc::new(plan.judge());
        let judged = Arc::clone(&judge);
        let report = simulation.run_packets(move |packets| plan.run(&packets, &judged));
        (report, judge.verdict())
    }
}

fn objection(
    report: &Report<()>,
    programs: &Verdict,
    rules: Option<String>,
    lost: bool,
) -> Option<String> {
    // A panic is its own cause, and so is an invariant that a rank has found broken; what others
    // are told of a lost rank is its consequence.
    let mut outcomes = (0..).zip(&report.outcomes);
    let cause = outcomes.find_map(|(rank, outcome)| match outcome {
        Outcome::Panicked(what) => Some(format!("rank {rank} panicked: {what}")),
        Outcome::Failed(what) if what.starts_with("invariant ") => {
            Some(format!("rank {rank}: {what}"))
        }
        _ => None,
    });
    if cause.is_some() {
        return cause;
    }
    // Then the rules: what breaks them is nearer to the cause than what programs see.
    if rules.is_some() {
        return rules;
    }
    if let Verdict::Wrong(wrong) = programs {
        return Some(wrong.to_string());
    }
    if report.ended != RunEnd::Finished {
        return Some(report.ended.to_string());
    }
    let bad = report.outcomes.iter().enumerate().find_map(|(rank, outcome)| match outcome {
        // Survivors are told that a rank is lost, and stop.
        Outcome::Failed(what) if !lost => Some(format!("rank {rank}: {what}")),
        Outcome::Unfinished => Some(format!("rank {rank} did not end")),
        _ => None,
    });
    bad.or_else(|| (!lost && !programs.is_clean()).then(|| programs.to_string()))
}

/// Packets for which a careful NI had no receive buffer (I2); recovery has buffers of its own.
fn crowd(report: &Report<()>, settings: &Settings) -> Option<String> {
    let recovery = match settings.recovery {
        Recovery::Off => 0,
        _ => usize::from(settings.ranks) - 1,
    };
    let buffers = settings.promised_buffers() + recovery;
    let (rank, most) = (0..).zip(&report.most_received).max_by_key(|(_, most)| **most)?;
    let too_many = !settings.preset.retransmits() && *most > buffers;
    too_many.then(|| format!("rank {rank} had {most} packets in {buffers} receive buffers (I2)"))
}

fn passed(report: &Report<()>, verdict: &Verdict) -> Passed {
    let count = |of: fn(&Counters) -> u64| report.statistics.iter().map(|s| of(&s.protocol)).sum();
    let shown = if let Verdict::Clean { packets } = verdict { *packets } else { 0 };
    Passed {
        packets: report.packets(),
        sent_again: report.retransmissions(),
        shown,
        system_storms: 0,
        recoveries: report.recoveries(),
        credits_granted: count(|counters| counters.credits_granted),
        credits_taken_back: count(|counters| counters.credits_taken_back),
        early_packets: count(|counters| counters.early_packets),
        injected: report.injected,
        virtual_time: report.virtual_time,
        trace_hash: report.trace_hash,
    }
}

/// Windows that follow demand, in half of the cases in which there are credits: with a pool that is
/// too small for all, as a rule.
fn adaptive(preset: Preset, number: u64, window_packets: u16) -> Option<Adaptive> {
    // Numbers of its own, so that all else about the cases is as it would be without.
    let mut random = Random::part(0xada9_71fe, number);
    let chosen = !preset.retransmits() && random.happens(500);
    let floor_packets = 1 + random.below(u64::from(window_packets.min(3))) as u16;
    let pool_packets = random.below(1 + 4 * u64::from(window_packets)) as u32;
    chosen.then_some(Adaptive { floor_packets, pool_packets })
}

/// No groups, or some that do not overlap; with recovery, some that do (Appendix A.2).
fn groups(ranks: u16, recovery: Recovery, random: &mut Random) -> Vec<Vec<Rank>> {
    if random.happens(600) {
        return vec![];
    }
    let size = 2 + random.below(u64::from(ranks) - 1) as usize;
    let mut groups: Vec<Vec<Rank>> =
        (0..ranks).map(Rank).collect::<Vec<_>>().chunks(size).map(<[Rank]>::to_vec).collect();
    if recovery != Recovery::Off {
        for _ in 0..3 {
            let first = random.below(u64::from(ranks)) as u16;
            let member = |i| Rank(((u32::from(first) + i * 5) % u32::from(ranks)) as u16);
            let mut members: Vec<Rank> = (0..size as u32).map(member).collect();
            members.sort_unstable();
            members.dedup();
            groups.push(members);
        }
    }
    groups
}

fn storm(
    number: u64,
    ranks: u16,
    groups: Vec<Vec<Rank>>,
    mix: Mix,
    packets: u64,
    random: &mut Random,
) -> Storm {
    let reached = match groups.first() {
        None => u64::from(ranks),
        Some(group) => group.len() as u64,
    };
    let Mix { unicasts, multicasts, fetch_adds, computations, polls } = mix;
    let deeds_in_all = unicasts + multicasts + fetch_adds + computations + polls;
    let packets_for_that = unicasts + multicasts * (reached - 1);
    let deeds = packets * deeds_in_all / packets_for_that / u64::from(ranks);
    let most_bytes = *random.choose(&[0, 48, 300, 1024]);
    let most_operations = *random.choose(&[1, 500, 20_000]);
    Storm {
        ranks,
        deeds: deeds.max(4) as usize,
        most_bytes,
        late_groups: Random::part(0x1a7e_0000, number).happens(500),
        groups,
        mix,
        most_operations,
        seed: number,
    }
}

/// From next to nothing to what is usual; at least one primary buffer, so that multicasts get
/// through.
fn pupa(random: &mut Random) -> Pupa {
    let low_water_percent = random.below(60) as u8;
    Pupa {
        primary_sends: *random.choose(&[1, 2, 5, 16, 64, 1024]),
        secondary_sends: *random.choose(&[4, 128, 1024]),
        primary_buffers: *random.choose(&[1, 2, 8]),
        send_buffers: None,
        low_water_percent,
        high_water_percent: low_water_percent + random.below(40) as u8,
        ask_every: *random.choose(&[1, 2, 32]),
        refresh_every: *random.choose(&[1, 50]),
    }
}

/// Send buffers by bytes, in half of the cases: of all sizes, from one that takes many for a packet
/// to one that takes none for most.
fn send_buffers(number: u64) -> Option<SendBuffers> {
    // Numbers of its own, as for windows.
    let mut random = Random::part(0x5e4d_b0ff, number);
    let primary_bytes = *random.choose(&[0, 48, 200, 1024]);
    let bytes = *random.choose(&[16, 100, 256, 2048]);
    random.happens(500).then_some(SendBuffers { primary_bytes, bytes })
}

/// Slow ranks and lost ranks for all; everything else for those that bear it.
fn faults(preset: Preset, ranks: u16, random: &mut Random) -> Faults {
    let mut faults = Faults::default();
    let any = |random: &mut Random| Rank(random.below(u64::from(ranks)) as u16);
    let ms = |random: &mut Random, most: u64| Duration::from_micros(1 + random.below(most * 1000));
    if random.happens(150) {
        let factor = 2 + random.below(30);
        faults.slow.push((any(random), factor as f64));
    }
    if random.happens(30) {
        faults.crashes.push((any(random), ms(random, 20)));
    }
    if !preset.retransmits() {
        return faults;
    }
    let part = |random: &mut Random, most: u64| match random.below(3) {
        0 => 0.0,
        1 => random.below(most * 100 + 1) as f64 / 10_000.0 / 10.0,
        _ => random.below(most * 100 + 1) as f64 / 10_000.0,
    };
    faults.loss = part(random, 30);
    faults.duplication = part(random, 50);
    faults.reordering = part(random, 50);
    faults.held_back = ms(random, 3);
    faults.corruption = part(random, 10);
    for _ in 0..random.below(3) {
        let some: Vec<Rank> = (0..ranks).map(Rank).filter(|_| random.happens(300)).collect();
        let from = ms(random, 30);
        faults.partitions.push(Partition { ranks: some, from, until: from + ms(random, 40) });
    }
    faults
}
