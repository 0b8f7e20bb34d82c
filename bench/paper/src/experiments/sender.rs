//! The send and the receive path, step by step (sender-based-protocols 3 and 6.2, figures 2 to 4),
//! on the machine that runs this: the orders of the paper, and its figures as shares.
//!
//! What a step took a PA-RISC at 66 MHz is nothing that Weft can predict. What part of the whole it
//! was may be; such a share is shown in the paper's unit, as the same part of the paper's whole.

mod block;

use crate::claim::Claim;
use crate::experiment::{Experiment, Setting};
use crate::results::{Quantity, Results, short};
use crate::targets::Targets;
use crate::today::steps::{Between, Times, median, round_trip, run};
use anyhow::{Context, Result};
use std::hint::black_box;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Instant;
use weft_datagram::seal::{FrameKind, Keys, Protection, Seals, Secret};
use weft_endpoint::Rank;
use weft_wire::{Header, Tag, TreeId, envelope};

/// Batches of steps.
const BATCHES: usize = 4000;
/// Samples of what the system takes by itself.
const SYSTEM: usize = 2000;
/// Repetitions in a sample.
const BATCH: usize = 16;

/// Reason why a buffer costs more.
const ALLOCATE: &str = "the paper reads a register of its board; here the node is entered, which other threads may use too, and a \
    frame that has come back is taken from a list: in memory there is little else, so that its part is large";
/// Reason why the receive path is longer.
const RECEIVE: &str = "the paper's receive path begins when the interrupt handler has checked and placed the message; Weft's has no \
    such handler, and checks the tag, the number and the sum of each frame itself";

/// Reason why bare datagrams leave a rest that varies.
const REST: &str = "it is what is left of two times that differ from run to run: 0.8 to 1.3 times the paper's share was seen";
/// Reason why blocks in memory come to less.
const MEMORY: &str = "no cache holds the block, so that two cores share the ways to memory: 0.5 to 0.8 of one copy was seen, by how \
    the host places the two";
/// Reason why files are faster.
const FILES: &str = "pieces of files are made in a cache and read from it, 48 KiB at a time, and written nowhere; the block in memory is \
    in no cache. The paper's machines had 256 Kbyte of cache and a network slower than their memory";

/// The experiment.
pub struct SendPath;

impl Experiment for SendPath {
    fn name(&self) -> &'static str {
        "sender"
    }

    fn title(&self) -> &'static str {
        "Steps of a send and of a receive (3.1, 6.2, figures 2 to 4)"
    }

    fn alone(&self) -> bool {
        true
    }

    fn machines(&self) -> &'static [&'static str] {
        &[]
    }

    fn notes(&self) -> &'static str {
        "On the machine that ran `make paper`, where it differs from run to run; the steps are the functions whose costs are at the \
         end of this page. The paper's path goes through the system, and so does the one that is compared with it: UDP over loopback, \
         both ranks in one thread. The system's part is what a bare datagram of as many bytes costs, to be sent and to be received; \
         it stands for the paper's controller, wire and interrupt handler. Figures are shares of Weft's whole, multiplied by the \
         paper's whole: 22.0 us of one way (figure 3), 283 cycles of a send (figure 2, in memory), 47 us of a round trip. \"Near\" the link is as \
         near as the paper came: 2.4 times its round trip (47 of 19.5 us), 0.62 of its bandwidth (7.8 of 12.5 MB/s)."
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("SB-2-hdrsum", "separate header checksum"),
            Setting("SB-2-notify", "notification queue"),
            Setting("SB-F4-block", "64"),
            Setting("SB-F4-link", "12.5"),
            Setting("SB-F4-fs-how", "not to disk"),
        ]
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::statement("SB-0-latency").misses(MEMORY),
                Claim::statement("SB-2-noreject"),
                Claim::statement("SB-3-lw-order"),
                Claim::statement("SB-F2-order"),
                Claim::other("SB-F2-body-bsd"),
                Claim::other("SB-F2-readtxq-bsd").misses(ALLOCATE),
                Claim::statement("SB-62-sum-order"),
                Claim::statement("SB-F3-order"),
                Claim::statement("SB-F3-order2"),
                Claim::other("SB-F3-send").misses(REST),
                Claim::other("SB-F3-recv").misses(RECEIVE),
                Claim::other("SB-62-rpc44"),
                Claim::statement("SB-F4-order").misses(FILES),
                Claim::statement("SB-F4-share").misses(MEMORY),
            ]
        }
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let (memory, udp) = (run(Between::Shm, BATCHES)?, run(Between::Udp, BATCHES)?);
        figure_2(&memory, &udp, results)?;
        let rates = block::rates()?;
        figure_3(&udp, &rates, results)?;
        checksums(results);
        figure_4(&rates, results)
    }
}

