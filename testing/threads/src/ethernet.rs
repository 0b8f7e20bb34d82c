//! AF_XDP between threads, each rank on a host of its own.

use std::sync::{Mutex, PoisonError};
use weft_link::wrap::{FaultPlan, Faults};
use weft_link_shm::Settings;
use weft_netns::{Cluster, Host, INTERFACE, Options};
use weft_seal::{Keys, Protection, Secret};
use weft_wire::Rank;
use weft_xdp::{
    Interface, MacAddress, Xdp, XdpError, XdpHost, XdpOptions, XdpPort, XdpSettings, XdpSizes,
};

const JOB: u32 = 1;

/// The hosts of a job, two on one wire or more at a bridge.
pub(crate) struct Ethernet {
    ports: Vec<Mutex<Option<XdpPort>>>,
    peers: Vec<MacAddress>,
    faults: FaultPlan,
    /// Goes after the ports, and before the hosts.
    _programs: Vec<XdpHost>,
    _cluster: Cluster,
}

impl Ethernet {
    pub fn new(memory: &Settings, faults: FaultPlan) -> Self {
        let ranks = usize::from(memory.ranks);
        let cluster = Cluster::new(ranks, Options::default()).expect("clusters are permitted");
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
            faults,
            _programs: programs,
            _cluster: cluster,
        }
    }

    pub fn attach(&self, rank: Rank) -> Faults<Xdp> {
        let port = self.ports[rank.index()].lock().unwrap_or_else(PoisonError::into_inner).take();
        let port = port.expect("a rank attaches once");
        let link = Xdp::attach(XdpSettings {
            mtu: port.mtu(),
            port,
            peers: self.peers.clone(),
            keys: Keys::new(Secret::new([7; 16]), JOB, rank, Protection::Tagged),
            group: None,
        });
        let seed = self.faults.seed + u64::from(rank.0);
        Faults::new(link.expect("a rank can attach"), FaultPlan { seed, ..self.faults })
    }
}

fn open(host: &Host, rank: Rank, sizes: XdpSizes) -> Result<(XdpHost, Vec<XdpPort>), XdpError> {
    let inside = || {
        let mut program = XdpHost::attach(Interface::find(INTERFACE)?, XdpOptions::default())?;
        let ports = program.open(JOB, &[rank], sizes)?;
        Ok((program, ports))
    };
    host.enter(inside).expect("a namespace can be entered")
}
