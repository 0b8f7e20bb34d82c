//! Ranks on hosts that are network namespaces.

use weft_datagram::seal::{Keys, Protection, Secret};
use weft_link::{Link, Payload, Received};
use weft_net::{XdpHost, XdpOptions};
use weft_netns::{Cluster, Host, INTERFACE, Options};
use weft_wire::{Header, Rank, Tag, TreeId};
use weft_xdp::{Attached, Interface, MacAddress, Xdp, XdpError, XdpPort, XdpSettings, XdpSizes};

pub const JOB: u32 = 7;
pub const SIZES: XdpSizes = XdpSizes { frames: 16, receive_frames: 8 };

/// Options for the hook that drivers of cards have. Pairs in memory do better without.
pub fn in_driver() -> XdpOptions {
    XdpOptions { hook: Some(Attached::Native), ..XdpOptions::default() }
}

pub fn cluster() -> Cluster {
    Cluster::new(2, Options::default()).unwrap()
}

/// Attaches to a host's interface, from a thread of the host.
pub fn attach(host: &Host, options: XdpOptions) -> Result<XdpHost, XdpError> {
    attach_to(host, INTERFACE, options)
}

pub fn attach_to(host: &Host, interface: &str, options: XdpOptions) -> Result<XdpHost, XdpError> {
    host.enter(|| XdpHost::attach(Interface::find(interface)?, options)).unwrap()
}

pub fn open(host: &Host, attached: &mut XdpHost, job: u32, ranks: &[Rank]) -> Vec<XdpPort> {
    host.enter(|| attached.open(job, ranks, SIZES)).unwrap().unwrap()
}

pub fn keys(secret: u8, job: u32, own: u16) -> Keys {
    Keys::new(Secret::new([secret; 16]), job, Rank(own), Protection::Tagged)
}

/// Ranks with these ports; the last argument says which secret the first has.
pub fn links(ports: Vec<XdpPort>, secret: u8) -> Vec<Xdp> {
    links_with(ports, |own| keys(if own == 0 { secret } else { 4 }, JOB, own), None)
}

/// Ranks with these ports and keys, which multicast to this group.
pub fn links_with(
    ports: Vec<XdpPort>,
    keys: impl Fn(u16) -> Keys,
    group: Option<MacAddress>,
) -> Vec<Xdp> {
    let peers: Vec<MacAddress> = ports.iter().map(XdpPort::mac).collect();
    let link = |(own, port): (u16, XdpPort)| {
        let (mtu, peers, keys) = (port.mtu(), peers.clone(), keys(own));
        weft_xdp::attach(XdpSettings { port, peers, keys, mtu, group }).unwrap()
    };
    (0..).zip(ports).map(link).collect()
}

/// Two hosts with a rank each.
pub struct Pair {
    pub cluster: Cluster,
    pub hosts: Vec<XdpHost>,
    pub links: Vec<Xdp>,
}

pub fn pair() -> Pair {
    pair_with(4)
}

pub fn pair_with(secret: u8) -> Pair {
    let cluster = cluster();
    let mut hosts = Vec::new();
    let mut ports = Vec::new();
    for rank in 0..2 {
        let host = cluster.host(rank);
        let mut attached = attach(host, in_driver()).unwrap();
        ports.extend(open(host, &mut attached, JOB, &[Rank(rank as u16)]));
        hosts.push(attached);
    }
    Pair { links: links(ports, secret), cluster, hosts }
}

pub fn control(from: u16, number: u16) -> Header {
    let mut header = Header::new(Tag::Credit, Rank(from), TreeId::unicast(Rank(from)), 0);
    header.credits = number;
    header
}

pub fn send_control(links: &mut [Xdp], from: u16, to: u16, number: u16) {
    let link = &mut links[usize::from(from)];
    link.transmit(Rank(to), &control(from, number), Payload::Empty);
    link.flush();
}

/// A packet of `size` bytes, whatever they are, without a flush.
pub fn send_data(link: &mut Xdp, from: u16, to: u16, number: u16, size: usize) {
    let frame = link.alloc(None).expect("a frame is free");
    let mut header = Header::new(Tag::Ucast, Rank(from), TreeId::unicast(Rank(from)), size as u16);
    header.credits = number;
    link.transmit(Rank(to), &header, Payload::Buffer(frame));
    link.free(frame);
}

pub fn receive(link: &mut Xdp) -> Received {
    (0..1_000_000)
        .find_map(|_| {
            std::thread::yield_now();
            link.receive().unwrap()
        })
        .expect("something arrives")
}

/// Output of `ip` about the host's interface.
pub fn ip_link(host: &Host) -> String {
    let output = host.command("ip").args(["link", "show", INTERFACE]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
