//! Cost of authentication: a round trip over UDP with tags on frames, in turns with one without;
//! and sealing and opening by themselves.

use crate::launch::Spec;
use crate::pair::inside::{Seat, links, run};
use crate::pair::wefts::PacketLine;
use crate::pair::{Line, Pattern, Shape, Unit, bind_thread_to_core, measure};
use crate::report::{Limit, Row};
use anyhow::{Context, Result, bail};
use std::time::Instant;
use weft_endpoint::Rank;
use weft_netns::{Cluster, Options};
use weft_seal::{Keys, Kind, Protection, Seals, Secret};
use weft_wire::{Header, Tag, TreeId, envelope};

/// Limit on the round trip, as a ratio to one without tags.
const LIMIT: Limit = Limit::AtMost(1.05);
/// User bytes of a packet that fills a frame on Ethernet, as a round number.
const LARGE: usize = 1400;
/// Frames of a sample in the loop: several microseconds each.
const BATCH: u32 = 64;

/// Measures, and prints.
///
/// # Errors
/// There can be no hosts here, or the two ends lost each other.
pub fn measure_all(spec: &Spec) -> Result<()> {
    let size = spec.size();
    if !(1..=LARGE).contains(&size) {
        bail!("--size {size} is outside 1 to {LARGE} bytes for this benchmark");
    }
    let [tagged, untagged] = round_trips(size, spec.rounds)?;
    let mut row = Row::new("authentication", (2, size), "ns", tagged, vec![("untagged", untagged)]);
    row.link = "udp";
    row.limit = Some(LIMIT);
    row.print(spec.json);
    bind_thread_to_core(0)?;
    for (name, protection, size) in [
        ("seal-and-open", Protection::Tagged, size),
        ("seal-and-open", Protection::Tagged, LARGE),
        ("encrypt-and-decrypt", Protection::Encrypted, LARGE),
    ] {
        let [with, without] = loops(protection, size, spec.rounds);
        let mut row = Row::new(name, (2, size), "ns", with, vec![("untagged", without)]);
        row.link = "no link";
        row.print(spec.json);
    }
    Ok(())
}

/// Rounds of 100 round trips each with tags, and without.
fn round_trips(size: usize, rounds: usize) -> Result<[Vec<f64>; 2]> {
    let cluster = Cluster::new(2, Options::default())
        .context("this is measured between two network namespaces")?;
    let keys = |rank| Keys::new(secret(), 1, rank, Protection::Tagged);
    let (tagged, _) = links(&cluster, keys)?;
    let (untagged, _) = links(&cluster, |rank| keys(rank).without_tags())?;
    let shape =
        Shape { pattern: Pattern::PingPong, size, count: 100, unit: Unit::RoundTrip, each: false };
    let (measured, _) = run(vec![tagged, untagged], |seat: &mut Seat| {
        let Seat { end, packets, side } = seat;
        let [mut tagged, mut untagged] = [0, 1].map(|job| PacketLine::new(&packets[job]));
        let lines: &mut [&mut dyn Line] = &mut [&mut tagged, &mut untagged];
        measure(lines, &shape, rounds, *end, side)
    })?;
    let mut samples = measured.into_iter().map(|line| line.samples);
    let mut next = || samples.next().context("each line is measured");
    Ok([next()?, next()?])
}

fn secret() -> Secret {
    Secret::new([7; 16])
}

/// Nanoseconds for sealing a frame with one packet and opening it: with tags and without, in turns.
fn loops(protection: Protection, size: usize, rounds: usize) -> [Vec<f64>; 2] {
    let keys = |rank| Keys::new(secret(), 1, Rank(rank), protection);
    let mut with = [0, 1].map(|rank| Seals::new(keys(rank), 2));
    let mut without = [0, 1].map(|rank| Seals::new(keys(rank).without_tags(), 2));
    let layout = layout(size, protection);
    let mut figures = [Vec::with_capacity(rounds), Vec::with_capacity(rounds)];
    for round in 0..=rounds {
        for (seals, figures) in [&mut with, &mut without].into_iter().zip(&mut figures) {
            let figure = one_sample(seals, &layout);
            if round > 0 {
                figures.push(figure);
            }
        }
    }
    figures
}

/// A frame with one packet of rank 0, not sealed yet.
fn layout(size: usize, protection: Protection) -> Vec<u8> {
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
    let mut frame =
        vec![0; envelope::SIZE + envelope::packet_bytes(size) + protection.trailer_bytes()];
    envelope::put(&mut frame[envelope::SIZE..], &header, &vec![7; size]);
    frame
}

fn one_sample([sender, receiver]: &mut [Seals; 2], layout: &[u8]) -> f64 {
    // Encryption changes a frame, so that each starts as a copy.
    let mut frames = vec![layout.to_vec(); BATCH as usize];
    let start = Instant::now();
    for frame in &mut frames {
        sender.sealer(Rank(1)).seal(Kind::PACKETS, frame);
        let opened = receiver.open(frame);
        assert!(opened.is_ok(), "who shares the secret gets in");
        std::hint::black_box(frame);
    }
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

#[cfg(test)]
mod tests;
