//! Messages, calls and ordered broadcasts beside the packets under them (thesis 6.2 to 6.5, figures
//! 6.14 to 6.17).

use super::broadcast as packets_broadcast;
use super::fetch_add;
use super::inbox::{Receive, gap};
use super::unicast::{self, megabytes};
use crate::claim::Claim;
use crate::cluster::{Nanoseconds, Ran, Setup, now, work_to_receive, work_to_send};
use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::Experiment;
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed, short};
use anyhow::{Context, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft::{Port, Rank, Weft};

/// Round trips, broadcasts, calls, after as many again to warm up.
pub(crate) const ROUNDS: usize = 8;
/// Long enough for a broadcast to reach everybody: 2 ms.
pub(crate) const PAUSE_OPERATIONS: u64 = 100_000;

/// Payloads of figure 6.16: with all headers the last is one packet still, ordered or not.
const BROADCAST_SIZES: [usize; 4] = [0, 256, 512, 960];

/// Cost of a message beside its packets.
const INSTRUCTIONS: &str = "A message costs its host what its packets, 16 bytes of header and copies do, and the instructions that Weft \
    takes for it besides, 626 by `make count` (`bench/instructions.toml`), each a cycle of a Pentium Pro at 200 MHz (1.6.2): 3.1 us. \
    That it does one a cycle, of three at most, is assumed.";
/// Reason why broadcasts add so little.
const PANDA_DOES_MORE: &str = "Weft's instructions for a message are 3.1 us of it; what else Panda does for a broadcast, the thesis does \
    not say";

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[Counter {
    ids: &["S6.5.2-unordered"],
    turned: "a message costs 5 us at its two ends, as Panda's do (6.5.1), not 3.1",
    conditions: Conditions { message: [500, 500], ..Conditions::STATED },
}];

/// The experiment.
pub struct Panda;

impl Experiment for Panda {
    fn name(&self) -> &'static str {
        "panda"
    }

    fn title(&self) -> &'static str {
        "Messages, calls and ordered broadcasts (6.2 to 6.5, 8.5.10, figures 6.14 to 6.17)"
    }

    fn notes(&self) -> &'static str {
        INSTRUCTIONS
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("S6.5.1-overhead"),
                Claim::statement("S6.5.1-1024"),
                Claim::statement("S6.5.1-1024pkts"),
                Claim::statement("S6.5.1-1024lfc"),
                Claim::statement("S6.5.1-thr-small"),
                Claim::statement("S6.5.1-thr-peak"),
                Claim::figure("S6.5.2-unordered").misses(PANDA_DOES_MORE),
                Claim::statement("S6.5.2-const"),
                Claim::figure("S6.5.2-ordered-64"),
                Claim::statement("S6.5.2-thr-small"),
                Claim::statement("S6.5.2-thr-large"),
                Claim::statement("S6.2.2-mix"),
                Claim::statement("S6.2.3-inline"),
                Claim::statement("S6.3-multi"),
                Claim::other("S8.5.10-pkts").absolute(0.0),
            ]
        }
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        latencies(results)?;
        counts(results)?;
        throughputs(results)?;
        broadcast_latencies(results)?;
        broadcast_throughputs(results)?;
        mix(results)?;
        inline(results)?;
        pipeline(results)
    }
}

/// Times at which messages had been read whole, with the copy that every client makes of each
/// packet as it comes (thesis 6.5.2).
#[derive(Clone, Default)]
pub struct Read(Arc<Mutex<Vec<Nanoseconds>>>);

impl Read {
    /// A port whose handler reads each message, and notes when it had.
    ///
    /// # Errors
    /// Those of [`Weft::port`].
    pub fn port(&self, weft: &Weft) -> Result<Port> {
        let (read, packets) = (self.clone(), weft.packets().clone());
        Ok(weft.port("read", move |mut message| {
            if message.read_pieces(|bytes| packets.copied(bytes)).is_ok() {
                work_to_receive(&packets);
                read.note(now(&packets));
            }
        })?)
    }

    /// One more was read.
    pub fn note(&self, time: Nanoseconds) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(time);
    }

    /// The times so far.
    pub fn times(&self) -> Vec<Nanoseconds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Polls until `count` are read.
    ///
    /// # Errors
    /// Those of [`Weft::poll_until`].
    pub fn wait(&self, weft: &Weft, count: usize) -> Result<()> {
        let enough = || self.0.lock().unwrap_or_else(PoisonError::into_inner).len() >= count;
        Ok(weft.poll_until(enough)?)
    }
}

