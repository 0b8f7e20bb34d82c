//! Congestion between hosts, which are network namespaces on both sides of a narrow trunk: how
//! evenly two jobs and a TCP connection share it, how long the queue before it makes small messages
//! wait, and what is left of it where many send to one at once and the queue is short.
//!
//! All of it runs by Weft over datagrams, by Weft as users get it (long packets over TCP) and by
//! the kernel's TCP alone.

mod board;
mod course;
mod rank;
mod tables;
mod tcp;

pub(crate) use rank::{Seat, rank};

use crate::micro::launch::Spec;
use crate::micro::network;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use course::{By, Course, Figures, Group};
use rank::Activity;
use std::path::PathBuf;
use std::time::Duration;
use tables::{Incast, Queues, Sharing};
use weft_launch::BulkWish;
use weft_netns::Trunk;

/// Rates that are shared, in megabits a second.
const RATES: [u32; 2] = [1_000, 10_000];
/// Bytes that may wait before the trunk, for each megabit a second: 1.2 ms.
const QUEUE_BYTES: u32 = 150;
/// Bytes of the queue of a switch that drops soon.
const SHORT_QUEUE_BYTES: u32 = 64_000;
/// Most senders to one receiver.
const MOST_SENDERS: u16 = 32;
/// Bytes of a message of a stream, where there is one sender to a receiver and where there are
/// more.
const SIZES: (usize, usize) = (1 << 20, 64 << 10);
/// Part of a measurement before figures count, one part in this number.
const WARM_UP: u32 = 3;

/// Part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Shares of two jobs and a TCP connection
    Sharing,
    /// Small messages beside a stream
    Queues,
    /// Many senders, one receiver, a short queue
    Incast,
}

/// Choices of this benchmark.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "For congestion")]
pub struct Options {
    /// Measure only this part [default: all three]
    #[arg(long)]
    part: Option<Part>,
    /// Milliseconds that figures of each measurement count for
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    lasts: u64,
    /// For incast: numbers of senders to one receiver
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1, 2, 4, 8], value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_SENDERS)))]
    senders: Vec<u16>,
    /// Draw what is left of the trunk with more and more senders
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Measures, and prints.
///
/// # Errors
/// There can be no hosts here, or a job failed.
pub fn measure_all(spec: &Spec) -> Result<()> {
    if !matches!(spec.link.as_str(), "auto" | "udp" | "xdp") || spec.hosts.are_given() {
        bail!("congestion is measured over udp or xdp, between network namespaces");
    }
    let all = [Part::Sharing, Part::Queues, Part::Incast];
    let wished = spec.congestion.part;
    for part in all.into_iter().filter(|part| wished.is_none_or(|wish| wish == *part)) {
        match part {
            Part::Sharing => sharing(spec)?,
            Part::Queues => queues(spec)?,
            Part::Incast => incast(spec)?,
        }
    }
    Ok(())
}

/// Ways that are compared: both of Weft unless one was asked for, and TCP.
fn ways(spec: &Spec) -> Vec<By> {
    let weft = match spec.protocols.bulk() {
        Some(bulk) => vec![By::Weft(bulk)],
        None => vec![By::Weft(BulkWish::Datagrams), By::Weft(BulkWish::Auto)],
    };
    weft.into_iter().chain([By::Tcp]).collect()
}

impl By {
    /// Its name in output.
    fn name(self) -> &'static str {
        match self {
            By::Weft(BulkWish::Datagrams) => "datagrams",
            By::Weft(_) => "auto",
            By::Tcp => "tcp",
        }
    }
}

fn trunk(megabits: u32, queue_bytes: u32) -> Trunk {
    // What passes in the time that the kernel's timers may be late.
    Trunk { megabits, burst_bytes: (megabits * 16).clamp(16_000, 64_000), queue_bytes }
}

/// Runs a course of these groups, and says so.
fn run(
    spec: &Spec,
    what: &str,
    hosts: (usize, usize),
    trunk: Trunk,
    groups: Vec<Group>,
) -> Result<Figures> {
    if !spec.json {
        eprintln!("weft bench: {what} ...");
    }
    let lasts = Duration::from_millis(spec.congestion.lasts);
    let course = Course { spec, hosts, trunk, groups, times: (lasts / WARM_UP, lasts) };
    course.run().with_context(|| format!("{what}, {}", network::link(spec)))
}

fn sharing(spec: &Spec) -> Result<()> {
    for megabits in RATES {
        let mut rows = Vec::new();
        for by in ways(spec) {
            let group = |receiver, by| Group {
                by,
                activity: Activity::Stream,
                receiver,
                senders: vec![receiver + 3],
                size: SIZES.0,
            };
            let groups = vec![group(0, by), group(1, by), group(2, By::Tcp)];
            let what = format!("sharing {megabits} Mbit/s, {}", by.name());
            let trunk = trunk(megabits, QUEUE_BYTES * megabits);
            rows.push(Sharing { by, figures: run(spec, &what, (3, 3), trunk, groups)? });
        }
        tables::print_sharing(spec, megabits, &rows);
    }
    Ok(())
}

fn queues(spec: &Spec) -> Result<()> {
    let megabits = RATES[0];
    let mut rows = Vec::new();
    for by in ways(spec) {
        let group = |activity| Group { by, activity, receiver: 0, senders: vec![1], size: SIZES.0 };
        let measure = |activity, how: &str| -> Result<_> {
            let what = format!("small messages {how}, {}", by.name());
            let trunk = trunk(megabits, QUEUE_BYTES * megabits);
            let mut figures = run(spec, &what, (1, 1), trunk, vec![group(activity)])?;
            figures.groups.pop().context("a group has figures")
        };
        let alone = measure(Activity::Small, "alone")?;
        let beside = measure(Activity::Both, "beside a stream")?;
        rows.push(Queues { by, alone, beside });
    }
    tables::print_queues(spec, megabits, &rows);
    Ok(())
}

fn incast(spec: &Spec) -> Result<()> {
    let megabits = RATES[0];
    let mut rows = Vec::new();
    for by in ways(spec) {
        for &senders in &spec.congestion.senders {
            let senders = usize::from(senders);
            let hosts = (1, senders);
            let group = Group {
                by,
                activity: Activity::Stream,
                receiver: 0,
                senders: (1..=senders).collect(),
                size: SIZES.1,
            };
            let what = format!("{senders} to one, {}", by.name());
            let trunk = trunk(megabits, SHORT_QUEUE_BYTES);
            let figures = run(spec, &what, hosts, trunk, vec![group])?;
            rows.push(Incast { by, senders, figures });
        }
    }
    tables::print_incast(spec, megabits, &rows);
    if let Some(path) = &spec.congestion.plot {
        let svg = tables::plot(network::link(spec), megabits, &rows);
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
