//! UDP between threads, each rank on a host of its own, with multicasts that the bridge between
//! them copies.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Mutex;
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::wrap::{FaultPlan, FaultyLink, InspectOnDrop};
use weft_link_shm::Settings;
use weft_netns::{Cluster, Host, Options};
use weft_udp::{Udp, UdpSettings, group_of, join};
use weft_wire::Rank;

use crate::tap::Tap;
use crate::wire::{MTU, Seen, lock};

const JOB: u32 = 1;
const PORT: u16 = 61000;

/// The hosts of a job, at a bridge.
pub(crate) struct Copied {
    sockets: Vec<Mutex<Option<UdpSocket>>>,
    peers: Vec<SocketAddr>,
    group: IpAddr,
    frames: usize,
    receive_frames: usize,
    faults: FaultPlan,
    tap: &'static Tap,
    _cluster: Cluster,
}

impl Copied {
    /// This share of the datagrams that arrive at each host is lost, beside what `faults` do to
    /// packets that leave.
    pub fn new(memory: &Settings, loss: f64, faults: FaultPlan, tap: Option<&'static Tap>) -> Self {
        let ranks = usize::from(memory.ranks);
        let cluster = Cluster::new(ranks, Options::default()).expect("clusters are permitted");
        let group = group_of(JOB, cluster.host(0).ipv4());
        let bind = |host: &Host| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
            join(&socket, group, (host.ipv4(), 0)).map(|()| Mutex::new(Some(socket)))
        };
        let bound = |host: &Host| {
            if loss > 0.0 {
                host.lose_datagrams(loss).expect("there is a packet filter");
            }
            let bound = host.enter(|| bind(host)).expect("a namespace can be entered");
            bound.expect("a port of a new host is free")
        };
        Copied {
            sockets: cluster.hosts().iter().map(bound).collect(),
            peers: cluster.hosts().iter().map(|host| (host.ipv4(), PORT).into()).collect(),
            group,
            frames: memory.frames as usize,
            receive_frames: 2 * ranks * usize::from(memory.window_packets),
            faults,
            tap: tap.unwrap_or_else(Tap::new),
            _cluster: cluster,
        }
    }

    pub fn attach(&self, rank: Rank) -> FaultyLink<Seen> {
        let socket = lock(&self.sockets[rank.index()]).take();
        let udp = weft_udp::attach(UdpSettings {
            socket: socket.expect("a rank attaches once"),
            peers: self.peers.clone(),
            keys: Keys::new(Secret::new([7; 16]), JOB, rank, Protection::Tagged),
            datagram_bytes: UdpSettings::datagram_bytes(MTU, &self.peers[0]),
            only: None,
            group: Some(self.group),
            frames: self.frames,
            receive_frames: self.receive_frames,
        });
        let tap = self.tap;
        let show: Box<dyn FnMut(&Udp) + Send> = Box::new(move |udp| tap.detached(udp.counters()));
        let shown = InspectOnDrop::new(udp.expect("a rank can attach"), show);
        let seed = self.faults.seed + u64::from(rank.0);
        FaultyLink::new(shown, FaultPlan { seed, ..self.faults })
    }
}
