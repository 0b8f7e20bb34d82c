//! Broadcast: latency to the last receiver, throughput, and the gap that a forward costs (thesis
//! 5.3.1, figures 5.4, 5.5 and 5.7).

use super::inbox::{Arrivals, Receive, gap};
use super::unicast::{SMALL_BYTES, megabytes, send, send_message};
use crate::claim::Claim;
use crate::cluster::{Nanoseconds, PACKET_BYTES, Ran, Setup, now};
use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::fit;
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed, short};
use anyhow::{Context, Result};
use weft_endpoint::{Packets, Rank, Statistics};
use weft_simulator::Shape;

/// Broadcasts for a latency, after as many again to warm up.
const ROUNDS: usize = 8;
/// Long enough for a broadcast to reach everybody and for its credits to come back: 2 ms where an
/// operation is 20 ns.
const PAUSE_OPERATIONS: u64 = 100_000;
/// Packets in a stream.
const STREAM: usize = 512;
/// Ranks of figures 5.4 and 5.5.
const RANKS: [u16; 5] = [4, 8, 16, 32, 64];
const SIZES: [usize; 4] = [0, 256, 512, 1024];
/// Fanouts of the forwarding node of figure 5.6.
const FANOUTS: [u16; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

/// Nanoseconds from the sender's launch of a packet of `bytes` bytes until the last receiver has
/// copied it.
///
/// # Errors
/// Those of [`Setup::run`].
pub fn latency(setup: &Setup, bytes: usize) -> Result<f64> {
    let ranks = setup
        .run(move |packets| {
            let arrivals = Arrivals::note(packets, Receive::Copy);
            if packets.rank() != 0 {
                arrivals.wait(2 * ROUNDS)?;
                return Ok(arrivals.times());
            }
            let mut launches = Vec::new();
            for _ in 0..2 * ROUNDS {
                let mut packet = packets.packet()?;
                packets.work(PAUSE_OPERATIONS);
                // Where the host does the protocol, it learns of acknowledgements by polling.
                while packets.poll()? {}
                launches.push(now(packets));
                packet.put(&vec![7; bytes])?;
                packet.broadcast()?;
            }
            Ok(launches)
        })?
        .values;
    let (launches, receivers) = ranks.split_first().context("a job without ranks")?;
    let last = |round: usize| receivers.iter().map(|times| times[round]).max().unwrap_or(0);
    let times = (ROUNDS..2 * ROUNDS).map(|round| last(round).saturating_sub(launches[round]));
    Ok(times.sum::<Nanoseconds>() as f64 / ROUNDS as f64)
}

/// Senders of a blast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Senders {
    /// Rank 0, which then waits for an empty acknowledgement from everybody.
    One,
    /// All at once, until everybody has everything.
    All,
}

/// Results of a blast test.
#[derive(Clone, PartialEq, Debug)]
pub struct Blast {
    /// Bytes a second that one sender sent.
    pub rate: f64,
    /// Packets broadcast.
    pub multicasts: u64,
    /// Counters of every rank.
    pub statistics: Vec<Statistics>,
}

/// Sends `messages` messages of `bytes` bytes, as fast as they go (thesis 5.3.1).
///
/// # Errors
/// Those of [`Setup::run`].
pub fn blast(setup: &Setup, bytes: usize, messages: usize, senders: Senders) -> Result<Blast> {
    let packets_each = messages * bytes.div_ceil(PACKET_BYTES).max(1);
    let Ran { values: ranks, statistics } = setup.run(move |packets| {
        let packets = &packets;
        let arrivals = Arrivals::note(packets, Receive::Copy);
        let sends = senders == Senders::All || packets.rank() == 0;
        let start = now(packets);
        for _ in 0..if sends { messages } else { 0 } {
            send_message(&vec![7; bytes], |part| broadcast(packets, part))?;
        }
        let others = packets.size() - 1;
        match senders {
            Senders::All => arrivals.wait(others * packets_each)?,
            Senders::One if sends => arrivals.wait(others)?,
            Senders::One => {
                arrivals.wait(packets_each)?;
                send(packets, Rank(0), &[])?;
            }
        }
        Ok((start, now(packets)))
    })?;
    let start = ranks.iter().map(|rank| rank.0).min().unwrap_or(0);
    let end = match senders {
        Senders::One => ranks[0].1,
        Senders::All => ranks.iter().map(|rank| rank.1).max().unwrap_or(0),
    };
    let sending = if senders == Senders::All { ranks.len() } else { 1 };
    Ok(Blast {
        rate: (bytes * messages) as f64 / (end - start) as f64 * 1e9,
        multicasts: (packets_each * sending) as u64,
        statistics,
    })
}

