//! Two ranks that are threads of this process, each with a socket on a host of its own: for what
//! chooses keys, or looks into links, which programs cannot.

use super::raw::take;
use super::side::Side;
use super::{End, bind_thread_to_core};
use crate::micro::network::SILENCE;
use anyhow::Result;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use weft_datagram::seal::Keys;
use weft_endpoint::{
    Node, Packets, Preset, Rank, WaitPolicy, WatchThread, default_interrupt_delay, network_settings,
};
use weft_link::Link;
use weft_netns::Cluster;
use weft_udp::{Udp, UdpSettings};
use weft_xdp::{Xdp, XdpPort, XdpSettings, XdpSizes};

/// Bytes of the longest packet that every Ethernet takes.
const MTU: usize = 1500;
/// Frames to send from, and to receive into: those of `weft run`.
const FRAMES: (u32, u32) = (512, 1088);

/// The links of two ranks on the first two hosts of `cluster`, with the keys that `keys` has for
/// each, and where the ranks are.
///
/// # Errors
/// What the system says.
pub fn links(
    cluster: &Cluster,
    keys: impl Fn(Rank) -> Keys,
) -> Result<([Udp; 2], [SocketAddr; 2])> {
    let open = |number| {
        let host = cluster.host(number);
        host.enter(|| UdpSocket::bind((host.ipv4(), 0)))?
    };
    let sockets = [open(0)?, open(1)?];
    let peers = [sockets[0].local_addr()?, sockets[1].local_addr()?];
    let attach = |rank, socket| {
        weft_udp::attach(UdpSettings {
            socket,
            peers: peers.to_vec(),
            keys: keys(Rank(rank)),
            datagram_bytes: UdpSettings::datagram_bytes(MTU, &peers[0]),
            // As where there are more: a socket that knows its only peer hears of nobody else.
            only: None,
            group: None,
            frames: FRAMES.0 as usize,
            receive_frames: FRAMES.1 as usize,
        })
    };
    let [first, second] = sockets;
    Ok(([attach(0, first)?, attach(1, second)?], peers))
}

/// Does what [`links`] does over AF_XDP, for job `job` on the wire between the interfaces of this
/// name. These are given back when the descriptors beside the links are closed.
///
/// # Errors
/// Errors of the system, or something that is missing.
pub fn ethernet_links(
    cluster: &Cluster,
    interface: &str,
    job: u32,
    keys: impl Fn(Rank) -> Keys,
) -> Result<([Xdp; 2], [OwnedFd; 2])> {
    let sizes = XdpSizes { frames: FRAMES.0, receive_frames: FRAMES.1 };
    let open = |number: u16| -> Result<(OwnedFd, XdpPort)> {
        let taken = || take(interface, job, Rank(number), sizes);
        Ok(cluster.host(number.into()).enter(taken)??)
    };
    let [(program, first), (other, second)] = [open(0)?, open(1)?];
    let peers = [first.mac(), second.mac()];
    let attach = |rank, port| {
        let (keys, peers) = (keys(Rank(rank)), peers.to_vec());
        weft_xdp::attach(XdpSettings { port, peers, keys, mtu: MTU, group: None })
    };
    Ok(([attach(0, first)?, attach(1, second)?], [program, other]))
}

/// Jobs of a thread in which it is a rank.
pub struct Seat {
    /// End that it is.
    pub end: End,
    /// Its packets in each job.
    pub packets: Vec<Packets>,
    /// For meeting the other.
    pub side: Side,
}

/// Runs `program` at both ends of these jobs, each in a thread on a core of its own, and returns
/// what they return.
///
/// # Errors
/// What the system or the programs say.
pub fn run<L: Link, T: Send>(
    jobs: Vec<[L; 2]>,
    program: impl Fn(&mut Seat) -> Result<T> + Sync,
) -> Result<(T, T)> {
    let (first, second): (Vec<L>, Vec<L>) = jobs.into_iter().map(|[a, b]| (a, b)).unzip();
    let (here, there) = connection()?;
    let program = &program;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| rank(End::Second, second, there, program));
        let own = scope.spawn(|| rank(End::First, first, here, program));
        // The rank that fails says more than the one that then misses it.
        let [own, other] = [own, other]
            .map(|end| end.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok((own?, other?))
    })
}

fn connection() -> Result<(Side, Side)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let here = TcpStream::connect(listener.local_addr()?)?;
    let (there, _) = listener.accept()?;
    Ok((Side::new(here)?, Side::new(there)?))
}

fn rank<L: Link, T>(
    end: End,
    links: Vec<L>,
    side: Side,
    program: impl Fn(&mut Seat) -> Result<T>,
) -> Result<T> {
    let number = u16::from(end == End::Second);
    bind_thread_to_core(number.into())?;
    let nodes = links.into_iter().map(|link| node(Rank(number), link));
    // Upcall threads as ranks have them: they say that this one lives, whatever it does.
    let (packets, _watches): (_, Vec<WatchThread>) =
        nodes.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let mut seat = Seat { end, packets, side };
    let result = program(&mut seat)?;
    seat.packets.iter().for_each(Packets::linger);
    Ok(result)
}

fn node<L: Link>(rank: Rank, link: L) -> Result<(Packets, WatchThread)> {
    let mut settings = network_settings(2, Preset::Pupa, link.capabilities(), false);
    if let Some(silence) = &mut settings.silence {
        silence.lost_after = SILENCE.as_nanos() as u64;
    }
    let node = Arc::new(Node::new(rank, settings, link, WaitPolicy::for_ranks(2, 2)));
    let packets = Packets::new(Arc::clone(&node));
    let polled = packets.clone();
    let interrupt = move || polled.interrupted(|| matches!(polled.poll(), Ok(true)));
    let watch = WatchThread::start(node, default_interrupt_delay(2, 2), interrupt, |_| {})?;
    Ok((packets, watch))
}
