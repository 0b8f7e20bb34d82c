//! The question that careful-protocols 7 leaves open, answered: windows that follow demand beside
//! windows that stay, in a job of which each rank talks to a few others.
//!
//! No paper prints figures to lay beside these, so this is no [`crate::Experiment`]: it measures,
//! and writes a page of its own.

mod page;

pub use page::{PAGES, pages};

use anyhow::{Context, Result, anyhow, ensure};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_protocol::Adaptive;
use weft_simulator::{MachineModel, Options, Settings, Simulation};

/// Ranks of the job.
pub const RANKS: u16 = 1024;
/// User bytes of each packet.
pub const BYTES: usize = 1024;
/// The largest window.
pub const WINDOW: u16 = 32;
/// Peers that the pool has whole windows for.
pub const ACTIVE: u16 = 8;

/// Policy by which receive buffers are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// Name in tables.
    pub name: &'static str,
    window_packets: u16,
    adaptive: bool,
}

impl Policy {
    /// Policies that are compared: the present one, the adaptive one, and others that need less
    /// memory.
    pub const ALL: [Policy; 4] = [
        Policy { name: "static, 32", window_packets: WINDOW, adaptive: false },
        Policy { name: "adaptive, 1 to 32", window_packets: WINDOW, adaptive: true },
        Policy { name: "static, 4", window_packets: 4, adaptive: false },
        Policy { name: "static, 1", window_packets: 1, adaptive: false },
    ];

    fn apply(&self, settings: Settings) -> Settings {
        let adaptive = self.adaptive.then(|| Adaptive::new(self.window_packets, ACTIVE));
        Settings { window_packets: self.window_packets, adaptive, ..settings }
    }

    /// Receive buffers of an NI.
    pub fn buffers(&self) -> usize {
        self.apply(Settings::new(RANKS, self.window_packets)).promised_buffers()
    }
}

/// Program of every rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// Sends so many packets as fast as it can, to so many peers in turn; to others in each phase.
    Flood {
        /// Operations that it computes before each packet: 0 to send as fast as it can.
        operations: u64,
        /// Packets to one peer before it is the next one's turn.
        run: u64,
        /// Peers of one phase.
        active: u16,
        /// Packets in all.
        packets: u64,
        /// Sets of peers, one after the other.
        phases: u16,
    },
    /// Sends to each of so many peers in turn and waits for the answer, so often.
    Ping {
        /// Peers.
        active: u16,
        /// Times that it has been through all of them.
        rounds: u64,
    },
}

/// Result of a job.
#[derive(Clone, Debug)]
pub struct Seen {
    /// User bytes that each rank received in a microsecond, until the last had all: Mbyte/s of
    /// 10^6.
    pub throughput: f64,
    /// Of all packets, or of all pings, the one in the middle, one way.
    pub latency_us: f64,
    /// Until the last rank had all, from the start.
    pub took_us: f64,
    /// Receive buffers in use at a time at most, at any rank.
    pub in_use: usize,
    /// Credit packets for each packet with data.
    pub credit_packets: f64,
    /// Requests for credits, and answers, for each packet with data.
    pub recalls: f64,
}

/// Runs `workload` on all ranks.
///
/// # Errors
/// The job cannot be, or what a rank returned.
pub fn run(policy: Policy, workload: Workload) -> Result<Seen> {
    let context = || format!("{policy:?}, {workload:?}");
    let machine = MachineModel::named("myrinet").with_context(context)?;
    let options = Options::on(machine, RANKS);
    let settings = policy.apply(options.settings);
    let simulation = Simulation::new(Options { settings, interrupt_delay: None, ..options })
        .with_context(context)?;
    let report = simulation.run_packets(move |packets| match workload {
        Workload::Flood { operations, run, active, packets: number, phases } => {
            let each = number / u64::from(phases);
            flood(&packets, operations, (run, active), each, phases)
        }
        Workload::Ping { active, rounds } => ping(&packets, active, rounds),
    });
    let statistics = report.statistics.clone();
    let in_use = report.most_received.iter().copied().max().unwrap_or(0);
    let values = report.into_values().map_err(|what| anyhow!(what)).with_context(context)?;
    let end = values.iter().map(|(end, _)| *end).max().unwrap_or_default();
    let mut latencies: Vec<Duration> = values.into_iter().flat_map(|(_, times)| times).collect();
    ensure!(!latencies.is_empty() && !end.is_zero(), "nothing was measured: {policy:?}");
    latencies.sort_unstable();
    let count = |of: fn(&weft_protocol::Counters) -> u64| {
        statistics.iter().map(|rank| of(&rank.protocol)).sum::<u64>() as f64
    };
    let data = count(|counters| counters.packets_sent);
    let bytes = count(|counters| counters.bytes_received) / f64::from(RANKS);
    Ok(Seen {
        throughput: bytes / (end.as_secs_f64() * 1e6),
        latency_us: latencies[latencies.len() / 2].as_secs_f64() * 1e6,
        took_us: end.as_secs_f64() * 1e6,
        in_use,
        credit_packets: count(|counters| counters.explicit_credits) / data,
        recalls: 2.0 * count(|counters| counters.recalls) / data,
    })
}

