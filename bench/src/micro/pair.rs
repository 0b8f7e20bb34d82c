//! Two processes and what is between them: a message there and one back, or many in a row.
//!
//! A [`Line`] is one way of getting messages across: a TCP connection, UDP datagrams, Weft. All are
//! measured by the same two patterns ([`Shape`]), and a figure is comparable with every other one.
//!
//! | module | what |
//! |---|---|
//! | `side` | what the two tell each other beside the line that is measured |
//! | `sockets` | TCP and UDP, spinning |
//! | `raw` | AF_XDP, spinning |
//! | `datagrams` | lines of datagrams that are never sent again |
//! | `hello` | how ranks of a job open those sockets |
//! | `wefts` | packets, messages and calls |
//! | `inside` | two ranks that are threads, for what has to look into links |
//! | `program` | the three figures of `weft compare`, as `bench/peers/pair.c` has them |

mod datagrams;
pub mod hello;
pub mod inside;
pub mod program;
pub mod raw;
pub mod side;
pub mod sockets;
mod spin;
pub mod wefts;

use anyhow::Result;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use side::Side;
use std::time::{Duration, Instant};

/// One end of a way for messages between two processes.
pub trait Line {
    /// Sends one message.
    ///
    /// # Errors
    /// The line is broken.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;

    /// Waits for a message of `size` bytes, and reads it.
    ///
    /// # Errors
    /// The line is broken.
    fn receive(&mut self, size: usize) -> Result<()>;

    /// Sends so many messages, to an end that is in [`Self::stream_in`].
    ///
    /// # Errors
    /// The line is broken.
    fn stream_out(&mut self, bytes: &[u8], messages: u64) -> Result<()> {
        (0..messages).try_for_each(|_| self.send(bytes))
    }

    /// Receives so many messages, from an end that is in [`Self::stream_out`].
    ///
    /// # Errors
    /// The line is broken.
    fn stream_in(&mut self, size: usize, messages: u64) -> Result<()> {
        (0..messages).try_for_each(|_| self.receive(size))
    }

    /// Waits until the other end is here too, and until nothing is left to do on this line: another
    /// has its turn now.
    ///
    /// # Errors
    /// The other end has gone.
    fn rest(&mut self, side: &mut Side) -> Result<()> {
        side.meet(|| Ok(()))
    }
}

/// End of a line that this process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The one that begins, and whose clock counts.
    First,
    /// The other.
    Second,
}

/// Pattern of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// A message there and one back, one after the other.
    PingPong,
    /// Messages in one direction, and one back when the last has been read.
    Stream,
}

/// Unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Nanoseconds one way.
    OneWay,
    /// Nanoseconds there and back.
    RoundTrip,
    /// Messages a second.
    PerSecond,
    /// Bytes a second.
    BytesPerSecond,
}

impl Unit {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Unit::OneWay | Unit::RoundTrip => "ns",
            Unit::PerSecond => "per_second",
            Unit::BytesPerSecond => "bytes_per_second",
        }
    }
}

/// A sample: what is sent how often, and what is made of the time that it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Pattern of sends.
    pub pattern: Pattern,
    /// Bytes of a message.
    pub size: usize,
    /// Messages of a sample; of a ping-pong the round trips.
    pub count: u64,
    /// Unit of the figure.
    pub unit: Unit,
    /// True if each round trip is a sample by itself, instead of the mean of all. Where one takes
    /// microseconds, reading the clock for each is nothing.
    pub each: bool,
}

/// Round trips before a sample that do not count, where each is one: another line had its turn, and
/// its code and data are what caches hold. [`crate::micro::after_pause`] is about those.
const WARM_UP: u64 = 10;

impl Shape {
    /// Messages of a sample, those that go back too.
    pub fn messages(&self) -> u64 {
        match self.pattern {
            Pattern::PingPong => 2 * self.count,
            Pattern::Stream => self.count,
        }
    }

    /// This end's part of what comes before a sample.
    ///
    /// # Errors
    /// The line is broken.
    fn warm_up(&self, line: &mut dyn Line, end: End, bytes: &[u8]) -> Result<()> {
        if self.each {
            Shape { count: WARM_UP, ..*self }.sample(line, end, bytes)?;
        }
        Ok(())
    }

