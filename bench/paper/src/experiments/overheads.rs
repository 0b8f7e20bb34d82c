//! Overheads of packets besides their way: buffers, polls, interrupts, timers, and answers to
//! requests for numbers (thesis 2.6, 5.1.1, 5.1.3, 5.4, 6.2.2, 6.4).

use super::fetch_add;
use super::inbox::{Arrivals, Inbox, Receive};
use super::unicast::{loggp, one_way, send};
use crate::claim::Claim;
use crate::cluster::{Nanoseconds, Setup, now};
use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::Experiment;
use crate::results::{Quantity, Results, listed, short};
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft_endpoint::{Packets, Rank, Variable};
use weft_simulator::Preset;

const ROUNDS: usize = 16;
/// Long enough for a packet to arrive: 200 us.
const PAUSE_OPERATIONS: u64 = 10_000;

/// The shortest delay before an interrupt; what it is does not count.
const SOONEST: Duration = Duration::from_micros(1);

/// Reason why allocating takes too long.
const ALL_OF_G: &str = "the machine has it from the big gap of table 5.1, which leaves 0.52 us of a full packet's time at the \
    sender for all that is neither o_s nor bytes";
/// Reason why a poll takes too long.
const POLL_IS_O_R: &str = "it is o_r of table 5.1 less nothing: the machine does not tell what a poll does from what the packet \
    layer does to the packet it found, up to the upcall";

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[
    Counter {
        ids: &["S5.1.1-alloc"],
        turned: "0.12 us of allocating belong to the launch",
        conditions: Conditions {
            machine: "host.allocate_ns = 399\nhost.launch_ns = 1538",
            ..Conditions::STATED
        },
    },
    Counter {
        ids: &["S6.2.2-poll"],
        turned: "1.2 us of what a host does with a packet come after the upcall",
        conditions: Conditions {
            machine: "host.process_ns = 926\nhost.release_ns = 1900",
            ..Conditions::STATED
        },
    },
];

/// The experiment.
pub struct Overheads;

impl Experiment for Overheads {
    fn name(&self) -> &'static str {
        "overheads"
    }

    fn title(&self) -> &'static str {
        "Buffers, polls, interrupts, timers (2.6, 5.1.1, 5.1.3, 5.4, 6.2.2, 6.4)"
    }

    fn notes(&self) -> &'static str {
        "What a release and an interrupt cost the machine was told (its file says where), so that `S5.1.1-free` and \
        `S5.1.3-intr` show only that nothing comes on top."
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("S5.1.1-alloc").misses(ALL_OF_G),
                Claim::figure("S5.1.1-free"),
                Claim::figure("S5.1.3-intr"),
                Claim::statement("S5.1.3-intr-ratio"),
                Claim::statement("S2.6-timers"),
                Claim::figure("S6.2.2-poll").misses(POLL_IS_O_R),
                Claim::statement("S6.2.2-order"),
                Claim::figure("S6.4-roundtrip"),
                Claim::statement("S6.4-fa-order"),
                Claim::statement("S6.4-interrupts"),
                Claim::statement("S5.4-fa"),
            ]
        }
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let setup = Setup::lfc(2);
        let (allocate, release) = buffers(&setup)?;
        results.figure("S5.1.1-alloc", Quantity::Nanoseconds(allocate));
        results.figure("S5.1.1-free", Quantity::Nanoseconds(release));
        interrupts(results)?;
        timers(results)?;
        sequencers(results)
    }
}

/// Nanoseconds to get a send packet and to give a received one back.
fn buffers(setup: &Setup) -> Result<(f64, f64)> {
    let ranks = setup.run(|packets| {
        let inbox = Inbox::open(packets);
        let mut spent = 0;
        for _ in 0..ROUNDS {
            if packets.rank() == 0 {
                let start = now(packets);
                let packet = packets.packet()?;
                spent += now(packets) - start;
                packet.unicast(Rank(1))?;
                drop(inbox.next()?);
            } else {
                let packet = inbox.next()?;
                let start = now(packets);
                drop(packet);
                spent += now(packets) - start;
                send(packets, Rank(0), &[])?;
            }
        }
        Ok(spent as f64 / ROUNDS as f64)
    })?;
    Ok((ranks.values[0], ranks.values[1]))
}

/// Nanoseconds from the launch of an empty packet until its receiver has it, who polls, or computes
/// and is interrupted at once.
fn null_latency(polls: bool) -> Result<f64> {
    let interrupt_delay = (!polls).then_some(SOONEST);
    let setup = Setup { interrupt_delay, ..Setup::lfc(2) };
    let ranks = setup.run(move |packets| {
        let arrivals = Arrivals::note(packets, Receive::NoTouch);
        if packets.rank() == 1 {
            if polls {
                arrivals.wait(ROUNDS)?;
            }
            while arrivals.times().len() < ROUNDS {
                packets.work(PAUSE_OPERATIONS);
            }
            return Ok(arrivals.times());
        }
        let mut launches = Vec::new();
        for _ in 0..ROUNDS {
            let packet = packets.packet()?;
            packets.work(PAUSE_OPERATIONS);
            launches.push(now(packets));
            packet.unicast(Rank(1))?;
        }
        Ok(launches)
    })?;
    let pairs = ranks.values[0].iter().zip(&ranks.values[1]);
    let sum: Nanoseconds = pairs.map(|(launched, arrived)| arrived - launched).sum();
    Ok(sum as f64 / ROUNDS as f64)
}

