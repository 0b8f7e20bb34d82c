//! Bandwidth between two PCs (Pupa 3.2, figure 4), with acknowledgements when the sender asks, and
//! with one for every message.
//!
//! Messages that have room for others beside them share packets, as Pupa's library has it (2.2.2):
//! the program does what the library did. TCP is a model, beside (`tcp`).

use super::latency::one_way;
use super::tcp;
use super::testbed::{
    ACKNOWLEDGEMENT_US, ANOTHER_RECEIVED_US, ANOTHER_SENT_US, HEADER_BYTES, MACHINE, PACKET_BYTES,
    Testbed, take,
};
use crate::claim::Claim;
use crate::cluster::now;
use crate::conditions::{Conditions, PupaConditions};
use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::experiments::inbox::{Inbox, gap};
use crate::experiments::unicast::send;
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed, short};
use anyhow::Result;
use weft_endpoint::{Rank, Statistics};

/// Bytes of messages: powers of two, as in the paper.
const SIZES: [usize; 12] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
/// Packets of a stream: its end is far from its beginning long before the paper's 100,000 messages.
const PACKETS: usize = 800;

/// Side that decides on acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The sender, when it needs them (2.2.1).
    Asked,
    /// Nobody: every message is acknowledged.
    Individual,
}

/// Results of a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stream {
    /// Bytes a second.
    pub rate: f64,
    /// Acknowledgements for each message.
    pub acknowledgements: f64,
}

/// Packing of messages of some size: so many in a packet, or in so many packets, with these bytes.
pub fn packed(bytes: usize) -> (usize, Vec<usize>) {
    if bytes <= PACKET_BYTES {
        let together = (PACKET_BYTES + HEADER_BYTES) / (bytes + HEADER_BYTES);
        return (together, vec![together * (bytes + HEADER_BYTES) - HEADER_BYTES]);
    }
    let full = bytes / PACKET_BYTES;
    let rest = bytes % PACKET_BYTES;
    (1, (0..full).map(|_| PACKET_BYTES).chain((rest > 0).then_some(rest)).collect())
}

/// Streams messages of `bytes` bytes.
///
/// # Errors
/// Those of [`Testbed::run`].
pub fn stream(bytes: usize, mode: Mode) -> Result<Stream> {
    let mut testbed = Testbed::new(2)?;
    if mode == Mode::Individual {
        (testbed.pupa.low_water_percent, testbed.pupa.high_water_percent) = (100, 100);
    }
    let library = testbed.library;
    let (together, packets_each) = packed(bytes);
    let rounds = PACKETS / packets_each.len();
    let others = (together - 1) as f64;
    let more_acknowledgements = if mode == Mode::Individual { others } else { 0.0 };
    let (ran, _) = testbed.run(0, move |packets| {
        let (inbox, mut times) = (Inbox::open(packets), Vec::new());
        for _ in 0..rounds {
            for &size in &packets_each {
                if packets.rank() == 0 {
                    let mut packet = packets.packet()?;
                    (0..together).for_each(|_| library.send(packets, size.min(bytes)));
                    take(packets, others * ANOTHER_SENT_US);
                    take(packets, more_acknowledgements * ACKNOWLEDGEMENT_US.1);
                    packet.put(&vec![7; size])?;
                    packet.unicast(Rank(1))?;
                } else {
                    let received = inbox.next()?;
                    take(packets, others * ANOTHER_RECEIVED_US);
                    take(packets, more_acknowledgements * ACKNOWLEDGEMENT_US.0);
                    (0..together).for_each(|_| library.receive(packets, received.len().min(bytes)));
                }
            }
            times.push(now(packets));
        }
        Ok(times)
    })?;
    let rate = (bytes * together) as f64 / gap(&ran.values[1]) * 1e9;
    let messages = (rounds * together) as f64;
    let explicit = |rank: &Statistics| rank.protocol.explicit_acknowledgements as f64;
    let extra = more_acknowledgements * rounds as f64;
    Ok(Stream { rate, acknowledgements: (explicit(&ran.statistics[1]) + extra) / messages })
}

