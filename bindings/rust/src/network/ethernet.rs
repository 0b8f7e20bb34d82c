//! A rank's way to other hosts over AF_XDP, with long packets over TCP or without.

use super::{NetworkLink, bulk_settings, invalid, network_of, receive_frames};
use crate::Result;
use std::net::{TcpListener, UdpSocket};
use weft_bulk::{Bulk, BulkSettings, RunSettings};
use weft_datagram::seal::Keys;
use weft_endpoint::Preset;
use weft_launch::Membership;
use weft_link_shm::Shm;
use weft_mixed::{Mixed, Near};
use weft_udp::UdpSettings;
use weft_xdp::{XdpPort, XdpSettings};

/// Purpose of the secret from which runs beside AF_XDP have their keys.
const RUNS: &str = "Weft, runs of datagrams beside AF_XDP, version 1";

/// Attaches to the network by a port of this host's interface.
pub(super) fn attach(
    member: &Membership,
    (near, near_ranks): (Shm, Near),
    port: XdpPort,
    listener: Option<TcpListener>,
    preset: Preset,
) -> Result<NetworkLink> {
    let network = network_of(member)?;
    let ethernet =
        network.ethernet.as_ref().ok_or_else(|| invalid("this job has no interfaces"))?;
    let interface = |host: &u16| ethernet.interfaces.get(usize::from(*host)).copied();
    let peers = network.hosts.iter().map(interface).collect::<Option<_>>();
    let peers = peers.ok_or_else(|| invalid("a rank's host has no interface"))?;
    let group = network.copied.then(|| weft_xdp::group_of(network.job));
    let protection = network.protection.of_bare_frames();
    let keys = Keys::new(network.secret.clone(), network.job, member.rank(), protection);
    let mtu = network.mtu.bytes().into();
    let far = weft_xdp::attach(XdpSettings { port, peers, keys, mtu, group })?;
    let arrivals = far.arrivals()?;
    let ranks = network.ranks();
    if let Some(listener) = listener {
        let runs = run_settings(member, &listener, &near_ranks, preset)?;
        let settings = bulk_settings(member, listener, preset)?;
        let far = Bulk::attach(far, BulkSettings { runs, ..settings })?;
        let link = Mixed::new(near, near_ranks, far, arrivals, ranks)?;
        return Ok(NetworkLink::BulkXdp(Box::new(link)));
    }
    let link = Mixed::new(near, near_ranks, far, arrivals, ranks)?;
    Ok(NetworkLink::Xdp(Box::new(link)))
}

/// Link for packets of several frames beside AF_XDP: UDP. `None` if somebody else has its port;
/// others find out that nothing arrives.
fn run_settings(
    member: &Membership,
    listener: &TcpListener,
    near: &Near,
    preset: Preset,
) -> Result<Option<RunSettings>> {
    let network = network_of(member)?;
    // The listener's number was a socket's of this rank, which nobody needed.
    let address = listener.local_addr()?;
    let Ok(socket) = UdpSocket::bind(address) else { return Ok(None) };
    let secret = network.secret.derive(RUNS);
    let runs = weft_udp::attach(UdpSettings {
        datagram_bytes: UdpSettings::datagram_bytes(network.mtu.bytes().into(), &address),
        socket,
        peers: network.addresses.clone(),
        keys: Keys::new(secret, network.job, member.rank(), network.protection.of_datagrams()),
        only: near.only_far(member.rank(), network.ranks()),
        group: None,
        frames: 0,
        receive_frames: receive_frames(member, preset),
    })?;
    Ok(Some(RunSettings { arrivals: runs.arrivals()?, link: Box::new(runs) }))
}