fn interrupts(results: &mut Results) -> Result<()> {
    let (polled, interrupted) = (null_latency(true)?, null_latency(false)?);
    let overhead = interrupted - SOONEST.as_nanos() as f64 - polled;
    results.figure("S5.1.3-intr", Quantity::Nanoseconds(overhead));
    let times = [("null latency", polled / 1e3), ("interrupt", overhead / 1e3)];
    results.statement(
        "S5.1.3-intr-ratio",
        overhead > 2.0 * polled,
        format!("us: {}", listed(&times)),
    );
    let poll = loggp(&Setup::lfc(2))?.receive_overhead;
    results.figure("S6.2.2-poll", Quantity::Nanoseconds(poll));
    let times = [("poll", poll / 1e3), ("interrupt", overhead / 1e3)];
    // "Much" is read as a fifth.
    results.statement("S6.2.2-order", poll < overhead / 5.0, format!("us: {}", listed(&times)));
    Ok(())
}

/// Time that retransmission adds to a packet's way and to the gap.
fn timers(results: &mut Results) -> Result<()> {
    /// "Typically no more than a few microseconds" is read as four.
    const FEW: f64 = 4e3;
    let of = |preset| loggp(&Setup::version(preset, 2));
    let (nrx, irx, hrx) = (of(Preset::NrxImc)?, of(Preset::IrxImc)?, of(Preset::HrxHmc)?);
    let added = [
        ("irx, latency", irx.sum() - nrx.sum()),
        ("irx, gap", irx.gap - nrx.gap),
        ("hrx, latency", hrx.sum() - nrx.sum()),
        ("hrx, gap", hrx.gap - nrx.gap),
    ];
    let holds = added.iter().all(|(_, time)| (0.0..FEW).contains(time));
    let added = added.map(|(name, time)| (name, time / 1e3));
    results.statement("S2.6-timers", holds, format!("us added: {}", listed(&added)));
    Ok(())
}

/// Level that gives out numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sequencer {
    Ni,
    Host,
}

/// Numbers that one rank asks for, while the sequencer computes with interrupts on, or polls:
/// nanoseconds for each, and interrupts at the sequencer.
fn numbers(sequencer: Sequencer, polls: bool) -> Result<(f64, u64)> {
    const HOME: Rank = Rank(0);
    let setup = if polls { Setup::lfc(2) } else { Setup::lfc(2).with_interrupts() };
    let ran = setup.run(move |packets| {
        let got = serve(packets, HOME);
        if packets.rank() == HOME {
            if polls && sequencer == Sequencer::Host {
                packets.poll_until(|| got.load(Ordering::Relaxed) >= ROUNDS as u64)?;
            }
            for _ in 0..if polls { 0 } else { 4 * ROUNDS } {
                packets.work(PAUSE_OPERATIONS);
            }
            return Ok(0.0);
        }
        let start = now(packets);
        for round in 1..=ROUNDS as u64 {
            match sequencer {
                Sequencer::Ni => {
                    packets.fetch_and_add(Variable { home: HOME, index: 0 }, 1)?;
                }
                Sequencer::Host => {
                    send(packets, HOME, &[7; 8])?;
                    packets.poll_until(|| got.load(Ordering::Relaxed) >= round)?;
                }
            }
        }
        Ok((now(packets) - start) as f64 / ROUNDS as f64)
    })?;
    Ok((ran.values[1], ran.statistics[0].interrupts))
}

/// A host that answers requests with numbers; counts the answers that come back.
fn serve(packets: &Packets, home: Rank) -> Arc<AtomicU64> {
    let (counter, host) = (Arc::new(AtomicU64::new(0)), packets.clone());
    let count = Arc::clone(&counter);
    packets.on_packet(move |packet| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        if host.rank() == home {
            let source = packet.source();
            // The one who asks waits for nothing else: an answer always finds a buffer.
            let _ = send(&host, source, &number.to_le_bytes());
        }
    });
    counter
}

fn sequencers(results: &mut Results) -> Result<()> {
    let setup = Setup::lfc(2);
    let round_trip = 2.0 * one_way(&setup, 0, Receive::NoTouch)?;
    results.figure("S6.4-roundtrip", Quantity::Nanoseconds(round_trip));
    let fetch_add = fetch_add::latency(&setup, |rank| rank != Rank(0))?;
    let times = [("fetch-and-add", fetch_add / 1e3), ("round trip", round_trip / 1e3)];
    results.ascending("S6.4-fa-order", &times);
    let (_, by_ni) = numbers(Sequencer::Ni, false)?;
    let (_, by_host) = numbers(Sequencer::Host, false)?;
    let evidence = format!(
        "{ROUNDS} numbers of a rank that computes: {by_ni} interrupts with its NI's, {by_host} with its host's"
    );
    results.statement("S6.4-interrupts", by_ni < by_host, evidence);
    let (ni, host) = (numbers(Sequencer::Ni, true)?.0, numbers(Sequencer::Host, true)?.0);
    let evidence = format!(
        "a number from the NI {} us, from a host that polls {} us; interrupts {by_ni} and {by_host}",
        short(ni / 1e3),
        short(host / 1e3)
    );
    // "Not much faster" is read as more than half of the time.
    let holds = ni < host && ni > host / 2.0 && by_ni == 0;
    results.statement("S5.4-fa", holds, evidence);
    Ok(())
}
