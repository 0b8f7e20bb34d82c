//! A TCP stream of 1 Gbit/s from the first end to the second: iperf3's, where both ends have it, or
//! else one that is paced in the same way.
//!
//! Either is one connection a run, made and ended by the run, so that both ends need only know
//! where the second listens.

use crate::micro::pair::End;
use crate::micro::pair::side::Side;
use anyhow::{Context, Result, bail};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write, copy, sink};
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Duration of a run.
pub(super) const LASTS: Duration = Duration::from_secs(1);
/// Bytes a second that it is to carry: 1 Gbit/s.
const RATE: f64 = 125e6;
/// Between two writes, as iperf3 does it.
const PACE: Duration = Duration::from_millis(1);
/// Bytes that are written at once, as iperf3 does it.
const BLOCK: usize = 128 * 1024;

/// Traffic that a run has carried.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Carried {
    /// Bytes a second that arrived.
    pub bytes_per_second: f64,
    /// Segments that TCP sent again.
    pub sent_again: u64,
    /// Of these, those that had arrived already: they were late, and not lost.
    pub arrived_twice: u64,
}

/// One end of the stream.
pub(super) struct Stream {
    by: By,
    /// Address at which the second end listens.
    at: SocketAddr,
    /// Cores on which the first end may run.
    cores: CpuSet,
    /// Server at the second end.
    _server: Option<Server>,
}

/// Maker of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    Iperf3,
    Weft,
}

/// A run, at the first end.
pub(super) struct Run(JoinHandle<Result<Carried>>);

impl Stream {
    /// Opens it to the second end's address, on any of these cores; both ends call this at a time.
    /// The caller is bound to no core yet.
    ///
    /// # Errors
    /// The other end has gone, or what the system says.
    pub fn open(end: End, address: IpAddr, cores: CpuSet, side: &mut Side) -> Result<Self> {
        let have = Command::new("iperf3").arg("--version").output().is_ok();
        let both = side.exchange(f64::from(u8::from(have)))? > 0.0 && have;
        let by = if both { By::Iperf3 } else { By::Weft };
        let server = match end {
            End::First => None,
            End::Second => Some(by.serve()?),
        };
        let own = server.as_ref().map_or(0, |(_, port)| *port);
        let port = side.exchange(f64::from(own))? as u16;
        let server = server.map(|(server, _)| server);
        Ok(Stream { by, at: SocketAddr::new(address, port), cores, _server: server })
    }

    /// Maker of the stream.
    pub fn by(&self) -> By {
        self.by
    }

    /// Starts a run, from the first end.
    ///
    /// # Errors
    /// What the system says about starting a thread.
    pub fn run(&self) -> Result<Run> {
        let Stream { by, at, cores, .. } = *self;
        let work = move || {
            // Without it the thread, and what it starts, stays where its maker is bound.
            let _ = sched_setaffinity(None, &cores);
            let twice = arrived_twice()?;
            let carried = match by {
                By::Iperf3 => run_iperf3(at),
                By::Weft => write_paced(at, LASTS),
            };
            Ok(Carried { arrived_twice: arrived_twice()? - twice, ..carried? })
        };
        Ok(Run(std::thread::Builder::new().name("tcp-stream".into()).spawn(work)?))
    }
}

