//! UDP between threads, through somebody who loses, doubles, reorders and changes datagrams.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use weft_link_shm::Settings;
use weft_seal::{Keys, Protection, Secret};
use weft_udp::{Udp, UdpSettings};
use weft_wire::Rank;

/// What happens to datagrams between ranks, each with this chance, 0 to 1.
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
    /// Whether packets are encrypted.
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
const MTU: usize = 1500;

/// The network of a job. In fair weather ranks send to one another, else each sends to a relay, which
/// has a socket for each rank.
pub(crate) struct Wire {
    sockets: Vec<Mutex<Option<UdpSocket>>>,
    peers: Vec<SocketAddr>,
    weather: Weather,
    frames: usize,
    receive_frames: usize,
    relay: Option<Relay>,
}

impl Wire {
    pub fn new(memory: &Settings, weather: Weather) -> Self {
        let bind = |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has ports");
        let address = |socket: &UdpSocket| socket.local_addr().expect("a bound socket has one");
        let sockets: Vec<UdpSocket> = (0..memory.ranks).map(bind).collect();
        let ranks: Vec<SocketAddr> = sockets.iter().map(address).collect();
        let relays: Vec<UdpSocket> = (0..memory.ranks).map(bind).collect();
        let peers =
            if weather.is_fair() { ranks.clone() } else { relays.iter().map(address).collect() };
        let relay = (!weather.is_fair()).then(|| Relay::start(relays, ranks, weather));
        let receive_frames = 2 * usize::from(memory.ranks) * usize::from(memory.window_packets);
        Wire {
            sockets: sockets.into_iter().map(|socket| Mutex::new(Some(socket))).collect(),
            peers,
            weather,
            frames: memory.frames as usize,
            receive_frames,
            relay,
        }
    }

    pub fn attach(&self, rank: Rank) -> Udp {
        let socket =
            self.sockets[rank.index()].lock().unwrap_or_else(PoisonError::into_inner).take();
        let protection =
            if self.weather.encrypted { Protection::Encrypted } else { Protection::Tagged };
        Udp::attach(UdpSettings {
            socket: socket.expect("a rank attaches once"),
            peers: self.peers.clone(),
            keys: Keys::new(Secret::new([7; 16]), 1, rank, protection),
            datagram_bytes: UdpSettings::datagram_bytes(MTU, &self.peers[0]),
            frames: self.frames,
            receive_frames: self.receive_frames,
        })
        .expect("a rank can attach")
    }

    /// The weather must have been what was asked for.
    pub fn judge(self) {
        let Some(relay) = self.relay else { return };
        let Tally { passed, touched } = &*relay.tally;
        let (passed, touched) = (passed.load(Ordering::Relaxed), touched.load(Ordering::Relaxed));
        assert!(passed < 2000 || touched > 0, "{passed} datagrams passed and none was touched");
    }
}

#[derive(Default)]
struct Tally {
    passed: AtomicU64,
    touched: AtomicU64,
}

struct Relay {
    stop: Arc<AtomicBool>,
    tally: Arc<Tally>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    fn start(sockets: Vec<UdpSocket>, ranks: Vec<SocketAddr>, weather: Weather) -> Self {
        let (stop, tally) = (Arc::new(AtomicBool::new(false)), Arc::new(Tally::default()));
        let relay = |(index, (socket, to)): (usize, (UdpSocket, SocketAddr))| {
            let (stop, tally) = (Arc::clone(&stop), Arc::clone(&tally));
            let random = fastrand::Rng::with_seed(weather.seed.wrapping_mul(31) + index as u64);
            std::thread::spawn(move || {
                pass_on(&socket, to, weather, random, &stop, &tally);
            })
        };
        let threads = sockets.into_iter().zip(ranks).enumerate().map(relay).collect();
        Relay { stop, tally, threads }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A relay that panicked has nothing to say that a missing packet does not.
            let _ = thread.join();
        }
    }
}

fn pass_on(
    socket: &UdpSocket,
    to: SocketAddr,
    weather: Weather,
    mut random: fastrand::Rng,
    stop: &AtomicBool,
    tally: &Tally,
) {
    socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout can be set");
    let mut held: Option<Vec<u8>> = None;
    let mut bytes = [0; 2048];
    let send = |bytes: &[u8]| {
        // A rank that has ended hears nothing.
        let _ = socket.send_to(bytes, to);
    };
    while !stop.load(Ordering::Relaxed) {
        let Ok(length) = socket.recv(&mut bytes) else {
            held.take().iter().for_each(|bytes| send(bytes));
            continue;
        };
        tally.passed.fetch_add(1, Ordering::Relaxed);
        let mut happens = |chance: f64| {
            let does = random.f64() < chance;
            tally.touched.fetch_add(u64::from(does), Ordering::Relaxed);
            does
        };
        if happens(weather.loss) {
            continue;
        }
        let twice = happens(weather.duplication);
        let late = happens(weather.reordering);
        let changed = happens(weather.corruption);
        if changed {
            let bit = random.usize(0..length * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if late && held.is_none() {
            held = Some(bytes[..length].to_vec());
            continue;
        }
        send(&bytes[..length]);
        if twice {
            send(&bytes[..length]);
        }
        // Now and then, so that some overtake it.
        if random.u8(..) < 80 {
            held.take().iter().for_each(|bytes| send(bytes));
        }
    }
}
