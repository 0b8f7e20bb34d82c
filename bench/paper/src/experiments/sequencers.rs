//! Three ways to order broadcasts by a sequencer (thesis 6.6.5): GSB, which fetches a number and
//! broadcasts, PB, which sends to the sequencer, and BB, which broadcasts and has the sequencer
//! broadcast the number.

use super::broadcast;
use super::panda::{Broadcast, broadcast_latency};
use crate::claim::Claim;
use crate::cluster::{Nanoseconds, Setup, now};
use crate::experiment::Experiment;
use crate::results::{Results, listed, short};
use anyhow::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft_endpoint::{Packets, Rank, Variable};

const RANKS: u16 = 64;
const ROUNDS: usize = 8;
/// 2 ms.
const PAUSE_OPERATIONS: u64 = 100_000;
/// Rank that gives out numbers.
const SEQUENCER: Rank = Rank(0);
/// Rank that broadcasts.
const SENDER: Rank = Rank(21);

/// A way to order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Gsb,
    Pb,
    Bb,
}

/// The first byte of a packet.
const DATA: u8 = 1;
const NUMBER: u8 = 2;
const TO_SEQUENCER: u8 = 3;

/// The experiment.
pub struct Sequencers;

impl Experiment for Sequencers {
    fn name(&self) -> &'static str {
        "sequencers"
    }

    fn title(&self) -> &'static str {
        "Three ways to order broadcasts (6.6.5)"
    }

    fn notes(&self) -> &'static str {
        "PB and BB are a few lines here, on packets; Weft's own way is GSB."
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::statement("S6.6.5-bb"),
                Claim::statement("S6.6.5-small"),
                Claim::statement("S6.6.5-load"),
                Claim::statement("S6.6.5-large"),
            ]
        }
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let unordered = broadcast::latency(&Setup::lfc(RANKS), 16)?;
        let (gsb, gsb_load) = ordered(Way::Gsb)?;
        let (pb, pb_load) = ordered(Way::Pb)?;
        let (bb, bb_load) = ordered(Way::Bb)?;
        let us = [
            ("unordered", unordered / 1e3),
            ("GSB", gsb / 1e3),
            ("PB", pb / 1e3),
            ("BB", bb / 1e3),
        ];
        let evidence = format!("us for 16 bytes on 64 ranks: {}", listed(&us));
        // Twice, within a quarter.
        let twice = (bb / unordered / 2.0 - 1.0).abs() < 0.25;
        results.statement("S6.6.5-bb", twice, evidence.as_str());
        results.statement("S6.6.5-small", pb < bb, evidence);
        let evidence = format!(
            "broadcasts by the sequencer's host, of {ROUNDS}: GSB {gsb_load}, PB {pb_load}, BB {bb_load}"
        );
        results.statement("S6.6.5-load", pb_load > gsb_load, evidence);
        large(results)
    }
}

/// Nanoseconds until the last rank may deliver, and the packets that the sequencer's host sent.
fn ordered(way: Way) -> Result<(f64, u64)> {
    let ran = Setup::lfc(RANKS).run(move |packets| {
        let sent = Arc::new(AtomicU64::new(0));
        let delivered = deliver(packets, way, &sent);
        let times = || delivered.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if packets.rank() != SENDER {
            let enough = |times: &Vec<Nanoseconds>| times.len() >= ROUNDS;
            // The sequencer of BB delivers as it gives out the number.
            packets.poll_until(|| enough(&times()))?;
            return Ok((times(), sent.load(Ordering::Relaxed)));
        }
        let mut begun = Vec::new();
        for _ in 0..ROUNDS {
            packets.work(PAUSE_OPERATIONS);
            while packets.poll()? {}
            begun.push(now(packets));
            if way == Way::Gsb {
                packets.fetch_and_add(Variable { home: SEQUENCER, index: 0 }, 1)?;
            }
            let mut packet = packets.packet()?;
            packet.put(&[if way == Way::Pb { TO_SEQUENCER } else { DATA }; 16])?;
            if way == Way::Pb {
                packet.unicast(SEQUENCER)?;
            } else {
                packet.broadcast()?;
            }
        }
        Ok((begun, 0))
    })?;
    let begun = &ran.values[SENDER.index()].0;
    let others = || ran.values.iter().enumerate().filter(|(rank, _)| *rank != SENDER.index());
    let last = |round: usize| others().map(|(_, (times, _))| times[round]).max().unwrap_or(0);
    let times = begun.iter().enumerate().map(|(round, begun)| last(round) - begun);
    let mean = times.sum::<Nanoseconds>() as f64 / ROUNDS as f64;
    Ok((mean, ran.values[SEQUENCER.index()].1))
}

/// Times at which this rank could deliver. In BB that takes the message and its number.
fn deliver(packets: &Packets, way: Way, sent: &Arc<AtomicU64>) -> Arc<Mutex<Vec<Nanoseconds>>> {
    let delivered = Arc::new(Mutex::new(Vec::new()));
    let (noted, host, sent) = (Arc::clone(&delivered), packets.clone(), Arc::clone(sent));
    let (mut data, mut numbers) = (0usize, 0usize);
    packets.on_packet(move |packet| {
        let kind = packet.first().copied();
        let sequencer = host.rank() == SEQUENCER;
        if sequencer && (kind == Some(TO_SEQUENCER) || way == Way::Bb) {
            let kind = if way == Way::Bb { NUMBER } else { DATA };
            if broadcast_kind(&host, kind).is_ok() {
                sent.fetch_add(1, Ordering::Relaxed);
            }
        }
        data += usize::from(kind == Some(DATA));
        numbers += usize::from(kind == Some(NUMBER));
        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        let may = if way == Way::Bb && !sequencer { data.min(numbers) } else { noted.len() + 1 };
        if may > noted.len() {
            noted.push(now(&host));
        }
    });
    delivered
}

fn broadcast_kind(packets: &Packets, kind: u8) -> Result<()> {
    let mut packet = packets.packet()?;
    packet.put(&[kind; 16])?;
    Ok(packet.broadcast()?)
}

/// Time that ordering adds to a broadcast of 64 Kbyte.
fn large(results: &mut Results) -> Result<()> {
    let setup = Setup::lfc(RANKS);
    let time = |how| broadcast_latency(&setup, how, 64 << 10);
    let (unordered, ordered) = (time(Broadcast::Unordered)?, time(Broadcast::Ordered)?);
    let part = (ordered - unordered) / ordered;
    let evidence = format!(
        "us for 64 Kbyte: {}; {} % for the order",
        listed(&[("unordered", unordered / 1e3), ("ordered", ordered / 1e3)]),
        short(100.0 * part)
    );
    // "Dominated": nine tenths.
    results.statement("S6.6.5-large", part < 0.1, evidence);
    Ok(())
}