/// Note about TCP's rows.
const TCP: &str = "TCP is a model, of which one thing is assumed: each end takes half of what a message of 4 bytes takes TCP besides its \
    transmission (table 1), for each segment. It copies and sums up the bytes besides, and takes a system call (4 us) for each message \
    that it coalesces.";

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[Counter {
    ids: &["PU-32-256"],
    turned: "a write to a TCP socket costs 40 us besides its system call",
    conditions: Conditions {
        pupa: PupaConditions { write_us: 40.0, ..Conditions::STATED.pupa },
        ..Conditions::STATED
    },
}];

const CLAIMS: [Claim; 9] = [
    Claim::figure("PU-32-pupa").percent(25.0),
    Claim::statement("PU-32-rise"),
    Claim::figure("PU-32-sat").percent(25.0),
    Claim::figure("PU-32-2k-a").percent(0.0),
    Claim::figure("PU-32-2k-b").percent(0.0),
    Claim::statement("PU-32-acks"),
    Claim::statement("PU-32-modeorder"),
    Claim::statement("PU-2-fcfree"),
    Claim::statement("PU-2-ackpath"),
];

/// All claims, those about TCP at the end.
const fn all() -> [Claim; CLAIMS.len() + tcp::CLAIMS.len()] {
    let mut claims = [CLAIMS[0]; CLAIMS.len() + tcp::CLAIMS.len()];
    let mut i = 0;
    while i < claims.len() {
        claims[i] = if i < CLAIMS.len() { CLAIMS[i] } else { tcp::CLAIMS[i - CLAIMS.len()] };
        i += 1;
    }
    claims
}

/// The experiment.
pub struct Bandwidth;

impl Experiment for Bandwidth {
    fn name(&self) -> &'static str {
        "pupa-bandwidth"
    }

    fn title(&self) -> &'static str {
        "Bandwidth (3.2, figure 4)"
    }

    fn notes(&self) -> &'static str {
        TCP
    }

    fn machines(&self) -> &'static [&'static str] {
        &[MACHINE]
    }

    fn claims(&self) -> &'static [Claim] {
        const { &all() }
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("PU-32-n", "100000"),
            Setting("PU-32-modes", "two"),
            Setting("PU-32-mtu", "1500"),
            Setting("PU-2-sendsz", "512"),
            Setting("PU-2-sca-imm", "immediate ACK"),
            Setting("PU-2-credit0", "unlimited"),
        ]
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let run = |mode| SIZES.iter().map(|&bytes| stream(bytes, mode)).collect::<Result<Vec<_>>>();
        let (asked, individual) = (run(Mode::Asked)?, run(Mode::Individual)?);
        let peak = asked.iter().fold(0.0, |peak: f64, stream| peak.max(stream.rate));
        results.figure("PU-32-pupa", Quantity::BytesPerSecond(peak));
        // Saturated: within 2 % of the peak, and so of every larger size.
        let full = |curve: &[Stream]| curve.iter().position(|at| at.rate >= 0.98 * peak);
        let saturated = full(&asked).map_or(f64::NAN, |at| SIZES[at] as f64 / 1024.0);
        results.figure("PU-32-sat", Quantity::Count(saturated));
        let (_, two_kilobytes) = packed(2048);
        results.figure("PU-32-2k-a", Quantity::Count(two_kilobytes[0] as f64));
        results.figure("PU-32-2k-b", Quantity::Count(two_kilobytes[1] as f64));
        statements(&asked, &individual, results);
        figure_4(&asked, &individual, results);
        let rates = |curve: &[Stream]| curve.iter().map(|at| at.rate).collect::<Vec<_>>();
        let machine = Testbed::new(2)?.machine;
        tcp::compare(&machine, &SIZES, (&rates(&asked), &rates(&individual)), results);
        flow_control(results)?;
        acknowledged_first(results)
    }
}

fn mbps(stream: &Stream) -> f64 {
    stream.rate * 8e-6
}

