//! A rank's way to those with whom it shares no memory.

#[cfg_attr(not(feature = "xdp"), path = "network/no_ethernet.rs")]
mod ethernet;

use crate::fabric::{self, Plan};
use crate::options::Options;
use crate::{Error, Result};
use std::io;
use std::net::TcpListener;
use weft_bulk::{Bulk, BulkSettings};
use weft_datagram::seal::Keys;
use weft_endpoint::{Preset, Settings, Shape, Silence, network_settings};
use weft_fabric::{Fabric, Heartbeats};
use weft_launch::{JobNetwork, Membership};
use weft_link::{Capabilities, Link};
use weft_link_shm::Shm;
use weft_mixed::{Mixed, Near};
use weft_udp::{RECEIVERS_MAX, Udp, UdpSettings, group_of};

/// Frames to send from.
pub(crate) const FRAMES: usize = 512;
/// Frames of long packets to send from.
const BULK_FRAMES: u32 = 512;
/// Frames to receive into for all senders together under `pupa`, which gets by with few.
const MOST_SHARED_FRAMES: usize = 1024;

/// Reason why networks run other presets.
const PACKETS_ARE_LOST: &str = "a network loses packets, and this preset never sends one again; take pupa, \
                                irx-imc or another that does, or say --lossless if yours loses none";

/// A rank's link in a job that needs a network: memory with the ranks of its host, and one of these
/// with all others, with long packets over TCP or without.
pub(crate) enum NetworkLink {
    Udp(Box<Mixed<Shm, Udp>>),
    BulkUdp(Box<Mixed<Shm, Bulk<Udp>>>),
    #[cfg(feature = "xdp")]
    Xdp(Box<Mixed<Shm, weft_xdp::Xdp>>),
    #[cfg(feature = "xdp")]
    BulkXdp(Box<Mixed<Shm, Bulk<weft_xdp::Xdp>>>),
    Fabric(Box<Mixed<Shm, Fabric>>),
}

/// Attaches this rank to the memory of its host and to the network.
pub(crate) fn attach(member: &mut Membership, options: &Options) -> Result<NetworkLink> {
    let memory = member.take_memory().ok_or_else(|| invalid("its memory has been taken"))?;
    let (socket, port) = (member.take_socket(), member.take_port());
    let listener = member.take_listener();
    let ranks_here = member.ranks_here();
    let number = ranks_here.iter().position(|rank| *rank == member.rank());
    let number = number.ok_or_else(|| invalid("this rank is on no host"))?;
    let near = Shm::attach(weft_endpoint::Rank(number as u16), *member.settings(), &memory)?;
    let network = network_of(member)?;
    let preset = preset(options)?;
    let keys =
        |protection| Keys::new(network.secret.clone(), network.job, member.rank(), protection);
    let mtu = network.mtu.bytes().into();
    let near_ranks = Near { ranks: ranks_here, carries: !options.all_far };
    let ranks = network.ranks();
    if let Some(port) = port {
        return ethernet::attach(member, (near, near_ranks), port, listener, preset);
    }
    let socket = socket.ok_or_else(|| invalid("this rank was given no way to the network"))?;
    if options.fabric {
        let plan = fabric_plan(member, options, preset)?;
        let announce_by = (!preset.retransmits()).then(|| near.bells());
        let far = fabric::attach(socket, &plan, options.provider.as_deref(), announce_by)?;
        let arrivals = far.arrivals()?;
        let link = Mixed::new(near, near_ranks, far, arrivals, ranks)?;
        return Ok(NetworkLink::Fabric(Box::new(link)));
    }
    let address = socket.local_addr()?;
    let far = weft_udp::attach(UdpSettings {
        socket,
        peers: network.addresses.clone(),
        keys: keys(network.protection.of_datagrams()),
        datagram_bytes: UdpSettings::datagram_bytes(mtu, &address),
        only: near_ranks.only_far(member.rank(), ranks),
        group: network.copied.then(|| group_of(network.job, address.ip())),
        frames: if listener.is_none() { FRAMES } else { 0 },
        receive_frames: receive_frames(member, preset),
    })?;
    let arrivals = far.arrivals()?;
    if let Some(listener) = listener {
        let far = Bulk::attach(far, bulk_settings(member, listener, preset)?)?;
        let link = Mixed::new(near, near_ranks, far, arrivals, ranks)?;
        return Ok(NetworkLink::BulkUdp(Box::new(link)));
    }
    let link = Mixed::new(near, near_ranks, far, arrivals, ranks)?;
    Ok(NetworkLink::Udp(Box::new(link)))
}

/// Plan of a link over a fabric.
fn fabric_plan<'a>(member: &'a Membership, options: &Options, preset: Preset) -> Result<Plan<'a>> {
    let Silence { heartbeat_after, lost_after } = options.silence;
    let heartbeats = Heartbeats { after: heartbeat_after, lost_after };
    Ok(Plan {
        network: network_of(member)?,
        rank: member.rank(),
        receive_frames: receive_frames(member, preset),
        // Protocols that send again have their own.
        heartbeats: (!preset.retransmits()).then_some(heartbeats),
    })
}

/// Settings of what sends long packets over TCP.
fn bulk_settings(
    member: &Membership,
    listener: TcpListener,
    preset: Preset,
) -> Result<BulkSettings> {
    let network = network_of(member)?;
    let (job, own) = (network.job, member.rank());
    Ok(BulkSettings {
        listener,
        peers: network.addresses.clone(),
        keys: weft_bulk::keys(&network.secret, job, own, network.protection),
        frames: BULK_FRAMES,
        receive_frames: receive_frames(member, preset),
        runs: None,
    })
}

/// Settings of the protocol over a link with these capabilities.
pub(crate) fn settings(
    member: &Membership,
    options: &Options,
    link: &Capabilities,
) -> Result<Settings> {
    let here = member.settings();
    let crowded = !options.cores_suffice(here.ranks);
    let usual = network_settings(member.ranks(), preset(options)?, link, crowded);
    // Then a rank sends to all other hosts by itself.
    let reaches = |network: &JobNetwork| usize::from(network.host_count()) <= RECEIVERS_MAX + 1;
    let one_frame = member.network().is_some_and(|network| network.copied && reaches(network));
    Ok(Settings {
        // The room of near ranks, with any network.
        window_packets: here.window_packets,
        silence: Some(options.silence),
        checks_all: options.checks_all,
        founders: member.founders(),
        shape: options.shape.unwrap_or(if one_frame { Shape::Flat } else { usual.shape }),
        ..usual
    })
}

/// The preset, if it is one for this network.
fn preset(options: &Options) -> Result<Preset> {
    let lossless = options.lossless || options.fabric;
    let usual = if lossless { Preset::default() } else { Preset::Pupa };
    let preset = options.preset.unwrap_or(usual);
    if !preset.retransmits() && !lossless {
        return Err(options.refuse_preset(preset, PACKETS_ARE_LOST));
    }
    Ok(preset)
}

/// Number of receive frames: as many as packets that the protocol is to keep, two windows of each
/// peer, of which `pupa` does without most.
fn receive_frames(member: &Membership, preset: Preset) -> usize {
    let ranks = usize::from(member.ranks());
    let windows = 2 * ranks * usize::from(member.settings().window_packets);
    match preset {
        Preset::Pupa => windows.min(MOST_SHARED_FRAMES + 2 * ranks),
        _ => windows,
    }
}

fn network_of(member: &Membership) -> Result<&JobNetwork> {
    member.network().ok_or_else(|| invalid("this job has no network"))
}

fn invalid(what: &str) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, what).into()
}
