//! A packet of 4 bytes from rank to rank, step by step, as in figure 2 of sender-based-protocols.
//!
//! Both ranks are in one thread, so that nothing is counted but what the steps do. They are done in
//! batches, because reading a clock costs as much as most of them; each is a function of its own,
//! so that callgrind can be told which to count.

use anyhow::{Context, Result};
use std::hint::black_box;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_endpoint::{Node, Packets, Rank, SendPacket, WaitPolicy, network_settings};
use weft_link::Link;
use weft_link_shm::{Shm, create_memory};
use weft_protocol::{Preset, Settings};
use weft_udp::UdpSettings;

/// Packets in a batch: fewer than half a window, after which credits come back in packets of their
/// own.
const BATCH: usize = 16;
/// Bytes of a packet (figure 2).
const BYTES: [u8; 4] = [7; 4];
/// Datagrams as long as those of Ethernet.
const MTU: usize = 1500;

/// Link between the ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    /// Shared memory.
    Shm,
    /// UDP over loopback.
    Udp,
}

impl FromStr for Between {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "shm" => Ok(Between::Shm),
            "udp" => Ok(Between::Udp),
            _ => Err(format!("there are steps of shm and udp, none of '{name}'")),
        }
    }
}

/// A step: its function here, and what it does.
pub const STEPS: [(&str, &str); 5] = [
    ("allocate", "get a packet's buffer"),
    ("fill", "write the 4 bytes"),
    ("launch", "header, credit or number; the packet leaves"),
    ("look", "a look that finds nothing"),
    ("receive", "a look that finds a packet: check, account, upcall, release"),
];

/// Nanoseconds of each step, the median of all batches.
pub type Times = [f64; STEPS.len()];

#[inline(never)]
fn allocate(packets: &Packets) -> Result<SendPacket<'_>> {
    Ok(packets.packet()?)
}

#[inline(never)]
fn fill(packet: &mut SendPacket<'_>) -> Result<()> {
    packet.put(black_box(&BYTES))?;
    Ok(())
}

#[inline(never)]
fn launch(packet: SendPacket<'_>, to: Rank) -> Result<()> {
    Ok(packet.unicast(to)?)
}

#[inline(never)]
fn look(packets: &Packets) -> Result<bool> {
    Ok(packets.poll()?)
}

/// Receives with a packet there. Until its upcall has run: else the compiler makes one function of
/// both.
#[inline(never)]
fn receive(rank: &Receiver, most: u64) -> Result<()> {
    while rank.1.load(Ordering::Relaxed) < most {
        rank.0.poll()?;
    }
    Ok(())
}

/// Does all steps `batches` times.
///
/// # Errors
/// There can be no such link here, or what it says.
pub fn run(between: Between, batches: usize) -> Result<Times> {
    let ranks = match between {
        Between::Shm => in_memory()?,
        Between::Udp => over_udp()?,
    };
    let mut times: [Vec<f64>; STEPS.len()] = Default::default();
    for _ in 0..batches {
        for (times, time) in times.iter_mut().zip(batch(&ranks)?) {
            times.push(time);
        }
    }
    Ok(times.map(median))
}

/// Number of times that each step is done in `batches` batches; a look that finds packets may find
/// several.
pub fn repeated(batches: usize) -> usize {
    batches * BATCH
}

/// Nanoseconds of a packet there and one back, step after step and not in batches: the median of
/// `batches`.
///
/// # Errors
/// Those of [`run`].
pub fn round_trip(between: Between, batches: usize) -> Result<f64> {
    let ranks = match between {
        Between::Shm => in_memory()?,
        Between::Udp => over_udp()?,
    };
    let way = |from: usize| {
        let (sender, receiver) = (&ranks[from].0, &ranks[1 - from]);
        let due = receiver.1.load(Ordering::Relaxed) + 1;
        let mut packet = allocate(sender)?;
        fill(&mut packet)?;
        launch(packet, receiver.0.rank())?;
        receive(receiver, due)
    };
    let mut times = Vec::with_capacity(batches);
    for _ in 0..batches {
        let start = Instant::now();
        for _ in 0..BATCH {
            way(0)?;
            way(1)?;
        }
        times.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
    }
    Ok(median(times))
}

