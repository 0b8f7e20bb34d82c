//! Messages and TCP on one interface: one way of a message alone and while a TCP connection between the same
//! hosts carries 1 Gbit/s, and what that carries alone and beside the messages.
//!
//! The three are measured in turns. The connection is paced in the way of `iperf3 -b 1G`, and has threads of
//! its own at both ends, bound to no core.

use crate::launch::Spec;
use crate::network::link;
use crate::pair::hello::beside_messages;
use crate::pair::side::Side;
use crate::pair::sockets::Sockets;
use crate::pair::wefts::{MessageLine, end_of};
use crate::pair::{End, Line, bind_to_core};
use crate::report::{Limit, median, quantile_of};
use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes a second that the connection is to carry: 1 Gbit/s.
const RATE: f64 = 125e6;
/// Between two writes to the connection, as iperf3 does it.
const PACE: Duration = Duration::from_millis(1);
/// Round trips that are measured at a time.
const ROUND_TRIPS: usize = 5000;
/// For how long the connection is measured alone at a time.
const STREAM_ALONE: Duration = Duration::from_millis(200);
/// Bytes that are written, or read, at once.
const BLOCK: usize = 128 * 1024;
/// What a message may take beside the connection, in units of what it takes alone.
const LIMIT: Limit = Limit::AtMost(2.0);

/// What there is on the interface in a part of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Messages,
    Both,
    Stream,
}

const TURN: [Part; 3] = [Part::Messages, Part::Both, Part::Stream];

/// What the first end has measured.
#[derive(Default, Debug)]
struct Figures {
    /// Of each part, nanoseconds one way of each message.
    latency: [Vec<f64>; 3],
    /// Of each part, bytes a second that the connection carried.
    carried: [Vec<f64>; 3],
    /// Of each part, segments that TCP sent again, on both hosts.
    sent_again: [u64; 3],
}

/// A rank's part.
///
/// # Errors
/// It could not join, or the other was lost.
pub fn rank(spec: &Spec, interface: Option<&str>) -> Result<()> {
    let weft = weft::join()?;
    let end = end_of(weft.rank());
    let Sockets { side, tcp, .. } = beside_messages(&weft, interface)?;
    let anywhere = sched_getaffinity(None)?;
    bind_to_core(weft.rank().0.into())?;
    let stream = Stream::start(tcp.into_stream(), end, anywhere)?;
    let bytes = vec![7; spec.size().max(1)];
    let mut pair = Pair { line: MessageLine::new(&weft)?, side, stream, end, bytes };
    let mut figures = Figures::default();
    // One turn does not count. The others have 100 round trips for each round together.
    for turn in 0..=(spec.rounds * 100).div_ceil(ROUND_TRIPS) {
        for part in TURN {
            let (latency, carried, sent_again) = pair.measure(part)?;
            if turn > 0 {
                figures.latency[part as usize].extend(latency);
                figures.carried[part as usize].push(carried);
                figures.sent_again[part as usize] += sent_again;
            }
        }
    }
    if end == End::First {
        let again = weft.packets().statistics().protocol.retransmissions;
        figures.print(spec, again);
    }
    drop(pair);
    Ok(weft.leave()?)
}

/// One end.
struct Pair<'a> {
    line: MessageLine<'a>,
    side: Side,
    stream: Stream,
    end: End,
    bytes: Vec<u8>,
}

impl Pair<'_> {
    /// Measures one part of a turn: of messages the time of each, of the connection bytes a second and
    /// segments sent again. They mean something at the first end only.
    fn measure(&mut self, part: Part) -> Result<(Vec<f64>, f64, u64)> {
        let again = segments_sent_again()?;
        self.side.meet(|| Ok(()))?;
        let (start, carried) = (Instant::now(), self.stream.carried());
        self.stream.run(part != Part::Messages);
        let latency = match part {
            Part::Stream => {
                std::thread::sleep(STREAM_ALONE);
                Vec::new()
            }
            Part::Messages | Part::Both => self.round_trips()?,
        };
        self.stream.run(false);
        let carried = (self.stream.carried() - carried) as f64 / start.elapsed().as_secs_f64();
        self.line.rest(&mut self.side)?;
        // The second end knows what has arrived.
        let carried = self.side.exchange(carried)?;
        let again = (segments_sent_again()? - again) as f64;
        let again = again + self.side.exchange(again)?;
        Ok((latency, carried, again as u64))
    }

    fn round_trips(&mut self) -> Result<Vec<f64>> {
        let Pair { line, end, bytes, .. } = self;
        let mut latency = Vec::with_capacity(ROUND_TRIPS);
        for _ in 0..ROUND_TRIPS {
            if *end == End::First {
                let start = Instant::now();
                line.send(bytes)?;
                line.receive(bytes.len())?;
                latency.push(start.elapsed().as_nanos() as f64 / 2.0);
            } else {
                line.receive(bytes.len())?;
                line.send(bytes)?;
            }
        }
        Ok(latency)
    }
}

/// One end of the connection, in a thread: the first writes while it is to run, the second reads.
struct Stream {
    shared: Arc<Shared>,
    /// Another handle of the connection, to end it.
    connection: TcpStream,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    runs: AtomicBool,
    ended: AtomicBool,
    carried: AtomicU64,
}