/// Figure that the paper prints: a whole of which something is a part.
fn printed(id: &str) -> Result<f64> {
    let targets = Targets::read()?;
    targets.get(id).and_then(|target| target.number()).with_context(|| format!("{id} is no number"))
}

fn figure_2(memory: &Times, udp: &Times, results: &mut Results) -> Result<()> {
    let [allocate, fill, launch, look, _] = *memory;
    let cycles = printed("SB-F2-total-bsd")? / (allocate + fill + launch);
    results.figure("SB-F2-body-bsd", Quantity::Count(fill * cycles));
    results.figure("SB-F2-readtxq-bsd", Quantity::Count(allocate * cycles));
    let [allocate, fill, launch, ..] = *udp;
    let evidence = format!(
        "ns over UDP: what reaches the device {}, a buffer {}, the word {}",
        short(launch),
        short(allocate),
        short(fill)
    );
    results.statement("SB-F2-order", launch > allocate.max(fill), evidence);
    let call = system_call_ns();
    let evidence = format!("ns: an empty poll {}, getppid {}", short(look), short(call));
    results.statement("SB-3-lw-order", look * 2.0 < call, evidence);
    Ok(())
}

fn figure_3(udp: &Times, &[block, _, copy]: &[f64; 3], results: &mut Results) -> Result<()> {
    let [allocate, fill, launch, _, receive] = *udp;
    let bare = Bare::open()?;
    let (sent, received) = bare.one_way()?;
    let system = sent + received;
    let send = (allocate + fill + launch - sent).max(0.0);
    let receipt = (receive - received).max(0.0);
    let evidence = format!(
        "ns: send path {}, receive path {}, the system's part {}",
        short(send),
        short(receipt),
        short(system)
    );
    results.statement("SB-F3-order", system > send.max(receipt), evidence.clone());
    results.statement("SB-F3-order2", receipt < send.min(system), evidence);
    let whole = allocate + fill + launch + receive;
    let us = printed("SB-F3-total")? * 1e3 / whole;
    results.figure("SB-F3-send", Quantity::Nanoseconds(send * us));
    results.figure("SB-F3-recv", Quantity::Nanoseconds(receipt * us));
    let trip = round_trip(Between::Udp, SYSTEM)?;
    let us = printed("SB-62-rpc47")? * 1e3 / trip;
    results.figure("SB-62-rpc44", Quantity::Nanoseconds(2.0 * whole * us));
    let link = bare.round_trip()?;
    let far = printed("SB-62-rpc47")? / printed("SB-6-rtt-us")?;
    let part = printed("SB-F4-fs")? / printed("SB-F4-link")?;
    let evidence = format!(
        "a round trip {} ns, the link's {}; a block in memory {} GB/s, one copy {}",
        short(trip),
        short(link),
        short(block),
        short(copy)
    );
    results.statement("SB-0-latency", trip <= far * link && block >= part * copy, evidence);
    Ok(())
}

