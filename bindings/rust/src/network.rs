//! A rank's way to those with whom it shares no memory.

use crate::options::Options;
use crate::{Error, Result};
use std::io;
use weft_launch::{Membership, Network};
use weft_link::Capabilities;
use weft_link_shm::Shm;
use weft_mixed::{Mixed, Near};
use weft_node::{Preset, Pupa, Settings, Shape, Silence};
use weft_seal::{Keys, Protection, Secret};
use weft_udp::{Udp, UdpSettings};
use weft_xdp::{Xdp, XdpSettings};

/// Bytes of the longest packet that every Ethernet takes.
const USUAL_MTU: usize = 1500;
/// Frames to send from where nobody is near.
const FRAMES: usize = 512;
/// Receive buffers for all senders together under `pupa`, which gets by with few.
const MOST_RECEIVE_BUFFERS: usize = 1024;
/// Frames for packets that the protocol will drop, or has not seen.
const SPARE_FRAMES: usize = 64;

/// Why networks run other presets.
const PACKETS_ARE_LOST: &str = "a network loses packets, and this preset never sends one again; take pupa, \
                                irx-imc or another that does, or say --lossless if yours loses none";

/// A rank's link in a job that needs a network: memory with the ranks of its host, and one of these with
/// all others.
pub(crate) enum NetworkLink {
    Udp(Box<Mixed<Shm, Udp>>),
    Xdp(Box<Mixed<Shm, Xdp>>),
}

/// Attaches this rank to the memory of its host and to the network.
pub(crate) fn attach(member: &mut Membership, options: &Options) -> Result<NetworkLink> {
    let segments = member.take_segments();
    let (socket, port) = (member.take_socket(), member.take_port());
    let ranks_here = member.ranks_here();
    let number = ranks_here.iter().position(|rank| *rank == member.rank());
    let number = number.ok_or_else(|| invalid("this rank is on no host"))?;
    let near = Shm::attach(weft_packet::Rank(number as u16), *member.settings(), &segments)?;
    let network = network_of(member)?;
    let secret = Secret::new(*network.secret.bytes());
    let keys = Keys::new(secret, network.job, member.rank(), Protection::Tagged);
    let near_ranks = Near { ranks: ranks_here, carries: !options.all_far };
    let ranks = network.ranks();
    if let (Some(ethernet), Some(port)) = (&network.ethernet, port) {
        let interface = |host: &u16| ethernet.interfaces.get(usize::from(*host)).copied();
        let peers = network.hosts.iter().map(interface).collect::<Option<_>>();
        let peers = peers.ok_or_else(|| invalid("a rank's host has no interface"))?;
        let far = Xdp::attach(XdpSettings { port, peers, keys, mtu: ethernet.mtu as usize })?;
        let arrivals = far.arrivals()?;
        let link = Mixed::new(near, near_ranks, far, arrivals, ranks)?;
        return Ok(NetworkLink::Xdp(Box::new(link)));
    }
    let socket = socket.ok_or_else(|| invalid("this rank was given no way to the network"))?;
    let protocol = protocol_settings(member, options)?;
    let address = socket.local_addr()?;
    let far = Udp::attach(UdpSettings {
        socket,
        peers: network.addresses.clone(),
        keys,
        datagram_bytes: UdpSettings::datagram_bytes(options.mtu.unwrap_or(USUAL_MTU), &address),
        frames: if near_ranks.fills_far() { FRAMES } else { 0 },
        receive_frames: receive_frames(&protocol),
    })?;
    let arrivals = far.arrivals()?;
    let link = Mixed::new(near, near_ranks, far, arrivals, ranks)?;
    Ok(NetworkLink::Udp(Box::new(link)))
}

/// What the protocol does over a link with these capabilities.
pub(crate) fn settings(
    member: &Membership,
    options: &Options,
    link: &Capabilities,
) -> Result<Settings> {
    let mut settings = protocol_settings(member, options)?;
    settings.pupa.secondary_sends = link.frames;
    let beside = receive_frames(&settings) - settings.receive_buffers;
    let most = link.receive_frames.saturating_sub(beside).max(1);
    settings.receive_buffers = settings.receive_buffers.min(most);
    Ok(settings)
}

fn protocol_settings(member: &Membership, options: &Options) -> Result<Settings> {
    let usual = if options.lossless { Preset::default() } else { Preset::Pupa };
    let preset = options.preset.unwrap_or(usual);
    if !preset.retransmits() && !options.lossless {
        return Err(options.refuse_preset(preset, PACKETS_ARE_LOST));
    }
    let here = member.settings();
    let mut settings = Settings {
        preset,
        shape: options.shape.unwrap_or(Shape::Binary),
        silence: Some(Silence::default()),
        ..Settings::new(member.ranks(), here.window_packets)
    };
    if preset == Preset::Pupa {
        settings.receive_buffers = settings.receive_buffers.min(MOST_RECEIVE_BUFFERS);
        settings.pupa = Pupa::new(settings.ranks, settings.receive_buffers);
    }
    if !options.cores_suffice(here.ranks) {
        // A rank that shares its core may not run for some milliseconds.
        settings.retransmit_after = 10_000_000;
        settings.retransmit_at_least = Some(2_000_000);
        settings.acknowledge_after = 1_000_000;
    }
    Ok(settings)
}

/// As many as packets that the protocol may keep.
fn receive_frames(settings: &Settings) -> usize {
    let primary = usize::from(settings.ranks) * settings.primary_buffers();
    settings.receive_buffers + primary + SPARE_FRAMES
}

fn network_of(member: &Membership) -> Result<&Network> {
    member.network().ok_or_else(|| invalid("this job has no network"))
}

fn invalid(what: &str) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, what).into()
}
