//! Latency and throughput from one rank to another, and the LogGP parameters (thesis 5.1).
//!
//! The parameters are those of 5.1.2, measured as Iannello and others do: the send overhead is the
//! time that a launch takes, the receive overhead what a poll takes that finds a packet waiting,
//! the latency what is left of one way without the two, the gap the time between the packets of a
//! stream. Allocation and release are off the critical path, as in 5.1.1.

use super::inbox::{Arrivals, Inbox, Receive, gap};
use crate::claim::Claim;
use crate::cluster::{PACKET_BYTES, Setup, now};
use crate::experiment::{Experiment, Setting};
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed, short};
use anyhow::Result;
use weft_endpoint::{Packets, Rank};

/// Round trips, after as many again to warm up.
const ROUNDS: usize = 16;
/// Packets in a stream.
const STREAM: usize = 1024;
/// Long enough for a packet to arrive that is on its way: 200 us where an operation is 20 ns.
const PAUSE_OPERATIONS: u64 = 10_000;
/// The payload behind all LogGP parameters but G.
pub const SMALL_BYTES: usize = 16;
/// Payloads of one packet.
pub const SIZES: [usize; 6] = [0, 16, 64, 256, 512, 1024];
const KILOBYTE: usize = 1 << 10;

/// The LogGP parameters (thesis 5.1.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LogGp {
    /// `o_s`, in nanoseconds.
    pub send_overhead: f64,
    /// `o_r`, in nanoseconds.
    pub receive_overhead: f64,
    /// `L`, in nanoseconds.
    pub latency: f64,
    /// `g`, in nanoseconds.
    pub gap: f64,
}

impl LogGp {
    /// `o_s + L + o_r`, in nanoseconds.
    pub fn sum(&self) -> f64 {
        self.send_overhead + self.latency + self.receive_overhead
    }
}

/// Measures the parameters of a job of two ranks.
///
/// # Errors
/// Those of [`Setup::run`].
pub fn loggp(setup: &Setup) -> Result<LogGp> {
    let (one_way, send_overhead) = ping_pong(setup, SMALL_BYTES, Receive::NoTouch)?;
    let receive_overhead = receive_overhead(setup)?;
    let latency = one_way - send_overhead - receive_overhead;
    let gap = stream(setup, SMALL_BYTES, Receive::NoTouch)?;
    Ok(LogGp { send_overhead, receive_overhead, latency, gap })
}

/// Nanoseconds one way of `bytes` bytes, with what `receive` does to them.
///
/// # Errors
/// Those of [`Setup::run`].
pub fn one_way(setup: &Setup, bytes: usize, receive: Receive) -> Result<f64> {
    Ok(ping_pong(setup, bytes, receive)?.0)
}

/// Half a round trip, and what a launch takes of it.
fn ping_pong(setup: &Setup, bytes: usize, receive: Receive) -> Result<(f64, f64)> {
    let ranks = setup
        .run(move |packets| {
            let (inbox, payload) = (Inbox::open(packets), vec![7; bytes]);
            let (mut round_trips, mut launches) = (0, 0);
            for round in 0..2 * ROUNDS {
                let mut packet = packets.packet()?;
                let received = if packets.rank() == 1 { Some(inbox.next()?) } else { None };
                receive.apply(packets, received.as_deref().map_or(0, <[u8]>::len));
                let start = now(packets);
                packet.put(&payload)?;
                packet.unicast(Rank(1 - packets.rank().0))?;
                let launched = now(packets);
                drop(received);
                if packets.rank() == 0 {
                    let answer = inbox.next()?;
                    receive.apply(packets, answer.len());
                    if round >= ROUNDS {
                        round_trips += now(packets) - start;
                        launches += launched - start;
                    }
                }
            }
            Ok((round_trips, launches))
        })?
        .values;
    let (round_trips, launches) = ranks[0];
    Ok((round_trips as f64 / (2 * ROUNDS) as f64, launches as f64 / ROUNDS as f64))
}

