//! AF_XDP between threads.

use std::sync::{Mutex, PoisonError};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::wrap::{FaultPlan, FaultyLink, InspectOnDrop};
use weft_link_shm::Settings;
use weft_net::{XdpHost, XdpOptions};
use weft_netns::{Cluster, Host, INTERFACE, Options};
use weft_wire::Rank;
use weft_xdp::{
    ETHERTYPE, Interface, MacAddress, Xdp, XdpError, XdpPort, XdpSettings, XdpSizes, group_of,
};

use crate::tap::Tap;

const JOB: u32 = 1;

/// A rank's link, which tells the tap at the end what it has done.
type Seen = InspectOnDrop<Xdp, Box<dyn FnMut(&Xdp) + Send>>;

/// Options of the network between hosts, and the number of ranks of each.
#[derive(Clone, Copy)]
pub(crate) struct Frames {
    /// Ranks of each host.
    pub each: u16,
    /// Share of all frames that the bridge loses, if it copies multicasts.
    pub copied: Option<f64>,
}

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
    pub fn new(
        memory: &Settings,
        Frames { each, copied }: Frames,
        faults: FaultPlan,
        tap: Option<&'static Tap>,
    ) -> Self {
        let ranks = usize::from(memory.ranks);
        let options = Options { bridge: copied.is_some(), ..Options::default() };
        let hosts = ranks / usize::from(each);
        let cluster = Cluster::new(hosts, options).expect("clusters are permitted");
        if let Some(loss) = copied.filter(|loss| *loss > 0.0) {
            cluster.lose_frames(ETHERTYPE, loss).expect("there is a packet filter");
        }
        let sizes = XdpSizes {
            frames: memory.frames,
            receive_frames: 2 * u32::from(memory.ranks) * u32::from(memory.window_packets),
        };
        let (mut programs, mut ports) = (Vec::new(), Vec::new());
        for (first, host) in (0..).step_by(each.into()).zip(cluster.hosts()) {
            let here: Vec<Rank> = (first..first + each).map(Rank).collect();
            let (program, opened) = open(host, &here, sizes).expect("an interface can be had");
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

    /// Of a rank whose link this is, with nothing around it.
    pub fn attach_alone(&self, rank: Rank) -> Xdp {
        let port = self.ports[rank.index()].lock().unwrap_or_else(PoisonError::into_inner).take();
        let port = port.expect("a rank attaches once");
        let link = weft_xdp::attach(XdpSettings {
            mtu: port.mtu(),
            port,
            peers: self.peers.clone(),
            keys: Keys::new(Secret::new([7; 16]), JOB, rank, Protection::Tagged),
            group: self.group,
        });
        link.expect("a rank can attach")
    }

    pub fn attach(&self, rank: Rank) -> FaultyLink<Seen> {
        let seed = self.faults.seed + u64::from(rank.0);
        let tap = self.tap;
        let show: Box<dyn FnMut(&Xdp) + Send> = Box::new(move |xdp| tap.detached(xdp.counters()));
        let shown = InspectOnDrop::new(self.attach_alone(rank), show);
        FaultyLink::new(shown, FaultPlan { seed, ..self.faults })
    }
}

fn open(host: &Host, ranks: &[Rank], sizes: XdpSizes) -> Result<(XdpHost, Vec<XdpPort>), XdpError> {
    let inside = || {
        let mut program = XdpHost::attach(Interface::find(INTERFACE)?, XdpOptions::default())?;
        program.join(JOB, ranks.len() as u16)?;
        let ports = program.open(JOB, ranks, sizes)?;
        Ok((program, ports))
    };
    host.enter(inside).expect("a namespace can be entered")
}