/// Nanoseconds one way of a message of `bytes` bytes.
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn one_way(setup: &Setup, bytes: usize) -> Result<f64> {
    let ran = setup.run_messages(move |weft| {
        let read = Read::default();
        let port = read.port(weft)?;
        weft.barrier()?;
        let (message, other) = (vec![7; bytes], Rank(1 - weft.rank().0));
        let mut start = 0;
        for round in 0..2 * ROUNDS {
            if round == ROUNDS {
                start = now(weft.packets());
            }
            let send = || {
                work_to_send(weft.packets());
                port.send(other, &message)
            };
            if weft.rank() == Rank(0) {
                send()?;
            }
            read.wait(weft, round + 1)?;
            if weft.rank() == Rank(1) {
                send()?;
            }
        }
        let time = now(weft.packets()) - start;
        weft.barrier()?;
        Ok(time as f64 / (2 * ROUNDS) as f64)
    })?;
    Ok(ran.values[0])
}

/// Figure 6.14.
fn latencies(results: &mut Results) -> Result<()> {
    let setup = Setup::lfc(2);
    let axes = (("bytes", Scale::Linear), ("us", Scale::Linear));
    let title = "One-way latency of messages (figure 6.14)";
    let mut plot = Plot::new("panda-latency", title, axes.0, axes.1);
    let (mut messages, mut packets) = (Vec::new(), Vec::new());
    for bytes in [0, 16, 256, 512, 1000, 1024] {
        messages.push((bytes as f64, one_way(&setup, bytes)? / 1e3));
        packets.push((bytes as f64, unicast::one_way(&setup, bytes, Receive::Copy)? / 1e3));
    }
    let added: Vec<f64> = messages.iter().zip(&packets).map(|(m, p)| m.1 - p.1).collect();
    plot.line("messages", messages);
    plot.line("packets, copy", packets);
    results.plot(plot);
    results.figure("S6.5.1-overhead", Quantity::Nanoseconds(added[0] * 1e3));
    let last = added.len() - 1;
    let holds = added[..last].iter().all(|small| *small < added[last]);
    let evidence = format!(
        "us added: at 0 bytes {}, at 1000 {}, at 1024 {}",
        short(added[0]),
        short(added[last - 1]),
        short(added[last])
    );
    results.statement("S6.5.1-1024", holds, evidence);
    Ok(())
}

/// Packets of one message of `bytes` bytes.
fn packets_of(bytes: usize) -> Result<u64> {
    let sent = |messages: usize| -> Result<u64> {
        Ok(messages_one_way(&Setup::lfc(2), bytes, messages)?.statistics[0].protocol.packets_sent)
    };
    Ok(sent(2)? - sent(1)?)
}

/// Rank 0 sends `messages` of `bytes` bytes to rank 1: when each was read.
fn messages_one_way(setup: &Setup, bytes: usize, messages: usize) -> Result<Ran<Vec<Nanoseconds>>> {
    setup.run_messages(move |weft| {
        let read = Read::default();
        let port = read.port(weft)?;
        weft.barrier()?;
        if weft.rank() == Rank(0) {
            for _ in 0..messages {
                work_to_send(weft.packets());
                port.send(Rank(1), &vec![7; bytes])?;
            }
        } else {
            read.wait(weft, messages)?;
        }
        weft.barrier()?;
        Ok(read.times())
    })
}

fn counts(results: &mut Results) -> Result<()> {
    let message = packets_of(1024)?;
    results.statement("S6.5.1-1024pkts", message == 2, format!("{message} packets"));
    let lfc = Setup::lfc(2).run(|packets| {
        let inbox = super::inbox::Inbox::open(packets);
        if packets.rank() == 0 {
            unicast::send_message(&[7; 1024], |part| unicast::send(packets, Rank(1), part))?;
        } else {
            drop(inbox.next()?);
        }
        Ok(())
    })?;
    let sent = lfc.statistics[0].protocol.packets_sent;
    results.statement("S6.5.1-1024lfc", sent == 1, format!("{sent} packet"));
    results.figure("S8.5.10-pkts", Quantity::Count(packets_of(12 << 10)? as f64));
    Ok(())
}

/// Bytes a second of a stream of messages of `bytes` bytes.
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn stream(setup: &Setup, bytes: usize) -> Result<f64> {
    let messages = ((1 << 20) / bytes.max(1)).clamp(16, 512);
    let ran = messages_one_way(setup, bytes, messages)?;
    Ok(bytes as f64 / gap(&ran.values[1]) * 1e9)
}