/// The median.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A rank, and how many packets it has had.
pub type Receiver = (Packets, Arc<AtomicU64>);

fn batch([(sender, _), receiver]: &[Receiver; 2]) -> Result<Times> {
    let mut times = [0.0; STEPS.len()];
    let mut packets = Vec::with_capacity(BATCH);
    let each = |since: Instant| since.elapsed().as_nanos() as f64 / BATCH as f64;
    let start = Instant::now();
    for _ in 0..BATCH {
        packets.push(allocate(sender)?);
    }
    times[0] = each(start);
    let start = Instant::now();
    packets.iter_mut().try_for_each(fill)?;
    times[1] = each(start);
    let start = Instant::now();
    packets.into_iter().try_for_each(|packet| launch(packet, Rank(1)))?;
    times[2] = each(start);
    let before = receiver.1.load(Ordering::Relaxed);
    let start = Instant::now();
    receive(receiver, before + BATCH as u64)?;
    times[4] = each(start);
    // What it owes, and what comes back.
    while receiver.0.poll()? {}
    while sender.poll()? {}
    let start = Instant::now();
    for _ in 0..BATCH {
        look(&receiver.0)?;
    }
    times[3] = each(start);
    Ok(times)
}

fn in_memory() -> Result<[Receiver; 2]> {
    let memory = Memory::new()?;
    Ok([memory.rank(Rank(0))?, memory.rank(Rank(1))?])
}

/// Memory that two ranks share, each of which may be a thread.
pub struct Memory {
    settings: weft_link_shm::Settings,
    file: OwnedFd,
}

impl Memory {
    /// Memory for two.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> Result<Self> {
        let settings = weft_link_shm::Settings::new(2);
        Ok(Memory { settings, file: create_memory(&settings).context("shared memory")? })
    }

    /// One of the ranks, for the thread that calls this.
    ///
    /// # Errors
    /// What the system says.
    pub fn rank(&self, rank: Rank) -> Result<Receiver> {
        let link = Shm::attach(rank, self.settings, &self.file).context("a rank's memory")?;
        Ok(packets(rank, Settings::new(2, self.settings.window_packets), link))
    }
}

fn over_udp() -> Result<[Receiver; 2]> {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).context("loopback");
    let sockets = [bind()?, bind()?];
    let peers = [sockets[0].local_addr()?, sockets[1].local_addr()?];
    let [first, second] = sockets;
    let rank = |rank, socket| {
        let link = weft_udp::attach(UdpSettings {
            socket,
            peers: peers.to_vec(),
            keys: Keys::new(Secret::new([7; 16]), 1, Rank(rank), Protection::Tagged),
            datagram_bytes: UdpSettings::datagram_bytes(MTU, &peers[0]),
            only: None,
            group: None,
            frames: 128,
            receive_frames: 512,
        })
        .context("a rank's socket")?;
        let settings = network_settings(2, Preset::Pupa, link.capabilities(), true);
        Ok::<_, anyhow::Error>(packets(Rank(rank), Settings { silence: None, ..settings }, link))
    };
    Ok([rank(0, first)?, rank(1, second)?])
}

fn packets<L: Link>(rank: Rank, settings: Settings, link: L) -> Receiver {
    let node = Arc::new(Node::new(rank, settings, link, WaitPolicy::for_ranks(2, 2)));
    let packets = Packets::new(node);
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    packets.on_packet(move |packet| {
        black_box(packet.len());
        // Nobody else writes it.
        counted.store(counted.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    (packets, count)
}

#[cfg(test)]
mod tests;