/// Figure 4, and that no buffer is missing for whoever keeps to his credits.
fn figure_4(&[memory, files, copy]: &[f64; 3], results: &mut Results) -> Result<()> {
    let evidence = format!(
        "GB/s: memory {}, files {}, one copy, which is the link, {}",
        short(memory),
        short(files),
        short(copy)
    );
    results.statement("SB-F4-order", memory > files, evidence.clone());
    let part = printed("SB-F4-fs")? / printed("SB-F4-link")?;
    results.statement("SB-F4-share", memory.min(files) >= part * copy, evidence);
    let flood = block::flood()?;
    let evidence = format!("{} packets, {} without a buffer", flood.delivered, flood.refused);
    results.statement("SB-2-noreject", flood.refused == 0, evidence);
    Ok(())
}

/// Nanoseconds of a system call that does nothing.
fn system_call_ns() -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH * SYSTEM {
        black_box(rustix::process::getppid());
    }
    start.elapsed().as_nanos() as f64 / (BATCH * SYSTEM) as f64
}

/// Bare datagrams over loopback, as long as those of a packet.
struct Bare([UdpSocket; 2]);

/// Bytes of a frame with a packet of one word.
const FRAME: usize = 64;

impl Bare {
    fn open() -> Result<Self> {
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).context("loopback");
        let ends = [bind()?, bind()?];
        ends[0].connect(ends[1].local_addr()?)?;
        ends[1].connect(ends[0].local_addr()?)?;
        Ok(Bare(ends))
    }

    /// Nanoseconds to send one, and to receive it.
    fn one_way(&self) -> Result<(f64, f64)> {
        let (mut sending, mut receiving, mut bytes) = (Vec::new(), Vec::new(), [0; FRAME]);
        for _ in 0..SYSTEM {
            let start = Instant::now();
            for _ in 0..BATCH {
                self.0[0].send(&bytes)?;
            }
            sending.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
            let start = Instant::now();
            for _ in 0..BATCH {
                self.0[1].recv(&mut bytes)?;
            }
            receiving.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
        }
        Ok((median(sending), median(receiving)))
    }

    /// Nanoseconds of one there and one back.
    fn round_trip(&self) -> Result<f64> {
        let (mut times, mut bytes) = (Vec::new(), [0; FRAME]);
        for _ in 0..SYSTEM {
            let start = Instant::now();
            for _ in 0..BATCH {
                self.0[0].send(&bytes)?;
                self.0[1].recv(&mut bytes)?;
                self.0[1].send(&bytes)?;
                self.0[0].recv(&mut bytes)?;
            }
            times.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
        }
        Ok(median(times))
    }
}

/// Time of sealing a frame and opening it for the header, whose tag is made and checked, and for
/// the word, which is in the frame's checksum.
fn checksums(results: &mut Results) {
    let header = sealing(true, 0) - sealing(false, 0);
    let word = sealing(false, size_of::<u32>()) - sealing(false, 0);
    let evidence = format!("ns: header {}, word {}", short(header), short(word.max(0.0)));
    results.statement("SB-62-sum-order", header > word, evidence);
}

/// Nanoseconds to seal a frame with `size` bytes of a user's and to open it.
fn sealing(tags: bool, size: usize) -> f64 {
    let seals = |rank| {
        let keys = Keys::new(Secret::new([7; 16]), 1, Rank(rank), Protection::Tagged);
        Seals::new(if tags { keys } else { keys.without_tags() }, 2)
    };
    let (mut sender, mut receiver) = (seals(0), seals(1));
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
    let mut frame = vec![0; envelope::SIZE + envelope::packet_bytes(size)];
    envelope::put(&mut frame[envelope::SIZE..], &header, &[7; 8][..size]);
    let mut times = Vec::new();
    for _ in 0..SYSTEM {
        let start = Instant::now();
        for _ in 0..BATCH {
            sender.sealer(Rank(1)).seal(FrameKind::PACKETS, &mut frame);
            let opened = receiver.open(&mut frame);
            assert!(opened.is_ok(), "who shares the secret gets in");
            black_box(&mut frame);
        }
        times.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
    }
    median(times)
}
