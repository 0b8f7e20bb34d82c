//! UDP between threads, through somebody who loses, doubles, reorders and changes datagrams.

use crate::tap::Tap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::wrap::InspectOnDrop;
use weft_link_shm::Settings;
use weft_netns::adversary::{Attack, corrupt, source_of};
use weft_udp::{Udp, UdpSettings};
use weft_wire::Rank;

/// Faults of datagrams between ranks, each with this chance, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Weather {
    /// Fixes which.
    pub seed: u64,
    /// It vanishes.
    pub loss: f64,
    /// It arrives twice.
    pub duplication: f64,
    /// It arrives after others that were sent later.
    pub reordering: f64,
    /// Some of its bits flip.
    pub corruption: f64,
    /// True if packets are encrypted.
    pub encrypted: bool,
}

impl Weather {
    /// All of it, each with this chance.
    pub fn bad(seed: u64, chance: f64) -> Self {
        Weather {
            seed,
            loss: chance,
            duplication: chance,
            reordering: chance,
            corruption: chance,
            encrypted: false,
        }
    }

    fn is_fair(&self) -> bool {
        self.loss + self.duplication + self.reordering + self.corruption == 0.0
    }
}

/// Datagrams of loopback, as long as those of Ethernet.
pub(crate) const MTU: usize = 1500;

/// A rank's link, which tells the tap at the end what it has done.
pub(crate) type Seen = InspectOnDrop<Udp, Box<dyn FnMut(&Udp) + Send>>;

/// The network of a job. In fair weather ranks send to one another, else each sends to a relay,
/// which has a socket for each rank.
pub(crate) struct Wire {
    sockets: Vec<Mutex<Option<UdpSocket>>>,
    peers: Vec<SocketAddr>,
    weather: Weather,
    frames: usize,
    receive_frames: usize,
    tap: &'static Tap,
    _relay: Option<Relay>,
}

impl Wire {
    /// With a tap datagrams take the way through the relay in any weather.
    pub fn new(memory: &Settings, weather: Weather, tap: Option<&'static Tap>) -> Self {
        let bind = |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has ports");
        let address = |socket: &UdpSocket| socket.local_addr().expect("a bound socket has one");
        let sockets: Vec<UdpSocket> = (0..memory.ranks).map(bind).collect();
        let ranks: Vec<SocketAddr> = sockets.iter().map(address).collect();
        let relays: Vec<UdpSocket> = (0..memory.ranks).map(bind).collect();
        let direct = weather.is_fair() && tap.is_none();
        let peers = if direct { ranks.clone() } else { relays.iter().map(address).collect() };
        let tap = tap.unwrap_or_else(Tap::new);
        let relay = (!direct).then(|| Relay::start(relays, ranks, weather, tap));
        let receive_frames = 2 * usize::from(memory.ranks) * usize::from(memory.window_packets);
        Wire {
            sockets: sockets.into_iter().map(|socket| Mutex::new(Some(socket))).collect(),
            peers,
            weather,
            frames: memory.frames as usize,
            receive_frames,
            tap,
            _relay: relay,
        }
    }

    pub fn attach(&self, rank: Rank) -> Seen {
        let socket = lock(&self.sockets[rank.index()]).take();
        let protection =
            if self.weather.encrypted { Protection::Encrypted } else { Protection::Tagged };
        let udp = weft_udp::attach(UdpSettings {
            socket: socket.expect("a rank attaches once"),
            peers: self.peers.clone(),
            keys: Keys::new(Secret::new([7; 16]), 1, rank, protection),
            datagram_bytes: UdpSettings::datagram_bytes(MTU, &self.peers[0]),
            only: None,
            group: None,
            frames: self.frames,
            receive_frames: self.receive_frames,
        })
        .expect("a rank can attach");
        let tap = self.tap;
        InspectOnDrop::new(udp, Box::new(move |udp| tap.detached(udp.counters())))
    }

    /// The weather must have been what was asked for.
    pub fn judge(self) {
        if self.weather.is_fair() {
            return;
        }
        let passed = self.tap.passed();
        let touched = self.tap.touched.load(Ordering::Relaxed);
        assert!(passed < 2000 || touched > 0, "{passed} datagrams passed and none was touched");
    }
}