fn broadcast(packets: &Packets, bytes: &[u8]) -> Result<()> {
    let mut packet = packets.packet()?;
    packet.put(bytes)?;
    Ok(packet.broadcast()?)
}

/// Nanoseconds between small packets on the tree of figure 5.6, whose one forwarder has `fanout`
/// children, at the receiver that gets them most slowly.
///
/// # Errors
/// Those of [`Setup::run`].
pub fn multicast_gap(fanout: u16) -> Result<f64> {
    let setup = Setup { shape: Shape::Relay, ..Setup::lfc(fanout + 2) };
    let ranks = setup
        .run(|packets| {
            let arrivals = Arrivals::note(packets, Receive::NoTouch);
            if packets.rank() == 0 {
                for _ in 0..STREAM {
                    broadcast(packets, &[7; SMALL_BYTES])?;
                }
            } else {
                arrivals.wait(STREAM)?;
            }
            Ok(arrivals.times())
        })?
        .values;
    Ok(ranks[1..].iter().map(|times| gap(times)).fold(0.0, f64::max))
}

/// Reason why a forward costs too much.
const FORWARD_IS_A_SEND: &str = "table 5.1 does not tell what an NI does to notice its host's request from what it does to \
    transmit, so that a forward costs the machine's NI all that a packet of its host does (5.6 us), and the \
    children's credits beside it; LFC's forward needs no request";
/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[Counter {
    ids: &["S5.3.1-alpha"],
    turned: "an NI takes 4.4 us to transmit a packet, not 5.4",
    conditions: Conditions { machine: "ni.send_after_ns = 954", ..Conditions::STATED },
}];

/// The experiment.
pub struct Broadcast;

impl Experiment for Broadcast {
    fn name(&self) -> &'static str {
        "broadcast"
    }

    fn title(&self) -> &'static str {
        "Broadcast: latency, throughput, gap (5.3.1, figures 5.4, 5.5 and 5.7)"
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("S5.3.1-bcast-null-4"),
                Claim::figure("S5.3.1-bcast-null-64"),
                Claim::statement("S5.3.1-lat-growth"),
                Claim::figure("S5.3.1-alpha").misses(FORWARD_IS_A_SEND),
                Claim::figure("S5.3.1-beta"),
                Claim::other("S5.3.1-bcast-thr-4"),
                Claim::statement("S5.3.1-thr-order"),
                Claim::statement("S5.3.1-thr-P"),
            ]
        }
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("S5.3.1-credits", "512"),
            Setting("S5.3.1-pkt", "1"),
            Setting("S5.3.1-deflat", ""),
            Setting("S5.3.1-defthr", ""),
            Setting("S5.3.1-fanout", "two"),
            Setting("S5.3.1-cap", "60"),
            Setting("S5.3.1-gapsize", "16"),
            Setting("S5.3.1-gaptree", "P - 2"),
        ]
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        latencies(results)?;
        throughputs(results)?;
        gaps(results)
    }
}

/// Figure 5.4.
fn latencies(results: &mut Results) -> Result<()> {
    let axes = (("bytes", Scale::Linear), ("us", Scale::Linear));
    let title = "Broadcast latency to the last receiver (figure 5.4)";
    let mut plot = Plot::new("broadcast-latency", title, axes.0, axes.1);
    let mut curves = Vec::new();
    for ranks in RANKS {
        let mut curve = Vec::new();
        for bytes in SIZES {
            let time = latency(&Setup::lfc(ranks), bytes)?;
            curve.push((bytes as f64, time / 1e3));
        }
        plot.line(format!("{ranks} processors"), curve.clone());
        curves.push((ranks, curve));
    }
    plot.paper("paper, 4", &[(0.0, "S5.3.1-bcast-null-4")]);
    plot.paper("paper, 64", &[(0.0, "S5.3.1-bcast-null-64")]);
    results.plot(plot);
    let null: Vec<(f64, f64)> =
        curves.iter().map(|(ranks, curve)| (f64::from(*ranks).log2(), curve[0].1)).collect();
    let (least, most) = (null[0].1, null[null.len() - 1].1);
    results.figure("S5.3.1-bcast-null-4", Quantity::Nanoseconds(least * 1e3));
    results.figure("S5.3.1-bcast-null-64", Quantity::Nanoseconds(most * 1e3));
    growth(&null, &curves, results)
}

