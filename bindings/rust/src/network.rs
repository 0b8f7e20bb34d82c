//! A rank's way to those with whom it shares no memory.

use crate::options::Options;
use crate::{Error, Result};
use std::io;
use weft_launch::{Membership, Network};
use weft_link::Link;
use weft_link_shm::Shm;
use weft_mixed::{Mixed, Near};
use weft_node::{Preset, Settings, network_settings};
use weft_seal::{Keys, Protection};
use weft_udp::{Udp, UdpSettings};

/// The link of a rank in a job that needs a network.
pub(crate) type NetworkLink = Mixed<Shm, Udp>;

/// Frames to send from where nobody is near.
const FRAMES: usize = 512;
/// Frames to receive into for all senders together under `pupa`, which gets by with few.
const MOST_SHARED_FRAMES: usize = 1024;

/// Why networks run other presets.
const PACKETS_ARE_LOST: &str = "a network loses packets, and this preset never sends one again; take pupa, \
                                irx-imc or another that does, or say --lossless if yours loses none";

/// Attaches this rank to the memory of its host and to the network.
pub(crate) fn attach(member: &mut Membership, options: &Options) -> Result<NetworkLink> {
    let segments = member.take_segments();
    let socket = member.take_socket().ok_or_else(|| invalid("this rank was given no socket"))?;
    let ranks_here = member.ranks_here();
    let number = ranks_here.iter().position(|rank| *rank == member.rank());
    let number = number.ok_or_else(|| invalid("this rank is on no host"))?;
    let near = Shm::attach(weft_packet::Rank(number as u16), *member.settings(), &segments)?;
    let network = network_of(member)?;
    let preset = preset(options)?;
    let address = socket.local_addr()?;
    let near_ranks = Near { ranks: ranks_here, carries: !options.all_far };
    let far = Udp::attach(UdpSettings {
        socket,
        peers: network.addresses.clone(),
        keys: Keys::new(network.secret.clone(), network.job, member.rank(), Protection::Tagged),
        datagram_bytes: UdpSettings::datagram_bytes(network.mtu.bytes().into(), &address),
        frames: if near_ranks.fills_far() { FRAMES } else { 0 },
        receive_frames: receive_frames(member, preset),
    })?;
    let arrivals = far.arrivals()?;
    Ok(Mixed::new(near, near_ranks, far, arrivals, network.ranks())?)
}

/// What the protocol does over that link.
pub(crate) fn settings(
    member: &Membership,
    options: &Options,
    link: &NetworkLink,
) -> Result<Settings> {
    let here = member.settings();
    let crowded = !options.cores_suffice(here.ranks);
    let usual = network_settings(member.ranks(), preset(options)?, link.capabilities(), crowded);
    Ok(Settings {
        // What near ranks have room for, whatever the network has.
        window_packets: here.window_packets,
        shape: options.shape.unwrap_or(usual.shape),
        ..usual
    })
}

/// The preset, if it is one for this network.
fn preset(options: &Options) -> Result<Preset> {
    let usual = if options.lossless { Preset::default() } else { Preset::Pupa };
    let preset = options.preset.unwrap_or(usual);
    if !preset.retransmits() && !options.lossless {
        return Err(options.refuse_preset(preset, PACKETS_ARE_LOST));
    }
    Ok(preset)
}

/// As many as packets that the protocol is to keep: two windows of each peer, of which `pupa` does
/// without most.
fn receive_frames(member: &Membership, preset: Preset) -> usize {
    let ranks = usize::from(member.ranks());
    let windows = 2 * ranks * usize::from(member.settings().window_packets);
    match preset {
        Preset::Pupa => windows.min(MOST_SHARED_FRAMES + 2 * ranks),
        _ => windows,
    }
}

fn network_of(member: &Membership) -> Result<&Network> {
    member.network().ok_or_else(|| invalid("this job has no network"))
}

fn invalid(what: &str) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, what).into()
}