/// Time of a poll that finds a packet waiting.
fn receive_overhead(setup: &Setup) -> Result<f64> {
    let ranks = setup
        .run(|packets| {
            let inbox = Inbox::open(packets);
            let mut polls = 0;
            for _ in 0..ROUNDS {
                if packets.rank() == 0 {
                    send(packets, Rank(1), &[7; SMALL_BYTES])?;
                    drop(inbox.next()?);
                } else {
                    packets.work(PAUSE_OPERATIONS);
                    let mut start = now(packets);
                    while !packets.poll()? {
                        start = now(packets);
                    }
                    polls += now(packets) - start;
                    drop(inbox.take());
                    send(packets, Rank(0), &[])?;
                }
            }
            Ok(polls)
        })?
        .values;
    Ok(ranks[1] as f64 / ROUNDS as f64)
}

/// Nanoseconds for each packet of a stream of packets of `bytes` bytes.
fn stream(setup: &Setup, bytes: usize, receive: Receive) -> Result<f64> {
    stream_of_messages(setup, bytes, STREAM, receive)
}

/// Bytes a second of a stream of messages of `bytes` bytes, in packets.
///
/// # Errors
/// Those of [`Setup::run`].
pub fn stream_rate(setup: &Setup, bytes: usize, receive: Receive) -> Result<f64> {
    let messages = (STREAM / bytes.div_ceil(PACKET_BYTES).max(1)).max(8);
    Ok(bytes as f64 / stream_of_messages(setup, bytes, messages, receive)? * 1e9)
}

/// Nanoseconds for each message of a stream of messages of `bytes` bytes, in packets.
fn stream_of_messages(
    setup: &Setup,
    bytes: usize,
    messages: usize,
    receive: Receive,
) -> Result<f64> {
    let fragments = bytes.div_ceil(PACKET_BYTES).max(1);
    let ranks = setup
        .run(move |packets| {
            let arrivals = Arrivals::note(packets, receive);
            if packets.rank() == 0 {
                for _ in 0..messages {
                    send_message(&vec![7; bytes], |part| send(packets, Rank(1), part))?;
                }
            } else {
                arrivals.wait(messages * fragments)?;
            }
            Ok(arrivals.times())
        })?
        .values;
    // A message has arrived when its last packet has.
    let whole: Vec<u64> = ranks[1].iter().skip(fragments - 1).step_by(fragments).copied().collect();
    Ok(gap(&whole))
}

/// Sends one packet with `bytes`.
///
/// # Errors
/// Those of [`Packets::packet`].
pub fn send(packets: &Packets, to: Rank, bytes: &[u8]) -> Result<()> {
    let mut packet = packets.packet()?;
    packet.put(bytes)?;
    Ok(packet.unicast(to)?)
}

/// Hands `send` the message's packets; an empty message is one empty packet.
///
/// # Errors
/// The first of `send`.
pub fn send_message(message: &[u8], mut send: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    if message.is_empty() {
        return send(message);
    }
    message.chunks(PACKET_BYTES).try_for_each(&mut send)
}

/// Note for a reader of the throughputs.
const COPIES: &str = "A receiver that copies to what its cache holds slows nobody down here: the machine's receiver reads a packet at the \
    speed of its memory (170 Mbyte/s), so that the sender stays the slower one. Messages of 1 Mbyte are copied as fast as memcpy() does (52 \
    Mbyte/s), and packets that come meanwhile take the memory first (5.1.1). Between 64 and 256 Kbyte, where it depends on how pages are \
    mapped, nothing is measured.";

/// The experiment.
pub struct Unicast;

const CALIBRATED: f64 = 5.0;