/// Figure 6.15.
fn throughputs(results: &mut Results) -> Result<()> {
    let setup = Setup::lfc(2);
    let axes = (("bytes", Scale::Logarithmic), ("Mbyte/s", Scale::Linear));
    let title = "One-way throughput of messages (figure 6.15)";
    let mut plot = Plot::new("panda-throughput", title, axes.0, axes.1);
    let mut curve = Vec::new();
    for bytes in [64, 256, 512, 1000, 2000, 4000, 16_000, 64_000] {
        curve.push((bytes as f64, megabytes(stream(&setup, bytes)?).context("a rate")?));
    }
    let peak = curve.iter().fold(0.0, |peak: f64, point| peak.max(point.1));
    let single = curve[..4].iter().fold(0.0, |peak: f64, point| peak.max(point.1));
    let evidence =
        format!("Mbyte/s: {}", listed(&[("one packet at most", single), ("peak", peak)]));
    // Reached is what comes within a hundredth.
    results.statement("S6.5.1-thr-peak", single < 0.99 * peak, evidence);
    let lfc = unicast::stream_rate(&setup, 512, Receive::Copy)?;
    let named = [("messages", curve[2].1), ("packets", megabytes(lfc).context("a rate")?)];
    results.ascending("S6.5.1-thr-small", &named);
    plot.line("messages", curve);
    results.plot(plot);
    Ok(())
}

/// Kind of broadcast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broadcast {
    /// A port's.
    Unordered,
    /// An order's.
    Ordered,
}

/// Rank that broadcasts: not the home of the order's numbers.
pub(crate) const SENDER: Rank = Rank(1);

/// Sends `messages` of `bytes` bytes from rank 1, with pauses or as fast as they go: when each was
/// begun, and when everybody else had read it.
fn broadcasts(
    setup: &Setup,
    how: Broadcast,
    bytes: usize,
    messages: usize,
    pause: u64,
) -> Result<Ran<Vec<Nanoseconds>>> {
    setup.run_messages(move |weft| {
        let read = Read::default();
        let port = read.port(weft)?;
        let (noted, packets) = (read.clone(), weft.packets().clone());
        let order = weft.order("ordered", move |mut message| {
            // The sender has what it sent.
            let mut read = || message.read_pieces(|bytes| packets.copied(bytes));
            if packets.rank() != SENDER && read().is_ok() {
                work_to_receive(&packets);
                noted.note(now(&packets));
            }
        })?;
        weft.barrier()?;
        if weft.rank() != SENDER {
            read.wait(weft, messages)?;
            weft.barrier()?;
            return Ok(read.times());
        }
        let message = vec![7; bytes];
        let mut begun = Vec::new();
        for _ in 0..messages {
            weft.work(pause);
            while weft.poll()? {}
            begun.push(now(weft.packets()));
            work_to_send(weft.packets());
            match how {
                Broadcast::Unordered => port.broadcast(&message)?,
                Broadcast::Ordered => drop(order.broadcast(&message)?),
            }
        }
        weft.barrier()?;
        Ok(begun)
    })
}

/// Nanoseconds from the sender to the last reader.
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn broadcast_latency(setup: &Setup, how: Broadcast, bytes: usize) -> Result<f64> {
    to_last_reader(&broadcasts(setup, how, bytes, 2 * ROUNDS, PAUSE_OPERATIONS)?)
}

/// Bytes a second at which the slowest reader gets messages of `bytes` bytes.
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn broadcast_rate(setup: &Setup, how: Broadcast, bytes: usize) -> Result<f64> {
    Ok(slowest_rate(&broadcasts(setup, how, bytes, in_a_row(bytes), 0)?, bytes))
}

/// Broadcasts of `bytes` bytes that are enough to tell their rate.
pub(crate) fn in_a_row(bytes: usize) -> usize {
    ((256 << 10) / bytes.max(1)).clamp(8, 64)
}

/// Nanoseconds from the sender to the last reader, of the last half of all broadcasts.
pub(crate) fn to_last_reader(ran: &Ran<Vec<Nanoseconds>>) -> Result<f64> {
    let begun = &ran.values[SENDER.index()];
    let last = |round: usize| readers(ran).filter_map(|times| times.get(round)).max();
    let rounds = begun.len() / 2..begun.len();
    let times = rounds.clone().map(|round| Some(last(round)? - begun[round]));
    let sum: Nanoseconds = times.sum::<Option<_>>().context("somebody read each broadcast")?;
    Ok(sum as f64 / rounds.len() as f64)
}

