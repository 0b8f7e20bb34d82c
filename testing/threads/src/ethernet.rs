//! AF_XDP between threads, each rank on a host of its own.

use std::sync::{Mutex, PoisonError};
use weft_link::wrap::{FaultPlan, Faults, Shown};
use weft_link_shm::Settings;
use weft_netns::{Cluster, Host, INTERFACE, Options};
use weft_seal::{Keys, Protection, Secret};
use weft_udp::Counters;
use weft_wire::Rank;
use weft_xdp::{
    ETHERTYPE, Interface, MacAddress, Xdp, XdpError, XdpHost, XdpOptions, XdpPort, XdpSettings,
    XdpSizes, group_of,
};

use crate::tap::Tap;

const JOB: u32 = 1;

/// A rank's link, which tells the tap at the end what it has done.
type Seen = Shown<Xdp, Box<dyn FnMut(&Xdp) + Send>>;

/// The hosts of a job, two on one wire or more at a bridge.
pub(crate) struct Ethernet {
    ports: Vec<Mutex<Option<XdpPort>>>,
    peers: Vec<MacAddress>,
    group: Option<MacAddress>,
    faults: FaultPlan,
    tap: &'static Tap,
    /// Goes after the ports, and before the hosts.
    _programs: Vec<XdpHost>,
    _cluster: Cluster,
}

impl Ethernet {
    /// `copied` says whether the bridge copies multicasts, and which share of all frames it loses then.
    pub fn new(
        memory: &Settings,
        copied: Option<f64>,
        faults: FaultPlan,
        tap: Option<&'static Tap>,
    ) -> Self {
        let ranks = usize::from(memory.ranks);
        let cluster = Cluster::new(ranks, Options::default()).expect("clusters are permitted");
        if let Some(loss) = copied.filter(|loss| *loss > 0.0) {
            cluster.lose_frames(ETHERTYPE, loss).expect("there is a packet filter");
        }
        let sizes = XdpSizes {
            frames: memory.frames as usize,
            receive_frames: 2 * ranks * usize::from(memory.window_packets),
        };
        let (mut programs, mut ports) = (Vec::new(), Vec::new());
        for (rank, host) in (0..).map(Rank).zip(cluster.hosts()) {
            let (program, opened) = open(host, rank, sizes).expect("an interface can be had");
            programs.push(program);
            ports.extend(opened);
        }
        Ethernet {
            peers: ports.iter().map(XdpPort::mac).collect(),
            ports: ports.into_iter().map(|port| Mutex::new(Some(port))).collect(),
            group: copied.map(|_| group_of(JOB)),
            faults,
            tap: tap.unwrap_or_else(Tap::new),
            _programs: programs,
            _cluster: cluster,
        }
    }

    pub fn attach(&self, rank: Rank) -> Faults<Seen> {
        let port = self.ports[rank.index()].lock().unwrap_or_else(PoisonError::into_inner).take();
        let port = port.expect("a rank attaches once");
        let link = Xdp::attach(XdpSettings {
            mtu: port.mtu(),
            port,
            peers: self.peers.clone(),
            keys: Keys::new(Secret::new([7; 16]), JOB, rank, Protection::Tagged),
            group: self.group,
        });
        let seed = self.faults.seed + u64::from(rank.0);
        let tap = self.tap;
        let show: Box<dyn FnMut(&Xdp) + Send> = Box::new(move |xdp| {
            let weft_xdp::Counters { sent, arrived, refused, .. } = xdp.counters();
            tap.detached(Counters { sent, arrived, refused });
        });
        let shown = Shown::new(link.expect("a rank can attach"), show);
        Faults::new(shown, FaultPlan { seed, ..self.faults })
    }
}

fn open(host: &Host, rank: Rank, sizes: XdpSizes) -> Result<(XdpHost, Vec<XdpPort>), XdpError> {
    let inside = || {
        let mut program = XdpHost::attach(Interface::find(INTERFACE)?, XdpOptions::default())?;
        program.join(JOB, 1)?;
        let ports = program.open(JOB, &[rank], sizes)?;
        Ok((program, ports))
    };
    host.enter(inside).expect("a namespace can be entered")
}
