//! A host that is no member of the job.

use super::{ATTACKS, RATE};
use anyhow::{Context, Result};
use fastrand::Rng;
use rustix::net::{AddressFamily, RecvFlags, SocketType, bind, connect, ipproto, recv, socket};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use weft_netns::Cluster;
use weft_netns::adversary::Kept;
use weft_wire::envelope;

/// Frames that it has in mind.
const KEPT: usize = 64;
/// Between two looks at what it is to do, and between two bursts.
const NAP: Duration = Duration::from_micros(200);
/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;
/// Bytes of an envelope that are the same in all frames from one rank to one other.
const SAME: usize = 12;

/// Activity of the adversary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// Nothing.
    Nothing,
    /// It remembers what passes.
    Listening,
    /// It sends frames to somebody who takes no part.
    Unrelated,
    /// It sends hostile frames to rank 1.
    Hostile,
    /// It ends.
    Gone,
}

const ALL: [Doing; 5] =
    [Doing::Nothing, Doing::Listening, Doing::Unrelated, Doing::Hostile, Doing::Gone];

/// The adversary, in a thread of its own on the third host.
pub struct Adversary {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
    /// Receiver of unrelated frames: nobody reads them.
    _elsewhere: UdpSocket,
}

#[derive(Default)]
struct State {
    doing: AtomicU8,
    heard: AtomicU64,
    unrelated: AtomicU64,
    attacks: [AtomicU64; ATTACKS.len()],
}

impl Adversary {
    /// Starts one on the third host of `cluster`, that does nothing yet to who is at `target` on
    /// the second. It sends from the third host, and hears what the second hears of the first.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(cluster: &Cluster, target: SocketAddr) -> Result<Self> {
        let [source, victim, own] = [0, 1, 2].map(|number| cluster.host(number));
        let elsewhere = victim.enter(|| UdpSocket::bind((victim.ipv4(), 0)))??;
        let ears = victim.enter(|| Ears::open(victim.ipv4(), source.ipv4(), victim.ipv4()))??;
        let socket = own.enter(|| UdpSocket::bind((own.ipv4(), 0)))??;
        let state = Arc::new(State::default());
        let mut work = Work {
            state: Arc::clone(&state),
            target,
            elsewhere: elsewhere.local_addr()?,
            socket,
            ears,
            since: None,
            kept: Vec::with_capacity(KEPT),
            random: Rng::with_seed(0x5eed),
        };
        let thread = std::thread::Builder::new()
            .name("adversary".into())
            .spawn(move || work.run())
            .context("cannot start a thread")?;
        Ok(Adversary { state, thread: Some(thread), _elsewhere: elsewhere })
    }

    /// Has it do something else.
    pub fn set(&self, doing: Doing) {
        self.state.doing.store(doing as u8, Relaxed);
    }

    /// Frames of the job that it has heard.
    pub fn heard(&self) -> u64 {
        self.state.heard.load(Relaxed)
    }

    /// Unrelated frames sent.
    pub fn unrelated(&self) -> u64 {
        self.state.unrelated.load(Relaxed)
    }

    /// Hostile frames sent, by the order of [`ATTACKS`].
    pub fn attacks(&self) -> [u64; ATTACKS.len()] {
        std::array::from_fn(|kind| self.state.attacks[kind].load(Relaxed))
    }

    /// Number of frames of the attack of which there are fewest.
    pub fn least_sent(&self) -> u64 {
        self.unrelated().min(self.attacks().iter().sum())
    }
}

impl Drop for Adversary {
    fn drop(&mut self) {
        self.end();
    }
}

impl Adversary {
    /// It is gone when this returns, so that no count changes any more.
    pub fn end(&mut self) {
        self.set(Doing::Gone);
        if let Some(thread) = self.thread.take() {
            // What an adversary that panicked has to say is on standard error.
            let _ = thread.join();
        }
    }
}

/// State of the thread.
struct Work {
    state: Arc<State>,
    target: SocketAddr,
    elsewhere: SocketAddr,
    socket: UdpSocket,
    ears: Ears,
    kept: Vec<Kept>,
    random: Rng,
    /// Activity that it has been sending for, since when, and how many frames since then.
    since: Option<(Doing, Instant, u64)>,
}

