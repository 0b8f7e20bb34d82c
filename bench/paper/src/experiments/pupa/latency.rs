//! One-way delays and their parts (Pupa 3.1, tables 1 and 2, figure 3).
//!
//! A part is what the delay loses when that part of the machine takes no time. The sender's end is
//! what passes until the packet is on the wire, the receiver's what is left of the delay without
//! that and without the transmission.
//!
//! TCP is a model, from what the paper says of it: transmission is the same (3.1), each end copies
//! the bytes once, as Pupa does, and sums them up, which reads them once more; all else does not
//! depend on the size, and is what TCP takes for 4 bytes.

use super::testbed::{MACHINE, PACKET_BYTES, Part, Testbed};
use crate::claim::Claim;
use crate::cluster::now;
use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::experiments::inbox::Inbox;
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed};
use anyhow::{Context, Result};
use weft_endpoint::Rank;
use weft_simulator::{FrameEvent, MachineModel};

/// Message sizes of both tables.
pub const SIZES: [usize; 8] = [4, 32, 64, 128, 256, 512, 1024, PACKET_BYTES];
/// Round trips, after as many again to warm up.
const ROUNDS: usize = 8;
/// Time of TCP for a message of 4 bytes besides its transmission: 405 - 20 us (table 1:
/// calibrated).
pub(super) const TCP_US: f64 = 385.0;
/// Least and most percentage points that a share may be off: a quarter of it.
const SHARE_POINTS: [f64; 2] = [1.0, 5.0];

/// A delay in microseconds, divided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delay {
    /// One way.
    pub total: f64,
    /// Until the packet is on the wire.
    pub sender: f64,
    /// Its parts, in the order of [`Part::ALL`].
    pub parts: [f64; 5],
}

impl Delay {
    /// Measures messages of `bytes` bytes.
    ///
    /// # Errors
    /// Those of [`Testbed::run`].
    pub fn new(testbed: &Testbed, bytes: usize) -> Result<Self> {
        let (total, sender) = one_way(testbed, bytes)?;
        let mut parts = [0.0; 5];
        for (part, time) in Part::ALL.into_iter().zip(&mut parts) {
            *time = total - one_way(&testbed.clone().without(part), bytes)?.0;
        }
        Ok(Delay { total, sender, parts })
    }

    fn part(&self, part: Part) -> f64 {
        self.parts[part as usize]
    }

    /// From the interrupt to the user.
    pub fn receiver(&self) -> f64 {
        self.total - self.sender - self.part(Part::Transmission)
    }

    /// TCP's delay for the same message; see the head of this file.
    fn tcp(&self, machine: &MachineModel, bytes: usize) -> f64 {
        let copy = machine.host.copy_ns_per_byte * (bytes - SIZES[0]) as f64 / 1e3;
        let checksum = copy / 2.0;
        self.part(Part::Transmission) + TCP_US + 2.0 * (copy + checksum)
    }
}

/// Half a round trip, and the part of it until the packet is on the wire, in microseconds.
///
/// # Errors
/// Those of [`Testbed::run`].
pub fn one_way(testbed: &Testbed, bytes: usize) -> Result<(f64, f64)> {
    let library = testbed.library;
    let (ran, events) = testbed.run(8, move |packets| {
        let (inbox, payload) = (Inbox::open(packets), vec![7; bytes]);
        let (mut round_trips, mut last) = (0, 0);
        for round in 0..2 * ROUNDS {
            if packets.rank() == 1 {
                let received = inbox.next()?;
                library.receive(packets, received.len());
            }
            let start = now(packets);
            let mut packet = packets.packet()?;
            library.send(packets, bytes);
            packet.put(&payload)?;
            packet.unicast(Rank(1 - packets.rank().0))?;
            if packets.rank() == 0 {
                let answer = inbox.next()?;
                library.receive(packets, answer.len());
                last = start;
                round_trips += if round >= ROUNDS { now(packets) - start } else { 0 };
            }
        }
        Ok((round_trips, last))
    })?;
    let (round_trips, last) = ran.values[0];
    let is_data = |tag: weft_simulator::Tag| tag.is_data();
    let mut sent = events[0].iter().filter(|event| {
        event.what == FrameEvent::Transmitted
            && event.frame.is_some_and(|(_, header)| is_data(header.tag))
    });
    let sent = sent.next_back().context("a packet was transmitted")?.time;
    Ok((round_trips as f64 / (2 * ROUNDS) as f64 / 1e3, (sent - last) as f64 / 1e3))
}

const fn time(id: &'static str) -> Claim {
    Claim::figure(id).percent(25.0)
}

const fn share(id: &'static str) -> Claim {
    Claim::points(id, SHARE_POINTS)
}

const fn small_copy(id: &'static str) -> Claim {
    time(id).misses(SMALL_COPIES)
}