/// Time at which a rank was done, and the latencies of its packets.
type Times = (Duration, Vec<Duration>);

/// The upcall's notes: how long each packet took that has come.
type Notes = Arc<Mutex<Vec<Duration>>>;

/// Sends `each` packets in each phase, `run` of them to one peer before it is the next one's turn.
fn flood(
    packets: &Packets,
    operations: u64,
    (run, active): (u64, u16),
    each: u64,
    phases: u16,
) -> weft_endpoint::Result<Times> {
    let notes = Notes::default();
    note_arrivals(packets, &notes);
    for phase in 0..phases {
        for turn in 0..each {
            let to = peer(packets, phase * active + (turn / run % u64::from(active)) as u16);
            packets.work(operations);
            let mut packet = packets.packet()?;
            packet.put(&stamped(packets))?;
            packet.unicast(to)?;
            // All of them, or what is late once is late for ever.
            while packets.poll()? {}
        }
    }
    packets.poll_until(|| lock(&notes).len() as u64 == each * u64::from(phases))?;
    let end = packets.now();
    packets.flush()?;
    let times = std::mem::take(&mut *lock(&notes));
    Ok((end, times))
}

fn ping(packets: &Packets, active: u16, rounds: u64) -> weft_endpoint::Result<Times> {
    let seen = Arc::new(Mutex::new(Pings::default()));
    let noted = Arc::clone(&seen);
    packets.on_packet(move |packet| match packet.first() {
        Some(&PING) => lock(&noted).unanswered.push(packet.source()),
        _ => lock(&noted).answers += 1,
    });
    let due = rounds * u64::from(active);
    let mut answered = 0;
    let mut serve = |enough: &dyn Fn(&Pings, u64) -> bool| -> weft_endpoint::Result<()> {
        while !enough(&lock(&seen), answered) {
            packets.poll_until(|| {
                let seen = lock(&seen);
                !seen.unanswered.is_empty() || enough(&seen, answered)
            })?;
            let pings = std::mem::take(&mut lock(&seen).unanswered);
            answered += pings.len() as u64;
            for to in pings {
                send(packets, to, ANSWER)?;
            }
        }
        Ok(())
    };
    let mut times = Vec::new();
    for sent in 0..due {
        let start = packets.now();
        send(packets, peer(packets, (sent % u64::from(active)) as u16), PING)?;
        serve(&|seen, _| seen.answers > sent)?;
        times.push((packets.now() - start) / 2);
    }
    let end = packets.now();
    serve(&|_, answered| answered == due)?;
    packets.flush()?;
    Ok((end, times))
}

const PING: u8 = 0;
const ANSWER: u8 = 1;

/// Results of a rank that sends pings and answers those of others.
#[derive(Default)]
struct Pings {
    unanswered: Vec<Rank>,
    answers: u64,
}

fn send(packets: &Packets, to: Rank, what: u8) -> weft_endpoint::Result<()> {
    let mut packet = packets.packet()?;
    packet.put(&[what; BYTES])?;
    packet.unicast(to)
}

/// The `index`-th peer of this rank; so many others have it for theirs.
fn peer(packets: &Packets, index: u16) -> Rank {
    Rank((packets.rank().0 + 1 + index) % RANKS)
}

/// A packet that says when it was sent.
fn stamped(packets: &Packets) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&(packets.now().as_nanos() as u64).to_le_bytes());
    bytes
}

fn note_arrivals(packets: &Packets, notes: &Notes) {
    let (clock, notes) = (packets.clone(), Arc::clone(notes));
    packets.on_packet(move |packet| {
        let sent = packet.first_chunk().map_or(0, |stamp| u64::from_le_bytes(*stamp));
        lock(&notes).push(clock.now().saturating_sub(Duration::from_nanos(sent)));
    });
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
