//! The suite on AF_XDP, each link on a host of its own: two on one wire, more at a bridge.

use std::cell::RefCell;
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_net::{XdpHost, XdpOptions};
use weft_netns::{Cluster, INTERFACE, Options, available};
use weft_wire::Rank;
use weft_xdp::{Interface, MacAddress, Xdp, XdpPort, XdpSettings, XdpSizes, group_of};

const SIZES: XdpSizes = XdpSizes { frames: 32, receive_frames: 128 };
const JOB: u32 = 1;

/// Hosts, and what is attached to their interfaces.
struct Hosts {
    cluster: Cluster,
    attached: RefCell<Vec<XdpHost>>,
}

impl Hosts {
    fn new(hosts: usize, mtu: u32) -> Self {
        let options = Options { mtu, ..Options::default() };
        Hosts { cluster: Cluster::new(hosts, options).unwrap(), attached: RefCell::default() }
    }

    /// A rank on each of so many hosts, instead of those before.
    fn links(&self, ranks: u16, protection: Protection, group: Option<MacAddress>) -> Vec<Xdp> {
        let mut attached = self.attached.borrow_mut();
        attached.clear();
        let port = |rank: u16| -> XdpPort {
            let open = || {
                let interface = Interface::find(INTERFACE).unwrap();
                let mut host = XdpHost::attach(interface, XdpOptions::default()).unwrap();
                host.join(JOB, 1).unwrap();
                let port = host.open(JOB, &[Rank(rank)], SIZES).unwrap().remove(0);
                (host, port)
            };
            let (host, port) = self.cluster.host(usize::from(rank)).enter(open).unwrap();
            attached.push(host);
            port
        };
        let ports: Vec<XdpPort> = (0..ranks).map(port).collect();
        let peers: Vec<MacAddress> = ports.iter().map(XdpPort::mac).collect();
        let attach = |(own, port): (u16, XdpPort)| {
            let keys = Keys::new(Secret::new([3; 16]), JOB, Rank(own), protection);
            let (mtu, peers) = (port.mtu(), peers.clone());
            weft_xdp::attach(XdpSettings { port, peers, keys, mtu, group }).unwrap()
        };
        (0..).zip(ports).map(attach).collect()
    }
}

fn run(mtu: u32, protection: Protection, group: Option<MacAddress>) {
    if !available() {
        return;
    }
    let (two, many) = (Hosts::new(2, mtu), Hosts::new(9, mtu));
    weft_link_conformance::all(|ranks| {
        let hosts = if ranks == 2 { &two } else { &many };
        hosts.links(ranks, protection, group)
    });
}

#[test]
fn tagged() {
    run(1500, Protection::Tagged, None);
}

#[test]
fn encrypted() {
    run(1500, Protection::Encrypted, None);
}

#[test]
fn of_the_largest_frames() {
    run(weft_xdp::MOST_MTU as u32, Protection::Tagged, None);
}

#[test]
fn with_multicast() {
    run(1500, Protection::Tagged, Some(group_of(JOB)));
}