const fn small_copy_share(id: &'static str) -> Claim {
    share(id).misses(SMALL_COPIES)
}

const fn bus_share(id: &'static str) -> Claim {
    share(id).misses(SLOW_BUS)
}

/// Reason why the larger packets take less time to transmit.
const SLOW_BUS: &str = "the wire takes 80 ns a byte and the machine's bus 7.5, as its clock says; the paper's cells grow by 121, \
    so that its cards and buses took 41: where, it does not say";

/// Reason why the copies of 64 bytes are cheaper.
const SMALL_COPIES: &str = "three copies at the speed of 1436 bytes, on which the machine is calibrated; copies of so few bytes cost \
    more for each, 0.16 us in the paper's cells from 4 to 64";

macro_rules! claims {
    ($($claim:ident $row:literal $suffix:literal: $($size:literal)*;)*) => {
        [$($($claim(concat!($row, $size, $suffix)),)*)*]
    };
}

/// Every row of the tables but those that the machine is calibrated on.
const TABLES: [Claim; 109] = claims! {
    time "PU-T1-send-" "": 32 64 128 256 512 1024 1436;
    time "PU-T1-recv-" "": 32 64 128 256 512 1024 1436;
    time "PU-T1-tx-" "": 32 64 128 256 512 1024 1436;
    time "PU-T1-pupa-" "": 32 64 128 256 512 1024 1436;
    time "PU-T1-tcp-" "": 32 64 128 256 512 1024 1436;
    time "PU-T2-proto-" "": 32 64 128 256 512 1024 1436;
    time "PU-T2-os-" "": 32 64 128 256 512 1024 1436;
    time "PU-T2-tx-" "": 32 64 128 256 512 1024 1436;
    small_copy "PU-T2-copy-" "": 64;
    time "PU-T2-copy-" "": 32 128 256 512 1024;
    time "PU-T2-buf-" "": 32 128 512 1024 1436;
    time "PU-T2-total-" "": 32 64 128 256 512 1024 1436;
    share "PU-T2-proto-" "-pct": 32 64 128 256 512 1024 1436;
    share "PU-T2-os-" "-pct": 32 64 128 256 512 1024 1436;
    share "PU-T2-tx-" "-pct": 32 64 128 256 512;
    bus_share "PU-T2-tx-" "-pct": 1024 1436;
    small_copy_share "PU-T2-copy-" "-pct": 32 64;
    share "PU-T2-copy-" "-pct": 128 256 512 1024 1436;
    share "PU-T2-buf-" "-pct": 32 64 128 256 512 1024 1436;
};

const FINDINGS: [Claim; 17] = [
    Claim::statement("PU-T1-order-recv"),
    Claim::statement("PU-T1-order"),
    Claim::statement("PU-0-lat"),
    Claim::statement("PU-4-lat"),
    Claim::statement("PU-31-half"),
    Claim::statement("PU-31-tx-small"),
    Claim::statement("PU-31-sw"),
    Claim::statement("PU-31-gap"),
    Claim::statement("PU-31-fastnet"),
    Claim::statement("PU-31-fastcpu"),
    Claim::points("PU-31-os12", SHARE_POINTS),
    Claim::statement("PU-31-osdom"),
    Claim::statement("PU-31-proto"),
    Claim::statement("PU-31-buf"),
    Claim::statement("PU-31-buf64"),
    Claim::points("PU-31-copy", SHARE_POINTS),
    Claim::statement("PU-31-copysmall"),
];

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[
    Counter {
        ids: &["PU-T2-copy-64", "PU-T2-copy-32-pct", "PU-T2-copy-64-pct"],
        turned: "a byte takes 53 ns in each of three copies, not 34",
        conditions: Conditions {
            machine: "host.launch_ns_per_byte = 53.3\nhost.copy_ns_per_byte = 53.3",
            ..Conditions::STATED
        },
    },
    Counter {
        ids: &["PU-T2-tx-1024-pct", "PU-T2-tx-1436-pct"],
        turned: "the bus takes 41 ns a byte, not 7.5",
        conditions: Conditions { machine: "bus.ns_per_byte = 41.0", ..Conditions::STATED },
    },
];

/// Both, one after the other.
const fn all() -> [Claim; TABLES.len() + FINDINGS.len()] {
    let mut claims = [TABLES[0]; TABLES.len() + FINDINGS.len()];
    let mut i = 0;
    while i < claims.len() {
        claims[i] = if i < TABLES.len() { TABLES[i] } else { FINDINGS[i - TABLES.len()] };
        i += 1;
    }
    claims
}

/// The experiment.
pub struct Latency;

