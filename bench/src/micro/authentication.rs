//! Cost of authentication: round trips and streams over UDP or AF_XDP with tags on frames, in turns
//! with none and with encryption; and sealing and opening by themselves.

use crate::micro::launch::Spec;
use crate::micro::network;
use crate::micro::pair::inside::{Seat, ethernet_links, links, run};
use crate::micro::pair::wefts::PacketLine;
use crate::micro::pair::{Line, Pattern, Shape, Unit, bind_thread_to_core, measure};
use crate::micro::report::{Limit, Row};
use anyhow::{Context, Result, bail};
use std::time::Instant;
use weft_datagram::seal::{FrameKind, Keys, Protection, Seals, Secret};
use weft_endpoint::Rank;
use weft_link::Link;
use weft_netns::{Cluster, INTERFACE, Options};
use weft_wire::{Header, Tag, TreeId, envelope};

/// Limit on the round trip, as a ratio to one without tags.
const LIMIT: Limit = Limit::AtMost(1.05);
/// Messages of a sample of a stream.
const STREAM: u64 = 4096;
/// Number of every job: each has a wire to itself over AF_XDP, and sockets over UDP.
const JOB: u32 = 1;
/// Interfaces that the jobs have over AF_XDP.
const INTERFACES: [&str; 3] = [INTERFACE, "wire1", "wire2"];
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
    let link = network::link(spec);
    for (name, pattern, size) in [
        ("authentication", Pattern::PingPong, size),
        ("authentication", Pattern::PingPong, LARGE),
        ("authentication-stream", Pattern::Stream, LARGE),
    ] {
        let (count, unit) = match pattern {
            Pattern::PingPong => (100, Unit::RoundTrip),
            Pattern::Stream => (STREAM, Unit::BytesPerSecond),
        };
        let shape = Shape { pattern, size, count, unit, each: false };
        let [tagged, untagged, encrypted] = by_protection(link, &shape, spec.rounds)?;
        let others = vec![("untagged", untagged), ("encrypted", encrypted)];
        let mut row = Row::new(name, (2, size), unit.name(), tagged, others);
        row.link = link;
        row.limit = Some(LIMIT).filter(|_| pattern == Pattern::PingPong);
        row.print(spec);
    }
    bind_thread_to_core(0)?;
    for (name, protection, size) in [
        ("seal-and-open", Protection::Tagged, size),
        ("seal-and-open", Protection::Tagged, LARGE),
        ("encrypt-and-decrypt", Protection::Encrypted, LARGE),
    ] {
        let [with, without] = loops(protection, size, spec.rounds);
        let mut row = Row::new(name, (2, size), "ns", with, vec![("untagged", without)]);
        row.link = "no link";
        row.print(spec);
    }
    Ok(())
}

/// Samples of this shape over `link`: with tags, without, and with encryption.
fn by_protection(link: &'static str, shape: &Shape, rounds: usize) -> Result<[Vec<f64>; 3]> {
    let cluster = Cluster::new(2, Options::default())
        .context("this is measured between two network namespaces")?;
    let keys: [fn(Rank) -> Keys; 3] = [
        |rank| Keys::new(secret(), JOB, rank, Protection::Tagged),
        |rank| Keys::new(secret(), JOB, rank, Protection::Tagged).without_tags(),
        |rank| Keys::new(secret(), JOB, rank, Protection::Encrypted),
    ];
    if link != "xdp" {
        let jobs = keys.into_iter().map(|keys| Ok(links(&cluster, keys)?.0));
        return in_turns(jobs.collect::<Result<_>>()?, shape, rounds);
    }
    INTERFACES[1..].iter().try_for_each(|interface| cluster.add_wire(interface))?;
    let open = |(keys, interface)| ethernet_links(&cluster, interface, JOB, keys);
    let opened = keys.into_iter().zip(INTERFACES).map(open).collect::<Result<Vec<_>>>()?;
    let (jobs, _programs): (Vec<_>, Vec<_>) = opened.into_iter().unzip();
    in_turns(jobs, shape, rounds)
}

/// Samples of each job.
fn in_turns<L: Link + Send + 'static>(
    jobs: Vec<[L; 2]>,
    shape: &Shape,
    rounds: usize,
) -> Result<[Vec<f64>; 3]> {
    let (measured, _) = run(jobs, |seat: &mut Seat| {
        let Seat { end, packets, side } = seat;
        let mut lines: Vec<_> = packets.iter().map(PacketLine::new).collect();
        let mut lines: Vec<_> = lines.iter_mut().map(|line| line as &mut dyn Line).collect();
        measure(&mut lines, shape, rounds, *end, side)
    })?;
    let samples: Vec<_> = measured.into_iter().map(|line| line.samples).collect();
    samples.try_into().map_err(|_| anyhow::anyhow!("each line is measured"))
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
        sender.sealer(Rank(1)).seal(FrameKind::PACKETS, frame);
        let opened = receiver.open(frame);
        assert!(opened.is_ok(), "who shares the secret gets in");
        std::hint::black_box(frame);
    }
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

#[cfg(test)]
mod tests;