impl Stream {
    /// Its thread runs on any of these cores.
    fn start(connection: TcpStream, end: End, cores: CpuSet) -> Result<Self> {
        connection.set_nonblocking(false)?;
        let shared = Arc::new(Shared::default());
        let (own, mut stream) = (Arc::clone(&shared), connection.try_clone()?);
        let work = move || {
            // Without it the thread stays where its maker is, and both get on more slowly.
            let _ = sched_setaffinity(None, &cores);
            match end {
                End::First => write_paced(&own, &mut stream),
                End::Second => read_all(&own, &mut stream),
            }
        };
        let thread = std::thread::Builder::new().name("tcp-stream".into()).spawn(work)?;
        Ok(Stream { shared, connection, thread: Some(thread) })
    }

    fn run(&self, runs: bool) {
        self.shared.runs.store(runs, Relaxed);
    }

    /// Bytes that it has written, or read.
    fn carried(&self) -> u64 {
        self.shared.carried.load(Relaxed)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.ended.store(true, Relaxed);
        // Whoever reads or writes is woken; that the other end has gone already is no matter.
        let _ = self.connection.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_paced(shared: &Shared, stream: &mut TcpStream) {
    let block = vec![7; BLOCK];
    let mut since: Option<(Instant, u64)> = None;
    while !shared.ended.load(Relaxed) {
        if shared.runs.load(Relaxed) {
            let (start, written) = since.get_or_insert_with(|| (Instant::now(), 0));
            let due = (start.elapsed().as_secs_f64() * RATE) as u64;
            while *written + block.len() as u64 <= due && shared.runs.load(Relaxed) {
                if stream.write_all(&block).is_err() {
                    return;
                }
                *written += block.len() as u64;
                shared.carried.fetch_add(block.len() as u64, Relaxed);
            }
        } else {
            since = None;
        }
        std::thread::sleep(PACE);
    }
}

fn read_all(shared: &Shared, stream: &mut TcpStream) {
    let mut buffer = vec![0; BLOCK];
    while let Ok(some @ 1..) = stream.read(&mut buffer) {
        shared.carried.fetch_add(some as u64, Relaxed);
    }
}

/// Segments that the TCP of this host has sent again so far, of all connections.
fn segments_sent_again() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/net/snmp")?;
    sent_again_in(&text).context("this kernel does not say what TCP sent again")
}

/// The field of that name in the two lines of TCP: names, then numbers.
fn sent_again_in(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let mut both = names.split(' ').zip(numbers.split(' '));
    both.find(|(name, _)| *name == "RetransSegs")?.1.parse().ok()
}

impl Figures {
    fn latency(&self, part: Part, quantile: f64) -> f64 {
        quantile_of(self.latency[part as usize].clone(), quantile)
    }

    fn carried(&self, part: Part) -> f64 {
        median(self.carried[part as usize].clone())
    }

    fn print(&self, spec: &Spec, again: u64) {
        let [alone, beside] = [Part::Messages, Part::Both].map(|part| self.latency(part, 0.5));
        let [alone_99, beside_99] =
            [Part::Messages, Part::Both].map(|part| self.latency(part, 0.99));
        let [stream, shared] = [Part::Stream, Part::Both].map(|part| self.carried(part));
        let [stream_again, shared_again] =
            [Part::Stream, Part::Both].map(|part| self.sent_again[part as usize]);
        let messages = 2 * self.latency.iter().map(Vec::len).sum::<usize>();
        let (size, ratio) = (spec.size(), beside / alone);
        if spec.json {
            let row = serde_json::json!({
                "bench": "coexist", "link": link(spec), "ranks": 2, "size": size, "unit": "ns",
                "alone": alone, "alone_p99": alone_99, "beside": beside, "beside_p99": beside_99,
                "ratio": ratio, "messages_answered": messages, "packets_sent_again": again,
                "tcp_alone": stream, "tcp_beside": shared,
                "tcp_segments_sent_again_alone": stream_again,
                "tcp_segments_sent_again_beside": shared_again,
            });
            println!("{row}");
            return;
        }
        let us = |ns: f64| format!("{:.1} us", ns / 1e3);
        let gbit = |bytes: f64| format!("{:.3} Gbit/s", bytes * 8.0 / 1e9);
        println!(
            "coexist: messages of {size} B beside a TCP stream of 1 Gbit/s, 2 ranks, {}:",
            link(spec)
        );
        println!("  one way alone   p50 {}   p99 {}", us(alone), us(alone_99));
        println!("  beside TCP      p50 {}   p99 {}", us(beside), us(beside_99));
        println!("  {ratio:.2} x alone   ({})", LIMIT.text(ratio));
        println!("  all {messages} messages answered; {again} packets sent again");
        println!("  TCP alone       {}   {stream_again} segments sent again", gbit(stream));
        println!(
            "  beside messages {}   {shared_again} segments sent again (0: {})",
            gbit(shared),
            if shared_again == 0 { "kept" } else { "NOT KEPT" }
        );
    }
}

#[cfg(test)]
mod tests;