impl Experiment for Latency {
    fn name(&self) -> &'static str {
        "pupa-latency"
    }

    fn title(&self) -> &'static str {
        "One-way delays and their parts (3.1, tables 1 and 2, figure 3)"
    }

    fn machines(&self) -> &'static [&'static str] {
        &[MACHINE]
    }

    fn claims(&self) -> &'static [Claim] {
        const { &all() }
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("PU-0-net", "100"),
            Setting("PU-3-cpu", "P90"),
            Setting("PU-3-chip", "DEC 21140"),
            Setting("PU-3-seg", "single segment"),
            Setting("PU-3-idle", "idle"),
            Setting("PU-31-gtod", "6"),
            Setting("PU-31-mtime", "2"),
            Setting("PU-31-oneway", "half"),
            Setting("PU-31-residual", "residual"),
            Setting("PU-31-nodelay", "TCP_NODELAY"),
            Setting("PU-2-hdr", "28"),
            Setting("PU-2-cut", "32"),
            Setting("PU-2-thr", "128"),
            Setting("PU-2-mbufcall", "mbuf needs a system call"),
            Setting("PU-2-primmsg", "4064"),
            Setting("PU-2-sendn", "128"),
            Setting("PU-2-recvn", "512"),
            Setting("PU-2-acktimer", "10ms"),
            Setting("PU-2-fastpath", "no packing"),
        ]
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let testbed = Testbed::new(2)?;
        let delays: Vec<Delay> =
            SIZES.iter().map(|&bytes| Delay::new(&testbed, bytes)).collect::<Result<_>>()?;
        let tcp: Vec<f64> = delays
            .iter()
            .zip(SIZES)
            .map(|(delay, bytes)| delay.tcp(&testbed.machine, bytes))
            .collect();
        tables(self.claims(), &delays, &tcp, results);
        ends(&delays, &tcp, results);
        parts(&delays, results);
        faster(&testbed, results)?;
        figure_3(&delays, &tcp, results);
        Ok(())
    }
}

/// The rows of both tables that are claimed.
fn tables(claims: &[Claim], delays: &[Delay], tcp: &[f64], results: &mut Results) {
    let names = ["proto", "os", "tx", "copy", "buf"];
    for ((delay, tcp), bytes) in delays.iter().zip(tcp).zip(SIZES) {
        let mut cells = vec![
            (format!("PU-T1-send-{bytes}"), Quantity::Nanoseconds(delay.sender * 1e3)),
            (format!("PU-T1-recv-{bytes}"), Quantity::Nanoseconds(delay.receiver() * 1e3)),
            (
                format!("PU-T1-tx-{bytes}"),
                Quantity::Nanoseconds(delay.part(Part::Transmission) * 1e3),
            ),
            (format!("PU-T1-pupa-{bytes}"), Quantity::Nanoseconds(delay.total * 1e3)),
            (format!("PU-T1-tcp-{bytes}"), Quantity::Nanoseconds(tcp * 1e3)),
            (format!("PU-T2-total-{bytes}"), Quantity::Nanoseconds(delay.total * 1e3)),
        ];
        for (name, part) in names.iter().zip(delay.parts) {
            let share = part / delay.total * 100.0;
            cells.push((format!("PU-T2-{name}-{bytes}"), Quantity::Nanoseconds(part * 1e3)));
            cells.push((format!("PU-T2-{name}-{bytes}-pct"), Quantity::Count(share)));
        }
        for (id, quantity) in cells {
            if let Some(claim) = claims.iter().find(|claim| claim.id == id) {
                results.figure(claim.id, quantity);
            }
        }
    }
}

/// Findings of the paper about the ends, and about TCP beside them.
fn ends(delays: &[Delay], tcp: &[f64], results: &mut Results) {
    let ends = |delay: &Delay| (delay.sender, delay.receiver());
    let receiver_more = delays.iter().all(|delay| ends(delay).0 < ends(delay).1);
    let in_words = |(a, b): (f64, f64)| format!("{a:.0} and {b:.0}");
    let pairs: Vec<String> = delays.iter().map(|delay| in_words(ends(delay))).collect();
    results.statement("PU-T1-order-recv", receiver_more, format!("us: {}", pairs.join(", ")));
    let beside: Vec<(f64, f64)> =
        delays.iter().zip(tcp).map(|(delay, &tcp)| (delay.total, tcp)).collect();
    let pairs: Vec<String> = beside.iter().copied().map(in_words).collect();
    let less = beside.iter().all(|(pupa, tcp)| pupa < tcp);
    results.statement("PU-T1-order", less, format!("us: {}", pairs.join(", ")));
    // 4 bytes are calibrated.
    let (pupa, tcp) = beside[1];
    for id in ["PU-0-lat", "PU-4-lat", "PU-31-half"] {
        results.statement(id, pupa < tcp / 2.0, format!("{pupa:.1} and {tcp:.1} us at 32 bytes"));
    }
    let gaps: Vec<f64> = beside.iter().map(|(pupa, tcp)| tcp - pupa).collect();
    let shown: Vec<String> = gaps.iter().map(|gap| format!("{gap:.0}")).collect();
    let shrinks = gaps[0] > gaps[2];
    results.statement("PU-31-gap", shrinks, format!("us, by size: {}", shown.join(", ")));
    let software = |delay: &Delay| (delay.total - delay.part(Part::Transmission)) / delay.total;
    let shares = [("4 bytes", software(&delays[0])), ("1436", software(&delays[7]))];
    // "Significant" is read as half.
    results.statement("PU-31-sw", shares.iter().all(|(_, part)| *part > 0.5), listed(&shares));
}