fn statements(asked: &[Stream], individual: &[Stream], results: &mut Results) {
    let rates = |curve: &[Stream]| -> String {
        let shown: Vec<String> = curve.iter().map(|stream| short(mbps(stream))).collect();
        shown.join(", ")
    };
    // At first: up to what one packet holds.
    let rises = |curve: &[Stream]| curve.windows(2).take(8).all(|pair| pair[0].rate < pair[1].rate);
    let evidence = format!("Mbit/s, asked: {}; individual: {}", rates(asked), rates(individual));
    results.statement("PU-32-rise", rises(asked) && rises(individual), evidence.clone());
    let lags = asked.iter().zip(individual).all(|(asked, each)| each.rate < asked.rate);
    results.statement("PU-32-modeorder", lags, evidence);
    // For as many bytes.
    let acknowledgements: Vec<f64> = individual
        .iter()
        .zip(SIZES)
        .map(|(stream, bytes)| stream.acknowledgements * 1024.0 / bytes as f64)
        .collect();
    let fall = acknowledgements.first() > acknowledgements.last();
    let ends = [("4 bytes", acknowledgements[0]), ("8192", acknowledgements[11])];
    let evidence = format!("acknowledgements for each Kbyte: {}", listed(&ends));
    results.statement("PU-32-acks", fall, evidence);
}

/// Flow control costs nothing but what overflows cost (2.2.2): its packets, and the packets that
/// are sent again, where a receiver keeps up, and where it does not and has hardly any buffers.
fn flow_control(results: &mut Results) -> Result<()> {
    let mut packets = Vec::new();
    for (slow, buffers) in [(false, None), (true, None), (true, Some(2))] {
        let mut testbed = Testbed::new(2)?;
        if let Some(buffers) = buffers {
            testbed.pupa.primary_buffers = 1;
            let pools = &mut testbed.machine.pools;
            (pools.ni_receive_buffers, pools.host_receive_buffers) = (buffers, buffers);
        }
        let (ran, _) = testbed.run(0, move |packets| {
            let inbox = Inbox::open(packets);
            for _ in 0..60 {
                if packets.rank() == 0 {
                    send(packets, Rank(1), &[7; 1024])?;
                } else {
                    take(packets, if slow { 1000.0 } else { 0.0 });
                    drop(inbox.next()?);
                }
            }
            Ok(())
        })?;
        let counted = |of: fn(&Statistics) -> u64| ran.statistics.iter().map(of).sum::<u64>();
        let control = counted(|rank| rank.protocol.stops + rank.protocol.room_updates);
        packets.push((control + counted(|rank| rank.protocol.retransmissions)) as f64);
    }
    let named = ["receiver keeps up", "slower", "slower, 3 buffers"];
    let named: Vec<(&str, f64)> = named.into_iter().zip(packets).collect();
    let holds = named[0].1 == 0.0 && named[1].1 == 0.0 && named[2].1 > 0.0;
    results.statement("PU-2-fcfree", holds, format!("packets for 60: {}", listed(&named)));
    Ok(())
}

/// An acknowledgement sent before the packet is delivered adds to its delay (2.2.1).
fn acknowledged_first(results: &mut Results) -> Result<()> {
    let asked = Testbed::new(2)?;
    let mut individual = asked.clone();
    (individual.pupa.low_water_percent, individual.pupa.high_water_percent) = (100, 100);
    let delays = [("asked for", one_way(&asked, 64)?.0), ("each", one_way(&individual, 64)?.0)];
    results.ascending("PU-2-ackpath", &delays);
    Ok(())
}

fn figure_4(asked: &[Stream], individual: &[Stream], results: &mut Results) {
    let axes = (("bytes", Scale::Logarithmic), ("Mbit/s", Scale::Linear));
    let mut plot = Plot::new("pupa-bandwidth", "Bandwidth (Pupa, figure 4)", axes.0, axes.1);
    for (name, curve) in [("acks when asked for", asked), ("individual acks", individual)] {
        let points = curve.iter().zip(SIZES).map(|(stream, bytes)| (bytes as f64, mbps(stream)));
        plot.line(name, points.collect());
    }
    plot.paper("paper, asked, peak", &[(4096.0, "PU-32-pupa")]);
    results.plot(plot);
}