impl Experiment for Unicast {
    fn name(&self) -> &'static str {
        "unicast"
    }

    fn title(&self) -> &'static str {
        "Unicast: latency, throughput, LogGP (5.1, table 5.1, figures 5.1 and 5.2)"
    }

    fn notes(&self) -> &'static str {
        COPIES
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("T5.1-os").percent(CALIBRATED),
                Claim::figure("T5.1-or").percent(CALIBRATED),
                Claim::figure("T5.1-L").percent(CALIBRATED),
                Claim::figure("T5.1-g").percent(CALIBRATED),
                Claim::figure("T5.1-bigG").percent(CALIBRATED),
                Claim::figure("S5.1.1-thr-notouch").percent(CALIBRATED),
                Claim::figure("S5.1.2-sum").percent(CALIBRATED),
                Claim::statement("S5.1.2-Lpart"),
                Claim::figure("S5.1.1-lat0"),
                Claim::statement("S5.1.2-sum-order"),
                Claim::statement("S5.1.1-lat-notouch"),
                Claim::statement("S5.1.1-sawtooth"),
                Claim::other("S5.1.1-thr-copy-1K"),
                Claim::other("S5.3.1-ucast-thr"),
                Claim::other("S5.1.1-thr-copy-1M"),
                Claim::statement("S5.1.1-copydrop"),
                Claim::statement("S5.1.1-bus"),
            ]
        }
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("S5.1.2-payload", "16"),
            Setting("S5.1.2-defG", ""),
            Setting("S5.3.1-nimax", "127"),
            Setting("T2.1-mm-pio-hw", "170"),
            Setting("T2.1-hn-wc", "84"),
            Setting("T2.1-nh-dma-hw", "127"),
            Setting("T2.1-nn-dma", "127"),
            Setting("S2.5-poll-ok", "74"),
            Setting("S3.4-hdr", "12"),
            Setting("S3.4-data", "1024"),
            Setting("S3.5-onedma", "single"),
        ]
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let setup = Setup::lfc(2);
        parameters(&setup, results)?;
        latencies(&setup, results)?;
        throughputs(&setup, results)
    }
}

fn parameters(setup: &Setup, results: &mut Results) -> Result<()> {
    let found = loggp(setup)?;
    for (id, time) in [
        ("T5.1-os", found.send_overhead),
        ("T5.1-or", found.receive_overhead),
        ("T5.1-L", found.latency),
        ("T5.1-g", found.gap),
        ("S5.1.2-sum", found.sum()),
    ] {
        results.figure(id, Quantity::Nanoseconds(time));
    }
    let LogGp { send_overhead, receive_overhead, latency, .. } = found;
    let parts =
        [("o_s", send_overhead / 1e3), ("o_r", receive_overhead / 1e3), ("L", latency / 1e3)];
    results.statement(
        "S5.1.2-Lpart",
        latency > send_overhead.max(receive_overhead),
        listed(&parts),
    );
    Ok(())
}

/// Figure 5.1.
fn latencies(setup: &Setup, results: &mut Results) -> Result<()> {
    let axes = (("bytes", Scale::Linear), ("us", Scale::Linear));
    let mut plot = Plot::new("unicast-latency", "Unicast latency (figure 5.1)", axes.0, axes.1);
    let mut curves = Vec::new();
    for (name, receive) in [("no touch", Receive::NoTouch), ("copy", Receive::Copy)] {
        let mut curve = Vec::new();
        for bytes in SIZES {
            let time = one_way(setup, bytes, receive)?;
            curve.push((bytes as f64, time / 1e3));
        }
        plot.line(name, curve.clone());
        curves.push(curve);
    }
    plot.paper("paper", &[(0.0, "S5.1.1-lat0"), (16.0, "S5.1.2-sum")]);
    results.plot(plot);
    let (quiet, copied) = (&curves[0], &curves[1]);
    results.figure("S5.1.1-lat0", Quantity::Nanoseconds(quiet[0].1 * 1e3));
    results.ascending("S5.1.2-sum-order", &[("0 bytes", quiet[0].1), ("16 bytes", quiet[1].1)]);
    let last = SIZES.len() - 1;
    let holds = (1..=last).all(|size| quiet[size].1 < copied[size].1);
    let evidence = format!(
        "at {} bytes {}",
        SIZES[last],
        listed(&[("no touch", quiet[last].1), ("copy", copied[last].1)])
    );
    results.statement("S5.1.1-lat-notouch", holds, evidence);
    Ok(())
}