/// Straight lines over the logarithm of the processors, and over the size.
fn growth(
    null: &[(f64, f64)],
    curves: &[(u16, Vec<(f64, f64)>)],
    results: &mut Results,
) -> Result<()> {
    /// Least part of the variance that a line explains which passes for straight.
    const STRAIGHT: f64 = 0.98;
    let logarithmic = fit::line(null).context("latencies for one number of ranks only")?;
    let mut holds = logarithmic.determination > STRAIGHT && logarithmic.slope > 0.0;
    let mut slopes = Vec::new();
    for (ranks, curve) in curves {
        let linear = fit::line(curve).context("latencies for one size only")?;
        holds &= linear.determination > STRAIGHT && linear.slope > 0.0;
        slopes.push(format!("{} ns/byte at {ranks}", short(linear.slope * 1e3)));
    }
    let evidence = format!(
        "{} us for each doubling (R² {:.3}); {}",
        short(logarithmic.slope),
        logarithmic.determination,
        slopes.join(", ")
    );
    results.statement("S5.3.1-lat-growth", holds, evidence);
    Ok(())
}

/// Figure 5.5, as far as messages fit in a cache.
fn throughputs(results: &mut Results) -> Result<()> {
    let axes = (("bytes", Scale::Logarithmic), ("Mbyte/s", Scale::Linear));
    let title = "Broadcast throughput (figure 5.5)";
    let mut plot = Plot::new("broadcast-throughput", title, axes.0, axes.1);
    let mut peaks = Vec::new();
    for ranks in RANKS {
        let mut curve = Vec::new();
        for bytes in [1 << 10, 4 << 10, 16 << 10, 64 << 10] {
            let messages = (STREAM << 10) / bytes;
            let blast = blast(&Setup::lfc(ranks), bytes, messages, Senders::One)?;
            curve.push((bytes as f64, megabytes(blast.rate).context("a rate")?));
        }
        peaks.push((ranks, curve.iter().fold(0.0, |peak: f64, point| peak.max(point.1))));
        plot.line(format!("{ranks} processors"), curve);
    }
    plot.paper("paper, 4, peak", &[(65536.0, "S5.3.1-bcast-thr-4")]);
    results.plot(plot);
    let least = peaks[0].1;
    results.figure("S5.3.1-bcast-thr-4", Quantity::BytesPerSecond(least * f64::from(1 << 20)));
    let unicast = blast_to_one()?;
    results.ascending("S5.3.1-thr-order", &[("broadcast to 4", least), ("unicast", unicast)]);
    let named: Vec<(String, f64)> =
        peaks.iter().rev().map(|(ranks, peak)| (format!("{ranks} processors"), *peak)).collect();
    let named: Vec<(&str, f64)> = named.iter().map(|(name, peak)| (&**name, *peak)).collect();
    results.ascending("S5.3.1-thr-P", &named);
    Ok(())
}

/// Rate of the same blast with one receiver.
fn blast_to_one() -> Result<f64> {
    let blast = blast(&Setup::lfc(2), 64 << 10, 4, Senders::One)?;
    megabytes(blast.rate).context("a rate")
}

/// Figure 5.7: g(P) = alpha F(P) + beta.
fn gaps(results: &mut Results) -> Result<()> {
    let mut curve = Vec::new();
    for fanout in FANOUTS {
        curve.push((f64::from(fanout), multicast_gap(fanout)? / 1e3));
    }
    let line = fit::line(&curve).context("gaps of one fanout only")?;
    results.figure("S5.3.1-alpha", Quantity::Nanoseconds(line.slope * 1e3));
    results.figure("S5.3.1-beta", Quantity::Nanoseconds(line.intercept * 1e3));
    let axes = (("fanout of the forwarding node", Scale::Linear), ("us", Scale::Linear));
    let title = format!(
        "Broadcast gap (figure 5.7): {}",
        listed(&[("alpha", line.slope), ("beta", line.intercept)])
    );
    let mut plot = Plot::new("broadcast-gap", &title, axes.0, axes.1);
    let fanouts = FANOUTS.map(f64::from);
    plot.line("measured", curve);
    plot.line("fit", fanouts.map(|fanout| (fanout, line.slope * fanout + line.intercept)).into());
    plot.paper_line("paper, fit", "S5.3.1-alpha", "S5.3.1-beta", &fanouts);
    results.plot(plot);
    Ok(())
}