    /// This end's part of a sample, and what it gave. The figures mean something at the first end
    /// only.
    ///
    /// # Errors
    /// The line is broken.
    pub fn sample(&self, line: &mut dyn Line, end: End, bytes: &[u8]) -> Result<Vec<f64>> {
        let start = Instant::now();
        match (self.pattern, end) {
            (Pattern::PingPong, End::First) => return self.round_trips(line, bytes),
            (Pattern::PingPong, End::Second) => {
                for _ in 0..self.count {
                    line.receive(self.size)?;
                    line.send(bytes)?;
                }
            }
            (Pattern::Stream, End::First) => {
                line.stream_out(bytes, self.count)?;
                line.receive(1)?;
            }
            (Pattern::Stream, End::Second) => {
                line.stream_in(self.size, self.count)?;
                line.send(&[1])?;
            }
        }
        Ok(vec![self.figure(start.elapsed(), self.count)])
    }

    fn round_trips(&self, line: &mut dyn Line, bytes: &[u8]) -> Result<Vec<f64>> {
        let start = Instant::now();
        let (mut before, mut figures) = (start, Vec::new());
        for _ in 0..self.count {
            line.send(bytes)?;
            line.receive(self.size)?;
            if self.each {
                let now = Instant::now();
                figures.push(self.figure(now - before, 1));
                before = now;
            }
        }
        if !self.each {
            figures.push(self.figure(start.elapsed(), self.count));
        }
        Ok(figures)
    }

    fn figure(&self, took: Duration, count: u64) -> f64 {
        let (count, seconds) = (count as f64, took.as_secs_f64());
        match self.unit {
            Unit::OneWay => seconds * 1e9 / (2.0 * count),
            Unit::RoundTrip => seconds * 1e9 / count,
            Unit::PerSecond => count / seconds,
            Unit::BytesPerSecond => count * self.size as f64 / seconds,
        }
    }
}

/// Results of a line.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// A figure of each sample, in the shape's unit.
    pub samples: Vec<f64>,
    /// Processor time of both processes for a message, in nanoseconds.
    pub processor_ns: f64,
}

/// Measures `lines` in turns, `rounds` times each, after one round that does not count. What is
/// returned means something at the first end only.
///
/// # Errors
/// A line is broken, or the other end has gone.
pub fn measure(
    lines: &mut [&mut dyn Line],
    shape: &Shape,
    rounds: usize,
    end: End,
    side: &mut Side,
) -> Result<Vec<Measured>> {
    let bytes = vec![7; shape.size];
    let mut figures = vec![Vec::with_capacity(rounds); lines.len()];
    let mut processor = vec![Duration::ZERO; lines.len()];
    for round in 0..=rounds {
        for (index, line) in lines.iter_mut().enumerate() {
            side.meet(|| Ok(()))?;
            shape.warm_up(*line, end, &bytes)?;
            let before = processor_time();
            let sampled = shape.sample(*line, end, &bytes)?;
            let used = processor_time().saturating_sub(before);
            line.rest(side)?;
            if round > 0 {
                figures[index].extend(sampled);
                processor[index] += used;
            }
        }
    }
    let messages = (rounds as u64 * shape.messages()) as f64;
    let measured = figures.into_iter().zip(processor).map(|(samples, own)| {
        let used = own.as_nanos() as f64;
        let all = used + side.exchange(used)?;
        Ok(Measured { samples, processor_ns: all / messages })
    });
    measured.collect()
}

/// Processor time of this process so far, all threads, in programs and in the kernel.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
}

/// Binds this process, with all the threads that it has, to the `index`-th of the cores that it may
/// use, counted round and round.
///
/// # Errors
/// What the system says.
pub fn bind_to_core(index: usize) -> Result<()> {
    let only = core(index)?;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let number = thread?.file_name().to_string_lossy().parse()?;
        sched_setaffinity(Pid::from_raw(number), &only)?;
    }
    Ok(())
}

/// Binds this thread only to a core.
///
/// # Errors
/// What the system says.
pub fn bind_thread_to_core(index: usize) -> Result<()> {
    Ok(sched_setaffinity(None, &core(index)?)?)
}

fn core(index: usize) -> Result<CpuSet> {
    let allowed = sched_getaffinity(None)?;
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    let mut only = CpuSet::new();
    only.set(cores[index % cores.len()]);
    Ok(only)
}

#[cfg(test)]
mod tests;