/// Messages that no cache holds.
const LARGE_BYTES: usize = 1 << 20;
/// Several times what the receiver has buffers for, or its last packets are there before it copies
/// them.
const LARGE_MESSAGES: usize = 32;

/// Figure 5.2.
fn throughputs(setup: &Setup, results: &mut Results) -> Result<()> {
    let axes = (("bytes", Scale::Logarithmic), ("Mbyte/s", Scale::Linear));
    let title = "Unicast throughput (figure 5.2)";
    let mut plot = Plot::new("unicast-throughput", title, axes.0, axes.1);
    let sizes = [16, 64, 256, 1024, 1025, 2048, 2049, 4096, 16 * KILOBYTE, 64 * KILOBYTE];
    let mut peaks = Vec::new();
    let (mut saw, mut larges) = (Vec::new(), Vec::new());
    for (name, receive) in [("no touch", Receive::NoTouch), ("copy", Receive::Copy)] {
        let mut curve = Vec::new();
        for bytes in sizes {
            curve.push((bytes as f64, stream_rate(setup, bytes, receive)?));
        }
        peaks.push(curve.iter().fold(0.0, |peak: f64, point| peak.max(point.1)));
        saw.push((curve[3].1, curve[4].1));
        let mbytes = |&(bytes, rate): &(f64, f64)| Some((bytes, megabytes(rate)?));
        let mut line: Vec<(f64, f64)> = curve.iter().filter_map(mbytes).collect();
        let time = stream_of_messages(&setup.beyond_cache(), LARGE_BYTES, LARGE_MESSAGES, receive)?;
        let large = LARGE_BYTES as f64 / time * 1e9;
        line.extend(mbytes(&(LARGE_BYTES as f64, large)));
        plot.line(name, line);
        larges.push(large);
    }
    plot.paper("paper, no touch, peak", &[(65536.0, "T5.1-bigG")]);
    plot.paper(
        "paper, copy",
        &[(1024.0, "S5.1.1-thr-copy-1K"), (LARGE_BYTES as f64, "S5.1.1-thr-copy-1M")],
    );
    results.plot(plot);
    for id in ["T5.1-bigG", "S5.1.1-thr-notouch"] {
        results.figure(id, Quantity::BytesPerSecond(peaks[0]));
    }
    results.figure("S5.1.1-thr-copy-1K", Quantity::BytesPerSecond(saw[1].0));
    results.figure("S5.3.1-ucast-thr", Quantity::BytesPerSecond(peaks[1]));
    results.figure("S5.1.1-thr-copy-1M", Quantity::BytesPerSecond(larges[1]));
    // Noticeably: by a tenth, where without copies nothing drops.
    let drops = larges[1] < 0.9 * peaks[1] && larges[0] > 0.99 * peaks[0];
    let of = [("peak", peaks[1] / 1e6), ("1 Mbyte", larges[1] / 1e6)];
    let without = [("peak", peaks[0] / 1e6), ("1 Mbyte", larges[0] / 1e6)];
    let evidence = format!("MB/s with copy: {}; without: {}", listed(&of), listed(&without));
    results.statement("S5.1.1-copydrop", drops, evidence);
    let tooth = [("1024 bytes", saw[0].0 / 1e6), ("1025 bytes", saw[0].1 / 1e6)];
    results.statement("S5.1.1-sawtooth", saw[0].1 < saw[0].0, format!("{} MB/s", listed(&tooth)));
    let peak = megabytes(peaks[0]).unwrap_or(f64::NAN);
    results.statement("S5.1.1-bus", peak < 127.0, format!("{} Mbyte/s", short(peak)));
    Ok(())
}

/// Bytes a second in the papers' unit.
pub fn megabytes(rate: f64) -> Option<f64> {
    Quantity::BytesPerSecond(rate).in_unit("Mbyte/s")
}