impl Work {
    fn run(&mut self) {
        loop {
            let doing = ALL[usize::from(self.state.doing.load(Relaxed))];
            match doing {
                Doing::Gone => return,
                Doing::Listening => self.listen(),
                Doing::Unrelated | Doing::Hostile if !self.kept.is_empty() => {
                    self.send_what_is_due(doing);
                    continue;
                }
                Doing::Nothing | Doing::Unrelated | Doing::Hostile => {}
            }
            self.since = None;
            std::thread::sleep(NAP);
        }
    }

    /// Remembers some frames that pass now, and no others.
    fn listen(&mut self) {
        let fresh = self.ears.hear(self.target.port());
        self.state.heard.fetch_add(fresh.len() as u64, Relaxed);
        if !fresh.is_empty() {
            self.kept = fresh.into_iter().map(|bytes| Kept { to: 1, bytes }).collect();
        }
    }

    fn send_what_is_due(&mut self, doing: Doing) {
        let now = Instant::now();
        let (start, mut sent) = match self.since {
            Some((before, start, sent)) if before == doing => (start, sent),
            _ => (now, 0),
        };
        let due = (now - start).as_nanos() as u64 * u64::from(RATE) / 1_000_000_000;
        while sent < due {
            self.send_one(doing);
            sent += 1;
        }
        self.since = Some((doing, start, sent));
        std::thread::sleep(NAP);
    }

    fn send_one(&mut self, doing: Doing) {
        let kind = self.random.usize(0..ATTACKS.len());
        let kept = self.kept[self.random.usize(0..self.kept.len())].clone();
        let (_, bytes) = ATTACKS[kind].make(kept, 2, &mut self.random);
        let (to, count) = match doing {
            Doing::Hostile => (self.target, &self.state.attacks[kind]),
            _ => (self.elsewhere, &self.state.unrelated),
        };
        if self.socket.send_to(&bytes, to).is_ok() {
            count.fetch_add(1, Relaxed);
        }
    }
}

/// Hears the datagrams that one host sends to another.
struct Ears {
    raw: OwnedFd,
    /// Source whose datagrams it hears.
    source: IpAddr,
    /// Address that sends none.
    nobody: IpAddr,
}

impl Ears {
    /// On the host that this thread is on and has this address. They are closed.
    fn open(own: IpAddr, source: IpAddr, nobody: IpAddr) -> rustix::io::Result<Self> {
        let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::UDP))?;
        bind(&raw, &SocketAddr::from((own, 0)))?;
        let ears = Ears { raw, source, nobody };
        ears.turn_to(nobody)?;
        Ok(ears)
    }

    /// A raw socket that hears costs its host's kernel a copy of each datagram. One that is
    /// connected hears only what comes from there.
    fn turn_to(&self, whom: IpAddr) -> rustix::io::Result<()> {
        connect(&self.raw, &SocketAddr::from((whom, 0)))
    }

    /// Frames to this port that come now.
    fn hear(&self, port: u16) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let mut bytes = vec![0; 1 << 16];
        let end = Instant::now() + Duration::from_millis(2);
        if self.turn_to(self.source).is_err() {
            return frames;
        }
        while frames.len() < KEPT && Instant::now() < end {
            match recv(&self.raw, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((length, _)) => frames.extend(frames_to(port, &bytes[..length])),
                Err(_) => std::thread::sleep(NAP),
            }
        }
        // Deaf ears would be noticed: adversaries that have no frame send none.
        let _ = self.turn_to(self.nobody);
        while recv(&self.raw, &mut bytes[..], RecvFlags::DONTWAIT).is_ok() {}
        frames
    }
}

/// The frames in a packet of IPv4, if it carries datagrams to that port: several, where the kernel
/// left in one piece what was sent in one.
fn frames_to(port: u16, packet: &[u8]) -> Vec<Vec<u8>> {
    let header = usize::from(packet.first().map_or(0, |first| first & 15)) * 4;
    let Some((udp, mut rest)) =
        packet.get(header..).and_then(|datagram| datagram.split_at_checked(UDP_HEADER))
    else {
        return Vec::new();
    };
    let mut frames = Vec::new();
    if udp[2..4] != port.to_be_bytes() {
        return frames;
    }
    while envelope::parse(rest).is_ok() {
        let next = (envelope::SIZE..rest.len())
            .step_by(envelope::ALIGNMENT)
            .find(|&at| rest[at..].starts_with(&rest[..SAME]))
            .unwrap_or(rest.len());
        frames.push(rest[..next].to_vec());
        rest = &rest[next..];
    }
    frames
}

#[cfg(test)]
mod tests;