/// Bytes a second at which the slowest reader got broadcasts of `bytes` bytes.
pub(crate) fn slowest_rate(ran: &Ran<Vec<Nanoseconds>>, bytes: usize) -> f64 {
    let slowest = readers(ran).map(|times| gap(times)).fold(0.0, f64::max);
    bytes as f64 / slowest * 1e9
}

/// Times of each rank that read what the sender broadcast.
fn readers(ran: &Ran<Vec<Nanoseconds>>) -> impl Iterator<Item = &Vec<Nanoseconds>> {
    let others = ran.values.iter().enumerate().filter(|(rank, _)| *rank != SENDER.index());
    others.map(|(_, times)| times)
}

/// Figure 6.16.
fn broadcast_latencies(results: &mut Results) -> Result<()> {
    let axes = (("bytes", Scale::Linear), ("us", Scale::Linear));
    let title = "Broadcast latency of messages (figure 6.16)";
    let mut plot = Plot::new("panda-broadcast-latency", title, axes.0, axes.1);
    let fetch_add = fetch_add::latency(&Setup::lfc(64), |rank| rank == SENDER)? / 1e3;
    for ranks in [16, 64] {
        let setup = Setup::lfc(ranks);
        let mut curves = [Vec::new(), Vec::new(), Vec::new()];
        for bytes in BROADCAST_SIZES {
            let times = [
                packets_broadcast::latency(&setup, bytes)?,
                broadcast_latency(&setup, Broadcast::Unordered, bytes)?,
                broadcast_latency(&setup, Broadcast::Ordered, bytes)?,
            ];
            for (curve, time) in curves.iter_mut().zip(times) {
                curve.push((bytes as f64, time / 1e3));
            }
        }
        if ranks == 64 {
            let [packets, unordered, ordered] = &curves;
            let added: Vec<f64> = ordered.iter().zip(unordered).map(|(o, u)| o.1 - u.1).collect();
            results.figure(
                "S6.5.2-unordered",
                Quantity::Nanoseconds((unordered[0].1 - packets[0].1) * 1e3),
            );
            results.figure("S6.5.2-ordered-64", Quantity::Nanoseconds(added[0] * 1e3));
            // Constant, and as long as a fetch-and-add: within 15 percent.
            let near = |a: f64, b: f64| (a - b).abs() <= 0.15 * b;
            let holds = added.iter().all(|time| near(*time, added[0])) && near(added[0], fetch_add);
            let all: Vec<String> = added.iter().map(|time| short(*time)).collect();
            let evidence = format!(
                "us at 0, 256, 512, 960 bytes: {}; a fetch-and-add {}",
                all.join(", "),
                short(fetch_add)
            );
            results.statement("S6.5.2-const", holds, evidence);
        }
        for (name, curve) in ["packets", "unordered", "ordered"].into_iter().zip(curves) {
            plot.line(format!("{name}, {ranks}"), curve);
        }
    }
    results.plot(plot);
    Ok(())
}

/// Figure 6.17.
fn broadcast_throughputs(results: &mut Results) -> Result<()> {
    let (mut lower, mut reached) = (true, true);
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for ranks in [16, 64] {
        let setup = Setup::lfc(ranks);
        for bytes in [256, 1000, 4000] {
            let unordered = broadcast_rate(&setup, Broadcast::Unordered, bytes)? / 1e6;
            let ordered = broadcast_rate(&setup, Broadcast::Ordered, bytes)? / 1e6;
            lower &= ordered < unordered;
            small.push(format!("{ranks}, {bytes}: {}, {}", short(ordered), short(unordered)));
        }
        let ordered = broadcast_rate(&setup, Broadcast::Ordered, 64 << 10)? / 1e6;
        let senders = packets_broadcast::Senders::One;
        let lfc = packets_broadcast::blast(&setup, 64 << 10, 8, senders)?.rate / 1e6;
        reached &= ordered > 0.9 * lfc;
        large.push(format!("{ranks}: {}, {}", short(ordered), short(lfc)));
    }
    let evidence = format!("MB/s ordered and unordered, by ranks and bytes: {}", small.join("; "));
    results.statement("S6.5.2-thr-small", lower, evidence);
    let evidence = format!("MB/s ordered and of packets, 64 Kbyte: {}", large.join("; "));
    results.statement("S6.5.2-thr-large", reached, evidence);
    Ok(())
}