struct Relay {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    fn start(
        sockets: Vec<UdpSocket>,
        ranks: Vec<SocketAddr>,
        weather: Weather,
        tap: &'static Tap,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let adversaries = {
            let (stop, ranks) = (Arc::clone(&stop), ranks.clone());
            std::thread::spawn(move || attack(&ranks, weather.seed, tap, &stop))
        };
        let relay = |(index, (socket, to)): (usize, (UdpSocket, SocketAddr))| {
            let stop = Arc::clone(&stop);
            let random = fastrand::Rng::with_seed(weather.seed.wrapping_mul(31) + index as u64);
            let way = Way { socket, index, to, weather, random, held: None, tap };
            std::thread::spawn(move || way.pass_on(&stop))
        };
        let relays = sockets.into_iter().zip(ranks).enumerate().map(relay);
        let threads = relays.chain([adversaries]).collect();
        Relay { stop, threads }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A relay that panicked has nothing to say that a missing packet does not.
            let _ = thread.join();
        }
    }
}

/// The way to one rank.
struct Way {
    socket: UdpSocket,
    index: usize,
    to: SocketAddr,
    weather: Weather,
    random: fastrand::Rng,
    /// Arrives late.
    held: Option<Vec<u8>>,
    tap: &'static Tap,
}

impl Way {
    fn pass_on(mut self, stop: &AtomicBool) {
        let limit = Some(Duration::from_millis(20));
        self.socket.set_read_timeout(limit).expect("a timeout can be set");
        let mut bytes = [0; 2048];
        while !stop.load(Ordering::Relaxed) {
            let Ok(length) = self.socket.recv(&mut bytes) else {
                self.send_held();
                continue;
            };
            self.tap.passed.fetch_add(1, Ordering::Relaxed);
            let bytes = &mut bytes[..length];
            if self.tap.is_cut(source_of(bytes), self.index) {
                continue;
            }
            self.weather(bytes);
        }
    }

    fn weather(&mut self, bytes: &mut [u8]) {
        let Weather { loss, duplication, reordering, corruption, .. } = self.weather;
        if self.happens(loss) {
            return;
        }
        let twice = self.happens(duplication);
        let late = self.happens(reordering);
        if self.happens(corruption) {
            corrupt(bytes, &mut self.random);
        } else if self.tap.is_hostile() {
            self.tap.keep(self.index, bytes);
        }
        if late && self.held.is_none() {
            self.held = Some(bytes.to_vec());
            return;
        }
        self.send(bytes);
        if twice {
            self.send(bytes);
        }
        // Now and then, so that some overtake it.
        if self.random.u8(..) < 80 {
            self.send_held();
        }
    }

    fn happens(&mut self, chance: f64) -> bool {
        let does = self.random.f64() < chance;
        self.tap.touched.fetch_add(u64::from(does), Ordering::Relaxed);
        does
    }

    fn send_held(&mut self) {
        if let Some(bytes) = self.held.take() {
            self.send(&bytes);
        }
    }

    fn send(&self, bytes: &[u8]) {
        // A rank that has ended hears nothing.
        let _ = self.socket.send_to(bytes, self.to);
    }
}

/// Adversaries: they see what passes, and send to ranks what they like.
fn attack(ranks: &[SocketAddr], seed: u64, tap: &Tap, stop: &AtomicBool) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has ports");
    let mut random = fastrand::Rng::with_seed(seed ^ 0x5eed);
    let mut kinds = Attack::ALL.into_iter().cycle();
    while !stop.load(Ordering::Relaxed) {
        let kept = tap.is_hostile().then(|| tap.any_kept(&mut random)).flatten();
        let (Some(kept), Some(kind)) = (kept, kinds.next()) else {
            std::thread::park_timeout(Duration::from_millis(20));
            continue;
        };
        let (to, bytes) = kind.make(kept, ranks.len(), &mut random);
        if socket.send_to(&bytes, ranks[to]).is_ok() {
            tap.attacked(kind);
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
