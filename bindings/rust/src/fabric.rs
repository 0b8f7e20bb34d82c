//! A rank's way to others over a provider of libfabric.

use crate::Result;
use crate::network::FRAMES;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use weft_datagram::seal::Keys;
use weft_endpoint::Rank;
use weft_fabric::{Card, Chosen, Fabric, FabricError, FabricSettings, Heartbeats, meet};
use weft_launch::{JobNetwork, endpoint_name};
use weft_link::bell::Bells;

/// Longest time in which all ranks say where on the fabric they are.
const MEETING_LIMIT: Duration = Duration::from_secs(30);
/// Datagrams beyond those that credits bound: what needs none, and frames that are put together.
const PLACES_BESIDE: usize = 1024;
/// Use of the job's secret for cards.
const CARDS: &str = "Weft, addresses on a fabric, version 1";

/// Part of a rank in the network of a job.
pub(crate) struct Plan<'a> {
    pub network: &'a JobNetwork,
    pub rank: Rank,
    pub receive_frames: usize,
    /// Heartbeats of the link's own.
    pub heartbeats: Option<Heartbeats>,
}

/// Opens an endpoint, meets all other ranks over `socket`, and attaches.
pub(crate) fn attach(
    socket: UdpSocket,
    plan: &Plan<'_>,
    provider: Option<&str>,
    announce_by: Option<Arc<dyn Bells>>,
) -> Result<Fabric> {
    let Plan { network, rank, receive_frames, heartbeats } = *plan;
    let ranks = network.ranks();
    let places = FRAMES + 2 * receive_frames + PLACES_BESIDE;
    let at = socket.local_addr()?.ip();
    let Chosen { provider, mut endpoint, datagram_bytes, posted } =
        Chosen::open(provider, at, ranks, places, &endpoint_name(network.job, rank))?;
    let own = Card { provider: provider.clone(), address: endpoint.address().to_vec() };
    let keys = Keys::new(
        network.secret.derive(CARDS),
        network.job,
        rank,
        network.protection.of_bare_frames(),
    );
    let (cards, meeting) = meet(socket, network.addresses.clone(), keys, own, MEETING_LIMIT)?;
    for (other, card) in (0..).map(Rank).zip(&cards) {
        let knows = card.provider == provider && endpoint.set_peer(other, &card.address);
        if !knows {
            return Err(FabricError::Stranger(format!("rank {other}"), provider).into());
        }
    }
    let arrivals = endpoint.arrivals().map(|fd| fd.as_fd().try_clone_to_owned()).transpose()?;
    Ok(weft_fabric::attach(FabricSettings {
        transport: endpoint,
        arrivals,
        keys: Keys::new(network.secret.clone(), network.job, rank, network.protection),
        ranks,
        datagram_bytes,
        frames: FRAMES,
        receive_frames,
        posted,
        meeting: Some(meeting),
        heartbeats,
        announce_by,
    })?)
}