/// A rank that calls and waits polls; one that computes meanwhile is interrupted by requests.
fn mix(results: &mut Results) -> Result<()> {
    let ran = Setup::lfc(2).with_interrupts().run_messages(|weft| {
        let service = weft.service("echo", |request| {
            // A caller that is gone needs no answer.
            let _ = request.reply(&[7; 8]);
        })?;
        let client = weft.client("echo")?;
        weft.barrier()?;
        let before = weft.statistics().interrupts;
        if weft.rank() == Rank(0) {
            for _ in 0..ROUNDS {
                drop(client.call(Rank(1), &[7; 8])?.wait()?);
            }
        } else {
            (0..2 * ROUNDS).for_each(|_| weft.work(PAUSE_OPERATIONS / 10));
        }
        let interrupts = weft.statistics().interrupts - before;
        weft.barrier()?;
        drop(service);
        Ok(interrupts)
    })?;
    let (caller, server) = (ran.values[0], ran.values[1]);
    let evidence = format!(
        "{ROUNDS} calls: {caller} interrupts at the caller, {server} at the one who computes"
    );
    results.statement("S6.2.2-mix", caller == 0 && server >= ROUNDS as u64, evidence);
    Ok(())
}

/// Handlers that wait become continuations; those that do not, nothing.
fn inline(results: &mut Results) -> Result<()> {
    let continuations = |waits: bool| -> Result<u64> {
        let ran = Setup::lfc(2).run_messages(move |weft| {
            let handled = Arc::new(AtomicUsize::new(0));
            let (counted, own) = (Arc::clone(&handled), weft.clone());
            let port = weft.concurrent_port("handled", move |_| {
                let (counted, own) = (Arc::clone(&counted), own.clone());
                async move {
                    if waits {
                        own.sleep(std::time::Duration::from_micros(50)).await;
                    }
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            })?;
            weft.barrier()?;
            if weft.rank() == Rank(0) {
                (0..ROUNDS).try_for_each(|_| port.send(Rank(1), &[7; 8]))?;
            } else {
                weft.poll_until(|| handled.load(Ordering::Relaxed) >= ROUNDS)?;
            }
            weft.barrier()?;
            Ok(weft.statistics().continuations)
        })?;
        Ok(ran.values[1])
    };
    let (waiting, prompt) = (continuations(true)?, continuations(false)?);
    let evidence = format!(
        "of {ROUNDS} handlers that wait {waiting} became continuations, of {ROUNDS} that do not {prompt}"
    );
    results.statement("S6.2.3-inline", prompt == 0 && waiting == ROUNDS as u64, evidence);
    Ok(())
}

/// Nanoseconds until a message is worked through, piece by piece as it arrives or once it is whole.
fn worked_through(bytes: usize, streams: bool) -> Result<f64> {
    let ran = Setup::lfc(2).run_messages(move |weft| {
        let box_of = weft.mailbox("work")?;
        weft.barrier()?;
        let start = now(weft.packets());
        if weft.rank() == Rank(0) {
            weft.sender("work")?.send(Rank(1), &vec![7; bytes])?;
            weft.barrier()?;
            return Ok(start);
        }
        let mut message = box_of.receive()?;
        // 10 ns a byte, read where it is or when all of it is there.
        let work = |bytes: usize| weft.work(bytes as u64 / 2);
        if streams {
            while message.remaining() > 0 {
                let chunk = message.chunk()?.len();
                work(chunk);
                message.consume(chunk);
            }
        } else {
            work(message.read_to_vec()?.len());
        }
        let end = now(weft.packets());
        drop(message);
        weft.barrier()?;
        Ok(end)
    })?;
    Ok((ran.values[1] - ran.values[0]) as f64)
}

/// Streams gain where a message is several packets.
fn pipeline(results: &mut Results) -> Result<()> {
    let gain =
        |bytes| -> Result<f64> { Ok(worked_through(bytes, false)? / worked_through(bytes, true)?) };
    let (small, large) = (gain(900)?, gain(16 << 10)?);
    let evidence = format!(
        "times as long when it is read whole: 900 bytes {}, 16 Kbyte {}",
        short(small),
        short(large)
    );
    results.statement("S6.3-multi", small < 1.01 && large > 1.1, evidence);
    Ok(())
}