impl Run {
    /// True if it has not ended yet.
    pub fn goes_on(&self) -> bool {
        !self.0.is_finished()
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It could not be made.
    pub fn end(self) -> Result<Carried> {
        self.0.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl By {
    /// For a person.
    pub fn name(self) -> &'static str {
        match self {
            By::Iperf3 => "iperf3",
            By::Weft => "weft bench",
        }
    }

    /// Listens; with that, the port.
    fn serve(self) -> Result<(Server, u16)> {
        // The one takes it over, and the other cannot be asked for one.
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0))
            .or_else(|_| TcpListener::bind(("0.0.0.0", 0)))?;
        let port = listener.local_addr()?.port();
        if self == By::Weft {
            std::thread::Builder::new().name("tcp-stream".into()).spawn(move || {
                for connection in listener.incoming() {
                    // That one run went wrong is the first end's to say.
                    let _ = connection.and_then(|mut stream| copy(&mut stream, &mut sink()));
                }
            })?;
            return Ok((Server(None), port));
        }
        drop(listener);
        let mut child = Command::new("iperf3")
            .args(["--server", "--forceflush", "--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("iperf3")?;
        let mut says = BufReader::new(child.stdout.take().context("its output was asked for")?);
        let server = Server(Some(child));
        let mut line = String::new();
        while !line.contains("listening") {
            line.clear();
            if says.read_line(&mut line)? == 0 {
                bail!("iperf3 does not listen");
            }
        }
        // It says something about each run, and stops when nobody hears it.
        std::thread::Builder::new()
            .name("iperf3".into())
            .spawn(move || copy(&mut says, &mut sink()))?;
        Ok((server, port))
    }
}

/// Server of a stream: a process, or a thread that ends with this one's.
struct Server(Option<Child>);

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // That it has ended already is no matter.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn run_iperf3(at: SocketAddr) -> Result<Carried> {
    let (address, port) = (at.ip().to_string(), at.port().to_string());
    let lasts = LASTS.as_secs().to_string();
    let arguments =
        ["--client", &address, "--port", &port, "--bitrate", "1G", "--time", &lasts, "--json"];
    let Output { stdout, .. } = Command::new("iperf3").args(arguments).output()?;
    carried_in(&String::from_utf8_lossy(&stdout))
}

/// Figures in the output of `iperf3 --json`.
fn carried_in(text: &str) -> Result<Carried> {
    let says: Value = serde_json::from_str(text).context("iperf3 says nothing")?;
    if let Some(error) = says["error"].as_str() {
        bail!("iperf3: {error}");
    }
    let bits = says["end"]["sum_received"]["bits_per_second"].as_f64();
    let sent_again = says["end"]["sum_sent"]["retransmits"].as_u64();
    let both = bits.zip(sent_again).context("iperf3 does not say what it carried")?;
    Ok(Carried { bytes_per_second: both.0 / 8.0, sent_again: both.1, ..Carried::default() })
}

/// Writes at [`RATE`] for so long, and waits until all has arrived.
fn write_paced(at: SocketAddr, lasts: Duration) -> Result<Carried> {
    let again = segments_sent_again()?;
    let mut stream = TcpStream::connect(at)?;
    let block = vec![7; BLOCK];
    let (start, mut written) = (Instant::now(), 0);
    loop {
        // What is due by the end is written however late this thread runs.
        let elapsed = start.elapsed().min(lasts);
        let due = (elapsed.as_secs_f64() * RATE) as usize;
        while written + BLOCK <= due {
            stream.write_all(&block)?;
            written += BLOCK;
        }
        if elapsed == lasts {
            break;
        }
        std::thread::sleep(PACE);
    }
    stream.shutdown(Shutdown::Write)?;
    // The other end closes when it has read all.
    stream.read_to_end(&mut Vec::new())?;
    let bytes_per_second = written as f64 / start.elapsed().as_secs_f64();
    let sent_again = segments_sent_again()? - again;
    Ok(Carried { bytes_per_second, sent_again, ..Carried::default() })
}

/// Segments that the TCP of this host has sent again so far, of all connections.
fn segments_sent_again() -> Result<u64> {
    counter("snmp", "Tcp", "RetransSegs")
}

/// Segments of which receivers have told this host so far that they arrived twice (D-SACK, RFC
/// 2883).
fn arrived_twice() -> Result<u64> {
    counter("netstat", "TcpExt", "TCPDSACKRecvSegs")
}

/// A counter of this host's network.
fn counter(file: &str, group: &str, name: &str) -> Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/net/{file}"))?;
    counter_in(&text, group, name).with_context(|| format!("this kernel does not count {name}"))
}

/// The number of that name in the two lines of a group: names, then numbers.
fn counter_in(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(": "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let mut both = names.split(' ').zip(numbers.split(' '));
    both.find(|(other, _)| *other == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests;