/// Findings of the paper about the parts.
fn parts(delays: &[Delay], results: &mut Results) {
    let names = ["protocol", "system", "transmission", "copies", "buffers"];
    let listed_parts =
        |delay: &Delay| listed(&names.into_iter().zip(delay.parts).collect::<Vec<(&str, f64)>>());
    // 4 bytes are calibrated; 32 are small too.
    let (small, large) = (&delays[1], &delays[7]);
    let most = |delay: &Delay| delay.parts.iter().copied().fold(0.0, f64::max);
    let evidence = format!("us at 32 bytes: {}", listed_parts(small));
    let of = |part| small.part(part);
    results.statement("PU-31-buf", of(Part::Buffers) >= most(small), evidence.clone());
    results.statement("PU-31-proto", of(Part::Protocol) < of(Part::System), evidence.clone());
    let before = small.parts.iter().filter(|&&part| part > of(Part::System)).count();
    results.statement("PU-31-osdom", before <= 1, evidence.clone());
    let insignificant = of(Part::Copy) < 0.05 * small.total;
    results.statement("PU-31-copysmall", insignificant, evidence.clone());
    let grows = of(Part::Transmission) < of(Part::Buffers) / 2.0
        && large.part(Part::Transmission) >= most(large);
    let both = format!("{evidence}; at 1436: {}", listed_parts(large));
    results.statement("PU-31-tx-small", grows, both);
    let share = |part| Quantity::Count(large.part(part) / large.total * 100.0);
    results.figure("PU-31-os12", share(Part::System));
    results.figure("PU-31-copy", share(Part::Copy));
    let buffers: Vec<f64> = delays.iter().map(|delay| delay.part(Part::Buffers)).collect();
    let copied = buffers[2].min(buffers[3]);
    let shown: Vec<String> = buffers.iter().map(|time| format!("{time:.0}")).collect();
    let above = buffers[4..].iter().all(|&kept| kept < copied);
    results.statement("PU-31-buf64", above, format!("us, by size: {}", shown.join(", ")));
}

/// Effect of faster networks and processors, as the authors expect: ten times as fast here.
fn faster(testbed: &Testbed, results: &mut Results) -> Result<()> {
    const TIMES: f64 = 10.0;
    let bytes = 512;
    let relative = |software: f64, network: f64| -> Result<f64> {
        let delay = Delay::new(testbed, bytes)?;
        let transmission = delay.part(Part::Transmission);
        let ends = |total: f64| (total - transmission) / software + transmission / network;
        Ok(ends(delay.tcp(&testbed.machine, bytes)) / ends(delay.total))
    };
    let (now, network, processor) =
        (relative(1.0, 1.0)?, relative(1.0, TIMES)?, relative(TIMES, 1.0)?);
    results.ascending("PU-31-fastnet", &[("TCP/Pupa as it is", now), ("network x 10", network)]);
    let slower = [("processor x 10", processor), ("TCP/Pupa as it is", now)];
    results.ascending("PU-31-fastcpu", &slower);
    Ok(())
}

fn figure_3(delays: &[Delay], tcp: &[f64], results: &mut Results) {
    let axes = (("bytes", Scale::Linear), ("us", Scale::Linear));
    let mut plot = Plot::new("pupa-latency", "One-way delay (Pupa, figure 3)", axes.0, axes.1);
    let points = |of: Vec<f64>| SIZES.iter().map(|&bytes| bytes as f64).zip(of).collect();
    plot.line(MACHINE, points(delays.iter().map(|delay| delay.total).collect()));
    plot.line("TCP, modelled", points(tcp.to_vec()));
    for (name, ids) in [
        ("Pupa, paper", ["PU-T1-pupa-4", "PU-T1-pupa-128", "PU-T1-pupa-512", "PU-T1-pupa-1436"]),
        ("TCP, paper", ["PU-T1-tcp-4", "PU-T1-tcp-128", "PU-T1-tcp-512", "PU-T1-tcp-1436"]),
    ] {
        let points: Vec<_> = [4.0, 128.0, 512.0, 1436.0].into_iter().zip(ids).collect();
        plot.paper(name, &points);
    }
    results.plot(plot);
}
